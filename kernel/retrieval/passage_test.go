package retrieval

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func passagesOf(text string, most int) (out []string) {
	for _, p := range Passages(text, most) {
		out = append(out, text[p[0]:p[1]])
	}
	return out
}

func TestPassagesEndWhereATextPauses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		most       int
		want       []string
	}{
		{"nothing", "", 20, nil},
		{"short", "one\n\ntwo", 20, []string{"one\n\ntwo"}},
		{"small paragraphs stay together", "one one\n\ntwo two\n\nthree", 18, []string{"one one\n\ntwo two\n\n", "three"}},
		{"a heading stays with what is below it", "first paragraph\n\n# Head\n\nbelow it", 26, []string{"first paragraph\n\n", "# Head\n\nbelow it"}},
		{"a heading without an empty line begins a paragraph", "first paragraph\n## Head\nbelow it", 26, []string{"first paragraph\n", "## Head\nbelow it"}},
		{"behind a sentence", "It rains today. The cat sleeps on", 20, []string{"It rains today. ", "The cat sleeps on"}},
		{"behind a line", "- milk and eggs\n- bread, butter", 20, []string{"- milk and eggs\n", "- bread, butter"}},
		{"between words", "aaaa bbbb cccc dddd eeee", 12, []string{"aaaa bbbb ", "cccc dddd ", "eeee"}},
		{"wherever it is full", strings.Repeat("x", 25), 10, []string{"xxxxxxxxxx", "xxxxxxxxxx", "xxxxx"}},
		{"characters and not bytes", "비가 온다. 고양이가 잔다.", 10, []string{"비가 온다. ", "고양이가 잔다."}},
		{"the end of a long paragraph and the next", "aaaa bbbb cccc\n\ndd", 10, []string{"aaaa bbbb ", "cccc\n\ndd"}},
	} {
		if got := passagesOf(tc.text, tc.most); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestPassagesAreTheWholeTextAndNeverLonger(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	parts := []string{"word ", "낱말 ", "\n", "\n\n", "# ", ". ", "끝이다. ", "x", "日", "\xff", "\r\n", "😀"}
	for range 3000 {
		var b strings.Builder
		for range r.IntN(120) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		most := 1 + r.IntN(60)
		got := passagesOf(b.String(), most)
		if strings.Join(got, "") != b.String() {
			t.Fatalf("%q became %q", b.String(), got)
		}
		for _, p := range got {
			if n := utf8.RuneCountInString(p); n == 0 || n > most {
				t.Fatalf("%q has %d characters of %d, in %q", p, n, most, b.String())
			}
		}
	}
}
