package demo

import "testing"

// What the kernel puts in front of a message is not what the person wrote.
func TestTheMessageIsWhatThePersonWroteLast(t *testing.T) {
	t.Parallel()
	ended := "Make a\n\n(Oxios: that run ended as failed.)\n\n"
	dropped := "(Oxios: this stands in place of the earlier part.)\n\n## What you were told\n\nMake b\n\n" +
		"(Oxios: 2 messages, 1 KB, were dropped here. They stay in the journal of this conversation, this run is x. Look up again.)\n\n"
	for before, name := range map[string]string{"": "alone", ended: "ended", dropped: "dropped", dropped + ended: "both"} {
		if got := newest(before + "One\n\n(two)\n\nthree"); got != "One\n\n(two)\n\nthree" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
