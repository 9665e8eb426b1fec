package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// maxAsking is how many approvals have a notification of their own; the rest
// share one. A screen full of questions is answered without reading.
const maxAsking = 3

// more is the key of the notification that stands for the rest.
const more = "more"

// desk keeps what is shown in step with what waits. It belongs to one goroutine.
type desk struct {
	Config
	config    kernel.ConfigView
	isolation sys.Isolation
	pending   map[string]kernel.Approval
	shown     map[string]shown // by approval, or more
	left      map[string]bool  // approvals whose notification was closed: it does not come again
	ends      ends
	held      []kernel.Held
	findings  []kernel.Finding
	mute      bool // sending failed; it was logged
}

// shown is a notification that stays as long as what it tells of.
type shown struct {
	id     uint32
	notice Notice
	place  string    // what its button opens; "" for one that asks, which opens its conversation
	hash   string    // of the request that it shows; "" for one that asks nothing
	since  time.Time // when it came up or was replaced
}

// still is how long a notification must have been there, unchanged, until it
// can approve: what is pressed before was not read, and may have been typed to
// another program whose keyboard the notification took.
const still = 800 * time.Millisecond

// load reads what the events cannot tell: what waited before.
func (d *desk) load(ctx context.Context) error {
	list, err := d.Handle.Security.Approvals(ctx, kernel.ApprovalQuery{State: "pending"})
	if err != nil {
		return err
	}
	clear(d.pending)
	for _, a := range list {
		d.pending[a.ID] = a
	}
	status, err := d.Handle.Infra.Status(ctx)
	if err != nil {
		return err
	}
	d.isolation = status.Isolation
	d.setHeld(status.Held)
	d.setFindings(status.Findings)
	d.config, err = d.Handle.Infra.Config(ctx)
	return err
}

func (d *desk) on() bool { return d.config.Values["notifications"] != "false" }

func (d *desk) receive(ctx context.Context, e kernel.Event) error {
	switch e.Kind {
	case "gap":
		return d.load(ctx)
	case "approval":
		if a, ok := as[kernel.Approval](e); ok {
			d.approval(a)
		}
	case "status":
		if s, ok := as[kernel.Status](e); ok {
			d.isolation = s.Isolation
			d.setHeld(s.Held)
			d.setFindings(s.Findings)
		}
	case "config":
		if v, ok := as[kernel.ConfigView](e); ok {
			d.config = v
		}
	case "run.ended":
		if r, ok := as[kernel.Run](e); ok {
			d.runEnded(r)
		}
	}
	return nil
}

func (d *desk) approval(a kernel.Approval) {
	if a.State == "pending" {
		d.pending[a.ID] = a
		delete(d.left, more)
		return
	}
	delete(d.pending, a.ID)
	delete(d.left, a.ID)
}

// arrange shows what waits and takes back what does not: an approval decided
// elsewhere, and everything once the window is in front or the screen locked.
func (d *desk) arrange(ctx context.Context) {
	if len(d.pending) == 0 && len(d.held) == 0 && len(d.findings) == 0 && len(d.shown) == 0 {
		return
	}
	want := d.wanted(ctx)
	for key, s := range d.shown {
		if _, ok := want[key]; !ok {
			delete(d.shown, key)
			d.Sender.Withdraw(s.id)
		}
	}
	for key, s := range want {
		old, ok := d.shown[key]
		if ok && old.hash == s.hash && same(old.notice, s.notice) {
			continue
		}
		s.notice.Replaces = old.id
		if s.id, ok = d.send(ctx, s.notice); ok {
			s.since = d.Now()
			d.shown[key] = s
		}
	}
}

