package kernel_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// A conversation is a txtar file: script.toml is what the model plays, say the
// message (its first line may be "mode: auto"), decide one line for each
// question ("approve", "approve run", "deny because…", "answer one | two",
// "assume", "say in my own words"), given/… the files
// before, want the run as a person sees it, and files/… the files after.
func TestConversations(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("testdata", "talk", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d conversations, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			converse(t, a)
		})
	}
}

func converse(t *testing.T, a *txtar.Archive) {
	t.Helper()
	part := map[string]string{}
	for _, f := range a.Files {
		part[f.Name] = string(f.Data)
	}
	k := open(t, kerneltest.Script(part["script.toml"]))
	for name, text := range part {
		if rest, ok := strings.CutPrefix(name, "given/"); ok {
			write(t, filepath.Join(k.Folder, rest), text)
		}
	}
	text := strings.TrimSpace(part["say"])
	mode := ""
	if rest, ok := strings.CutPrefix(text, "mode: "); ok {
		mode, text, _ = strings.Cut(rest, "\n")
	}
	out := k.Say(text, func(m *kernel.Submit) { m.Mode = mode })
	var asked strings.Builder
	for line := range strings.Lines(part["decide"]) {
		ap := k.Approval(out.RunID)
		for _, q := range ap.Request.Questions {
			fmt.Fprintf(&asked, "asks (%s): %s\n", q.Part, q.Text)
		}
		var err error
		switch verb, rest, _ := strings.Cut(strings.TrimSpace(line), " "); verb {
		case "approve":
			_, err = k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash, Scope: rest})
		case "answer": // one for each question, empty ones are left open
			answers := strings.Split(rest, "|")
			for i := range answers {
				answers[i] = strings.TrimSpace(answers[i])
			}
			_, err = k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: out.RunID, Answers: answers})
		case "assume":
			_, err = k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: out.RunID, Assume: true})
		case "say": // as anybody would who types below the questions
			_, err = k.Person().Agents.Submit(t.Context(), kernel.Submit{SessionID: out.SessionID, Text: rest})
		case "deny":
			_, err = k.Person().Security.Deny(t.Context(), ap.ID, rest)
		default:
			t.Fatalf("there is no decision %q", verb)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	k.Wait(out.RunID)
	v, err := k.Person().Agents.Run(t.Context(), out.RunID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(part["want"], asked.String()+told(v, k.Folder)+planned(t, k, out.RunID)); diff != "" {
		t.Errorf("the run differs (-want +got):\n%s", diff)
	}
	for name, want := range part {
		rest, ok := strings.CutPrefix(name, "files/")
		if !ok {
			continue
		}
		if got, err := os.ReadFile(filepath.Join(k.Folder, rest)); err != nil || string(got) != want {
			t.Errorf("file %s: got %q, %v, want %q", rest, got, err, want)
		}
	}
	if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !r.OK {
		t.Errorf("the chain does not verify: %+v, %v", r, err)
	}
}

// told is a run in lines: what was said, and each step with its outcome.
func told(v kernel.RunView, folder string) string {
	var b strings.Builder
	for _, s := range v.Steps {
		switch s.Kind {
		case "model":
			if s.Text != "" {
				fmt.Fprintf(&b, "says: %s\n", strings.ReplaceAll(s.Text, folder, "FOLDER"))
			}
		case "tool", "check":
			fmt.Fprintf(&b, "%s %s: %s\n", s.Name, s.Outcome, s.Title)
		case "judge":
			fmt.Fprintf(&b, "judge %s\n", s.Outcome)
		case "evaluation":
			b.WriteString(judged(s))
		}
	}
	slices.SortFunc(v.Changes, func(a, b kernel.ChangeSummary) int { return strings.Compare(a.Path, b.Path) })
	for _, c := range v.Changes { // calls of one turn end in any order
		fmt.Fprintf(&b, "%s %s +%d -%d\n", c.Kind, c.Path, c.Added, c.Removed)
	}
	fmt.Fprintf(&b, "%s\n", v.Run.State)
	return b.String()
}

// judged is an evaluation in lines.
func judged(s kernel.StepView) string {
	var e kernel.Evaluation
	if err := json.Unmarshal(s.Args, &e); err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	held := 0
	for _, r := range e.Results {
		mark := "✗"
		if r.Passed {
			held++
			mark = "✓"
		}
		fmt.Fprintf(&b, "  %s %s: %s\n", mark, r.How, r.Evidence)
	}
	end := "not passed"
	if e.Passed {
		end = "passed"
	}
	return fmt.Sprintf("evaluation: %d of %d, score %.2f, %s\n%s", held, len(e.Results), e.Score, end, b.String())
}

// planned tells what became of the run's seeds, and what its person reads.
func planned(t *testing.T, k *kerneltest.Kernel, run string) string {
	t.Helper()
	seeds, err := k.Person().Agents.Seeds(t.Context(), kernel.SeedQuery{RunID: run})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range slices.Backward(seeds) {
		fmt.Fprintf(&b, "seed v%d %s %.2f\n", s.Version, s.State, s.Ambiguity)
	}
	if len(seeds) > 0 {
		r := k.Wait(run)
		fmt.Fprintf(&b, "answer%s: %s\n", strings.TrimSuffix(" ("+r.Status+")", " ()"), r.Response)
	}
	return b.String()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
