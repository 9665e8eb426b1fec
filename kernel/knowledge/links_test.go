package knowledge

import (
	"reflect"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

func TestBacklinksFollowEveryChange(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "first [[b]]\n[[b|again]] and [x](sub/c.md)", "b.md": "[[b]] itself", "sub/c.md": "[[b]]"})
	check := func(p string, want ...Backlink) {
		t.Helper()
		got, err := v.Backlinks(t.Context(), p)
		if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", p, got, err, want)
		}
	}
	check("b.md", Backlink{"a.md", "a", 1, "first [[b]]"}, Backlink{"a.md", "a", 2, "[[b|again]] and [x](sub/c.md)"}, Backlink{"sub/c.md", "c", 1, "[[b]]"})
	check("sub/c", Backlink{"a.md", "a", 2, "[[b|again]] and [x](sub/c.md)"})
	plan, err := v.PlanWrite(t.Context(), "a", "nothing", read(t, v, "a").Hash, WriteOptions{})
	apply(t, v, plan, err)
	check("b.md", Backlink{"sub/c.md", "c", 1, "[[b]]"})
	check("sub/c.md")
	// A nearer note of the same name takes the link over.
	plan, err = v.PlanWrite(t.Context(), "sub/b", "", "", WriteOptions{})
	apply(t, v, plan, err)
	check("b.md", Backlink{"sub/c.md", "c", 1, "[[b]]"}) // the whole path goes before the neighbour
	plan, err = v.PlanDelete(t.Context(), "b.md", "")
	apply(t, v, plan, err)
	check("sub/b.md", Backlink{"sub/c.md", "c", 1, "[[b]]"})
}

func TestGraphHasEachLinkOnce(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "[[b]] [[b]] ![[pic.png]] [[none]]", "b.md": "[[a]]", "c.md": "", "pic.png": "", "other.png": ""})
	g, err := v.Graph(t.Context(), GraphQuery{})
	want := Graph{
		Nodes: []Node{{Path: "a.md", Title: "a", Links: 1}, {Path: "b.md", Title: "b", Links: 1}, {Path: "c.md", Title: "c"}, {Path: "pic.png", Title: "pic.png", Links: 1}, {Path: "none", Title: "none", Links: 1, Missing: true}},
		Edges: []Edge{{0, 1}, {0, 3}, {0, 4}, {1, 0}},
	}
	if err != nil || !reflect.DeepEqual(g, want) {
		t.Errorf("got %+v, %v, want %+v", g, err, want)
	}
}

func TestGraphAroundANoteIsWhatIsNearToIt(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "[[b]]", "b.md": "[[c]] [[c]]", "c.md": "[[d]] [[a]] [[none]]", "d.md": "[[e]]", "e.md": "", "far.md": "[[e]]"})
	for _, c := range []struct {
		q     GraphQuery
		nodes string
		edges int
		left  int
	}{
		{GraphQuery{Path: "b"}, "a.md b.md c.md", 3, 0},
		{GraphQuery{Path: "b.md", Depth: 2}, "a.md b.md c.md d.md none", 5, 0},
		{GraphQuery{Path: "b", Depth: 2, Most: 3}, "a.md b.md c.md", 3, 2},
		{GraphQuery{Most: 1}, "c.md", 0, 6},
	} {
		g, err := v.Graph(t.Context(), c.q)
		names := ""
		for _, n := range g.Nodes {
			names += " " + n.Path
		}
		if err != nil || strings.TrimSpace(names) != c.nodes || len(g.Edges) != c.edges || g.Left != c.left {
			t.Errorf("%+v: got %+v, %v", c.q, g, err)
		}
	}
	if _, err := v.Graph(t.Context(), GraphQuery{Path: "none"}); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestMentionBecomesALinkThatKeepsItsWords(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"sub/Moon Base.md": "", "Moon Base.md": "", "지구.md": "", "a.md": "one\n`moon base` and Moon base here\n지구는 둥글다\n"})
	plan, err := v.PlanLink(t.Context(), "a", 2, "sub/Moon Base.md", "")
	apply(t, v, plan, err)
	plan, err = v.PlanLink(t.Context(), "a", 3, "지구", "")
	apply(t, v, plan, err)
	if got, want := onDiskText(t, v, "a.md"), "one\n`moon base` and [[sub/Moon Base|Moon base]] here\n[[지구]]는 둥글다\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for line, to := range map[int]string{1: "지구", 3: "지구"} {
		if _, err := v.PlanLink(t.Context(), "a", line, to, ""); sys.CodeOf(err) != sys.CodeConflict {
			t.Errorf("line %d: got %v", line, err)
		}
	}
	if _, err := v.PlanLink(t.Context(), "a", 2, "지구", "0123"); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v", err)
	}
}

