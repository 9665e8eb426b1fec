package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of the state API live in store.
type (
	Session      = store.Session
	SessionQuery = store.SessionQuery
	SessionPatch = store.SessionPatch
	Message      = store.Message
	Cost         = store.Cost
	Run          = store.Run
	RunState     = store.RunState
	Queued       = store.Queued
	StepView     = agent.StepView
)

// SessionView is a whole conversation.
type SessionView struct {
	Session  Session   `json:"session"`
	Messages []Message `json:"messages"`
	Runs     []RunView `json:"runs"` // in the order in which they began
	Queued   []Queued  `json:"queued"`
}

// RunView is a run with its steps and what it changed.
type RunView struct {
	Run     Run             `json:"run"`
	Steps   []StepView      `json:"steps"`
	Changes []ChangeSummary `json:"changes"`
}

// Sessions lists conversations, the one that changed last first. Search looks
// in titles and in the full text.
func (a *StateAPI) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	return guard(ctx, a.caller, action{call: "state.sessions", resource: "sessions"}, func(ctx context.Context) ([]Session, error) {
		list, err := a.k.store.Sessions(ctx, q)
		for i := range list {
			list[i].Folder = shortenHome(list[i].Folder)
		}
		return list, err
	})
}

// Session returns one conversation with its runs and their steps.
func (a *StateAPI) Session(ctx context.Context, id string) (SessionView, error) {
	return guard(ctx, a.caller, action{call: "state.session", resource: "session:" + id}, func(ctx context.Context) (SessionView, error) {
		return a.k.sessionView(ctx, id)
	})
}

func (k *Kernel) sessionView(ctx context.Context, id string) (SessionView, error) {
	var v SessionView
	var err error
	if v.Session, err = k.store.Session(ctx, id); err != nil {
		return v, err
	}
	v.Session.Folder = shortenHome(v.Session.Folder)
	if v.Messages, err = k.store.Messages(ctx, id); err != nil {
		return v, err
	}
	list, err := k.sessionRuns(ctx, id)
	if err != nil {
		return v, err
	}
	for _, r := range list {
		rv, err := k.runView(ctx, r)
		if err != nil {
			return v, err
		}
		v.Runs = append(v.Runs, rv)
	}
	v.Queued, err = k.store.Queued(ctx, id)
	return v, err
}

// sessionRuns returns the runs of a conversation in the order in which they
// began.
func (k *Kernel) sessionRuns(ctx context.Context, id string) ([]Run, error) {
	list, err := k.store.Runs(ctx, store.RunQuery{SessionID: id, Limit: 500})
	slices.Reverse(list)
	return list, err
}

func (k *Kernel) runView(ctx context.Context, r Run) (RunView, error) {
	v := RunView{Run: r, Steps: []StepView{}, Changes: []ChangeSummary{}}
	steps, err := k.store.Steps(ctx, r.ID)
	if err != nil {
		return v, err
	}
	for _, s := range steps {
		v.Steps = append(v.Steps, agent.View(s))
	}
	changes, err := k.changes(ctx, r.ID)
	for _, c := range changes {
		v.Changes = append(v.Changes, c.ChangeSummary)
	}
	return v, err
}

// UpdateSession changes a conversation's title, folder, model or mode, or
// archives it. Fields that are nil stay.
func (a *StateAPI) UpdateSession(ctx context.Context, id string, p SessionPatch) (Session, error) {
	return guard(ctx, a.caller, action{call: "state.updateSession", resource: "session:" + id, meta: map[string]any{"change": p}}, func(ctx context.Context) (Session, error) {
		if p.Mode != nil {
			m, err := security.ParseMode(*p.Mode)
			if err != nil {
				return Session{}, err
			}
			s := string(m)
			p.Mode = &s
		}
		if p.Folder != nil {
			f, err := a.k.checkFolder(*p.Folder)
			if err != nil {
				return Session{}, err
			}
			p.Folder = &f
		}
		if p.Title != nil {
			t := strings.TrimSpace(*p.Title)
			if t == "" {
				return Session{}, sys.Errorf(sys.CodeInvalid, "A conversation needs a title. The old one was kept.")
			}
			t = shorten(t, 200)
			p.Title = &t
		}
		if _, err := a.k.store.UpdateSession(ctx, id, p); err != nil {
			return Session{}, err
		}
		return a.k.announceSession(ctx, id)
	})
}

