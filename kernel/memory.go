package kernel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/memory"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of memories live in memory.
type (
	Memory      = memory.Memory
	MemoryFound = memory.Found
	MemoryStats = memory.Stats
	MemoryUse   = memory.Use
)

// MemoryQuery selects memories: those that are pinned, then the newest first.
type MemoryQuery struct {
	Space    string `json:"space,omitempty"` // "" is the default one
	Every    bool   `json:"every,omitempty"` // of all spaces; only the person sees them
	Kind     string `json:"kind,omitempty"`  // fact, episode, session or conversation; "" for all
	Source   string `json:"source,omitempty"`
	Pinned   bool   `json:"pinned,omitempty"`
	Replaced bool   `json:"replaced,omitempty"` // those that newer ones replaced, instead of those that hold
	RunID    string `json:"run_id,omitempty"`   // those that a run was given or looked up, of whichever space
	Thread   string `json:"thread,omitempty"`   // those that stand in this conversation, of whichever space; only the person sees them
	Limit    int    `json:"limit,omitempty"`    // 100 by default, at most 1000
	Before   string `json:"before,omitempty"`   // a memory's id: only what stands behind it
}

// MemorySearch is what to look for among memories.
type MemorySearch struct {
	Text  string  `json:"text"`
	Space string  `json:"space,omitempty"` // "" is the default one; an agent has that of its conversation
	Kind  string  `json:"kind,omitempty"`
	K     int     `json:"k,omitempty"`     // 10 by default, at most 1000
	Least float64 `json:"least,omitempty"` // the share of what was asked for, 0 to 1, that must stand in a memory
	Said  bool    `json:"said,omitempty"`  // also what was said in the space's conversations in the last seven days; their ids are those of messages
}

// MemoryLeast is the share of a question that faces and agents want to see in
// what a search shows; less is chance.
const MemoryLeast = 0.12

// MemoryInput is something to be remembered.
type MemoryInput struct {
	Text  string `json:"text"`
	Kind  string `json:"kind,omitempty"` // fact (the default) or episode
	Key   string `json:"key,omitempty"`  // what a fact is about: it replaces the one about the same
	Space string `json:"space,omitempty"`
}

// MemoryPatch changes what is not null.
type MemoryPatch struct {
	Text   *string `json:"text,omitempty"`
	Key    *string `json:"key,omitempty"`
	Pinned *bool   `json:"pinned,omitempty"`
	Space  *string `json:"space,omitempty"`
}

// MemoryView is a memory with where it comes from and what it replaced.
type MemoryView struct {
	Memory  Memory      `json:"memory"`
	History []Memory    `json:"history"` // what it replaced, the newest first
	Session string      `json:"session"` // the title of its conversation; "" without one
	Quote   string      `json:"quote"`   // the person's own words that it was taken from; "" where they are not known, and for agents
	UsedIn  []MemoryUse `json:"used_in"` // conversations whose runs it was given to or that looked it up, the newest first, at most 20
}

// MemoryForgotten says what forgetting took away, and what remains of it.
type MemoryForgotten struct {
	Count     int      `json:"count"`
	Summaries int      `json:"summaries"` // of the conversations that they came from: a summary may say the same, so it goes with them
	Still     []Memory `json:"still"`     // other memories that seem to say it too; they stay

	Copies []string `json:"copies"` // copies of the database in the home, made before; they still hold it
}

// List returns memories. An agent sees those of its conversation's space.
func (a *MemoryAPI) List(ctx context.Context, q MemoryQuery) ([]Memory, error) {
	return guard(ctx, a.caller, a.reading("memory.list"), func(ctx context.Context) ([]Memory, error) {
		if a.who.Kind == sys.KindAgent {
			q.Space, q.Every, q.Thread = a.space(), false, ""
			if q.RunID != "" {
				q.RunID = a.scope.runID
			}
		}
		// What a run was given or a conversation brought may be of several spaces; an agent sees its own.
		every := q.Every || a.who.Kind != sys.KindAgent && (q.RunID != "" || q.Thread != "")
		all, err := a.k.memories.List(ctx, memory.Query{
			Space: q.Space, Every: every, Kind: q.Kind, Source: q.Source, Pinned: q.Pinned, Replaced: q.Replaced, Run: q.RunID, Thread: q.Thread, Limit: q.Limit, Before: q.Before,
		})
		if err != nil {
			return nil, err
		}
		return all, a.used(ctx, each(all, func(m Memory) string { return m.ID }))
	})
}

