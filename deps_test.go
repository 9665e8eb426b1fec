// The rules of the repository, as tests: which package may import which, who may know the window's and the tray's library,
// and what may lie in the repository. docs/ and CONTRIBUTING.md point here; a new package is placed in the table below first.
package main_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "oxios"

// mayImport is the import table: for each package of this module the packages of this module that it may import.
// A package imports only from rows above its own; the numbers are the layers of the house. Tests are free: they may use what they prove.
var mayImport = map[string][]string{
	// 1: the ground
	"kernel/sys":  nil,
	"kernel/demo": nil, // a peer on the wire, never a part of the kernel

	// 2: mechanisms
	"kernel/event":     {"kernel/sys"},
	"kernel/store":     {"kernel/sys"},
	"kernel/git":       {"kernel/sys"},
	"kernel/llm":       {"kernel/sys"},
	"kernel/sandbox":   {"kernel/sys"},
	"kernel/document":  {"kernel/sys"},
	"kernel/wasm":      {"kernel/sys"},
	"kernel/retrieval": nil,

	// 3: subsystems
	"kernel/security":  ground(),
	"kernel/undo":      {"kernel/sys", "kernel/security"},
	"kernel/limit":     ground(),
	"kernel/schedule":  ground(),
	"kernel/awake":     {"kernel/sys"},
	"kernel/space":     ground("kernel/retrieval"),
	"kernel/persona":   ground(),
	"kernel/memory":    ground("kernel/llm", "kernel/retrieval"),
	"kernel/knowledge": ground("kernel/git", "kernel/retrieval"),
	"kernel/web":       ground("kernel/security", "kernel/document"),
	"kernel/a2a":       ground(),

	// The door, and what parts say of themselves
	"kernel/guard":  {"kernel/sys", "kernel/store", "kernel/security"},
	"kernel/health": {"kernel/sys"},
	"kernel/home":   nil,
	"kernel/digest": nil, // the form of a hash, and no part

	// Parts
	"kernel/skill":  {"kernel/digest", "kernel/sys", "kernel/store", "kernel/security", "kernel/guard", "kernel/health", "kernel/home"},
	"kernel/client": {"kernel/sys", "kernel/store", "kernel/guard"},
	"kernel/mcp":    {"kernel/digest", "kernel/sys", "kernel/store", "kernel/security", "kernel/sandbox", "kernel/guard", "kernel/health", "kernel/home"},

	// 4: running an agent
	"kernel/ouroboros": {"kernel/sys", "kernel/llm"},
	"kernel/agent":     {"kernel/sys", "kernel/event", "kernel/llm", "kernel/store"},

	// 5: from a message to a result
	"kernel/orchestrator": {"kernel/sys", "kernel/event", "kernel/llm", "kernel/agent", "kernel/ouroboros"},

	// 6: the facade
	"kernel": {
		"kernel/sys", "kernel/event", "kernel/store", "kernel/git", "kernel/llm", "kernel/sandbox", "kernel/document", "kernel/wasm", "kernel/retrieval", "kernel/web",
		"kernel/security", "kernel/undo", "kernel/limit", "kernel/schedule", "kernel/awake", "kernel/space", "kernel/persona", "kernel/memory", "kernel/knowledge",
		"kernel/guard", "kernel/health", "kernel/home",
		"kernel/skill", "kernel/client", "kernel/mcp", "kernel/a2a", "kernel/ouroboros", "kernel/agent", "kernel/orchestrator",
	},

	// 7: what stands on the facade
	"kernel/tools":           {"kernel", "kernel/sys", "kernel/agent", "kernel/retrieval"},
	"kernel/kerneltest/disk": {},
	"kernel/mcp/mcptest":     {},
	"kernel/wasm/wasmtest":   {},
	"kernel/parttest":        {},
	"kernel/kerneltest":      {"kernel", "kernel/sys", "kernel/agent", "kernel/tools", "kernel/demo"},

	// 8: the faces
	"app/remote":  {"kernel", "kernel/sys"},
	"app/notify":  face(),
	"app/gateway": face(),
	"app/mcp":     face(),
	"app/tray":    face(),
	"app/cli":     face(),
	"app/desktop": face(),

	// 9: main joins them
	"": {
		"app/cli", "app/desktop", "app/gateway", "app/notify", "app/remote", "app/tray",
		"kernel", "kernel/tools", "frontend",
	},

	// Apart: the embedded page, and the generator, which reads the kernel's source and links none of it.
	"frontend":  nil,
	"build/gen": nil,
}

// mayKnow names, for a library that must not spread, the packages that may import it.
var mayKnow = map[string][]string{
	"github.com/wailsapp/":          {"app/desktop", ""},
	"github.com/getlantern/systray": {"app/tray"},
	"github.com/jezek/xgb":          {"app/desktop"},
}

