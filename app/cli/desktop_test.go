//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestQuickStartsTheWindowsProgramAsTheQuickPrompt(t *testing.T) {
	d := setup(t)
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	program := "#!/bin/sh\necho \"$@\" >" + said + ".new && mv " + said + ".new " + said + "\n"
	if err := os.WriteFile(filepath.Join(dir, "oxios-desktop"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	d.env["DISPLAY"] = ":0"
	d.must(0, "quick")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(said); err == nil {
			if got := strings.TrimSpace(string(text)); got != "quick" {
				t.Errorf("got arguments %q, want quick", got)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal("the program was not started")
		}
	}
	delete(d.env, "DISPLAY")
	contains(t, "without a display", d.must(exitFailed, "quick").err, "no display")
	contains(t, "a word too many", d.must(exitUsage, "quick", "what").err, "too many")
}
