package demo

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Scenario is a match rule and the turns that are played for it. Its fields
// are the keys of a scenario file; see the package's documentation. Match and
// When are Go regular expressions.
type Scenario struct {
	Name     string   `toml:"name"`
	Language string   `toml:"language"` // ko or en; "" is any
	Match    string   `toml:"match"`
	Any      []string `toml:"any"`
	Loop     bool     `toml:"loop"`
	Turns    []Turn   `toml:"turn"`
}

// Turn is one answer.
type Turn struct {
	When      string `toml:"when"`
	Text      string `toml:"text"`
	Reasoning string `toml:"reasoning"`
	Refusal   string `toml:"refusal"`
	Calls     []Call `toml:"call"`
	Repeat    int    `toml:"repeat"` // 0 and 1: once

	ChunkMS int    `toml:"chunk_ms"`
	DelayMS int    `toml:"delay_ms"`
	Chars   bool   `toml:"chars"`
	Finish  string `toml:"finish"`
	NoUsage bool   `toml:"no_usage"`
	Usage   []int  `toml:"usage"` // input, output, cached, reasoning

	Status      int    `toml:"status"`
	Body        string `toml:"body"`
	RetryAfter  string `toml:"retry_after"`
	ContentType string `toml:"content_type"`
	Raw         string `toml:"raw"`
	CutChunks   int    `toml:"cut_chunks"`
	CutBytes    int    `toml:"cut_bytes"`
	Hang        bool   `toml:"hang"`
	Times       int    `toml:"times"`
}

// Call is a tool call of a turn. Args is raw text.
type Call struct {
	Tool string `toml:"tool"`
	Args string `toml:"args"`
}

// Parse reads a scenario file. An error names the line or the scenario.
func Parse(data []byte) ([]Scenario, error) {
	var file struct {
		Words    map[string]string `toml:"words"`
		Scenario []Scenario        `toml:"scenario"`
	}
	dec := toml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\uFEFF")))).DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		var at *toml.DecodeError
		var strict *toml.StrictMissingError
		switch {
		case errors.As(err, &strict) && len(strict.Errors) > 0:
			line, _ := strict.Errors[0].Position()
			return nil, fmt.Errorf("scenario file, line %d: %q is not a key", line, strings.Join(strict.Errors[0].Key(), "."))
		case errors.As(err, &at):
			line, _ := at.Position()
			return nil, fmt.Errorf("scenario file, line %d: %w", line, err)
		}
		return nil, fmt.Errorf("scenario file: %w", err)
	}
	if len(file.Scenario) == 0 {
		return nil, errors.New("scenario file: it holds no [[scenario]]")
	}
	var pairs []string
	for name, words := range file.Words {
		pairs = append(pairs, "{{"+name+"}}", words)
	}
	words := strings.NewReplacer(pairs...)
	for i := range file.Scenario {
		file.Scenario[i].Match = words.Replace(file.Scenario[i].Match)
	}
	for i, s := range file.Scenario {
		if _, err := compile(s); err != nil {
			return nil, fmt.Errorf("scenario %d (%s): %w", i+1, s.Name, err)
		}
	}
	return file.Scenario, nil
}

// script is a scenario ready to be played.
type script struct {
	Scenario
	match *regexp.Regexp // nil: not set
	any   []string       // lower case
	steps []step
}

// step is a choice of turns; count equal steps follow each other.
type step struct {
	turns []choice
	count int
}

type choice struct {
	*Turn
	when *regexp.Regexp // nil: always
}

func compile(s Scenario) (*script, error) {
	out := &script{Scenario: s}
	if len(s.Turns) == 0 {
		return nil, errors.New("it has no turn")
	}
	if s.Language != "" && s.Language != korean && s.Language != english {
		return nil, fmt.Errorf("language %q is neither ko nor en", s.Language)
	}
	if s.Match != "" {
		re, err := regexp.Compile(s.Match)
		if err != nil {
			return nil, fmt.Errorf("match: %w", err)
		}
		out.match = re
	}
	for _, a := range s.Any {
		out.any = append(out.any, strings.ToLower(a))
	}
	var open []choice
	for i := range s.Turns {
		t := &s.Turns[i]
		c := choice{Turn: t}
		if t.Status != 0 && (t.Status < 200 || t.Status > 599) {
			return nil, fmt.Errorf("turn %d: status %d is outside 200 to 599", i+1, t.Status)
		}
		if n := len(t.Usage); n != 0 && n != 4 {
			return nil, fmt.Errorf("turn %d: usage needs four numbers", i+1)
		}
		if t.When != "" {
			re, err := regexp.Compile(t.When)
			if err != nil {
				return nil, fmt.Errorf("turn %d: when: %w", i+1, err)
			}
			c.when = re
		}
		open = append(open, c)
		if t.When == "" && t.Times == 0 {
			out.steps = append(out.steps, step{turns: open, count: max(t.Repeat, 1)})
			open = nil
		}
	}
	if len(open) > 0 {
		out.steps = append(out.steps, step{turns: open, count: 1})
	}
	return out, nil
}

// fits reports whether the scenario answers a message, and the groups of its
// match.
func (s *script) fits(message string) (groups []string, ok bool) {
	if s.Language != "" && s.Language != languageOf(message) {
		return nil, false
	}
	if s.match == nil && len(s.any) == 0 {
		return nil, true
	}
	if s.match != nil {
		if groups := s.match.FindStringSubmatch(message); groups != nil {
			return groups, true
		}
	}
	low := strings.ToLower(message)
	for _, a := range s.any {
		if strings.Contains(low, a) {
			return nil, true
		}
	}
	return nil, false
}

// length is the number of steps, repeats counted.
func (s *script) length() int {
	n := 0
	for _, st := range s.steps {
		n += st.count
	}
	return n
}

// at returns the n-th step, from 0, or nil behind the last one.
func (s *script) at(n int) *step {
	if s.Loop {
		n %= s.length()
	}
	for i := range s.steps {
		if n < s.steps[i].count {
			return &s.steps[i]
		}
		n -= s.steps[i].count
	}
	return nil
}

// over is what is said behind the last step, and where no turn of a step fits.
var over = Turn{Text: "The script of this demo ends here."}
