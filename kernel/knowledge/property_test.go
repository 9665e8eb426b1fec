package knowledge

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"oxios/kernel/sys"
)

// world is a vault with a model of what must be in it: each note carries a mark
// that never changes, and each of its links a number whose goal is known by the
// goal's mark.
type world struct {
	t     *rapid.T
	v     *Vault
	paths map[string]string   // mark → path
	goals map[string]string   // mark of a note "/" number of a link → mark of the goal
	edits map[string][]string // mark → what was written into it from outside
	n     int
}

var (
	someFolders = []string{"", "a", "b", "a/b", "한글", "a/b/c"}
	someNames   = []string{"Note", "note", "Plan", "노트", "One two", "x.y", "Plan (1)"}
)

func (w *world) where(name string) string {
	dir := rapid.SampledFrom(someFolders).Draw(w.t, name+" folder")
	return join(dir, rapid.SampledFrom(someNames).Draw(w.t, name+" name")+".md")
}

func (w *world) marks() []string {
	var out []string
	for m := range w.paths {
		out = append(out, m)
	}
	slices.Sort(out)
	return out
}

func (w *world) file(p string) string { return filepath.Join(w.v.dir, filepath.FromSlash(p)) }

func (w *world) read(mark string) string {
	raw, err := os.ReadFile(w.file(w.paths[mark]))
	if err != nil {
		w.t.Fatalf("note %s is lost: %v", mark, err)
	}
	return string(raw)
}

