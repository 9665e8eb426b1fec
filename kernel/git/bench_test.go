package git

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"oxios/kernel/sys"
)

const rounds = 7

// BenchmarkP8 measures a commit of one file among many: beside writing the same
// objects as loose ones, durable, one after the other and nothing else (also without
// the flush of their names, which is what git does); and beside the program git, which
// adds and commits one file of the same tree with an index and a history of its own.
// They take turns.
func BenchmarkP8(b *testing.B) {
	first := time.Duration(0)
	for _, files := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			w := newWorkspace(b, files)
			for b.Loop() {
				ours := w.measure(b)
				if first == 0 {
					first = ours
				}
				b.ReportMetric(float64(ours)/float64(first), "growth(goal~1)")
			}
		})
	}
}

// workspace is one that has been in use.
type workspace struct {
	*Repo
	dir  string
	peer []string // the environment of the program git
}

func newWorkspace(b *testing.B, files int) *workspace {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "workspace")
	w := &workspace{New(dir, nil), dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")}
	if err := w.Create("seeds/first", nil); err != nil {
		b.Fatal(err)
	}
	if _, err := w.Commit(b.Context(), "begin", "seeds"); err != nil {
		b.Fatal(err)
	}
	var history bytes.Buffer
	fmt.Fprintf(&history, "commit refs/heads/main\ncommitter Oxios <oxios@localhost> 0 +0000\ndata 4\nmany\nfrom refs/heads/main^0\n")
	for n := range files {
		text := seedText(n / 2)
		name := pathOf([]string{"seeds", "evals"}[n%2], seedID(n/2))
		fmt.Fprintf(&history, "M 644 inline %s\ndata %d\n%s\n", name, len(text), text)
		to := filepath.Join(dir, filepath.FromSlash(name))
		err := os.WriteFile(to, text, 0o600)
		if os.IsNotExist(err) {
			if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
				err = os.WriteFile(to, text, 0o600)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	w.git(b, &history, "fast-import", "--quiet", "--force")
	w.git(b, nil, "read-tree", "HEAD")
	w.git(b, nil, "update-index", "-q", "--refresh")
	// The peer has the same files, and the same history up to here.
	peer := filepath.Join(b.TempDir(), "peer")
	if err := os.CopyFS(peer, os.DirFS(filepath.Join(dir, ".git"))); err != nil {
		b.Fatal(err)
	}
	w.peer = append(w.peer, "GIT_DIR="+peer, "GIT_WORK_TREE="+dir, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	return w
}

// pathOf is where the kernel puts what belongs to a seed.
func pathOf(kind, id string) string { return fmt.Sprintf("%s/%s/%s-v1.json", kind, id[len(id)-2:], id) }

// seedID is an identifier as sys.NewID makes them, but the same each time.
func seedID(n int) string {
	mix := uint64(n+1) * 0x9e3779b97f4a7c15
	return fmt.Sprintf("%08x-%04x-7%03x-8%03x-%012x", 0x0190a1b2+n, mix>>48, mix>>36&0xfff, mix>>24&0xfff, mix&0xffffffffffff)
}

func seedText(n int) []byte {
	return fmt.Appendf(nil, "{\"goal\": %q, \"n\": %d}\n", strings.Repeat("Tidy the notes about the garden. ", 20), n)
}

func (w *workspace) git(b *testing.B, in io.Reader, args ...string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "git", args...)
	cmd.Dir, cmd.Stdin, cmd.Env = w.dir, in, w.peer
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// measure reports all figures and returns what a commit took.
func (w *workspace) measure(b *testing.B) time.Duration {
	var ours, raw, bare, program, fsync []time.Duration
	timed := func(into *[]time.Duration, do func()) {
		began := time.Now()
		do()
		*into = append(*into, time.Since(began))
	}
	commit := func() {
		if id, err := w.Commit(b.Context(), "one more", "seeds", "evals"); err != nil || id == "" {
			b.Fatal(id, err)
		}
	}
	create := func() string {
		name := pathOf("seeds", sys.NewID())
		if err := w.Create(name, []byte(name+" is what was agreed on")); err != nil {
			b.Fatal(err)
		}
		return name
	}
	var whole []time.Duration
	create()
	timed(&whole, commit) // it looks at all files
	create()
	commit()
	control := filepath.Join(b.TempDir(), "objects")
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	size := 0
	for range rounds {
		create()
		timed(&ours, commit)
		loose := w.newest(b)
		size = 0
		for _, o := range loose {
			size += len(o.body)
		}
		timed(&raw, func() { writeLoose(b, control, loose, true) })
		timed(&bare, func() { writeLoose(b, control, loose, false) })
		name := create()
		timed(&program, func() {
			w.git(b, nil, "add", name)
			w.git(b, nil, "commit", "-q", "-m", "one more")
		})
		commit()
		timed(&fsync, func() {
			if _, err := log.Write(make([]byte, 1024)); err != nil {
				b.Fatal(err)
			}
			if err := log.Sync(); err != nil {
				b.Fatal(err)
			}
		})
	}
	for _, check := range [][]string{{"fsck", "--strict", "--no-dangling"}, {"status", "--porcelain"}} {
		cmd := exec.CommandContext(b.Context(), "git", check...)
		cmd.Dir = w.dir
		if out, err := cmd.Output(); err != nil || len(out) > 0 {
			b.Fatalf("git %v: %v\n%s", check, err, out)
		}
	}
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(us(median(ours)), "commit_us")
	b.ReportMetric(us(ours[0]), "fastest_us")
	b.ReportMetric(us(median(raw)), "objects_fsync_us")
	b.ReportMetric(us(median(bare)), "objects_fsync_no_folders_us")
	b.ReportMetric(us(median(program)), "git_us")
	b.ReportMetric(us(median(fsync)), "fsync_us")
	b.ReportMetric(us(whole[0]), "first_of_a_process_us")
	b.ReportMetric(float64(size), "object_bytes")
	b.ReportMetric(load(), "load")
	b.ReportMetric(float64(median(ours))/float64(median(raw)), "of_objects(goal<=1.2)")
	b.ReportMetric(float64(median(ours))/float64(median(bare)), "of_objects_no_folders")
	b.ReportMetric(float64(median(program))/float64(median(ours)), "git_of_ours(goal>=15)")
	return median(ours)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// load is how many processes wanted to work in the last minute; 0 where the
// system does not tell.
func load() (n float64) {
	raw, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(raw), &n)
	return n
}

// newest returns the objects that the newest commit brought, as their files are.
func (w *workspace) newest(b *testing.B) (loose []made) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "git", "rev-list", "--objects", "HEAD^..HEAD")
	cmd.Dir = w.dir
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		id, _, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		raw, err := os.ReadFile(filepath.Join(w.dir, ".git/objects", id[:2], id[2:]))
		if err != nil {
			b.Fatal(err)
		}
		loose = append(loose, made{id: plumbing.NewHash(id), body: raw})
	}
	return loose
}

// writeLoose is the control: each object a flushed file under its name, which is
// flushed as well or may get lost in a power cut.
func writeLoose(b *testing.B, dir string, loose []made, named bool) {
	b.Helper()
	for _, o := range loose {
		name := o.id.String()
		to := filepath.Join(dir, name[:2], name[2:])
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			b.Fatal(err)
		}
		f, err := os.CreateTemp(dir, "tmp_obj_*")
		if err != nil {
			b.Fatal(err)
		}
		_, err = f.Write(o.body)
		for _, do := range []func() error{f.Sync, f.Close, func() error { return os.Rename(f.Name(), to) }} {
			if err == nil {
				err = do()
			}
		}
		if err == nil && named {
			err = syncDir(filepath.Dir(to))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
