//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/wailsapp/wails/v2"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// Built reports whether this build has the window.
const Built = true

// Main opens the window, with the deep link in args if there is one, and
// returns the exit code when the person quits. It must be called on the main
// goroutine. Without a display it becomes `oxios serve`. When a window of this
// home is open already, that one is shown, and the code is 0.
func Main(args []string, d Deps) int {
	if generating {
		if err := wails.Run(newApp("", d, slog.New(slog.DiscardHandler)).options()); err != nil {
			return fail(err)
		}
		return 0
	}
	if len(args) > 0 && args[0] == quickCommand {
		return quickMain(args[1:], d)
	}
	if why := noDisplay(); why != "" {
		return serveInstead(why)
	}
	want, err := wanted(args)
	if err != nil {
		return fail(err)
	}
	home, err := kernel.DefaultHome()
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mine, err := claim(ctx, home, "desktop", want)
	if err != nil {
		return fail(err)
	}
	if mine == nil {
		return 0
	}
	log, closeLog := openLog(home, "desktop.log")
	code, again := window(ctx, mine, home, want, d, log)
	closeLog()
	if again {
		return restart(args)
	}
	return code
}

// window runs the window of home and returns when it was quit. again asks for a
// restart with plainer drawing.
func window(ctx context.Context, mine *instance, home string, want handover, d Deps, log *slog.Logger) (code int, again bool) {
	defer mine.close()
	a := newApp(home, d, log)
	a.hidden = want.Hidden
	// A home that cannot be opened is told in the window: who started it by its
	// icon reads no terminal.
	first := a.kernel.look(ctx)
	stopSignals := onSignal(a.quit, os.Interrupt, syscall.SIGTERM)
	defer stopSignals()
	a.start(ctx, first, mine)
	a.show(want)
	if d.Tray != nil {
		a.tray = d.Tray(TrayActions{Open: a.front, Quick: a.quickPrompt, Review: a.review, Pause: a.pause, Quit: a.quit})
		a.trayReady.Store(true)
		a.showTray()
	}
	if a.hidden {
		keepBack()
	}
	err := wails.Run(a.options())
	close(a.ended)
	a.close()
	if err != nil {
		return fail(err), false
	}
	return 0, a.again.Load()
}

func wanted(args []string) (handover, error) {
	for _, arg := range args {
		if arg == kernel.HiddenFlag {
			return handover{Hidden: true}, nil
		}
		if strings.HasPrefix(arg, "oxios:") {
			if _, ok := linked(arg); !ok {
				return handover{}, sys.Errorf(sys.CodeInvalid, "%q is no link that Oxios knows.", arg).WithHint("Links look like oxios://session/ID.")
			}
			return handover{Open: arg}, nil
		}
	}
	return handover{}, nil
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "Oxios:", sys.AsError(err).Error())
	return 1
}

// noDisplay says why no window can be opened, or "".
func noDisplay() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set)"
	}
	if !displayOpens() {
		return "The display cannot be opened"
	}
	return ""
}

// serveInstead becomes `oxios serve` of the binary beside this one.
func serveInstead(why string) int {
	self, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	oxios := filepath.Join(filepath.Dir(self), "oxios")
	if _, err := os.Stat(oxios); err != nil {
		return fail(sys.Errorf(sys.CodeUnavailable, "%s, so no window can be shown.", why).WithHint("Run `oxios serve`, which shows the same page in a browser."))
	}
	fmt.Fprintf(os.Stderr, "%s, so Oxios serves its page instead of a window.\n", why)
	return become(oxios, []string{oxios, "serve"}, os.Environ())
}

// plainDrawing keeps WebKit from sharing buffers with the graphics driver,
// which leaves the window empty on some of them.
const plainDrawing = "WEBKIT_DISABLE_DMABUF_RENDERER"

func restart(args []string) int {
	self, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	// An empty window is seen, so it was not hidden any more.
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == kernel.HiddenFlag })
	return become(self, append([]string{self}, args...), append(os.Environ(), plainDrawing+"=1"))
}

// become replaces this process, or where the system cannot do that runs the
// other one and returns its code.
func become(path string, argv, env []string) int {
	err := syscall.Exec(path, argv, env)
	if runtime.GOOS != "windows" {
		return fail(fmt.Errorf("start %s: %w", path, err))
	}
	cmd := exec.Command(path, argv[1:]...) //nolint:noctx // it takes this process's place
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

// maxLog is the size in bytes at which the log begins anew.
const maxLog = 4 << 20

// openLog writes to the terminal and to a file in logs: a program that was
// started by its icon has no terminal.
func openLog(home, name string) (*slog.Logger, func()) {
	path := filepath.Join(home, "logs", name)
	var out io.Writer = os.Stderr
	closeLog := func() {}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
		if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
			flags |= os.O_TRUNC
		}
		if f, err := os.OpenFile(path, flags, 0o600); err == nil {
			out, closeLog = io.MultiWriter(os.Stderr, f), func() { f.Close() }
		}
	}
	return slog.New(slog.NewTextHandler(out, nil)), closeLog
}

// onSignal quits at the first of the signals: a window that hides when it is
// closed would swallow them.
func onSignal(quit func(), signals ...os.Signal) (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, signals...)
	done := make(chan struct{})
	go func() {
		select {
		case <-c:
			quit()
		case <-done:
		}
	}()
	return func() {
		signal.Stop(c)
		close(done)
	}
}
