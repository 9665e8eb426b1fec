package kernel_test

import (
	"strings"
	"testing"

	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// TestAProviderThatKeepsFailingIsLeftAlone counts over messages of the person: the
// sixth is not sent, and the status and the doctor say why.
func TestAProviderThatKeepsFailingIsLeftAlone(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t, kerneltest.Script("[[scenario]]\nmatch = '.'\n[[scenario.turn]]\nstatus = 422\nbody = '{\"error\":{\"message\":\"the engine is broken\"}}'\ntimes = 100\n"))
	for n := range 5 {
		if r := k.Ask("Hello"); r.Error == nil || r.Error.Code != sys.CodeProvider {
			t.Fatalf("message %d: got %+v, want a failure of the provider", n+1, r)
		}
	}
	asked := k.Demo.Served()
	r := k.Ask("Hello")
	if r.Error == nil || r.Error.Code != sys.CodeUnavailable || !strings.Contains(r.Error.Message, "left alone until") || r.Error.Hint == "" {
		t.Errorf("the sixth message: got %+v", r.Error)
	}
	if n := k.Demo.Served(); n != asked {
		t.Errorf("%d requests were sent after the fifth failure", n-asked)
	}
	s, err := k.Person().Infra.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Offline) != 1 || s.Offline[0].RetryAt == nil || s.Offline[0].RetryAt.IsZero() || len(s.Offline[0].Runs) != 0 {
		t.Errorf("the status says %+v", s.Offline)
	}
	report, err := k.Person().Infra.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, c := range report.Checks {
		found = found || c.Name == "model" && c.State == "warn" && strings.Contains(c.Detail.EN, "failed several times") && c.Detail.KO != ""
	}
	if !found {
		t.Errorf("the doctor says nothing of it: %+v", report.Checks)
	}
	if s, err = k.Person().Infra.Reconnect(t.Context()); err != nil || len(s.Offline) != 0 {
		t.Errorf("tried again by hand: %v, %+v", err, s.Offline)
	}
}
