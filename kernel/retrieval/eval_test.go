package retrieval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

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

func find(x *Index, text string, k int) []string {
	return findBy(x, Query{Text: text, Vector: HashVector(text), K: k})
}

func findBy(x *Index, q Query) []string {
	var ids []string
	for _, h := range x.Search(q) {
		ids = append(ids, h.ID)
	}
	return ids
}

func share1(gold map[string]bool, got []string) float64 {
	n := 0
	for _, id := range got {
		if gold[id] {
			n++
		}
	}
	return float64(n) / float64(len(gold))
}

func atLeast(t *testing.T, what string, got, want float64) {
	t.Helper()
	t.Logf("%s: %.4f (at least %.3f)", what, got, want)
	if got < want {
		t.Errorf("%s: got %.4f, want at least %.3f", what, got, want)
	}
}

var turnID = regexp.MustCompile(`D\d+:\d+`)

func TestConversationsAreFoundByQuestions(t *testing.T) {
	var samples []struct {
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []struct {
			Question string   `json:"question"`
			Evidence []string `json:"evidence"`
		} `json:"qa"`
	}
	evalFile(t, "locomo-dev.json", &samples)
	pool := New()
	var turn5, turn10, session10, pooled float64
	n := 0
	type ask struct {
		text string
		gold map[string]bool
	}
	var asks []ask
	for c, sample := range samples {
		x := New()
		known := map[string]bool{}
		for s := 1; ; s++ {
			raw, ok := sample.Conversation["session_"+strconv.Itoa(s)]
			if !ok {
				break
			}
			var turns []struct {
				Speaker string `json:"speaker"`
				ID      string `json:"dia_id"`
				Text    string `json:"text"`
				Caption string `json:"blip_caption"`
			}
			if err := json.Unmarshal(raw, &turns); err != nil {
				t.Fatal(err)
			}
			for i, turn := range turns {
				text := turn.Speaker + ": " + turn.Text
				if turn.Caption != "" {
					text += " [image: " + turn.Caption + "]"
				}
				known[turn.ID] = true
				d := Doc{ID: turn.ID, Text: text, Thread: strconv.Itoa(s), At: int64(i), Vector: HashVector(text)}
				x.Put(d)
				d.ID, d.Thread = fmt.Sprintf("%d/%s", c, turn.ID), fmt.Sprintf("%d/%d", c, s)
				pool.Put(d)
			}
		}
		for _, qa := range sample.QA {
			gold, sessions := map[string]bool{}, map[string]bool{}
			for _, e := range qa.Evidence {
				for _, id := range turnID.FindAllString(e, -1) {
					if known[id] {
						gold[id] = true
						sessions[id[:strings.Index(id, ":")]] = true
					}
				}
			}
			if len(gold) == 0 {
				continue
			}
			n++
			got := find(x, qa.Question, 100)
			turn5 += share1(gold, got[:min(5, len(got))])
			turn10 += share1(gold, got[:min(10, len(got))])
			var inSessions []string
			for _, id := range got {
				if s := id[:strings.Index(id, ":")]; !slices.Contains(inSessions, s) {
					inSessions = append(inSessions, s)
				}
			}
			session10 += share1(sessions, inSessions[:min(10, len(inSessions))])
			all := map[string]bool{}
			for id := range gold {
				all[fmt.Sprintf("%d/%s", c, id)] = true
			}
			asks = append(asks, ask{text: qa.Question, gold: all})
		}
	}
	for _, a := range asks {
		pooled += share1(a.gold, find(pool, a.text, 10))
	}
	d := float64(n)
	atLeast(t, "turn R@5", turn5/d, 0.66)
	atLeast(t, "turn R@10", turn10/d, 0.77)
	atLeast(t, "session R@10", session10/d, 0.93)
	atLeast(t, "pooled against own conversation", pooled/turn10, 0.9)
}

func TestKoreanArticlesAreFoundByQuestions(t *testing.T) {
	var set struct {
		Data []struct {
			Paragraphs []struct {
				Context string `json:"context"`
				QAs     []struct {
					Question string `json:"question"`
					Answers  []struct {
						Text  string `json:"text"`
						Start int    `json:"answer_start"`
					} `json:"answers"`
				} `json:"qas"`
			} `json:"paragraphs"`
		} `json:"data"`
	}
	evalFile(t, "KorQuAD_v1.0_dev.json", &set)
	paragraphs, sentences := New(), New()
	type ask struct{ text, answer, paragraph, sentence string }
	var asks []ask
	for a, article := range set.Data[:70] {
		for p, par := range article.Paragraphs {
			id := fmt.Sprintf("%d/%d", a, p)
			paragraphs.Put(Doc{ID: id, Text: par.Context, Vector: HashVector(par.Context)})
			ends := []int{}
			runes := []rune(par.Context)
			from := 0
			for i, r := range runes {
				if r == '.' && (i+1 == len(runes) || runes[i+1] == ' ' || runes[i+1] == '\n') || i+1 == len(runes) {
					text := string(runes[from : i+1])
					sentences.Put(Doc{ID: fmt.Sprintf("%s/%d", id, len(ends)), Text: text, Thread: id, At: int64(len(ends)), Vector: HashVector(text)})
					from = i + 1
					ends = append(ends, from)
				}
			}
			for _, qa := range par.QAs {
				s := 0
				for s < len(ends)-1 && ends[s] <= qa.Answers[0].Start {
					s++
				}
				asks = append(asks, ask{qa.Question, qa.Answers[0].Text, id, fmt.Sprintf("%s/%d", id, s)})
			}
		}
	}
	var par, sen, two, twoFound float64
	for _, a := range asks {
		if slices.Contains(find(paragraphs, a.text, 10), a.paragraph) {
			par++
		}
		if slices.Contains(find(sentences, a.text, 10), a.sentence) {
			sen++
		}
		if utf8.RuneCountInString(a.answer) == 2 && strings.IndexFunc(a.answer, func(r rune) bool { return r < 0xAC00 || r > 0xD7A3 }) < 0 {
			two++
			if slices.Contains(find(paragraphs, a.answer, 1000), a.paragraph) {
				twoFound++
			}
		}
	}
	n := float64(len(asks))
	atLeast(t, "paragraph R@10", par/n, 0.99)
	atLeast(t, "sentence R@10", sen/n, 0.91)
	atLeast(t, "words of two syllables", twoFound/two, 1)
}

func TestToolsAreFoundByRequests(t *testing.T) {
	var set struct {
		Tools   map[string]string `json:"tools"`
		Queries []struct {
			Query string `json:"query"`
			Tool  string `json:"tool"`
		} `json:"queries"`
	}
	evalFile(t, "metatool-dev.json", &set)
	x := NewTopical()
	var abouts []string
	for _, about := range set.Tools {
		abouts = append(abouts, about)
	}
	names := NewNames(abouts)
	for name, about := range set.Tools {
		words := names.Words(name)
		x.Put(Doc{ID: name, Text: about, Extra: words, Vector: HashVector(words + " " + about)})
	}
	var at1, at5, at10 float64
	for _, q := range set.Queries {
		switch i := slices.Index(findBy(x, Query{Text: q.Query, Vector: HashVector(q.Query), K: 10, Weight: 0.1}), q.Tool); {
		case i < 0:
		case i < 1:
			at1++
			fallthrough
		case i < 5:
			at5++
			fallthrough
		default:
			at10++
		}
	}
	n := float64(cmp.Or(len(set.Queries), 1))
	atLeast(t, "R@1", at1/n, 0.46)
	atLeast(t, "R@5", at5/n, 0.7)
	atLeast(t, "R@10", at10/n, 0.78)
}
