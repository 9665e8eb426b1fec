package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

const (
	groupKernel = "oxios.kernel" // the cgroup of the kernel itself, beside those of the commands

	systemdPatience = 2 * time.Second

	// https://www.freedesktop.org/software/systemd/man/latest/org.freedesktop.systemd1.html
	systemdName    = "org.freedesktop.systemd1"
	systemdManager = "org.freedesktop.systemd1.Manager."
)

// seat is the cgroup in which this process may make others. Finding it may move
// the process, which is done once.
var seat struct {
	mu    sync.Mutex
	known bool
	path  string
	err   error
}

// seatOf returns the folder of the cgroup in which this process may make others
// that limit memory and processes. The error says for people why there is none.
//
// It is the root of all cgroups, for root on a machine without systemd. Or it is
// one that systemd, or a container, has handed over to this process and those
// that it started; or a scope of that kind which systemd makes when it is asked.
// Only a cgroup without processes may hand out memory, so that the kernel with
// its programs moves into one below. Nothing is done in a cgroup with others.
func seatOf(ctx context.Context) (string, error) {
	seat.mu.Lock()
	defer seat.mu.Unlock()
	if !seat.known {
		seat.path, seat.err = takeSeat(ctx)
		seat.known = ctx.Err() == nil
	}
	return seat.path, seat.err
}

func takeSeat(ctx context.Context) (string, error) {
	top, own, err := ownGroup()
	if err != nil {
		return "", err
	}
	if !controls(top) {
		return "", sys.Errorf(sys.CodeUnavailable, "This system hands out memory and processes by cgroups of the first version, or not at all.")
	}
	if !exist(filepath.Join(own, "cgroup.type")) { // the root alone has none, and may keep its processes
		return own, handOut(own)
	}
	if filepath.Base(own) == groupKernel { // this process was here before
		return filepath.Dir(own), handOut(filepath.Dir(own))
	}
	if own == top || handedOver(own) {
		return own, moveDown(own)
	}
	ctx, cancel := context.WithTimeout(ctx, systemdPatience)
	defer cancel()
	conn, err := systemd(ctx)
	if err != nil {
		return "", sys.Errorf(sys.CodeUnavailable, "systemd gave Oxios no cgroup: %w", err)
	}
	defer conn.Close()
	if filepath.Ext(own) != ".scope" { // a service whose process leaves it seems to have ended
		if !delegated(ctx, conn) {
			return "", sys.Errorf(sys.CodeUnavailable, "The cgroup %s was not handed over to Oxios.", filepath.Base(own))
		}
		return own, moveDown(own)
	}
	if err := askForScope(ctx, conn, own); err != nil {
		return "", sys.Errorf(sys.CodeUnavailable, "systemd gave Oxios no cgroup: %w", err)
	}
	if _, own, err = ownGroup(); err != nil {
		return "", err
	}
	return own, moveDown(own)
}

// ownGroup returns the folder of this process's cgroup, and that of the topmost
// one that it sees.
func ownGroup() (top, own string, err error) {
	none := sys.Errorf(sys.CodeUnavailable, "This system has no cgroups of the second version.")
	data, _ := os.ReadFile("/proc/self/cgroup")
	_, rest, ok := strings.Cut("\n"+string(data), "\n0::")
	if !ok {
		return "", "", none
	}
	path, _, _ := strings.Cut(rest, "\n")
	data, err = os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", "", none.WithCause(err)
	}
	for line := range strings.Lines(string(data)) {
		// ID, parent, device, root and place, then others, then the kind.
		left, right, _ := strings.Cut(line, " - ")
		f := strings.Fields(left)
		if len(f) < 5 || !strings.HasPrefix(right, "cgroup2 ") {
			continue
		}
		below, err := filepath.Rel(f[3], path)
		if err == nil && filepath.IsLocal(below) {
			return f[4], filepath.Join(f[4], below), nil
		}
	}
	return "", "", none
}

// controls reports whether memory and processes can be limited below a cgroup.
func controls(path string) bool {
	data, _ := os.ReadFile(filepath.Join(path, "cgroup.controllers"))
	list := strings.Fields(string(data))
	return slices.Contains(list, "memory") && slices.Contains(list, "pids")
}

