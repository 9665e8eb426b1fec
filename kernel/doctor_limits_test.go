package kernel_test

import (
	"runtime"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// limitsOf returns what the doctor says of the limits of commands.
func limitsOf(t *testing.T, k *kerneltest.Kernel) kernel.Check {
	t.Helper()
	r, err := k.Person().Infra.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if c.Name == "limits" {
			return c
		}
	}
	t.Fatalf("got %+v, want the limits among them", r.Checks)
	return kernel.Check{}
}

func TestDoctorSaysWhatHoldsTheMemoryOfCommands(t *testing.T) {
	t.Parallel()
	k := open(t)
	c := limitsOf(t, k)
	if c.State != kernel.CheckOK || c.Detail.KO == "" || c.Detail.KO == c.Detail.EN {
		t.Errorf("got %+v, want it in both languages", c)
	}
	if runtime.GOOS != "linux" {
		if !strings.Contains(c.Detail.EN, "not limited") {
			t.Errorf("got %q", c.Detail.EN)
		}
		return
	}
	contained(t, k)
	held := strings.Contains(c.Detail.EN, "held by cgroups")
	if watched := strings.Contains(c.Detail.EN, "watched"); held == watched || watched && !strings.Contains(c.Detail.EN, "cgroup") {
		t.Errorf("got %q, want one of both, and why", c.Detail.EN)
	}
	r, err := k.Person().Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat /proc/self/cgroup"})
	if err != nil || strings.Contains(r.Output, "/oxios.run-") != held {
		t.Errorf("the doctor says %q, and a command is in %q, %v", c.Detail.EN, r.Output, err)
	}
}

func TestDoctorSaysThatNothingIsLimitedWithoutAHelper(t *testing.T) {
	t.Parallel()
	if c := limitsOf(t, open(t, kerneltest.Uncontained())); !strings.Contains(c.Detail.EN, "not limited") || c.Detail.KO == "" {
		t.Errorf("got %+v", c)
	}
}