// topLevel is everything that may lie at the top of the repository.
var topLevel = []string{
	".ci", ".editorconfig", ".gitattributes", ".gitignore", ".golangci.yml",
	"CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
	"app", "build", "docs", "frontend", "kernel",
	"deps_test.go", "docs_test.go", "go.mod", "go.sum", "main.go", "main_test.go", "sentences_test.go", "wails.json",
}

// builds are the ways in which the module is compiled. The rules hold in each of them.
var builds = []build{
	{goos: "linux"},
	{goos: "linux", tags: "desktop,production,webkit2_41"},
	{goos: "linux", tags: "desktop,dev,webkit2_41"},
	{goos: "linux", tags: "bindings"},
	{goos: "linux", tags: "desktoptest"},
	{goos: "linux", goarch: "arm64"},
	{goos: "linux", goarch: "riscv64"},
	{goos: "windows"},
	{goos: "windows", tags: "desktop,production"},
	{goos: "darwin"},
	{goos: "darwin", tags: "desktop,production"},
}

func ground(more ...string) []string {
	return append([]string{"kernel/sys", "kernel/event", "kernel/store"}, more...)
}

func face() []string {
	return []string{"kernel", "kernel/sys", "kernel/tools", "kernel/demo", "app/remote", "app/gateway", "app/mcp", "app/notify"}
}

func TestRepositoryImportsFollowTheTable(t *testing.T) {
	t.Parallel()

	told := map[string]bool{}
	for _, b := range builds {
		imports := 0
		for _, pkg := range b.list(t) {
			imports += len(pkg.Imports)
			if problem := checkPackage(pkg); problem != "" && !told[problem] {
				told[problem] = true
				t.Errorf("%s\n  (seen with %s)", problem, b)
			}
		}
		if imports == 0 {
			t.Errorf("go list names no imports with %s: this test would pass whatever they are", b)
		}
	}
}

// The table is only worth something when it would notice: each row breaks one rule.
func TestRepositoryNamesBrokenImportRules(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		pkg  listed
		want string
	}{
		{listed{ImportPath: "oxios/kernel", Imports: []string{"oxios/kernel/tools"}}, "kernel must not import kernel/tools"},
		{listed{ImportPath: "oxios/kernel/sys", Imports: []string{"oxios/kernel/event"}}, "kernel/sys must not import kernel/event"},
		{listed{ImportPath: "oxios/kernel/llm", Imports: []string{"oxios/app/cli"}}, "kernel/llm must not import app/cli"},
		{listed{ImportPath: "oxios/app/cli", Imports: []string{"oxios/kernel/store"}}, "app/cli must not import kernel/store"},
		{listed{ImportPath: "oxios/app/remote", Imports: []string{"oxios/kernel/tools"}}, "app/remote must not import kernel/tools"},
		{listed{ImportPath: "oxios/app/cli", Imports: []string{"oxios"}}, "app/cli must not import main"},
		{listed{ImportPath: "oxios/app/notify", Imports: []string{"github.com/wailsapp/wails/v2/pkg/runtime"}}, "app/notify must not import github.com/wailsapp/wails/v2/pkg/runtime"},
		{listed{ImportPath: "oxios", Imports: []string{"github.com/getlantern/systray"}}, "main must not import github.com/getlantern/systray"},
		{listed{ImportPath: "oxios/kernel/helpers"}, "kernel/helpers has no place"},
	} {
		if got := checkPackage(tc.pkg); !strings.Contains(got, tc.want) {
			t.Errorf("%s importing %v: got %q, want a sentence with %q", tc.pkg.ImportPath, tc.pkg.Imports, got, tc.want)
		}
	}
	if got := checkPackage(listed{ImportPath: "oxios/app/desktop", Imports: []string{"fmt", "github.com/wailsapp/wails/v2", "oxios/kernel"}}); got != "" {
		t.Errorf("an allowed package: got %q, want nothing", got)
	}
}

// A file whose build tags no known build sets would escape every rule above, and every compiler.
func TestRepositoryCompilesEveryFile(t *testing.T) {
	t.Parallel()

	left := map[string]int{}
	for _, b := range builds {
		for _, pkg := range b.list(t) {
			for _, file := range pkg.IgnoredGoFiles {
				left[filepath.Join(pkg.Dir, file)]++
			}
		}
	}
	for file, times := range left {
		if times == len(builds) && !strings.HasSuffix(file, "_test.go") && tracked(t, file) {
			t.Errorf("%s is compiled by none of the builds in deps_test.go: remove the file, or add the build that needs it", file)
		}
	}
}

// The static binary has no cgo and no GTK; the libraries of the window must not come in through a side door.
func TestRepositoryLinksNoWindowIntoStaticBinary(t *testing.T) {
	t.Parallel()

	for _, pkg := range (build{goos: "linux"}).list(t, "-deps") {
		for library := range mayKnow {
			if strings.HasPrefix(pkg.ImportPath, library) {
				t.Errorf("the build without tags links %s: guard the file that imports it with //go:build desktop || dev || bindings", pkg.ImportPath)
			}
		}
	}
}

