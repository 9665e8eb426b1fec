package ouroboros

import (
	"fmt"
	"time"
)

// Seed is a task as it was agreed on. It never changes: what is learned makes
// its next version.
type Seed struct {
	ID          string            `json:"id"`
	Version     int               `json:"version"` // from 1
	Parent      string            `json:"parent,omitempty"`
	Goal        string            `json:"goal"`
	Constraints []string          `json:"constraints"`
	Criteria    []Criterion       `json:"acceptance_criteria"`
	Ontology    map[string]string `json:"ontology,omitempty"`
	Profile     string            `json:"profile"`
	Ambiguity   float64           `json:"ambiguity"`
	Assumptions []string          `json:"assumptions,omitempty"` // questions that the person left open
	Answers     []Given           `json:"answers,omitempty"`     // what the person said
	Changes     []Change          `json:"changes,omitempty"`     // from the version before
	CreatedAt   time.Time         `json:"created_at"`
}

// Given is an answer of the person.
type Given struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Change is a criterion that the version before did not meet, and why: what
// this version is about.
type Change struct {
	Criterion  int    `json:"criterion"` // its number, from 1
	Text       string `json:"text"`
	Evidence   string `json:"evidence"`
	EvidenceKO string `json:"evidence_ko,omitempty"`
}

// Name is how other records name this version.
func (s Seed) Name() string { return fmt.Sprintf("%s/v%d", s.ID, s.Version) }

// Freeze makes the first version of a seed.
func Freeze(id string, t Task, i Interview, step Step, profile string, at time.Time) Seed {
	s := Seed{
		ID: id, Version: 1, Goal: t.Goal, Constraints: append([]string{}, t.Constraints...), Criteria: t.Criteria, Ontology: t.Ontology,
		Profile: profile, Ambiguity: step.Ambiguity, CreatedAt: at.UTC(),
	}
	for _, q := range step.Assume {
		s.Assumptions = append(s.Assumptions, q.Text)
	}
	for _, a := range i.Asked {
		if a.Answered {
			s.Answers = append(s.Answers, Given{a.Text, a.Answer})
		}
	}
	return s
}

// Evolve makes the next version of a seed of what its evaluation found missing.
// The criteria stay what was agreed on.
func Evolve(s Seed, e Evaluation, at time.Time) Seed {
	next := s
	next.Version, next.Parent, next.CreatedAt, next.Changes = s.Version+1, s.Name(), at.UTC(), nil
	for i, r := range e.Results {
		if !r.Passed {
			next.Changes = append(next.Changes, Change{Criterion: i + 1, Text: r.Criterion, Evidence: r.Evidence, EvidenceKO: r.EvidenceKO})
		}
	}
	return next
}

// How the result of a criterion came about.
const (
	HowCommand = "command"
	HowFile    = "file"
	HowJudge   = "judge"
	HowAgent   = "agent" // the agent that worked on it did not finish
)

// PassScore is the score that an evaluation needs besides every criterion.
const PassScore = 0.8

// Result is whether one criterion holds.
type Result struct {
	Criterion  string `json:"criterion"`
	Passed     bool   `json:"passed"`
	Evidence   string `json:"evidence"`
	EvidenceKO string `json:"evidence_ko,omitempty"` // the same in Korean, where the words are Oxios' own
	How        string `json:"how"`
	Claimed    bool   `json:"claimed,omitempty"` // a judge found it in the answer alone, not in what was done
}

// Evaluation is what came of one version of a seed.
type Evaluation struct {
	SeedID  string    `json:"seed_id"`
	Version int       `json:"version"`
	Score   float64   `json:"score"` // of the criteria that hold, from 0 to 1
	Passed  bool      `json:"passed"`
	Judged  bool      `json:"judged"` // a model was asked about some of it
	Results []Result  `json:"results"`
	At      time.Time `json:"at"`
}

// Score makes the evaluation of a seed from the results of its criteria, one
// each, in their order.
func Score(s Seed, results []Result, judged bool, at time.Time) Evaluation {
	e := Evaluation{SeedID: s.ID, Version: s.Version, Judged: judged, Results: results, At: at.UTC()}
	held := 0
	for _, r := range results {
		if r.Passed {
			held++
		}
	}
	if n := len(s.Criteria); n > 0 && len(results) == n {
		e.Score = float64(held) / float64(n)
		e.Passed = e.Score >= PassScore && held == n
	}
	return e
}

// Missed returns the results of the criteria that do not hold.
func (e Evaluation) Missed() []Result {
	var missed []Result
	for _, r := range e.Results {
		if !r.Passed {
			missed = append(missed, r)
		}
	}
	return missed
}
