package knowledge

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

func utf16Of(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestEncodingsAreReadAndOnlyUTF8IsWritten(t *testing.T) {
	t.Parallel()
	euckr, err := korean.EUCKR.NewEncoder().String("안녕 [[a]] 세상\n")
	if err != nil {
		t.Fatal(err)
	}
	const text = "안녕 [[a]] 세상\n"
	for name, tc := range map[string]struct{ raw, encoding string }{
		"utf16le":      {utf16Of(binary.LittleEndian, bom+text), "UTF-16LE"},
		"utf16be":      {utf16Of(binary.BigEndian, bom+text), "UTF-16BE"},
		"utf16le-bare": {utf16Of(binary.LittleEndian, text), "UTF-16LE"},
		"euckr":        {euckr, "EUC-KR"},
	} {
		v := setup(t, map[string]string{"n.md": tc.raw, "a.md": ""})
		n := read(t, v, "n")
		if n.Text != text || n.Encoding != tc.encoding || len(n.Links) != 1 || n.Hash != hashOf([]byte(tc.raw)) {
			t.Errorf("%s: got %+v", name, n)
		}
		if hits, err := v.Search(t.Context(), "세상", 1); err != nil || len(hits) != 1 {
			t.Errorf("%s: got %v, %v", name, hits, err)
		}
		_, err := v.PlanWrite(t.Context(), "n", "x", n.Hash, WriteOptions{})
		want(t, err, sys.CodeInvalid)
		_, err = v.PlanAppend(t.Context(), "n", "x")
		want(t, err, sys.CodeInvalid)
		plan, err := v.PlanMove(t.Context(), "a", "b")
		apply(t, v, plan, err)
		if len(plan.Notes) != 1 || !strings.Contains(plan.Notes[0].EN, "n.md") || plan.Notes[0].KO == "" {
			t.Errorf("%s: a link that could not be rewritten is not named: %+v", name, plan.Notes)
		}
		if onDiskText(t, v, "n.md") != tc.raw {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestLineEndsAndMarkAreKept(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"n.md": bom + "# T\r\n- [ ] do\r\n[[old]]\r\n", "mixed.md": "a\r\nb\n", "old.md": ""})
	n := read(t, v, "n")
	if n.Text != "# T\n- [ ] do\n[[old]]\n" {
		t.Fatalf("got %q", n.Text)
	}
	plan, err := v.PlanWrite(t.Context(), "n", n.Text+"more\n", n.Hash, WriteOptions{})
	apply(t, v, plan, err)
	plan, err = v.PlanToggle(t.Context(), "n", 2, "")
	apply(t, v, plan, err)
	plan, err = v.PlanMove(t.Context(), "old", "new")
	apply(t, v, plan, err)
	if got, want := onDiskText(t, v, "n.md"), bom+"# T\r\n- [x] do\r\n[[new]]\r\nmore\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m := read(t, v, "mixed")
	plan, err = v.PlanWrite(t.Context(), "mixed", m.Text+"c\n", m.Hash, WriteOptions{})
	apply(t, v, plan, err)
	if got := onDiskText(t, v, "mixed.md"); got != "a\r\nb\nc\n" {
		t.Errorf("got %q", got)
	}
}

func TestBrokenFrontmatterIsNamedAndTheNoteWorks(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"a.md": "---\na: [1\nb: }\n---\nbody rocket", "b.md": "---\nkey: value\nnever ends", "c.md": "---\n" + strings.Repeat("k: v\n", 20000) + "---\nx",
		"bomb.md": "---\na: &a [x,x]\nb: &b [" + strings.Repeat("*a,", 20) + "*a]\n---\nx", "fine.md": "---\na: 1\n---\n", "rule.md": "---\nno frontmatter\n",
	})
	for p, bad := range map[string]bool{"a": true, "b": true, "c": true, "bomb": true, "fine": false, "rule": false} {
		n := read(t, v, p)
		if (n.FrontmatterError.EN != "") != bad || (n.FrontmatterError.KO != "") != bad {
			t.Errorf("%s: got fault %q", p, n.FrontmatterError)
		}
		plan, err := v.PlanAppend(t.Context(), p, "more")
		apply(t, v, plan, err)
	}
	issues, err := v.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, i := range issues {
		if i.Kind == IssueFrontmatter {
			n++
			if i.Text.KO == "" {
				t.Errorf("%v has no Korean", i)
			}
		}
	}
	if n != 4 {
		t.Errorf("got %d of 4 faults: %v", n, issues)
	}
}

