package knowledge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func paths(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Path)
	}
	return out
}

func TestSearchFindsWhatIsTyped(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"ko.md":        "오늘은 한글을 공부했다. 대한민국의 역사",
		"go.md":        "---\ntags: [lang/go]\n---\n# Go언어\nGoroutines are cheap. Café au lait.",
		"rust.md":      "---\ntags: [lang/rust]\n---\n# Rust\nOwnership makes threads safe; goroutines are not there",
		"news/해커뉴스.md": "링크 모음",
		norm.NFD.String("자모/분해된 이름") + ".md": norm.NFD.String("맥에서 온 파일이다"),
		"mixed.md": "日本語のテキスト and v2버전",
		"one.md":   "위한 것",
	})
	for _, tc := range []struct {
		query string
		want  []string // in any order, and nothing else
	}{
		{"한글", []string{"ko.md"}},
		{"한그", []string{"ko.md"}},
		{"한ㄱ", []string{"ko.md"}},
		{"대한", []string{"ko.md"}},
		{"대하", []string{"ko.md"}},
		{"민국", []string{"ko.md"}},
		{"한글을", []string{"ko.md"}},
		{"한글이", []string{"ko.md"}},
		{"위하", []string{"one.md"}},
		{"공부 역사", []string{"ko.md"}},
		{"goroutine", []string{"go.md", "rust.md"}},
		{"goroutines cheap", []string{"go.md"}},
		{"CAFÉ", []string{"go.md"}},
		{norm.NFD.String("café"), []string{"go.md"}},
		{"언어", []string{"go.md"}},
		{"Go언어", []string{"go.md"}},
		{"버전", []string{"mixed.md"}},
		{"日本", []string{"mixed.md"}},
		{"テキスト", []string{"mixed.md"}},
		{"맥에서", []string{"자모/분해된 이름.md"}},
		{"분해된", []string{"자모/분해된 이름.md"}},
		{"ㅎㅋㄴㅅ", []string{"news/해커뉴스.md"}},
		{"tag:lang goroutines", []string{"go.md", "rust.md"}},
		{"tag:lang/go", []string{"go.md"}},
		{"tag:#LANG/Rust", []string{"rust.md"}},
		{"path:news", []string{"news/해커뉴스.md"}},
		{"path:NEWS 링크", []string{"news/해커뉴스.md"}},
		{`"are cheap"`, []string{"go.md"}},
		{`"cheap are"`, nil},
		{`"goroutines are" safe`, []string{"rust.md"}},
		{"nothing-of-that-kind", nil},
		{"", nil},
		{`"`, nil},
		{"tag:", nil},
		{"\x00\xff", nil},
	} {
		hits, err := v.Search(t.Context(), tc.query, 10)
		if err != nil {
			t.Fatalf("%q: %v", tc.query, err)
		}
		got := paths(hits)
		slices.Sort(got)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.query, got, tc.want)
		}
		for _, h := range hits {
			for _, m := range h.Marks {
				if m[0] < 0 || m[1] > len(h.Snippet) || m[0] >= m[1] {
					t.Fatalf("%q: mark %v in %q", tc.query, m, h.Snippet)
				}
			}
		}
	}
	hits, err := v.Search(t.Context(), "한그", 1)
	if err != nil || len(hits) != 1 || len(hits[0].Marks) != 1 || hits[0].Snippet[hits[0].Marks[0][0]:hits[0].Marks[0][1]] != "한글" {
		t.Errorf("marks of what 한그 grew to: got %+v, %v", hits, err)
	}
}

func TestTitleCountsMoreThanText(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"a.md": "rocket rocket " + strings.Repeat("other words here ", 5), "rocket.md": "about engines", "h.md": "# Rocket\nand text of some length that is here", "z.md": "a rocket among many other words " + strings.Repeat("of no use ", 30),
	})
	hits, err := v.Search(t.Context(), "rocket", 10)
	if err != nil || len(hits) != 4 || hits[0].Path != "rocket.md" || hits[3].Path != "z.md" {
		t.Errorf("got %v, %v", paths(hits), err)
	}
}

