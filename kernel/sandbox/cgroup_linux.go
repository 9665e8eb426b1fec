package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

const (
	groupsName = "oxios.run-" // what begins the names of the folders that hold the cgroups of a runner's commands

	// The helpers are in the cgroup of their command, so that its limits have
	// to hold them too.
	helpersMemory = 24 << 20 // bytes
	helpersTasks  = 64
	// Linux counts threads, a Spec counts processes, and those of compilers and
	// browsers have many. The exact count is watched; this holds what is faster
	// than the watch.
	tasksEach = 4

	watchEvery = 50 * time.Millisecond
	groupGrace = 2 * time.Second // for processes that were killed to be gone
)

// groups are the cgroups of a runner's commands. They hold what is started in
// them under limits that Linux itself enforces.
type groups struct {
	mu     sync.Mutex
	folder *os.File  // that they lie in; nil: there are none
	why    sys.Words // there are none
	last   int
}

// group is the cgroup of one command. Nil is none.
type group struct {
	path   string
	folder *os.File
}

// openGroups makes the folder of the groups, and removes what kernels that have
// crashed left. Without it, commands are watched.
func (r *Runner) openGroups(ctx context.Context) {
	folder, err := makeGroups(ctx)
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	if r.groups.folder = folder; err != nil {
		r.groups.why = sys.TextOf(err)
	}
}

func makeGroups(ctx context.Context) (*os.File, error) {
	seat, err := seatOf(ctx)
	if err != nil {
		return nil, err
	}
	// Whoever makes or sweeps holds this lock, so that nobody takes a folder
	// that is being made for one that was left.
	door, err := locked(seat, unix.LOCK_EX)
	if err != nil {
		return nil, unwritable(err)
	}
	defer door.Close()
	sweepGroups(seat)
	path := filepath.Join(seat, groupsName+sys.NewID())
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, unwritable(err)
	}
	folder, err := locked(path, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = setGroup(path, "cgroup.subtree_control", "+memory +pids")
	}
	if err != nil {
		if folder != nil {
			folder.Close()
		}
		os.Remove(path)
		return nil, unwritable(err)
	}
	return folder, nil
}

func unwritable(err error) error {
	return sys.Errorf(sys.CodeUnavailable, "The cgroups cannot be written: %w", err)
}

// locked opens a folder and locks it. The lock ends with the process.
func locked(path string, how int) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweepGroups ends and removes what lies in the folders whose kernels live no
// more: nobody holds their locks.
func sweepGroups(seat string) {
	left, _ := filepath.Glob(filepath.Join(seat, groupsName+"*"))
	for _, path := range left {
		f, err := locked(path, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			continue
		}
		names, _ := f.ReadDir(-1)
		for _, e := range names {
			if e.IsDir() {
				(&group{path: filepath.Join(path, e.Name())}).remove()
			}
		}
		os.Remove(path)
		f.Close()
	}
}

// closeGroups removes the folder. No command runs any more.
func (r *Runner) closeGroups() {
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	if f := r.groups.folder; f != nil {
		os.Remove(f.Name())
		f.Close()
		r.groups.folder = nil
	}
}

// missing says why there are none, nothing if there are.
func (g *groups) missing() sys.Words {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.why
}

// start starts a helper, in a group of its own where there are groups. Nothing limits the group yet.
func (g *groups) start(h *helped) error {
	own, err := g.make()
	if own == nil {
		if err != nil {
			h.r.cfg.Log.Warn("A command gets no cgroup; its memory is watched", "error", err)
		}
		return h.cmd.Start()
	}
	defer own.folder.Close() // it is needed for the start alone
	plain := *h.cmd          // a command starts once only
	attr := *h.cmd.SysProcAttr
	attr.UseCgroupFD, attr.CgroupFD = true, int(own.folder.Fd())
	h.cmd.SysProcAttr = &attr
	why := h.cmd.Start()
	if why == nil {
		h.group = own
		return nil
	}
	own.remove()
	if err := plain.Start(); err != nil {
		return err
	}
	// Linux before 5.7 cannot do it, and some containers do not let it.
	h.cmd = &plain
	g.mu.Lock()
	defer g.mu.Unlock()
	g.why = sys.TextOf(sys.Errorf(sys.CodeUnavailable, "The system starts nothing in a cgroup: %w", why))
	return nil
}