func TestDeletedNoteComesBackByUndo(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "text", "b.md": "[[a]]"})
	plan, err := v.PlanDelete(t.Context(), "a", "")
	apply(t, v, plan, err)
	if len(plan.Notes) != 1 || plan.Notes[0].KO == "" {
		t.Errorf("got %+v, want a word on the link that breaks", plan.Notes)
	}
	apply(t, v, plan.Undo(), nil)
	if got := onDiskText(t, v, "a.md"); got != "text" {
		t.Errorf("got %q", got)
	}
}

// FuzzScan looks for texts that the scanner cannot stand, or of which it reports
// links outside of the text.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"[[a]]", "---\nx: \"[[a]]\"\n---\n[t](<a b>)", "``` \n[[a]]\n```", "`a``[[b]]`", "> - [ ] x [a]: b", "[[[[a|b]]]]", "[a](b(c)d \"t\")", "\\[[a]]", "[x]: y", "#한글/태그 #1 #a1", "---\n---", "[a](%zz)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, l := range scan(s).links {
			if l.start < 0 || l.end > len(s) || l.start >= l.end {
				t.Errorf("%q: link at %d..%d", s, l.start, l.end)
			}
			if !l.Markdown && s[l.start:l.end] != l.Target {
				t.Errorf("%q: %q is not %q", s, s[l.start:l.end], l.Target)
			}
		}
		parseFrontmatter(s)
		factsOf("n.md", s)
	})
}

func TestFormulasAndHTMLHoldNoLinksAndTags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"$$\nA = [[1,2],[3,4]]\n\n#no\n$$\n[[a]] #yes":     {"a", "yes"},
		"inline $[[x_{1}]]$ and [[a]] $a #b$ #yes":         {"a", "yes"},
		"costs $5 #yes and [[a]], then $6":                 {"a", "yes"},
		"$$[[no]]$$ [[a]] #yes":                            {"a", "yes"},
		"> $$\n> [[no]]\n> $$\n> [[a]] #yes":               {"a", "yes"},
		"$$ alone [[a]] #yes":                              {"a", "yes"},
		"one $ [[a]] two $ #yes":                           {"a", "yes"},
		"\\$[[a]]\\$ #yes":                                 {"a", "yes"},
		"<span style=\"color: #ff0000\">[[a]]</span> #yes": {"a", "yes"},
		"<!-- #no\n[[no]]\n--> [[a]] #yes":                 {"a", "yes"},
		"<!-- open [[a]] #yes":                             {"a", "yes"},
		"1 < 2 #yes [[a]] 3 > 2":                           {"a", "yes"},
		"[[a]] #👨\u200d👩\u200d👧":                           {"a", "👨\u200d👩\u200d👧"},
		"[[a]] #👍🏽":                                        {"a", "👍🏽"},
		"[[a]] #❤\ufe0f and":                               {"a", "❤\ufe0f"},
	} {
		out := scan(text)
		var links []string
		for _, l := range out.links {
			links = append(links, l.Target)
		}
		if got := strings.Join(links, " "); got != want[0] || strings.Join(out.tags, " ") != want[1] {
			t.Errorf("%q: got links %q and tags %q, want %q", text, links, out.tags, want)
		}
	}
}
