package kernel

import (
	"cmp"
	"context"
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
	Span         = store.Span
	StepView     = agent.StepView
)

// SessionView is a conversation as far as the branch goes that it shows.
type SessionView struct {
	Session  Session   `json:"session"`
	Messages []Message `json:"messages"`
	Runs     []RunView `json:"runs"`              // in the order in which they began
	Earlier  int       `json:"earlier,omitempty"` // how many runs of the branch stand before the first of Runs
	Queued   []Queued  `json:"queued"`
	Branches int       `json:"branches"` // how many there are, this one included
	Origin   *Origin   `json:"origin,omitempty"`
}

// SessionPage says which runs of a conversation's branch are read: the last ones
// before a run, or before the end of the branch.
type SessionPage struct {
	Before string `json:"before,omitempty"` // a run of the branch; "" for the end
	Limit  int    `json:"limit,omitempty"`  // how many runs at most; 0 for all
	From   string `json:"from,omitempty"`   // a run that has to be among them, with all behind it, however many that are
}

// of returns the runs of a branch that are on the page, and how many stand before them.
func (p SessionPage) of(branch []Run) ([]Run, int, error) {
	at := func(id string) (int, error) {
		i := slices.IndexFunc(branch, func(r Run) bool { return r.ID == id })
		if i < 0 {
			return 0, sys.Errorf(sys.CodeNotFound, "The branch that the conversation shows has no run %s.", id).WithHint("Read the conversation again.")
		}
		return i, nil
	}
	end := len(branch)
	var err error
	if p.Before != "" {
		if end, err = at(p.Before); err != nil {
			return nil, 0, err
		}
	}
	start := 0
	if p.Limit > 0 {
		start = max(0, end-p.Limit)
	}
	if p.From != "" {
		from, err := at(p.From)
		if err != nil {
			return nil, 0, err
		}
		start = min(start, from)
	}
	return branch[start:end], start, nil
}

// RunView is a run with its steps and what it changed.
type RunView struct {
	Run     Run             `json:"run"`
	Steps   []StepView      `json:"steps"`
	Changes []ChangeSummary `json:"changes"`
	Totals  []ChangeTotal   `json:"totals,omitempty"` // where Changes does not list all
	Undo    *UndoState      `json:"undo,omitempty"`   // null for a run that changed no file

	Memories int `json:"memories,omitempty"` // how many it was given or looked up

	// In a conversation: the runs that stand at this place, itself included, the
	// oldest first; where it stands among them, from 0; and whether its message
	// is another than that of the first.
	Siblings []string `json:"siblings,omitempty"`
	Sibling  int      `json:"sibling,omitempty"`
	Edited   bool     `json:"edited,omitempty"`
}

// Sessions lists conversations, the one that changed last first. Search looks
// in titles and in the full text.
func (a *StateAPI) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	return guard(ctx, a.caller, action{call: "state.sessions", resource: "sessions"}, func(ctx context.Context) ([]Session, error) {
		list, err := a.k.store.Sessions(ctx, q)
		for i := range list {
			list[i] = a.k.overSession(list[i])
			list[i].Folder = shortenHome(list[i].Folder)
		}
		return list, err
	})
}

// Session returns one conversation with the runs of the branch that it shows,
// and their steps.
func (a *StateAPI) Session(ctx context.Context, id string) (SessionView, error) {
	var seen SessionView
	act := action{call: "state.session", resource: "session:" + id, work: true}
	act.brought = a.wordsOf(func() []string { return each(seen.Runs, func(r RunView) string { return r.Run.ID }) })
	return guard(ctx, a.caller, act, func(ctx context.Context) (_ SessionView, err error) {
		seen, err = a.k.sessionView(ctx, id, SessionPage{})
		return seen, err
	})
}

// SessionPage returns a part of one conversation: some runs of the branch that
// it shows, with their steps and messages. A run that is not on the branch is
// not_found.
func (a *StateAPI) SessionPage(ctx context.Context, id string, page SessionPage) (SessionView, error) {
	var seen SessionView
	act := action{call: "state.sessionPage", resource: "session:" + id, work: true}
	act.brought = a.wordsOf(func() []string { return each(seen.Runs, func(r RunView) string { return r.Run.ID }) })
	return guard(ctx, a.caller, act, func(ctx context.Context) (_ SessionView, err error) {
		if page.Limit < 0 {
			return seen, sys.Errorf(sys.CodeInvalid, "A page of %d runs cannot be read.", page.Limit).WithHint("Give a limit of 1 or more, or 0 for all runs.")
		}
		seen, err = a.k.sessionView(ctx, id, page)
		return seen, err
	})
}

