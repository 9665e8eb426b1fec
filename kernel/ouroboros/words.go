package ouroboros

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// Korean reports whether a seed is written in Korean: Oxios answers about it in
// the same language.
func (s Seed) Korean() bool {
	return strings.ContainsFunc(s.Goal, func(r rune) bool { return unicode.Is(unicode.Hangul, r) })
}

// Begun is what a model reads when its task has become a seed.
func (s Seed) Begun() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The task is agreed on as seed %s. Work on it now, with your tools. When you answer without a tool call, Oxios evaluates these criteria:\n", s.Name())
	for i, c := range s.Criteria {
		fmt.Fprintf(&b, "%d. %s\n", i+1, c)
	}
	b.WriteString(s.Known())
	return strings.TrimSpace(b.String())
}

// Known is what the person said about a seed, a line each, as a model reads it.
func (s Seed) Known() string {
	var b strings.Builder
	for _, g := range s.Answers {
		fmt.Fprintf(&b, "The person answered “%s”: %s\n", g.Question, g.Answer)
	}
	for _, a := range s.Assumptions {
		fmt.Fprintf(&b, "The person left this open and said to assume: “%s”. Choose what is usual, and say what you assumed.\n", a)
	}
	return b.String()
}

// String is a criterion and how it is found out, as a model reads it.
func (c Criterion) String() string { return fmt.Sprintf("%s (%s)", c.Text, c.Check.about()) }

// Path is the file that a check looks at, "" for none.
func (c *Check) Path() string {
	if c == nil {
		return ""
	}
	return cleanPath(c.File)
}

// Whole is the seed with all that binds, for a model that has lost what it read
// of it.
func (s Seed) Whole() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Goal (seed %s): %s\n", s.Name(), s.Goal)
	for _, c := range s.Constraints {
		fmt.Fprintf(&b, "Constraint: %s\n", c)
	}
	b.WriteString("When you answer without a tool call, Oxios evaluates these criteria:\n")
	for i, c := range s.Criteria {
		fmt.Fprintf(&b, "%d. %s (%s)\n", i+1, c.Text, c.Check.about())
	}
	for _, name := range sortedKeys(s.Ontology) {
		fmt.Fprintf(&b, "%s means: %s\n", name, s.Ontology[name])
	}
	for _, g := range s.Answers {
		fmt.Fprintf(&b, "The person answered “%s”: %s\n", g.Question, g.Answer)
	}
	for _, a := range s.Assumptions {
		fmt.Fprintf(&b, "The person left this open and said to assume: “%s”.\n", a)
	}
	for _, c := range s.Changes {
		fmt.Fprintf(&b, "The last evaluation found that criterion %d does not hold: %s\n", c.Criterion, c.Evidence)
	}
	return strings.TrimSpace(b.String())
}

func (c *Check) about() string {
	switch {
	case c == nil:
		return "judged by what your steps show"
	case c.Command != "" && c.Not:
		return "checked: " + line(c.Command) + " must fail"
	case c.Command != "":
		return "checked: " + line(c.Command)
	case c.Not && c.Contains == "":
		return "checked: " + c.File + " must not be there"
	case c.Not:
		return fmt.Sprintf("checked: %s must not contain %q", c.File, c.Contains)
	case c.Contains == "":
		return "checked: " + c.File + " must be there"
	}
	return fmt.Sprintf("checked: %s must contain %q", c.File, c.Contains)
}

// Again is what a model reads when an evaluation did not pass and next is to be
// worked on.
func Again(next Seed, e Evaluation, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "(Oxios: the evaluation did not pass: %d of %d criteria hold. This is evolution %d of at most %d, seed %s. These criteria do not hold:\n",
		len(e.Results)-len(next.Changes), len(e.Results), next.Version-1, most, next.Name())
	for _, c := range next.Changes {
		fmt.Fprintf(&b, "%d. %s: %s\n", c.Criterion, c.Text, c.Evidence)
	}
	b.WriteString("Make them hold, keep the others, and answer again.)")
	return b.String()
}

// NotPassed says to the person, in the language of the seed, which criteria do
// not hold in the end.
func (s Seed) NotPassed(e Evaluation) string {
	missed := e.Missed()
	var b strings.Builder
	if s.Korean() {
		fmt.Fprintf(&b, "⚠ 완료로 볼 수 없습니다. 기준 %d개 가운데 %d개가 충족되지 않았습니다.\n", len(e.Results), len(missed))
	} else {
		fmt.Fprintf(&b, "⚠ This is not done: %d of %d criteria do not hold.\n", len(missed), len(e.Results))
	}
	for _, r := range missed {
		evidence := r.Evidence
		if s.Korean() && r.EvidenceKO != "" {
			evidence = r.EvidenceKO
		}
		fmt.Fprintf(&b, "- %s: %s\n", r.Criterion, line(evidence))
	}
	return strings.TrimSpace(b.String())
}
