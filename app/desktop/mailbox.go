//go:build desktop || dev || bindings

package desktop

import "sync"

// mailbox keeps for the page what came before it could listen.
type mailbox struct {
	mu         sync.Mutex
	subscribed bool
	session    string // a conversation to open
	notice     string // the key of a notice, which no notification could tell
}

// open reports whether a page listens; otherwise it keeps session for it. The
// last one counts.
func (m *mailbox) open(session string) (now bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.subscribed {
		m.session = session
	}
	return m.subscribed
}

// subscribe notes that a page listens, and returns the conversation that was
// kept for it, or "".
func (m *mailbox) subscribe() (session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	session, m.session, m.subscribed = m.session, "", true
	return session
}

func (m *mailbox) keepNotice(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notice = key
}

// takeNotice returns what is to be told, once a page listens.
func (m *mailbox) takeNotice() (key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.subscribed {
		key, m.notice = m.notice, ""
	}
	return key
}
