package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

const root = "../.."

func TestGeneratedFilesMatchTheGoldenOnes(t *testing.T) {
	t.Parallel()
	outputs, err := generate(root, "./build/gen/testdata/kernel")
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range outputs {
		golden := filepath.Join("testdata", "golden", filepath.Base(out.path)+".txt")
		if *update {
			if err := os.WriteFile(golden, out.data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.data, want) {
			t.Errorf("%s differs from %s; when the change is meant, run `go test ./build/gen -update`. Got:\n%s", out.path, golden, out.data)
		}
	}
}

func TestTheSameKernelGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	first, err := generate(root, "./build/gen/testdata/kernel")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := generate(root, "./build/gen/testdata/kernel")
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if !bytes.Equal(first[i].data, again[i].data) {
				t.Fatalf("%s differs from one run to the next", first[i].path)
			}
		}
	}
}

// The generated Go is compiled against the hand-written half of app/remote, so
// that shapes which the real kernel does not use today compile too.
func TestGeneratedGoCompiles(t *testing.T) {
	t.Parallel()
	outputs, err := generate(root, "./build/gen/testdata/kernel")
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	replaced := map[string]string{}
	dir := t.TempDir()
	// The bindings stand in a package of their own here: the rest of app/desktop needs a window's libraries.
	for i, path := range []string{"app/remote/api_gen.go", "build/gen/bound/bindings_gen.go"} {
		file := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(file, outputs[i].data, 0o644); err != nil {
			t.Fatal(err)
		}
		replaced[filepath.Join(abs, filepath.FromSlash(path))] = file
	}
	// What is written against the real kernel has no place beside this one.
	files, err := filepath.Glob(filepath.Join(abs, "app", "remote", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := replaced[file]; !ok && bytes.Contains(text, []byte("\t\"oxios/kernel\"\n")) {
			replaced[file] = ""
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-tags", "bindings", "-overlay", file, "./app/remote", "./build/gen/bound")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the generated package does not compile: %v\n%s", err, out)
	}
}

func TestShapesThatCannotCrossTheSocketAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ source, want string }{
		"no context":      {`func (a *API) Go(id string) error { return nil }`, "API.Go must take a context.Context first"},
		"variadic":        {`func (a *API) Go(ctx context.Context, ids ...string) error { return nil }`, "API.Go is variadic"},
		"no error":        {`func (a *API) Go(ctx context.Context) string { return "" }`, "must return an error"},
		"three results":   {`func (a *API) Go(ctx context.Context) (string, string, error) { return "", "", nil }`, "must return an error"},
		"a function":      {`func (a *API) Go(ctx context.Context, f func()) error { return nil }`, "takes f, a func()"},
		"a deep channel":  {`type T struct{ In []struct{ C chan int } }; func (a *API) Go(ctx context.Context) (T, error) { return T{}, nil }`, "in field C in field In"},
		"an integer key":  {`func (a *API) Go(ctx context.Context) (map[int]string, error) { return nil, nil }`, "only strings can be keys"},
		"a foreign type":  {`func (a *API) Go(ctx context.Context, u url.URL) error { return nil }`, "net/url.URL"},
		"its own JSON":    {`type T struct{}; func (T) MarshalJSON() ([]byte, error) { return nil, nil }; func (a *API) Go(ctx context.Context, t T) error { return nil }`, "ts_type"},
		"an open channel": {`func (a *API) Go(ctx context.Context) (chan int, error) { return nil, nil }`, "receive-only"},
		"no alias":        {`func (a *API) Go(ctx context.Context, s owner.State) error { return nil }`, "add `type State = owner.State`"},
		"a broken kernel": {`func (a *API) Go(`, "does not compile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := generate(writeKernel(t, tc.source), "./kernel")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a sentence with %q", err, tc.want)
			}
		})
	}
}

// writeKernel writes a module of the same name whose kernel has one API, and
// returns its root.
func writeKernel(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module oxios\n\ngo 1.26.0\n",
		"owner/owner.go":   "package owner\n\ntype State string\n",
		"kernel/kernel.go": "package kernel\n\nimport (\"context\"; \"net/url\"; \"oxios/owner\")\n\nvar _ context.Context\nvar _ url.URL\nvar _ owner.State\n\ntype Handle struct{ A *API }\n\ntype API struct{}\n\n" + source + "\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNamesAreSpelledAsTheWireDoes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"Sessions": "sessions", "SetTool": "setTool", "MCP": "mcp", "URLFor": "urlFor", "SetURL": "setURL", "A2A": "a2a", "X2Go": "x2Go", "X": "x"} {
		if got := lowerCamel(in); got != want {
			t.Errorf("lowerCamel(%q): got %q, want %q", in, got, want)
		}
	}
}