func TestRepositoryHoldsNoBuiltFrontend(t *testing.T) {
	t.Parallel()

	for _, file := range committed(t, "frontend/dist", "frontend/wailsjs", "frontend/node_modules", "bin") {
		if file != "frontend/dist/.gitkeep" {
			t.Errorf("%s is built and must not be committed: git rm --cached %s", file, file)
		}
	}
}

func TestRepositoryTopLevelHoldsOnlyWhatTheLayoutNames(t *testing.T) {
	t.Parallel()

	named := map[string]bool{}
	for _, file := range committed(t, ".") {
		top, _, _ := strings.Cut(file, "/")
		if !named[top] && !slices.Contains(topLevel, top) {
			t.Errorf("%s lies at the top of the repository, where the layout has no place for it: move it, or add it to topLevel", top)
		}
		named[top] = true
	}
}

// checkPackage returns a sentence for the first rule that pkg breaks, or nothing.
func checkPackage(pkg listed) string {
	name := short(pkg.ImportPath)
	allowed, known := mayImport[name]
	if !known {
		return fmt.Sprintf("%s has no place in the import table: add it to mayImport in deps_test.go, in its layer, or make it a file of an existing package", name)
	}
	for _, imported := range pkg.Imports {
		if ours(imported) && !slices.Contains(allowed, short(imported)) {
			return fmt.Sprintf("%s must not import %s; the table in deps_test.go lets it import %s", label(name), label(short(imported)), labels(allowed))
		}
		for library, users := range mayKnow {
			if strings.HasPrefix(imported, library) && !slices.Contains(users, name) {
				return fmt.Sprintf("%s must not import %s; only %s may know it", label(name), imported, labels(users))
			}
		}
	}
	return ""
}

// listed is what `go list -json` says about a package, as far as the rules need it.
type listed struct {
	ImportPath, Dir         string
	Imports, IgnoredGoFiles []string
}

type build struct{ goos, goarch, tags string }

func (b build) String() string {
	if b.tags == "" {
		return "GOOS=" + b.goos + " and no tags"
	}
	return "GOOS=" + b.goos + " and -tags " + b.tags
}

// list returns the module's packages in this build. It compiles nothing and downloads nothing, so GTK, cgo and another system's modules may be absent.
func (b build) list(t *testing.T, flags ...string) []listed {
	t.Helper()

	touchSources(t)
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,Imports,IgnoredGoFiles", "-tags", b.tags}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./...")...)
	// Without cgo the list would leave out the files that use it.
	cmd.Env = append(os.Environ(), "GOOS="+b.goos, "GOARCH="+cmp.Or(b.goarch, "amd64"), "CGO_ENABLED=1", "GOFLAGS=", "GOPROXY=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.Bytes())
	}
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("read the answer of go list: %v", err)
		}
		pkgs = append(pkgs, pkg)
	}
}

// touchSources looks at every Go file, because go test caches a result until a file that the test itself looked at changes,
// and does not see what its child `go list` reads.
func touchSources(t *testing.T) {
	t.Helper()

	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // a file that another test wrote and removed
			return nil
		case err != nil:
			return err
		case d.IsDir() && (path == ".git" || path == "bin" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go"):
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatalf("walk the sources: %v", err)
	}
}

// committed returns the files of git's index under the given paths. In an archive without .git, what lies on disk counts, but for what make builds.
func committed(t *testing.T, paths ...string) []string {
	t.Helper()

	if _, err := os.Stat(".git"); errors.Is(err, fs.ErrNotExist) {
		var files []string
		for _, path := range paths {
			err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
				switch {
				case err != nil || d.IsDir() && slices.Contains([]string{"bin", "dist", "node_modules", "wailsjs"}, d.Name()):
					return filepath.SkipDir
				case !d.IsDir():
					files = append(files, filepath.ToSlash(file))
				}
				return nil
			})
			if err != nil {
				t.Fatalf("walk %s: %v", path, err)
			}
		}
		return files
	}
	_, _ = os.Stat(".git/index") // so that go test's cache notices a commit
	// In a container the checkout often belongs to another user; reading the index is harmless all the same.
	args := append([]string{"-c", "safe.directory=*", "ls-files", "-z", "--"}, paths...)
	out, err := exec.CommandContext(t.Context(), "git", args...).Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

func tracked(t *testing.T, file string) bool {
	t.Helper()
	return len(committed(t, file)) > 0
}

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func short(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

func label(name string) string {
	if name == "" {
		return "main"
	}
	return name
}

func labels(names []string) string {
	if len(names) == 0 {
		return "no package of ours"
	}
	var out []string
	for _, name := range names {
		out = append(out, label(name))
	}
	return strings.Join(out, ", ")
}