func TestSimpleFrontmatterReadsAsYAMLDoes(t *testing.T) {
	t.Parallel()
	for _, block := range []string{
		"tags: [a, b]\n", "tags:\n  - a\n  - b c\n", "title: A plain title\n", "a:\nb: x\n", "k: \"quoted\"\n", "k: 'it'\n", "t: 한글 제목\n", "k: []\n", "tags:\n- a\n- b\n",
		"url: https://example.org/x\n", "k: a - b\n", "k: 'a: b'\n", "a_b-c: x\n", "time: noon\n", "k: word # comment\n", "k: 12\n", "k: true\n", "k: yes\n", "k: ~\n", "n:\n  m: x\n",
		"k: [a, [b]]\n", "k: {a: b}\n", "k: |\n  text\n", "- a\n", "k: a\n  b\n", "k: null\n", "k: .5\n", "k: 2026-11-23\n", "x: a,b\n", "k: [a b, c]\n", "k: [1, 2]\n", "k: a\n\nj: b\n", "k: <<\n", "k: =\n", "k: Inf\n", "k: .inf\n", "k: nan\n",
	} {
		fast, ok := simpleFrontmatter(block)
		if !ok {
			continue
		}
		slow, fault := yamlFrontmatter(block)
		if fault.EN != "" || !sameValues(fast, slow) {
			t.Errorf("%q: got %#v, YAML says %#v %s", block, fast, slow, fault)
		}
	}
}

func sameValues(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if !slices.Equal(stringsOf(v, false), stringsOf(b[k], false)) {
			return false
		}
		if _, isString := v.(string); isString {
			if _, ok := b[k].(string); !ok {
				return false
			}
		}
	}
	return true
}

func TestLargeNoteIsNamedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"small.md": "rocket [[huge]]"})
	for name, size := range map[string]int64{"huge.md": maxNote + 1, "video.mp4": maxFile + 1} {
		f, err := os.Create(filepath.Join(v.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil { // a file with a hole: it costs no disk
			t.Fatal(err)
		}
		f.Close()
	}
	_, err := v.Read(t.Context(), "huge")
	want(t, err, sys.CodeTooLarge)
	_, err = v.PlanAppend(t.Context(), "huge", "x")
	want(t, err, sys.CodeTooLarge)
	_, err = v.PlanWrite(t.Context(), "new", strings.Repeat("x", maxNote+1), "", WriteOptions{})
	want(t, err, sys.CodeTooLarge)
	_, err = v.PlanDelete(t.Context(), "video.mp4", "")
	want(t, err, sys.CodeTooLarge)
	if hits, err := v.Search(t.Context(), "rocket", 1); err != nil || len(hits) != 1 {
		t.Errorf("got %v, %v", hits, err)
	}
	issues, err := v.Check(t.Context())
	if err != nil || len(issues) != 2 || issues[0].Kind != IssueLarge || issues[1].Kind != IssueLarge {
		t.Errorf("got %v, %v", issues, err)
	}
	plan, err := v.PlanMove(t.Context(), "huge", "moved")
	apply(t, v, plan, err)
	if got := onDiskText(t, v, "small.md"); got != "rocket [[moved]]" {
		t.Errorf("got %q", got)
	}
}

func TestPathsStayInsideTheVault(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "x", ".obsidian/secret.md": "hidden", ".trash/old.md": "hidden"})
	outside := filepath.Join(filepath.Dir(v.dir), "outside")
	put(t, outside, "secret.md", "secret")
	for _, bad := range []string{"", "../outside/secret", "/etc/passwd", "a/../../outside/secret", "a//b", "./a", `..\outside\secret`, "C:/x", ".obsidian/secret", ".trash/old", "dir/.hidden", "a\x00b", "\xff\xfe"} {
		if _, err := v.Read(t.Context(), bad); err == nil {
			t.Errorf("Read(%q) gave a note", bad)
		}
		if _, err := v.PlanWrite(t.Context(), bad, "x", "", WriteOptions{}); err == nil {
			t.Errorf("PlanWrite(%q) gave a plan", bad)
		}
		if err := v.Apply(t.Context(), Plan{Steps: []Step{{Kind: StepWrite, Path: bad, After: []byte("x")}}}); err == nil {
			t.Errorf("Apply wrote %q", bad)
		}
	}
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"out.md": filepath.Join(outside, "secret.md"), "rel.md": "../outside/secret.md", "dir": outside} {
			if err := os.Symlink(to, filepath.Join(v.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("a.md", filepath.Join(v.dir, "inside.md")); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"out", "rel", "dir/secret"} {
			_, err := v.Read(t.Context(), p)
			want(t, err, sys.CodeForbidden)
		}
		if n := read(t, v, "inside"); n.Text != "x" {
			t.Errorf("got %q", n.Text)
		}
		plan, err := v.PlanAppend(t.Context(), "inside", "y")
		apply(t, v, plan, err)
		if onDiskText(t, v, "a.md") != "x\ny\n" {
			t.Error("the write replaced the link, not its file")
		}
	}
	if hits, err := v.Search(t.Context(), "secret hidden", 10); err != nil || len(hits) > 0 {
		t.Errorf("got %v, %v", hits, err)
	}
	if raw, _ := os.ReadFile(filepath.Join(outside, "secret.md")); string(raw) != "secret" {
		t.Error("the file outside was changed")
	}
}

func TestDecomposedNamesAreOneWithComposed(t *testing.T) {
	t.Parallel()
	nfd := norm.NFD.String("폴더/한글 노트")
	v := setup(t, map[string]string{nfd + ".md": "text", "from.md": "[[한글 노트]] [[" + norm.NFD.String("한글 노트") + "]]"})
	n := read(t, v, "폴더/한글 노트")
	if n.Text != "text" || n.Path != "폴더/한글 노트.md" {
		t.Errorf("got %+v", n)
	}
	if back, err := v.Backlinks(t.Context(), "폴더/한글 노트.md"); err != nil || len(back) != 1 {
		t.Errorf("got %v, %v", back, err)
	}
	plan, err := v.PlanWrite(t.Context(), "폴더/한글 노트", "new text", n.Hash, WriteOptions{})
	apply(t, v, plan, err)
	if onDiskText(t, v, nfd+".md") != "new text" {
		t.Error("the write made a second file")
	}
	plan, err = v.PlanWrite(t.Context(), "폴더/둘째", "x", "", WriteOptions{})
	apply(t, v, plan, err)
	if onDiskText(t, v, norm.NFD.String("폴더")+"/둘째.md") != "x" {
		t.Error("the write made a second folder")
	}
	plan, err = v.PlanMove(t.Context(), "폴더/한글 노트", "새 이름")
	apply(t, v, plan, err)
	if got := onDiskText(t, v, "from.md"); got != "[[새 이름]] [[새 이름]]" {
		t.Errorf("got %q", got)
	}
}

