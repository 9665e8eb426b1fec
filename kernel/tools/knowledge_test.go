package tools_test

import (
	"encoding/json"
	"testing"

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
