package cli

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns the keyboard of a terminal, and the terminal itself.
func pseudoTerminal(t *testing.T) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return keyboard, terminal
}

func TestKeysBeforeThePromptAreDroppedOnATerminal(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]string{"a line without its end": "y", "a line": "y\n", "lines and more": "y\ny\ny"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := setup(t)
			keyboard, terminal := pseudoTerminal(t)
			open := make(chan time.Time)
			var began atomic.Bool
			screen := &watch{sees: "Approve?", then: func() { _, _ = keyboard.WriteString("\n") }} // alone, it is no
			r := d.with(typing{terminal: true, stdin: terminal, err: screen, after: func(time.Duration) <-chan time.Time {
				if began.Swap(true) {
					t.Error("it was asked twice")
				}
				go func() {
					_, _ = keyboard.WriteString(early)
					// The terminal has them when it shows them.
					for shown, b := "", make([]byte, 64); strings.Count(shown, "y") < strings.Count(early, "y"); {
						n, err := keyboard.Read(b)
						if err != nil {
							t.Error(err)
							break
						}
						shown += string(b[:n])
					}
					open <- time.Now()
				}()
				return open
			}}, "run", "--mode", "ask", writes)
			r.check(t, 0, "run")
			if d.file("hello.txt") != "" {
				t.Error("keys from before the prompt approved")
			}
		})
	}
}
