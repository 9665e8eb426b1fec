package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// handle is the kernel that a machine's `oxios serve` runs, over its socket.
func (m *machine) handle() *remote.Handle {
	m.t.Helper()
	c, err := remote.Dial(m.t.Context(), m.home)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = c.Close() })
	return c.Handle()
}

// another is a second home of the same person.
func (m *machine) another() *machine {
	m.t.Helper()
	other := *m
	other.home = m.t.TempDir()
	if err := os.WriteFile(filepath.Join(other.home, "config.toml"), []byte("keyring = false\n"), 0o600); err != nil {
		m.t.Fatal(err)
	}
	other.env = nil
	for _, v := range m.env {
		if !strings.HasPrefix(v, "OXIOS_HOME=") {
			other.env = append(other.env, v)
		}
	}
	other.env = append(other.env, "OXIOS_HOME="+other.home)
	return &other
}

// holds returns the files of the home's database that hold words.
func (m *machine) holds(words string) []string {
	m.t.Helper()
	files, err := filepath.Glob(filepath.Join(m.home, "oxios.db*"))
	if err != nil {
		m.t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			m.t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(words)) {
			found = append(found, filepath.Base(f))
		}
	}
	return found
}

func TestRealBackupIsTheSameWithAndWithoutAnOwner(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.must(0, "run", writes)
	dir := t.TempDir()
	alone := decode[kernel.BackupReport](t, m.must(0, "backup", "--json", filepath.Join(dir, "alone.tar.gz")).out)
	stop, _ := m.serve()
	served := decode[kernel.BackupReport](t, m.must(0, "backup", "--json", filepath.Join(dir, "served.tar.gz")).out)
	if alone.Sessions != 1 || served.Sessions != 1 || served.Messages != alone.Messages || served.Files != alone.Files {
		t.Errorf("got %+v and %+v, want the same", alone, served)
	}
	other := m.another()
	stopOther, _ := other.serve()
	r := decode[kernel.RestoreReport](t, other.must(0, "restore", "--json", served.Path).out)
	if r.Sessions.Added != 1 || r.Messages != 2 {
		t.Errorf("over the socket: got %+v, want the conversation", r)
	}
	stopOther()
	r = decode[kernel.RestoreReport](t, other.must(0, "restore", "--json", alone.Path).out)
	if r.Sessions.Present != 1 || r.Sessions.Added != 0 {
		t.Errorf("alone: got %+v, want that it is there", r)
	}
	stop()
	contains(t, "the chain", other.must(0, "audit", "verify").out, "intact")
}

// A deletion that could still be undone when the owner was killed is finished by
// the next start, whoever that is.
func TestRealKillInTheMiddleOfADeletionDeletes(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	done := decode[kernel.RunResult](t, m.must(0, "run", "--json", "Look at secretWordQZX").out)
	kept := decode[kernel.RunResult](t, m.must(0, "run", "--json", writes).out)
	_, kill := m.serve()
	h := m.handle()
	for _, id := range []string{done.SessionID, kept.SessionID} {
		if d, err := h.State.DiscardSession(t.Context(), id); err != nil || d.UndoMS == 0 {
			t.Fatalf("discard: got %+v, %v", d, err)
		}
	}
	if _, err := h.State.RecoverSession(t.Context(), kept.SessionID); err != nil {
		t.Fatal(err)
	}
	kill()
	r := m.must(0, "sessions", "list")
	if strings.Contains(r.out, "secretWord") || !strings.Contains(r.out, "hello") {
		t.Errorf("got %q, want the recovered one alone", r.out)
	}
	if files := m.holds("secretWordQZX"); len(files) > 0 {
		t.Errorf("the text still stands in %v", files)
	}
	holds(t, m)
}

// Whenever a restore is killed, there is all of it or nothing of it, and it can
// be done again.
func TestRealKillInTheMiddleOfARestoreLeavesAllOrNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for i := range 6 {
		m.must(0, "run", fmt.Sprint("Look around, time ", i))
	}
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	m.must(0, "backup", path)
	took := time.Now()
	if r := decode[kernel.RestoreReport](t, m.another().must(0, "restore", "--json", path).out); r.Sessions.Added != 6 {
		t.Fatalf("got %+v, want 6 conversations", r)
	}
	whole := time.Since(took)
	killed := 0
	for i := range 12 {
		other := m.another()
		ctx, cancel := context.WithCancel(t.Context())
		cmd := other.command(ctx, "restore", path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(whole * time.Duration(i+1) / 12)
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if cmd.Wait() != nil {
			killed++
		}
		cancel()
		list := decode[[]kernel.Session](t, other.must(0, "sessions", "list", "--json").out)
		if n := len(list); n != 0 && n != 6 {
			t.Errorf("killed after %v: got %d conversations, want all or none", whole*time.Duration(i+1)/12, n)
		}
		left, err := filepath.Glob(filepath.Join(other.home, "run", "work-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("got %v, %v; want the next start to remove what was left", left, err)
		}
		if r := decode[kernel.RestoreReport](t, other.must(0, "restore", "--json", path).out); r.Sessions.Added+r.Sessions.Present != 6 || r.Sessions.Kept != 0 {
			t.Errorf("done again: got %+v, want all 6", r)
		}
		holds(t, other)
	}
	if killed == 0 {
		t.Error("none of the restores was killed in the middle")
	}
}

const backer = `
[[scenario]]
match = 'Back up with (\S+) in (\S+) to (\S+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "OXIOS_HOME={{2}} {{1}} backup {{3}}"}'
[[scenario.turn]]
text = "It said: {{result}}"
`

// A command of an agent that reaches the socket is that agent, also when a
// person had let it run: it gets no copy of everything.
func TestRealAgentGetsNoBackup(t *testing.T) {
	t.Parallel()
	m := newMachine(t, backer)
	m.serve()
	path := filepath.Join(m.folder, "everything.tar.gz")
	m.must(exitWaiting, "run", "--no-wait", "--trust", "Back up with "+m.inside()+" in "+m.home+" to "+path)
	for _, a := range m.waiting() {
		m.must(0, "approvals", "approve", a.ID)
	}
	until(t, "the approved command has run", func() bool {
		return strings.Contains(m.must(0, "sessions", "list", "--json").out, `"state":"done"`)
	})
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the agent has a backup (%v)", err)
	}
	h := m.handle()
	if _, err := h.Infra.Backup(t.Context(), path); sys.CodeOf(err) != "" {
		t.Errorf("the person: got %v, want a backup", err)
	}
}
