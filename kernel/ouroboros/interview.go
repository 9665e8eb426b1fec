package ouroboros

import "strings"

// Threshold is the ambiguity above which the person is asked.
const Threshold = 0.2

// What the parts weigh in the ambiguity.
const (
	weightGoal        = 0.4
	weightConstraints = 0.3
	weightCriteria    = 0.3
)

// What a part's clarity counts at most while a question about it is open: so
// little that this part alone keeps the ambiguity above [Threshold].
const (
	openGoal  = 0.4 // 0.4 × (1 − 0.4) = 0.24
	openOther = 0.3 // 0.3 × (1 − 0.3) = 0.21
)

// Ambiguity is 1 − (0.4 goal + 0.3 constraints + 0.3 criteria), from 0 to 1.
func (c Clarity) Ambiguity() float64 {
	a := 1 - (weightGoal*c.Goal + weightConstraints*c.Constraints + weightCriteria*c.Criteria)
	a = min(1, max(0, a))
	return float64(int64(a*1e6+0.5)) / 1e6 // 0.2 is 0.2, whatever the order of the sum
}

// Asked is a question that was put to the person, and what they said.
type Asked struct {
	Question
	Answer   string
	Answered bool
	Free     bool // the answer is what they wrote about all questions together
}

// Interview is what was asked about a task so far, the oldest first.
type Interview struct {
	Asked   []Asked
	Assumed bool // the person said: assume the rest and start
}

// Open returns the questions of t that nobody has answered: those that were
// asked before, also when the model left them out now, and its new ones. One
// that a person answered by itself is not asked again; one that their own words
// were to answer is, if the model asks again.
func (i Interview) Open(t Task) []Question {
	var open []Question
	seen := map[string]bool{}
	latest := map[string]Asked{}
	for _, a := range i.Asked {
		latest[key(a.Text)] = a
	}
	for _, a := range i.Asked {
		if k := key(a.Text); !seen[k] && !latest[k].Answered {
			seen[k] = true
			open = append(open, a.Question)
		}
	}
	for _, q := range t.Questions {
		k := key(q.Text)
		if a, asked := latest[k]; seen[k] || asked && a.Answered && !a.Free {
			continue
		}
		seen[k] = true
		open = append(open, q)
	}
	return open
}

func key(text string) string { return strings.ToLower(line(text)) }

// Ambiguity is that of t as long as open is not answered.
func Ambiguity(t Task, open []Question) float64 {
	c := t.Clarity
	for _, q := range open {
		switch q.Part {
		case PartConstraints:
			c.Constraints = min(c.Constraints, openOther)
		case PartCriteria:
			c.Criteria = min(c.Criteria, openOther)
		default:
			c.Goal = min(c.Goal, openGoal)
		}
	}
	return c.Ambiguity()
}

// Step is what comes next for a task.
type Step struct {
	Ambiguity float64
	Ask       []Question // for the person; none when it can begin
	Assume    []Question // that the person left open when they said: start
}

// Next decides whether a task can begin. A model that finds its task unclear
// and has no question gets an error: nobody could answer it.
func (i Interview) Next(t Task) (Step, error) {
	open := i.Open(t)
	s := Step{Ambiguity: Ambiguity(t, open)}
	switch {
	case i.Assumed:
		s.Assume = open
	case s.Ambiguity <= Threshold:
	case len(open) == 0:
		return s, wrong("its ambiguity is %.2f, above %.1f, and there is no question that would make it clear. Ask the person with questions, or say with clarity what is clear by now", s.Ambiguity, Threshold)
	default:
		s.Ask = open
	}
	return s, nil
}
