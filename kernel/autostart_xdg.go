//go:build !windows && !darwin

package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"oxios/kernel/security"
)

// startEntryName is the file that desktops read when a session begins:
// https://specifications.freedesktop.org/autostart-spec
func startEntryName() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "autostart", "oxios.desktop")
}

func readStartEntry() (entry startEntry, on bool, err error) {
	raw, err := os.ReadFile(startEntryName())
	if errors.Is(err, fs.ErrNotExist) {
		return entry, false, nil
	}
	if err != nil {
		return entry, false, err
	}
	on = true
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), "=")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "TryExec":
			entry.program = fromDesktopString(value)
		// The two ways in which session settings turn an entry off.
		case "Hidden":
			on = on && value != "true"
		case "X-GNOME-Autostart-enabled":
			on = on && value != "false"
		}
	}
	return entry, on, nil
}

func writeStartEntry(e startEntry) error {
	path := startEntryName()
	if path == "" {
		return errors.New("neither $XDG_CONFIG_HOME nor $HOME is set")
	}
	command := desktopQuote(e.program) + " " + HiddenFlag
	if e.home != "" {
		command = "env " + desktopQuote("OXIOS_HOME="+e.home) + " " + command
	}
	if strings.ContainsFunc(e.program+e.home, unicode.IsControl) {
		return fmt.Errorf("%q has a character that no entry can hold", e.program+e.home)
	}
	// The desktop leaves an entry alone whose TryExec is not there: an Oxios
	// that was uninstalled leaves nothing that fails.
	text := fmt.Sprintf(`[Desktop Entry]
Type=Application
Name=Oxios
Comment=Agents, in the tray
Comment[ko]=트레이에서 실행되는 에이전트
Exec=%s
TryExec=%s
Icon=oxios
Terminal=false
X-GNOME-Autostart-enabled=true
`, toDesktopString(command), toDesktopString(e.program))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return security.WriteFileAtomic(path, []byte(text), 0o600)
}

func removeStartEntry() error { return os.Remove(startEntryName()) }

// desktopQuote makes arg one word of an Exec line, in which % begins a field.
func desktopQuote(arg string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, "`", "\\`", `$`, `\$`, `\`, `\\`, `%`, `%%`).Replace(arg) + `"`
}

// toDesktopString writes s as a value of type string: the file's own escapes
// come on top of those of an Exec line.
func toDesktopString(s string) string { return strings.ReplaceAll(s, `\`, `\\`) }

func fromDesktopString(s string) string { return strings.ReplaceAll(s, `\\`, `\`) }
