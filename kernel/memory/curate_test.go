package memory_test

import (
	"slices"
	"testing"
	"time"

	"oxios/kernel/memory"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

func (f fixture) curate(t testing.TB, o memory.Curating) memory.Curation {
	t.Helper()
	o.ID, o.Zone = sys.NewID(), time.UTC
	c, err := f.Curate(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (f fixture) texts(t testing.TB, q memory.Query) []string {
	t.Helper()
	q.Every = true
	all, err := f.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range all {
		out = append(out, m.Text)
	}
	slices.Sort(out)
	return out
}

func TestCurationMergesDatesAndReplacesAndItCanBeUndone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	said := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	add := func(text, key string, day int) memory.Memory {
		return f.add(t, memory.New{Text: text, Key: key, Source: memory.FromConversation, SaidAt: said.AddDate(0, 0, day)})
	}
	first := add("Invoices go into folder Bills", "", 0)
	second := add("The invoices go into the folder Bills.", "", 1)
	add("Invoices do not go into folder Bills", "", 0)
	add("Prefers C++", "", 0)
	add("Prefers C", "", 0)
	add("The report is due by next Friday", "", 0)
	add("내일 제주에 간다", "", 0)
	add("The office is in Seoul", "office place", 0)
	add("The office is in Busan", "Office_Place", 1)
	before := f.texts(t, memory.Query{})
	if err := f.store.Write(t.Context(), func(tx *store.Tx) error { return f.Used(tx, "run-2", []string{second.ID}, said) }); err != nil {
		t.Fatal(err)
	}

	c := f.curate(t, memory.Curating{Night: "2026-11-25"})
	if c.Merged != 1 || c.Dated != 2 || c.Replaced != 1 || c.Pruned != 0 || len(c.Changes) != 4 || c.Night != "2026-11-25" {
		t.Fatalf("got %+v", c)
	}
	want := []string{
		"2026-11-25 제주에 간다", "Invoices do not go into folder Bills", "Prefers C", "Prefers C++", "The invoices go into the folder Bills.", "The office is in Busan", "The report is due by 2026-12-04",
	}
	slices.Sort(want)
	if got := f.texts(t, memory.Query{}); !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	m, err := f.Get(t.Context(), first.ID)
	if err != nil || m.Text != "The invoices go into the folder Bills." || m.Uses != 1 {
		t.Errorf("the older one was not kept with the longer text: %+v, %v", m, err)
	}
	if got := f.search(t, "", "report due"); len(got) == 0 || got[0] != "The report is due by 2026-12-04" {
		t.Errorf("the index has %q", got)
	}
	if again := f.curate(t, memory.Curating{}); len(again.Changes) != 0 {
		t.Errorf("the next night found %+v", again.Changes)
	}

	for i, ch := range c.Changes {
		if !ch.Undoable || len(ch.Before) == 0 || ch.After == "" {
			t.Errorf("change %d: %+v", i, ch)
		}
		r, err := f.Uncurate(t.Context(), c.ID, i)
		if err != nil || !r.Changes[i].Undone || r.Changes[i].Undoable {
			t.Fatalf("change %d: %+v, %v", i, r, err)
		}
		if _, err := f.Uncurate(t.Context(), c.ID, i); sys.CodeOf(err) != sys.CodeConflict {
			t.Errorf("twice: %v", err)
		}
	}
	if got := f.texts(t, memory.Query{}); !slices.Equal(got, before) {
		t.Errorf("after undoing all there is %q, not %q", got, before)
	}
	if m, err := f.Get(t.Context(), first.ID); err != nil || m.Uses != 0 {
		t.Errorf("got %+v, %v", m, err)
	}
	if again := f.curate(t, memory.Curating{}); len(again.Changes) != 0 {
		t.Errorf("what was undone was done again: %+v", again.Changes)
	}
	if _, err := f.Uncurate(t.Context(), c.ID, 9); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestCurationLeavesWhatIsPinnedOrWritten(t *testing.T) {
	t.Parallel()
	f := setup(t)
	long := time.Now().AddDate(-2, 0, 0)
	for i, n := range []memory.New{
		{Kind: memory.KindEpisode, Text: "Old and never used", Source: memory.FromConversation, SaidAt: long},
		{Kind: memory.KindEpisode, Text: "Old and pinned", Source: memory.FromConversation, SaidAt: long},
		{Kind: memory.KindEpisode, Text: "Old and written", Source: memory.FromPerson, SaidAt: long},
		{Kind: memory.KindEpisode, Text: "Old and important", Source: memory.FromConversation, SaidAt: long, Importance: 2},
		{Kind: memory.KindEpisode, Text: "New", Source: memory.FromConversation},
		{Text: "An old fact", Source: memory.FromConversation, SaidAt: long},
	} {
		m := f.add(t, n)
		if i == 1 {
			yes := true
			if _, err := f.Update(t.Context(), m.ID, memory.Patch{Pinned: &yes}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c := f.curate(t, memory.Curating{}); len(c.Changes) != 0 {
		t.Errorf("within the limits it did %+v", c.Changes)
	}
	c := f.curate(t, memory.Curating{Most: 1})
	if c.Pruned != 1 || c.Changes[0].Before[0] != "Old and never used" || c.Changes[0].After != "" {
		t.Fatalf("got %+v", c)
	}
	if got := f.search(t, "", "Old and never used"); slices.Contains(got, "Old and never used") {
		t.Error("it is found")
	}
	if _, err := f.Uncurate(t.Context(), c.ID, 0); err != nil {
		t.Fatal(err)
	}
	if got := f.search(t, "", "Old and never used"); !slices.Contains(got, "Old and never used") {
		t.Errorf("got %q", got)
	}
}

// What is forgotten is gone from the reports too: they name it and hold no text.
func TestForgottenMemoryIsInNoReport(t *testing.T) {
	t.Parallel()
	f := setup(t)
	m := f.add(t, memory.New{Text: "Sails tomorrow", Source: memory.FromConversation, SaidAt: time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)})
	c := f.curate(t, memory.Curating{})
	if c.Dated != 1 {
		t.Fatalf("got %+v", c)
	}
	if _, err := f.Forget(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	list, err := f.Curations(t.Context(), 10)
	if err != nil || len(list) != 1 || len(list[0].Changes[0].Before) != 0 || list[0].Changes[0].After != "" || list[0].Changes[0].Undoable {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := f.Uncurate(t.Context(), c.ID, 0); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v", err)
	}
}

func TestAnswerOfWhichNothingIsSoundIsAnError(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		`{"summary": "s", "facts": []}`:                             true,
		"```json\n{\"summary\": \"s\", \"facts\": [],}\n```":        true,
		`{"summary": "s", "facts": [], "mood": "good"}`:             true,
		`I would rather not.`:                                       false,
		`{"summary": "s", "facts": [`:                               false,
		`{"facts": [{"text": "x", "type": "order"}]}`:               false,
		`{"facts": [{"text": "", "type": "fact"}]}`:                 false,
		`{"facts": [{"text": "x", "type": "fact", "replaces": 3}]}`: false,
	} {
		if _, err := memory.ParseAnswer(text, 2); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatIsSoundOfAnAnswerIsKept(t *testing.T) {
	t.Parallel()
	const dog = `{"text": "The dog is Mochi.", "key": "dog", "type": "fact", "said": "my dog is Mochi", "replaces": 0}`
	for name, text := range map[string]string{
		"braces in thoughts":        "<think>{what} {\"facts\": []}</think>\n{\"summary\": \"s\", \"facts\": [" + dog + "]}",
		"thoughts without an end":   "Let me see {what} is there.\n</think>\n{\"facts\": [" + dog + "]}",
		"an empty fact beside it":   `{"facts": [` + dog + `, {"text": "", "type": "fact"}]}`,
		"a fact that is none":       `{"facts": ["Mochi", 7, null, ` + dog + `]}`,
		"a capital":                 `{"facts": [{"text": "The dog is Mochi.", "type": "Fact", "said": "my dog is Mochi"}]}`,
		"no type":                   `{"facts": [{"text": "The dog is Mochi.", "said": "my dog is Mochi"}]}`,
		"a number as text":          `{"facts": [{"text": "The dog is Mochi.", "type": "fact", "said": "my dog is Mochi", "replaces": "0"}]}`,
		"a number with a point":     `{"facts": [{"text": "The dog is Mochi.", "type": "fact", "said": "my dog is Mochi", "replaces": 0.0}]}`,
		"nothing replaced":          `{"facts": [{"text": "The dog is Mochi.", "type": "fact", "said": "my dog is Mochi", "replaces": null}]}`,
		"one replaces too many":     `{"facts": [` + dog + `, {"text": "x", "type": "fact", "replaces": 9}]}`,
		"a summary that is no text": `{"summary": ["s"], "facts": [` + dog + `]}`,
		"a fact without its list":   `{"summary": "s", "facts": ` + dog + `}`,
		"words and a fence":         "Here it is:\n```json\n{\"facts\": [" + dog + ",],}\n```\nThat is {all}.",
		"the example before it":     `{"summary": "...", "facts": []} {"summary": "s", "facts": [` + dog + `]}`,
		"cut off in the next one":   `{"summary": "s", "facts": [` + dog + `, {"text": "The cat is`,
	} {
		a, err := memory.ParseAnswer(text, 2)
		if err != nil || len(a.Facts) != 1 || a.Facts[0].Text != "The dog is Mochi." || a.Facts[0].Type != memory.KindFact || a.Facts[0].Said != "my dog is Mochi" {
			t.Errorf("%s: got %+v, %v, want the fact that is sound", name, a, err)
		}
	}
}