// handedOver reports whether systemd marked a cgroup as one that it leaves to
// who runs in it. Before version 254 a person's systemd marks none.
func handedOver(path string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		mark := make([]byte, 8)
		if n, err := unix.Getxattr(path, name, mark); err == nil && bytes.Equal(mark[:n], []byte("1")) {
			return true
		}
	}
	return false
}

// handOut makes memory and processes limits of the cgroups in path.
func handOut(path string) error {
	if err := setGroup(path, "cgroup.subtree_control", "+memory +pids"); err != nil {
		return unwritable(err)
	}
	return nil
}

// moveDown moves this process, with those that it started, out of the cgroup
// path, and hands out its limits.
func moveDown(path string) error {
	if !controls(path) {
		return sys.Errorf(sys.CodeUnavailable, "The cgroup %s has no say about memory and processes.", filepath.Base(path))
	}
	below := filepath.Join(path, groupKernel)
	for range 100 { // one that starts another meanwhile has it here
		list, err := inGroup(path)
		if err != nil {
			return unwritable(err)
		}
		if len(list) == 0 {
			return handOut(path)
		}
		mine := append(descendants(os.Getpid()), os.Getpid())
		for _, pid := range list {
			if !slices.Contains(mine, pid) && exist(fmt.Sprint("/proc/", pid)) {
				return sys.Errorf(sys.CodeUnavailable, "Oxios is not alone in the cgroup %s.", filepath.Base(path))
			}
		}
		if err := os.Mkdir(below, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // as all cgroups are
			return unwritable(err)
		}
		for _, pid := range list {
			err := setGroup(below, "cgroup.procs", fmt.Sprint(pid))
			if err != nil && !errors.Is(err, unix.ESRCH) {
				return unwritable(err)
			}
		}
	}
	return sys.Errorf(sys.CodeUnavailable, "Oxios is not alone in the cgroup %s.", filepath.Base(path))
}

// property is a setting of a unit, as systemd is told of it.
type property struct {
	Name  string
	Value dbus.Variant
}

// systemd returns a connection to the systemd that this process belongs to: that
// of the machine for root, else that of the person's session.
func systemd(ctx context.Context) (*dbus.Conn, error) {
	if os.Getuid() == 0 {
		return dbus.ConnectSystemBus(dbus.WithContext(ctx))
	}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		return nil, errors.New("there is no session bus") // godbus would start one
	}
	return dbus.ConnectSessionBus(dbus.WithContext(ctx))
}

// delegated reports whether systemd leaves the cgroup of this process, that of a
// service, to it.
func delegated(ctx context.Context, conn *dbus.Conn) bool {
	var path dbus.ObjectPath
	var yes dbus.Variant
	err := conn.Object(systemdName, "/org/freedesktop/systemd1").
		CallWithContext(ctx, systemdManager+"GetUnitByPID", 0, uint32(os.Getpid())).Store(&path) //nolint:gosec // a process's id
	if err == nil {
		err = conn.Object(systemdName, path).
			CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, systemdName+".Service", "Delegate").Store(&yes)
	}
	return err == nil && yes.Value() == true
}

// askForScope has systemd move this process from its cgroup into a scope of its
// own, in which it may do as it likes.
func askForScope(ctx context.Context, conn *dbus.Conn, before string) error {
	name := fmt.Sprintf("app-oxios-%d.scope", os.Getpid()) // desktops tell by it whose window it is
	settings := []property{
		{"Description", dbus.MakeVariant("Oxios")},
		{"PIDs", dbus.MakeVariant([]uint32{uint32(os.Getpid())})}, //nolint:gosec // a process's id
		{"Delegate", dbus.MakeVariant(true)},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")},
	}
	var others []struct {
		Name     string
		Settings []property
	}
	var job dbus.ObjectPath
	err := conn.Object(systemdName, "/org/freedesktop/systemd1").
		CallWithContext(ctx, systemdManager+"StartTransientUnit", 0, name, "fail", settings, others).Store(&job)
	for err == nil { // it has only begun
		if _, own, e := ownGroup(); e != nil || own != before {
			return e
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return err
}
