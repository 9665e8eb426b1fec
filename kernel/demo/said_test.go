package demo

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

//go:embed testdata/said.tsv
var saidTSV string

// TestDemoPlaysWhatWasAskedInItsLanguageAndNothingElse has 200 sentences said to
// the demo: what it calls, in which language it speaks, and that it talks alone
// where no scenario is meant.
func TestDemoPlaysWhatWasAskedInItsLanguageAndNothingElse(t *testing.T) {
	t.Parallel()
	server := New(Bundled()...)
	language, said := "", map[string]int{}
	for line := range strings.Lines(saidTSV) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") {
			language = strings.Trim(line, "[]")
			continue
		}
		want, say, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("%q is no line of the table", line)
		}
		said[language]++
		content, err := json.Marshal(say)
		if err != nil {
			t.Fatal(err)
		}
		played := server.play([]message{{Role: "user", Content: content}})
		got := "-"
		if len(played.calls) > 0 {
			var args struct{ Path, Command string }
			if err := json.Unmarshal([]byte(played.calls[0].Args), &args); err != nil {
				t.Errorf("%s: %v", say, err)
			}
			got = played.calls[0].Tool + " " + args.Path + args.Command
		}
		if got != want {
			t.Errorf("%s: got %s (%s), want %s", say, got, played.scenario, want)
		}
		if spoken := strings.ContainsFunc(played.text, func(r rune) bool { return unicode.Is(unicode.Hangul, r) }); spoken != (language == korean) {
			t.Errorf("%s: got %q, want it in %s", say, played.text, language)
		}
	}
	if said[english] < 100 || said[korean] < 100 {
		t.Errorf("got %v, want 100 sentences in each language", said)
	}
}
