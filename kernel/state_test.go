package kernel_test

import (
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func TestTitleIsTheFirstSentenceAndCostsNoCall(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script("[[scenario]]\n[[scenario.turn]]\ntext = \"Done.\"\n"))
	long := "Please " + strings.Repeat("look at every file and ", 8) + "then stop"
	for i, tt := range []struct{ text, want string }{
		{"Sort the receipts by month. Leave the others alone.", "Sort the receipts by month"},
		{"Is v1.2 older than v1.10? I forgot.", "Is v1.2 older than v1.10"},
		{"Hi. What is in this folder?", "Hi. What is in this folder"},
		{"영수증을 달마다 나눠 주세요. 나머지는 그대로 두세요.", "영수증을 달마다 나눠 주세요"},
		{"one line\nand another", "one line and another"},
		{long, "Please look at every file and look at every file and look…"},
	} {
		out := k.Ask(tt.text)
		v, err := k.Person().State.Session(t.Context(), out.SessionID)
		if err != nil || v.Session.Title != tt.want {
			t.Errorf("%q: got the title %q, %v, want %q", tt.text, v.Session.Title, err, tt.want)
		}
		if n := len(k.Demo.Requests()); n != i+1 {
			t.Fatalf("after %d messages: %d model calls, want one for each", i+1, n)
		}
	}
	title := "Receipts"
	out := k.Ask("Sort the receipts.")
	if _, err := k.Person().State.UpdateSession(t.Context(), out.SessionID, kernel.SessionPatch{Title: &title}); err != nil {
		t.Fatal(err)
	}
	k.Ask("And the bills.", func(m *kernel.Submit) { m.SessionID = out.SessionID })
	if v, err := k.Person().State.Session(t.Context(), out.SessionID); err != nil || v.Session.Title != title {
		t.Errorf("got %q, %v, want the title that the person gave", v.Session.Title, err)
	}
}
