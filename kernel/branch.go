package kernel

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"oxios/kernel/agent"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Origin says from which conversation another one was branched.
type Origin struct {
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"` // the last run that was taken along, as the origin knows it; "" when it is gone
	Title     string `json:"title"`  // "" when the conversation was deleted
}

// ChooseBranch makes a conversation show the branch on which a run stands, as
// far as the newest run below it, and returns the conversation. What is said
// next goes there. It is refused while an agent works in the conversation.
func (a *StateAPI) ChooseBranch(ctx context.Context, runID string) (SessionView, error) {
	return guard(ctx, a.caller, action{call: "state.chooseBranch", resource: "run:" + runID}, func(ctx context.Context) (SessionView, error) {
		r, err := a.k.store.Run(ctx, runID)
		if err != nil {
			return SessionView{}, err
		}
		if err := a.k.chooseBranch(ctx, r); err != nil {
			return SessionView{}, err
		}
		return a.k.sessionView(ctx, r.SessionID, SessionPage{})
	})
}

func (k *Kernel) chooseBranch(ctx context.Context, r Run) error {
	s, err := k.store.Session(ctx, r.SessionID)
	if err != nil {
		return err
	}
	tree, err := k.store.Tree(ctx, s.ID)
	if err != nil {
		return err
	}
	for _, shown := range tree.Branch(s.HeadID) {
		if shown.ID == r.ID {
			return nil
		}
	}
	return k.setHead(ctx, s, tree.End(r.ID))
}

// setHead moves the end of the shown branch. A run at work must stay on it: its
// questions and what is typed meanwhile belong there.
func (k *Kernel) setHead(ctx context.Context, s Session, run string) error {
	if s.HeadID == run {
		return nil
	}
	if k.runs.inSession(s.ID) != "" {
		return errAtWork()
	}
	if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.store.SetHead(tx, s.ID, run) }); err != nil {
		return err
	}
	_, err := k.announceSession(ctx, s.ID)
	return err
}

func errAtWork() error {
	return sys.Errorf(sys.CodeBusy, "An agent is at work in this conversation. Nothing was changed.").WithHint("Wait until it is done, or stop it first.")
}

// BranchSession makes a new conversation of everything up to and with a run,
// and returns it. The copy knows where it comes from; it cost nothing, and
// files are not touched.
func (a *StateAPI) BranchSession(ctx context.Context, runID string) (Session, error) {
	return guard(ctx, a.caller, action{call: "state.branchSession", resource: "run:" + runID}, func(ctx context.Context) (Session, error) {
		r, err := a.k.store.Run(ctx, runID)
		if err != nil {
			return Session{}, err
		}
		from, err := a.k.store.Session(ctx, r.SessionID)
		if err != nil {
			return Session{}, err
		}
		s := Session{Summary: from.Summary, Folder: from.Folder, Provider: from.Provider, Model: from.Model, Mode: from.Mode, Role: from.Role, Space: from.Space, SpaceWhy: from.SpaceWhy}
		err = a.k.store.Write(ctx, func(tx *store.Tx) error {
			s.ID, s.HeadID = "", ""
			if s.Title, err = a.k.branchTitle(tx, from.Title); err != nil {
				return err
			}
			return a.k.store.CopyBranch(tx, runID, &s)
		})
		if err != nil {
			return Session{}, err
		}
		return a.k.announceSession(ctx, s.ID)
	})
}

// branchMark is what branchTitle puts behind a title.
var branchMark = sys.Pattern(` \((branch|갈래)( \d+)?\)$`)

// branchTitle is the title of the origin with a mark behind it, counted up
// until no conversation has it.
func (k *Kernel) branchTitle(tx *store.Tx, origin string) (string, error) {
	origin = branchMark().ReplaceAllString(origin, "")
	title := sys.Say("%s (branch)", origin).In(k.korean())
	for n := 2; ; n++ {
		taken, err := k.store.TitleTaken(tx, title)
		if err != nil || !taken {
			return title, err
		}
		title = sys.Say("%s (branch %d)", origin, n).In(k.korean())
	}
}

// origin says where a conversation came from; nil when it began by itself.
func (k *Kernel) origin(ctx context.Context, s Session, tree store.Tree) (*Origin, error) {
	if s.OriginID == "" {
		return nil, nil
	}
	o := &Origin{SessionID: s.OriginID}
	for _, r := range tree.Runs {
		if r.CopyOf != "" {
			o.RunID = r.CopyOf
		}
	}
	from, err := k.store.Session(ctx, s.OriginID)
	if sys.CodeOf(err) == sys.CodeNotFound {
		o.RunID, err = "", nil
	}
	o.Title = from.Title
	return o, err
}

// instead readies a message that is to stand beside a run, not behind the head
// of its conversation: an edited message, or with no text the same one again.
// It returns the run.
func (k *Kernel) instead(ctx context.Context, m *Submit) (Run, error) {
	r, err := k.run(ctx, m.InsteadOf)
	if err != nil {
		return r, err
	}
	if m.SessionID != "" && m.SessionID != r.SessionID || r.ParentID != "" {
		return r, sys.Errorf(sys.CodeInvalid, "That run is no answer of this conversation. Nothing was sent.")
	}
	m.SessionID = r.SessionID
	text, attached, err := k.askedOf(ctx, r)
	if err != nil {
		return r, err
	}
	before, err := k.said(ctx, r)
	if strings.TrimSpace(m.Text) == "" {
		m.Text = text
	}
	m.Pasted = append(before.edited(m.Text), m.Pasted...) // what was pasted stays so in what the person made of it
	if m.Attachments == nil {
		m.Attachments = attached
	}
	if r.Via == viaClient { // said again or edited by the person, it is still what the program said
		m.Via = viaClient
		m.brings = m.brings.Join(slices.DeleteFunc(slices.Clone(r.Labels), func(l Label) bool { return l.Origin != store.LabelClient }))
	}
	return r, err
}

// askedOf is all that the person said to a run, and the ids of what they
// attached: with its message, and with what joined it on the way.
func (k *Kernel) askedOf(ctx context.Context, r Run) (text string, attached []string, err error) {
	steps, err := k.store.Steps(ctx, r.ID)
	texts, attached := []string{r.Text}, idsOf(r.Attachments)
	for _, s := range steps {
		var m agent.MessageStep
		if s.Kind == store.StepMessage && json.Unmarshal(s.Args, &m) == nil && (m.Agent == nil || m.Agent.From == "") { // what agents said, the person did not
			texts = append(texts, m.Text)
			attached = append(attached, idsOf(m.Attachments)...)
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n")), attached, err
}