func (d *desk) wanted(ctx context.Context) map[string]shown {
	want := map[string]shown{}
	if !d.on() || d.Focused() || d.Sender.Locked(ctx) {
		return want
	}
	d.wantFindings(want)
	if d.config.Values["quiet_approvals"] == "false" && d.config.Quiet(time.Now()) {
		return want
	}
	d.wantHeld(want)
	var asking []kernel.Approval
	for id, a := range d.pending {
		if !d.left[id] {
			asking = append(asking, a)
		}
	}
	slices.SortFunc(asking, func(a, b kernel.Approval) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	w := wordsFor(d.Korean())
	for i, a := range asking {
		if i == maxAsking {
			if !d.left[more] {
				want[more] = shown{notice: w.others(len(asking)-maxAsking, d.Open != nil), place: Inbox}
			}
			break
		}
		want[a.ID] = shown{notice: w.asks(a, d.isolation, d.Open != nil), hash: a.Request.Hash}
	}
	return want
}

// press does what the person chose. Closing a notification decides nothing.
func (d *desk) press(ctx context.Context, p Pressed) {
	if p.Gone {
		d.gone(p.ID)
		return
	}
	if d.ends.id != 0 && d.ends.id == p.ID {
		d.pressEnds(p.Key)
		return
	}
	for key, s := range d.shown {
		if s.id != p.ID {
			continue
		}
		offered := slices.ContainsFunc(s.notice.Actions, func(a Action) bool { return a.Key == p.Key })
		if p.Key != "" && !offered {
			return
		}
		delete(d.shown, key)
		if p.Key != "" { // not every system closes what was pressed
			d.Sender.Withdraw(s.id)
		}
		if p.At.IsZero() {
			p.At = d.Now()
		}
		switch {
		case p.Key == "":
			d.left[key] = true
		case p.Key == actionApprove && p.At.Sub(s.since) < still: // it comes again, and can be read
		case d.Sender.Locked(ctx): // it comes again when the screen is open
		case s.place != "":
			d.left[key] = true
			d.open(s.place)
		default:
			d.decide(ctx, d.pending[key], s.hash, p.Key)
		}
		return
	}
}

// gone takes up that a notification went with the service that showed it. What
// it told waits still, and is shown again.
func (d *desk) gone(id uint32) {
	maps.DeleteFunc(d.shown, func(_ string, s shown) bool { return s.id == id })
	if d.ends.id == id {
		d.ends.id, d.ends.due = 0, d.Now()
	}
}

// decide answers a request, as the notification showed it.
func (d *desk) decide(ctx context.Context, a kernel.Approval, hash, key string) {
	if a.ID == "" { // it was decided elsewhere in the meantime
		return
	}
	var err error
	switch key {
	case actionApprove:
		_, err = d.Handle.Security.Approve(ctx, a.ID, kernel.ApproveInput{Hash: hash, Scope: "once"})
	case actionDeny:
		_, err = d.Handle.Security.Deny(ctx, a.ID, "")
	default:
		d.left[a.ID] = true
		d.open(a.Request.SessionID)
		return
	}
	if err != nil {
		d.Log.WarnContext(ctx, "A decision by notification was not taken", "approval", a.ID, "error", err)
		d.left[a.ID] = true
		w := wordsFor(d.Korean())
		d.send(ctx, Notice{Title: w.notTaken, Body: sys.AsError(err).Error()})
		return
	}
	delete(d.pending, a.ID)
}

// open shows a conversation, or the [Inbox].
func (d *desk) open(place string) {
	if d.Open != nil && place != "" {
		d.Open(place)
	}
}

// send logs the first of several failures: a system without a notification
// service fails each time.
func (d *desk) send(ctx context.Context, n Notice) (uint32, bool) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	id, err := d.Sender.Send(ctx, n)
	if err != nil && !d.mute && ctx.Err() == nil {
		d.Log.InfoContext(ctx, "Notifications are not shown", "error", err)
	}
	d.mute = err != nil
	return id, err == nil
}

// clear takes back what asks: nobody reads the answer any more.
func (d *desk) clear() {
	for _, s := range d.shown {
		d.Sender.Withdraw(s.id)
	}
}

func same(a, b Notice) bool {
	return a.Title == b.Title && a.Body == b.Body && slices.Equal(a.Actions, b.Actions)
}

// as reads the data of an event, of this process or of another.
func as[T any](e kernel.Event) (T, bool) {
	if v, ok := e.Data.(T); ok {
		return v, true
	}
	var v T
	raw, ok := e.Data.(json.RawMessage)
	return v, ok && json.Unmarshal(raw, &v) == nil
}
