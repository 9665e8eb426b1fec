package security

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"oxios/kernel/store"

	"github.com/zeebo/blake3"
)

// kib is an entry of about 1 KiB.
func kib() Entry {
	return Entry{
		Actor: "agent:0190a1b2-0000-7000-8000-000000000000", Action: ActionToolCall, Resource: "exec.command",
		Metadata: json.RawMessage(`{"run_id":"0190a1b2-0000-7000-8000-000000000000","args":"` + strings.Repeat("x", 850) + `"}`),
	}
}

// BenchmarkAuditControl is what the chain is measured against: one line
// appended to a file and flushed.
func BenchmarkAuditControl(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := ExportLine(kib())
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b)
}

func BenchmarkAuditAppend(b *testing.B) {
	book, e := setupAudit(b), kib()
	for b.Loop() {
		book.append(b, e)
	}
	perSecond(b)
}

func BenchmarkAuditAppend64Writers(b *testing.B) {
	book, e := setupAudit(b), kib()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for range 64 {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				book.append(b, e)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	perSecond(b)
}

// BenchmarkAuditHash is the limit of verification: hashing alone, one core.
func BenchmarkAuditHash(b *testing.B) {
	data := []byte(strings.Repeat("x", 1024))
	for b.Loop() {
		_ = blake3.Sum256(data)
	}
	perSecond(b)
}

func BenchmarkAuditVerify(b *testing.B) {
	book := setupAudit(b)
	const n = 50_000
	err := book.st.Write(b.Context(), func(tx *store.Tx) error {
		for range n {
			if _, err := book.Append(tx, kib()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		mustVerify(b, book.Audit, AuditReport{OK: true, Entries: n})
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "entries/s")
}

func perSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
