package kernel_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// BenchmarkUndo57200: 57,200 files of 300 bytes in 1,122 folders, which a command
// deleted, come back: what was to be undone is shown, then done. The control copies
// the same tree with cp -a and makes the copy durable. Both are measured in turn, and
// the ratio is that of neighbours.
func BenchmarkUndo57200(b *testing.B) {
	const files, folders = 57_200, 1_122
	runs := 7
	if testing.Short() {
		runs = 3
	}
	k := kerneltest.Open(b)
	tree := filepath.Join(k.Folder, "src")
	old := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for i := range files {
		dir := filepath.Join(tree, fmt.Sprint(i%folders%33), fmt.Sprint(i%folders))
		if i < folders {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		path := filepath.Join(dir, fmt.Sprint("f", i, ".txt"))
		if err := os.WriteFile(path, []byte(strings.Repeat(fmt.Sprintf("%8d of the tree\n", i), 15)[:300]), 0o644); err != nil { //nolint:gosec // as programs write
			b.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			b.Fatal(err)
		}
	}
	sh := func(args ...string) {
		if out, err := exec.CommandContext(b.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v %s", args, err, out)
		}
	}
	original, copied := filepath.Join(b.TempDir(), "original"), filepath.Join(b.TempDir(), "copied")
	sh("cp", "-a", tree, original)
	h := k.Agent("autonomous")
	runLine(b, h, "true") // the folder is known then
	var undos, copies []time.Duration
	var ratios []float64
	for b.Loop() {
		for range runs {
			h := k.Agent("autonomous")
			runLine(b, h, "rm -r src")
			id := ended(b, k, h)
			sh("sync", "-f", k.Folder)
			control := func() time.Duration {
				began := time.Now()
				sh("cp", "-a", original, copied)
				sh("sync", "-f", copied)
				took := time.Since(began)
				sh("rm", "-r", copied)
				sh("sync", "-f", k.Folder)
				return took
			}
			before := control()
			began := time.Now()
			plan := preview(b, k, kernel.UndoQuery{RunID: id})
			shown := time.Since(began)
			plan, err := k.Person().Agents.Undo(b.Context(), kernel.UndoInput{RunID: id, Hash: plan.Hash})
			took := time.Since(began)
			if err != nil || plan.Ready < files {
				b.Fatalf("%d came back, %v", plan.Ready, err)
			}
			c := max(before, control()) // the disk is not always as fast
			b.Logf("shown after %s, undone after %s, copied in %s", shown, took, c)
			undos, copies, ratios = append(undos, took), append(copies, c), append(ratios, took.Seconds()/c.Seconds())
			sh("diff", "-r", "-q", original, tree)
		}
	}
	report(b, "undo", median(undos))
	report(b, "cp", median(copies))
	b.ReportMetric(middle(ratios), "undo/cp")
}

// middle is the median of ratios.
func middle(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	return of[len(of)/2]
}
