//go:build desktop || dev

package desktop

import (
	"context"
	"testing"

	"oxios/app/remote"
)

// inFront is a kernel that knows whether one window is in front.
type inFront struct {
	remote.InfraAPI

	now bool
}

func (f *inFront) ReportFocus(_ context.Context, focused bool) error {
	f.now = focused
	return nil
}

func TestWindowIsInFrontWhileADialogOfItIsOpen(t *testing.T) {
	t.Parallel()
	kernel := &inFront{}
	a := newAttachment(t.TempDir(), Deps{}, nil)
	a.dialog(t.Context())() // there is no kernel: nothing to say
	a.set(&remote.Handle{Infra: kernel})
	page := a.Handle().Infra
	say := func(focused bool) {
		if err := page.ReportFocus(t.Context(), focused); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, want bool) {
		t.Helper()
		if kernel.now != want {
			t.Errorf("%s: got in front %v, want %v", what, kernel.now, want)
		}
	}
	say(true)
	closed := a.dialog(t.Context())
	want("the dialog opens", true)
	say(false) // it has the keyboard
	want("the page lost the keyboard to it", true)
	second := a.dialog(t.Context())
	closed()
	want("another one is open", true)
	second()
	want("both are closed, and the page did not get the keyboard back", false)
	closed = a.dialog(t.Context())
	say(false)
	say(true)
	closed()
	want("the page has the keyboard again", true)
	say(false)
	want("another program has it", false)
}
