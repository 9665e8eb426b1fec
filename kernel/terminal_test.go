package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const terminalScript = `
[[scenario]]
any = ["tool"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "mytool; echo PATH=$PATH; echo VIRTUAL_ENV=$VIRTUAL_ENV."}'
[[scenario.turn]]
text = "{{result}}"
[[scenario]]
any = ["count"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "wc notes.txt"}'
[[scenario.turn]]
text = "{{result}}"
`

// program writes a program that says what it is.
func program(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as programs are
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho FOUND-IT $0\n"), 0o755); err != nil { //nolint:gosec // as programs are
		t.Fatal(err)
	}
}

// plainLogin has commands see this PATH of the login shell alone.
func plainLogin(path string) kerneltest.Option {
	return kerneltest.With(func(o *kernel.Options) {
		o.LoginEnv = func(context.Context) ([]string, error) {
			return []string{"PATH=" + path, "HOME=" + os.Getenv("HOME"), "VIRTUAL_ENV=/left/over"}, nil
		}
	})
}

func TestProgramOfTheTerminalIsFoundAndItsVariableComesWithItsFolder(t *testing.T) {
	t.Parallel()
	const login = "/usr/local/bin:/usr/bin:/bin"
	venv := realTemp(t, t.TempDir())
	program(t, filepath.Join(venv, "bin"), "mytool")
	k := open(t, kerneltest.Script(terminalScript), plainLogin(login))
	inside := filepath.Join(k.Folder, "tools")
	program(t, inside, "other")

	from := func(env ...string) string {
		return k.Ask("use the tool", func(m *kernel.Submit) { m.Mode, m.Terminal = "auto", env }).Response
	}
	said := from("PATH="+inside+":"+venv+"/bin:.:rel:/usr/bin", "VIRTUAL_ENV="+venv, "SECRET=x")
	for _, want := range []string{"FOUND-IT", "PATH=" + login + ":" + venv + "/bin:" + inside + "\n", "VIRTUAL_ENV=" + venv + "."} {
		if !strings.Contains(said, want) {
			t.Errorf("got %q, want %q in it", said, want)
		}
	}
	if said := from("PATH=/usr/bin", "VIRTUAL_ENV="+venv); !strings.Contains(said, "VIRTUAL_ENV=.") {
		t.Errorf("got %q, want no variable without its folder", said)
	}
	if said := from(); strings.Contains(said, "FOUND-IT") || !strings.Contains(said, "VIRTUAL_ENV=.") || !strings.Contains(said, "PATH="+login+"\n") {
		t.Errorf("got %q of a message from no terminal", said)
	}
}

func TestProgramThatOnlyTheFolderProvidesIsAScriptWhateverItsName(t *testing.T) {
	t.Parallel()
	bare := realTemp(t, t.TempDir())
	k := open(t, kerneltest.Script(terminalScript), plainLogin(bare))
	program(t, filepath.Join(k.Folder, "bin"), "wc")
	writeFile(t, filepath.Join(k.Folder, "notes.txt"), "one\n")
	run := k.Say("count them", func(m *kernel.Submit) {
		m.Mode, m.Terminal = "guarded", []string{"PATH=" + filepath.Join(k.Folder, "bin")}
	}).RunID
	if ap := k.Approval(run); !strings.Contains(ap.Request.Command, "wc notes.txt") {
		t.Errorf("got %+v, want the line asked about", ap.Request)
	}

	system := open(t, kerneltest.Script(terminalScript), plainLogin("/usr/bin:/bin"))
	program(t, filepath.Join(system.Folder, "bin"), "wc")
	writeFile(t, filepath.Join(system.Folder, "notes.txt"), "one\n")
	r := system.Ask("count them", func(m *kernel.Submit) {
		m.Mode, m.Terminal = "guarded", []string{"PATH=" + filepath.Join(system.Folder, "bin")}
	})
	if strings.Contains(r.Response, "FOUND-IT") || len(r.Waiting) > 0 {
		t.Errorf("got %q, want the program of the system, unasked", r.Response)
	}
}
