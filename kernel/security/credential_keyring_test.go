package security

import (
	"errors"
	"sync"

	"github.com/zalando/go-keyring"
)

// memoryRing is a keyring that works.
type memoryRing struct {
	mu    sync.Mutex
	items map[string]string
	calls int
}

func (m *memoryRing) Get(service, user string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	v, ok := m.items[service+"\x00"+user]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return v, nil
}

func (m *memoryRing) Set(service, user, password string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.items == nil {
		m.items = map[string]string{}
	}
	m.items[service+"\x00"+user] = password
	return nil
}

func (m *memoryRing) Delete(service, user string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if _, ok := m.items[service+"\x00"+user]; !ok {
		return keyring.ErrNotFound
	}
	delete(m.items, service+"\x00"+user)
	return nil
}

// brokenRing answers as a machine without a Secret Service does.
type brokenRing struct{}

var errBroken = errors.New("the name org.freedesktop.secrets was not provided by any .service files")

func (brokenRing) Get(_, _ string) (string, error) { return "", errBroken }
func (brokenRing) Set(_, _, _ string) error        { return errBroken }
func (brokenRing) Delete(_, _ string) error        { return errBroken }

// hangingRing waits for a prompt that nobody answers until release is closed.
type hangingRing struct {
	memoryRing
	release chan struct{}
}

func (h *hangingRing) Get(service, user string) (string, error) {
	<-h.release
	return h.memoryRing.Get(service, user)
}

func (h *hangingRing) Set(service, user, password string) error {
	<-h.release
	return h.memoryRing.Set(service, user, password)
}

type panickingRing struct{ brokenRing }

func (panickingRing) Set(_, _, _ string) error { panic("the library failed") }
