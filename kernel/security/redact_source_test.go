package security

import (
	"cmp"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

// drawnSources are n source files of the Go tree and of the modules of this build,
// without tests and their data, which hold keys on purpose. They are drawn by a
// hash of their names, so that a machine with other modules besides draws mostly
// the same.
func drawnSources(tb testing.TB, n int) []string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		tb.Skipf("Left out: there is no Go to ask for its folders (%v).", err)
	}
	type drawn struct {
		path string
		hash uint64
	}
	ends := []string{".go", ".c", ".h", ".s", ".cc", ".cpp", ".py", ".js", ".ts", ".java", ".rs", ".proto", ".pl", ".rb"}
	var files []drawn
	for root := range strings.Lines(string(out)) {
		root = strings.TrimSpace(root)
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be looked into is left out
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "cache"):
				return fs.SkipDir
			case d.Type().IsRegular() && slices.Contains(ends, filepath.Ext(path)) && !strings.HasSuffix(path, "_test.go"):
				sum := fnv.New64a()
				_, _ = sum.Write([]byte(filepath.ToSlash(strings.TrimPrefix(path, root))))
				files = append(files, drawn{path, sum.Sum64()})
			}
			return nil
		})
	}
	if len(files) < n {
		tb.Skipf("Left out: the Go tree and the modules of this machine have %d source files, and %d are needed.", len(files), n)
	}
	slices.SortFunc(files, func(a, b drawn) int { return cmp.Compare(a.hash, b.hash) })
	paths := make([]string, n)
	for i := range paths {
		paths[i] = files[i].path
	}
	return paths
}

// privateBlock begins a private key in a text.
var privateBlock = sys.Pattern(`-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----`)

// maskedSources masks source files and returns how many changed by it, and their
// bytes.
func maskedSources(tb testing.TB, files []string) (changed int, size int64) {
	tb.Helper()
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil || privateBlock().Match(raw) {
			continue
		}
		size += int64(len(raw))
		known, n := RedactAs(TextFormOf(file, string(raw)), string(raw))
		out, m := Redact(string(raw))
		if n+m == 0 {
			continue
		}
		changed++
		tb.Logf("%s: %s%s", file, firstDifference(string(raw), known), firstDifference(string(raw), out))
	}
	return changed, size
}

// One in two thousand may change, with its name and as a text of which nothing is
// known; BenchmarkSourceCodeIsNotMasked holds 10,000 files to that.
func TestSourceCodeIsNotMasked(t *testing.T) {
	t.Parallel()
	if changed, _ := maskedSources(t, drawnSources(t, 1000)); changed > 1 {
		t.Errorf("got %d of 1,000 source files changed, want at most one", changed)
	}
}

// firstDifference is the first line that differs.
func firstDifference(a, b string) string {
	other := strings.Split(b, "\n")
	for i, line := range strings.Split(a, "\n") {
		if i >= len(other) || other[i] != line {
			return strings.TrimSpace(line[:min(len(line), 300)])
		}
	}
	return ""
}

// BenchmarkSourceCodeIsNotMasked masks 10,000 source files, of which at most five
// may change.
func BenchmarkSourceCodeIsNotMasked(b *testing.B) {
	files := drawnSources(b, 10_000)
	for b.Loop() {
		changed, size := maskedSources(b, files)
		if changed > 5 {
			b.Errorf("got %d of %d source files changed, want at most 5", changed, len(files))
		}
		b.ReportMetric(float64(changed), "changed")
		b.SetBytes(2 * size)
	}
}

// BenchmarkRedactSource is the speed of masking over source files as they are. At
// least 20 MB/s are wanted.
func BenchmarkRedactSource(b *testing.B) {
	var texts []string
	size := 0
	for _, file := range drawnSources(b, 500) {
		if raw, err := os.ReadFile(file); err == nil {
			texts = append(texts, string(raw))
			size += len(raw)
		}
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, text := range texts {
			Redact(text)
		}
	}
}
