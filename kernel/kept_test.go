package kernel_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestWhatFacesKeepIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	k := open(t)
	keep := func(key, value string) {
		t.Helper()
		if err := k.Person().Infra.Keep(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	keep("pane", "300")
	keep("side", "420")
	keep("side", "")
	keep("pane", "310")
	k.Restart()
	got, err := k.Person().Infra.Kept(t.Context())
	if diff := cmp.Diff(map[string]string{"pane": "310"}, got); err != nil || diff != "" {
		t.Errorf("kept (-want +got):\n%s%v", diff, err)
	}
}

func TestNothingLargeOrStrangeIsKept(t *testing.T) {
	t.Parallel()
	k := open(t)
	for key, value := range map[string]string{"": "x", "Pane": "x", "a b": "x", strings.Repeat("a", 65): "x", "large": strings.Repeat("x", 16<<10+1)} {
		wantCode(t, key, k.Person().Infra.Keep(t.Context(), key, value), sys.CodeInvalid)
	}
	if got, err := k.Person().Infra.Kept(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v, want nothing kept", got, err)
	}
}

func TestAgentsKeepNothingForFaces(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	wantCode(t, "keep", k.Agent("guarded").Infra.Keep(t.Context(), "pane", "1"), sys.CodeForbidden)
}

func TestStatusTellsTheMemoryOfTheMachine(t *testing.T) {
	t.Parallel()
	k := open(t)
	s, err := k.Person().Infra.Status(t.Context())
	if err != nil || s.MemoryMB < 100 || s.MemoryMB > 1<<26 {
		t.Errorf("got %d MB, %v", s.MemoryMB, err)
	}
}
