package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// What stands in every view besides what was granted.
const (
	insideHelper = "/run/oxios/oxios" // this program
	insideHole   = "/run/oxios/net"   // the socket of the kernel's proxy
	insideTemp   = "/tmp"
)

// The parts of a command's temporary folder at level 3. That /tmp and /dev/shm
// lie on the disk keeps what is written there out of the memory, which nobody
// would count.
const (
	partTemp  = "tmp"
	partShm   = "shm"
	partEmpty = "empty"
	partHole  = "net"
)

// view is what a command at level 3 sees of the machine, in the order in which
// it is mounted.
type view struct {
	steps []step
	write []string // what can be written, for Landlock
	same  []identity
	repos []string // the repositories that a command could lead elsewhere
}

// step is one option of bubblewrap. A path that begins with "@" is a part of
// the temporary folder.
type step struct{ option, from, to string }

// identity is what was found at a path that was granted. If something else is
// there when the view stands, another command has exchanged it.
type identity struct {
	Path     string
	Dev, Ino uint64
	Granted  bool // by name
}

// args are the options for bubblewrap. helper is this program, tmp the
// command's temporary folder.
func (v *view) args(helper, tmp string) []string {
	out := []string{"--unshare-all", "--die-with-parent", "--as-pid-1", "--clearenv"}
	part := func(p string) string {
		if rest, ok := strings.CutPrefix(p, "@"); ok {
			return filepath.Join(tmp, rest)
		}
		return p
	}
	for _, s := range v.steps {
		out = append(out, s.option)
		if s.from != "" {
			out = append(out, part(s.from))
		}
		out = append(out, s.to)
	}
	return append(out,
		"--ro-bind", helper, insideHelper, "--ro-bind", part("@"+partHole), insideHole, "--remount-ro", "/", "--chdir", "/",
	)
}

// key tells two views apart: by what is mounted, and by what lies there. "" is
// that of no view.
func (v *view) key() string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v.steps, v.same)
}

func (v *view) add(option, from, to string) { v.steps = append(v.steps, step{option, from, to}) }

// keep mounts what lies at path over itself, and takes note of what it is.
func (v *view) keep(option, path string) bool {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return false
	}
	v.add(option, path, path)
	v.same = append(v.same, identity{path, st.Dev, st.Ino, false})
	return true
}

// hold makes a folder a mount point, which can be neither moved nor removed.
func (v *view) hold(at string) {
	if !slices.ContainsFunc(v.steps, func(s step) bool { return s.to == at }) {
		v.add("--bind", at, at)
	}
}

// bind is a path that a command may see, and perhaps write.
type bind struct {
	path   string
	write  bool
	strict bool // it was granted by name: without it there is no command
}

// view says what a command at level 3 sees. The spec is resolved; path is its
// program. As in [Runner.rules], what is implied comes from the person's
// environment.
func (r *Runner) view(ctx context.Context, spec Spec, path string) (*view, error) {
	env := r.cfg.Env()
	home := canonical(envValue(env, "HOME"))
	v := &view{}
	var system []string
	for _, p := range systemFolders {
		info, err := os.Lstat(p)
		switch {
		case err != nil || p == "/proc" || p == "/sys":
		case info.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(p); err == nil {
				v.add("--symlink", to, p)
			}
		default:
			v.add("--ro-bind", p, p)
			system = append(system, p)
		}
	}
	v.add("--proc", "", "/proc")
	v.add("--remount-ro", "", "/proc")
	v.add("--dev", "", "/dev")
	v.add("--ro-bind-try", "/sys/devices/system", "/sys/devices/system")
	v.add("--bind", "@"+partShm, "/dev/shm")
	v.add("--bind", "@"+partTemp, insideTemp)

	binds := r.binds(spec, path, env, home)
	var masked []string
	for _, h := range spec.Hidden {
		if _, err := os.Lstat(h); err == nil {
			masked = append(masked, h)
		}
	}
	roots, err := v.bindAll(binds, system, masked)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		v.guardHome(root, home)
	}
	cache := spec.cache.at
	v.mask(roots, system, masked, cache)
	if cache != "" && !slices.ContainsFunc(v.write, func(p string) bool { return within(cache, p) }) {
		v.add("--bind", cache, cache)
		v.write = append(v.write, cache)
	}
	for _, root := range roots {
		if err := r.guard(ctx, v, root, home, masked, spec.Kept); err != nil {
			return nil, err
		}
	}
	for _, i := range spec.Instead {
		v.add("--ro-bind", i.File, i.At)
	}
	v.write = append(v.write, insideTemp, "/dev/shm")
	if from := spec.cache.from; from != cache {
		for i := range v.steps {
			if s := &v.steps[i]; s.to == cache && s.from == cache {
				s.from = from
			}
		}
	}
	return v, nil
}

