package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"oxios/kernel/ouroboros"
	"oxios/kernel/sys"
)

// Split deals the criteria of a seed out into parts that do not depend on each
// other, at most most, each for an agent of its own. Criteria whose checks look
// at the same file belong together; one that comes after others belongs to
// their part when that is a single one, and otherwise to the rest, which is for
// the agent that puts the parts together. There are no parts when fewer than
// least are independent; least 0 never splits. The numbers are indexes
// of the seed's criteria.
func Split(s ouroboros.Seed, least, most int) (parts [][]int, rest []int) {
	if least < 1 || most < 2 {
		return nil, nil
	}
	of := make([]int, len(s.Criteria)) // the part of each criterion
	byFile := map[string]int{}
	independent := 0
	for i, c := range s.Criteria {
		of[i] = none
		if len(c.After) > 0 {
			continue
		}
		file := c.Check.Path()
		if part, ok := byFile[file]; ok && file != "" {
			of[i] = part
			continue
		}
		of[i], byFile[file] = i, i
		independent++
	}
	if independent < least {
		return nil, nil
	}
	for range s.Criteria { // what comes after others can come before others
		for i, c := range s.Criteria {
			if of[i] == none {
				of[i] = common(of, c.After)
			}
		}
	}
	number := map[int]int{}
	for i, part := range of {
		if part == none {
			rest = append(rest, i)
			continue
		}
		at, ok := number[part]
		if !ok {
			at = len(number) % most
			number[part] = at
		}
		if at == len(parts) {
			parts = append(parts, nil)
		}
		parts[at] = append(parts[at], i)
	}
	if len(parts) < 2 {
		return nil, nil
	}
	return parts, rest
}

// none is the part of a criterion that belongs to none.
const none = -1

// common is the part that all the criteria belong to whose numbers are after.
func common(of, after []int) int {
	first := of[after[0]-1]
	if slices.ContainsFunc(after, func(n int) bool { return of[n-1] != first }) {
		return none
	}
	return first
}

// Share is a part of a seed that an agent of its own works on.
type Share struct {
	Criteria []int     // indexes
	Agent    string    // its name, for people
	Answer   string    // what it said in the end
	Failed   sys.Words // why it counts as not done; none while all is well
}

// Missed reports whether the agent did not come to an end that counts.
func (s Share) Missed() bool { return s.Failed != sys.Words{} }

// Goal is what the agent of a part is told: it reads nothing else of the task.
func Goal(s ouroboros.Seed, part []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Do one part of a larger task: %s\n\n", Name(s, part))
	fmt.Fprintf(&b, "The whole task is: %s\nOther agents work on its other parts at the same time, in the same folder: leave those to them. Your part must meet:\n", s.Goal)
	for _, i := range part {
		fmt.Fprintf(&b, "- %s\n", s.Criteria[i])
	}
	for _, c := range s.Constraints {
		fmt.Fprintf(&b, "It must hold all the time: %s\n", c)
	}
	b.WriteString(s.Known())
	b.WriteString("Work with your tools, then answer in a few sentences what you did. Say openly what is not done.")
	return b.String()
}

// Name is how people see a part.
func Name(s ouroboros.Seed, part []int) string {
	var names []string
	for _, i := range part {
		names = append(names, s.Criteria[i].Text)
	}
	return strings.Join(names, "; ")
}

// Join is what the agent that began the task reads when all parts have ended.
func Join(s ouroboros.Seed, shares []Share, rest []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d agents have worked on parts of it at the same time, and all have ended:\n", len(shares))
	missed := 0
	for _, one := range shares {
		how := "done"
		if one.Missed() {
			missed++
			how = "NOT done: " + one.Failed.EN
		}
		fmt.Fprintf(&b, "- %s (%s): %s\n", Name(s, one.Criteria), one.Agent, how)
		if one.Answer != "" {
			fmt.Fprintf(&b, "  It says: %s\n", cut(one.Answer, 4000))
		}
	}
	if missed > 0 {
		b.WriteString("A part that is not done makes the whole not passed this time. Do what it left, then answer.\n")
	}
	if len(rest) > 0 {
		fmt.Fprintf(&b, "This is left for you: %s.\n", Name(s, rest))
	}
	b.WriteString("What they say is no proof. Look at what they did, put it together, do what is missing, then answer the person as one.")
	return b.String()
}
