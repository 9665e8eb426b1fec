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
			all.kept = append(all.kept, scored{file: f, score: score, mtime: f.mtime})
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

// pages are so many paragraphs that say nothing of what is asked for.
func pages(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Page %d tells of bees, of the meadow behind the house and of honey in jars of every size. Nobody counts them before the first frost comes.\n\n", i)
	}
	return b.String()
}

func TestWhatStandsTogetherInALongNoteIsFoundAndShown(t *testing.T) {
	t.Parallel()
	// Every word that is asked for stands in all three: in one of the long ones far
	// apart, though more often.
	var scattered strings.Builder
	for _, words := range []string{"The boiler hums. ", "A service on Sunday. ", "Phone the beekeeper. ", "A number of hives. ", "The boiler again, and its service book. "} {
		scattered.WriteString(words + pages(36) + words)
	}
	end := "## Cellar\n\nFor the boiler, the service has the phone number 555 0199."
	files := map[string]string{"scattered.md": scattered.String(), "together.md": pages(150) + end, "other.md": pages(10)}
	v := setup(t, files)
	if n := len(files["together.md"]); n < 20_000 {
		t.Fatalf("the note has %d bytes", n)
	}
	hits, err := v.Search(t.Context(), "boiler service phone number ", 10)
	if err != nil || !slices.Equal(paths(hits), []string{"together.md", "scattered.md"}) {
		t.Fatalf("got %v, %v", paths(hits), err)
	}
	if h := hits[0]; h.Snippet != "For the boiler, the service has the phone number 555 0199." || h.Line != 303 {
		t.Errorf("shows line %d: %q", h.Line, h.Snippet)
	}
	for _, m := range hits[0].Marks {
		if w := strings.ToLower(hits[0].Snippet[m[0]:m[1]]); !slices.Contains([]string{"boiler", "service", "phone", "number"}, w) {
			t.Errorf("marks %q", w)
		}
	}
	// Words that stand in every line do not lead away from it.
	hits, err = v.Search(t.Context(), "the phone number of the boiler service in the house ", 10)
	if err != nil || hits[0].Path != "together.md" || hits[0].Line != 303 {
		t.Errorf("a question found %+v, %v", hits, err)
	}

	put(t, v.dir, "together.md", strings.Replace(files["together.md"], end, "## Cellar\n\nNothing is here.", 1))
	if _, err := v.Rescan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hits, err = v.Search(t.Context(), "boiler service phone number ", 10); err != nil || !slices.Equal(paths(hits), []string{"scattered.md"}) {
		t.Errorf("after the edit got %v, %v", paths(hits), err)
	}
}

func TestNameOfALongNoteCountsForEachOfItsPassages(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"night train.md": pages(60) + "It leaves at nine.\n\n" + pages(60), "other.md": "A train in the night, and a night train.", "more.md": pages(30) + "No train at night."})
	for query, line := range map[string]int{"night train ": 1, "night train leaves nine ": 121} {
		hits, err := v.Search(t.Context(), query, 5)
		if err != nil || len(hits) == 0 || hits[0].Path != "night train.md" || hits[0].Line != line && hits[0].Line != 0 {
			t.Errorf("%q: got %+v, %v", query, hits, err)
		}
	}
}

func TestKoreanThatStandsTogetherInALongNoteIsFoundAndShown(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("벌은 들판을 날아다니고 꿀은 항아리에 담긴다. 첫서리가 오기 전에는 아무도 세지 않는다.\n\n", 60)
	v := setup(t, map[string]string{
		"a.md": "보일러 소리가 난다. 보일러다.\n\n" + page + "일요일 점검이 있다. 점검표도 있다.\n\n" + page + "전화번호가 바뀌었다. 전화번호다.",
		"b.md": page + page + "보일러 점검은 전화번호 555-0199로 부른다.",
	})
	hits, err := v.Search(t.Context(), "보일러 점검 전화번호 ", 10)
	if err != nil || !slices.Equal(paths(hits), []string{"b.md", "a.md"}) || hits[0].Line != 241 {
		t.Errorf("got %+v, %v", hits, err)
	}
	if hits, err = v.Search(t.Context(), "점검 전화버", 10); err != nil || len(hits) != 2 || hits[0].Path != "b.md" {
		t.Errorf("while it is typed got %+v, %v", hits, err)
	}
}
