package knowledge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// longNotes are notes of several pages, and questions that they answer.
type longNotes struct {
	files map[string]string
	asked []struct {
		text  string
		notes map[string]bool // by path
		lines map[string]bool // where the answer stands, as path:line
	}
}

// add puts a paragraph at the end of a note, and returns its line.
func (l *longNotes) add(path, paragraph string) string {
	line := 1 + strings.Count(l.files[path], "\n")
	l.files[path] += strings.ReplaceAll(paragraph, "\n", " ") + "\n\n"
	return fmt.Sprintf("%s:%d", path, line)
}

func (l *longNotes) ask(text string, lines ...string) {
	notes, at := map[string]bool{}, map[string]bool{}
	for _, line := range lines {
		path, _, _ := strings.Cut(line, ":")
		notes[path], at[line] = true, true
	}
	l.asked = append(l.asked, struct {
		text  string
		notes map[string]bool
		lines map[string]bool
	}{text, notes, at})
}

// measure says how often a note that answers comes first and among the first
// ten, and how often the line that is shown of the first is the one that answers.
func (l *longNotes) measure(t *testing.T, what string, first, ten, shown float64) {
	t.Helper()
	v := setup(t, l.files)
	var gotFirst, gotTen, gotShown float64
	for _, a := range l.asked {
		hits, err := v.Search(t.Context(), a.text+" ", 10)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hits {
			if !a.notes[h.Path] {
				continue
			}
			gotTen += 1 / float64(len(a.notes))
			if i == 0 {
				gotFirst++
				if a.lines[fmt.Sprintf("%s:%d", h.Path, h.Line)] {
					gotShown++
				}
			}
		}
	}
	n := float64(len(l.asked))
	for _, f := range []struct {
		what      string
		got, want float64
	}{{"note R@1", gotFirst / n, first}, {"note R@10", gotTen / n, ten}, {"the line that is shown of the first", gotShown / n, shown}} {
		t.Logf("%s, %s: %.4f (at least %.3f)", what, f.what, f.got, f.want)
		if f.got < f.want {
			t.Errorf("%s, %s: got %.4f, want at least %.3f", what, f.what, f.got, f.want)
		}
	}
}

// evalFile reads a retrieval set from the folder that OXIOS_EVAL names. The
// sets are not part of the project: their licences keep them apart.
func evalFile(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("OXIOS_EVAL")
	if dir == "" {
		t.Skip("OXIOS_EVAL names no folder with retrieval sets")
	}
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func TestKoreanArticlesAsNotesAreFoundByQuestions(t *testing.T) {
	var set struct {
		Data []struct {
			Paragraphs []struct {
				Context string `json:"context"`
				QAs     []struct {
					Question string `json:"question"`
				} `json:"qas"`
			} `json:"paragraphs"`
		} `json:"data"`
	}
	evalFile(t, "KorQuAD_v1.0_dev.json", &set)
	l := longNotes{files: map[string]string{}}
	for a, article := range set.Data[:70] {
		for _, p := range article.Paragraphs {
			at := l.add(fmt.Sprintf("%d.md", a), p.Context)
			for _, qa := range p.QAs {
				l.ask(qa.Question, at)
			}
		}
	}
	l.measure(t, "articles", 0.89, 0.9, 0.83)
}

func TestConversationsAsNotesAreFoundByQuestions(t *testing.T) {
	var samples []struct {
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []struct {
			Question string   `json:"question"`
			Evidence []string `json:"evidence"`
		} `json:"qa"`
	}
	evalFile(t, "locomo-dev.json", &samples)
	turnID := regexp.MustCompile(`D\d+:\d+`)
	for _, tc := range []struct {
		sessions          int // in a note
		first, ten, shown float64
	}{{1, 0.62, 0.65, 0.3}, {4, 0.67, 0.75, 0.31}} {
		l := longNotes{files: map[string]string{}}
		for c, sample := range samples {
			said := map[string]string{}
			for s := 1; ; s++ {
				raw, ok := sample.Conversation["session_"+strconv.Itoa(s)]
				if !ok {
					break
				}
				var turns []struct {
					Speaker string `json:"speaker"`
					ID      string `json:"dia_id"`
					Text    string `json:"text"`
				}
				if err := json.Unmarshal(raw, &turns); err != nil {
					t.Fatal(err)
				}
				for _, turn := range turns {
					said[turn.ID] = l.add(fmt.Sprintf("%d-%d.md", c, (s-1)/tc.sessions), turn.Speaker+": "+turn.Text)
				}
			}
			for _, qa := range sample.QA {
				var lines []string
				for _, e := range qa.Evidence {
					for _, id := range turnID.FindAllString(e, -1) {
						if at, ok := said[id]; ok {
							lines = append(lines, at)
						}
					}
				}
				if len(lines) > 0 {
					l.ask(qa.Question, lines...)
				}
			}
		}
		l.measure(t, fmt.Sprintf("sessions, %d in a note", tc.sessions), tc.first, tc.ten, tc.shown)
	}
}
