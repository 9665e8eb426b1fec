package orchestrator

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/ouroboros"
	"oxios/kernel/sys"
)

// crit is a criterion about a file, "" for none, that comes after others.
func crit(file string, after ...int) ouroboros.Criterion {
	c := ouroboros.Criterion{Text: "x", After: after}
	if file != "" {
		c.Check = &ouroboros.Check{File: file}
	}
	return c
}

func TestIndependentCriteriaAreSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		criteria    []ouroboros.Criterion
		least, most int
		parts       [][]int
		rest        []int
	}{
		"three that do not depend on each other": {[]ouroboros.Criterion{crit(""), crit(""), crit("")}, 3, 9, [][]int{{0}, {1}, {2}}, nil},
		"two are too few":                        {[]ouroboros.Criterion{crit(""), crit("")}, 3, 9, nil, nil},
		"what comes after one belongs to it":     {[]ouroboros.Criterion{crit(""), crit("", 1), crit(""), crit(""), crit("", 2)}, 3, 9, [][]int{{0, 1, 4}, {2}, {3}}, nil},
		"what comes after several is the rest":   {[]ouroboros.Criterion{crit("", 2, 3), crit(""), crit(""), crit(""), crit("", 1)}, 3, 9, [][]int{{1}, {2}, {3}}, []int{0, 4}},
		"one file is one part":                   {[]ouroboros.Criterion{crit("a"), crit("./a"), crit("b"), crit("c")}, 3, 9, [][]int{{0, 1}, {2}, {3}}, nil},
		"three about one file are one part":      {[]ouroboros.Criterion{crit("a"), crit("a"), crit("a")}, 3, 9, nil, nil},
		"no more parts than there is room":       {[]ouroboros.Criterion{crit(""), crit(""), crit("")}, 3, 2, [][]int{{0, 2}, {1}}, nil},
		"no room":                                {[]ouroboros.Criterion{crit(""), crit(""), crit("")}, 3, 1, nil, nil},
		"never":                                  {[]ouroboros.Criterion{crit(""), crit(""), crit("")}, 0, 9, nil, nil},
	} {
		parts, rest := Split(ouroboros.Seed{Criteria: c.criteria}, c.least, c.most)
		if diff := cmp.Diff([][][]int{c.parts, {c.rest}}, [][][]int{parts, {rest}}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPartThatWasNotDoneIsTold(t *testing.T) {
	t.Parallel()
	s := ouroboros.Seed{Goal: "a site", Criteria: []ouroboros.Criterion{{Text: "a page"}, {Text: "a style"}, {Text: "both fit", After: []int{1, 2}}}, Constraints: []string{"no script"}}
	for _, want := range []string{"a page (judged by what your steps show)", "a site", "no script"} {
		if got := Goal(s, []int{0}); !strings.Contains(got, want) || strings.Contains(got, "a style") {
			t.Errorf("got the goal %q, want %q in it and nothing of the other part", got, want)
		}
	}
	got := Join(s, []Share{{Criteria: []int{0}, Agent: "agent 2", Answer: "It is there."}, {Criteria: []int{1}, Agent: "agent 3", Failed: sys.Words{EN: "it was stopped"}}}, []int{2})
	for _, want := range []string{"- a page (agent 2): done\n  It says: It is there.", "- a style (agent 3): NOT done: it was stopped", "left for you: both fit"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}