func (g *groups) make() (*group, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.folder == nil || g.why != (sys.Words{}) {
		return nil, nil
	}
	g.last++
	own := &group{path: filepath.Join(g.folder.Name(), strconv.Itoa(g.last))}
	err := os.Mkdir(own.path, 0o700)
	if err == nil {
		// One process of a tree that is killed for want of memory leaves a tree
		// that nobody expects.
		err = setGroup(own.path, "memory.oom.group", "1")
	}
	if err == nil {
		err = setGroup(own.path, "memory.swap.max", "0")
		if errors.Is(err, os.ErrNotExist) { // Linux does not swap
			err = nil
		}
	}
	if err == nil {
		own.folder, err = os.Open(own.path)
	}
	if err != nil {
		os.Remove(own.path)
		return nil, err
	}
	return own, nil
}

// limit sets the limits of the command that begins, and reports whether its
// memory is held. Zero is no limit.
func (g *group) limit(memory int64, procs int) (held bool, err error) {
	if g == nil {
		return false, nil
	}
	if memory > 0 {
		err = setGroup(g.path, "memory.max", strconv.FormatInt(memory+helpersMemory, 10))
	}
	if err == nil && procs > 0 {
		err = setGroup(g.path, "pids.max", strconv.Itoa(procs*tasksEach+helpersTasks))
	}
	return err == nil, err
}

// outOfMemory reports whether all in the group were ended because they reached
// its limit: not that of the machine, nor of a group around it.
func (g *group) outOfMemory() bool {
	return g.event("memory.events", "oom") > 0 && g.event("memory.events", "oom_kill") > 0
}

// watch ends the group when the limit of its processes is reached: what goes on
// trying takes all of a machine, and the helper gets no thread to count it. The
// watch ends when stop is called.
func (g *group) watch() (stop func()) {
	if g == nil {
		return func() {}
	}
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				if g.tooManyTasks() {
					g.kill()
				}
			}
		}
	})
	return func() {
		close(over)
		wait.Wait()
	}
}

// tooManyTasks reports whether a process or a thread was not started because of
// the limit.
func (g *group) tooManyTasks() bool { return g.event("pids.events", "max") > 0 }

func (g *group) event(file, name string) int {
	if g == nil {
		return 0
	}
	data, _ := os.ReadFile(filepath.Join(g.path, file))
	for line := range strings.Lines(string(data)) {
		if key, count, _ := strings.Cut(strings.TrimSpace(line), " "); key == name {
			n, _ := strconv.Atoi(count)
			return n
		}
	}
	return 0
}

// kill ends all that is in the group, and returns at once.
func (g *group) kill() {
	if g == nil || setGroup(g.path, "cgroup.kill", "1") == nil {
		return
	}
	list, _ := inGroup(g.path) // Linux before 5.14
	signalAll(list, unix.SIGKILL)
}

// remove ends what is left in the group, and removes it. The helper has ended,
// and was waited for.
func (g *group) remove() {
	if g == nil {
		return
	}
	self := os.Getpid()
	for end := time.Now().Add(groupGrace); os.Remove(g.path) != nil && exist(g.path) && time.Now().Before(end); {
		list, _ := inGroup(g.path)
		g.kill()
		for _, pid := range list {
			// This process may have adopted it, and then nobody else waits for it.
			if st, err := readStat(pid); err == nil && st.ppid == self {
				unix.Wait4(pid, nil, 0, nil)
			}
		}
		if len(list) == 0 {
			time.Sleep(time.Millisecond) // they are killed, and not gone yet
		}
	}
}

func exist(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// inGroup returns the processes of a cgroup, without those of the ones in it.
func inGroup(path string) ([]int, error) {
	data, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var out []int
	for _, f := range strings.Fields(string(data)) {
		if n, err := strconv.Atoi(f); err == nil && n > 0 { // 0 is one that cannot be seen from here
			out = append(out, n)
		}
	}
	return out, nil
}

// setGroup writes a setting of a cgroup in one piece. It makes no file: where
// there are none of that name, the kernel does not know it.
func setGroup(path, name, value string) error {
	fd, err := unix.Open(filepath.Join(path, name), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	defer unix.Close(fd)
	if _, err := syscall.Write(fd, []byte(value)); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}
