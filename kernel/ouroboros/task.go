// Package ouroboros is the protocol by which work becomes checkable: a model
// says what it is about to do, what is unclear is asked, what is clear is
// frozen as a seed, the result is evaluated against the seed's criteria, and
// what failed makes the seed's next version.
//
// It promises that what was not answered never counts as clear, that a criterion
// holds only with evidence that can be shown, and that a verdict whose evidence
// cannot be found counts as not passed. It is pure: it keeps nothing, and the
// one call of a model that it makes goes through [Model].
package ouroboros

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"oxios/kernel/sys"
)

// The bounds of a [Task].
const (
	maxTask     = 64 << 10 // bytes of JSON
	maxCriteria = 30
)

// Task is what a model says about work before it begins it.
type Task struct {
	Goal        string            `json:"goal" jsonschema:"what will be true when the work is done, in one sentence, in the person's language"`
	Constraints []string          `json:"constraints,omitempty" jsonschema:"what must not happen or must stay as it is"`
	Criteria    []Criterion       `json:"acceptance_criteria" jsonschema:"how it is found out that the goal is reached"`
	Ontology    map[string]string `json:"ontology,omitempty" jsonschema:"words of the task that could be misunderstood, and what they mean"`
	Clarity     Clarity           `json:"clarity" jsonschema:"how clear each part is from what the person said and what you have seen, from 0 to 1"`
	Questions   []Question        `json:"questions,omitempty" jsonschema:"what only the person can say, at most a few; leave it out when all is clear"`
}

// Criterion is one thing that must hold in the end.
type Criterion struct {
	Text  string `json:"text" jsonschema:"what must hold, in one sentence"`
	Check *Check `json:"check,omitempty" jsonschema:"how Oxios finds out by itself; without it a model judges"`
	After []int  `json:"after,omitempty" jsonschema:"numbers of the criteria, from 1, that must hold before this one can be worked on; those that need none are given to agents that work at the same time, if they are many"`
}

// Check is a command, which must end with 0, or a file, which must be there and
// contain a text. Not turns it around.
type Check struct {
	Command  string `json:"command,omitempty" jsonschema:"a command line for bash that ends with 0 if the criterion holds"`
	File     string `json:"file,omitempty" jsonschema:"instead of command: a file that must be there"`
	Contains string `json:"contains,omitempty" jsonschema:"with file: a text that must stand in it"`
	Not      bool   `json:"not,omitempty" jsonschema:"the opposite must be so: the command fails, the text or the file is not there"`
}

// Clarity is how clear the parts of a task are, each from 0 to 1.
type Clarity struct {
	Goal        float64 `json:"goal"`
	Constraints float64 `json:"constraints"`
	Criteria    float64 `json:"criteria"`
}

// The parts of a task that a question can be about.
const (
	PartGoal        = "goal"
	PartConstraints = "constraints"
	PartCriteria    = "criteria"
)

// Question is something that only the person can say.
type Question struct {
	Text    string   `json:"text"`
	Part    string   `json:"part,omitempty" jsonschema:"goal, constraints or criteria; default goal"`
	Options []string `json:"options,omitempty" jsonschema:"answers to choose from, if there are a few likely ones"`
}

// UnmarshalJSON also takes a plain text for a question.
func (q *Question) UnmarshalJSON(b []byte) error {
	if text := ""; json.Unmarshal(b, &text) == nil {
		*q = Question{Text: text}
		return nil
	}
	type plain Question
	return strict(b, (*plain)(q))
}

// UnmarshalJSON also takes a plain text for a criterion.
func (c *Criterion) UnmarshalJSON(b []byte) error {
	if text := ""; json.Unmarshal(b, &text) == nil {
		*c = Criterion{Text: text}
		return nil
	}
	type plain Criterion
	return strict(b, (*plain)(c))
}

// ParseTask reads a task that a model wrote and checks it. The error says what
// to correct; nothing has happened then.
func ParseTask(raw []byte) (Task, error) {
	var t Task
	if len(raw) > maxTask {
		return t, sys.Errorf(sys.CodeTooLarge, "The task has %d bytes; %d are the most. Nothing was begun.", len(raw), maxTask).
			WithHint("Say it shorter, or begin with a part of it.")
	}
	if err := strict(raw, &t); err != nil {
		return Task{}, wrong("the arguments are not as the schema says (%s)", unfit(err))
	}
	t.trim()
	return t, t.Validate()
}

// strict decodes one JSON value whose fields are all known.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}