// Get returns a memory with its history, by its id or the end of one that
// names it alone.
func (a *MemoryAPI) Get(ctx context.Context, id string) (MemoryView, error) {
	return guard(ctx, a.caller, a.reading("memory.get"), func(ctx context.Context) (MemoryView, error) {
		m, err := a.find(ctx, id)
		if err != nil {
			return MemoryView{}, err
		}
		v := MemoryView{Memory: m}
		if v.History, err = a.k.memories.History(ctx, m.ID); err != nil {
			return v, err
		}
		if s, err := a.k.store.Session(ctx, m.Thread); err == nil {
			v.Session = s.Title
		}
		v.UsedIn = []MemoryUse{}
		if a.who.Kind != sys.KindAgent { // what other conversations are called is not an agent's to know
			if v.UsedIn, err = a.k.memories.UsedIn(ctx, m.ID); err != nil {
				return v, err
			}
			if v.Quote, err = a.k.memories.Quote(ctx, m.ID); err != nil {
				return v, err
			}
		}
		return v, a.used(ctx, []string{m.ID})
	})
}

// space is where an agent's conversation is now: the person may have moved it
// since the agent began.
func (a *MemoryAPI) space() string {
	if live := a.k.runs.of(a.scope.runID); live.scope.runID != "" {
		return live.scope.space
	}
	return a.scope.space
}

// find returns the one memory that id, or an end of it, names and the caller
// may see.
func (a *MemoryAPI) find(ctx context.Context, id string) (Memory, error) {
	m, err := a.k.memories.Get(ctx, id)
	if sys.CodeOf(err) == sys.CodeNotFound && len(id) >= 4 {
		var all []Memory
		if all, err = a.k.memories.Find(ctx, id); err == nil && len(all) != 1 {
			_, err = a.k.memories.Get(ctx, id)
		} else if err == nil {
			m = all[0]
		}
	}
	if err == nil && a.who.Kind == sys.KindAgent && m.Space != a.space() {
		_, err = a.k.memories.Get(ctx, "")
		return Memory{}, err // to an agent those of other spaces do not exist
	}
	return m, err
}

// Search returns the memories of a space that fit best, the best first.
func (a *MemoryAPI) Search(ctx context.Context, s MemorySearch) ([]MemoryFound, error) {
	var said []MemoryFound
	act := a.reading("memory.search")
	if read := act.brought; read != nil {
		act.brought = func(ctx context.Context) (Labels, error) {
			labels, err := read(ctx)
			more, serr := a.k.saidLabels(ctx, said)
			return labels.Join(more), errors.Join(err, serr)
		}
	}
	return guard(ctx, a.caller, act, func(ctx context.Context) ([]MemoryFound, error) {
		if a.who.Kind == sys.KindAgent {
			s.Space = a.space()
		}
		if len(s.Text) > 4000 {
			return nil, sys.Errorf(sys.CodeTooLarge, "What to look for has over 4000 characters.").WithHint("Ask with a few words.")
		}
		found, err := a.k.memories.Search(ctx, memory.Search{Space: s.Space, Text: s.Text, Kind: s.Kind, K: s.K})
		if err != nil {
			return nil, err
		}
		spoken, err := a.spoken(ctx, s)
		if err != nil {
			return nil, err
		}
		short := func(f MemoryFound) bool { return f.Cover < s.Least }
		found, spoken = slices.DeleteFunc(found, short), slices.DeleteFunc(spoken, short)
		all := memory.Together(found, spoken, s.K)
		ids := []string{}
		said = said[:0]
		for _, f := range all {
			if slices.ContainsFunc(spoken, func(o MemoryFound) bool { return o.ID == f.ID }) {
				said = append(said, f)
			} else {
				ids = append(ids, f.ID)
			}
		}
		return all, a.used(ctx, ids)
	})
}

