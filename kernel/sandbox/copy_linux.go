package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// copyRights are what the helper of a command on a copy holds in its own user
// namespace. The mount needs the first; the others are needed later, because an
// overlay acts with the rights of who mounted it.
var copyRights = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN, unix.CAP_MKNOD}

// apart has a helper start in a user and a mount namespace of its own, in which
// it may mount. The account is the same.
func apart(a *syscall.SysProcAttr) {
	uid, gid := os.Getuid(), os.Getgid()
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	a.AmbientCaps = copyRights
}

// layers makes the folders of a copy, and for a trial of one of the cache, which
// commands share: what is only tried is not to be found there by the next.
func (r *Runner) layers(spec Spec) ([]layer, error) {
	c := spec.Copy
	if c == nil {
		return prepared([]layer{*spec.cache.layer})
	}
	list := []layer{{Lower: c.Folder, Upper: c.Upper(), Work: filepath.Join(c.Scratch, partWork), At: filepath.Join(c.Scratch, partMerged)}}
	switch dir := spec.cache.from; {
	case c.Trial && dir != "":
		own := filepath.Join(c.Scratch, partCache)
		if !within(dir, c.Folder) && !within(own, dir) {
			list = append(list, layer{Lower: dir, Upper: filepath.Join(own, partUpper), Work: filepath.Join(own, partWork), At: filepath.Join(own, partMerged)})
		}
	case spec.cache.layer != nil:
		list = append(list, *spec.cache.layer)
	}
	return prepared(list)
}

// prepared makes the folders that layers need.
func prepared(list []layer) ([]layer, error) {
	for i := range list {
		l := &list[i]
		for _, p := range []string{l.Upper, l.Work, l.At} {
			if err := os.MkdirAll(p, 0o700); err != nil {
				return nil, sys.Errorf(sys.CodeDiskFull, "No folder could be made for the copy: %w", err)
			}
		}
		var st unix.Stat_t
		if err := unix.Lstat(l.Lower, &st); err != nil {
			return nil, sys.Errorf(sys.CodeNotFound, "The folder %s cannot be read: %w", l.Lower, err)
		}
		l.Dev, l.Ino = st.Dev, st.Ino
		// The copy's own folder has the permissions of what it stands for.
		if err := os.Chmod(l.Upper, fs.FileMode(st.Mode).Perm()); err != nil {
			return nil, sys.Errorf(sys.CodeDiskFull, "No folder could be made for the copy: %w", err)
		}
	}
	return list, nil
}

// onCopy shows layers where the view shows their folders.
func (v *view) onCopy(layers []layer) {
	for _, l := range layers {
		for i := range v.steps {
			if s := &v.steps[i]; s.option != "--symlink" && within(s.from, l.Lower) {
				s.from = l.At + strings.TrimPrefix(s.from, l.Lower)
			}
		}
		for i := range v.same {
			// On a copy other numbers stand there. The helper compares those of the folder.
			if within(v.same[i].Path, l.Lower) {
				v.same[i].Granted = false
			}
		}
	}
	v.repos = nil
}

// tidy takes away what only the building of the walls made on the copy: places
// for something to be mounted on, and the file that could lead git elsewhere.
func (v *view) tidy(l layer, repos []string) {
	rel := func(p string) string { return filepath.Join(l.Upper, strings.TrimPrefix(p, l.Lower)) }
	for _, s := range slices.Backward(v.steps) {
		if s.to == l.Lower || !within(s.to, l.Lower) {
			continue
		}
		if _, err := os.Lstat(s.to); errors.Is(err, fs.ErrNotExist) {
			os.Remove(rel(s.to)) // it stays where the command put something into it
		}
	}
	for _, repo := range repos {
		unlead([]string{rel(repo)})
	}
}

