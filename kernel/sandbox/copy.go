package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// Copy has a command work on a copy of a folder: the folder itself is only
// read, and what the command writes lies in Scratch afterwards. Nothing is
// copied but what it changes. See [Copy.Changes].
type Copy struct {
	Folder  string // absolute; the command's own folder lies in it
	Scratch string // an empty folder, not in Folder, on a disk that takes part
	Trial   bool   // nothing else can be written either, and what goes into the shared cache is thrown away
}

// The parts of a scratch folder. In a trial a second set takes what the command
// writes into the shared cache, and nobody looks at it.
const (
	partUpper  = "upper"
	partWork   = "work"
	partMerged = "merged"
	partCache  = "cache"
)

// Upper is where what the command wrote lies.
func (c Copy) Upper() string { return filepath.Join(c.Scratch, partUpper) }

// Remove removes what a try left. The system leaves folders that nobody may
// enter.
func (c Copy) Remove() { removeAll(c.Scratch) }

// Change is one path that a command touched on a copy.
type Change struct {
	Path string // below the folder, with slashes
	Gone bool   // it is deleted; else how it is stands in [Copy.Upper]
}

// layer is one folder that is replaced by a copy in a command's view.
type layer struct {
	Lower string // only read
	Upper string // takes what is written
	Work  string // the system's own, on the same disk
	At    string // where both together are mounted

	Dev, Ino uint64 // of Lower, as it was checked
}

// copying is what a runner knows about copies.
type copying struct {
	mu    sync.Mutex
	known map[string]error // by the folder for scratch folders
}

func byPath(a, b Change) int { return strings.Compare(a.Path, b.Path) }

// onCopy is the spec of a command that works on a copy. In a trial nothing but the
// copy can be written.
func (s Spec) onCopy() (Spec, error) {
	c := *s.Copy
	c.Folder, c.Scratch = canonical(c.Folder), canonical(c.Scratch)
	switch {
	case s.Level < sys.IsolationFull:
		return s, sys.Errorf(sys.CodeUnavailable, "A copy needs isolation level 3, which commands do not have here.").
			WithHint("Run `oxios doctor`.")
	case !within(s.Dir, c.Folder):
		return s, sys.Errorf(sys.CodeInvalid, "%s does not lie in %s, of which there would be a copy.", s.Dir, c.Folder)
	case within(c.Scratch, c.Folder):
		return s, sys.Errorf(sys.CodeRefused, "There can be no copy of %s: Oxios' own folder lies in it.", c.Folder)
	}
	var own []string
	for _, p := range s.Writable {
		if p = canonical(p); within(p, c.Folder) || !c.Trial {
			own = append(own, p)
		} else {
			s.Readable = append(s.Readable, p)
		}
	}
	s.Writable, s.Copy = own, &c
	return s, nil
}

// CanCopy says why commands cannot work on copies that lie below base, nil when
// they can. It tries it once.
func (r *Runner) CanCopy(ctx context.Context, base string) error {
	if r.Probe(ctx).Level < sys.IsolationFull {
		return sys.Errorf(sys.CodeUnavailable, "A copy needs isolation level 3, which commands do not have here.").
			WithHint("Run `oxios doctor`.")
	}
	r.copies.mu.Lock()
	defer r.copies.mu.Unlock()
	if why, ok := r.copies.known[base]; ok {
		return why
	}
	why := r.tryCopy(ctx, base)
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if r.copies.known == nil {
		r.copies.known = map[string]error{}
	}
	r.copies.known[base] = why
	if why != nil {
		r.cfg.Log.InfoContext(ctx, "Commands cannot be tried on a copy", "error", why)
	}
	return why
}

// copyTrial does each thing that a copy has to be able to do.
const copyTrial = `echo new > made && echo more >> kept && rm gone && rm -r dir && mkdir -m 700 dir && echo in > dir/other`

// tryCopy runs a command on a copy and looks at what came of it.
func (r *Runner) tryCopy(ctx context.Context, base string) error {
	dir, err := os.MkdirTemp(base, "probe-")
	if err != nil {
		return sys.Errorf(sys.CodeDiskFull, "No folder could be made for a copy: %w", err)
	}
	defer removeAll(dir)
	lower, scratch := filepath.Join(dir, "a:b,c"), filepath.Join(dir, "scratch")
	for _, p := range []string{scratch, filepath.Join(lower, "dir")} {
		if err == nil {
			err = os.MkdirAll(p, 0o700)
		}
	}
	for _, p := range []string{"kept", "gone", "dir/old"} {
		if err == nil {
			err = os.WriteFile(filepath.Join(lower, p), []byte("bait\n"), 0o600)
		}
	}
	if err != nil {
		return sys.Errorf(sys.CodeDiskFull, "No folder could be made for a copy: %w", err)
	}
	c := Copy{Folder: lower, Scratch: scratch}
	res, err := r.Run(ctx, Spec{
		Argv: []string{"/bin/sh", "-c", copyTrial}, Dir: lower, Env: []string{"PATH=/usr/bin:/bin"}, Level: sys.IsolationFull, Copy: &c, Timeout: 10 * time.Second, Cache: Cache{None: true},
	})
	if err != nil {
		return noCopies(err)
	}
	got, err := c.Changes(ctx, 100)
	if err != nil {
		return noCopies(err)
	}
	want := []Change{{Path: "dir/old", Gone: true}, {Path: "dir/other"}, {Path: "gone", Gone: true}, {Path: "kept"}, {Path: "made"}}
	slices.SortFunc(want, byPath)
	if res.ExitCode != 0 || !slices.Equal(got, want) {
		r.cfg.Log.WarnContext(ctx, "A trial copy is not as it should be", "got", got, "want", want, "said", string(res.Output))
		return noCopies(sys.Errorf(sys.CodeUnavailable, "what a command did on a trial copy was not found again (exit code %d)", res.ExitCode))
	}
	return nil
}

// noCopies tells that there are no copies here, and why.
func noCopies(why error) error {
	e := sys.AsError(why)
	if e.Err != nil {
		why = e.Err
	}
	return sys.Errorf(sys.CodeUnavailable, "Commands cannot be tried on a copy here: %w.", why).
		WithHint("It needs user namespaces, and a home folder that does not lie on an overlay itself, as in a container.")
}
