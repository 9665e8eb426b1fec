package kernel

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// unwritten holds the ends of runs that the disk did not take, because it is
// full or gone. Such a run reads as ended at once: whoever looks at it must not
// wait for something that nobody works on. Its end is written as soon as the
// disk takes it; when the process ends before, the run reads as interrupted.
type unwritten struct {
	due chan struct{} // there is something to write

	mu   sync.Mutex
	ends map[string]unwrittenEnd // by run
}

type unwrittenEnd struct {
	run     Run
	message *Message   // what the run leaves in the conversation, if anything
	why     *sys.Error // what the person was told
}

// writeAgain is how long a disk that took nothing is left alone.
const writeAgain = 2 * time.Second

func newUnwritten() *unwritten {
	return &unwritten{due: make(chan struct{}, 1), ends: map[string]unwrittenEnd{}}
}

func (u *unwritten) all() []unwrittenEnd {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Collect(maps.Values(u.ends))
}

// over returns r, or the end of it that is not written yet.
func (u *unwritten) over(r Run) Run {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e, ok := u.ends[r.ID]; ok && !r.State.Ended() {
		return e.run
	}
	return r
}

// overSession returns s with the state of such an end, unless a later run is at
// work there.
func (k *Kernel) overSession(s Session) Session {
	live := k.runs.inSession(s.ID)
	for _, e := range k.unwritten.all() {
		if e.run.SessionID == s.ID && (live == "" || live == e.run.ID) && !store.RunState(s.State).Ended() {
			s.State, s.NotMet = string(e.run.State), e.run.NotMet
		}
	}
	return s
}

// messages adds what such runs leave in a conversation.
func (u *unwritten) messages(session string, list []Message) []Message {
	for _, e := range u.all() {
		written := func(m Message) bool { return m.ID == e.message.ID }
		if e.message != nil && e.run.SessionID == session && !slices.ContainsFunc(list, written) {
			list = append(list, *e.message)
		}
	}
	return list
}

// keepEnd keeps the end of a run that could not be written, and tells the
// person why.
func (k *Kernel) keepEnd(ctx context.Context, run Run, message *Message, err error) {
	why := sys.AsError(err)
	k.log.ErrorContext(ctx, "The end of a run could not be written; it is tried again", "run_id", run.ID, "error", err)
	k.unwritten.mu.Lock()
	k.unwritten.ends[run.ID] = unwrittenEnd{run: run, message: message, why: why}
	k.unwritten.mu.Unlock()
	k.raise(why)
	k.publish(event.RunEnded, scope{runID: run.ID, sessionID: run.SessionID}, run)
	k.retellSession(ctx, run.SessionID)
	select {
	case k.unwritten.due <- struct{}{}:
	default:
	}
}

// writeEnds writes what the disk did not take, until ctx ends.
func (k *Kernel) writeEnds(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.unwritten.due:
		}
		for len(k.unwritten.all()) > 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(writeAgain):
			}
			for _, session := range k.tryEnds(ctx) {
				k.startQueued(session)
			}
		}
	}
}

// tryEnds writes each end that is not written yet, if the disk takes it, and
// returns the conversations whose runs have now ended for good.
func (k *Kernel) tryEnds(ctx context.Context) (sessions []string) {
	for _, e := range k.unwritten.all() {
		if err := k.writeEnd(ctx, e); err != nil {
			k.log.DebugContext(ctx, "The end of a run still cannot be written", "run_id", e.run.ID, "error", err)
			continue
		}
		k.unwritten.mu.Lock()
		delete(k.unwritten.ends, e.run.ID)
		k.unwritten.mu.Unlock()
		k.trouble.CompareAndSwap(e.why, nil)
		k.publishStatus()
		sessions = append(sessions, e.run.SessionID)
	}
	return sessions
}

func (k *Kernel) writeEnd(ctx context.Context, e unwrittenEnd) error {
	r := e.run
	err := k.store.Write(ctx, func(tx *store.Tx) error {
		err := k.store.UpdateRun(tx, r.ID, store.RunPatch{
			State: &r.State, EndedAt: r.EndedAt, Turns: &r.Turns, Cost: &r.Cost, EndReason: &r.EndReason, Error: r.Error,
		})
		if err == nil && e.message != nil {
			err = k.store.AddMessage(tx, *e.message)
		}
		if err != nil {
			return err
		}
		return k.exit(tx, r)
	})
	if sys.CodeOf(err) == sys.CodeNotFound {
		return nil // the person deleted the conversation meanwhile
	}
	if err != nil {
		return err
	}
	return k.tellExit(ctx, r)
}
