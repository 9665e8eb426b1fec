package security

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zeebo/blake3"

	"oxios/kernel/store"
)

// BenchmarkP6Audit measures the chain with entries of about 1 KiB against what it
// is made of, in one run: a line appended to a file and flushed, and the hash. The
// chain grows to 200,000 entries on the way.
func BenchmarkP6Audit(b *testing.B) {
	const some, crowd, many = 400, 6400, 200_000
	kib := Entry{
		Actor: "agent:0190a1b2-0000-7000-8000-000000000000", Action: ActionToolCall, Resource: "exec.command",
		Metadata: json.RawMessage(`{"run_id":"0190a1b2-0000-7000-8000-000000000000","args":"` + strings.Repeat("x", 850) + `"}`),
	}
	for b.Loop() {
		book := setupAudit(b)
		raw := rate(b, some, rawAppend(b, ExportLine(kib)))
		single := rate(b, some, func() { book.append(b, kib) })
		var left atomic.Int64
		left.Store(crowd)
		began := time.Now()
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					book.append(b, kib)
				}
			})
		}
		wg.Wait()
		together := crowd / time.Since(began).Seconds()

		var known Verified
		for n := some + crowd; n < many; n += 10_000 {
			err := book.st.Write(b.Context(), func(tx *store.Tx) error {
				for range 10_000 {
					if _, err := book.Append(tx, kib); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		late := rate(b, some, func() { book.append(b, kib) })

		data := []byte(strings.Repeat("x", 1024))
		hash := rate(b, 200_000, func() { _ = blake3.Sum256(data) })
		began = time.Now()
		report, known, err := book.VerifyAfter(b.Context(), known)
		if err != nil || !report.OK {
			b.Fatalf("got %+v, %v", report, err)
		}
		verify := float64(report.Entries) / time.Since(began).Seconds()
		book.append(b, kib)
		began = time.Now()
		if report, _, err = book.VerifyAfter(b.Context(), known); err != nil || !report.OK {
			b.Fatalf("got %+v, %v", report, err)
		}
		b.ReportMetric(float64(time.Since(began).Microseconds()), "us_verify_one_more")
		b.ReportMetric(single/raw, "single_of_raw(goal>=0.6)")
		b.ReportMetric(together/single, "64_writers_of_single(goal>=6)")
		b.ReportMetric(verify/hash/float64(runtime.NumCPU()), "verify_of_hash_on_all_cores(goal>=0.9)")
		b.ReportMetric(single/late, "growth_to_200k(goal~1)")
		b.ReportMetric(single, "single/s")
		b.ReportMetric(verify, "verified/s")
	}
}

// rate is how often fn runs in a second, over n times.
func rate(b *testing.B, n int, fn func()) float64 {
	b.Helper()
	began := time.Now()
	for range n {
		fn()
	}
	return float64(n) / time.Since(began).Seconds()
}

// rawAppend appends a line to a file and flushes it.
func rawAppend(b *testing.B, line []byte) func() {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return func() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}
