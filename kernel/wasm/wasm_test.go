package wasm_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel/sys"
	"oxios/kernel/wasm"
	"oxios/kernel/wasm/wasmtest"
)

// folder is a folder with modules, beside a secret.
func folder(t *testing.T, modules map[string][]byte) string {
	t.Helper()
	at := t.TempDir()
	dir := filepath.Join(at, "skill")
	for name, code := range modules {
		put(t, filepath.Join(dir, name), code)
	}
	put(t, filepath.Join(dir, "data", "words.json"), []byte(`["one","two"]`))
	put(t, filepath.Join(at, "secret"), []byte(`"the secret"`))
	for link, to := range map[string]string{"out": "../secret", "far": filepath.Join(at, "secret"), "up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	return dir
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAModuleAnswersFromItsInputAndItsFolder(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string][]byte{"echo.wasm": wasmtest.Echo(), "words.wasm": wasmtest.Reads("data/words.json", 0)})
	for file, want := range map[string]string{"echo.wasm": `{"a":[1,2]}`, "words.wasm": `["one","two"]`} {
		out, err := wasm.Run(t.Context(), dir, file, strings.NewReader(`{"a":[1,2]}`))
		if err != nil || string(out) != want {
			t.Errorf("%s answered %s, %v, want %s", file, out, err, want)
		}
	}
}

func TestAModuleReachesNothingOutsideItsFolder(t *testing.T) {
	t.Parallel()
	modules := map[string][]byte{
		"written.wasm": wasmtest.Reads("data/words.json", 9), "made.wasm": wasmtest.Reads("data/new.json", 9),
	}
	for i, path := range []string{"../secret", "out", "far", "up/secret", "data/../../secret", "/etc/passwd", "./../secret"} {
		modules[string(rune('a'+i))+".wasm"] = wasmtest.Reads(path, 0)
	}
	dir := folder(t, modules)
	for file := range modules {
		out, err := wasm.Run(t.Context(), dir, file, strings.NewReader("{}"))
		if bytes.Contains(out, []byte("secret")) || err == nil && file != "written.wasm" {
			t.Errorf("%s answered %s, %v, want an error", file, out, err)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "data", "words.json")); err != nil || string(raw) != `["one","two"]` {
		t.Errorf("its file holds %s, %v", raw, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "new.json")); !os.IsNotExist(err) {
		t.Errorf("it made a file: %v", err)
	}
}

func TestAModuleGets64MBOfMemoryAndNoMore(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string][]byte{"grows.wasm": wasmtest.Grows(), "large.wasm": wasmtest.Large(65536)})
	if out, err := wasm.Run(t.Context(), dir, "grows.wasm", strings.NewReader("{}")); err != nil || string(out) != "11024" {
		t.Errorf("it got %s, %v, want 1024 pages", out, err)
	}
	if _, err := wasm.Run(t.Context(), dir, "large.wasm", strings.NewReader("{}")); sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), "64 MB") {
		t.Errorf("one that asks for 4 GB: got %v", err)
	}
}

func TestAModuleThatNeverEndsIsEnded(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string][]byte{"loops.wasm": wasmtest.Loops()})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := wasm.Run(ctx, dir, "loops.wasm", strings.NewReader("{}")); sys.CodeOf(err) != sys.CodeTimeout {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsWrongWithAModuleIsSaid(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string][]byte{
		"fails.wasm": wasmtest.Fails("no such word", 3), "plain.wasm": wasmtest.Says("hello", 1), "silent.wasm": wasmtest.Says("", 0),
		"floods.wasm": wasmtest.Says(strings.Repeat("1", 4096), 1<<20), "socket.wasm": wasmtest.Imports("env", "connect"),
		"none.wasm": []byte("#!/bin/sh\necho {}\n"), "cut.wasm": wasmtest.Echo()[:60], "big.wasm": make([]byte, wasm.MaxModule+1),
	})
	for file, want := range map[string]string{
		"fails.wasm": `failed with code 3: "no such word"`, "plain.wasm": "did not answer with JSON", "silent.wasm": "did not answer with JSON",
		"floods.wasm": "answers more than", "socket.wasm": `needs the function "connect" of "env"`,
		"none.wasm": "cannot be run", "cut.wasm": "cannot be run", "big.wasm": "is larger than",
	} {
		_, err := wasm.Run(t.Context(), dir, file, strings.NewReader("{}"))
		if e := sys.AsError(err); err == nil || !strings.Contains(e.Message, want) || e.MessageKO == "" {
			t.Errorf("%s: got %v, want %q in both languages", file, err, want)
		}
	}
}
