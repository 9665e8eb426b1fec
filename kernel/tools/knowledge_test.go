package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func TestWhatFailedInTheVaultIsNotSaidToBeSo(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	set := k.Toolset(k.Agent("autonomous"))
	call(t, set, "knowledge", `{"action":"write","path":"a.md","text":"one"}`)
	for _, args := range []string{
		`{"action":"write","path":"a.md","text":"two","base":"of another time"}`, `{"action":"write","path":"a.md","text":"two"}`,
		`{"action":"delete","path":"none.md"}`, `{"action":"move","path":"none.md","to":"b.md"}`, `{"action":"move","path":"a.md","to":"../b.md"}`,
		`{"action":"checklist_toggle","path":"a.md","line":7}`, `{"action":"journal","date":"not a day","text":"x"}`, `{"action":"append","path":"","text":"x"}`,
	} {
		r, err := tool(t, set, "knowledge").Call(t.Context(), json.RawMessage(args))
		if err == nil || r.Text != "" {
			t.Errorf("%s: got %q, %v, want an error alone", args, r.Text, err)
		}
	}
}

func TestAgentSeesThePassageOfALongNoteThatFits(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	page := strings.Repeat("Bees fly over the meadow, and the boiler hums all day long.\n\n", 200)
	if _, err := k.Person().Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "house.md", Text: page + "## Cellar\n\nThe boiler has its service in May.\n\n" + page}); err != nil {
		t.Fatal(err)
	}
	got := call(t, k.Toolset(k.Agent("autonomous")), "knowledge", `{"action":"search","query":"when is the service of the boiler"}`).Text
	if got != "house.md:403: The boiler has its service in May." {
		t.Errorf("got %q", got)
	}
}
