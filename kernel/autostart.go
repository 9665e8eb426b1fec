package kernel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"oxios/kernel/sys"
)

// Autostart says whether Oxios starts with the person's session, in the tray.
type Autostart struct {
	On      bool       `json:"on"`
	Entry   string     `json:"entry"`             // where the system keeps it: a file, or a value of the registry
	Program string     `json:"program,omitempty"` // what it starts, while it is on
	Problem *sys.Error `json:"problem,omitempty"` // why it cannot be turned on, or would start nothing
}

// Autostart tells whether Oxios starts with the person's session. The truth is
// the system's own entry, which the person may also change without Oxios.
func (a *InfraAPI) Autostart(ctx context.Context) (Autostart, error) {
	return guard(ctx, a.caller, action{call: "infra.autostart", resource: "autostart"}, func(context.Context) (Autostart, error) {
		return a.k.autostart()
	})
}

// SetAutostart has Oxios start with the person's session, hidden in the tray,
// or takes that back. Turning it on again mends an entry whose program moved.
func (a *InfraAPI) SetAutostart(ctx context.Context, on bool) (Autostart, error) {
	return guard(ctx, a.caller, action{call: "infra.setAutostart", resource: "autostart", meta: map[string]any{"on": on}}, func(context.Context) (Autostart, error) {
		if err := a.k.setAutostart(on); err != nil {
			return Autostart{}, err
		}
		return a.k.autostart()
	})
}

// HiddenFlag starts the window's program without showing the window: it stays in
// the tray.
const HiddenFlag = "--hidden"

// startEntry is what the system's entry for automatic starts holds.
type startEntry struct {
	program string // absolute
	home    string // "" for the usual one
}

func (k *Kernel) autostart() (Autostart, error) {
	entry, on, err := readStartEntry()
	v := Autostart{On: on, Entry: startEntryName()}
	switch {
	case err != nil:
		return v, sys.Errorf(sys.CodeUnavailable, "Whether Oxios starts with the system cannot be read: %w.", err)
	case on:
		v.Program = entry.program
		if _, err := os.Stat(entry.program); errors.Is(err, fs.ErrNotExist) {
			v.Problem = sys.Errorf(sys.CodeNotFound, "Oxios would start with the system, but %s is not there any more.", entry.program).
				WithHint("Turn the automatic start on again: it then starts the program that runs now.")
		}
	case k.opts.Window == "":
		v.Problem = noWindow()
	}
	return v, nil
}

func (k *Kernel) setAutostart(on bool) error {
	if !on {
		if err := removeStartEntry(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return sys.Errorf(sys.CodeUnavailable, "%s cannot be removed: %w. Oxios still starts with the system.", startEntryName(), err)
		}
		return nil
	}
	if k.opts.Window == "" {
		return noWindow()
	}
	entry := startEntry{program: InstalledAs(k.opts.Window)}
	if home, err := os.UserHomeDir(); err != nil || k.opts.Home != filepath.Join(home, ".oxios") {
		entry.home = k.opts.Home
	}
	if err := writeStartEntry(entry); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "%s cannot be written: %w. Nothing was changed.", startEntryName(), err)
	}
	return nil
}

func noWindow() *sys.Error {
	return sys.Errorf(sys.CodeUnavailable, "This Oxios has no window that could start with the system: oxios-desktop is not beside it.").
		WithHint("`oxios service install` starts Oxios without a window.")
}

// InstalledAs returns the name under which a program stays installed: what the
// PATH leads to, if that is this very file, else path. A link that the PATH
// knows outlives an upgrade, the file behind it may not.
func InstalledAs(path string) string {
	known, err := exec.LookPath(filepath.Base(path))
	if err != nil || !filepath.IsAbs(known) {
		return path
	}
	a, err := os.Stat(path)
	if err != nil {
		return path
	}
	if b, err := os.Stat(known); err != nil || !os.SameFile(a, b) {
		return path
	}
	return known
}
