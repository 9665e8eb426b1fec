package kernel

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"oxios/kernel/a2a"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of messages between agents live in a2a.
type (
	AgentCard    = a2a.Card
	AgentSkill   = a2a.Skill
	AgentMessage = a2a.Message

	MessageReader = a2a.Reader
)

// CardQuery selects cards. The zero value selects all that the caller may reach.
type CardQuery struct {
	Capability string `json:"capability,omitempty"` // its id, its name, or words that ask for it
	RunID      string `json:"run_id,omitempty"`
	SessionID  string `json:"session_id,omitempty"`
}

// CapabilityQuery asks which agents can do something.
type CapabilityQuery struct {
	Query    string   `json:"query"`                           // in words
	Required []string `json:"required_capabilities,omitempty"` // beside what the words ask for
}

// Capable is the answer to a [CapabilityQuery].
type Capable struct {
	Required []string       `json:"required_capabilities"` // what was understood
	Agents   []CapableAgent `json:"agents"`                // that have something of it, the fittest first
}

// CapableAgent is an agent that has something of what was asked for.
type CapableAgent struct {
	Card  AgentCard `json:"card"`
	Lacks []string  `json:"lacks"`
}

// MailQuery selects messages between agents, the newest first.
type MailQuery struct {
	RunID     string `json:"run_id,omitempty"` // from it or to it
	SessionID string `json:"session_id,omitempty"`
	Limit     int    `json:"limit,omitempty"` // default 100, at most 500
}

// AgentSend is a message for another agent.
type AgentSend struct {
	To       string `json:"to"`                 // a run, its pid, or the name on its card
	Kind     string `json:"kind,omitempty"`     // task_delegation, status_update (the default), result_sharing, capability_query or handshake
	Text     string `json:"text"`               // what it says
	TaskID   string `json:"task_id,omitempty"`  // what it is about
	Progress int    `json:"progress,omitempty"` // percent, of a status
	Summary  string `json:"summary,omitempty"`  // of a result

	Required []string `json:"required_capabilities,omitempty"` // of a capability_query
}

// AgentReply answers a message.
type AgentReply struct {
	ID      string `json:"id"` // of the message, or its number
	Text    string `json:"text"`
	Summary string `json:"summary,omitempty"`
}

// Cards lists the cards of live agents, the oldest first: the person sees all,
// an agent those that it may reach, and its own.
func (a *A2AAPI) Cards(ctx context.Context, q CardQuery) ([]AgentCard, error) {
	return guard(ctx, a.caller, action{call: "a2a.cards", resource: "cards"}, func(ctx context.Context) ([]AgentCard, error) {
		cards, err := a.reachable(ctx)
		if err != nil {
			return nil, err
		}
		wanted := a2a.Wanted(q.Capability)
		return slices.DeleteFunc(cards, func(c AgentCard) bool {
			return len(c.Lacks(wanted)) > 0 || q.RunID != "" && c.ID != q.RunID || q.SessionID != "" && c.SessionID != q.SessionID
		}), nil
	})
}

// Query says which agents can do something. The kernel answers from their
// cards, so that none of them is disturbed.
func (a *A2AAPI) Query(ctx context.Context, q CapabilityQuery) (Capable, error) {
	return guard(ctx, a.caller, action{call: "a2a.query", resource: "cards"}, func(ctx context.Context) (Capable, error) {
		out := Capable{Required: a2a.Wanted(append(slices.Clone(q.Required), q.Query)...), Agents: []CapableAgent{}}
		if len(out.Required) == 0 {
			return out, sys.Errorf(sys.CodeInvalid, "The question is empty. Nothing was looked up.")
		}
		cards, err := a.reachable(ctx)
		for _, c := range cards {
			if lacks := c.Lacks(out.Required); len(lacks) < len(out.Required) && c.ID != a.scope.runID {
				out.Agents = append(out.Agents, CapableAgent{Card: c, Lacks: lacks})
			}
		}
		slices.SortStableFunc(out.Agents, func(x, y CapableAgent) int { return cmp.Compare(len(x.Lacks), len(y.Lacks)) })
		return out, err
	})
}

