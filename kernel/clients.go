package kernel

import (
	"context"
	"slices"

	programs "oxios/kernel/client"
	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// viaClient is the face of programs.
const viaClient = "mcp"

// newClients joins the programs that use Oxios to what they use.
func (k *Kernel) newClients() *programs.Service {
	return programs.New(programs.Config{Store: k.store, Clock: k.clock, Log: k.log, Told: func(name string) { k.publish(event.ClientsChanged, scope{}, name) }})
}

// ClientOf returns the program that a token belongs to, as a principal.
func (k *Kernel) ClientOf(ctx context.Context, token string) (sys.Principal, error) {
	c, err := k.clients.Authenticate(ctx, token)
	return clientPrincipal(c), err
}

// ClientNamed returns the program of a name, as a principal. Only a process of the person may say who it is.
func (k *Kernel) ClientNamed(ctx context.Context, name string) (sys.Principal, error) {
	c, err := k.clients.Named(ctx, name)
	return clientPrincipal(c), err
}

func clientPrincipal(c Client) sys.Principal {
	if c.ID == "" {
		return sys.Principal{}
	}
	return sys.Principal{Kind: sys.KindClient, ID: c.ID, Name: c.Name, Via: viaClient}
}

// ScopesFor returns the names of the scopes that hold a call; none for one that no program may make.
func ScopesFor(call string) []string { return programs.ScopesFor(call) }

// foreign reports whether what the caller reads goes to somebody who sees no secrets: an agent or a program.
func (c *caller) foreign() bool { return c.who.Kind == sys.KindAgent || c.who.Kind == sys.KindClient }

// said labels what a program says: it comes from outside, whoever gave the program its words.
func (c *caller) said() Labels {
	if c.who.Kind != sys.KindClient {
		return nil
	}
	return Labels{store.NewLabel(Label{Origin: store.LabelClient, Untrusted: true, Name: c.who.Name}, c.who.ID, sys.Say("what the program %s said", c.who.Name))}
}

// fromClient is a message of a program. It says what is to be done, and nothing of how: folder, mode, model and limits are
// the person's. It goes on only in a conversation that the same program began, and never joins a run at work.
func (a *AgentsAPI) fromClient(ctx context.Context, m Submit) (Submit, error) {
	plain := Submit{SessionID: m.SessionID, Text: m.Text, Name: m.Name, Via: m.Via}
	if m.InsteadOf+m.Folder+m.Provider+m.Model+m.Mode+m.Role != "" || len(m.Attachments)+len(m.Pasted)+len(m.Terminal)+m.Agents > 0 || m.Space != nil || m.MaxUSD != nil {
		return plain, sys.Errorf(sys.CodeForbidden, "A program sends a text alone: folder, mode, model and limits are as the person set them. Nothing was sent.")
	}
	plain.brings = a.said()
	if m.SessionID == "" {
		return plain, nil
	}
	list, err := a.k.store.Runs(ctx, store.RunQuery{SessionID: m.SessionID, Limit: 1})
	if err != nil {
		return plain, err
	}
	if len(list) == 0 || !list[0].Labels.Has(plain.brings[0].ID) {
		return plain, sys.Errorf(sys.CodeForbidden, "This program did not begin that conversation. Nothing was sent.").WithHint("Begin a new one: leave session_id out.")
	}
	if a.k.runs.inSession(m.SessionID) != "" {
		return plain, errAtWork()
	}
	return plain, nil
}

// ofClient reports whether words of a program are among labels.
func ofClient(labels Labels) bool {
	return slices.ContainsFunc(labels, func(l Label) bool { return l.Origin == store.LabelClient || ofClient(l.From) })
}

// heardClient reports whether a run, or one that it was forked by, began with or has read words of a program. What the person
// said of those words meanwhile changes nothing.
func (k *Kernel) heardClient(ctx context.Context, runID string) (bool, error) {
	for runID != "" {
		labels := k.runs.of(runID).labels
		err := k.store.Read(ctx, func(tx *store.Tx) error {
			more, err := k.store.LabelsOf(tx, runID)
			labels = labels.Join(more)
			return err
		})
		if err != nil || ofClient(labels) {
			return true, err
		}
		run, err := k.run(ctx, runID)
		if err != nil {
			return true, err
		}
		runID = run.ParentID
	}
	return false, nil
}

// answerable leaves of some requests those that a program may answer: they are of a run that no program has a part in, and
// ask for a yes or no.
func (c *caller) answerable(ctx context.Context, list []Approval) ([]Approval, error) {
	if c.who.Kind != sys.KindClient {
		return list, nil
	}
	out := []Approval{}
	for _, ap := range list {
		heard, err := c.k.heardClient(ctx, ap.Request.RunID)
		if err != nil {
			return nil, err
		}
		if !heard && len(ap.Request.Questions) == 0 {
			out = append(out, ap)
		}
	}
	return out, nil
}

// mayAnswer refuses a program an answer that is the person's alone.
func (c *caller) mayAnswer(ctx context.Context, id string, answer security.Answer) error {
	if c.who.Kind != sys.KindClient {
		return nil
	}
	ap, err := c.k.approvals.Get(ctx, id)
	if err != nil {
		return err
	}
	rest, err := c.answerable(ctx, []Approval{ap})
	switch {
	case err != nil:
		return err
	case len(rest) == 0:
		return sys.Errorf(sys.CodeForbidden, "The person answers this request in Oxios: a program has a part in the run that asks. Nothing was decided.")
	case answer.Approve && answer.Scope != "" && answer.Scope != security.ScopeOnce:
		return sys.Errorf(sys.CodeForbidden, "A program approves once. Nothing was decided.")
	}
	return nil
}

// endsOrWaits blocks until a run has ended, or waits for a person: a program is told of that, and asks again.
func (k *Kernel) endsOrWaits(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked := k.bus.Read(0, func(e Event) bool { return e.Kind == event.ApprovalChange }).Chan(ctx)
	ended := make(chan error, 1)
	go func() { ended <- k.runs.Wait(ctx, id) }()
	for {
		waiting, err := k.approvals.List(ctx, security.ApprovalQuery{RunID: id, State: security.ApprovalPending})
		if err != nil || len(waiting) > 0 {
			return err
		}
		select {
		case err := <-ended:
			return err
		case _, open := <-asked:
			if !open {
				return <-ended
			}
		}
	}
}
