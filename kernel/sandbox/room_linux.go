package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// A room is what the helper of a command at level 2 stands in where the system
// lets it: process and mount namespaces of its own, whose first process it is.
// When it ends, whoever ended it, Linux ends all others in it; and all that the
// command may not write is mounted read-only there, so that it cannot change
// modes, owners, times and attributes either, which Landlock does not see.

// roomTrial is how long the trial of a room may take.
const roomTrial = 10 * time.Second

// inRoom has a helper start in namespaces of its own, in which it may mount. Only
// root needs none of users for it. The account is the same.
func inRoom(a *syscall.SysProcAttr) {
	a.Cloneflags = unix.CLONE_NEWPID | unix.CLONE_NEWNS
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
}

// hasRooms reports whether helpers can have rooms here. The first time it tries,
// with a command that does nothing.
func (r *Runner) hasRooms(ctx context.Context) bool {
	r.rooms.mu.Lock()
	defer r.rooms.mu.Unlock()
	if r.rooms.tried || r.noRooms {
		return r.rooms.ok && !r.noRooms
	}
	dir, err := r.temps.make(r.cfg.TempDir)
	if err != nil {
		return false
	}
	defer r.temps.remove(dir)
	j, err := r.start(ctx, Spec{
		Argv: []string{r.cfg.Helper, wordCanary}, Dir: canonical(dir), Env: []string{"PATH=/usr/bin:/bin"},
		Cache: Cache{None: true}, Timeout: roomTrial, room: true,
	}, sys.IsolationPartial, false)
	if ctx.Err() != nil {
		return false // it is tried again
	}
	if r.rooms.tried, r.rooms.ok = true, err == nil; err != nil {
		r.cfg.Log.DebugContext(ctx, "Commands at level 2 get no namespaces here", "error", err)
		return false
	}
	<-j.done
	return true
}

// enterRoom makes the mounts of a room: /proc shows its processes alone, and only
// what the rules let be written is writable.
func enterRoom(p plan) error {
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("part from the system's mounts: %w", err)
	}
	type open struct {
		path string
		fd   int
	}
	var writable []open
	for _, r := range p.Rules {
		if r.Access != accessWrite {
			continue
		}
		path := r.Path
		if !r.Strict {
			path = canonical(path)
		}
		// Taken before the rest is closed, they keep what each mount in them allows.
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case !r.Strict && errors.Is(err, os.ErrNotExist):
		case err != nil:
			return fmt.Errorf("open %s for the room: %w", r.Path, err)
		default:
			defer unix.Close(fd)
			writable = append(writable, open{path, fd})
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("close the system's files: %w", err)
	}
	slices.SortStableFunc(writable, func(a, b open) int { return strings.Compare(a.path, b.path) }) // the outer before the inner
	for i, w := range writable {
		if slices.ContainsFunc(writable[:i], func(o open) bool { return within(w.path, o.path) }) {
			continue
		}
		if err := unix.MoveMount(w.fd, "", unix.AT_FDCWD, w.path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("open %s: %w", w.path, err)
		}
	}
	return nil
}
