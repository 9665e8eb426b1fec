package kernel

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"oxios/kernel/sandbox"
	"oxios/kernel/skill"
	"oxios/kernel/sys"
	"oxios/kernel/wasm"
)

// IsModule reports whether a file of a skill is a WebAssembly module.
func IsModule(file string) bool { return skill.IsModule(file) }

// runModule has a host of its own run a module of a skill, contained: compiling what somebody else wrote takes memory that
// nobody knows beforehand.
func (k *Kernel) runModule(ctx context.Context, m skill.Script, input json.RawMessage) (json.RawMessage, error) {
	name, err := filepath.Rel(m.Dir, m.Path)
	if err != nil {
		return nil, err
	}
	name = filepath.ToSlash(name)
	if k.opts.Helper == "" {
		return nil, sys.Errorf(sys.CodeUnavailable, "The module %q cannot be run, because a part of Oxios is missing. Nothing was changed.", name).
			WithHint("The program `oxios` must lie beside `oxios-desktop`: reinstall Oxios.")
	}
	dir, remove, err := k.scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	at := filepath.Join(dir, "input.json")
	if err := os.WriteFile(at, input, 0o600); err != nil {
		return nil, notWritten(err)
	}
	f, err := os.Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out, err := k.sandbox.Run(ctx, sandbox.Spec{
		Argv: wasm.Command(k.opts.Helper, m.Dir, name), Input: f, Dir: dir, Readable: []string{m.Dir}, Level: k.isolation(), Tag: "module", Cache: sandbox.Cache{None: true},
		Timeout: wasm.HostTime, MaxMemory: wasm.HostMemory, MaxOutput: wasm.HostOutput,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "GOTRACEBACK=single"},
	})
	switch {
	case err != nil:
		return nil, err
	case out.TimedOut:
		return nil, sys.Errorf(sys.CodeTimeout, "The module %q was ended after %s. Nothing was changed.", name, wasm.HostTime).WithHint("Its author has to make it smaller.")
	case out.OutOfMemory:
		return nil, wasm.Ended(name)
	}
	answer, err := wasm.Parse(out.Stdout, name)
	if code := sys.CodeOf(err); code == sys.CodeInternal || out.ExitCode != 0 {
		k.log.WarnContext(ctx, "The host of a module failed", "module", name, "exit", out.ExitCode, "signal", out.Signal, "error", err, "said", sys.Shorten(string(out.Stderr), 2000))
	}
	return answer, err
}
