package security

import (
	"testing"

	"oxios/kernel/sys"
)

func TestPlainTextTakesWhatNobodySeesAndLeavesWhatWritingNeeds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain text,\n\ttabs and 한국어, café, Привет":                                             "plain text,\n\ttabs and 한국어, café, Привет",
		"a\u202eb\u202cc \u2066d\u2069 \u200e\u200f\u061c":                                      "abc d ",
		"ze\u200bro\u2060 \ufeffwidth\u00ad":                                                    "zero width",
		"tags \U000E0001\U000E0069\U000E0067\U000E007F end":                                     "tags  end",
		"\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \u009b2Jclear\x08": "red link clear",
		"family 👨\u200d👩\u200d👧 and ❤\ufe0f and 1\ufe0f\u20e3":                                  "family 👨\u200d👩\u200d👧 and ❤\ufe0f and 1\ufe0f\u20e3",
		"می\u200cخواهم क\u094d\u200dष":                                                          "می\u200cخواهم क\u094d\u200dष",
		"i\u200dg\u200cn\u200do\ufe00\ufe01re":                                                  "ignore",
		"x\ufe0f\ufe0f\ufe0f and \U000E0100\U000E0101 end":                                      "x and  end",
	} {
		if got := PlainText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzPlainText(f *testing.F) {
	f.Add("a\u202eb \x1b[31m \U000E0041")
	f.Fuzz(func(t *testing.T, in string) {
		once := PlainText(in)
		for _, r := range once {
			if r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r >= 0xE0000 && r <= 0xE007F || r == 0x1B || r == 0x200B {
				t.Fatalf("%q: got %q, which has %U", in, once, r)
			}
		}
		if len(once) > len(in) && len(in) == len([]byte(string([]rune(in)))) {
			t.Fatalf("%q grew to %q", in, once)
		}
	})
}

func TestTheRuleOfTaint(t *testing.T) {
	t.Parallel()
	outside, private := Label{ID: "o", Untrusted: true}, Label{ID: "p", Sensitive: true}
	leaves, beyond := SinkCall{Sink: SinkCommand, Leaves: true}, SinkCall{Sink: SinkFile, Outside: true}
	for _, c := range []struct {
		what      string
		read      Labels
		call      SinkCall
		isolation sys.Isolation
		want      Decision
	}{
		{"nothing read", nil, leaves, 0, DecisionFree},
		{"private alone", Labels{private}, leaves, 0, DecisionFree},
		{"from outside alone", Labels{outside}, leaves, 2, DecisionFree},
		{"both, and it leaves", Labels{outside, private}, leaves, 2, DecisionAsk},
		{"both, outside the folder", Labels{private, outside}, beyond, 2, DecisionAsk},
		{"both, inside", Labels{private, outside}, SinkCall{Sink: SinkFile}, 2, DecisionFree},
		{"both, only looks", Labels{private, outside}, SinkCall{}, 0, DecisionFree},
		{"from outside, uncontained", Labels{outside}, SinkCall{Sink: SinkCommand}, 0, DecisionNever},
		{"from outside, with limits", Labels{outside}, SinkCall{Sink: SinkCommand}, 1, DecisionFree},
		{"from outside, a task", Labels{outside}, SinkCall{Sink: SinkTask}, 2, DecisionAsk},
		{"from outside, control", Labels{outside}, SinkCall{Sink: SinkControl}, 2, DecisionNever},
		{"private, control", Labels{private}, SinkCall{Sink: SinkControl}, 2, DecisionFree},
	} {
		if got, why := DecideTaint(c.read, c.call, c.isolation); got != c.want || (got == DecisionFree) != (why == "") {
			t.Errorf("%s: got %s (%s), want %s", c.what, got, why, c.want)
		}
	}
}
