package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAServerReadsOfTheFilesThatItIsToldTheseAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	in := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	for _, name := range []string{
		"home/.ssh/config", "home/.ssh/serve.py", "home/serve.py", "home/papers/list.csv", "srv/serve.py", "srv/serve.js", "bin/tool", "bin/node", "bin/python3.12", "data/server.py",
		"home/app/package.json", "home/app/dist/serve.js", "home/app/node_modules/sdk/index.js", "lib/node_modules/@x/server/dist/serve.js", "home/package.json", "home/one/two/serve.js",
	} {
		if err := os.MkdirAll(filepath.Dir(in(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(in("home/.ssh/config"), in("data/link")); err != nil {
		t.Fatal(err)
	}
	s := New(Config{
		Dir: in("data/oxios/mcp"), Own: func(p string) bool { return p == in("data") },
		Expand: func(p string) string { return strings.Replace(p, "~", home, 1) },
	})
	for line, want := range map[string]string{
		"python3 SRV/serve.py --config ~/.ssh/config": "srv",
		"python3 -u SRV/serve.py ~/papers/list.csv":   "srv home/papers/list.csv",
		"node SRV/serve.js":                           "srv",
		"BIN/python3.12 SRV/serve.py":                 "bin srv",
		"BIN/node LIB/@x/server/dist/serve.js":        "bin lib/node_modules/@x/server/dist lib/node_modules",
		"node ~/app/dist/serve.js ~/papers/list.csv":  "home/app/dist home/app/package.json home/app/node_modules home/papers/list.csv",
		"node ~/one/two/serve.js":                     "home/one/two home/package.json",
		"python3 ~/serve.py":                          "home/serve.py",
		"python3 ~/.ssh/serve.py":                     "",
		"python3 DATA/server.py":                      "data/server.py",
		"BIN/tool ~/papers/list.csv SRV/serve.py":     "bin home/papers/list.csv srv/serve.py",
		"BIN/tool DATA/link":                          "bin",
		"tool --config ~/.ssh/config":                 "",
	} {
		argv := strings.Fields(strings.NewReplacer("SRV", in("srv"), "BIN", in("bin"), "DATA", in("data"), "LIB", in("lib/node_modules")).Replace(line))
		var names []string
		for _, name := range strings.Fields(want) {
			names = append(names, in(name))
		}
		if got := s.scripts(Server{Command: argv[0], Args: argv[1:]}); !slices.Equal(got, names) {
			t.Errorf("%s: got %v, want %v", line, got, names)
		}
	}
}
