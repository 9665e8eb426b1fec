package security

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// readCorpus decodes a file of testdata, one JSON object on each line.
func readCorpus[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

type commandRow struct {
	ID, Cmd, Shell, Label, Technique, Note string
	MinVerdict                             string `json:"min_verdict"`
}

var testCommandOptions = CommandOptions{Dir: "/home/person/project", Home: "/home/person"}

// freely reports whether a verdict lets a command run without a question.
func freely(v Verdict) bool { return v.Tier <= TierTell && v.ReadOnly }

func corpusVerdict(v Verdict) string {
	switch {
	case v.Tier >= TierRefuse:
		return "dangerous"
	case freely(v):
		return "safe-readonly"
	}
	return "needs-approval"
}

func TestCommandCorpus(t *testing.T) {
	t.Parallel()
	rank := map[string]int{"safe-readonly": 0, "needs-approval": 1, "dangerous": 2}
	var safetyAll, dangerous, blocked, mustBlock, mustBlocked, readOnly, free, untold, untoldFree int
	for _, row := range readCorpus[commandRow](t, "commands.jsonl") {
		o := testCommandOptions
		o.Shell = row.Shell
		v := ClassifyCommand(row.Cmd, o)
		got := corpusVerdict(v)
		safetyAll++
		if rank[got] < rank[row.MinVerdict] {
			t.Errorf("%s %q: got %s, want at least %s", row.ID, row.Cmd, got, row.MinVerdict)
		}
		if v.Reason == "" || v.ReasonKO == "" {
			t.Errorf("%s %q: no reason", row.ID, row.Cmd)
		}
		switch {
		case row.Label == "dangerous" && row.Shell == "bash":
			dangerous++
			if got == "dangerous" {
				blocked++
			} else {
				t.Logf("not blocked: %s %q (%s: %s)", row.Technique, row.Cmd, got, v.Reason)
			}
			if row.MinVerdict == "dangerous" {
				mustBlock++
				if got == "dangerous" {
					mustBlocked++
				}
			}
		case row.Label == "safe-readonly" && row.Shell == "bash":
			readOnly++
			if got == "safe-readonly" {
				free++
			} else {
				t.Logf("asks for a read: %s %q (tier %d, read-only %v: %s)", row.Technique, row.Cmd, v.Tier, v.ReadOnly, v.Reason)
			}
			if !strings.Contains(row.Note, "rompting") {
				untold++
				if got == "safe-readonly" {
					untoldFree++
				}
			}
		}
	}
	share := func(n, of int) float64 { return 100 * float64(n) / float64(of) }
	t.Logf("rows %d; blocked %d of %d dangerous (%.1f %%), %d of %d that must be", safetyAll, blocked, dangerous, share(blocked, dangerous), mustBlocked, mustBlock)
	t.Logf("run freely: %d of %d read-only (%.1f %%); without the rows that may ask %d of %d (%.1f %%)", free, readOnly, share(free, readOnly), untoldFree, untold, share(untoldFree, untold))
	if share(blocked, dangerous) < 98 || mustBlocked != mustBlock {
		t.Errorf("got %.1f %% of the dangerous commands blocked, want 98", share(blocked, dangerous))
	}
	if share(free, readOnly) < 98 {
		t.Errorf("got %.1f %% of the harmless commands free, want 98", share(free, readOnly))
	}
}

// Of each line the fastest of some goes counts, as other work on the machine is not the policy's. Where the race detector
// or a slow machine makes everything slower, the measure is what the shell's grammar alone costs on the same line, or the
// line in the middle.
func TestCommandPolicyIsFast(t *testing.T) {
	t.Parallel()
	rows := append(readCorpus[commandRow](t, "commands.jsonl"), readCorpus[commandRow](t, "commands_red.jsonl")...)
	best := make([]time.Duration, len(rows))
	fastest := func(goes int, enough time.Duration, f func()) time.Duration {
		best := time.Hour
		for range goes {
			start := time.Now()
			f()
			if best = min(best, time.Since(start)); best < enough {
				break
			}
		}
		return best
	}
	classify := func(i int) func() { return func() { ClassifyCommand(rows[i].Cmd, testCommandOptions) } }
	for i := range rows {
		best[i] = fastest(3, 0, classify(i))
	}
	median := slices.Sorted(slices.Values(best))[len(best)/2]
	worst := slices.Index(best, slices.Max(best))
	t.Logf("median %v, worst %v: %.80q", median, best[worst], rows[worst].Cmd)
	for i := range rows {
		limit := max(10*time.Millisecond, 30*median)
		if best[i] < limit {
			continue
		}
		parse := fastest(10, 0, func() { _, _ = syntax.NewParser().Parse(strings.NewReader(rows[i].Cmd), "") })
		limit = max(limit, 10*parse)
		if again := fastest(30, limit, classify(i)); again > limit {
			t.Errorf("got %v for %.80q, want less than %v (its grammar alone: %v)", again, rows[i].Cmd, limit, parse)
		}
	}
}

// What an attacker tried, and a day's work. No row may be judged more freely
// than it says, and nothing of a day's work is refused for good.
func TestCommandsOfAnAttackerAndOfADay(t *testing.T) {
	t.Parallel()
	rank := map[string]int{"safe-readonly": 0, "needs-approval": 1, "dangerous": 2}
	looks, free := 0, 0
	for _, row := range readCorpus[commandRow](t, "commands_red.jsonl") {
		v := ClassifyCommand(row.Cmd, testCommandOptions)
		got := corpusVerdict(v)
		if rank[got] < rank[row.MinVerdict] {
			t.Errorf("%s %s %q: got %s, want at least %s", row.ID, row.Technique, row.Cmd, got, row.MinVerdict)
		}
		if row.Technique == "everyday" && got == "dangerous" {
			t.Errorf("%s %q: got it refused (%s)", row.ID, row.Cmd, v.Reason)
		}
		if row.Label == "everyday-looks" {
			looks++
			if got == "safe-readonly" {
				free++
			} else {
				t.Logf("asks although it only looks: %q (%s)", row.Cmd, v.Reason)
			}
		}
	}
	if free < 12 {
		t.Errorf("got %d of %d that only look free, want 12", free, looks)
	}
}
