package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"oxios/kernel/agent"
	"oxios/kernel/security"
	"oxios/kernel/store"
)

// pin gathers what stays word for word when a run makes room in its model's
// window: what persons said and decided, the task, what waits, and the files. It
// is read from the journal each time, so that nothing of it wears off.
func (k *Kernel) pin(ctx context.Context, run Run) (agent.Pinned, error) {
	var p agent.Pinned
	tree, err := k.store.Tree(ctx, run.SessionID)
	if err != nil {
		return p, err
	}
	runs := append(tree.Branch(run.AfterID), run)
	of := map[string]bool{}
	files := touched{}
	for _, r := range runs {
		steps, err := k.store.Steps(ctx, r.ID)
		if err != nil {
			return p, err
		}
		of[r.ID] = true
		said := []string{withNames(r.Text, r.Attachments)}
		for _, s := range steps {
			var m agent.MessageStep
			if s.Kind == store.StepMessage && json.Unmarshal(s.Args, &m) == nil && m.Agent == nil { // what agents say binds nobody
				said = append(said, withNames(m.Text, m.Attachments))
			}
			files.take(scope{folder: r.Folder}, s)
		}
		if r.ID == run.ID {
			p.Own = said
		} else {
			p.Said = append(p.Said, said...)
		}
	}
	p.Files = files.lines()
	if seed, ok := k.runs.task(run.ID).Seed(); ok {
		p.Task = seed.Whole()
	}
	p.Open, p.Decided, err = k.asked(ctx, run, of)
	return p, err
}

// withNames is what somebody said, with the names of what they attached.
func withNames(text string, attached []Attachment) string {
	for _, a := range attached {
		text += "\n(attached: " + titleOfAttachment(a) + ")"
	}
	return strings.TrimSpace(text)
}

// asked tells what waits for a person in the conversation of a run, and what
// they decided about requests of these runs where that says more than a result.
func (k *Kernel) asked(ctx context.Context, run Run, of map[string]bool) (open, decided []string, err error) {
	list, err := k.approvals.List(ctx, security.ApprovalQuery{SessionID: run.SessionID, Limit: 500})
	for _, a := range slices.Backward(list) {
		what := a.Request.Title
		if a.Request.Command != "" {
			what += ": " + a.Request.Command
		}
		switch {
		case a.State == security.ApprovalPending:
			open = append(open, fmt.Sprintf("- %s (asked by %s, %s)", what, cmp.Or(a.Request.Agent, "an agent"), a.CreatedAt.UTC().Format(time.RFC3339)))
		case !of[a.Request.RunID]:
		case a.Answers != nil:
			decided = append(decided, "- "+strings.ReplaceAll(answersOf(a), "\n", "\n  "))
		case a.State == security.ApprovalDenied:
			decided = append(decided, fmt.Sprintf("- denied: %s%s", what, theirWords(a.Comment)))
		case a.Scope == security.ScopeRun && a.Request.RunID == run.ID && (a.State == security.ApprovalApproved || a.State == security.ApprovalUsed):
			decided = append(decided, fmt.Sprintf("- approved, as often as this run makes the identical call: %s%s", what, theirWords(a.Comment)))
		case a.Comment != "" && (a.State == security.ApprovalApproved || a.State == security.ApprovalUsed):
			decided = append(decided, fmt.Sprintf("- approved: %s%s", what, theirWords(a.Comment)))
		}
	}
	return open, decided, err
}

func theirWords(comment string) string {
	if comment == "" {
		return ""
	}
	return fmt.Sprintf("; they said: %q", comment)
}

// touched is what the tools for files did, the newest last for each file.
type touched struct {
	order []string
	last  map[string]string
}

// fileTools are the tools that name one file, and how what they did is told.
var fileTools = map[string]string{"read": "read", "write": "written", "edit": "edited"}

func (t *touched) take(s scope, step store.Step) {
	did, ok := fileTools[step.Name]
	var args agent.CallArgs
	var file struct {
		Path string `json:"path"`
	}
	if !ok || step.Kind != store.StepTool || step.State != store.StepClosed || json.Unmarshal(step.Args, &args) != nil || json.Unmarshal(args.Args, &file) != nil || file.Path == "" {
		return
	}
	switch step.Outcome {
	case store.OutcomeOK:
	case store.OutcomeUnknown:
		did += " (it is not known whether that happened)"
	default:
		return
	}
	path := s.relative(file.Path)
	if t.last == nil {
		t.last = map[string]string{}
	}
	before := t.last[path]
	if did == "read" && before != "" && before != "read" {
		did = strings.TrimSuffix(before, ", then read") + ", then read"
	}
	t.order = append(slices.DeleteFunc(t.order, func(p string) bool { return p == path }), path)
	t.last[path] = did
}

func (t *touched) lines() []string {
	lines := make([]string, len(t.order))
	for i, path := range t.order {
		lines[i] = "- " + path + ": " + t.last[path]
	}
	return lines
}