func TestForbiddenNamesAreRefusedForNewNotesOnly(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"why?.md": "old"})
	for _, bad := range []string{"a:b", "a?", "a*", "a|b", `a"b`, "a<b", "CON", "nul.txt", "com1", "a ", "dir./x", "a#b", "a[b", "tab\tname", strings.Repeat("가", 100)} {
		_, err := v.PlanWrite(t.Context(), bad, "x", "", WriteOptions{})
		want(t, err, sys.CodeInvalid)
	}
	n := read(t, v, "why?")
	plan, err := v.PlanWrite(t.Context(), "why?", "new", n.Hash, WriteOptions{})
	apply(t, v, plan, err)
	issues, err := v.Check(t.Context())
	if err != nil || len(issues) != 1 || issues[0].Kind != IssueName {
		t.Errorf("got %v, %v", issues, err)
	}
	plan, err = v.PlanMove(t.Context(), "why?", "why")
	apply(t, v, plan, err)
}

func TestCheckNamesWhatMaySurprise(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"a/n.md": "", "b/n.md": "", "x.md": "[[n]] [[nowhere]] [t](gone.md) [[a/n]] [w](https://x.y)", "Case.md": "", "case.md": "", "raw.md": "\xff\xfe\xfd bad \x80",
	})
	issues, err := v.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, i := range issues {
		count[i.Kind]++
	}
	if count[IssueBroken] != 2 || count[IssueAmbiguous] != 1 || count[IssueCase] != 1 || count[IssueEncoding] != 1 || len(issues) != 5 {
		t.Errorf("got %+v", issues)
	}
}

func TestProvenanceIsWrittenAndKept(t *testing.T) {
	t.Parallel()
	v := setup(t, nil)
	date := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	plan, err := v.PlanWrite(t.Context(), "n", "---\ntags: [a]\n---\nbody", "", WriteOptions{Provenance: &Provenance{Run: "r1", Session: "s1", Source: []string{"https://x.y/?a=1&b=[2]", `q"uote`}, Date: date}})
	apply(t, v, plan, err)
	n := read(t, v, "n")
	if p := n.Provenance; p == nil || p.Run != "r1" || p.Session != "s1" || len(p.Source) != 2 || p.Source[1] != `q"uote` || !p.Date.Equal(date) || n.Tags[0] != "a" {
		t.Fatalf("got %+v of %q", n.Provenance, n.Text)
	}
	plan, err = v.PlanWrite(t.Context(), "n", "rewritten without it", n.Hash, WriteOptions{})
	apply(t, v, plan, err)
	if n = read(t, v, "n"); n.Provenance == nil || n.Provenance.Run != "r1" || !strings.HasSuffix(n.Text, "---\nrewritten without it") {
		t.Errorf("got %q", n.Text)
	}
	plan, err = v.PlanWrite(t.Context(), "n", n.Text, n.Hash, WriteOptions{Provenance: &Provenance{Run: "r2"}})
	apply(t, v, plan, err)
	if n = read(t, v, "n"); n.Provenance.Run != "r2" || strings.Count(n.Text, "oxios:") != 1 {
		t.Errorf("got %q", n.Text)
	}
}

