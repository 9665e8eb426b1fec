package knowledge

import (
	"strings"
	"testing"

	"oxios/kernel/sys"
)

func TestRenameRewritesEachLinkInItsOwnStyle(t *testing.T) {
	t.Parallel()
	const before = `---
up: "[[Old]]"
about: see [[Old]] there
---
[[Old]] [[old|so]] [[Old#Part]] [[Old#^b1]] ![[Old]] [[a/Old]] [[/a/Old]] [[a/Old.md|x]]
[t](a/Old.md) [t](<a/Old.md#Part> "title") [t](./a/Old.md) [t](../index.md) [w](https://old) [[Older]]
` + "`[[Old]]` \\[[Old]]" + `
` + "```" + `
[[Old]]
` + "```" + `
| [[Old\|in a table]] |
[ref]: a/Old.md
`
	const after = `---
up: "[[New name]]"
about: see [[Old]] there
---
[[New name]] [[New name|so]] [[New name#Part]] [[New name#^b1]] ![[New name]] [[b/New name]] [[/b/New name]] [[b/New name.md|x]]
[t](b/New%20name.md) [t](<b/New name.md#Part> "title") [t](./b/New%20name.md) [t](../index.md) [w](https://old) [[Older]]
` + "`[[Old]]` \\[[Old]]" + `
` + "```" + `
[[Old]]
` + "```" + `
| [[New name\|in a table]] |
[ref]: b/New%20name.md
`
	v := setup(t, map[string]string{"a/Old.md": "[i](../index.md) [[index]] ![p](pic%20ture.png)", "a/pic ture.png": "", "index.md": before, "Older.md": ""})
	plan, err := v.PlanMove(t.Context(), "a/Old", "b/New name")
	apply(t, v, plan, err)
	if got := onDiskText(t, v, "index.md"); got != after {
		t.Errorf("got\n%s\nwant\n%s", got, after)
	}
	if got, want := onDiskText(t, v, "b/New name.md"), "[i](../index.md) [[index]] ![p](../a/pic%20ture.png)"; got != want {
		t.Errorf("the moved note: got %q, want %q", got, want)
	}
	if plan.Links != 15 {
		t.Errorf("got %d links, want 15", plan.Links)
	}
	undo := plan.Undo()
	apply(t, v, undo, nil)
	if got := onDiskText(t, v, "index.md"); got != before {
		t.Errorf("after undo: got\n%s", got)
	}
	if back, err := v.Backlinks(t.Context(), "a/Old.md"); err != nil || len(back) != 5 {
		t.Errorf("got %d backlinks %v, %v", len(back), back, err)
	}
}

func TestShortLinkBecomesAPathWhenItsNameIsTaken(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"x/Plan.md": "", "y/Note.md": "", "from.md": "[[Note]] [[Plan]]"})
	plan, err := v.PlanMove(t.Context(), "y/Note", "z/Plan")
	apply(t, v, plan, err)
	if got, want := onDiskText(t, v, "from.md"), "[[z/Plan]] [[Plan]]"; got != want {
		// [[Plan]] still leads to x/Plan: as short as z/Plan, and before it.
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNewNameDoesNotStealALink(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"deep/down/Plan.md": "", "Note.md": "", "from.md": "[[Plan]]"})
	plan, err := v.PlanMove(t.Context(), "Note", "Plan")
	apply(t, v, plan, err)
	if got, want := onDiskText(t, v, "from.md"), "[[deep/down/Plan]]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFolderMovesWithItsLinks(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"p/a.md": "[[p/b]] [b](b.md) [o](../out.md) [[c]]", "p/b.md": "", "p/q/c.md": "[up](../a.md) [[out]]", "p/pic.png": "png", "out.md": "[[p/a]] [x](p/q/c.md) ![[pic.png]]",
	})
	plan, err := v.PlanMove(t.Context(), "p", "archive/2026/p2")
	apply(t, v, plan, err)
	for p, want := range map[string]string{
		"archive/2026/p2/a.md":    "[[archive/2026/p2/b]] [b](b.md) [o](../../../out.md) [[c]]",
		"archive/2026/p2/q/c.md":  "[up](../a.md) [[out]]",
		"archive/2026/p2/pic.png": "png",
		"out.md":                  "[[archive/2026/p2/a]] [x](archive/2026/p2/q/c.md) ![[pic.png]]",
	} {
		if got := onDiskText(t, v, p); got != want {
			t.Errorf("%s: got %q, want %q", p, got, want)
		}
	}
	issues, err := v.Check(t.Context())
	if err != nil || len(issues) > 0 {
		t.Errorf("got %v, %v", issues, err)
	}
}

