//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"oxios/kernel"
)

// The states of the keys that open the quick prompt.
const (
	keysOff    = "off"    // the person does not want them
	keysAsking = "asking" // the desktop asks the person, or has not answered yet
	keysWork   = "works"
	keysTaken  = "taken" // another program has them
	keysBind   = "bind"  // no program can hold keys here; the person can bind the command
	keysNone   = "none"  // Oxios cannot hold keys on this system
)

// Hotkey says what is true of the keys that open the quick prompt.
type Hotkey struct {
	State   string `json:"state"`
	Keys    string `json:"keys"`    // as a person reads them: "Ctrl Alt Space"
	Command string `json:"command"` // what can be bound to keys in the desktop's settings
}

// hotkey holds the keys that open the quick prompt, as far as the system lets it.
type hotkey struct {
	pressed func()
	changed func(Hotkey)
	wishes  chan string // the keys that are wanted, "" for none; holds the newest

	mu   sync.Mutex
	want string
	now  Hotkey
}

func newHotkey(pressed func(), changed func(Hotkey)) *hotkey {
	return &hotkey{pressed: pressed, changed: changed, wishes: make(chan string, 1), want: "?", now: Hotkey{State: keysAsking, Command: boundCommand()}}
}

// view returns what is true now.
func (h *hotkey) view() Hotkey {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// wish says which keys are wanted; "" is none. It does not wait.
func (h *hotkey) wish(keys string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if keys == h.want {
		return
	}
	h.want = keys
	select {
	case <-h.wishes:
	default:
	}
	h.wishes <- keys
}

func (h *hotkey) say(state, keys string) {
	h.mu.Lock()
	h.now.State, h.now.Keys = state, keys
	now := h.now
	h.mu.Unlock()
	h.changed(now)
}

// run holds the keys that were wished for last, until ctx ends.
func (h *hotkey) run(ctx context.Context) {
	var release func()
	defer func() {
		if release != nil {
			release()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case keys := <-h.wishes:
			if release != nil {
				release()
				release = nil
			}
			c, err := parseKeys(keys)
			if err != nil { // config.toml lets nothing else through
				h.say(keysOff, "")
				continue
			}
			h.say(keysAsking, c.String())
			holding, cancel := context.WithCancel(ctx)
			done := make(chan struct{})
			go func() {
				defer close(done)
				holdKeys(holding, c, h.pressed, h.say)
			}()
			release = func() {
				cancel()
				<-done
			}
		}
	}
}

// combo is a key with its modifiers.
type combo struct {
	ctrl, alt, shift, super bool
	key                     string // Space, A to Z, 0 to 9, F1 to F12
}

// parseKeys reads what config.toml holds: "Ctrl+Alt+Space".
func parseKeys(text string) (combo, error) {
	var c combo
	for part := range strings.SplitSeq(text, "+") {
		switch part {
		case "Ctrl":
			c.ctrl = true
		case "Alt":
			c.alt = true
		case "Shift":
			c.shift = true
		case "Super":
			c.super = true
		default:
			if c.key != "" || part == "" {
				return combo{}, fmt.Errorf("%q is no combination of keys", text)
			}
			c.key = part
		}
	}
	if c.key == "" {
		return combo{}, fmt.Errorf("%q has no key", text)
	}
	return c, nil
}

func (c combo) modifiers(ctrl, alt, shift, super string) (names []string) {
	for _, m := range []struct {
		on   bool
		name string
	}{{c.ctrl, ctrl}, {c.alt, alt}, {c.shift, shift}, {c.super, super}} {
		if m.on {
			names = append(names, m.name)
		}
	}
	return names
}

// String is how a person reads it: "Ctrl Alt Space".
func (c combo) String() string {
	return strings.Join(append(c.modifiers("Ctrl", "Alt", "Shift", "Super"), c.key), " ")
}

// keysym is the key's number in X11: https://www.x.org/releases/X11R7.7/doc/xproto/x11protocol.html#keysym_encoding
func (c combo) keysym() (sym uint32, name string) {
	var f uint32
	switch {
	case c.key == "Space":
		return ' ', "space"
	case len(c.key) == 1:
		name = strings.ToLower(c.key)
		return uint32(name[0]), name
	default:
		if _, err := fmt.Sscanf(c.key, "F%d", &f); err == nil {
			return 0xffbe + f - 1, c.key
		}
	}
	return 0, ""
}

// boundCommand is what a person binds to keys in the settings of the desktop.
func boundCommand() string {
	self, err := os.Executable()
	if err != nil {
		return "oxios-desktop " + quickCommand
	}
	command := shellWord(kernel.InstalledAs(self)) + " " + quickCommand
	if home := os.Getenv("OXIOS_HOME"); home != "" {
		command = "env OXIOS_HOME=" + shellWord(home) + " " + command
	}
	return command
}

func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
