// Oxios is an operating system for AI agents.
//
// One main, two builds: `oxios`, static, is the command line, `oxios serve` and
// the sandbox helper; `oxios-desktop`, built with the desktop tags, is the
// window and the tray.
package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"oxios/app/cli"
	"oxios/app/desktop"
	"oxios/app/tray"
	"oxios/frontend"
	"oxios/kernel"
	"oxios/kernel/tools"
)

// version is set by the linker.
var version = "dev"

func main() {
	if kernel.SandboxHelper() {
		return
	}
	if desktop.Built {
		os.Exit(desktop.Main(os.Args[1:], desktop.Deps{
			Version: version, Frontend: frontend.FS(), Open: open,
			Tray: func(a desktop.TrayActions) desktop.Tray { return tray.Register(tray.Actions(a)) },
		}))
	}
	os.Exit(cli.Main(os.Args[1:], cli.Deps{Version: version, Frontend: frontend.FS(), Open: open, Restore: kernel.RestoreDatabase}))
}

// open builds the kernel of a home for the face that will own it.
func open(ctx context.Context, home, owner string, log *slog.Logger) (*kernel.Kernel, error) {
	return kernel.Open(ctx, kernel.Options{
		Home: home, Version: version, Owner: owner, Helper: helper(), Window: window(), Log: log,
		Tools: tools.New, Catalogue: tools.Catalogue(), Demo: cli.StartDemo,
	})
}

// helper is the static binary that runs commands contained: this one, or the
// one beside the desktop's.
func helper() string { return program("oxios", !desktop.Built) }

// window is the program with the window: this one, or the one beside it.
func window() string { return program("oxios-desktop", desktop.Built) }

// program is the path of this program, or of the one called name beside it; ""
// when that is not there.
func program(name string, this bool) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	if this {
		return self
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	beside := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(beside); err != nil {
		return ""
	}
	return beside
}
