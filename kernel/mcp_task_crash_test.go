//go:build unix

package kernel_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// A process of its own makes the call, with the person's approval, and is killed while the server works on it.
func TestATaskIsGoneOnWithAfterAKill(t *testing.T) {
	t.Parallel()
	first := tasked(t, `{"ms": 1500}`, serves(""), func(d *kernel.MCPServer) { d.Always = true })
	first.Stop()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "OXIOS_CRASH_HOME="+first.Home, "OXIOS_CRASH_URL="+first.URL, "OXIOS_CRASH_HELPER="+kerneltest.Helper(t), "OXIOS_CRASH_COMMITS=0")
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first.Until("the task is written down", func() bool { return len(heldTasks(first.Home)) == 1 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	k := open(t, serverTaskScript(`{"ms": 1500}`), kerneltest.At(first.Home, first.Folder))
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
	if err != nil || len(list) != 1 {
		t.Fatalf("the runs are %+v, %v", list, err)
	}
	r := k.Wait(list[0].ID)
	if !strings.Contains(r.Response, "It is done.") || !slices.Equal(asksOf(k), []string{"call"}) {
		t.Errorf("got %q; it was asked %v", r.Response, asksOf(k))
	}
}
