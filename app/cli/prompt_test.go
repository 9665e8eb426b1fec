package cli

import (
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
)

func TestToolsAreFoundInBothLanguagesAndInOtherCatalogues(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for query, want := range map[string]string{
		"지식 저장소에 저장해줘": "knowledge", "keep this as a note": "knowledge", "내 선호를 기억해 둬": "memory_write", "run a shell command": "exec",
	} {
		if names := decode[[]string](t, d.must(0, "tools", "find", query, "--json").out); !slices.Contains(names, want) {
			t.Errorf("%s: got %v, want %s among them", query, names, want)
		}
	}
	catalogue := d.made("c.json", `{"weather_now": "Current weather of a city", "send_mail": "Sends an e-mail to somebody", "calendar": "Adds meetings to a calendar"}`)
	batch := d.made("q.jsonl", "{\"query\": \"what is the weather in Seoul\"}\n{\"query\": \"write an e-mail\"}\n{\"query\": \"qqq\"}\n")
	type line struct {
		Names []string `json:"names"`
	}
	got := answers[line](t, d.must(0, "tools", "find", "--catalog", catalogue, "--batch", batch, "-k", "1").out)
	if len(got) != 3 || !slices.Equal(got[0].Names, []string{"weather_now"}) || !slices.Equal(got[1].Names, []string{"send_mail"}) || got[2].Names == nil {
		t.Errorf("got %+v", got)
	}
	bad := d.made("bad.json", `["a"]`)
	contains(t, "no catalogue", d.must(exitFailed, "tools", "find", "--catalog", bad, "x").err, "bad.json", "no JSON object")
	contains(t, "no words", d.must(exitUsage, "tools", "find").err, "nothing to look for")
}

func TestPromptIsShownAsAMessageWouldGetIt(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.must(0, "memory", "add", "The ferry to Udo leaves at 17:30")
	shown := d.must(0, "prompt", "show", "when does the ferry to Udo leave").out
	contains(t, "prompt", shown, "The ferry to Udo leaves at 17:30", d.dir)
	if strings.Contains(d.must(0, "prompt", "show", "sort my photos").out, "17:30") {
		t.Error("a memory that has nothing to do with the message is in its prompt")
	}
	v := decode[kernel.PromptView](t, d.must(0, "prompt", "show", "--json", "when does the ferry to Udo leave").out)
	if v.Prompt != strings.TrimSuffix(shown, "\n") {
		t.Errorf("got another prompt as JSON: %q", v.Prompt)
	}
	if runs := decode[[]kernel.Run](t, d.must(0, "ps", "--all", "--json").out); len(runs) != 0 {
		t.Errorf("it was sent: %+v", runs)
	}
}
