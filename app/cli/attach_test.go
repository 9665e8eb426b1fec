package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel/kerneltest"
)

const echoes = `
[[scenario]]
[[scenario.turn]]
text = "I have it."
`

func TestRunSendsFilesAlong(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(echoes))
	if err := os.WriteFile(filepath.Join(d.dir, "notes.txt"), []byte("milk and bread"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	r := d.must(0, "run", "--attach", "notes.txt", "--attach", folder, "What do I need?")
	contains(t, "stderr", r.err, "Attached notes.txt, about 3 tokens", "Attached "+filepath.Base(folder)+", by its path")
	requests := d.Demo.Requests()
	body := string(requests[len(requests)-1].Body)
	for _, want := range []string{"What do I need?", "milk and bread", folder} {
		if !strings.Contains(body, want) {
			t.Errorf("the model does not read %q", want)
		}
	}
	// Another process may own the home: the file is read there.
	stop := d.own()
	contains(t, "stderr", d.must(0, "run", "--attach", "notes.txt", "And now?").err, "Attached notes.txt, about 3 tokens")
	stop()
	// Without a word the file is the message.
	d.with(typing{terminal: true}, "run", "--attach", "notes.txt").check(t, 0, "run", "--attach")
}

func TestRunThatCannotAttachSendsNothing(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(echoes))
	if err := os.WriteFile(filepath.Join(d.dir, "broken.pdf"), []byte("%PDF-1.4 and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"broken.pdf": "broken.pdf cannot be read as a PDF", "none.txt": "There is no", d.Home: "agents never read it"} {
		r := d.must(1, "run", "--attach", file, "Read it.")
		contains(t, "stderr", r.err, want)
	}
	d.env["LANG"] = "ko_KR.UTF-8"
	contains(t, "stderr", d.must(1, "run", "--attach", "none.txt", "x").err, "아무것도 첨부하지 않았습니다")
	if n := d.Demo.Served(); n != 0 {
		t.Errorf("%d requests went out", n)
	}
}
