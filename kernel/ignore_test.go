package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
)

// gitSees lists the files below dir that git does not ignore.
func gitSees(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command("git", "-C", dir, "ls-files", "-z", "--others", "--exclude-standard")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "XDG_CONFIG_HOME="+dir, "HOME="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := slices.DeleteFunc(strings.Split(string(out), "\x00"), func(p string) bool { return p == "" })
	slices.Sort(list)
	return list
}

// found lists the files that Find sees.
func found(t *testing.T, h *kernel.Handle, in kernel.FindArgs) ([]string, string) {
	t.Helper()
	r, err := h.Exec.Find(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	files := slices.DeleteFunc(r.Paths, func(p string) bool { return strings.HasSuffix(p, "/") })
	slices.Sort(files)
	return files, r.Note
}

func gitInit(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("git", "init", "--quiet", "--template=", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
}

func TestFindSeesWhatGitSees(t *testing.T) {
	t.Parallel()
	k := open(t)
	gitInit(t, k.Folder)
	h := k.Agent("guarded")
	names := []string{"a", "b", "ab", "a.log", "b.log", "A", "{a}", "a b", "#a", "!a", "]", "한글", "build"} // no single letter of several bytes: to git it is no ?
	parts := []string{"a", "b", "ab", "*", "**", "?", "*.log", "a*", "*b", "[ab]", "[!a]", "[]]", "{a}", "{a,b}", `\#a`, `\!a`, "a b", "#a", "한글", "?.log", `a\ `, "a ", "build", "a**b", `a\*`, "[a-c]b", `\`}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(list []string) string { return list[r.IntN(len(list))] }
		entries, err := os.ReadDir(k.Folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != ".git" {
				if err := os.RemoveAll(filepath.Join(k.Folder, e.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}
		folders := []string{""}
		for range 12 {
			dir := pick(folders)
			if r.IntN(2) == 0 && strings.Count(dir, "/") < 4 {
				dir += pick(names) + "/"
				if os.MkdirAll(filepath.Join(k.Folder, dir), 0o755) == nil {
					folders = append(folders, dir)
				}
				continue
			}
			_ = os.WriteFile(filepath.Join(k.Folder, dir, pick(names)), nil, 0o644) // where a folder has the name, that stays
		}
		for _, dir := range folders {
			_ = os.WriteFile(filepath.Join(k.Folder, dir, "kept"), nil, 0o644)
		}
		said := ""
		for n := range 1 + r.IntN(3) {
			var list strings.Builder
			for range 1 + r.IntN(4) {
				if r.IntN(3) == 0 {
					list.WriteString("!")
				}
				if r.IntN(4) == 0 {
					list.WriteString("/")
				}
				list.WriteString(pick(parts))
				for range r.IntN(3) {
					list.WriteString("/" + pick(parts))
				}
				if r.IntN(4) == 0 {
					list.WriteString("/")
				}
				list.WriteString([]string{"\n", "\r\n", " \n"}[r.IntN(3)])
			}
			file := pick(folders) + ".gitignore"
			if n == 0 && r.IntN(3) == 0 {
				file = ".git/info/exclude"
			}
			write(t, filepath.Join(k.Folder, file), list.String())
			said += fmt.Sprintf("%s: %q\n", file, list.String())
		}
		want := gitSees(t, k.Folder)
		if got, _ := found(t, h, kernel.FindArgs{Pattern: "*"}); !slices.Equal(got, want) {
			t.Errorf("seed %d\n%sgot  %q\nwant %q", seed, said, got, want)
		}
		_ = os.RemoveAll(filepath.Join(k.Folder, ".git/info"))
	}
}

// ignoredTree makes a project with things in it that its ignore files leave
// out.
func ignoredTree(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		".gitignore": "dist/\n*.log\n/secret\n", ".ignore": "fixtures/\n!keep.log\n", "main.go": "needle\n", "trace.log": "needle\n", "keep.log": "needle\n",
		"dist/app.js": "needle\n", "dist/deep/b.log": "needle\n", "fixtures/big.json": "needle\n", "secret": "needle\n", "src/secret": "needle\n",
		"src/.gitignore": "!trace.log\ngen/\n", "src/trace.log": "needle\n", "src/gen/x.go": "needle\n", "src/dist/y.js": "needle\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
}

func paths(r kernel.GrepResult) string {
	var list []string
	for _, m := range r.Matches {
		list = append(list, m.Path)
	}
	return strings.Join(list, " ")
}

func TestSearchLeavesOutWhatIgnoreFilesName(t *testing.T) {
	t.Parallel()
	k := open(t)
	ignoredTree(t, k.Folder)
	h := k.Agent("guarded")
	for _, c := range []struct {
		what string
		in   kernel.GrepArgs
		want string
		says string // in the note; "" for no note about ignored files
	}{
		{"the folder", kernel.GrepArgs{}, "keep.log main.go src/secret src/trace.log", "Left out by .gitignore: dist/, fixtures/, secret and 3 more. Set ignored to true"},
		{"all of it", kernel.GrepArgs{Ignored: true}, "dist/app.js dist/deep/b.log fixtures/big.json keep.log main.go secret src/dist/y.js src/gen/x.go src/secret src/trace.log trace.log", ""},
		{"only what the glob means", kernel.GrepArgs{Glob: "*.go"}, "main.go", "dist/, fixtures/, src/dist/ and 1 more."},
		{"an ignored folder by name", kernel.GrepArgs{Path: "dist"}, "dist/app.js dist/deep/b.log", ""},
		{"a folder in an ignored one", kernel.GrepArgs{Path: "dist/deep"}, "dist/deep/b.log", ""},
		{"an ignored file by name", kernel.GrepArgs{Path: "trace.log"}, "trace.log", ""},
		{"a folder below the lists", kernel.GrepArgs{Path: "src"}, "src/secret src/trace.log", "src/dist/, src/gen/. Set"},
	} {
		c.in.Pattern = "needle"
		r, err := h.Exec.Grep(t.Context(), c.in)
		if err != nil || paths(r) != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.what, paths(r), err, c.want)
		}
		if !strings.Contains(r.Note, c.says) || c.says == "" && strings.Contains(r.Note, "ignore") {
			t.Errorf("%s: got note %q, want %q", c.what, r.Note, c.says)
		}
	}
	if got, note := found(t, h, kernel.FindArgs{Pattern: "*.js"}); len(got) > 0 || !strings.Contains(note, "dist/") {
		t.Errorf("find: got %q, note %q", got, note)
	}
	if got, _ := found(t, h, kernel.FindArgs{Pattern: "*.js", Ignored: true}); !slices.Equal(got, []string{"dist/app.js", "src/dist/y.js"}) {
		t.Errorf("find all: got %q", got)
	}
	if got, _ := found(t, h, kernel.FindArgs{Pattern: "*.js", Path: "dist"}); !slices.Equal(got, []string{"dist/app.js"}) {
		t.Errorf("find in an ignored folder: got %q", got)
	}
}

func TestRepositoriesKeepTheirIgnoreFilesToThemselves(t *testing.T) {
	t.Parallel()
	k := open(t)
	write(t, filepath.Join(k.Folder, ".gitignore"), "*.out\n")
	write(t, filepath.Join(k.Folder, ".ignore"), "*.tmp\n")
	inner := filepath.Join(k.Folder, "app")
	gitInit(t, inner)
	write(t, filepath.Join(inner, ".git", "info", "exclude"), "mine\n/pkg/*.bin\n")
	write(t, filepath.Join(inner, "pkg", ".gitignore"), "!b.bin\n")
	for _, name := range []string{"a.out", "a.tmp", "app/a.out", "app/a.tmp", "app/mine", "app/pkg/a.bin", "app/pkg/b.bin", "app/pkg/sub/mine"} {
		write(t, filepath.Join(k.Folder, name), "")
	}
	if got, _ := found(t, k.Agent("guarded"), kernel.FindArgs{Pattern: "*[nt.]*"}); strings.Join(got, " ") != ".gitignore .ignore app/a.out app/pkg/.gitignore app/pkg/b.bin" {
		t.Errorf("from the folder around: got %q", got)
	}
	// A run that works in a part of a repository knows the files above it.
	h := k.AgentIn(filepath.Join(inner, "pkg"), "guarded")
	if got, note := found(t, h, kernel.FindArgs{Pattern: "*"}); !slices.Equal(got, []string{".gitignore", "b.bin"}) || !strings.Contains(note, "a.bin") {
		t.Errorf("from a part: got %q, note %q", got, note)
	}
	// Unless they leave out that part as a whole.
	write(t, filepath.Join(inner, ".gitignore"), "/pkg\n")
	if got, _ := found(t, h, kernel.FindArgs{Pattern: "*"}); !slices.Equal(got, []string{".gitignore", "a.bin", "b.bin", "sub/mine"}) {
		t.Errorf("from an ignored part: got %q", got)
	}
}

func TestOddIgnoreFilesSayNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	other := t.TempDir()
	write(t, filepath.Join(other, "list"), "*\n")
	write(t, filepath.Join(k.Folder, "huge", ".gitignore"), strings.Repeat("#", 300<<10)+"\n*\n")
	write(t, filepath.Join(k.Folder, "folder", ".gitignore", "x"), "*\n")
	write(t, filepath.Join(k.Folder, "binary", ".gitignore"), "\x00\xff*\n")
	write(t, filepath.Join(k.Folder, "link", "a"), "")
	if err := os.Symlink(filepath.Join(other, "list"), filepath.Join(k.Folder, "link", ".gitignore")); err != nil {
		t.Skip("this system has no links")
	}
	for _, dir := range []string{"huge", "folder", "binary", "link"} {
		write(t, filepath.Join(k.Folder, dir, "seen"), "")
	}
	if got, note := found(t, k.Agent("guarded"), kernel.FindArgs{Pattern: "seen"}); len(got) != 4 || note != "" {
		t.Errorf("got %q, note %q, want the four files", got, note)
	}
}
