package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// skills makes a tree of skills, each with its path as description.
func skills(paths ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for _, p := range paths {
		m[p+"/SKILL.md"] = &fstest.MapFile{Data: []byte(with("name: "+baseName(p), "description: "+p)), Mode: 0o644}
	}
	return m
}

func root(source Source, m fstest.MapFS) Root {
	return Root{Path: string(source), FS: m, Source: source, Trusted: true}
}

func namesOf(c Catalog) (out []string) {
	for _, s := range c.Skills {
		out = append(out, s.Dir)
	}
	return out
}

func TestStrongerSourcesWin(t *testing.T) {
	t.Parallel()
	c := Find(t.Context(), []Root{
		root(SourceBundled, skills("debug", "review")), root(SourceGlobal, skills("debug", "mail")), root(SourceProject, skills("debug", "build")), root(SourceAgent, skills("debug")),
	})
	want := []string{"agent/debug", "project/build", "global/mail", "bundled/review"}
	if got := namesOf(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if c.Skills[0].Source != SourceAgent || len(c.Skills[0].Warnings) != 3 || len(c.Left) != 3 || !strings.Contains(c.Left[0].Why.EN, "agent/debug") {
		t.Errorf("got %+v, left out %+v", c.Skills[0], c.Left)
	}
}

func TestFirstRootOfOneSourceWins(t *testing.T) {
	t.Parallel()
	c := Find(t.Context(), []Root{{Path: "a", FS: skills("x"), Source: SourceGlobal, Trusted: true}, {Path: "b", FS: skills("x", "y"), Source: SourceGlobal, Trusted: true}})
	if got := namesOf(c); !slices.Equal(got, []string{"a/x", "b/y"}) {
		t.Errorf("got %q", got)
	}
}

func TestNamesThatDifferInCaseOrFormAreOne(t *testing.T) {
	t.Parallel()
	m := skills("caf\u00e9", "tool")
	m["Tool/SKILL.md"] = &fstest.MapFile{Data: []byte(with("name: Tool", "description: d"))}
	other := fstest.MapFS{"x/SKILL.md": {Data: []byte(with("name: cafe\u0301", "description: d"))}}
	c := Find(t.Context(), []Root{root(SourceProject, m), root(SourceGlobal, other)})
	if len(c.Skills) != 2 || len(c.Left) != 2 {
		t.Fatalf("got %q, left out %+v", namesOf(c), c.Left)
	}
	for _, s := range c.Skills {
		if !warned(s, "differ only in case") {
			t.Errorf("%s: got %v", s.Name, s.Warnings)
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	m := skills("a/b/c/d/e/six", "a/b/c/d/e/f/seven", "outer", "outer/inner", "node_modules/x", ".git/y", ".hidden/z")
	m["SKILL.md"] = &fstest.MapFile{Data: []byte(with("name: x", "description: d"))}
	c := Find(t.Context(), []Root{root(SourceGlobal, m)})
	if got, want := namesOf(c), []string{"global/outer", "global/.hidden/z", "global/a/b/c/d/e/six"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	many := fstest.MapFS{}
	for i := range 3000 {
		many[fmt.Sprintf("d%04d/x", i)] = &fstest.MapFile{}
	}
	many["d0001/SKILL.md"] = &fstest.MapFile{Data: []byte(with("name: d0001", "description: d"))}
	many["d2999/SKILL.md"] = &fstest.MapFile{Data: []byte(with("name: d2999", "description: d"))}
	c = Find(t.Context(), []Root{root(SourceGlobal, many)})
	if len(c.Skills) != 1 || len(c.Left) != 1 || !strings.Contains(c.Left[0].Why.EN, "2000 folders") {
		t.Errorf("got %q, left out %+v", namesOf(c), c.Left)
	}
}

func TestUnusableSkillsAreToldAndHarmNoOthers(t *testing.T) {
	t.Parallel()
	m := skills("good")
	m["bad/SKILL.md"] = &fstest.MapFile{Data: []byte("# no frontmatter")}
	m["large/SKILL.md"] = &fstest.MapFile{Data: []byte("---\n" + strings.Repeat("a: b\n", 200_000) + "---\n")}
	m["none/README.md"] = &fstest.MapFile{}
	c := Find(t.Context(), []Root{root(SourceProject, m), {Path: "/nowhere/at/all", Source: SourceGlobal, Trusted: true}, {Path: "strange", FS: skills("x"), Source: SourceProject}})
	if got := namesOf(c); !slices.Equal(got, []string{"project/good"}) {
		t.Errorf("got %q", got)
	}
	var left []string
	for _, l := range c.Left {
		left = append(left, l.Dir)
		if l.Why.EN == "" || l.Why.KO == "" {
			t.Errorf("%s: %+v", l.Dir, l.Why)
		}
	}
	if !slices.Equal(left, []string{"project/bad", "project/large", "strange"}) {
		t.Errorf("left out %q", left)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	dir := t.TempDir()
	outside := t.TempDir()
	for at, text := range map[string]string{dir + "/real/SKILL.md": with("name: real", "description: d"), outside + "/SKILL.md": with("name: outside", "description: d"), dir + "/file/x": ""} {
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for at, to := range map[string]string{"/out": outside, "/up": "..", "/again": "real", "/file/SKILL.md": outside + "/SKILL.md", "/loop": "."} {
		if err := os.Symlink(to, dir+at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir+"/pipe", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := mkfifo(dir + "/pipe/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	c := Find(t.Context(), []Root{{Path: dir, Source: SourceGlobal, Trusted: true}})
	if got := namesOf(c); !slices.Equal(got, []string{filepath.Join(dir, "real")}) {
		t.Errorf("got %q", got)
	}
	var left []string
	for _, l := range c.Left {
		left = append(left, filepath.Base(l.Dir))
	}
	slices.Sort(left)
	if !slices.Equal(left, []string{"file", "out", "pipe", "up"}) {
		t.Errorf("left out %+v", c.Left)
	}
}
