package kernel

import (
	"context"
	"slices"
	"strings"
	"time"

	"oxios/kernel/memory"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// keepAnswer keeps what a model found, how far it came and what it cost, in one
// transaction: a crash before it leaves nothing of the answer, and one after it
// all. An answer that cannot be used is recorded; the same messages are asked
// about once more at most.
func (k *Kernel) keepAnswer(ctx context.Context, u unread, x memory.Extraction, a memory.Answer, bad error, labels Labels, cost store.Cost) (out MemoryExtracted, err error) {
	err = k.store.Write(ctx, func(tx *store.Tx) error {
		out = MemoryExtracted{SessionID: u.session.ID, Title: u.session.Title, Outcome: memory.OutcomeBad, Memories: []Memory{}, More: !u.whole}
		x.At = k.clock.Now()
		if bad == nil {
			if err := k.keepFound(tx, u, a, labels, &out); err != nil {
				return err
			}
			out.Outcome = memory.OutcomeNothing
			if len(out.Memories) > 0 {
				out.Outcome = memory.OutcomeOK
			}
		}
		if x.Outcome = out.Outcome; bad == nil || x.Attempts >= memory.MaxAttempts {
			x.Through, x.Tried, x.Attempts = u.through, "", 0
		}
		if err := k.memories.SetExtraction(tx, x); err != nil {
			return err
		}
		if err := k.store.Spend(tx, store.PurposeMemory, cost); err != nil {
			return err
		}
		call := memory.Call{Session: u.session.ID, Provider: u.provider, Model: u.model, At: x.At, Outcome: out.Outcome, Facts: len(out.Memories), Cost: cost}
		if err := k.memories.AddCall(tx, call); err != nil {
			return err
		}
		meta := map[string]any{"syscall": "memory.extract", "session_id": u.session.ID, "outcome": out.Outcome, "kept": len(out.Memories), "left": out.Left, "labels": recordLabels(labels), "node": k.node}
		if bad != nil {
			meta["problem"] = sys.Shorten(bad.Error(), 300)
		}
		_, err := k.audit.Append(tx, k.newEntry("memory", security.ActionMemoryWrite, "memory", meta))
		return err
	})
	return out, err
}

// keepFound keeps the facts that stand in the person's own words, and the summary.
func (k *Kernel) keepFound(tx *store.Tx, u unread, a memory.Answer, labels Labels, out *MemoryExtracted) error {
	out.Left += a.Unsound
	carried := slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Origin == store.LabelMemory })
	for _, f := range a.Facts {
		said, ok := u.ask.Stands(f.Said)
		n := memory.New{
			Space: u.session.Space, Kind: f.Type, Text: f.Text, Source: memory.FromConversation, Thread: u.session.ID, RunID: u.last, Labels: carried, SaidAt: said,
		}
		if f.Type == memory.KindFact {
			n.Key = strings.ToLower(strings.Join(strings.Fields(f.Key), " "))
		}
		if !k.secret(f.Said) {
			n.Quote = strings.TrimSpace(f.Said)
		}
		if !ok || k.secret(f.Text) || k.secret(n.Key) {
			out.Left++
			continue
		}
		m, kept, err := k.keepFact(tx, u, f, n)
		switch {
		case sys.CodeOf(err) == sys.CodeInvalid || sys.CodeOf(err) == sys.CodeTooLarge: // too long, or no text
			out.Left++
		case err != nil:
			return err
		case !kept:
			out.Left++
		default:
			out.Memories = append(out.Memories, m)
		}
	}
	summary := strings.TrimSpace(sys.Shorten(a.Summary, 2000))
	if summary == "" || k.secret(summary) || summary == u.ask.Summary {
		return nil
	}
	last := u.ask.Said[len(u.ask.Said)-1].At
	n := memory.New{Space: u.session.Space, Kind: memory.KindSession, Text: summary, Source: memory.FromConversation, Thread: u.session.ID, RunID: u.last, Labels: carried, SaidAt: last}
	old, err := k.memories.SummaryIn(tx, u.session.ID)
	if err != nil {
		return err
	}
	m, err := k.memories.ReplaceIn(tx, old.ID, n)
	if err == nil {
		out.Memories = append(out.Memories, m)
	}
	return err
}

// keepFact keeps a fact in the place of the one that it contradicts. What the
// person pinned stays, and nothing that came from outside takes the place of what
// did not.
func (k *Kernel) keepFact(tx *store.Tx, u unread, f memory.AnsweredFact, n memory.New) (Memory, bool, error) {
	var olds []string
	if f.Replaces > 0 && f.Type == memory.KindFact {
		olds = append(olds, u.ask.Known[f.Replaces-1].ID)
	}
	about, ok, err := k.memories.About(tx, n.Space, n.Key)
	if err != nil {
		return Memory{}, false, err
	}
	if ok {
		olds = append(olds, about.ID)
	}
	replaces := ""
	for _, id := range olds {
		old, ok, err := k.memories.Holds(tx, id)
		if err != nil {
			return Memory{}, false, err
		}
		if !ok {
			continue
		}
		if old.Pinned {
			return Memory{}, old.Text == n.Text, nil
		}
		if n.Labels.Untrusted() && !old.Labels.Untrusted() && old.Text != n.Text {
			n.Key = ""
			continue
		}
		replaces = id
	}
	if replaces != "" {
		m, err := k.memories.ReplaceIn(tx, replaces, n)
		return m, true, err
	}
	m, err := k.memories.RememberIn(tx, n)
	return m, true, err
}

// secret reports whether a text has a secret in it, or the mark of one.
func (k *Kernel) secret(text string) bool {
	_, n := k.redact.Redact(text)
	return n > 0 || security.MarkPattern().MatchString(text)
}

// Extract looks through a conversation now, whether or not it rests: "" is for
// all that have something new. It costs a call of the conversation's own model
// for each; the limits hold.
func (a *MemoryAPI) Extract(ctx context.Context, session string) ([]MemoryExtracted, error) {
	act := action{call: "memory.extract", resource: "memory", meta: map[string]any{"limit_of": session}}
	return guard(ctx, a.caller, act, func(ctx context.Context) ([]MemoryExtracted, error) {
		ids := []string{session}
		if session == "" {
			var err error
			now := a.k.clock.Now()
			if ids, err = a.k.memories.Finished(ctx, time.UnixMilli(0), now, 200); err != nil {
				return nil, err
			}
		}
		out := []MemoryExtracted{}
		for _, id := range ids {
			for more := true; more; {
				x, err := a.k.extract(ctx, id)
				if err != nil {
					return out, err
				}
				out = append(out, x)
				more = x.More && x.Outcome != memory.OutcomeBad
			}
		}
		return out, nil
	})
}
