package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTermsAreWhatBothLanguagesAreFoundBy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"The runners were running to the Stations", "runner run station"},
		{"한글을 배운다", "한글 글을 배운 운다"},
		{"한글", "한글"}, // decomposed, as macOS names files
		{"물", "물"},
		{"v2.16 über naïve", "v2 16 über naïve"},
		{"日本語", "日本 本語"},
		{"", ""},
		{"the of and", ""},
	} {
		if got := strings.Join(Terms(tc.text), " "); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestNameIsFoundByItsWords(t *testing.T) {
	t.Parallel()
	n := NewNames([]string{"Measures the quality of air", "forecast"})
	for name, want := range map[string]string{
		"webSearch_v2": "web Search v 2", "airqualityforecast": "airqualityforecast quality forecast", "zzz": "zzz",
	} {
		if got := n.Words(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func ids(hits []Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func put(x *Index, id, text string) {
	x.Put(Doc{ID: id, Text: text, Vector: HashVector(text)})
}

func search(x *Index, text string) []string {
	return ids(x.Search(Query{Text: text, Vector: HashVector(text)}))
}

func TestTextIsFoundUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	x := New()
	put(x, "a", "The tram to the harbour runs every ten minutes")
	put(x, "b", "제주 여행 사진은 날짜별 폴더에 둔다")
	for _, q := range []string{"tram", "harbours", "여행"} {
		if got := search(x, q); len(got) != 1 {
			t.Errorf("%s: got %v", q, got)
		}
	}
	put(x, "a", "The ferry leaves at noon")
	if got := search(x, "tram"); len(got) != 0 {
		t.Errorf("the replaced text is found: %v", got)
	}
	x.Delete("a")
	x.Delete("never there")
	if got := search(x, "ferry"); len(got) != 0 || x.Len() != 1 {
		t.Errorf("the deleted text is found: %v of %d", got, x.Len())
	}
	if len(x.postings) != len(Terms("제주 여행 사진은 날짜별 폴더에 둔다")) {
		t.Errorf("terms of deleted texts are kept: %d", len(x.postings))
	}
}

func TestTurnIsFoundByWhatTheOneBeforeItNamed(t *testing.T) {
	t.Parallel()
	x := New()
	for i, text := range []string{"What about the weather?", "Where did Anna put the spare key?", "Under the flowerpot.", "Thanks"} {
		x.Put(Doc{ID: fmt.Sprint(i), Text: text, Thread: "talk", At: int64(i)})
	}
	if got := search(x, "spare key of Anna"); !slices.Contains(got[:2], "1") || !slices.Contains(got[:3], "2") {
		t.Errorf("got %v", got)
	}
}

func TestCoverTellsWhichShareOfTheQuestionWasFound(t *testing.T) {
	t.Parallel()
	x := New()
	put(x, "a", "제주 사진은 날짜별 폴더에 둔다")
	put(x, "b", "The printer stands in the cellar")
	all := x.Search(Query{Text: "printer cellar"})
	if len(all) != 1 || all[0].Cover != 1 {
		t.Errorf("got %+v", all)
	}
	some := x.Search(Query{Text: "printer xylophone marmalade zeppelin"})
	if len(some) != 1 || some[0].Cover >= 0.6 || some[0].Cover <= 0 {
		t.Errorf("got %+v", some)
	}
	ko := x.Search(Query{Text: "제주 사진은 어디에 두지?"})
	if len(ko) == 0 || ko[0].ID != "a" || ko[0].Cover < 0.4 {
		t.Errorf("got %+v", ko)
	}
}

func TestMisspelledWordIsFoundByItsVector(t *testing.T) {
	t.Parallel()
	x := New()
	for i := range 700 { // more than chromem-go holds
		put(x, fmt.Sprint("n", i), fmt.Sprintf("note number %d about matter %d", i, i*7))
	}
	put(x, "a", "configuration of the dishwasher")
	if got := search(x, "dishwascher"); len(got) == 0 || got[0] != "a" {
		t.Errorf("got %v", got)
	}
}

// TestIndexIsWhatItsTextsMakeIt puts, replaces and deletes at random; what is then
// found is what an index finds that was built from what is left, in another order.
func TestIndexIsWhatItsTextsMakeIt(t *testing.T) {
	t.Parallel()
	words := strings.Fields("tram harbour key 여행 사진 폴더 printer cellar ferry noon 제주 note")
	rapid.Check(t, func(t *rapid.T) {
		x := New()
		left := map[string]Doc{}
		sentence := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6), func(w []string) string { return strings.Join(w, " ") })
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			id := fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "id"))
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				x.Delete(id)
				delete(left, id)
				continue
			}
			text := sentence.Draw(t, "text")
			d := Doc{ID: id, Text: text, Vector: HashVector(text), Thread: rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "thread"), At: rapid.Int64Range(0, 9).Draw(t, "at")}
			x.Put(d)
			left[id] = d
		}
		fresh := New()
		for _, id := range rapid.Permutation(keys(left)).Draw(t, "order") {
			fresh.Put(left[id])
		}
		q := sentence.Draw(t, "query")
		query := Query{Text: q, Vector: HashVector(q), K: 50}
		if diff := cmp.Diff(fresh.Search(query), x.Search(query)); diff != "" {
			t.Fatalf("%q (-fresh +changed):\n%s", q, diff)
		}
	})
}

func keys(m map[string]Doc) []string {
	out := []string{}
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func TestManyMaySearchWhileTextsChange(t *testing.T) {
	t.Parallel()
	x := New()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				id := fmt.Sprint(i % 50)
				switch {
				case g == 0:
					put(x, id, fmt.Sprintf("text %d of the harbour", i))
				case g == 1 && i%3 == 0:
					x.Delete(id)
				default:
					x.Search(Query{Text: "harbour text", Vector: HashVector("harbour")})
				}
			}
		})
	}
	wg.Wait()
}

func FuzzTerms(f *testing.F) {
	f.Add("The runners 한글을 v2 日本\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, term := range Terms(s) {
			if term == "" {
				t.Fatalf("%q gives an empty term", s)
			}
		}
		x := New()
		put(x, "a", s)
		x.Search(Query{Text: s, Vector: HashVector(s)})
		x.Delete("a")
		if len(x.postings) != 0 {
			t.Fatalf("%q leaves %d terms", s, len(x.postings))
		}
	})
}
