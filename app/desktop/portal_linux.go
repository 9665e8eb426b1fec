//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/godbus/dbus/v5"
)

// The portal through which a Wayland desktop gives keys to a program:
// https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.GlobalShortcuts.html
const (
	portalName      = "org.freedesktop.portal.Desktop"
	portalPath      = dbus.ObjectPath("/org/freedesktop/portal/desktop")
	portalShortcuts = "org.freedesktop.portal.GlobalShortcuts"
	portalRequest   = "org.freedesktop.portal.Request"
)

// shortcutID names the one shortcut of this program.
const shortcutID = "quick-prompt"

// holdByPortal asks the desktop for c, which may ask the person, and give other
// keys. Where there is no such portal, or it refuses, the person can bind a
// command.
func holdByPortal(ctx context.Context, c combo, pressed func(), say func(state, keys string)) {
	p := portal{}
	err := p.open(ctx)
	if err == nil {
		defer p.conn.Close()
		var keys string
		if keys, err = p.bind(ctx, c); err == nil {
			say(keysWork, keys)
			err = p.listen(ctx, pressed)
		}
	}
	if err != nil && ctx.Err() == nil {
		say(keysBind, c.String())
	}
}

// portal is a connection of its own to the session bus, so that everything that
// was asked for ends with it.
type portal struct {
	conn    *dbus.Conn
	object  dbus.BusObject
	signals chan *dbus.Signal
	session dbus.ObjectPath
}

func (p *portal) open(ctx context.Context) (err error) {
	if p.conn, err = dbus.ConnectSessionBus(); err != nil {
		return err
	}
	p.object = p.conn.Object(portalName, portalPath)
	p.signals = make(chan *dbus.Signal, 16)
	p.conn.Signal(p.signals)
	for _, match := range [][2]string{{portalRequest, "Response"}, {portalShortcuts, "Activated"}} {
		err = p.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(portalName), dbus.WithMatchInterface(match[0]), dbus.WithMatchMember(match[1]))
		if err != nil {
			break
		}
	}
	if err != nil {
		p.conn.Close()
	}
	return err
}

// bind opens a session and asks for c. It returns the keys that the person will
// press, as the desktop tells them.
func (p *portal) bind(ctx context.Context, c combo) (keys string, err error) {
	made, err := p.ask(ctx, "CreateSession", map[string]dbus.Variant{"handle_token": dbus.MakeVariant("oxios_create"), "session_handle_token": dbus.MakeVariant("oxios")})
	if err != nil {
		return "", err
	}
	session, ok := made["session_handle"].Value().(string)
	if !ok {
		return "", errors.New("the portal made no session")
	}
	p.session = dbus.ObjectPath(session)
	type shortcut struct {
		ID   string
		Data map[string]dbus.Variant
	}
	_, name := c.keysym()
	trigger := strings.Join(append(c.modifiers("CTRL", "ALT", "SHIFT", "LOGO"), name), "+")
	want := []shortcut{{shortcutID, map[string]dbus.Variant{"description": dbus.MakeVariant("Oxios: quick prompt"), "preferred_trigger": dbus.MakeVariant(trigger)}}}
	bound, err := p.ask(ctx, "BindShortcuts", p.session, want, "", map[string]dbus.Variant{"handle_token": dbus.MakeVariant("oxios_bind")})
	if err != nil {
		return "", err
	}
	var got []shortcut
	if v, ok := bound["shortcuts"]; ok {
		if err := dbus.Store([]any{v.Value()}, &got); err != nil {
			return "", err
		}
	}
	for _, s := range got {
		if s.ID == shortcutID {
			if told, _ := s.Data["trigger_description"].Value().(string); told != "" {
				return told, nil
			}
			return c.String(), nil
		}
	}
	return "", errors.New("the desktop gave no keys")
}

// ask calls a method that answers by a signal, and waits for it: the person may
// be asked meanwhile.
func (p *portal) ask(ctx context.Context, method string, args ...any) (map[string]dbus.Variant, error) {
	var request dbus.ObjectPath
	if err := p.object.CallWithContext(ctx, portalShortcuts+"."+method, 0, args...).Store(&request); err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case s, ok := <-p.signals:
			if !ok {
				return nil, errors.New("the session bus is gone")
			}
			var code uint32
			var results map[string]dbus.Variant
			if s.Path != request || dbus.Store(s.Body, &code, &results) != nil {
				continue
			}
			if code != 0 {
				return nil, fmt.Errorf("the desktop said no to %s (%d)", method, code)
			}
			return results, nil
		}
	}
}

func (p *portal) listen(ctx context.Context, pressed func()) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case s, ok := <-p.signals:
			if !ok {
				return errors.New("the session bus is gone")
			}
			if s.Name == portalShortcuts+".Activated" && len(s.Body) > 1 && s.Body[0] == p.session && s.Body[1] == shortcutID {
				pressed()
			}
		}
	}
}
