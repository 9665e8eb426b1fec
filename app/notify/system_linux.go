package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	service = "org.freedesktop.Notifications"
	object  = dbus.ObjectPath("/org/freedesktop/Notifications")
	daemon  = "org.freedesktop.DBus"
)

// expired is the reason of a notification that went away by itself.
// https://specifications.freedesktop.org/notification-spec/latest/protocol.html
const expired = 1

// bus is the notification service of the session bus.
type bus struct {
	conn    *dbus.Conn
	log     *slog.Logger
	pressed chan Pressed
	work    sync.WaitGroup
	done    chan struct{}

	mu     sync.Mutex
	owners map[uint32]string // the unique name of the program that showed each notification
	sys    *dbus.Conn        // for the lock of the session; nil without a system bus
}

// system connects to the session bus. The returned function ends it.
func system(ctx context.Context, log *slog.Logger) (Sender, func(), error) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		return nil, nil, errors.New("there is no session bus") // godbus would start one
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the session bus: %w", err)
	}
	return onConn(ctx, conn, log)
}

// onConn shows notifications over conn, and closes it with the returned
// function, or when it fails.
func onConn(ctx context.Context, conn *dbus.Conn, log *slog.Logger) (Sender, func(), error) {
	b := &bus{conn: conn, log: log, pressed: make(chan Pressed, 16), done: make(chan struct{}), owners: map[uint32]string{}}
	var err error
	if b.sys, err = dbus.ConnectSystemBus(); err != nil {
		log.DebugContext(ctx, "The lock of the screen is not known", "error", err)
		b.sys = nil
	}
	signals := make(chan *dbus.Signal, 64)
	conn.Signal(signals)
	err = conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(service), dbus.WithMatchInterface(service), dbus.WithMatchObjectPath(object))
	if err == nil {
		err = conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(daemon), dbus.WithMatchInterface(daemon), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, service))
	}
	if err != nil {
		b.close()
		return nil, nil, fmt.Errorf("listen to notifications: %w", err)
	}
	b.work.Go(func() { b.listen(signals) })
	return b, b.close, nil
}

func (b *bus) close() {
	close(b.done)
	b.conn.Close()
	if b.sys != nil {
		b.sys.Close()
	}
	b.work.Wait()
}

// Pressed implements [Sender].
func (b *bus) Pressed() <-chan Pressed { return b.pressed }

// listen passes on what the service says about our notifications. The bus
// writes who sent a signal. Any program of the session can send one that looks
// the same, straight to us too, past the match: only the program that showed
// the notification may say that it was pressed.
func (b *bus) listen(signals <-chan *dbus.Signal) {
	for s := range signals {
		if s.Name == daemon+".NameOwnerChanged" && s.Sender == daemon {
			if !b.restarted(s.Body) {
				return
			}
			continue
		}
		if len(s.Body) < 2 || s.Path != object {
			continue
		}
		id, ok := s.Body[0].(uint32)
		if !ok || !b.shownBy(id, s.Sender) {
			continue
		}
		p := Pressed{ID: id, At: time.Now()}
		switch s.Name {
		case service + ".ActionInvoked":
			if p.Key, ok = s.Body[1].(string); !ok || p.Key == "" {
				continue
			}
		case service + ".NotificationClosed":
			b.forget(id)
			if reason, _ := s.Body[1].(uint32); reason == expired {
				continue // nobody has read it
			}
		default:
			continue
		}
		if !b.tell(p) {
			return
		}
	}
}

// tell passes p on, and reports whether somebody listens still.
func (b *bus) tell(p Pressed) bool {
	select {
	case b.pressed <- p:
		return true
	case <-b.done:
		return false
	}
}

// restarted takes up that another program shows notifications from now on: what
// the one before it showed is gone. It reports whether somebody listens still.
func (b *bus) restarted(body []any) bool {
	var name, before, after string
	if dbus.Store(body, &name, &before, &after) != nil || name != service || after == "" {
		return true
	}
	b.mu.Lock()
	var gone []uint32
	for id, owner := range b.owners {
		if owner != after {
			delete(b.owners, id)
			gone = append(gone, id)
		}
	}
	b.mu.Unlock()
	for _, id := range gone {
		if !b.tell(Pressed{ID: id, Gone: true}) {
			return false
		}
	}
	return true
}

func (b *bus) shownBy(id uint32, sender string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.owners[id] != "" && b.owners[id] == sender
}

func (b *bus) forget(id uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.owners, id)
}

// Send implements [Sender].
func (b *bus) Send(ctx context.Context, n Notice) (uint32, error) {
	obj := b.conn.Object(service, object)
	// Asked first, because it starts the service when it only starts on demand.
	var can []string
	if err := obj.CallWithContext(ctx, service+".GetCapabilities", 0).Store(&can); err != nil {
		return 0, fmt.Errorf("ask the notification service: %w", err)
	}
	var owner string
	if err := b.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, service).Store(&owner); err != nil {
		return 0, fmt.Errorf("find the notification service: %w", err)
	}
	body := n.Body
	if slices.Contains(can, "body-markup") {
		body = markup(body)
	}
	actions := []string{}
	if slices.Contains(can, "actions") {
		for _, a := range n.Actions {
			actions = append(actions, a.Key, a.Label)
		}
	}
	hints := map[string]dbus.Variant{"desktop-entry": dbus.MakeVariant("oxios"), "urgency": dbus.MakeVariant(byte(1))}
	expire := int32(-1)
	if n.Urgent {
		hints["urgency"], expire = dbus.MakeVariant(byte(2)), 0
	}
	// Held until the owner is noted: a press that comes at once must find it.
	b.mu.Lock()
	defer b.mu.Unlock()
	replaces := n.Replaces
	if b.owners[replaces] != owner {
		replaces = 0 // of a service that has ended: the number may be somebody else's now
	}
	// Sent to the program whose name we know: its signals alone are believed.
	var id uint32
	err := b.conn.Object(owner, object).CallWithContext(ctx, service+".Notify", 0, "Oxios", replaces, "oxios", n.Title, body, actions, hints, expire).Store(&id)
	if err != nil {
		return 0, fmt.Errorf("show a notification: %w", err)
	}
	b.owners[id] = owner
	return id, nil
}

// Withdraw implements [Sender].
func (b *bus) Withdraw(id uint32) {
	b.mu.Lock()
	owner := b.owners[id]
	delete(b.owners, id)
	b.mu.Unlock()
	if owner != "" {
		b.conn.Object(owner, object).Go(service+".CloseNotification", dbus.FlagNoReplyExpected|dbus.FlagNoAutoStart, nil, id)
	}
}

// Locked implements [Sender]. It asks the desktop's screen saver and the
// session's login; what does not answer is not locked.
func (b *bus) Locked(ctx context.Context) bool {
	for _, s := range []struct{ name, path string }{
		{"org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"},
		{"org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"},
		{"org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"},
		{"org.mate.ScreenSaver", "/org/mate/ScreenSaver"},
		{"org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"},
	} {
		var active bool
		err := b.conn.Object(s.name, dbus.ObjectPath(s.path)).CallWithContext(ctx, s.name+".GetActive", dbus.FlagNoAutoStart).Store(&active)
		if err == nil && active {
			return true
		}
	}
	if b.sys == nil {
		return false
	}
	var locked bool
	err := b.sys.Object("org.freedesktop.login1", "/org/freedesktop/login1/session/auto").
		CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, "org.freedesktop.login1.Session", "LockedHint").Store(&locked)
	return err == nil && locked
}
