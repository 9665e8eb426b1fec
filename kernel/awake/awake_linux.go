package awake

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/godbus/dbus/v5"

	"oxios/kernel/sys"
)

// https://www.freedesktop.org/software/systemd/man/latest/org.freedesktop.login1.html
const (
	login   = "org.freedesktop.login1"
	manager = dbus.ObjectPath("/org/freedesktop/login1")
	inhibit = login + ".Manager.Inhibit"
	denied  = "org.freedesktop.DBus.Error.AccessDenied"
)

// patience is how long the system bus may take to answer.
const patience = 5 * time.Second

func (s System) connect(ctx context.Context) (*dbus.Conn, error) {
	var conn *dbus.Conn
	var err error
	if s.Address != "" {
		conn, err = dbus.Connect(s.Address, dbus.WithContext(ctx))
	} else {
		conn, err = dbus.ConnectSystemBus(dbus.WithContext(ctx))
	}
	if err != nil {
		return nil, sys.Errorf(sys.CodeUnavailable, "There is no system bus, so nothing here can hold off sleep.").WithCause(err)
	}
	return conn, nil
}

// hold takes an inhibitor lock. What is granted depends on the session: one
// that may not hold off sleep may still say that the computer is not idle.
func (s System) hold(why string) (func(), error) {
	conn, err := s.connect(context.Background())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var fd dbus.UnixFD
	for _, what := range []string{"sleep:idle", "idle"} {
		err = conn.Object(login, manager).CallWithContext(ctx, inhibit, 0, what, "Oxios", why, "block").Store(&fd)
		var refused dbus.Error
		if !errors.As(err, &refused) || refused.Name != denied {
			break
		}
	}
	if err != nil {
		_ = conn.Close() // nothing is held
		return nil, sys.Errorf(sys.CodeUnavailable, "The system does not let Oxios hold off sleep: %w.", err)
	}
	lock := os.NewFile(uintptr(fd), "inhibitor")
	return func() {
		_ = lock.Close() // this is what gives it back
		_ = conn.Close()
	}, nil
}

func (s System) check() error {
	conn, err := s.connect(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var has bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, login).Store(&has); err != nil || !has {
		return sys.Errorf(sys.CodeUnavailable, "There is no logind on the system bus, so nothing here can hold off sleep.").WithCause(err)
	}
	return nil
}