// spoken looks in the conversations of a space, if that is wanted; an agent's own
// one is before its eyes.
func (a *MemoryAPI) spoken(ctx context.Context, s MemorySearch) ([]MemoryFound, error) {
	if !s.Said || !a.k.config.get().Memory || s.Kind != "" && s.Kind != memory.KindConversation {
		return nil, nil
	}
	return a.k.memories.SearchSaid(ctx, memory.SaidSearch{Space: s.Space, Text: s.Text, Except: a.scope.sessionID, K: min(cmp.Or(s.K, 10), 1000)})
}

// saidLabels are the labels of what was said: whatever the runs of those messages
// had read, and that it should stay on this machine.
func (k *Kernel) saidLabels(ctx context.Context, said []MemoryFound) (Labels, error) {
	if len(said) == 0 {
		return nil, nil
	}
	labels, err := k.labelsOf(ctx, each(said, func(f MemoryFound) string { return f.RunID })...)
	return privateLabel().Join(labels), err
}

// SearchMany answers many searches at once with the ids of what fits, in their
// order.
func (a *MemoryAPI) SearchMany(ctx context.Context, all []MemorySearch) ([][]string, error) {
	return guard(ctx, a.caller, a.reading("memory.searchMany"), func(ctx context.Context) ([][]string, error) {
		out := make([][]string, len(all))
		for i, s := range all {
			found, err := a.k.memories.SearchIDs(ctx, memory.Search{Space: s.Space, Text: s.Text, Kind: s.Kind, K: s.K})
			if err != nil {
				return nil, err
			}
			out[i] = []string{}
			for _, f := range found {
				if f.Cover >= s.Least {
					out[i] = append(out[i], f.ID)
				}
			}
		}
		return out, nil
	})
}

// reading is a call that reads memories: an agent's run then carries where they
// come from.
func (a *MemoryAPI) reading(call string) action {
	act := action{call: call, resource: "memory", effect: security.EffectRead}
	if a.who.Kind == sys.KindAgent {
		act.brought = func(ctx context.Context) (Labels, error) {
			return a.k.memoryLabels(ctx, a.scope.runID)
		}
	}
	return act
}

// each returns what id gives for each of all, in their order.
func each[T any](all []T, id func(T) string) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = id(v)
	}
	return out
}

// used notes what an agent looked up: its run carries from then on where that
// comes from.
func (a *MemoryAPI) used(ctx context.Context, ids []string) error {
	if a.scope.runID == "" || len(ids) == 0 {
		return nil
	}
	err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.memories.Used(tx, a.scope.runID, ids, a.k.clock.Now()) })
	if err == nil {
		a.k.publish(event.MemoryRecalled, a.scope, event.ChangeOf(event.Recalled, a.space(), ids...))
	}
	return err
}

// memoryLabels are the labels of the memories that a run used: what their agents
// had read, and that facts about the person should stay on this machine.
func (k *Kernel) memoryLabels(ctx context.Context, runID string) (Labels, error) {
	used, read, err := k.memories.LabelsOf(ctx, runID)
	if err != nil || !used {
		return nil, err
	}
	return privateLabel().Join(read), nil
}

// privateLabel is what all that is remembered of the person carries.
func privateLabel() Labels {
	return Labels{store.NewLabel(Label{Origin: store.LabelMemory, Sensitive: true, Name: "memory"}, "memory", sys.Say("what Oxios remembers of you"))}
}

// Remember keeps a fact or an episode. What is remembered already is not kept
// twice; a fact with a key replaces the one about the same.
func (a *MemoryAPI) Remember(ctx context.Context, in MemoryInput) (Memory, error) {
	in.Kind = cmp.Or(in.Kind, memory.KindFact)
	n := memory.New{Space: in.Space, Kind: in.Kind, Text: in.Text, Key: in.Key, Source: memory.FromPerson}
	if a.who.Kind == sys.KindAgent {
		in.Text, in.Key = a.k.forGood(in.Text), a.k.forGood(in.Key)
		n.Text, n.Key = in.Text, in.Key
		n.Space, n.Source, n.Thread, n.RunID = a.space(), memory.FromAgent, a.scope.sessionID, a.scope.runID
	}
	act := action{call: "memory.remember", resource: "memory", effect: security.EffectRead, subject: in, meta: map[string]any{"kind": in.Kind, "bytes": len(in.Text)}}
	act.card = handing(sys.Say("Remembers: %s", sys.Shorten(in.Text, 200)), in.Text)
	return guard(ctx, a.caller, act, func(ctx context.Context) (Memory, error) {
		if in.Kind != memory.KindFact && in.Kind != memory.KindEpisode {
			return Memory{}, sys.Errorf(sys.CodeInvalid, "What is remembered is a fact or an episode, not %q. Nothing was kept.", in.Kind)
		}
		if err := a.k.spaceExists(ctx, n.Space); err != nil {
			return Memory{}, err
		}
		if a.who.Kind == sys.KindAgent {
			labels, err := a.k.labelsOf(ctx, a.scope.runID)
			if err != nil {
				return Memory{}, err
			}
			n.Labels = slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Origin == store.LabelMemory })
		}
		m, err := a.k.memories.Remember(ctx, n)
		if err == nil {
			a.k.publishMemory(a.scope, event.ChangeOf(event.Stored, m.Space, m.ID))
		}
		return m, err
	})
}

