package security

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"oxios/kernel/sys"

	"github.com/zalando/go-keyring"
)

// ringService is the name under which the keyring lists the keys.
const ringService = "oxios"

// ring is the keyring of the login. A missing item is keyring.ErrNotFound; any
// other error means that there is no keyring to speak of.
type ring interface {
	Get(service, user string) (string, error)
	Set(service, user, password string) error
	Delete(service, user string) error
}

// systemRing is the real one.
type systemRing struct{}

var errNoBus = errors.New("there is no session bus")

func (systemRing) Get(service, user string) (string, error) {
	if !hasSessionBus() {
		return "", errNoBus
	}
	return keyring.Get(service, user)
}

func (systemRing) Set(service, user, password string) error {
	if !hasSessionBus() {
		return errNoBus
	}
	return keyring.Set(service, user, password)
}

func (systemRing) Delete(service, user string) error {
	if !hasSessionBus() {
		return errNoBus
	}
	return keyring.Delete(service, user)
}

// hasSessionBus reports whether a keyring can be asked without side effects.
// Without a bus the D-Bus library would start one (dbus-launch) and leave it
// running.
func hasSessionBus() bool {
	if runtime.GOOS != "linux" {
		return true
	}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	run := filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join(run, name)); err == nil {
			return true
		}
	}
	return false
}

// limitedRing asks a ring with a time limit, one call at a time. The library
// takes no context, so a call that hangs (a prompt nobody sees) is left behind
// in its goroutine; until it returns, every further call is refused after the
// limit, so that at most one goroutine hangs.
type limitedRing struct {
	ring  ring
	limit time.Duration
	turn  chan struct{}
}

func newLimitedRing(r ring, limit time.Duration) *limitedRing {
	return &limitedRing{ring: r, limit: limit, turn: make(chan struct{}, 1)}
}

var errRingSlow = errors.New("the keyring did not answer in time")

// do runs call. If the caller has given up when call succeeds, undo runs.
func (l *limitedRing) do(ctx context.Context, call func() error, undo func()) error {
	ctx, cancel := context.WithTimeoutCause(ctx, l.limit, errRingSlow)
	defer cancel()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	done := make(chan error)
	go func() {
		defer func() { <-l.turn }()
		err := recovered(call)
		select {
		case done <- err:
		case <-ctx.Done():
			if err == nil && undo != nil {
				_ = recovered(func() error { undo(); return nil })
			}
		}
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// recovered turns a panic of the D-Bus library, which trusts the types that a
// service answers with, into an error.
func recovered(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the keyring failed: %v", r)
		}
	}()
	return call()
}

func (l *limitedRing) get(ctx context.Context, account string) (credential, error) {
	var text string
	err := l.do(ctx, func() (err error) {
		text, err = l.ring.Get(ringService, account)
		return err
	}, nil)
	if err != nil {
		return credential{}, err
	}
	var k credential
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return credential{}, errors.New("the item in the keyring was not written by Oxios")
	}
	return k, nil
}

// set stores k and reads it back: some services take an item into a keyring
// that is gone after the session.
func (l *limitedRing) set(ctx context.Context, account string, k credential) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return l.do(ctx, func() error {
		if err := l.ring.Set(ringService, account, string(text)); err != nil {
			return err
		}
		back, err := l.ring.Get(ringService, account)
		if err != nil {
			return err
		}
		if back != string(text) {
			return errors.New("the keyring gave back something else than was stored")
		}
		return nil
	}, func() { _ = l.ring.Delete(ringService, account) })
}

func (l *limitedRing) remove(ctx context.Context, account string) error {
	return l.do(ctx, func() error { return l.ring.Delete(ringService, account) }, nil)
}

// keyIndex is the list of what the keyring holds: a keyring cannot be listed.
// It contains no key.
type keyIndex struct {
	folder keyFolder
	path   string
}

type keyringIndex struct {
	Home    string       `json:"home"` // tells the keys of two homes of one login apart
	Entries []indexEntry `json:"entries"`
}

type indexEntry struct {
	CredentialInfo
	Account string `json:"account"`
}

func (x keyIndex) load() (keyringIndex, error) {
	data, err := x.folder.read(x.path)
	if errors.Is(err, os.ErrNotExist) {
		return keyringIndex{}, nil
	}
	if err != nil {
		return keyringIndex{}, err
	}
	var index keyringIndex
	if err := json.Unmarshal(data, &index); err != nil {
		return keyringIndex{}, damaged(x.path, err)
	}
	return index, nil
}

func (x keyIndex) save(index keyringIndex) error {
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	return x.folder.write(x.path, append(data, '\n'))
}

func (i *keyringIndex) find(name string) (indexEntry, bool) {
	n := i.position(name)
	if n < 0 {
		return indexEntry{}, false
	}
	return i.Entries[n], true
}

func (i *keyringIndex) position(name string) int {
	return slices.IndexFunc(i.Entries, func(e indexEntry) bool { return e.Name == name })
}

// account returns the keyring's user name for a key, and gives the home its
// identity when the first key comes.
func (i *keyringIndex) account(name string) string {
	if i.Home == "" {
		i.Home = sys.NewID()
	}
	return i.Home + "/" + name
}

func (i *keyringIndex) put(e indexEntry) {
	i.remove(e.Name)
	i.Entries = append(i.Entries, e)
}

func (i *keyringIndex) remove(name string) bool {
	n := i.position(name)
	if n < 0 {
		return false
	}
	i.Entries = slices.Delete(i.Entries, n, n+1)
	return true
}