func TestNoteIsRenamedByCaseOnly(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"note.md": "text", "from.md": "[[note]] [n](note.md)"})
	plan, err := v.PlanMove(t.Context(), "note", "Note")
	apply(t, v, plan, err)
	if got := onDiskText(t, v, "Note.md"); got != "text" {
		t.Errorf("got %q", got)
	}
	if back, err := v.Backlinks(t.Context(), "Note.md"); err != nil || len(back) != 1 {
		t.Errorf("got %v, %v", back, err)
	}
}

func TestMoveRefusesWhatWouldHarm(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a/n.md": "1", "b/n.md": "2"})
	for _, tc := range []struct {
		from, to string
		code     sys.Code
	}{
		{"a/n", "b/n", sys.CodeConflict},
		{"a/n", "b/N", sys.CodeConflict},
		{"a", "a/inside", sys.CodeInvalid},
		{"a", "b", sys.CodeConflict},
		{"a/none", "c", sys.CodeNotFound},
		{"a/n", "../out", sys.CodeInvalid},
		{"a/n", "/etc/out", sys.CodeInvalid},
		{"a/n", ".trash/n", sys.CodeForbidden},
		{"a/n", "what?", sys.CodeInvalid},
		{"a/n", "C#", sys.CodeInvalid},
		{"a/n", "con", sys.CodeInvalid},
	} {
		_, err := v.PlanMove(t.Context(), tc.from, tc.to)
		if sys.CodeOf(err) != tc.code {
			t.Errorf("%s → %s: got %v, want %s", tc.from, tc.to, err, tc.code)
		}
	}
	if onDiskText(t, v, "a/n.md") != "1" || onDiskText(t, v, "b/n.md") != "2" {
		t.Error("a refused move changed a note")
	}
}

func TestRenameReachesCanvases(t *testing.T) {
	t.Parallel()
	const before = `{
	"nodes": [
		{"id":"1","type":"file","file":"a/Old.md","x":0,"y":0},
		{"id":"2","type":"file", "file" : "a/Older.md","subpath":"#Old"},
		{"id":"3","type":"text","text":"see [[Old]] \"so\" & [[Older]]\n"},
		{"id":"4","type":"group","label":"a/Old.md","background":"a/Old.md"}
	], "edges": []
}`
	const after = `{
	"nodes": [
		{"id":"1","type":"file","file":"b/New.md","x":0,"y":0},
		{"id":"2","type":"file", "file" : "a/Older.md","subpath":"#Old"},
		{"id":"3","type":"text","text":"see [[New]] \"so\" & [[Older]]\n"},
		{"id":"4","type":"group","label":"a/Old.md","background":"b/New.md"}
	], "edges": []
}`
	v := setup(t, map[string]string{"a/Old.md": "x", "a/Older.md": "", "board.canvas": before, "broken.canvas": "{", "other.canvas": `{"nodes":[]}`})
	plan, err := v.PlanMove(t.Context(), "a/Old", "b/New")
	apply(t, v, plan, err)
	if got := onDiskText(t, v, "board.canvas"); got != after {
		t.Errorf("got\n%s\nwant\n%s", got, after)
	}
	if len(plan.Notes) != 1 || plan.Notes[0].KO == "" || onDiskText(t, v, "broken.canvas") != "{" {
		t.Errorf("got notes %+v, want one of the canvas that cannot be read", plan.Notes)
	}
	apply(t, v, plan.Undo(), nil)
	if got := onDiskText(t, v, "board.canvas"); got != before {
		t.Errorf("after undo: got\n%s", got)
	}
	plan, err = v.PlanMove(t.Context(), "a", "c")
	apply(t, v, plan, err)
	if got, want := onDiskText(t, v, "board.canvas"), strings.ReplaceAll(strings.ReplaceAll(before, `"a/Old`, `"c/Old`), `"label":"c/`, `"label":"a/`); got != want {
		t.Errorf("with its folder: got\n%s\nwant\n%s", got, want)
	}
}
