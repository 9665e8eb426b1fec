package kernel

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Event is one thing that happened; package event lists the kinds.
type Event = event.Event

// EventQuery selects events that have happened.
type EventQuery struct {
	After uint64   `json:"after,omitempty"`  // only what came after the event with this number
	Kinds []string `json:"kinds,omitempty"`  // only these; "run" stands for all that begin with it and a dot. Pieces of an answer come only when asked for
	RunID string   `json:"run_id,omitempty"` // only of this run, by its id or pid
	Limit int      `json:"limit,omitempty"`  // the newest so many; 50 by default, at most 1000
}

// Events follows what happens, from the event after the one numbered from; 0
// means from now on. A reader that falls behind gets an event of kind gap. An
// agent sees its own run only. The channel is closed when ctx ends.
func (a *InfraAPI) Events(ctx context.Context, from uint64) (<-chan Event, error) {
	return guard(ctx, a.caller, action{call: "infra.events", resource: "events"}, func(ctx context.Context) (<-chan Event, error) {
		var keep func(Event) bool
		if a.who.Kind == sys.KindAgent {
			keep = func(e Event) bool { return e.RunID == a.who.ID }
		}
		return a.k.bus.Read(from, keep).Chan(ctx), nil
	})
}

// RecentEvents returns what has happened since this Oxios started, as far as
// it is kept, the oldest first. An agent sees its own run and those that it has
// forked, each event in a line instead of its data, and carries from then on
// what those had read.
func (a *InfraAPI) RecentEvents(ctx context.Context, q EventQuery) ([]Event, error) {
	var told []Event
	act := action{call: "infra.recentEvents", resource: "events", effect: security.EffectRead}
	if a.who.Kind == sys.KindAgent {
		act.brought = a.wordsOf(func() (ids []string) {
			for _, e := range told {
				if !slices.Contains(ids, e.RunID) {
					ids = append(ids, e.RunID)
				}
			}
			return ids
		})
	}
	return guard(ctx, a.caller, act, func(ctx context.Context) ([]Event, error) {
		of := map[string]bool{} // the runs to tell of; empty for all
		if a.who.Kind == sys.KindAgent {
			list, err := a.k.store.Runs(ctx, store.RunQuery{SessionID: a.scope.sessionID, Limit: 1000})
			if err != nil {
				return nil, err
			}
			of[a.who.ID] = true
			for _, r := range family(list, a.who.ID) {
				of[r.ID] = true
			}
		}
		if q.RunID != "" {
			id, err := (&AgentsAPI{a.caller}).reach(ctx, q.RunID)
			if err != nil {
				return nil, err
			}
			of = map[string]bool{id: true}
		}
		if q.Limit <= 0 {
			q.Limit = 50
		}
		told = a.k.bus.Past(q.After, min(q.Limit, 1000), func(e Event) bool {
			return (len(of) == 0 || of[e.RunID]) && q.Wants(e.Kind)
		})
		if a.who.Kind == sys.KindAgent {
			for i := range told {
				told[i].Data = event.Text{Text: sys.Shorten(a.k.masked(EventText(told[i]).EN), 300)}
			}
		}
		return told, nil
	})
}

// Wants reports whether a query is for events of a kind.
func (q EventQuery) Wants(kind string) bool {
	if len(q.Kinds) == 0 {
		return !event.IsStream(kind)
	}
	return slices.ContainsFunc(q.Kinds, func(k string) bool { return k == kind || strings.HasPrefix(kind, k+".") })
}

// EventText says in a line what an event is about: names, and the words of the
// kernel for what was done. "" where its kind says all. It reads events of this
// process and those that came over a socket.
func EventText(e Event) sys.Words {
	same := func(parts ...string) sys.Words {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		line := strings.Join(strings.Fields(strings.Join(parts, " · ")), " ")
		return sys.Words{EN: line, KO: line}
	}
	if t, ok := e.Data.(event.Text); ok { // as an agent gets it, of whichever kind
		return sys.Words{EN: same(t.Text).EN, KO: same(cmp.Or(t.TextKO, t.Text)).KO}
	}
	switch e.Kind {
	case event.RunCreated, event.RunStarted, event.RunState, event.RunEnded, event.GroupMember:
		r, _ := event.As[Run](e)
		return same(r.Name, string(r.State))
	case event.StepChanged:
		s, _ := event.As[agent.StepView](e)
		state := string(s.State)
		if s.Outcome != "" {
			state = s.Outcome
		}
		w := same(string(s.Kind), s.Name, s.Title, state)
		if s.TitleKO != "" {
			w.KO = same(string(s.Kind), s.Name, s.TitleKO, state).KO
		}
		return w
	case event.ApprovalChange:
		a, _ := event.As[Approval](e)
		return sys.Words{EN: same(a.Request.Title, string(a.State)).EN, KO: same(a.Request.TitleKO, string(a.State)).KO}
	case event.PhaseStarted, event.PhaseCompleted:
		p, _ := event.As[event.Phase](e)
		return same(p.Phase, p.Seed)
	case event.MemoryChanged, event.MemoryRecalled, event.MemoryElsewhere, event.SpaceChanged, event.SpaceActivated, event.InboxChanged:
		c, _ := event.As[event.Change](e)
		ids := strings.Join(c.IDs, " ")
		if c.Into != "" {
			ids += " → " + c.Into
		}
		return same(c.Did, ids)
	case event.SeedChanged:
		s, _ := event.As[SeedInfo](e)
		return same(s.Goal, string(s.State))
	case event.ChangeMade:
		c, _ := event.As[ChangeSummary](e)
		return same(c.Path, c.Kind)
	case event.JobChanged:
		j, _ := event.As[Job](e)
		return same(j.Command, j.End)
	case event.AgentMessage: // what it says is read where it is answered
		m, _ := event.As[AgentMessage](e)
		return same(m.FromName+" → "+m.ToName, m.State)
	case event.MessageAdded:
		m, _ := event.As[Message](e)
		return same(m.Role)
	case event.Problem:
		p, ok := event.As[*sys.Error](e)
		if v, plain := event.As[sys.Error](e); plain {
			p, ok = &v, true
		}
		if ok && p != nil {
			return sys.TextOf(p)
		}
	case event.Gap:
		m, _ := event.As[event.Missed](e)
		return same(strconv.FormatUint(m.Missed, 10))
	case event.RunText, event.RunReasoning, event.RunTool, event.RunRetry, event.RunModel, event.VaultSwitched, event.SessionDeleted:
		t, _ := event.As[event.Text](e)
		return sys.Words{EN: same(t.Text).EN, KO: same(cmp.Or(t.TextKO, t.Text)).KO}
	}
	return sys.Words{}
}