// announceSession publishes a conversation as it now is.
func (k *Kernel) announceSession(ctx context.Context, id string) (Session, error) {
	s, err := k.store.Session(ctx, id)
	s.Folder = shortenHome(s.Folder)
	if err == nil {
		k.publish(event.SessionChanged, scope{sessionID: id}, s)
	}
	return s, err
}

// DeleteSession deletes a conversation with its messages, runs and steps. The
// audit chain keeps what happened. A conversation with a live run is refused.
func (a *StateAPI) DeleteSession(ctx context.Context, id string) error {
	_, err := guard(ctx, a.caller, action{call: "state.deleteSession", resource: "session:" + id}, func(ctx context.Context) (struct{}, error) {
		if run := a.k.runs.inSession(id); run != "" {
			return struct{}{}, sys.Errorf(sys.CodeBusy, "A run of this conversation is still going. Nothing was deleted.").WithHint("Stop it first.")
		}
		if err := a.k.store.DeleteSession(ctx, id); err != nil {
			return struct{}{}, err
		}
		a.k.publish(event.SessionDeleted, scope{sessionID: id}, event.Text{Text: id})
		a.k.publishStatus()
		return struct{}{}, nil
	})
	return err
}

// ExportSession returns a conversation as "md" for people or "json" for
// programs, with secrets masked.
func (a *StateAPI) ExportSession(ctx context.Context, id, format string) (string, error) {
	return guard(ctx, a.caller, action{call: "state.exportSession", resource: "session:" + id}, func(ctx context.Context) (string, error) {
		v, err := a.k.sessionView(ctx, id)
		if err != nil {
			return "", err
		}
		switch format {
		case "json":
			b, err := json.MarshalIndent(v, "", "  ")
			return a.k.masked(string(b)), err
		case "md", "":
			return a.k.masked(markdown(v)), nil
		}
		return "", sys.Errorf(sys.CodeInvalid, "There is no export format %q.", format).WithHint("Use md or json.")
	})
}

func markdown(v SessionView) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", v.Session.Title)
	steps := map[string][]StepView{}
	for _, r := range v.Runs {
		steps[r.Run.ID] = r.Steps
	}
	for _, m := range v.Messages {
		if m.Role == "user" {
			fmt.Fprintf(&b, "## %s\n\n%s\n\n", m.At.Format("2006-01-02 15:04"), m.Content)
			continue
		}
		for _, s := range steps[m.RunID] {
			if s.Kind == store.StepTool {
				fmt.Fprintf(&b, "- %s (%s)\n", s.Title, s.Outcome)
			}
		}
		fmt.Fprintf(&b, "\n%s\n\n", m.Content)
		if m.Status != "" {
			fmt.Fprintf(&b, "_(%s)_\n\n", m.Status)
		}
		if m.Demo {
			b.WriteString("_(Demo: scripted, no language model)_\n\n")
		}
	}
	return b.String()
}

// titleOf makes a conversation's title from its first message: the first
// sentence, at most 60 characters.
func titleOf(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i, r := range text {
		if (r == '.' || r == '?' || r == '!' || r == '。') && i > 8 && (i+1 == len(text) || text[i+1] == ' ') {
			text = text[:i]
			break
		}
	}
	if utf8.RuneCountInString(text) <= 60 {
		return text
	}
	cut := string([]rune(text)[:60])
	if i := strings.LastIndexByte(cut, ' '); i > 30 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}
