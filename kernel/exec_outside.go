package kernel

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// madeNew is a file or folder outside the folder that was made for a command, so that
// it alone, and not the folder around it, is open to it.
type madeNew struct {
	path    string
	info    fs.FileInfo
	wanted  bool     // a folder that was to be made: it stays, also empty
	parents []string // that were made for it, the outer first
}

// opened is something that exists outside the folder, as a command may use it.
type opened struct {
	path  string
	write bool
}

// outside lists what exists outside the folder of what a person saw and approved.
func (c *command) outside() (list []opened) {
	home := realPath(homeFolder())
	for _, o := range c.verdict.Opens {
		for _, p := range security.Matching(filepath.FromSlash(o.Path), o.Pattern) {
			real := realPath(p)
			info, err := os.Stat(real)
			if err != nil || info.IsDir() && security.Within(home, real) {
				continue // granting the whole home for one file in it would be more than was asked
			}
			write := !c.verdict.ReadOnly && o.Use >= security.UsePerhaps && c.shut(p, real) == "" && c.caller.judge(p, real).Write < security.TierRefuse
			list = append(list, opened{real, write})
		}
	}
	return list
}

// named is the absolute path that a word of the command means.
func (c *command) named(word string) string {
	path := expandHome(word)
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.dir, path)
	}
	return path
}

// grantOutside adds what a person approved outside the folder to what the command may reach.
func (c *command) grantOutside(s *sandbox.Spec, read bool) {
	for _, o := range c.outside() {
		if o.write && !read {
			s.Writable = append(s.Writable, o.path)
		} else {
			s.Readable = append(s.Readable, o.path)
		}
	}
}

// shut says why a path outside the folder is never open for writing: as "starts" or "holds".
func (c *command) shut(paths ...string) string {
	home := homeFolder()
	folders := filepath.SplitList(envValue(c.env, "PATH"))
	for _, p := range paths {
		for _, h := range []string{home, realPath(home)} {
			switch is, holds := security.StartsPrograms(p, h, folders); {
			case is:
				return "starts"
			case holds:
				return "holds"
			}
		}
	}
	return ""
}

// closed refuses a command that would write where programs are started from, or make
// something there, or be given a folder that holds such a place.
func (c *command) closed() (why sys.Words, hint string) {
	for _, o := range c.verdict.Opens {
		p := filepath.FromSlash(o.Path)
		if o.Use < security.UsePerhaps || o.Pattern || c.verdict.ReadOnly {
			continue
		}
		real := realPath(p)
		info, err := os.Stat(real)
		sure := o.Use == security.UseWrite
		switch c.shut(p, real) {
		case "starts":
			if sure || err != nil {
				return sys.Say("programs are started from there (%s)", shortenHome(p)), "Go on without it. If the person wants it there, they can put it there themselves."
			}
		case "holds":
			if (sure || c.verdict.Project) && (err != nil || info.IsDir()) {
				return sys.Say("programs are started from places in this folder, so it cannot be opened as a whole (%s)", shortenHome(p)), "Name the very file instead."
			}
		}
	}
	return why, ""
}

// makeNew makes, empty, what a command is to write outside the folder and is not there
// yet. It never follows a link, and never takes what somebody else has made.
func (c *command) makeNew(s *sandbox.Spec) error {
	if !s.Level.Contained() || c.verdict.ReadOnly {
		return nil
	}
	for _, o := range c.verdict.Opens {
		p := filepath.FromSlash(o.Path)
		if o.Use < security.UsePerhaps || o.Pattern || slices.Contains(c.verdict.Texts, o.Path) {
			continue
		}
		if info, err := os.Lstat(p); err == nil {
			if _, err := os.Stat(p); err != nil && info.Mode()&fs.ModeSymlink != 0 && o.Use == security.UseWrite {
				return sys.Errorf(sys.CodeRefused, "%s is a link to something that is not there. Nothing was run.", shortenHome(p)).WithHint("Name the file itself.")
			}
			continue
		}
		at := filepath.Join(realPath(filepath.Dir(p)), filepath.Base(p))
		if c.shut(p, at) != "" || c.caller.judge(p, at).Write >= security.TierRefuse {
			continue
		}
		made, err := makeAlone(at, o)
		if err != nil {
			made.remove()
			if o.Use == security.UseWrite {
				return sys.Errorf(sys.CodeUnavailable, "%s could not be made: %w. Nothing was run.", shortenHome(p), err)
			}
			continue
		}
		c.made = append(c.made, made)
		s.Writable = append(s.Writable, at)
	}
	return nil
}

// makeAlone makes one empty file or folder, with the folders above it.
func makeAlone(at string, o security.Opening) (m madeNew, err error) {
	m.path, m.wanted = at, o.Folder && o.Use == security.UseWrite
	var missing []string
	dir := filepath.Dir(at)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		missing = append(missing, dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return m, err
	}
	defer root.Close()
	for _, folder := range slices.Backward(missing) {
		rel, _ := filepath.Rel(dir, folder)
		if err := root.Mkdir(rel, 0o755); err != nil {
			return m, err
		}
		m.parents = append(m.parents, folder)
	}
	rel, err := filepath.Rel(dir, at)
	if err != nil {
		return m, err
	}
	if o.Folder {
		if err := root.Mkdir(rel, 0o755); err != nil {
			return m, err
		}
	} else {
		f, err := root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return m, err
		}
		f.Close()
		// Whoever writes to it, be it nothing, changes this time.
		past := time.Now().Add(-time.Hour)
		if err := root.Chtimes(rel, past, past); err != nil {
			return m, err
		}
	}
	m.info, err = root.Lstat(rel)
	return m, err
}

// tidy removes what was made for the command and left as it was.
func (c *command) tidy() (left []string) {
	for _, m := range c.made {
		if m.untouched() {
			m.remove()
			left = append(left, m.path)
		}
	}
	return left
}

func (m madeNew) untouched() bool {
	now, err := os.Lstat(m.path)
	switch {
	case err != nil || m.info == nil || !os.SameFile(now, m.info):
		return false
	case now.IsDir():
		return !m.wanted
	}
	return now.Size() == 0 && now.ModTime().Equal(m.info.ModTime())
}

// remove takes away what was made. A folder in which something is stays.
func (m madeNew) remove() {
	if m.info != nil {
		_ = os.Remove(m.path)
	}
	for _, dir := range slices.Backward(m.parents) {
		_ = os.Remove(dir)
	}
}

// writesAlone reports whether the command may write single files outside the folder.
func (c *command) writesAlone() bool {
	return len(c.made) > 0 || slices.ContainsFunc(c.outside(), func(o opened) bool { return o.write && !isFolder(o.path) })
}

// renameFailure is what programs say that write a new file and put it in the place of
// the old one, where only the old one is open to them.
var renameFailure = sys.Pattern(`(?i)device or resource busy|cross-device|EXDEV|EBUSY|read-only file system|EROFS|unable to remove|cannot (move|remove|rename)|couldn't open temporary|rename[^\n]{0,80}(denied|permitted)|permission denied|file exists`)

// closedWhy makes an action that is closed one that nobody can approve.
func (c *command) closedWhy(a *action) bool {
	why, hint := c.closed()
	if why.EN == "" {
		return false
	}
	a.tier, a.refusal, a.hint = security.TierRefuse, why, hint
	return true
}
