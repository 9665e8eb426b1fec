package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/windows/registry"
)

const (
	runKey         = `Software\Microsoft\Windows\CurrentVersion\Run`
	taskManagerKey = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
	runValue       = "Oxios"
)

// startEntryName is the value of the registry that Windows reads when a session
// begins. It compiles, and was never run on Windows.
func startEntryName() string { return `HKCU\` + runKey + `\` + runValue }

func readStartEntry() (entry startEntry, on bool, err error) {
	k, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if errors.Is(err, fs.ErrNotExist) {
		return entry, false, nil
	}
	if err != nil {
		return entry, false, err
	}
	defer k.Close()
	command, _, err := k.GetStringValue(runValue)
	if errors.Is(err, fs.ErrNotExist) {
		return entry, false, nil
	}
	if err != nil {
		return entry, false, err
	}
	entry.program, _, _ = strings.Cut(strings.TrimPrefix(command, `"`), `"`)
	return entry, !turnedOff(), nil
}

// turnedOff reports whether the person turned the entry off in the Task
// Manager, which keeps that in a value of its own: its first byte is odd then.
func turnedOff() bool {
	k, err := registry.OpenKey(registry.CURRENT_USER, taskManagerKey, registry.QUERY_VALUE)
	if err != nil {
		return false
	}
	defer k.Close()
	state, _, err := k.GetBinaryValue(runValue)
	return err == nil && len(state) > 0 && state[0]&1 == 1
}

func writeStartEntry(e startEntry) error {
	if e.home != "" && e.home != accountHome() {
		return fmt.Errorf("an automatic start takes OXIOS_HOME from your account, which does not say %s: run setx OXIOS_HOME first", e.home)
	}
	k, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer k.Close()
	if err := k.SetStringValue(runValue, `"`+e.program+`" `+HiddenFlag); err != nil {
		return err
	}
	return removeValue(taskManagerKey)
}

// accountHome is the OXIOS_HOME that every program of the account gets.
func accountHome() string {
	k, err := registry.OpenKey(registry.CURRENT_USER, "Environment", registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer k.Close()
	home, _, _ := k.GetStringValue("OXIOS_HOME") // "" when it is not set
	return home
}

func removeStartEntry() error { return errors.Join(removeValue(runKey), removeValue(taskManagerKey)) }

func removeValue(key string) error {
	k, err := registry.OpenKey(registry.CURRENT_USER, key, registry.SET_VALUE)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer k.Close()
	if err := k.DeleteValue(runValue); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
