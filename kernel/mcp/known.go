package mcp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Known is what is known of a server: what it said when it was connected last, and what of it the person accepted.
type Known struct {
	Title    string    `json:"title,omitempty"` // what it calls itself
	Version  string    `json:"version,omitempty"`
	Protocol string    `json:"protocol"` // the version of the protocol that was agreed on
	At       time.Time `json:"at"`       // UTC
	Tools    []Tool    `json:"tools"`
	Left     []LeftOut `json:"left,omitempty"`
	Hash     string    `json:"hash"`

	Instructions string `json:"instructions,omitempty"` // how it wants to be used; no agent is told it

	Extensions []string `json:"extensions,omitempty"` // of the protocol, that it says it uses

	// Changed is what it says now, where that is not what was accepted: nothing of it is offered.
	Changed *Changed `json:"changed,omitempty"`
	// For says which command it was that said all this: of another one nothing is known.
	For string `json:"for"`
}

// Changed is what a server says now and did not say before.
type Changed struct {
	At    time.Time `json:"at"`
	Tools []Tool    `json:"tools"`
	Left  []LeftOut `json:"left,omitempty"`
	Hash  string    `json:"hash"`

	Instructions string `json:"instructions,omitempty"`
}

// The files of a server, in its folder below the service's.
const (
	knownFile = "known.json"
	logFile   = "log"
	ownFolder = "files" // what the server itself sees and may change
)

// maxKnown is how large the file may be that is read again.
const maxKnown = 32 << 20

func (s *Service) at(server string, parts ...string) string {
	return filepath.Join(append([]string{s.c.Dir, server}, parts...)...)
}

// read is a file with what is known of a server, as it was when it was read last.
type read struct {
	info os.FileInfo
	k    Known
}

// known returns what is known of a server; ok is false where nothing is, or where it was another command that said it. The
// lists in it are shared: nobody changes them.
func (s *Service) known(name string, def Server) (k Known, ok bool, err error) {
	path := s.at(name, knownFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Known{}, false, nil
	}
	if err == nil {
		s.mu.Lock()
		r, ok := s.read[name]
		s.mu.Unlock()
		if ok && os.SameFile(r.info, info) && r.info.ModTime().Equal(info.ModTime()) && r.info.Size() == info.Size() {
			return r.k, r.k.For == identity(def), nil
		}
	}
	if err == nil && info.Size() > maxKnown {
		err = errors.New("the file is too large")
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(path)
	}
	if err == nil {
		err = json.Unmarshal(raw, &k)
	}
	if err != nil {
		return Known{}, false, sys.Errorf(sys.CodeUnavailable, "What was known of the server %s cannot be read: %w.", name, err).
			WithHint("Connect it again: `oxios mcp connect %s`.", name)
	}
	s.mu.Lock()
	s.read[name] = read{info, k}
	s.mu.Unlock()
	return k, k.For == identity(def), nil
}

func (s *Service) keep(name string, k Known) error {
	raw, err := json.Marshal(k)
	if err == nil {
		err = os.MkdirAll(s.at(name), 0o700)
	}
	if err == nil {
		err = security.WriteFileAtomic(s.at(name, knownFile), raw, 0o600)
	}
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "What the server %s offers could not be kept: %w.", name, err)
	}
	return nil
}

// identity is what makes a server another one: the program and what it is told, or its address.
func identity(def Server) string {
	raw, err := json.Marshal(struct {
		Command string
		Args    []string
		URL     string `json:",omitempty"`
	}{def.Command, def.Args, def.URL})
	if err != nil {
		return "" // strings always become JSON
	}
	return string(raw)
}
