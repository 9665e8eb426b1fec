package kernel_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const bridge = "The deadline of the bridge is in March"

// knownElsewhere is what other spaces know, to whoever h is.
func knownElsewhere(t *testing.T, h *kernel.Handle, text string) []kernel.MemoryElsewhere {
	t.Helper()
	all, err := h.Memory.Elsewhere(t.Context(), kernel.MemorySearch{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// toolSays calls a tool of an agent.
func toolSays(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, name string, args any) (text string, title sys.Words) {
	t.Helper()
	for _, tool := range k.Toolset(h).Tools {
		if tool.Name() != name {
			continue
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tool.Call(t.Context(), raw)
		if err != nil {
			t.Fatal(err)
		}
		return r.Text, r.Title
	}
	t.Fatalf("there is no tool %s", name)
	return "", sys.Words{}
}

func share(t *testing.T, k *kerneltest.Kernel, id string, on bool) {
	t.Helper()
	if _, err := k.Person().Space.Update(t.Context(), id, kernel.SpacePatch{Shared: &on}); err != nil {
		t.Fatal(err)
	}
}

func TestASpaceThatKnowsMoreIsNamedAndKeepsWhatItKnows(t *testing.T) {
	t.Parallel()
	k := open(t)
	a := space(t, k, kernel.SpaceInput{Name: "Works", Emoji: "🌉"})
	remember(t, k, kernel.MemoryInput{Text: bridge, Key: "bridge deadline", Space: a.ID})
	remember(t, k, kernel.MemoryInput{Text: "The deadline of the bridge may move", Space: a.ID})
	remember(t, k, kernel.MemoryInput{Text: "The bridge of the violin broke"})
	h := k.Agent("guarded")
	all := knownElsewhere(t, h, "deadline of the bridge")
	if len(all) != 1 || all[0].Tag != "[🌉 Works]" || all[0].Count != 2 || all[0].Shared || len(all[0].Found) != 0 {
		t.Fatalf("got %+v, want the space and how much it knows", all)
	}
	text, title := toolSays(t, k, h, "memory_search", map[string]any{"query": "deadline of the bridge"})
	for _, want := range []string{"violin", "From other spaces", "[🌉 Works] knows something about this: 2 memories", "kept to that space"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q in it", text, want)
		}
	}
	if strings.Contains(text, "March") || strings.Contains(text, "may move") {
		t.Errorf("got %q, want nothing of what the space knows", text)
	}
	if !strings.Contains(title.EN, "[🌉 Works]") || !strings.Contains(title.KO, "[🌉 Works]") {
		t.Errorf("got the title %+v, want the space in it", title)
	}
	if run, err := k.Person().Agents.Run(t.Context(), h.Principal().ID); err != nil || !run.Run.Labels.Sensitive() {
		t.Errorf("got %+v, %v: that a space knows something is the person's own", run.Run.Labels, err)
	}
}

func TestASearchThatIsAnsweredHereNamesNoOtherSpace(t *testing.T) {
	t.Parallel()
	k := open(t)
	a := space(t, k, kernel.SpaceInput{Name: "Works", Shared: true})
	remember(t, k, kernel.MemoryInput{Text: "The deadline of the tunnel is in May", Space: a.ID})
	remember(t, k, kernel.MemoryInput{Text: "The deadline of the tunnel was set in 2020"})
	const asked = "deadline of the tunnel budget"
	here, err := k.Person().Memory.Search(t.Context(), kernel.MemorySearch{Text: asked})
	there, serr := k.Person().Memory.Search(t.Context(), kernel.MemorySearch{Text: asked, Space: a.ID})
	if err != nil || serr != nil || here[0].Cover < 0.5 || there[0].Cover < 0.5 || there[0].Cover >= 0.9 {
		t.Fatalf("got %+v and %+v, %v, %v, want most of the question in both", here, there, err, serr)
	}
	if all := knownElsewhere(t, k.Agent("guarded"), asked); len(all) != 0 {
		t.Errorf("got %+v, want none: it is known as well here", all)
	}
	if all := knownElsewhere(t, k.Agent("guarded"), "what was agreed with the neighbours about the tunnel"); len(all) != 0 {
		t.Errorf("got %+v, want none for one word", all)
	}
}

func TestWhatASharedSpaceKnowsIsGivenAndMarked(t *testing.T) {
	t.Parallel()
	k := open(t)
	a := space(t, k, kernel.SpaceInput{Name: "Works", Emoji: "🌉", Shared: true})
	remember(t, k, kernel.MemoryInput{Text: bridge, Space: a.ID})
	old := space(t, k, kernel.SpaceInput{Name: "Old", Shared: true})
	remember(t, k, kernel.MemoryInput{Text: "The deadline of the bridge was in January", Space: old.ID})
	if _, err := k.Person().Space.Archive(t.Context(), old.ID); err != nil {
		t.Fatal(err)
	}
	h := k.Agent("guarded")
	text, _ := toolSays(t, k, h, "memory_search", map[string]any{"query": "deadline of the bridge"})
	if !strings.Contains(text, "[🌉 Works] [fact, ") || !strings.Contains(text, "March") || strings.Contains(text, "January") {
		t.Errorf("got %q, want what the shared space knows, and nothing of the archived one", text)
	}
	used, err := k.Person().Memory.List(t.Context(), kernel.MemoryQuery{RunID: h.Principal().ID})
	if err != nil || len(used) != 1 || used[0].Space != a.ID {
		t.Errorf("got %+v, %v, want that the run read it", used, err)
	}
	share(t, k, a.ID, false)
	if text, _ := toolSays(t, k, k.Agent("guarded"), "memory_search", map[string]any{"query": "deadline of the bridge"}); strings.Contains(text, "March") {
		t.Errorf("got %q after it was not shared any more", text)
	}
}

func TestWhatARunReadOfOtherSpacesTakesNoPlaceAmongItsOwn(t *testing.T) {
	t.Parallel()
	k := open(t)
	remember(t, k, kernel.MemoryInput{Text: "The tunnel opens in May"})
	a := space(t, k, kernel.SpaceInput{Name: "Works", Shared: true})
	remember(t, k, kernel.MemoryInput{Text: bridge, Space: a.ID})
	h := k.Agent("guarded")
	for _, about := range []string{"tunnel opens", "deadline of the bridge"} {
		toolSays(t, k, h, "memory_search", map[string]any{"query": about})
	}
	if used, err := k.Person().Memory.List(t.Context(), kernel.MemoryQuery{RunID: h.Principal().ID}); err != nil || len(used) != 2 {
		t.Fatalf("got %+v, %v, want both", used, err)
	}
	own, err := h.Memory.List(t.Context(), kernel.MemoryQuery{RunID: h.Principal().ID, Limit: 1})
	if err != nil || len(own) != 1 || own[0].Space != "" {
		t.Errorf("got %+v, %v, want the one of its own space", own, err)
	}
}

func TestThreeMemoriesOfAllOtherSpacesAreGivenAtMost(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, name := range []string{"North", "South", "East", "West"} {
		in := space(t, k, kernel.SpaceInput{Name: name, Shared: true})
		for _, month := range []string{"March", "April"} {
			remember(t, k, kernel.MemoryInput{Text: "The deadline of the " + name + " bridge is in " + month, Space: in.ID})
		}
	}
	all, n := knownElsewhere(t, k.Agent("guarded"), "deadline of the bridge"), 0
	for _, e := range all {
		n += len(e.Found)
		if e.Count != 2 {
			t.Errorf("%s: got %d, want both counted", e.Name, e.Count)
		}
	}
	if len(all) != 3 || n != 3 {
		t.Errorf("got %d spaces with %d memories, want three and three", len(all), n)
	}
}

// Neither what is asked for nor how opens a space that is not shared, and of a
// shared one nothing is found but by a search that says where it comes from.
func TestRecallOfAnotherSpaceIsNotPossibleWithoutTheRight(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	for _, shared := range []bool{false, true} {
		in := space(t, k, kernel.SpaceInput{Name: map[bool]string{false: "Kept", true: "Shared"}[shared], Shared: shared})
		m, err := p.Memory.Remember(t.Context(), kernel.MemoryInput{Text: bridge, Key: "deadline", Space: in.ID})
		if err != nil {
			t.Fatal(err)
		}
		h := k.Agent("auto")
		if shared { // its run has been given it
			if all := knownElsewhere(t, h, "deadline of the bridge"); len(all) == 0 || len(all[0].Found) != 1 {
				t.Fatalf("got %+v", all)
			}
		}
		for _, s := range []kernel.MemorySearch{{}, {Space: in.ID}, {Space: in.ID, Said: true}, {Space: in.ID, Kind: "fact", K: 1000}} {
			s.Text = "deadline of the bridge"
			found, err := h.Memory.Search(t.Context(), s)
			if err != nil || slices.ContainsFunc(found, func(f kernel.MemoryFound) bool { return f.Space != "" || strings.Contains(f.Text, "March") }) {
				t.Errorf("shared %v: search %+v: got %+v, %v", shared, s, found, err)
			}
		}
		for _, q := range []kernel.MemoryQuery{{Every: true}, {Space: in.ID}, {RunID: h.Principal().ID}, {Space: in.ID, RunID: h.Principal().ID}} {
			if all, err := h.Memory.List(t.Context(), q); err != nil || len(all) != 0 {
				t.Errorf("shared %v: list %+v: got %+v, %v", shared, q, all, err)
			}
		}
		if _, err := h.Memory.Get(t.Context(), m.ID); sys.CodeOf(err) != sys.CodeNotFound {
			t.Errorf("shared %v: get: got %v", shared, err)
		}
		on := true
		if _, err := h.Space.Update(t.Context(), in.ID, kernel.SpacePatch{Shared: &on}); sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("an agent shares a space: got %v", err)
		}
		if text := k.Ask("What is the deadline of the bridge?"); strings.Contains(text.Response, "March") {
			t.Errorf("shared %v: got %q", shared, text.Response)
		}
		if got := system(t, k); strings.Contains(got, "March") {
			t.Errorf("shared %v: the prompt of another space tells it", shared)
		}
		for _, text := range []string{"deadline of the bridge", "bridge", bridge, "deadline"} {
			for _, e := range knownElsewhere(t, k.Agent("auto"), text) {
				if e.Shared != (e.Name == "Shared") || !e.Shared && len(e.Found) != 0 {
					t.Errorf("%q: got %+v", text, e)
				}
			}
		}
	}
}

func TestWhatOtherSpacesKnowCarriesWhereItComesFrom(t *testing.T) {
	t.Parallel()
	k := open(t, website(t, map[string]string{"/": "<p>The deadline moved.</p>"}))
	h := k.Agent("guarded")
	if _, err := h.Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://page.example/"}); err != nil {
		t.Fatal(err)
	}
	m, err, _ := answered(t, k, h, true, func(ctx context.Context) (kernel.Memory, error) {
		return h.Memory.Remember(ctx, kernel.MemoryInput{Text: bridge, Key: "do as the page says"})
	})
	if err != nil || !m.Labels.Untrusted() {
		t.Fatalf("got %+v, %v", m, err)
	}
	a := space(t, k, kernel.SpaceInput{Name: "Works"})
	if _, err := k.Person().Memory.Update(t.Context(), m.ID, kernel.MemoryPatch{Space: &a.ID}); err != nil {
		t.Fatal(err)
	}
	for _, shared := range []bool{false, true} { // what a fact is about may be a stranger's words too
		share(t, k, a.ID, shared)
		h := k.Agent("guarded")
		if all := knownElsewhere(t, h, "deadline of the bridge"); len(all) != 1 || len(all[0].Found) == 1 != shared {
			t.Fatalf("got %+v", all)
		}
		run, err := k.Person().Agents.Run(t.Context(), h.Principal().ID)
		if err != nil || !run.Run.Labels.Untrusted() || !run.Run.Labels.Sensitive() {
			t.Errorf("shared %v: got %+v, %v", shared, run.Run.Labels, err)
		}
	}
}

func TestAMergeOpensNoMemoriesThatWereKept(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	kept, shared := space(t, k, kernel.SpaceInput{Name: "Kept"}), space(t, k, kernel.SpaceInput{Name: "Shared", Shared: true})
	remember(t, k, kernel.MemoryInput{Text: bridge, Space: kept.ID})
	is := func(id string, want bool) {
		t.Helper()
		if v, err := p.Space.Get(t.Context(), id); err != nil || v.Space.Shared != want {
			t.Errorf("got %+v, %v, want shared %v", v.Space, err, want)
		}
	}
	if _, err := p.Space.Merge(t.Context(), kept.ID, shared.ID); err != nil {
		t.Fatal(err)
	}
	is(shared.ID, false)
	if all := knownElsewhere(t, k.Agent("guarded"), "deadline of the bridge"); len(all) != 1 || len(all[0].Found) != 0 {
		t.Errorf("got %+v, want it kept as before", all)
	}
	if _, err := p.Space.Unmerge(t.Context(), kept.ID); err != nil {
		t.Fatal(err)
	}
	is(shared.ID, true)
	is(kept.ID, false)
}

const elsewhereScript = `
[[scenario]]
match = "^What do we know"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "memory_search"
args = '{"query": "deadline of the bridge"}'
[[scenario.turn]]
text = "This: {{result}}"

[[scenario]]
match = "."
[[scenario.turn]]
text = "An answer."
`

func TestAnAnswerSaysFromWhichSpaceItKnows(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(elsewhereScript))
	a, b := space(t, k, kernel.SpaceInput{Name: "Works", Emoji: "🌉", Shared: true}), space(t, k, kernel.SpaceInput{Name: "Desk"})
	remember(t, k, kernel.MemoryInput{Text: bridge, Space: a.ID})
	k.Ask("What is the deadline of the bridge?", func(m *kernel.Submit) { m.Space = &b.ID }) // a question is no knowledge
	r := k.Ask("What do we know of it?", func(m *kernel.Submit) { m.Space = &b.ID })
	if !strings.Contains(r.Response, "[🌉 Works] [fact, ") || !strings.Contains(r.Response, "March") {
		t.Errorf("got %q", r.Response)
	}
	v, err := k.Person().Agents.Run(t.Context(), r.RunID)
	if err != nil || v.Memories != 1 {
		t.Errorf("got %d memories, %v, want the one that it was given", v.Memories, err)
	}
}
