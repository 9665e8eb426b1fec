// Package wasm runs WebAssembly modules that others wrote: one call, JSON in, JSON out.
//
// It owns what such a module may do, which is nothing but compute:
//
//   - It is a command of WASI preview 1 (https://wasi.dev): it reads its input from stdin, and writes its answer to stdout.
//   - It sees one folder, read-only, and no link leads out of it. It has no network, no variables, no program to start.
//   - Memory, time, input and answer are bounded: see the limits below.
//
// Compiling what somebody else wrote takes memory that nobody knows beforehand, so that the kernel does not do it itself: it
// starts this program again, contained, as the module's host ([Main]), and takes up what that one says ([Parse]). It must never
// know who brings a module, nor decide who may call one.
package wasm

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	wasi "github.com/tetratelabs/wazero/sys"

	"oxios/kernel/sys"
)

// The limits of a module.
const (
	MaxModule = 16 << 20         // bytes of its file
	MaxInput  = 1 << 20          // bytes of JSON
	MaxOutput = 1 << 20          // bytes of JSON
	MaxTime   = 10 * time.Second // that it computes
	maxPages  = 64 << 20 >> 16   // of 64 KiB: its memory
	maxStderr = 4 << 10          // bytes that are kept of what it says besides
)

// What its host may use. Whoever starts it holds it to that.
const (
	HostMemory = 512 << 20        // bytes: the largest module takes most of it to be compiled
	HostTime   = 60 * time.Second // that, and compiling
	HostOutput = 8 << 20          // bytes: the answer, as a string of JSON
)

// wordHost is the word of the command line that makes this program the host of a module.
const wordHost = "@module"

// Command is the command line of a host: program, started with it, runs the module file, a path in the folder dir, on what it
// reads from stdin.
func Command(program, dir, file string) []string { return []string{program, wordHost, dir, file} }

// answer is what a host says: one line of JSON.
type answer struct {
	Output []byte     `json:"output,omitempty"`
	Error  *sys.Error `json:"error,omitempty"`
}

// Main acts as the host of a module if the command line asks for it, and does not return then. main calls it before anything
// else; false means that this is an ordinary start.
func Main() bool {
	if len(os.Args) != 4 || os.Args[1] != wordHost {
		return false
	}
	debug.SetMemoryLimit(HostMemory * 3 / 4)
	out, err := Run(context.Background(), os.Args[2], os.Args[3], os.Stdin)
	a := answer{Output: out}
	if err != nil {
		a.Error = sys.AsError(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		fmt.Fprintln(os.Stderr, "oxios module:", err)
		os.Exit(1)
	}
	os.Exit(0)
	return true
}

// Parse takes up what the host of the module called name said.
func Parse(said []byte, name string) (json.RawMessage, error) {
	var a answer
	if err := json.Unmarshal(said, &a); err != nil {
		return nil, Ended(name).WithCause(err)
	}
	if a.Error != nil {
		return nil, a.Error
	}
	return a.Output, nil
}

// Ended says that a module ended the program that ran it.
func Ended(name string) *sys.Error {
	return sys.Errorf(sys.CodeInvalid, "The module %q could not be run: it ended the program that ran it. Nothing was changed.", name).
		WithHint("Its author has to mend it.")
}

// Run runs the module file of the folder dir in this process, and returns the JSON that it answers to input, which is JSON too.
// It is ended with ctx, and after [MaxTime]. What a module does wrong is a [sys.Error] that says what.
func Run(ctx context.Context, dir, file string, input io.Reader) (json.RawMessage, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	code, err := load(root, file)
	if err != nil {
		return nil, err
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithMemoryLimitPages(maxPages).WithCloseOnContextDone(true).WithDebugInfoEnabled(false))
	defer r.Close(context.WithoutCancel(ctx))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	module, err := r.CompileModule(ctx, code)
	if err != nil {
		return nil, sys.Errorf(sys.CodeInvalid, "The module %q cannot be run: %w. Nothing was changed.", file, err).
			WithHint("A module is a WebAssembly file for WASI preview 1 with at most 64 MB of memory.")
	}
	for _, f := range module.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasi_snapshot_preview1.ModuleName {
			return nil, sys.Errorf(sys.CodeInvalid, "The module %q needs the function %q of %q, which is not given to modules. Nothing was changed.", file, name, from).
				WithHint("A module is a WebAssembly file for WASI preview 1 with at most 64 MB of memory.")
		}
	}
	said, complaint := &bounded{most: MaxOutput}, &bounded{most: maxStderr, quiet: true}
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	_, err = r.InstantiateModule(ctx, module, wazero.NewModuleConfig().WithName("").WithArgs(file).
		WithStdin(io.LimitReader(input, MaxInput)).WithStdout(said).WithStderr(complaint).
		WithFSConfig(wazero.NewFSConfig().WithFSMount(root.FS(), "/")).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep().WithRandSource(rand.Reader))
	var exit *wasi.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, sys.Errorf(sys.CodeTimeout, "The module %q was ended after %s. Nothing was changed.", file, MaxTime).
			WithHint("Give it less to do at once.")
	case said.full:
		return nil, sys.Errorf(sys.CodeTooLarge, "The module %q answers more than %d bytes. Nothing was changed.", file, MaxOutput).
			WithHint("Give it less to do at once.")
	case errors.As(err, &exit) && exit.ExitCode() == 0, err == nil:
	case errors.As(err, &exit):
		return nil, sys.Errorf(sys.CodeInvalid, "The module %q failed with code %d%s. Nothing was changed.", file, exit.ExitCode(), complaint.quoted())
	default:
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, sys.Errorf(sys.CodeInvalid, "The module %q failed (%s)%s. Nothing was changed.", file, sys.Shorten(first, 200), complaint.quoted())
	}
	out := bytes.TrimSpace(said.Bytes())
	if !json.Valid(out) {
		return nil, sys.Errorf(sys.CodeInvalid, "The module %q did not answer with JSON%s. Nothing was changed.", file, complaint.quoted())
	}
	return out, nil
}

// load reads the code of a module.
func load(root *os.Root, file string) ([]byte, error) {
	f, err := root.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	code, err := io.ReadAll(io.LimitReader(f, MaxModule+1))
	if err == nil && len(code) > MaxModule {
		err = sys.Errorf(sys.CodeTooLarge, "The module %q is larger than %d bytes. Nothing was run.", file, MaxModule)
	}
	return code, err
}

// bounded keeps what a module writes, up to a limit. More is an error for the module, or, of what nobody needs, dropped.
type bounded struct {
	bytes.Buffer
	most  int
	quiet bool
	full  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	fits := min(len(p), b.most-b.Len())
	b.Buffer.Write(p[:fits])
	if fits == len(p) || b.quiet {
		return len(p), nil
	}
	b.full = true
	return fits, io.ErrShortWrite
}

// quoted is what a module said before it failed, as the end of a sentence; "" for nothing.
func (b *bounded) quoted() string {
	text := strings.Join(strings.Fields(b.String()), " ")
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", sys.Shorten(text, 300))
}
