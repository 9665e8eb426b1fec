// Package notify tells a person through the system's notifications what waits
// for them and what has ended.
//
// It promises that a notification offers Approve only when it shows the whole
// of what it approves; that only a press of that button is a yes, never a
// dismissal, never a signal of another program and never a key that was meant
// for another program; that nothing is offered on a locked screen; and that a
// system without notifications costs a line in the log and nothing else.
//
// Only the process that owns the home runs it: two owners of one notification
// would be two answers.
package notify

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
)

// Notice is one notification.
type Notice struct {
	Replaces uint32 // the id of the notification that this one takes the place of, or 0
	Title    string
	Body     string // plain text; the sender escapes it
	Urgent   bool   // stays until it is answered
	Actions  []Action
}

// Action is a button of a [Notice]. The key "default" is a press of the
// notification itself, which shows no button.
type Action struct{ Key, Label string }

// Pressed is what a person did with a notification: the key of an action, or
// "" when it was closed without one.
type Pressed struct {
	ID   uint32
	Key  string
	At   time.Time // when it was; the zero time is now
	Gone bool      // nobody closed it: the service that showed it has ended, and another one runs
}

// Sender shows notifications. The id of a notice never means another notice as
// long as it is shown. What is received from Pressed came from the person, and
// from no other program.
type Sender interface {
	Send(ctx context.Context, n Notice) (id uint32, err error)
	Withdraw(id uint32)
	Pressed() <-chan Pressed
	Locked(ctx context.Context) bool // the screen is locked, as far as the system tells
}

// Inbox is the place that [Config].Open shows for a notification about several
// things.
const Inbox = "inbox"

// Config is what [Run] works with. Handle is needed.
type Config struct {
	Handle  *remote.Handle     // of the person, via the notification
	Focused func() bool        // a window of Oxios is in front; default never
	Open    func(place string) // shows a conversation, by its id, or the [Inbox]; nil where there is no window: nothing offers to open it
	Korean  func() bool        // default English
	Log     *slog.Logger
	Sender  Sender           // default the system's notifications
	Now     func() time.Time // default [time.Now]
}

func (c Config) withDefaults() Config {
	if c.Focused == nil {
		c.Focused = func() bool { return false }
	}
	if c.Korean == nil {
		c.Korean = func() bool { return false }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Run notifies until ctx ends and then takes back what still asks. It returns
// nil when ctx ended or the system has no notifications, and an error when the
// kernel could not be followed.
func Run(ctx context.Context, c Config) error {
	c = c.withDefaults()
	if c.Sender == nil {
		s, closeSender, err := system(ctx, c.Log)
		if err != nil {
			c.Log.InfoContext(ctx, "No notifications on this system", "error", err)
			<-ctx.Done()
			return nil
		}
		defer closeSender()
		c.Sender = s
	}
	d := &desk{Config: c, pending: map[string]kernel.Approval{}, shown: map[string]shown{}, left: map[string]bool{}}
	defer d.clear()
	return d.run(ctx)
}

// recheck is how often the desk looks whether the window is in front or the
// screen is locked, and whether something is due, while there is something to
// tell.
const recheck = time.Second

func (d *desk) run(ctx context.Context) error {
	events, err := d.Handle.Infra.Events(ctx, 0)
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	if err := d.load(ctx); err != nil {
		return ignoreEnd(ctx, err)
	}
	tick := time.NewTicker(recheck)
	defer tick.Stop()
	for {
		d.arrange(ctx)
		d.tellEnds(ctx)
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-events:
			if !ok {
				return ignoreEnd(ctx, errors.New("the kernel's events ended"))
			}
			if err := d.receive(ctx, e); err != nil {
				return ignoreEnd(ctx, err)
			}
		case p := <-d.Sender.Pressed():
			d.press(ctx, p)
		case <-tick.C:
		}
	}
}

func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Tell shows one notification without buttons, if the system can. It is for
// what the program says about itself.
func Tell(ctx context.Context, title, body string) error {
	s, closeSender, err := system(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer closeSender()
	_, err = s.Send(ctx, Notice{Title: title, Body: body})
	return err
}
