package kernel

import (
	"fmt"
	"strings"
	"testing"
)

func TestOutputIsWhatATerminalShowsAtItsEnd(t *testing.T) {
	t.Parallel()
	var bar, layers strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&bar, "\rprogress %d%%", i)
		fmt.Fprintf(&layers, "layer a %d\nlayer b %d\n\x1b[2A", i, i)
	}
	for name, c := range map[string][2]string{
		"a bar":                       {bar.String() + "\nend", "progress 1999%\nend"},
		"several bars":                {layers.String() + "\x1b[2Bend", "layer a 1999\nlayer b 1999\nend"},
		"a line that is erased":       {"working…\x1b[2K\rdone\n", "done\n"},
		"the rest of a line":          {"a long line\rab\x1b[K\n", "ab\n"},
		"erased from the first":       {"one\x1b[1G\x1b[0Ktwo", "two"},
		"a shorter text over it":      {"12345\rab", "ab345"},
		"a step back":                 {"ab\bc", "ac"},
		"a spinner":                   {"|\b/\b-\b\\\b ok", " ok"},
		"letters of Korean":           {"받는 중 1%\r받는 중 2%\n", "받는 중 2%\n"},
		"line ends of Windows":        {"one\r\ntwo\r\n", "one\r\ntwo\r\n"},
		"Windows behind a bar":        {"1%\r2%\r\ntwo\r\n", "2%\ntwo\n"},
		"a colour alone":              {"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"},
		"a colour in a bar":           {"\x1b[31m1%\x1b[0m\r\x1b[32m2%\x1b[0m", "2%"},
		"beyond the top":              {"\x1b[9Aone\x1b[99Dtwo", "two"},
		"a cleared screen":            {"old\nold\x1b[2J\x1b[Hnew", "new"},
		"far to the right":            {"\x1b[999999999Cx\ry", "y" + strings.Repeat(" ", maxCells-1) + "x"},
		"an escape at the end":        {"a\rb\x1b[", "b\x1b["},
		"nothing":                     {"", ""},
		"what stands below is erased": {"one\ntwo\nthree\x1b[2A\r\x1b[Jnew", "new"},
	} {
		if got := asShown(c[0]); got != c[1] {
			t.Errorf("%s: got %q, want %q", name, sample(got), sample(c[1]))
		}
	}
}

func sample(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
