package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

// fromRegistry has npm ask this registry.
func fromRegistry(url string) kerneltest.Option {
	return kerneltest.With(func(o *kernel.Options) {
		before := o.Env
		o.Env = func(name string) string {
			switch name {
			case "npm_config_registry":
				return url
			case "npm_config_userconfig":
				return os.DevNull
			}
			return before(name)
		}
	})
}

func packed(spec string, args ...string) func(*kernel.MCPServer) {
	return func(d *kernel.MCPServer) {
		d.Env, d.Command, d.Args = nil, "npx", append([]string{"-y", spec}, args...)
	}
}

func TestAPackageIsInstalledPinnedStartedWithoutNetworkAndUpdated(t *testing.T) {
	t.Parallel()
	r := mcptest.NewRegistry(t, "@test/packed", "1.0.0")
	k := open(t, fromRegistry(r.URL))
	h := k.Person().MCP
	addServer(t, k, "test", packed("@test/packed", "--say", "hello"))
	host := strings.TrimSuffix(strings.TrimPrefix(r.URL, "http://"), "/")
	list, err := h.Servers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := list[0].Package
	if p == nil || p.Installed != nil || p.Name != "@test/packed" || !strings.Contains(p.Says.EN, "downloads @test/packed from "+host) {
		t.Fatalf("got %+v", p)
	}
	if _, err := h.Connect(t.Context(), "test"); sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "is not installed yet") {
		t.Errorf("before it is installed: got %v", err)
	}
	if asked := r.Requests(); len(asked) != 0 {
		t.Errorf("before anybody pressed Install: the registry was asked for %v", asked)
	}
	v, err := h.Install(t.Context(), "test", "")
	if err != nil {
		t.Fatal(err)
	}
	if i := v.Package.Installed; i == nil || i.Version != "1.0.0" || i.From != host || i.Size == 0 || i.Files < 3 || !strings.HasPrefix(i.Hash, "blake3:") {
		t.Fatalf("got %+v", i)
	}
	says := func(want string) {
		t.Helper()
		if _, err := h.Connect(t.Context(), "test"); err != nil {
			log, _ := h.Log(t.Context(), "test")
			t.Fatal(err, log)
		}
		if got := callServer(t, k, "which", "{}"); got.Text != want {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
	says("1.0.0 --say hello")

	// What is newer is asked for, and never comes by itself.
	r.Publish("1.1.0")
	if is, err := h.Newest(t.Context(), "test"); err != nil || is != "1.1.0" {
		t.Errorf("the newest: got %q, %v", is, err)
	}
	pinned := v.Package.Installed.Hash
	file := only(t, filepath.Join(k.Home, "mcp", "test", "package", "*", "node_modules", "@test", "packed", "dist", "server.mjs"))
	write(t, file, "// something else")
	k.Restart()
	h = k.Person().MCP
	if _, err := h.Connect(t.Context(), "test"); sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "are not those that were installed") {
		t.Errorf("changed files: got %v", err)
	}
	if list, err = h.Servers(t.Context()); err != nil || !list[0].Package.Installed.Altered {
		t.Errorf("got %+v, %v, want that it was altered", list[0].Package.Installed, err)
	}
	if v, err = h.Install(t.Context(), "test", ""); err != nil || v.Package.Installed.Version != "1.0.0" || v.Package.Installed.Hash != pinned || v.Package.Installed.Altered {
		t.Fatalf("installed again: got %+v, %v, want what was pinned", v.Package, err)
	}
	says("1.0.0 --say hello")
	if v, err = h.Install(t.Context(), "test", "newest"); err != nil || v.Package.Installed.Version != "1.1.0" || v.Package.Installed.Hash == pinned {
		t.Fatalf("the newest: got %+v, %v", v.Package, err)
	}
	says("1.1.0 --say hello")
	only(t, filepath.Join(k.Home, "mcp", "test", "package", "*")) // the older one is deleted
	if err := h.Remove(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(k.Home, "mcp", "test")); !os.IsNotExist(err) {
		t.Errorf("its folder: got %v", err)
	}
}

// only is the only file of a pattern.
func only(t *testing.T, pattern string) string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: got %v, %v", pattern, all, err)
	}
	return all[0]
}

func TestWhatCannotBeInstalledIsSaid(t *testing.T) {
	t.Parallel()
	r := mcptest.NewRegistry(t, "packed", "1.0.0")
	r.Scripts()
	r.Publish("2.0.0")
	k := open(t, fromRegistry(r.URL))
	h := k.Person().MCP
	for spec, want := range map[string]string{
		"absent":                 "has no package absent. Nothing was changed.",
		"packed@9.9.9":           "has no version 9.9.9 of packed. Nothing was changed.",
		"github:someone/packed":  "is no package of a registry",
		"../packed":              "is no package of a registry",
		"--node-options=-r=evil": "does not know the option --node-options=-r=evil of npx",
	} {
		addServer(t, k, "test", packed(spec))
		if _, err := h.Install(t.Context(), "test", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", spec, err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(k.Home, "mcp", "test", "package", "*")); len(left) != 0 {
			t.Errorf("%s: left %v", spec, left)
		}
	}
	addServer(t, k, "plain")
	if _, err := h.Install(t.Context(), "plain", ""); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("a server that downloads nothing: got %v", err)
	}
	addServer(t, k, "test", packed("packed@2.0.0"))
	v, err := h.Install(t.Context(), "test", "")
	if err != nil || len(v.Package.Installed.Scripts) != 1 || v.Package.Installed.Scripts[0] != "packed" {
		t.Fatalf("one with a script: got %+v, %v", v.Package, err)
	}
	if ran, _ := filepath.Glob(filepath.Join(k.Home, "mcp", "test", "package", "*", "node_modules", "packed", "ran-a-script")); len(ran) != 0 {
		t.Error("its script ran")
	}
	if _, err := h.Install(t.Context(), "test", "1.0.0"); sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), "names packed 2.0.0, not the version 1.0.0") {
		t.Errorf("another version than the command names: got %v", err)
	}
}