// Update changes a memory's text, key or space, or pins it. The text that it had
// stays as its history.
func (a *MemoryAPI) Update(ctx context.Context, id string, p MemoryPatch) (Memory, error) {
	return guard(ctx, a.caller, action{call: "memory.update", resource: "memory:" + id}, func(ctx context.Context) (Memory, error) {
		m, err := a.find(ctx, id)
		if err != nil {
			return m, err
		}
		if p.Space != nil {
			if err := a.k.spaceExists(ctx, *p.Space); err != nil {
				return m, err
			}
		}
		m, err = a.k.memories.Update(ctx, m.ID, memory.Patch(p))
		if err == nil {
			a.k.publishMemory(a.scope, event.ChangeOf(event.Edited, m.Space, m.ID))
		}
		return m, err
	})
}

// Forget deletes memories for good, with their history and the notes of where
// they were used: from the index and from the database, where they are
// overwritten. The summary of the conversation that one came from goes with it.
func (a *MemoryAPI) Forget(ctx context.Context, ids []string) (MemoryForgotten, error) {
	return guard(ctx, a.caller, action{call: "memory.forget", resource: "memory", meta: map[string]any{"count": len(ids)}}, func(ctx context.Context) (MemoryForgotten, error) {
		out := MemoryForgotten{Copies: []string{}, Still: []Memory{}}
		var whole []string
		var gone []Memory
		for _, id := range ids {
			m, err := a.find(ctx, id)
			if err != nil {
				return out, err
			}
			whole, gone = append(whole, m.ID), append(gone, m)
		}
		summaries, err := a.k.summariesOf(ctx, gone)
		if err != nil {
			return out, err
		}
		if out.Count, err = a.k.memories.Forget(ctx, whole...); err != nil {
			return out, err
		}
		if out.Summaries, err = a.k.memories.Forget(ctx, summaries...); err != nil {
			return out, err
		}
		if out.Still, err = a.k.stillSaid(ctx, gone); err != nil {
			return out, err
		}
		for _, path := range a.k.copies() {
			out.Copies = append(out.Copies, shortenHome(path))
		}
		did := event.ChangeOf(event.Forgotten, "", append(whole, summaries...)...)
		did.Count = out.Count + out.Summaries
		a.k.publishMemory(a.scope, did)
		return out, nil
	})
}

// Stats counts what is remembered.
func (a *MemoryAPI) Stats(ctx context.Context) (MemoryStats, error) {
	return guard(ctx, a.caller, action{call: "memory.stats", resource: "memory"}, func(ctx context.Context) (MemoryStats, error) {
		return a.k.memories.Stats(ctx)
	})
}

// Rebuild builds the index anew from the database.
func (a *MemoryAPI) Rebuild(ctx context.Context) error {
	_, err := guard(ctx, a.caller, action{call: "memory.rebuild", resource: "memory"}, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, a.k.memories.Rebuild(ctx)
	})
	return err
}

// publishMemory tells that what is remembered changed, and in what way.
func (k *Kernel) publishMemory(by scope, did event.Change) { k.publish(event.MemoryChanged, by, did) }

// restMemory drops indexes that nobody has used for a while.
func (k *Kernel) restMemory(ctx context.Context) error {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			k.memories.Rest()
		}
	}
}
