package kernel_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// squeeze is what no backup can do without: compress a file, sync it, and read
// it back.
func squeeze(b *testing.B, from, to string) {
	b.Helper()
	in, err := os.Open(from)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(zip, in)
	if err = errors.Join(err, zip.Close(), out.Sync()); err != nil {
		b.Fatal(err)
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		b.Fatal(err)
	}
	back, err := gzip.NewReader(out)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, back); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBackup10kMessages: a home with 10,000 messages of about 1 KiB in 200
// conversations, with 5,000 runs and 10,000 steps: saved and verified, restored
// into an empty home, restored again. The control compresses the same database,
// syncs it and reads it back.
func BenchmarkBackup10kMessages(b *testing.B) {
	from := kerneltest.Open(b)
	from.Fill(b, 200, 25)
	database := filepath.Join(b.TempDir(), "copy.db")
	var control, save, add, again, remove []time.Duration
	var size, file int64
	for b.Loop() {
		for i := range 3 { // each takes seconds
			path := filepath.Join(b.TempDir(), fmt.Sprint(i, ".tar.gz"))
			began := time.Now()
			r, err := from.Person().Infra.Backup(b.Context(), path)
			if err != nil {
				b.Fatal(err)
			}
			save, size = append(save, time.Since(began)), r.Bytes
			if i == 0 {
				from.CopyDatabase(b, database)
				info, err := os.Stat(database)
				if err != nil {
					b.Fatal(err)
				}
				file = info.Size()
			}
			began = time.Now()
			squeeze(b, database, path+".control")
			control = append(control, time.Since(began))

			to := kerneltest.Open(b)
			for _, into := range []*[]time.Duration{&add, &again} {
				began = time.Now()
				if _, err := to.Person().Infra.Restore(b.Context(), kernel.RestoreInput{Path: path}); err != nil {
					b.Fatal(err)
				}
				*into = append(*into, time.Since(began))
			}
			list, err := to.Person().State.Sessions(b.Context(), kernel.SessionQuery{Limit: 1})
			if err != nil || len(list) != 1 {
				b.Fatal(len(list), err)
			}
			began = time.Now()
			if _, err := to.Person().State.DeleteSession(b.Context(), list[0].ID); err != nil {
				b.Fatal(err)
			}
			remove = append(remove, time.Since(began))
			to.Stop()
		}
	}
	report(b, "backup", median(save))
	report(b, "control", median(control))
	report(b, "restore", median(add))
	report(b, "restore_again", median(again))
	report(b, "delete_one", median(remove))
	b.ReportMetric(float64(median(save))/float64(median(control)), "backup/control")
	b.ReportMetric(float64(size)/1e6, "backup_MB")
	b.ReportMetric(float64(file)/1e6, "database_MB")
}