// mountLayers mounts copies, in a mount namespace that is the process's own.
// The folders go by their open files, so that no name in them means anything to
// the mount, and none can be exchanged.
func mountLayers(list []layer) error {
	for _, l := range list {
		var fds [3]int
		for i, p := range []string{l.Lower, l.Upper, l.Work} {
			fd, err := unix.Open(p, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("open %s for the copy: %w", p, err)
			}
			defer unix.Close(fd)
			fds[i] = fd
		}
		var st unix.Stat_t
		if err := unix.Fstat(fds[0], &st); err != nil {
			return err
		}
		if st.Dev != l.Dev || st.Ino != l.Ino {
			return fmt.Errorf("%s was exchanged while the command was prepared", l.Lower)
		}
		at := func(i int) string { return "/proc/self/fd/" + strconv.Itoa(fds[i]) }
		options := "lowerdir=" + at(0) + ",upperdir=" + at(1) + ",workdir=" + at(2) + ",userxattr"
		if err := unix.Mount("overlay", l.At, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("mount the copy: %w", err)
		}
	}
	return nil
}

// dropAmbient has what this thread starts get no rights: bubblewrap refuses to
// begin with any.
func dropAmbient() error {
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

// Changes lists what a command touched, sorted by path, at most so many paths.
// What it only opened to write may be among it.
func (c Copy) Changes(ctx context.Context, most int) ([]Change, error) {
	var out []Change
	add := func(rel string, gone bool) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(out) >= most {
			return sys.Errorf(sys.CodeTooLarge, "The command changed more than %d files, too many to be shown.", most).
				WithHint("It can be approved without a copy.")
		}
		out = append(out, Change{filepath.ToSlash(rel), gone})
		return nil
	}
	upper := c.Upper()
	// below adds all that the folder itself has at and below rel.
	below := func(rel string, self bool) error {
		return filepath.WalkDir(filepath.Join(c.Folder, rel), func(p string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			at, err := filepath.Rel(c.Folder, p)
			if err != nil || at == rel && !self {
				return err
			}
			return add(at, true)
		})
	}
	err := filepath.WalkDir(upper, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(upper, p)
		if err != nil || rel == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if ok && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0 {
			return below(rel, true)
		}
		was, err := os.Lstat(filepath.Join(c.Folder, rel))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
		folder := err == nil && was.IsDir()
		if !folder || was.Mode() != info.Mode() { // a folder may be here for what is in it alone
			if err := add(rel, false); err != nil {
				return err
			}
		}
		if !folder {
			return nil
		}
		if !info.IsDir() {
			return below(rel, false) // a file took the place of a folder
		}
		if !opaque(p) {
			return nil
		}
		// Another folder of that name: what it does not have is gone.
		return filepath.WalkDir(filepath.Join(c.Folder, rel), func(low string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			at, err := filepath.Rel(c.Folder, low)
			if err != nil || at == rel {
				return err
			}
			if _, err := os.Lstat(filepath.Join(upper, at)); err == nil {
				return nil // it is met on its own, and what is below it too
			} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return err
			}
			return add(at, true)
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, byPath)
	return slices.Compact(out), nil
}

// opaque reports whether a folder of the upper layer hides the one below it.
func opaque(path string) bool {
	var v [1]byte
	n, err := unix.Lgetxattr(path, "user.overlay.opaque", v[:])
	return err == nil && n == 1 && v[0] == 'y'
}

// CopyOf says why there can be no copy of a folder, nil when there can.
func CopyOf(folder string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return sys.Errorf(sys.CodeNotFound, "The folder %s cannot be read: %w", folder, err)
	}
	if st.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return sys.Errorf(sys.CodeUnavailable, "There can be no copy of %s: it lies on an overlay itself, as in a container.", folder)
	}
	// A disk that is mounted inside would be missing on the copy.
	list, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "There can be no copy of %s: what is mounted in it cannot be read: %w.", folder, err)
	}
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		if at := mountName.Replace(f[4]); at != folder && within(at, folder) {
			return sys.Errorf(sys.CodeUnavailable, "There can be no copy of %s: another disk is mounted in it, at %s.", folder, at)
		}
	}
	return nil
}

// mountName reads how the system writes odd names in its list of mounts.
var mountName = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
