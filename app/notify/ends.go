package notify

import (
	"context"
	"slices"
	"time"

	"oxios/kernel"
)

// gather is how long an end waits for others, so that those which come
// together are told together.
const gather = 2 * time.Second

// ends are the runs that ended since the person looked last: one notification
// tells all of them, and grows as long as nobody has seen it.
type ends struct {
	runs []kernel.Run // the newest of each conversation, in their order
	due  time.Time    // when they are told; zero when all of them are
	id   uint32       // of the notification; 0 when none is shown
}

func (e *ends) add(r kernel.Run) {
	e.runs = append(slices.DeleteFunc(e.runs, func(o kernel.Run) bool { return o.SessionID == r.SessionID }), r)
	if e.due.IsZero() {
		e.due = time.Now().Add(gather)
	}
}

func (d *desk) runEnded(r kernel.Run) {
	if d.on() && worthTelling(r) {
		d.ends.add(r)
	}
}

// tellEnds tells what ended, once the screen is open and the quiet hours are
// over. With the window in front the person sees it there.
func (d *desk) tellEnds(ctx context.Context) {
	if len(d.ends.runs) == 0 {
		return
	}
	if !d.on() || d.Focused() {
		if d.ends.id != 0 {
			d.Sender.Withdraw(d.ends.id)
		}
		d.ends = ends{}
		return
	}
	now := time.Now()
	if d.ends.due.IsZero() || now.Before(d.ends.due) || d.config.Quiet(now) || d.Sender.Locked(ctx) {
		return
	}
	n := wordsFor(d.Korean()).ended(d.ends.runs, d.Open != nil)
	n.Replaces = d.ends.id
	d.ends.due = time.Time{}
	if id, ok := d.send(ctx, n); ok {
		d.ends.id = id
	}
}

// pressEnds opens what the notification about ends told. Closing it is having
// read it.
func (d *desk) pressEnds(key string) {
	told := d.ends.runs
	if key != "" {
		d.Sender.Withdraw(d.ends.id)
	}
	d.ends = ends{}
	switch {
	case key == "":
	case len(told) == 1:
		d.open(told[0].SessionID)
	default:
		d.open(Inbox)
	}
}

// long is the time after which a person may have turned to something else.
const long = 4 * time.Second

// worthTelling reports whether the end of a run is news: one that failed, whose
// task was not met, that took a while, or that was started where nobody waits for it.
func worthTelling(r kernel.Run) bool {
	if r.ParentID != "" { // its parent tells what it did
		return false
	}
	switch {
	case r.State == "failed", r.NotMet:
		return true
	case r.State == "done":
	default: // stopped by the person, or interrupted with the program
		return false
	}
	if r.Via != "window" && r.Via != "terminal" {
		return true
	}
	return r.StartedAt != nil && r.EndedAt != nil && r.EndedAt.Sub(*r.StartedAt) >= long
}
