package agent

import (
	"oxios/kernel/event"
	"oxios/kernel/store"
)

// Unwritten is the error of [Runner.Execute] when a run has ended, but the
// journal did not take its end. The run that comes with it stands as it ended.
type Unwritten struct {
	Message *store.Message // what the run leaves in the session; nil for nothing
	Err     error
}

func (u *Unwritten) Error() string { return u.Err.Error() }

// Unwrap returns why the journal did not take it.
func (u *Unwritten) Unwrap() error { return u.Err }

func (x *run) unwritten(end ending, err error) (store.Run, error) {
	x.ended(end, x.Clock.Now())
	lost := &Unwritten{Err: err}
	if msg, ok := x.message(end); ok {
		lost.Message = &msg
		x.publish(event.MessageAdded, msg)
	}
	return x.spec.Run, lost
}
