package sandbox

import (
	"io"
	"os"
	"testing"
	"time"

	"oxios/kernel/sys"
)

// A program that is talked to hears what is written, answers at once, and ends when nothing more comes: at each level.
func TestACommandWithInputIsTalkedTo(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	for _, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial, sys.IsolationLimits, sys.IsolationNone} {
		if level > r.Level() {
			continue
		}
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		heard, hears := io.Pipe()
		j, err := r.Start(t.Context(), Spec{
			Argv: []string{"cat"}, Dir: dir, Level: level, Input: in,
			OnOutput: func(_ string, p []byte) { _, _ = hears.Write(p) },
		})
		in.Close()
		if err != nil {
			t.Fatal(level, err)
		}
		for _, line := range []string{"one\n", "two\n"} {
			if _, err := io.WriteString(w, line); err != nil {
				t.Fatal(level, err)
			}
			got := make([]byte, len(line))
			if _, err := io.ReadFull(heard, got); err != nil || string(got) != line {
				t.Fatalf("level %d: heard %q, %v, want %q", level, got, err, line)
			}
		}
		w.Close()
		select {
		case <-j.Done():
		case <-time.After(time.Minute):
			t.Fatalf("level %d: did not end with its input", level)
		}
		if code := j.Result().ExitCode; code != 0 {
			t.Errorf("level %d: ended with %d", level, code)
		}
	}
}
