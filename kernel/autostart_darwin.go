package kernel

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"oxios/kernel/security"
)

// startEntryName is the launch agent that macOS loads when a session begins.
// It compiles, and was never run on a Mac.
func startEntryName() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, "Library", "LaunchAgents", "oxios.plist")
}

func readStartEntry() (entry startEntry, on bool, err error) {
	raw, err := os.ReadFile(startEntryName())
	if errors.Is(err, fs.ErrNotExist) {
		return entry, false, nil
	}
	if err != nil {
		return entry, false, err
	}
	var list struct {
		Arguments []string `xml:"dict>array>string"`
	}
	if err := xml.Unmarshal(raw, &list); err != nil {
		return entry, false, err
	}
	if len(list.Arguments) > 0 {
		entry.program = list.Arguments[0]
	}
	return entry, slices.Contains(list.Arguments, HiddenFlag), nil
}

func writeStartEntry(e startEntry) error {
	path := startEntryName()
	if path == "" {
		return errors.New("$HOME is not set")
	}
	environment := ""
	if e.home != "" {
		environment = fmt.Sprintf("\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>OXIOS_HOME</key>\n\t\t<string>%s</string>\n\t</dict>\n", xmlText(e.home))
	}
	text := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>oxios</string>
	<key>ProgramArguments</key>
	<array>
		<string>%s</string>
		<string>%s</string>
	</array>
%s	<key>RunAtLoad</key>
	<true/>
	<key>ProcessType</key>
	<string>Interactive</string>
</dict>
</plist>
`, xmlText(e.program), HiddenFlag, environment)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return security.WriteFileAtomic(path, []byte(text), 0o600)
}

func removeStartEntry() error { return os.Remove(startEntryName()) }

func xmlText(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
