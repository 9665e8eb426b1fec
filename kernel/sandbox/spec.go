package sandbox

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// DefaultMaxOutput is how many bytes of output are kept when neither the
// [Spec] nor the [Config] says otherwise.
const DefaultMaxOutput = 1 << 20

// MostKept is how many paths of [Spec.Kept] should be named at most: each is a
// mount, and mounts slow each other down.
const MostKept = 64

// Spec says what to run, where, and how far it may reach.
type Spec struct {
	// Argv is the executable and its arguments. A name without a slash is
	// looked up in the PATH of Env.
	Argv []string
	// Input is what the command reads. It stays the caller's, who may close it once
	// the command runs. Nil: nothing.
	Input *os.File
	// Dir is the working folder, absolute. It is writable.
	Dir string
	// Env is the whole environment. Nil means the runner's own, scrubbed.
	// TMPDIR and the cache variables are set in either case.
	Env []string

	// Writable and Readable are further folders or files, absolute.
	Writable []string
	Readable []string
	// Hidden paths are out of reach even where a granted folder holds them.
	// A command whose folder lies inside a hidden path is refused. See the
	// package comment for what hiding costs.
	Hidden []string
	// Kept are files and folders in what the command writes that it can only
	// read, and Unread are files that it cannot read, at level 3. Who may not read
	// something in a folder writes nothing in that folder, nor in those above it.
	Kept   []string
	Unread []string
	// Instead has the command find another file, which it can only read, in the
	// place of one, at level 3.
	Instead []Instead
	// Checked says that the caller looks itself at what the command made of
	// repositories. Else a file "commondir" that is new is taken away when it ends.
	Checked bool
	// Network lets the command open inet sockets, at level 2 and below. At
	// level 3 it has its own loopback, and Hole is the only way out of it.
	Network bool
	// Hole, if set, answers what the command says to its http proxy, one connection a
	// call: at level 3, and at level 2 for one with the network, where
	// [Report.GuardsNetwork]. It returns at the latest when ctx ends, which it does
	// with the command. Nil: at level 3 there is no way out at all, at level 2 the
	// network is open.
	Hole func(ctx context.Context, c net.Conn)
	// HolePassword is what the command's programs tell Hole at level 2, where everybody
	// on this computer can talk to it. The user's name is oxios.
	HolePassword string
	// Reach and Serve are ports, of TCP on the loopback, that are carried through Hole
	// at level 3. What the command says to one of Reach is asked of Hole as a CONNECT
	// to 127.0.0.1; nothing else in the view can listen there. Whoever on this computer
	// connects to one of Serve, on which nothing may listen, is served by the command.
	Reach, Serve []int
	// Copy, if set, has the command work on a copy. It needs level 3: at any other
	// the command does not run.
	Copy *Copy
	// Cache is whose cache the command's tools use.
	Cache Cache
	// Level is the strongest isolation to apply; the weaker of it and the
	// host's counts. The zero value is [sys.IsolationNone]: no containment.
	Level sys.Isolation

	// Timeout ends the command after this long. Zero means no limit.
	Timeout time.Duration
	// MaxOutput is how many bytes of output are kept. Zero means the runner's.
	MaxOutput int
	// MaxMemory is how many bytes the whole tree may hold. Zero: no limit. Linux
	// holds it by a cgroup where there are any, files in memory included; else
	// the resident bytes are watched, 20 times a second. It needs the helper.
	MaxMemory int64
	// MaxProcs is how many processes the tree may have at a time, watched 20 times
	// a second. With a cgroup, it never gets more than four threads for each. Zero:
	// no limit.
	MaxProcs int

	// MaxDisk is by how many bytes the free space of a file system that the command
	// writes may fall while it runs: that of its folder, its temporary folder, its
	// cache and /dev/shm. 500 MB of it stay free as well. No file becomes larger than
	// this, where there is a helper. Zero: no limit.
	MaxDisk int64

	// OnOutput, if set, gets every piece of output as it arrives, stream being
	// "stdout" or "stderr". Calls never overlap. p is valid during the call,
	// which must be short and must not ask the job for its log.
	OnOutput func(stream string, p []byte)

	// Tag names whom the command belongs to; see [Runner.Owner].
	Tag string

	cache cacheUse // as [Runner.cacheOf] made it
	room  bool     // try it in a room, known to be there or not
}

// Instead is a file that stands in the place of another one.
type Instead struct{ File, At string }