// Messages lists what agents said to each other: to the person all of it, to an
// agent what it and those that it has forked sent and got.
func (a *A2AAPI) Messages(ctx context.Context, q MailQuery) ([]AgentMessage, error) {
	act := action{call: "a2a.messages", resource: "run:" + cmp.Or(q.RunID, "all")}
	var told []string
	act.brought = a.wordsOf(func() []string { return told })
	return guard(ctx, a.caller, act, func(ctx context.Context) (list []AgentMessage, err error) {
		defer func() {
			for _, m := range list {
				told = append(told, m.From)
			}
		}()
		if a.who.Kind == sys.KindAgent {
			q.RunID = cmp.Or(q.RunID, a.scope.runID)
		}
		if q.RunID != "" {
			id, err := (&AgentsAPI{a.caller}).reach(ctx, q.RunID)
			if err != nil {
				return nil, err
			}
			q.RunID = id
		}
		return a.k.exchange.List(ctx, store.MailQuery{Run: q.RunID, SessionID: q.SessionID, Limit: min(q.Limit, 500)})
	})
}

// Send puts a message into the queue of another agent, which reads it before
// its next model call. A task or a question expects an answer, which comes as a
// message. One that the receiver did not come to read comes back.
func (a *A2AAPI) Send(ctx context.Context, m AgentSend) (AgentMessage, error) {
	meta := map[string]any{"kind": m.Kind, "bytes": len(m.Text)}
	return guard(ctx, a.caller, action{call: "a2a.send", resource: "agent:" + m.To, meta: meta}, func(ctx context.Context) (AgentMessage, error) {
		m.Text, m.Summary = a.forOthers(m.Text), a.forOthers(m.Summary)
		p, err := a.payload(m)
		if err != nil {
			return AgentMessage{}, err
		}
		to, err := a.peer(ctx, m.To)
		if err != nil {
			return AgentMessage{}, err
		}
		asks := p.Kind() == a2a.KindDelegation || p.Kind() == a2a.KindQuery
		return a.send(ctx, a2a.Envelope{To: to.ID, ToName: to.Name, SessionID: to.SessionID, Payload: p, Asks: asks})
	})
}

// Reply answers a message that the caller has read. Whoever waits for the
// answer gets it at once, any other sender before its next model call.
func (a *A2AAPI) Reply(ctx context.Context, r AgentReply) (AgentMessage, error) {
	return guard(ctx, a.caller, action{call: "a2a.reply", resource: "message:" + r.ID, meta: map[string]any{"bytes": len(r.Text)}}, func(ctx context.Context) (AgentMessage, error) {
		if a.scope.runID == "" {
			return AgentMessage{}, sys.Errorf(sys.CodeInvalid, "Only an agent replies. Nothing was sent.").WithHint("Send it a message.")
		}
		p := a2a.ResultSharing{TaskID: r.ID, Result: a.forOthers(r.Text), Summary: a.forOthers(r.Summary)}
		if err := a2a.Check(p); err != nil {
			return AgentMessage{}, err
		}
		return a.write(ctx, func(tx *store.Tx, e a2a.Envelope) (AgentMessage, error) {
			e.Payload = p
			return a.k.exchange.Reply(tx, a.scope.runID, r.ID, e)
		})
	})
}

// tell says something to a run that the caller has forked.
func (a *A2AAPI) tell(ctx context.Context, to Run, text string) (Submitted, error) {
	p := a2a.StatusUpdate{Message: a.forOthers(text)}
	if err := a2a.Check(p); err != nil {
		return Submitted{}, err
	}
	m, err := a.send(ctx, a2a.Envelope{To: to.ID, ToName: to.Name, SessionID: to.SessionID, Payload: p})
	return Submitted{RunID: to.ID, SessionID: to.SessionID, Queued: true, QueueID: m.ID}, err
}

// payload makes what a message says.
func (a *A2AAPI) payload(m AgentSend) (a2a.Payload, error) {
	var p a2a.Payload
	switch a2a.Kind(m.Kind) {
	case "", a2a.KindStatus:
		p = a2a.StatusUpdate{TaskID: m.TaskID, Progress: m.Progress, Message: m.Text}
	case a2a.KindDelegation:
		p = a2a.TaskDelegation{TaskID: cmp.Or(m.TaskID, sys.NewID()), Description: m.Text}
	case a2a.KindResult:
		p = a2a.ResultSharing{TaskID: m.TaskID, Result: m.Text, Summary: m.Summary}
	case a2a.KindQuery:
		p = a2a.CapabilityQuery{Query: m.Text, Required: m.Required}
	case a2a.KindHandshake: // nobody introduces themselves as another
		c, _ := a.k.exchange.Card(a.scope.runID)
		p = a2a.Handshake{AgentID: a.scope.runID, Name: cmp.Or(c.Name, a.scope.agent), Capabilities: c.Capabilities, Message: m.Text}
	default:
		return a2a.Decode(a2a.Kind(m.Kind), nil)
	}
	return p, a2a.Check(p)
}

