package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel/kerneltest"
	"oxios/kernel/store"
)

func TestAWriteThatHasBegunIsFinishedWhenTheKernelEnds(t *testing.T) {
	t.Parallel()
	const files = 40
	var script strings.Builder
	script.WriteString("[[scenario]]\nmatch = \"^write\"\n[[scenario.turn]]\n")
	for i := range files {
		fmt.Fprintf(&script, "[[scenario.turn.call]]\ntool = \"write\"\nargs = '{\"path\": \"%d.txt\", \"content\": \"here\"}'\n", i)
	}
	script.WriteString("[[scenario.turn]]\ntext = \"Written.\"\n")
	k := kerneltest.Open(t, kerneltest.Script(script.String()))
	run := k.Say("write them").RunID
	there := func() (n int) {
		for i := range files {
			if _, err := os.Stat(filepath.Join(k.Folder, fmt.Sprintf("%d.txt", i))); err == nil {
				n++
			}
		}
		return n
	}
	for _, some := range []int{1, 10, 20, 30} {
		k.Until(fmt.Sprint("files are there: ", some), func() bool { return there() >= some })
		k.Restart()
	}
	k.Wait(run)
	v, err := k.Person().Agents.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range v.Steps {
		if s.Name == "write" && s.Outcome != store.OutcomeOK {
			t.Errorf("%s: %s", s.Args, s.Outcome)
		}
	}
	if there() != files {
		t.Errorf("got %d files, want %d", there(), files)
	}
}