// Result is how a command ended.
type Result struct {
	ExitCode int    // 128 + the number for a signal
	Signal   string // the signal that ended it, like "SIGKILL", or ""

	// Output is both streams in the order of arrival, Stdout and Stderr each
	// alone. Each keeps at most MaxOutput bytes, the first and the last ones,
	// with a line that tells the gap. A background job has Output alone, and
	// of it the last bytes.
	Stdout, Stderr, Output []byte
	Truncated              bool
	Dropped                int64 // bytes left out of Output

	Duration         time.Duration
	TimedOut         bool // Timeout ended it
	Killed           bool // the caller ended it
	OutOfMemory      bool // MaxMemory ended it
	TooManyProcesses bool // MaxProcs ended it
	OutOfDisk        bool // MaxDisk ended it
	WantsPassword    bool // it asked for a password, which nobody can type here
	Level            sys.Isolation
}

// resolve checks the spec and returns it with canonical paths, and the path of
// the executable.
func (s Spec) resolve(env []string) (Spec, string, error) {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return s, "", sys.Errorf(sys.CodeInvalid, "There is no command to run.")
	}
	if !filepath.IsAbs(s.Dir) {
		return s, "", sys.Errorf(sys.CodeInvalid, "The working folder %q is not an absolute path.", s.Dir)
	}
	dir, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return s, "", sys.Errorf(sys.CodeNotFound, "The working folder %q cannot be used: %w", s.Dir, err).
			WithHint("Choose a folder that exists.")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return s, "", sys.Errorf(sys.CodeInvalid, "%q is not a folder.", s.Dir)
	}
	s.Dir = dir
	if s.Copy != nil {
		if s, err = s.onCopy(); err != nil {
			return s, "", err
		}
	}
	path, err := lookPath(s.Argv[0], s.Dir, env)
	if err != nil {
		return s, "", err
	}
	s.Hidden, s.Kept, s.Unread = mapPaths(s.Hidden, canonical), mapPaths(s.Kept, inItsFolder), mapPaths(s.Unread, inItsFolder)
	for _, h := range s.Hidden {
		if within(s.Dir, h) {
			return s, "", sys.Errorf(sys.CodeRefused, "Commands do not run in %s: it belongs to Oxios itself.", s.Dir).
				WithHint("Use another folder.")
		}
	}
	for _, list := range []*[]string{&s.Writable, &s.Readable} {
		for _, p := range *list {
			if !filepath.IsAbs(p) {
				return s, "", sys.Errorf(sys.CodeInvalid, "The granted path %q is not absolute.", p)
			}
		}
		*list = mapPaths(*list, canonical)
		for _, p := range *list {
			for _, h := range s.Hidden {
				if within(p, h) {
					return s, "", sys.Errorf(sys.CodeRefused, "%s cannot be granted to a command: it belongs to Oxios itself.", p)
				}
			}
		}
	}
	return s, path, nil
}

// lookPath finds the executable the way a shell in dir with env would.
func lookPath(name, dir string, env []string) (string, error) {
	notFound := func(err error) error {
		return sys.Errorf(sys.CodeNotFound, "The program %s was not found.", name).
			WithHint("Check its name, or install it.").WithCause(err)
	}
	if strings.ContainsRune(name, '/') || filepath.IsAbs(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		p, err := exec.LookPath(name)
		if err != nil {
			return "", notFound(err)
		}
		return p, nil
	}
	var last error = exec.ErrNotFound
	for _, d := range filepath.SplitList(envValue(env, "PATH")) {
		// A relative PATH entry would run what lies in the folder that the
		// command works on.
		if !filepath.IsAbs(d) {
			continue
		}
		p, err := exec.LookPath(filepath.Join(d, name))
		if err == nil {
			return p, nil
		}
	}
	return "", notFound(last)
}

// canonical resolves symlinks in the part of p that exists.
func canonical(p string) string {
	p = filepath.Clean(p)
	if q, err := filepath.EvalSymlinks(p); err == nil {
		return q
	}
	parent := filepath.Dir(p)
	if parent == p {
		return p
	}
	return filepath.Join(canonical(parent), filepath.Base(p))
}

// inItsFolder is canonical for what may be a link itself.
func inItsFolder(p string) string { return filepath.Join(canonical(filepath.Dir(p)), filepath.Base(p)) }

func mapPaths(list []string, f func(string) string) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = f(p)
	}
	return out
}

// within reports whether p is dir or lies below it. Both are clean.
func within(p, dir string) bool {
	if p == dir {
		return true
	}
	prefix := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
	return strings.HasPrefix(p, prefix)
}