// sessionView is what a person sees of a conversation: a page of the branch that it shows.
func (k *Kernel) sessionView(ctx context.Context, id string, page SessionPage) (SessionView, error) {
	return k.viewOf(ctx, id, func(s Session, tree store.Tree) ([]Run, int, error) { return page.of(tree.Branch(s.HeadID)) })
}

// allBranches is a conversation with the runs of all its branches.
func (k *Kernel) allBranches(ctx context.Context, id string) (SessionView, error) {
	return k.viewOf(ctx, id, func(_ Session, tree store.Tree) ([]Run, int, error) { return tree.Runs, 0, nil })
}

func (k *Kernel) viewOf(ctx context.Context, id string, choose func(Session, store.Tree) (runs []Run, earlier int, err error)) (SessionView, error) {
	s, err := k.store.Session(ctx, id)
	if err != nil {
		return SessionView{}, err
	}
	tree, err := k.store.Tree(ctx, id)
	if err != nil {
		return SessionView{}, err
	}
	runs, earlier, err := choose(s, tree)
	if err != nil {
		return SessionView{}, err
	}
	v := SessionView{Session: k.overSession(s), Branches: tree.Branches(), Earlier: earlier}
	v.Session.Folder = shortenHome(v.Session.Folder)
	shown := map[string]bool{"": earlier == 0}
	var ids []string
	for _, r := range runs {
		shown[r.ID] = true
		ids = append(ids, r.ID)
	}
	steps, err := k.store.StepsOf(ctx, ids)
	if err != nil {
		return v, err
	}
	changed, err := k.store.Changed(ctx, ids)
	if err != nil {
		return v, err
	}
	uses, err := k.memories.CountUses(ctx, ids)
	if err != nil {
		return v, err
	}
	for _, r := range runs {
		rv, err := k.runView(ctx, k.unwritten.over(r), steps[r.ID], changed[r.ID])
		if err != nil {
			return v, err
		}
		rv.Memories = uses[r.ID]
		if all := tree.Siblings(r); len(all) > 1 {
			first, _ := tree.Run(all[0])
			rv.Siblings, rv.Sibling, rv.Edited = all, slices.Index(all, r.ID), first.Text != r.Text
		}
		v.Runs = append(v.Runs, rv)
	}
	messages, err := k.store.MessagesOf(ctx, s.ID, ids)
	if err != nil {
		return v, err
	}
	v.Messages = slices.DeleteFunc(k.unwritten.messages(s.ID, messages), func(m Message) bool { return !shown[m.RunID] })
	if v.Origin, err = k.origin(ctx, s, tree); err != nil {
		return v, err
	}
	v.Queued, err = k.store.Queued(ctx, s.ID, "")
	return v, err
}

// run returns one run as it stands.
func (k *Kernel) run(ctx context.Context, id string) (Run, error) {
	r, err := k.store.Run(ctx, id)
	return k.unwritten.over(r), err
}

func (k *Kernel) runView(ctx context.Context, r Run, steps []store.Step, changed bool) (RunView, error) {
	v := RunView{Run: r, Steps: []StepView{}, Changes: []ChangeSummary{}}
	for _, s := range steps {
		if r.State.Ended() {
			s = agent.Settled(s)
		}
		v.Steps = append(v.Steps, agent.View(s))
	}
	if !changed {
		return v, nil
	}
	changes, err := k.changes(ctx, r.ID)
	for _, c := range changes {
		v.Changes = append(v.Changes, c.ChangeSummary)
	}
	if err == nil {
		v.Totals, err = k.totals(ctx, r.ID, len(changes))
	}
	if err == nil {
		v.Undo, err = k.undoState(ctx, r)
	}
	return v, err
}

// UpdateSession changes a conversation's title, folder, model, mode or role, or
// archives it. Fields that are nil stay.
func (a *StateAPI) UpdateSession(ctx context.Context, id string, p SessionPatch) (Session, error) {
	return guard(ctx, a.caller, action{call: "state.updateSession", resource: "session:" + id, paths: namedPaths(*cmp.Or(p.Folder, new(string))), meta: map[string]any{"change": p}}, func(ctx context.Context) (Session, error) {
		if p.Mode != nil {
			m, err := security.ParseMode(*p.Mode)
			if err != nil {
				return Session{}, err
			}
			s := string(m)
			p.Mode = &s
		}
		if p.Role != nil && *p.Role != "" {
			if _, err := a.k.roleOf(*p.Role); err != nil {
				return Session{}, err
			}
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
			t = sys.Shorten(t, 200)
			p.Title = &t
		}
		if p.Space != nil {
			if err := a.k.moveSessions(ctx, []string{id}, *p.Space); err != nil {
				return Session{}, err
			}
			p.Space = nil
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
	s = k.overSession(s)
	s.Folder = shortenHome(s.Folder)
	if err == nil {
		k.publish(event.SessionChanged, scope{sessionID: id}, s)
	}
	return s, err
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
