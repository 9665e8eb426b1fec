package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/demo"
)

func TestDoctorWorksWhenTheKernelCannotOpen(t *testing.T) {
	t.Parallel()
	d := setup(t)
	if r := d.do("doctor", "--json"); r.code != 0 {
		t.Errorf("a sound home: got %+v", r)
	}
	d.deps.Restore = func(context.Context, string, string) (string, error) { return "/kept", nil }
	db := filepath.Join(d.Home, "oxios.db")
	if err := os.WriteFile(db, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(db+".v1.bak", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := d.must(exitFailed, "doctor")
	contains(t, "doctor", r.out, "✗", "kernel", "oxios.db.v1.bak", "--restore")
	contains(t, "restore", d.must(0, "doctor", "--restore", db+".v1.bak").err, "/kept")
}

func TestBundleHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	d := setup(t)
	secret := "sk-proj-abcdefghijklmnop1234567890"
	config := `[[providers]]
id = "work"
base_url = "https://models.example.com/v1"
proxy_url = "http://ann:hunter2@proxy.example.com:3128"
[providers.headers]
X-Team = "team-hidden-value"
`
	old, err := os.ReadFile(filepath.Join(d.Home, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Home, "config.toml"), append(old, config...), 0o600); err != nil {
		t.Fatal(err)
	}
	log := "level=INFO msg=x authorization=\"Bearer abcdef123456\" key " + secret + "\npassword: swordfish\nhttp://127.0.0.1:1/#code=onetimecode\n"
	if err := os.WriteFile(filepath.Join(d.Home, "logs", "serve.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	d.do("doctor", "--bundle", file)
	parts := unpack(t, file)
	for _, want := range []string{"oxios-doctor/doctor.json", "oxios-doctor/config.toml", "oxios-doctor/versions.json", "oxios-doctor/logs/serve.log"} {
		if parts[want] == "" {
			t.Errorf("%s is missing or empty", want)
		}
	}
	for name, text := range parts {
		for _, bad := range []string{secret, "hunter2", "team-hidden-value", "abcdef123456", "swordfish", "onetimecode"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q:\n%s", name, bad, text)
			}
		}
	}
	contains(t, "config.toml", parts["oxios-doctor/config.toml"], "models.example.com", `id = "work"`)
}

func unpack(t *testing.T, file string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gz, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		parts[h.Name] = string(data)
	}
}

func TestProvidersTakeTheirKeyFromStandardInput(t *testing.T) {
	t.Parallel()
	d := setup(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	url, err := StartDemo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	key := "test-key-from-standard-input-1234"
	r := d.with(typing{stdin: strings.NewReader(key + "\n")}, "providers", "add", "Work", "--url", url, "--key")
	r.check(t, 0, "providers", "add")
	contains(t, "add", r.out+r.err, "work", "…1234")
	contains(t, "list", d.must(0, "providers", "list").out, "work", "…1234", "not tested")
	contains(t, "test", d.must(0, "providers", "test", "work").out, "Answers: yes", "Tools: yes")
	contains(t, "use", d.must(0, "providers", "use", "work", demo.ModelID).out, demo.ModelID)
	contains(t, "models", d.must(0, "models", "--provider", "work").out, demo.ModelID, "default")
	if r := d.with(typing{stdin: strings.NewReader("\n")}, "providers", "key", "work"); r.code != exitFailed {
		t.Errorf("an empty key: got %+v", r)
	}
	contains(t, "key of the environment's", d.with(typing{stdin: strings.NewReader("k\n")}, "providers", "key", "env").err, "environment")
	d.must(0, "providers", "remove", "work")
	contains(t, "remove again", d.must(exitFailed, "providers", "remove", "work").err, "work")
	stop()
	if err := filepath.WalkDir(d.Home, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(key)) {
			t.Errorf("%s holds the key in the clear", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestToolsAreSwitchedOnAndOff(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.must(0, "tools", "off", "write")
	list := decode[[]kernel.ToolInfo](t, d.must(0, "tools", "list", "--json").out)
	if i := slices.IndexFunc(list, func(x kernel.ToolInfo) bool { return x.Name == "write" }); i < 0 || list[i].On {
		t.Errorf("got %+v, want write to be off", list)
	}
	contains(t, "on", d.must(0, "tools", "on", "write").out, "write: on")
}
