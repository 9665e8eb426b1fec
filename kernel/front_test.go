package kernel_test

import (
	"testing"

	"oxios/kernel"
)

func TestOneClientTakesTheFocusFromNoOther(t *testing.T) {
	t.Parallel()
	k := open(t)
	window, quick := k.Person(), k.Person()
	say := func(h *kernel.Handle, focused bool) {
		t.Helper()
		if err := h.Infra.ReportFocus(t.Context(), focused); err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct {
		who     *kernel.Handle
		focused bool
		want    bool
	}{
		{quick, true, true},
		{window, true, true},
		{quick, false, true},
		{quick, false, true},
		{window, false, false},
		{window, true, true},
		{window, true, true},
		{window, false, false},
	} {
		say(step.who, step.focused)
		if got := k.Focused(); got != step.want {
			t.Errorf("step %d: got in front %v, want %v", i, got, step.want)
		}
	}
}
