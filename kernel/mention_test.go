package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// mentions are the paths that the person is offered for words.
func mentions(t *testing.T, h *kernel.Handle, folder, words string) []string {
	t.Helper()
	m, err := h.Exec.Mentions(t.Context(), kernel.MentionArgs{Folder: folder, Words: words})
	if err != nil {
		t.Fatalf("mentions %q: %v", words, err)
	}
	return m.Paths
}

func TestMentionsBeginWithWhatChangedLast(t *testing.T) {
	t.Parallel()
	k := open(t)
	now := time.Now()
	for i, name := range []string{"newest.md", "src/older.go", "oldest.txt"} {
		path := filepath.Join(k.Folder, name)
		write(t, path, "x")
		if err := os.Chtimes(path, now, now.Add(-time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := mentions(t, k.Person(), k.Folder, ""), []string{"newest.md", "src/older.go", "oldest.txt", "src/"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMentionsSeeWhatWasMadeSinceTheLastOne(t *testing.T) {
	t.Parallel()
	k := open(t)
	write(t, filepath.Join(k.Folder, "a.txt"), "x")
	mentions(t, k.Person(), k.Folder, "")
	write(t, filepath.Join(k.Folder, "b.txt"), "x")
	if got := mentions(t, k.Person(), k.Folder, ""); !slices.Contains(got, "b.txt") {
		t.Errorf("got %q, want b.txt among them", got)
	}
	if got := mentions(t, k.Person(), k.Folder, "b.t"); !cmp.Equal(got, []string{"b.txt"}) {
		t.Errorf("got %q, want b.txt", got)
	}
	other := t.TempDir()
	write(t, filepath.Join(other, "b.text"), "x")
	if got := mentions(t, k.Person(), other, "b.t"); !cmp.Equal(got, []string{"b.text"}) {
		t.Errorf("in another folder: got %q, want what is there", got)
	}
}

func TestMentionsFindNamesHoweverTheyAreTyped(t *testing.T) {
	t.Parallel()
	k := open(t)
	decomposed := "\u1100\u1168\u110b\u1163\u11a8\u1109\u1165.hwp" // 계약서, as a Mac writes it
	files := []string{"src/main.go", "domain.txt", "README.md", "제주 사진/바다.jpg", "보고서.hwp", decomposed, "domains/x.txt"}
	for _, name := range files {
		write(t, filepath.Join(k.Folder, name), "x")
	}
	for words, want := range map[string]string{
		"main":      "src/main.go", // the beginning of a name before its inside, and before a folder
		"smgo":      "src/main.go",
		"go main":   "src/main.go",
		"src/ma":    "src/main.go",
		"MAIN.GO":   "src/main.go",
		"rdm":       "README.md",
		"보고":        "보고서.hwp",
		"ㅂㄱㅅ":       "보고서.hwp", // first consonants
		"복":         "보고서.hwp", // on the way to 보고
		"qhrh":      "보고서.hwp", // the English layout
		"ㅡ먀ㅜ":       "src/main.go",
		"ㅈㅈ ㅂㄷ":     "제주 사진/바다.jpg",
		"계약":        decomposed,
		"ㄱㅇㅅ":       decomposed,
		"no such":   "",
		"제주 숲":      "",
		"main nope": "",
	} {
		got := mentions(t, k.Person(), k.Folder, words)
		if first := append(got, "")[0]; first != want {
			t.Errorf("%q: got %q first of %q, want %q", words, first, got, want)
		}
	}
}

func TestMentionsLeaveOutWhatIsIgnoredAndOutside(t *testing.T) {
	t.Parallel()
	k := open(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.txt"), "x")
	for name, text := range map[string]string{".gitignore": "build/\n*.log\n", "build/out.txt": "x", "a.log": "x", "a.txt": "x", "node_modules/x/index.js": "x", ".git/HEAD": "x"} {
		write(t, filepath.Join(k.Folder, name), text)
	}
	want := []string{".gitignore", "a.txt"}
	if os.Symlink(outside, filepath.Join(k.Folder, "link")) == nil {
		want = append(want, "link") // it can be named; nothing behind it is
	}
	got := mentions(t, k.Person(), k.Folder, "")
	slices.Sort(got)
	if !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMentionsAreBoundedAndSaySo(t *testing.T) {
	t.Parallel()
	k := open(t)
	for i := range 250 {
		write(t, filepath.Join(k.Folder, fmt.Sprintf("file-%03d.txt", i)), "x")
	}
	m, err := k.Person().Exec.Mentions(t.Context(), kernel.MentionArgs{Folder: k.Folder, Words: "file"})
	if err != nil || len(m.Paths) != 200 || !m.More || m.Cut || m.Names != 250 {
		t.Errorf("got %d paths, more %v, cut %v, of %d, %v; want 200 of 250, and more", len(m.Paths), m.More, m.Cut, m.Names, err)
	}
	m, err = k.Person().Exec.Mentions(t.Context(), kernel.MentionArgs{Folder: k.Folder, Words: "file-24"})
	if err != nil || m.More || len(m.Paths) < 10 || slices.ContainsFunc(m.Paths[:10], func(p string) bool { return !strings.HasPrefix(p, "file-24") }) {
		t.Errorf("got %q, more %v, %v; want the ten that begin so first, and no more", m.Paths, m.More, err)
	}
}

func TestMentionsOfAFolderThatIsNoneSayWhy(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Person()
	file := filepath.Join(k.Folder, "a.txt")
	write(t, file, "x")
	for folder, want := range map[string]struct {
		code sys.Code
		says string
	}{
		filepath.Join(k.Folder, "gone"): {sys.CodeNotFound, "There is no folder"},
		file:                            {sys.CodeInvalid, "is a file, not a folder"},
		k.Home:                          {sys.CodeRefused, "belongs to Oxios itself"},
		"/":                             {sys.CodeRefused, "whole computer"},
	} {
		_, err := h.Exec.Mentions(t.Context(), kernel.MentionArgs{Folder: folder})
		wantCode(t, folder, err, want.code, want.says)
	}
	if err := os.RemoveAll(k.Folder); err != nil {
		t.Fatal(err)
	}
	if got := mentions(t, h, "", ""); len(got) > 0 {
		t.Errorf("got %q, want nothing in the folder that the first run makes", got)
	}
	if _, err := os.Stat(k.Folder); err == nil {
		t.Error("looking made the folder")
	}
}

func TestMentionsAreForThePersonAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, err := k.Agent("autonomous").Exec.Mentions(t.Context(), kernel.MentionArgs{Folder: k.Folder})
	wantCode(t, "an agent", err, sys.CodeForbidden, "Only the person")
	refused, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Action: security.ActionAccessDenied})
	if err != nil || len(refused) != 1 {
		t.Errorf("got %v, %v, want the refusal in the chain", refused, err)
	}
}

// BenchmarkMentions is a key typed behind an @ in a folder of 100,000 files:
// the first, which looks at the folder, and one that follows.
func BenchmarkMentions(b *testing.B) {
	k := kerneltest.Open(b)
	for i := range 100 {
		dir := filepath.Join(k.Folder, fmt.Sprintf("packages-%02d", i), "src")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 1000 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("component-%d-보고서.tsx", j)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, words := range []string{"", "c", "comp99", "ㅂㄱㅅ", "nothing fits"} {
		b.Run("words="+words, func(b *testing.B) {
			for b.Loop() {
				m, err := k.Person().Exec.Mentions(b.Context(), kernel.MentionArgs{Folder: k.Folder, Words: words})
				if err != nil || m.Names < 100_000 {
					b.Fatalf("got %d names, cut %v, %v", m.Names, m.Cut, err)
				}
			}
		})
	}
}