// outside writes as another program does.
func (w *world) outside(p, text string) {
	if err := os.MkdirAll(filepath.Dir(w.file(p)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.file(p), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) taken(p string) bool {
	for _, q := range w.paths {
		if fold(q) == fold(p) {
			return true
		}
	}
	return false
}

// link writes a link from one note to another, in some style that leads there.
func (w *world) link(from, to string) (string, bool) {
	p, q := w.paths[from], w.paths[to]
	rel, _ := filepath.Rel(filepath.FromSlash(cmpOr(parent(p), ".")), filepath.FromSlash(q))
	rel = filepath.ToSlash(rel)
	md := &Link{Markdown: true}
	choices := []string{
		"[[" + stem(path.Base(q)) + "]]", "[[" + stem(q) + "|alias]]", "![[" + q + "#Part]]", "[[/" + stem(q) + "]]",
		"[t](" + escape(rel, md) + ")", "[t](<" + rel + ">)", "[t](/" + escape(q, md) + ")",
	}
	s := rapid.SampledFrom(choices).Draw(w.t, "style")
	l := scan(s).links
	if len(l) != 1 {
		w.t.Fatalf("%q has %d links", s, len(l))
	}
	if _, err := w.v.Rescan(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.v.mu.RLock()
	got := w.v.ix.resolve(p, &l[0])
	w.v.mu.RUnlock()
	return s, got != nil && got.path == q
}

// check compares the vault with the model.
func (w *world) check() {
	if _, err := w.v.Rescan(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	for _, mark := range w.marks() {
		text := w.read(mark)
		if !strings.Contains(text, "mark "+mark+"\n") {
			w.t.Fatalf("%s holds %q, want the note %s", w.paths[mark], text, mark)
		}
		for _, e := range w.edits[mark] {
			if !strings.Contains(text, e) {
				w.t.Fatalf("%s lost the edit %q: %q", w.paths[mark], e, text)
			}
		}
		for _, line := range strings.Split(text, "\n") {
			number, link, ok := strings.Cut(line, ": ")
			goal := w.goals[mark+"/"+number]
			if !ok || goal == "" {
				continue
			}
			l := scan(link).links
			if len(l) != 1 {
				w.t.Fatalf("%q is no link any more", line)
			}
			w.v.mu.RLock()
			to := w.v.ix.resolve(w.paths[mark], &l[0])
			w.v.mu.RUnlock()
			if to == nil || to.path != w.paths[goal] {
				w.t.Fatalf("%s, %q leads to %v, want %s", w.paths[mark], line, to, w.paths[goal])
			}
		}
	}
}

// TestRenamesBreakNoLinkAndLoseNoEdit does random renames, moves of folders and
// edits from outside, also between a plan and its applying.
func TestRenamesBreakNoLinkAndLoseNoEdit(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := os.MkdirAll(filepath.Join(dir, "vault"), 0o755); err != nil {
			t.Fatal(err)
		}
		v, err := Open(Options{Dir: filepath.Join(dir, "vault"), State: filepath.Join(dir, "state")})
		if err != nil {
			t.Fatal(err)
		}
		v.quick = true
		w := &world{t: t, v: v, paths: map[string]string{}, goals: map[string]string{}, edits: map[string][]string{}}
		for range 5 {
			if p := w.where("first"); !w.taken(p) {
				w.n++
				mark := fmt.Sprint("m", w.n)
				w.paths[mark] = p
				w.outside(p, "mark "+mark+"\n")
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { w.t = t; w.check() },
			"link": func(t *rapid.T) {
				w.t = t
				from, to := rapid.SampledFrom(w.marks()).Draw(t, "from"), rapid.SampledFrom(w.marks()).Draw(t, "to")
				s, leads := w.link(from, to)
				if !leads {
					t.Skip("this style does not lead there")
				}
				w.n++
				number := fmt.Sprint("n", w.n)
				w.goals[from+"/"+number] = to
				w.outside(w.paths[from], w.read(from)+number+": "+s+"\n")
			},
			"edit outside": func(t *rapid.T) {
				w.t = t
				mark := rapid.SampledFrom(w.marks()).Draw(t, "note")
				w.n++
				e := fmt.Sprintf("edit %d.\n", w.n)
				w.edits[mark] = append(w.edits[mark], e)
				w.outside(w.paths[mark], w.read(mark)+e)
			},
			"rename": func(t *rapid.T) {
				w.t = t
				mark := rapid.SampledFrom(w.marks()).Draw(t, "note")
				w.move(w.paths[mark], w.where("to"))
			},
			"move folder": func(t *rapid.T) {
				w.t = t
				w.move(rapid.SampledFrom(someFolders[1:]).Draw(t, "from"), join(rapid.SampledFrom(someFolders).Draw(t, "below"), rapid.SampledFrom([]string{"new", "a", "b"}).Draw(t, "as")))
			},
		})
	})
}

func (w *world) move(from, to string) {
	plan, err := w.v.PlanMove(w.t.Context(), from, to)
	if err != nil {
		if c := sys.CodeOf(err); c != sys.CodeConflict && c != sys.CodeNotFound && c != sys.CodeInvalid {
			w.t.Fatal(err)
		}
		return
	}
	if len(plan.Steps) == 0 { // to where it is
		return
	}
	// Somebody may save a note of the plan in between.
	victim := ""
	if len(plan.Steps) > 1 && rapid.IntRange(0, 3).Draw(w.t, "save in between") == 0 {
		p, _ := origin(plan.Steps, plan.Steps[len(plan.Steps)-1].Path)
		for mark, q := range w.paths {
			if q == p {
				victim = mark
			}
		}
		w.n++
		e := fmt.Sprintf("late %d\n", w.n)
		w.edits[victim] = append(w.edits[victim], e)
		w.outside(p, w.read(victim)+e)
	}
	before := map[string]string{}
	for mark := range w.paths {
		before[mark] = w.read(mark)
	}
	err = w.v.Apply(w.t.Context(), plan)
	if victim != "" {
		if sys.CodeOf(err) != sys.CodeConflict {
			w.t.Fatalf("got %v, want a conflict", err)
		}
		for mark := range w.paths {
			if w.read(mark) != before[mark] {
				w.t.Fatalf("a conflict changed %s", w.paths[mark])
			}
		}
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for mark, p := range w.paths {
		if p == from {
			w.paths[mark] = plan.Steps[0].To
		} else if rest, ok := strings.CutPrefix(p, from+"/"); ok {
			w.paths[mark] = plan.Steps[0].To + "/" + rest
		}
	}
}