func TestJournalIsMadeFromItsTemplateAndAddedTo(t *testing.T) {
	t.Parallel()
	v := setup(t, nil)
	zone := time.FixedZone("KST", 9*3600)
	v.opt.Clock = func() time.Time { return time.Date(2026, 11, 23, 0, 5, 0, 0, time.UTC) }
	v.opt.Journal = func() Journal { return Journal{Template: "# {{title}} of {{date}} at {{time}}\n"} }
	day := time.Date(2026, 11, 23, 23, 0, 0, 0, zone)
	plan, err := v.PlanJournal(t.Context(), day, "first")
	apply(t, v, plan, err)
	plan, err = v.PlanJournal(t.Context(), day, "second\n")
	apply(t, v, plan, err)
	if got, want := onDiskText(t, v, "journal/2026-11-23.md"), "# 2026-11-23 of 2026-11-23 at 09:05\nfirst\nsecond\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	other := Journal{Folder: "일지", Format: "YYYY/MM/[day] D dddd", Template: "{{date}}"}
	if got, err := v.PreviewJournal(t.Context(), other, day); err != nil || got != (JournalDay{Path: "일지/2026/11/day 23 Monday.md", Text: "2026-11-23"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := v.PreviewJournal(t.Context(), Journal{}, day); err != nil || !got.There {
		t.Errorf("of a day with a note: got %+v, %v", got, err)
	}
	if _, err := v.PreviewJournal(t.Context(), Journal{Format: "../YYYY"}, day); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v", err)
	}
	v.opt.Journal = func() Journal { return other }
	if p, err := v.JournalPath(day); err != nil || p != "일지/2026/11/day 23 Monday.md" {
		t.Errorf("got %q, %v", p, err)
	}
}

func TestTasksAreListedToggledAndAdded(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"t.md": "- [ ] one #home\n  * [x] two 📅 2026-12-01\n```\n- [ ] code\n```\ntext\n", "e.md": "text"})
	tasks, err := v.Tasks(t.Context(), TaskFilter{})
	if err != nil || len(tasks) != 2 || tasks[0].Due != "2026-12-01" || tasks[1].Tags[0] != "home" {
		t.Fatalf("got %+v, %v", tasks, err)
	}
	if open, err := v.Tasks(t.Context(), TaskFilter{Open: true, Tag: "home"}); err != nil || len(open) != 1 {
		t.Errorf("got %v, %v", open, err)
	}
	n := read(t, v, "t")
	for _, line := range []int{1, 2} {
		plan, err := v.PlanToggle(t.Context(), "t", line, "")
		apply(t, v, plan, err)
	}
	_, err = v.PlanToggle(t.Context(), "t", 1, n.Hash)
	want(t, err, sys.CodeConflict)
	_, err = v.PlanToggle(t.Context(), "t", 4, "")
	want(t, err, sys.CodeConflict)
	for _, p := range []string{"t", "e", "new"} {
		plan, err := v.PlanTaskAdd(t.Context(), p, " three ")
		apply(t, v, plan, err)
	}
	for p, want := range map[string]string{
		"t.md": "- [x] one #home\n  * [ ] two 📅 2026-12-01\n  * [ ] three\n```\n- [ ] code\n```\ntext\n", "e.md": "text\n- [ ] three\n", "new.md": "- [ ] three\n",
	} {
		if got := onDiskText(t, v, p); got != want {
			t.Errorf("%s: got %q, want %q", p, got, want)
		}
	}
}

func TestImportOverwritesNothing(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"same.md": "same", "clash.md": "mine", "Case.md": "mine"})
	from := t.TempDir()
	for p, text := range map[string]string{"same.md": "same", "clash.md": "theirs", "case.md": "theirs", "sub/new.md": "new", "pic.png": "png", ".obsidian/app.json": "{}"} {
		put(t, from, p, text)
	}
	got, err := v.Import(t.Context(), from, ImportSkip)
	if err != nil || got.Copied != 2 || got.Same != 1 || len(got.Clashes) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got, err = v.Import(t.Context(), from, ImportBeside); err != nil || got.Copied != 2 || got.Same != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
	for p, want := range map[string]string{"clash.md": "mine", "Case.md": "mine", "clash (2).md": "theirs", "case (2).md": "theirs", "sub/new.md": "new"} {
		if got := onDiskText(t, v, p); got != want {
			t.Errorf("%s: got %q, want %q", p, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(v.dir, ".obsidian")); err == nil {
		t.Error("hidden files came along")
	}
	for _, bad := range []string{v.dir, filepath.Join(v.dir, "sub"), filepath.Dir(v.dir), filepath.Join(from, "none")} {
		_, err := v.Import(t.Context(), bad, ImportSkip)
		want(t, err, sys.CodeInvalid)
	}
}