func unfit(err error) string {
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		return fmt.Sprintf("%s is a %s, but must be a %s", kind.Field, kind.Value, kind.Type)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func (t *Task) trim() {
	t.Goal = line(t.Goal)
	for i := range t.Criteria {
		t.Criteria[i].Text = line(t.Criteria[i].Text)
	}
	for i := range t.Questions {
		t.Questions[i].Text = line(t.Questions[i].Text)
		if t.Questions[i].Part == "" {
			t.Questions[i].Part = PartGoal
		}
	}
}

// line is s on one line: words that differ only in their spaces are the same.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Validate finds what is wrong with a task, the first of it.
func (t Task) Validate() error {
	if t.Goal == "" {
		return wrong("the goal is empty")
	}
	if len(t.Criteria) == 0 {
		return wrong("there is no acceptance criterion")
	}
	if len(t.Criteria) > maxCriteria {
		return wrong("there are %d criteria, and %d are the most", len(t.Criteria), maxCriteria)
	}
	for name, c := range map[string]float64{PartGoal: t.Clarity.Goal, PartConstraints: t.Clarity.Constraints, PartCriteria: t.Clarity.Criteria} {
		if !(c >= 0 && c <= 1) { // NaN is neither
			return wrong("the clarity of %s is %v, but must be from 0 to 1", name, c)
		}
	}
	for i, q := range t.Questions {
		if q.Text == "" {
			return wrong("question %d is empty", i+1)
		}
		if q.Part != PartGoal && q.Part != PartConstraints && q.Part != PartCriteria {
			return wrong("question %d is about %q, but must be about goal, constraints or criteria", i+1, q.Part)
		}
	}
	for i, c := range t.Criteria {
		if err := t.validCriterion(i, c); err != nil {
			return err
		}
	}
	if n, cyclic := t.cycle(); cyclic {
		return wrong("criterion %d comes after itself", n)
	}
	return t.contradiction()
}

func (t Task) validCriterion(i int, c Criterion) error {
	if c.Text == "" {
		return wrong("criterion %d is empty", i+1)
	}
	for j, other := range t.Criteria[:i] {
		if strings.EqualFold(other.Text, c.Text) {
			return wrong("criteria %d and %d are the same", j+1, i+1)
		}
	}
	for _, n := range c.After {
		if n < 1 || n > len(t.Criteria) {
			return wrong("criterion %d comes after criterion %d, which does not exist", i+1, n)
		}
	}
	if c.Check == nil {
		return nil
	}
	command, file := strings.TrimSpace(c.Check.Command), strings.TrimSpace(c.Check.File)
	switch {
	case command == "" && file == "":
		return wrong("the check of criterion %d names neither a command nor a file", i+1)
	case command != "" && (file != "" || c.Check.Contains != ""):
		return wrong("the check of criterion %d is a command and a file at once", i+1)
	}
	return nil
}

// cycle finds a criterion that comes after itself.
func (t Task) cycle() (int, bool) {
	const under, done = 1, 2
	state := make([]int, len(t.Criteria))
	var visit func(int) bool
	visit = func(i int) bool {
		if state[i] != 0 {
			return state[i] == under
		}
		state[i] = under
		for _, n := range t.Criteria[i].After {
			if visit(n - 1) {
				return true
			}
		}
		state[i] = done
		return false
	}
	for i := range t.Criteria {
		if visit(i) {
			return i + 1, true
		}
	}
	return 0, false
}

// contradiction finds two checks that cannot both hold. What contradicts itself
// only in words is for a judge, or for the person.
func (t Task) contradiction() error {
	for i, a := range t.Criteria {
		for j, b := range t.Criteria[:i] {
			if a.Check != nil && b.Check != nil && (a.Check.excludes(*b.Check) || b.Check.excludes(*a.Check)) {
				return wrong("criteria %d and %d cannot both hold, because their checks contradict each other", j+1, i+1)
			}
		}
	}
	return nil
}

// excludes reports whether c, which demands that something is not so, makes
// other impossible.
func (c Check) excludes(other Check) bool {
	switch {
	case !c.Not || other.Not:
		return false
	case c.Command != "":
		return line(c.Command) == line(other.Command)
	}
	return c.File != "" && cleanPath(c.File) == cleanPath(other.File) && strings.Contains(other.Contains, c.Contains)
}

func cleanPath(p string) string {
	p = strings.TrimSpace(p)
	for strings.HasPrefix(p, "./") {
		p = strings.TrimPrefix(p, "./")
	}
	return p
}

func wrong(format string, args ...any) error {
	return sys.Errorf(sys.CodeInvalid, "The task cannot be begun: %s. Nothing was done.", fmt.Sprintf(format, args...)).
		WithHint("Correct it and call begin_task again.")
}
