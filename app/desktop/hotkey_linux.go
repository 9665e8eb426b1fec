//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// holdKeys has pressed called for each press of c until ctx ends, and says what
// is true of it. A Wayland desktop gives keys to nobody but through its portal.
func holdKeys(ctx context.Context, c combo, pressed func(), say func(state, keys string)) {
	if os.Getenv("WAYLAND_DISPLAY") != "" {
		holdByPortal(ctx, c, pressed, say)
		return
	}
	err := holdOnX11(ctx, c, pressed, func() { say(keysWork, c.String()) })
	switch {
	case ctx.Err() != nil:
	case taken(err):
		say(keysTaken, c.String())
	default:
		say(keysBind, c.String())
	}
}

// taken reports whether another program holds the keys.
func taken(err error) bool {
	_, ok := errors.AsType[xproto.AccessError](err)
	return ok
}

// holdOnX11 grabs c on every screen.
func holdOnX11(ctx context.Context, c combo, pressed, works func()) error {
	conn, err := xgb.NewConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, conn.Close)()
	defer conn.Close()
	if err := grab(conn, c); err != nil {
		return err
	}
	works()
	for {
		event, xerr := conn.WaitForEvent()
		switch event := event.(type) {
		case xproto.KeyPressEvent:
			pressed()
		case xproto.MappingNotifyEvent:
			// The keyboard has another layout: the key may lie elsewhere.
			if event.Request != xproto.MappingPointer {
				if err := grab(conn, c); err != nil {
					return err
				}
			}
		case nil:
			if xerr == nil {
				return errors.New("the display is gone")
			}
		}
	}
}

// numLock is the keysym of the key that switches the modifier which most
// keyboards have on.
const numLock = 0xff7f

// grab takes c, whatever the lock keys are at, and lets go of what it took
// before.
func grab(conn *xgb.Conn, c combo) error {
	sym, _ := c.keysym()
	setup := xproto.Setup(conn)
	count := byte(setup.MaxKeycode - setup.MinKeycode + 1)
	keys, err := xproto.GetKeyboardMapping(conn, setup.MinKeycode, count).Reply()
	if err != nil {
		return err
	}
	codes := func(sym uint32) (list []xproto.Keycode) {
		per := int(keys.KeysymsPerKeycode)
		for i := range int(count) {
			if slices.Contains(keys.Keysyms[i*per:(i+1)*per], xproto.Keysym(sym)) {
				list = append(list, setup.MinKeycode+xproto.Keycode(i))
			}
		}
		return list
	}
	found := codes(sym)
	if len(found) == 0 {
		return fmt.Errorf("this keyboard has no key %s", c.key)
	}
	locks := []uint16{0, xproto.ModMaskLock}
	if num := maskOf(conn, codes(numLock)); num != 0 {
		locks = append(locks, num, num|xproto.ModMaskLock)
	}
	var mods uint16
	for mask, on := range map[uint16]bool{xproto.ModMaskControl: c.ctrl, xproto.ModMask1: c.alt, xproto.ModMaskShift: c.shift, xproto.ModMask4: c.super} {
		if on {
			mods |= mask
		}
	}
	for _, screen := range setup.Roots {
		_ = xproto.UngrabKeyChecked(conn, xproto.GrabAny, screen.Root, xproto.ModMaskAny).Check()
		for _, code := range found {
			for _, lock := range locks {
				err := xproto.GrabKeyChecked(conn, false, screen.Root, mods|lock, code, xproto.GrabModeAsync, xproto.GrabModeAsync).Check()
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// maskOf is the modifier that the keys are, 0 when they are none.
func maskOf(conn *xgb.Conn, keys []xproto.Keycode) uint16 {
	m, err := xproto.GetModifierMapping(conn).Reply()
	if err != nil || m.KeycodesPerModifier == 0 {
		return 0
	}
	for i, code := range m.Keycodes {
		if code != 0 && slices.Contains(keys, code) {
			return 1 << (i / int(m.KeycodesPerModifier))
		}
	}
	return 0
}
