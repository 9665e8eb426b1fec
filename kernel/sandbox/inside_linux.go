package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// enclose has the walls of a command at level 3 built, and waits for their end.
// The process in them speaks with the kernel itself. It is the first of its
// process namespace: when it ends, Linux ends all others there.
func enclose(p plan) error {
	// Bubblewrap ends with the thread that started it, and the walls with
	// bubblewrap. This thread ends with the process.
	runtime.LockOSThread()
	defer removeAll(p.Temp)
	if len(p.Copies) > 0 {
		err := mountLayers(p.Copies)
		if err == nil {
			err = dropAmbient()
		}
		if err != nil {
			return err
		}
	}
	walls, err := memoryFile("walls", strings.Join(p.Walls, "\x00")+"\x00")
	if err != nil {
		return fmt.Errorf("hand over the walls: %w", err)
	}
	defer walls.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	input := null.Fd()
	if p.Input {
		input = fdInput
	}
	argv := []string{"bwrap", "--args", fmt.Sprint(fdWalls), "--", insideHelper, wordInside}
	pid, err := syscall.ForkExec(p.Bwrap, argv, &syscall.ProcAttr{
		Dir: "/", Env: []string{"GOTRACEBACK=single"}, // bubblewrap clears it for what is inside
		Files: []uintptr{null.Fd(), null.Fd(), 2, fdOrders, fdNotices, fdStdout, fdStderr, input, walls.Fd()},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Bwrap, err)
	}
	unix.Close(fdStdout)
	unix.Close(fdStderr)
	if p.Input {
		unix.Close(fdInput)
	}
	var ws unix.WaitStatus
	for {
		if _, err = unix.Wait4(pid, &ws, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil || !ws.Exited() || ws.ExitStatus() != 0 {
		removeAll(p.Temp)
		os.Exit(1) // bubblewrap, or the process inside, has said why
	}
	return nil
}

// memoryFile returns a file that holds text and has no name.
func memoryFile(name, text string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// carry listens on the loopback of the view, and carries what is said there to
// the socket of the kernel's proxy. It goes on until the process ends.
func carry() error {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", holePort))
	if err != nil {
		return err
	}
	go each(l, func(c net.Conn) {
		p, err := net.Dial("unix", insideHole)
		if err != nil {
			return
		}
		defer p.Close()
		join(p, c)
	})
	return nil
}
