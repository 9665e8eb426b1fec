package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// made writes a file beside the person, and returns its name.
func (d *desk) made(name, text string) string {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return name
}

// answers reads the lines of a batch.
func answers[T any](t *testing.T, out string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(out) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("got %q: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

func TestMemoryIsKeptFoundAndForgotten(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "none", d.must(0, "memory", "list").err, "Nothing is remembered")
	contains(t, "add", d.must(0, "memory", "add", "The ledger closes on Friday", "--key", "ledger").out, "remembered.")
	d.must(0, "memory", "add", "제주 사진은 날짜별 폴더에 둔다")
	m := decode[kernel.Memory](t, d.must(0, "memory", "add", "The ledger closes on Thursday", "--key", "ledger", "--json").out)

	found := decode[[]kernel.MemoryFound](t, d.must(0, "memory", "search", "when does the ledger close", "--json").out)
	if len(found) != 1 || found[0].ID != m.ID {
		t.Errorf("got %+v, want the newer fact alone", found)
	}
	contains(t, "Korean", d.must(0, "memory", "search", "사진 폴더").out, "제주 사진은")
	contains(t, "show", d.must(0, "memory", "show", tail(m.ID)).out, "Thursday", "About: ledger", "From: you", "Before: The ledger closes on Friday")
	contains(t, "pin", d.must(0, "memory", "pin", tail(m.ID)).out, "pinned.")
	if list := decode[[]kernel.Memory](t, d.must(0, "memory", "list", "--pinned", "--json").out); len(list) != 1 || list[0].ID != m.ID {
		t.Errorf("got %+v pinned", list)
	}
	contains(t, "stats", d.must(0, "memory", "stats").out, "2 memories, 1 of them pinned; 1 older")
	contains(t, "rebuild", d.must(0, "memory", "rebuild").out, "built anew")
	contains(t, "forget", d.must(0, "memory", "forget", tail(m.ID)).out, "Forgot 1.")
	contains(t, "forgotten", d.must(exitFailed, "memory", "show", m.ID).err, "memory")
	contains(t, "nothing fits", d.must(0, "memory", "search", "ledger").err, "Nothing that is remembered fits")
	for what, args := range map[string][]string{
		"the text is empty": {"memory", "add", " "}, "a fact or an episode": {"memory", "add", "x", "--type", "dream"}, "space": {"memory", "add", "x", "--space", "nowhere"},
	} {
		contains(t, what, d.must(exitFailed, args...).err, what)
	}
	contains(t, "no words", d.must(exitUsage, "memory", "search").err, "nothing to look for")
}

func TestMemoriesAreImportedSearchedInBatchesAndExported(t *testing.T) {
	t.Parallel()
	d := setup(t)
	var lines strings.Builder
	for i := range 1200 { // more than go in one call
		fmt.Fprintf(&lines, `{"id": "m%04d", "text": "the code word of drawer %d is w%dx", "time": "2026-01-02T03:04:05Z", "type": "conversation", "space": "space %d", "session": "s%d"}`+"\n\n", i, i, i*7, i%2, i/20)
	}
	path := d.made("all.jsonl", lines.String())
	contains(t, "plan", d.must(0, "memory", "import", "--dry-run", path).out, "Would come in: 1200 new")
	r := d.must(0, "memory", "import", path)
	contains(t, "import", r.out, "1200 new, 0 changed")
	contains(t, "spaces", r.err, `Made the space "space 0"`, `Made the space "space 1"`)
	contains(t, "again", d.must(0, "memory", "import", path).out, "0 new")
	contains(t, "with a mark of Windows", d.must(0, "memory", "import", d.made("mark.jsonl", "\uFEFF"+lines.String())).out, "0 new")

	batch := d.made("q.jsonl", `{"query": "code word of drawer 700", "space": "space 0", "k": 3}
{"query": "code word of drawer 700", "space": "space 1", "k": 1000}
{"query": "w77x", "space": "space 1", "k": 1}
{"query": "zzz", "k": 5}
`)
	type line struct {
		IDs []string `json:"ids"`
	}
	got := answers[line](t, d.must(0, "memory", "search", "--batch", batch).out)
	if len(got) != 4 || len(got[0].IDs) != 3 || got[0].IDs[0] != "m0700" || len(got[1].IDs) != 600 || slices.Contains(got[1].IDs, "m0700") {
		t.Fatalf("got %d answers, %d and %d ids, the first %v", len(got), len(got[0].IDs), len(got[1].IDs), got[0].IDs)
	}
	if !slices.Equal(got[2].IDs, []string{"m0011"}) || got[3].IDs == nil || len(got[3].IDs) != 0 {
		t.Errorf("got %v and %v, want the one, and an empty list", got[2].IDs, got[3].IDs)
	}

	exported := d.must(0, "memory", "export", "--space", "space 1").out
	if all := answers[kernel.MemoryImport](t, exported); len(all) != 600 || all[0].Space != "space 1" || all[0].Time != "2026-01-02T03:04:05Z" || all[0].Type != "conversation" || all[0].Session == "" {
		t.Errorf("got %d, the first %+v", len(all), all[0])
	}
	other := setup(t)
	contains(t, "elsewhere", other.with(typing{stdin: strings.NewReader(exported)}, "memory", "import", "-").out, "600 new")

	for says, text := range map[string]string{
		"Line 2 is no JSON": `{"text": "kept?"}` + "\n{", "the text is empty": `{"text": ""}`, "time": `{"text": "x", "time": "yesterday"}`,
	} {
		contains(t, says, other.with(typing{stdin: strings.NewReader(text)}, "memory", "import", "-").err, says)
	}
	contains(t, "nothing was kept", other.must(0, "memory", "stats").out, "600 memories")
	contains(t, "no such space", d.with(typing{stdin: strings.NewReader(`{"query": "x", "space": "nowhere"}`)}, "memory", "search", "--batch", "-").err, "Line 1", "nowhere")
	contains(t, "no such file", d.must(exitFailed, "memory", "import", "none.jsonl").err, "none.jsonl")
}

func TestConversationIsLookedThroughFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(`
[[scenario]]
match = "(?s)What was said.*Bills"
[[scenario.turn]]
text = '{"summary": "Where the invoices go.", "facts": [{"key": "invoices", "text": "Invoices go into Bills", "type": "fact", "said": "the invoices go into Bills", "replaces": 0}]}'
`+"\n"+`[[scenario]]
match = "(?s).*"
[[scenario.turn]]
text = "Noted."
`))
	contains(t, "nothing yet", d.must(0, "memory", "extract").out, "No conversation has anything new")
	d.must(0, "run", "From now on the invoices go into Bills")
	contains(t, "extract", d.must(0, "memory", "extract").out, "2 remembered", "Invoices go into Bills")
	m := decode[[]kernel.Memory](t, d.must(0, "memory", "list", "--type", "fact", "--json").out)
	if len(m) != 1 {
		t.Fatalf("got %+v", m)
	}
	contains(t, "show", d.must(0, "memory", "show", m[0].ID).out, "From: a conversation", "You said: the invoices go into Bills")
	contains(t, "curate", d.must(0, "memory", "curate").out+d.must(0, "memory", "curate", "--last").out, "\n")
}
