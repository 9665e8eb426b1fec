package kernel

import (
	"cmp"
	"context"
	"math"
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
	began, err := a.began(ctx, m.SessionID)
	if err != nil {
		return plain, err
	}
	if !began {
		return plain, sys.Errorf(sys.CodeForbidden, "This program did not begin that conversation. Nothing was sent.").WithHint("Begin a new one: leave session_id out.")
	}
	if a.k.runs.inSession(m.SessionID) != "" {
		return plain, errAtWork()
	}
	return plain, nil
}

// began reports whether the first message of a conversation is of this program. What a run has read since, or remembers, says
// nothing of that.
func (c *caller) began(ctx context.Context, session string) (bool, error) {
	all, err := c.k.store.Messages(ctx, session)
	if err != nil || len(all) == 0 {
		return false, err
	}
	r, err := c.k.store.Run(ctx, all[0].RunID)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return false, nil
	}
	return c.told(r), err
}

// told reports whether a run began with a message of this program. The labels that a run begins with come first, and its own
// program before all that it hears of others.
func (c *caller) told(r Run) bool {
	at := slices.IndexFunc(r.Labels, func(l Label) bool { return l.Origin == store.LabelClient })
	return r.Via == viaClient && r.CopyOf == "" && at >= 0 && r.Labels[at].ID == c.said()[0].ID
}

// own reports whether a run, or the one that it descends from, began with a message of this program.
func (c *caller) own(ctx context.Context, r Run) (bool, error) {
	all, err := c.k.lineage(ctx, r)
	if err != nil {
		return false, err
	}
	if root := all[len(all)-1]; root != r.ID {
		r, err = c.k.store.Run(ctx, root)
		if sys.CodeOf(err) == sys.CodeNotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return r.ParentID == "" && c.told(r), nil
}

// ownAlone reports whether a program sees its own runs alone: it may not read.
func (c *caller) ownAlone(ctx context.Context) (bool, error) {
	if c.who.Kind != sys.KindClient {
		return false, nil
	}
	reads, err := c.k.clients.Has(ctx, c.who.ID, programs.ScopeRead)
	return !reads, err
}

// mayReach refuses a program a run that is not its own: to look at where it may not read, and to stop in any case.
func (c *caller) mayReach(ctx context.Context, id string, stops bool) error {
	if c.who.Kind != sys.KindClient {
		return nil
	}
	alone, err := c.ownAlone(ctx)
	if err != nil || !alone && !stops {
		return err
	}
	r, err := c.k.run(ctx, id)
	if err != nil {
		return err
	}
	own, err := c.own(ctx, r)
	switch {
	case err != nil || own:
		return err
	case stops:
		return sys.Errorf(sys.CodeForbidden, "A program stops only the runs that it started. Nothing was stopped.").WithHint("The person stops others in Oxios.")
	}
	return sys.Errorf(sys.CodeForbidden, "This program did not start that run, and sees only its own.").WithHint("With the scope read it sees all of them.")
}

// runsFor selects runs as the caller may see them. What a program may not see takes no place in the limit.
func (c *caller) runsFor(ctx context.Context, q store.RunQuery) ([]Run, error) {
	alone, err := c.ownAlone(ctx)
	if err != nil {
		return nil, err
	}
	if !alone {
		return c.k.store.Runs(ctx, q)
	}
	most := min(cmp.Or(max(q.Limit, 0), 50), maxRunsRead)
	if q.Open && q.Limit <= 0 {
		most = math.MaxInt
	}
	q.Via, q.Limit = viaClient, maxRunsRead
	out := []Run{}
	for {
		list, err := c.k.store.Runs(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			own, err := c.own(ctx, r)
			if err != nil {
				return nil, err
			}
			if own {
				out = append(out, r)
			}
			if len(out) == most {
				return out, nil
			}
		}
		if len(list) < maxRunsRead {
			return out, nil
		}
		q.Before = list[len(list)-1].PID
	}
}

// maxRunsRead is how many runs one look at the database returns at most.
const maxRunsRead = 500

// forReader is what a caller reads of a run: for somebody who sees no secrets they are masked in all its texts.
func forReader[T any](c *caller, v T) T {
	if !c.foreign() {
		return v
	}
	return eachText(v, c.k.masked)
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
		if !heard && yesOrNo(ap) {
			out = append(out, ap)
		}
	}
	return out, nil
}

// yesOrNo reports whether a request asks for no more than that.
func yesOrNo(ap Approval) bool { return len(ap.Request.Questions) == 0 && ap.Request.Form == nil }

// approvalsFor selects requests as the caller may see them. What a program may not see takes no place in the limit.
func (c *caller) approvalsFor(ctx context.Context, q security.ApprovalQuery) ([]Approval, error) {
	if c.who.Kind != sys.KindClient {
		return c.k.approvals.List(ctx, q)
	}
	most := cmp.Or(max(q.Limit, 0), 200)
	q.Limit = math.MaxInt32
	list, err := c.k.approvals.List(ctx, q)
	if err != nil {
		return nil, err
	}
	out := []Approval{}
	for _, ap := range list {
		own, err := c.answerable(ctx, []Approval{ap})
		if err != nil {
			return nil, err
		}
		if out = append(out, own...); len(out) == most {
			break
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
	case !yesOrNo(ap):
		return sys.Errorf(sys.CodeForbidden, "This request asks for more than yes or no. The person answers it in Oxios.")
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
