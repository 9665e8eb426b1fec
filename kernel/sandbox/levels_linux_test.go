package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel/sys"
)

// What each level holds is written in a table of the documents. Here it is tried:
// a cell is what came of the attempts of its row.
func TestTheDocumentsSayWhatEachLevelHolds(t *testing.T) {
	t.Parallel()
	r, _ := setup(t, Config{})
	if r.Level() < sys.IsolationFull || landlockABI() < 6 || !r.hasRooms(t.Context()) {
		t.Skip("this system does not have all of it")
	}
	levels := []sys.Isolation{sys.IsolationFull, sys.IsolationPartial, sys.IsolationLimits, sys.IsolationNone}
	held := map[sys.Isolation]map[string]bool{}
	for _, level := range levels {
		list, err := r.canaries(t.Context(), level, landlockABI())
		if err != nil {
			t.Fatal(err)
		}
		held[level] = map[string]bool{}
		for _, c := range list {
			held[level][c.Name] = c.Held
		}
	}
	canaries := func(names ...string) func(*testing.T, sys.Isolation) bool {
		return func(t *testing.T, level sys.Isolation) bool {
			t.Helper()
			for _, n := range names {
				if h, ok := held[level][n]; !ok {
					t.Errorf("there is no canary %q", n)
				} else if !h {
					return false
				}
			}
			return true
		}
	}
	rows := []struct {
		name  string
		holds func(*testing.T, sys.Isolation) bool
	}{
		{"secrets and other files outside are out of view", canaries("read a file outside", "read a hidden file", "list a folder outside")},
		{"files outside keep what is in them", canaries("write outside", "truncate a file that may be read", "open it for reading, emptied", "move a file out", "files outside unchanged")},
		{"files outside keep mode, owner and times", canaries("change the mode of a file outside")},
		{"hooks and settings of repositories", canaries("write to a hook", "make a hook", "change a repository's settings", "exchange a repository's settings", "move a repository away")},
		{"files of the folder that are closed to it, those that run code among them", keepsFiles},
		{"memory that programs share", canaries("read shared memory of others")},
		{"disk", holdsDisk},
		{"without the network: loopback and sockets of other programs", canaries("connect over TCP", "connect to a unix socket", "connect to an abstract unix socket", "connect to the ssh agent", "connect to the session's bus")},
		{"with the network: loopback and private network", holdsLoopback},
		{"its keeper", canaries("signal the helper", "limit the helper", "change the priority of the helper", "trace a process outside", "limit a process outside", "signal a process outside")},
		{"it ends with Oxios, whatever ends that", endsWithKeeper},
	}
	raw, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "<!-- levels -->\n")
	text, _, _ = strings.Cut(text, "<!-- /levels -->")
	written := map[string][]string{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); len(cells) == len(levels)+1 {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			written[cells[0]] = cells[1:]
		}
	}
	for _, row := range rows {
		cells := written[row.name]
		if cells == nil {
			t.Errorf("the documents have no row %q", row.name)
			continue
		}
		for i, level := range levels {
			word, _, _ := strings.Cut(cells[i], ",")
			word = strings.Trim(word, "*")
			if want := map[bool]string{true: "held", false: "open"}[row.holds(t, level)]; word != want {
				t.Errorf("%s, level %d: the documents say %q, but it is %s", row.name, level, cells[i], want)
			}
		}
	}
	if len(written) != len(rows)+2 { // the head and the line below it
		t.Errorf("the documents have %d rows, here are %d", len(written)-2, len(rows))
	}
}

func tried(t *testing.T, spec Spec) Result {
	t.Helper()
	r := New(Config{Helper: helper})
	defer r.Close()
	r.Probe(t.Context())
	if spec.Dir == "" {
		spec.Dir = canonical(t.TempDir())
	}
	res, err := r.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func keepsFiles(t *testing.T, level sys.Isolation) bool {
	t.Helper()
	dir := canonical(t.TempDir())
	file := filepath.Join(dir, "Makefile")
	write(t, file, "x")
	tried(t, Spec{Argv: []string{"bash", "-c", "echo y > Makefile"}, Dir: dir, Kept: []string{file}, Level: level})
	raw, err := os.ReadFile(file)
	return err == nil && string(raw) == "x"
}

func holdsDisk(t *testing.T, level sys.Isolation) bool {
	t.Helper()
	return tried(t, Spec{Argv: []string{"bash", "-c", "head -c 2000000 /dev/zero > large"}, MaxDisk: 1 << 20, Level: level}).ExitCode != 0
}

func holdsLoopback(t *testing.T, level sys.Isolation) bool {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	line := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", l.Addr().(*net.TCPAddr).Port)
	return tried(t, Spec{Argv: []string{"bash", "-c", line}, Network: true, Hole: func(context.Context, net.Conn) {}, Level: level}).ExitCode != 0
}

// endsWithKeeper reports whether a command that has left its session ends when its
// helper is killed, and nobody else ends it.
func endsWithKeeper(t *testing.T, level sys.Isolation) bool {
	t.Helper()
	dir := canonical(t.TempDir())
	r := New(Config{Helper: helper})
	defer r.Close()
	r.Probe(t.Context())
	// Without the mark that this process would find it by.
	j, err := r.Start(t.Context(), Spec{Argv: []string{"bash", "-c", "( env -i /usr/bin/setsid /bin/bash -c 'touch ready; while :; do /bin/sleep 1; done' & ); sleep 600"}, Dir: dir, Level: level})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "the command does not run", func() bool { return exists(filepath.Join(dir, "ready")) })
	signalAll([]int{j.root}, 9)
	<-j.Done()
	if level >= sys.IsolationPartial {
		eventually(t, 5*time.Second, "the command outlived its helper", func() bool { return len(inFolder(dir)) == 0 })
		return true
	}
	if len(inFolder(dir)) == 0 {
		return true
	}
	signalAll(inFolder(dir), 9)
	return false
}