// send puts a message into a queue, once for each step.
func (a *A2AAPI) send(ctx context.Context, e a2a.Envelope) (AgentMessage, error) {
	return a.write(ctx, func(tx *store.Tx, from a2a.Envelope) (AgentMessage, error) {
		e.From, e.FromName, e.MadeBy = from.From, from.FromName, from.MadeBy
		return a.k.exchange.Send(tx, e)
	})
}

// write has a message sent in a transaction, unless the step that sends it has
// done so before a crash.
func (a *A2AAPI) write(ctx context.Context, send func(*store.Tx, a2a.Envelope) (AgentMessage, error)) (AgentMessage, error) {
	e := a2a.Envelope{From: a.scope.runID, FromName: a.scope.agent}
	if s := store.StepFrom(ctx); s != nil {
		e.MadeBy = s.Step().ID
		if old, err := a.k.exchange.List(ctx, store.MailQuery{MadeBy: e.MadeBy, Limit: 1}); err != nil || len(old) > 0 {
			return first(old), err
		}
	}
	var m AgentMessage
	err := a.k.store.Write(ctx, func(tx *store.Tx) (err error) {
		m, err = send(tx, e)
		return err
	})
	return m, err
}

func first(list []AgentMessage) AgentMessage {
	if len(list) == 0 {
		return AgentMessage{}
	}
	return list[0]
}

// reachable returns the cards that the caller may reach: the person all of them,
// an agent those of its own tree, itself included. A tree stands in one
// conversation.
func (a *A2AAPI) reachable(ctx context.Context) ([]AgentCard, error) {
	cards := a.k.exchange.Cards()
	if a.who.Kind != sys.KindAgent {
		return cards, nil
	}
	root, err := a.k.rootOf(ctx, a.scope.runID)
	if err != nil {
		return nil, err
	}
	out := []AgentCard{}
	for _, c := range cards {
		if c.SessionID != a.scope.sessionID {
			continue
		}
		r, err := a.k.rootOf(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		if r == root {
			out = append(out, c)
		}
	}
	return out, nil
}

// rootOf returns the run at the top of a run's tree.
func (k *Kernel) rootOf(ctx context.Context, id string) (string, error) {
	r, err := k.run(ctx, id)
	if err != nil {
		return "", err
	}
	all, err := k.lineage(ctx, r)
	if err != nil {
		return "", err
	}
	return all[len(all)-1], nil
}

// peer finds the run that the caller means by name and may reach: an id, a pid,
// or the name on a card.
func (a *A2AAPI) peer(ctx context.Context, name string) (Run, error) {
	if name = strings.TrimSpace(name); name == "" {
		return Run{}, sys.Errorf(sys.CodeInvalid, "The message names no agent. Nothing was sent.").WithHint("Action agents lists those that you can reach.")
	}
	id, err := a.k.runID(ctx, name)
	if sys.CodeOf(err) == sys.CodeNotFound {
		id, err = a.named(ctx, name)
	}
	if err != nil {
		return Run{}, err
	}
	r, err := a.k.run(ctx, id)
	if err != nil {
		return Run{}, err
	}
	if a.who.Kind == sys.KindAgent {
		mine, err := a.k.rootOf(ctx, a.scope.runID)
		if err != nil {
			return Run{}, err
		}
		root, err := a.k.rootOf(ctx, id)
		switch {
		case err != nil:
			return Run{}, err
		case id == a.scope.runID:
			return Run{}, sys.Errorf(sys.CodeInvalid, "That is this agent itself. Nothing was sent.")
		case root != mine || r.SessionID != a.scope.sessionID:
			return Run{}, sys.Errorf(sys.CodeForbidden, "%s does not belong to the agents that work on this. Nothing was sent.", name).
				WithHint("Action agents lists those that you can reach.")
		}
	} else if !r.State.Ended() && !a.k.runs.Live(id) {
		return Run{}, sys.Errorf(sys.CodeConflict, "Nobody works on that run, so it would not read the message. Nothing was sent.").WithHint("`oxios ps` lists those that are at work.")
	}
	return r, nil
}

// named finds a live agent by the name on its card.
func (a *A2AAPI) named(ctx context.Context, name string) (string, error) {
	cards, err := a.reachable(ctx)
	if err != nil {
		return "", err
	}
	var found []AgentCard
	for _, c := range cards {
		if strings.EqualFold(c.Name, name) && c.ID != a.scope.runID {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return "", sys.Errorf(sys.CodeNotFound, "There is no agent %q at work that could be reached. Nothing was sent.", name).WithHint("Action agents lists those that you can reach.")
	case 1:
		return found[0].ID, nil
	}
	return "", sys.Errorf(sys.CodeInvalid, "%d agents have the name %q. Nothing was sent.", len(found), name).WithHint("Name it by its id.")
}