func TestOfManyThatMatchTheBestAreKeptInOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		n, k := r.IntN(400), 1+r.IntN(40)
		out, all := top{k: k}, top{k: n + 1}
		for i := range n {
			f := &file{path: fmt.Sprint(r.IntN(1000), "/", i), mtime: int64(r.IntN(3))}
			score := float32(r.IntN(8)) // many are worth the same
			out.offer(f, score)
			all.kept = append(all.kept, scored{f, score, f.mtime})
		}
		want := all.best()
		if got := out.best(); !slices.Equal(got, want[:min(n, k)]) {
			t.Fatalf("%d of %d: got %v, want %v", k, n, got, want)
		}
	}
}

func TestPhraseIsFoundBehindManyThatHaveItsWords(t *testing.T) {
	t.Parallel()
	files := map[string]string{"last.md": "some text of a length that counts for little, and in it the night train, once"}
	for i := range 300 {
		files[fmt.Sprintf("%d.md", i)] = "train night train night"
	}
	v := setup(t, files)
	hits, err := v.Search(t.Context(), `"the night train"`, 2)
	if err != nil || !slices.Equal(paths(hits), []string{"last.md"}) {
		t.Errorf("got %v, %v", paths(hits), err)
	}
	if hits, err := v.Search(t.Context(), `"train night"`, 7); err != nil || len(hits) != 7 {
		t.Errorf("got %v, %v; want seven", paths(hits), err)
	}
}

func TestSwitchFindsNamesAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"news/해커뉴스.md":        "",
		"회의록 2026.md":         "",
		"projects/Oxios.md":   "---\naliases: [에이전트 운영체제, AOS]\n---\n",
		"projects/roadmap.md": "---\ntitle: The long way\n---\n",
		norm.NFD.String("일지") + "/" + norm.NFD.String("하늘") + ".md": "",
		"attachments/map.png": "",
	})
	for query, first := range map[string]string{
		"ㅎㅋㄴㅅ": "news/해커뉴스.md", "ㅎㅋ": "news/해커뉴스.md", "해커": "news/해커뉴스.md", "해ㅋ": "news/해커뉴스.md", "해커뉴": "news/해커뉴스.md", "뉴스": "news/해커뉴스.md", "핵": "",
		"해커느": "", "ㅎㅇㄹ": "회의록 2026.md", "oxi": "projects/Oxios.md", "aos": "projects/Oxios.md", "ㅇㅇㅊㅈ": "projects/Oxios.md", "운영체": "projects/Oxios.md",
		"long": "projects/roadmap.md", "rdmp": "projects/roadmap.md", "하느": "일지/하늘.md", "ㅎㄴ": "일지/하늘.md", "일지": "일지/하늘.md", "map": "attachments/map.png",
		"ㄳ": "", "zzz": "",
	} {
		hits, err := v.Switch(t.Context(), query, 5)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(hits) > 0 {
			got = hits[0].Path
		}
		if got != first {
			t.Errorf("%q: got %q, want %q first", query, paths(hits), first)
		}
	}
}

func TestUnlinkedMentionsLeaveOutLinksAndCode(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"Rocket.md": "Rocket itself", "서울.md": "",
		"a.md": "A rocket flies.\n[[Rocket]] is linked, [rocket](x.md) too.\n`rocket`\n```\nrocket\n```\nrockets are other\nThe ROCKET!",
		"b.md": "서울에 갔다\n경서울 아님",
	})
	back, err := v.Unlinked(t.Context(), "Rocket")
	if err != nil || len(back) != 2 || back[0].Line != 1 || back[1].Line != 8 {
		t.Errorf("got %+v, %v", back, err)
	}
	back, err = v.Unlinked(t.Context(), "서울")
	if err != nil || len(back) != 1 || back[0].Line != 1 {
		t.Errorf("got %+v, %v", back, err)
	}
}
