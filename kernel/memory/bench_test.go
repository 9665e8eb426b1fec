package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"oxios/kernel/memory"
)

// BenchmarkP4Insert remembers one thing after the other, each kept on the disk and
// found when it returns, beside a file to which the same bytes are appended and
// flushed.
func BenchmarkP4Insert(b *testing.B) {
	for _, n := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			f := setup(b)
			all := make([]memory.New, n)
			for i := range all {
				all[i] = memory.New{Text: fmt.Sprintf("fact number %d says that the drawer %d holds letters", i, i%977), Source: memory.FromImport}
			}
			if _, err := f.Import(b.Context(), all); err != nil {
				b.Fatal(err)
			}
			f.search(b, "", "letters") // has the index loaded
			log, err := os.OpenFile(filepath.Join(b.TempDir(), "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			defer log.Close()
			var ours, appends []time.Duration
			i := 0
			for b.Loop() {
				i++
				text := fmt.Sprintf("new fact number %d says that the lamp %d is green", i, i%977)
				begin := time.Now()
				f.add(b, memory.New{Text: text, Source: memory.FromAgent})
				ours = append(ours, time.Since(begin))
				begin = time.Now()
				if _, err := log.WriteString(text); err != nil {
					b.Fatal(err)
				}
				if err := log.Sync(); err != nil {
					b.Fatal(err)
				}
				appends = append(appends, time.Since(begin))
			}
			b.ReportMetric(float64(median(ours).Microseconds()), "us-p50")
			b.ReportMetric(float64(median(ours))/float64(median(appends)), "x-of-append(goal<=2.5)")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
