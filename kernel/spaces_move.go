package kernel

import (
	"context"
	"slices"
	"strings"

	"oxios/kernel/event"
	"oxios/kernel/space"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// SpaceProposal is something that the person may want for a conversation or for
// two spaces. It is never done unasked.
type SpaceProposal struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`              // move, new or merge
	Session string   `json:"session,omitempty"` // the conversation that it is about
	From    string   `json:"from,omitempty"`    // the space that would be merged
	Space   string   `json:"space,omitempty"`   // the space that it would be in
	Name    string   `json:"name"`              // of that space, or of the new one
	Words   []string `json:"words"`             // that told
	Text    string   `json:"text"`
	TextKO  string   `json:"text_ko,omitempty"`
}

// What a proposal can be beside those of [space.Proposal].
const proposeMerge = "merge"

// What is looked at of a conversation.
const (
	recentTexts  = 6  // its last messages, for a change of topic
	teachTexts   = 20 // its last messages, for what a correction teaches
	taughtWords  = 12
	fewSessions  = 5 // a space with fewer conversations may be merged
	seldomMerges = 10
)

// Move puts conversations into another space, with what is remembered of them,
// and learns from it: their words count for that space from then on.
func (a *SpaceAPI) Move(ctx context.Context, sessions []string, to string) ([]Session, error) {
	return guard(ctx, a.caller, action{call: "space.move", resource: "space:" + to, meta: map[string]any{"sessions": sessions}}, func(ctx context.Context) ([]Session, error) {
		if len(sessions) == 0 {
			return nil, sys.Errorf(sys.CodeInvalid, "There is no conversation to move. Nothing was changed.")
		}
		in, err := a.k.findSpace(ctx, to)
		if err == nil {
			err = a.k.moveSessions(ctx, sessions, in.ID)
		}
		if err != nil {
			return nil, err
		}
		out := make([]Session, len(sessions))
		for i, id := range sessions {
			if out[i], err = a.k.store.Session(ctx, id); err != nil {
				return nil, err
			}
			out[i] = a.k.overSession(out[i])
			out[i].Folder = shortenHome(out[i].Folder)
		}
		return out, nil
	})
}

// moveSessions moves all of the conversations or none. A proposal to move them
// back is not made.
func (k *Kernel) moveSessions(ctx context.Context, sessions []string, to string) error {
	if _, err := k.openSpace(ctx, to); err != nil {
		return err
	}
	touched := []string{to}
	var moved []string
	err := k.store.Write(ctx, func(tx *store.Tx) error {
		touched, moved = touched[:1], moved[:0]
		for _, id := range sessions {
			from, err := k.store.MoveSession(tx, id, to, space.WhyPerson)
			if err != nil {
				return err
			}
			if moved = append(moved, id); from.Space == to {
				continue
			}
			touched = append(touched, from.Space)
			said, err := k.store.Said(tx, id, teachTexts)
			if err != nil {
				return err
			}
			words := space.Telling(said, taughtWords)
			if err := k.store.TeachSpace(tx, to, words, 1); err != nil {
				return err
			}
			if err := k.store.TeachSpace(tx, from.Space, words, -1); err != nil {
				return err
			}
			if err := k.store.DeclineProposal(tx, moveID(id, from.Space), k.clock.Now()); err != nil {
				return err
			}
		}
		k.memories.Moved(tx)
		return nil
	})
	if err != nil {
		return err
	}
	k.movedTo(ctx, to, moved, touched)
	return nil
}

// movedTo tells agents and faces that conversations are in another space.
func (k *Kernel) movedTo(ctx context.Context, to string, sessions, touched []string) {
	k.runs.inSpace(to, sessions...)
	k.topics.forget(touched...)
	for _, id := range sessions {
		k.retellSession(ctx, id)
	}
	moved := event.ChangeOf(event.Moved, "", sessions...)
	moved.Into = to
	k.publishSpaces(moved)
	k.publishMemory(scope{}, moved)
}

func moveID(session, to string) string { return space.ProposeMove + ":" + session + ":" + to }

// Proposals returns what the last messages of a conversation suggest: another
// space that there is, or a new one. For "" it returns the spaces that could be
// merged.
func (a *SpaceAPI) Proposals(ctx context.Context, session string) ([]SpaceProposal, error) {
	return guard(ctx, a.caller, action{call: "space.proposals", resource: "spaces"}, func(ctx context.Context) ([]SpaceProposal, error) {
		if session == "" {
			return a.k.mergeable(ctx)
		}
		return a.k.proposals(ctx, session)
	})
}

func (k *Kernel) proposals(ctx context.Context, session string) ([]SpaceProposal, error) {
	out := []SpaceProposal{}
	s, err := k.store.Session(ctx, session)
	if err != nil {
		return out, err
	}
	var said []string
	err = k.store.Read(ctx, func(tx *store.Tx) error {
		said, err = k.store.Said(tx, session, recentTexts)
		return err
	})
	if err != nil || len(said) < 3 {
		return out, err
	}
	declined, err := k.store.Declined(ctx)
	if err != nil {
		return out, err
	}
	all, err := k.knownSpaces(ctx, session)
	if err != nil {
		return out, err
	}
	found, ok := space.Shift(s.Space, said, all)
	if !ok {
		return out, nil
	}
	p := SpaceProposal{ID: moveID(session, found.Space), Kind: found.Kind, Session: session, Space: found.Space, Name: found.Name, Words: found.Words}
	var text sys.Words
	if found.Kind == space.ProposeMove {
		in, err := k.spaceByID(ctx, found.Space)
		if err != nil {
			return out, err
		}
		p.Name, text = in.Name, sys.Say("The last messages fit the space %q. Move this conversation there?", in.Name)
	} else {
		p.ID, text = space.ProposeNew+":"+session, sys.Say("The last messages fit no space. Make the space %q for this conversation?", found.Name)
	}
	p.Text, p.TextKO = text.EN, text.KO
	if !declined[p.ID] {
		out = append(out, p)
	}
	return out, nil
}

// mergeable returns pairs of spaces that share a path, where one of them has few
// conversations.
func (k *Kernel) mergeable(ctx context.Context) ([]SpaceProposal, error) {
	out := []SpaceProposal{}
	all, err := k.store.Spaces(ctx)
	if err != nil {
		return out, err
	}
	declined, err := k.store.Declined(ctx)
	if err != nil {
		return out, err
	}
	all = slices.DeleteFunc(all, func(s SpaceInfo) bool { return s.ArchivedAt != nil })
	slices.SortFunc(all, func(a, b SpaceInfo) int { return strings.Compare(a.ID, b.ID) })
	for i, into := range all {
		for _, from := range all[i+1:] {
			shared := sharedPath(into, from)
			if from.Sessions > into.Sessions {
				from, into = into, from
			}
			id := proposeMerge + ":" + from.ID + ":" + into.ID
			if shared == "" || from.Sessions >= fewSessions || declined[id] || len(out) == seldomMerges {
				continue
			}
			text := sys.Say("The spaces %q and %q share %s. Merge the first, with %d conversations, into the second?", from.Name, into.Name, shortenHome(shared), from.Sessions)
			out = append(out, SpaceProposal{ID: id, Kind: proposeMerge, From: from.ID, Space: into.ID, Name: into.Name, Words: []string{shortenHome(shared)}, Text: text.EN, TextKO: text.KO})
		}
	}
	return out, nil
}

// sharedPath returns a path that both spaces have, or "".
func sharedPath(a, b SpaceInfo) string {
	for _, p := range append([]string{a.Folder}, a.Paths...) {
		if p != "" && (p == b.Folder || slices.Contains(b.Paths, p)) {
			return p
		}
	}
	return ""
}

// AnswerProposal carries a proposal out, or sees to it that it is not made
// again. name is that of a new space; "" takes the proposed one. It returns the
// id of the space that came of it.
func (a *SpaceAPI) AnswerProposal(ctx context.Context, id string, yes bool, name string) (string, error) {
	return guard(ctx, a.caller, action{call: "space.answerProposal", resource: "spaces", meta: map[string]any{"proposal": id, "yes": yes}}, func(ctx context.Context) (string, error) {
		p, err := a.k.proposal(ctx, id)
		if err != nil {
			return "", err
		}
		if !yes {
			err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.DeclineProposal(tx, p.ID, a.k.clock.Now()) })
			a.k.publishSpaces(event.ChangeOf(event.Declined, "", p.ID))
			return "", err
		}
		switch p.Kind {
		case proposeMerge:
			_, err := a.k.mergeSpaces(ctx, p.From, p.Space)
			return p.Space, err
		case space.ProposeMove:
			return p.Space, a.k.moveSessions(ctx, []string{p.Session}, p.Space)
		}
		if name == "" {
			name = p.Name
		}
		made, err := a.k.createSpace(ctx, SpaceInput{Name: name, Words: p.Words})
		if err != nil {
			return "", err
		}
		return made.ID, a.k.moveSessions(ctx, []string{p.Session}, made.ID)
	})
}

// proposal finds one that stands.
func (k *Kernel) proposal(ctx context.Context, id string) (SpaceProposal, error) {
	kind, rest, _ := strings.Cut(id, ":")
	session, _, _ := strings.Cut(rest, ":")
	var all []SpaceProposal
	var err error
	if kind == proposeMerge {
		all, err = k.mergeable(ctx)
	} else if all, err = k.proposals(ctx, session); sys.CodeOf(err) == sys.CodeNotFound {
		err = nil
	}
	if err != nil {
		return SpaceProposal{}, err
	}
	if i := slices.IndexFunc(all, func(p SpaceProposal) bool { return p.ID == id }); i >= 0 {
		return all[i], nil
	}
	return SpaceProposal{}, sys.Errorf(sys.CodeNotFound, "There is no proposal %q, or it holds no longer. Nothing was changed.", id).WithHint("`oxios spaces proposals` shows those that there are.")
}
