package kernel

import (
	"context"
	"strings"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// queueOf names the queue of a run: the conversation's, "", or for a fork one of
// its own.
func queueOf(r Run) string {
	if r.ParentID == "" {
		return ""
	}
	return r.ID
}

// enqueue keeps a message for a run that is at work. What is said to an agent
// that another one has forked is for that agent alone.
func (k *Kernel) enqueue(ctx context.Context, s Session, to Run, m Submit, attached []Attachment) (Submitted, error) {
	if len(attached) > 0 {
		choice, err := k.engine.choose(ctx, s.Provider, s.Model)
		if err == nil {
			err = k.canSee(ctx, choice, attached)
		}
		if err != nil {
			return Submitted{}, err
		}
	}
	q := Queued{ID: sys.NewID(), SessionID: s.ID, RunID: queueOf(to), Text: m.Text, CreatedAt: k.clock.Now(), Attachments: attached, Pasted: m.Pasted}
	if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.store.Enqueue(tx, &q) }); err != nil {
		return Submitted{}, err
	}
	k.publishQueue(ctx, s.ID)
	// The run may have ended between the look and the write: then nobody else
	// would take the message up.
	if to.ParentID == "" && !k.runs.Live(to.ID) {
		k.startQueued(s.ID)
	}
	return Submitted{RunID: to.ID, SessionID: s.ID, Queued: true, QueueID: q.ID}, nil
}

// oneParagraph is what some messages say, on one line.
func oneParagraph(list []store.Queued) string {
	var words []string
	for _, q := range list {
		words = append(words, strings.Fields(q.Text)...)
	}
	return strings.Join(words, " ")
}

// viaQueue is the face of messages that came too late for the run before.
const viaQueue = "queue"

// startQueued starts a run for messages that came too late for the last one.
func (k *Kernel) startQueued(session string) {
	ctx := k.background
	q, err := k.store.Queued(ctx, session, "")
	if err != nil || len(q) == 0 {
		return
	}
	var attached []string
	var said spoken
	err = k.store.Write(ctx, func(tx *store.Tx) (err error) {
		said, attached = spoken{}, nil
		q, err = k.store.TakeQueued(tx, session, "", 0)
		for _, m := range q {
			said.add(m.Text, m.Pasted)
			attached = append(attached, idsOf(m.Attachments)...)
		}
		return err
	})
	if err == nil && len(q) == 0 {
		return
	}
	if err != nil {
		k.log.Warn("Could not take up queued messages", "session_id", session, "error", err)
		return
	}
	k.publishQueue(ctx, session)
	if _, err := k.submit(ctx, Submit{SessionID: session, Text: said.text, Pasted: said.pasted, Attachments: attached, Via: viaQueue}, scope{}); err != nil {
		k.log.Error("Could not start a run for queued messages", "session_id", session, "error", err)
		k.raise(sys.AsError(err))
		k.putBack(ctx, q)
	}
}

// putBack queues messages again of which no run could be made: the person takes
// them back, or they go out with the next one.
func (k *Kernel) putBack(ctx context.Context, q []store.Queued) {
	err := k.store.Write(ctx, func(tx *store.Tx) error {
		for i := range q {
			if err := k.store.Enqueue(tx, &q[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		k.log.Error("Could not keep queued messages", "error", err)
		return
	}
	k.publishQueue(ctx, q[0].SessionID)
}