// binds lists what a command is granted, by name or by the person's PATH.
func (r *Runner) binds(spec Spec, path string, env []string, home string) []bind {
	var out []bind
	shut := slices.Clone(spec.Hidden)
	if filepath.IsAbs(home) && home != "/" {
		for _, p := range private {
			shut = append(shut, filepath.Join(home, p))
		}
	}
	for _, p := range impliedPaths(env, home) {
		for _, q := range without(canonical(p), shut) {
			out = append(out, bind{q, false, false})
		}
	}
	for _, q := range without(canonical(path), spec.Hidden) {
		out = append(out, bind{q, false, false})
	}
	for _, p := range spec.Readable {
		out = append(out, bind{p, false, true})
	}
	for _, p := range append([]string{spec.Dir}, spec.Writable...) {
		out = append(out, bind{p, true, true})
	}
	return out
}

// bindAll mounts binds, the outer before the inner, and leaves out what an
// outer one already shows. It returns those that can be written.
func (v *view) bindAll(binds []bind, system, masked []string) (roots []string, err error) {
	slices.SortStableFunc(binds, func(a, b bind) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		if a.write != b.write { // writing is the wider right
			if a.write {
				return -1
			}
			return 1
		}
		return 0
	})
	var read []string
	for _, b := range binds {
		under := func(p string) bool { return within(b.path, p) }
		own := within(b.path, "/proc") || within(b.path, "/dev") // the view has its own
		if own || slices.ContainsFunc(roots, under) || !b.write && (slices.ContainsFunc(read, under) || slices.ContainsFunc(system, under)) {
			continue
		}
		option := "--ro-bind"
		if b.write {
			option = "--bind"
		}
		if !v.keep(option, b.path) {
			if b.strict {
				return nil, notApplied(sys.IsolationFull, fmt.Errorf("%s is gone or has become a link", b.path))
			}
			continue
		}
		v.same[len(v.same)-1].Granted = b.strict
		if b.write {
			roots = append(roots, b.path)
			v.write = append(v.write, b.path)
		} else {
			read = append(read, b.path)
		}
	}
	return roots, nil
}

// mask puts nothing over what is hidden. What lies between a folder that can be
// written and what is hidden in it is held in its place, so that it cannot be
// moved away together with the folder above it.
func (v *view) mask(roots, system, masked []string, cache string) {
	for _, h := range masked {
		seen := slices.ContainsFunc(system, func(p string) bool { return within(h, p) })
		for _, s := range v.steps {
			seen = seen || (s.option == "--bind" || s.option == "--ro-bind") && within(h, s.to)
		}
		info, err := os.Lstat(h)
		holdsCache := cache != "" && within(cache, h)
		if err != nil || !seen && !holdsCache {
			continue
		}
		for _, root := range roots {
			v.pin(root, h)
		}
		if !info.IsDir() {
			v.add("--ro-bind", "@"+partEmpty, h)
			continue
		}
		v.add("--tmpfs", "", h)
		if holdsCache {
			v.add("--bind", cache, cache)
			v.write = append(v.write, cache)
		}
		v.add("--remount-ro", "", h)
	}
}

// pin holds the folders between root and path in their place.
func (v *view) pin(root, path string) {
	if !within(path, root) || path == root {
		return
	}
	rel, _ := filepath.Rel(root, filepath.Dir(path))
	at := root
	for _, name := range strings.Split(rel, "/") {
		if name == "." {
			continue
		}
		at = filepath.Join(at, name)
		v.hold(at)
	}
}

// rules are those of Landlock inside the view, where only what is granted
// exists: all of it can be read but unread. These stay where they are, with their
// times and sizes, so that git does not take them for deleted.
func (v *view) rules(unread []string) []rule {
	holds := func(p string) bool {
		return slices.ContainsFunc(unread, func(u string) bool { return within(u, p) })
	}
	out := []rule{{Path: "/", Access: accessRead}}
	if len(unread) > 0 {
		out = []rule{{Path: "/", Access: accessList}, {Path: filepath.Dir(insideHelper), Access: accessRead}}
		for _, s := range v.steps {
			if s.option == "--symlink" || s.option == "--remount-ro" {
				continue
			}
			for _, p := range without(s.to, unread) {
				out = append(out, rule{Path: p, Access: accessRead})
			}
		}
	}
	for _, p := range devices {
		out = append(out, rule{Path: p, Access: accessDevice})
	}
	for _, p := range v.write {
		if !holds(p) {
			out = append(out, rule{Path: p, Access: accessWrite, Strict: true})
		}
	}
	return out
}

// granted are the paths that were granted by name, and what lay there.
func (v *view) granted() []identity {
	return slices.DeleteFunc(slices.Clone(v.same), func(i identity) bool { return !i.Granted })
}

// changed returns the first path at which something else lies than was granted,
// or "".
func changed(list []identity) string {
	for _, want := range list {
		info, err := os.Lstat(want.Path)
		if err != nil {
			return want.Path
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Ino != want.Ino || st.Dev != want.Dev {
			return want.Path
		}
	}
	return ""
}
