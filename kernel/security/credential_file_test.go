package security

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

func TestDamagedFilesAreToldAndKept(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"credentials.age", "identity.txt", "keyring.json"} {
		for kind, damage := range map[string]func([]byte) []byte{
			"cut":     func(b []byte) []byte { return b[:len(b)/2] },
			"emptied": func([]byte) []byte { return nil },
			"garbage": func([]byte) []byte { return []byte("\x00\xffnot this") },
			"flipped": func(b []byte) []byte { b[len(b)-2] ^= 1; return b },
		} {
			if name == "keyring.json" && kind == "flipped" {
				continue // the last bytes are its closing brace: the cut covers it
			}
			t.Run(fmt.Sprint(name, " ", kind), func(t *testing.T) {
				t.Parallel()
				c, dir, _ := setupKeys(t, nil)
				mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
				if err := c.index.save(keyringIndex{Home: "h"}); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, name)
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				bad := damage(data)
				if err := os.WriteFile(path, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				before := snapshot(t, dir)
				_, getErr := c.Get(t.Context(), "openai", "api.example.com")
				_, setErr := c.Set(t.Context(), "new", "api.example.com", testKey)
				_, listErr := c.List()
				for call, err := range map[string]error{"Get": getErr, "Set": setErr, "List": listErr} {
					if sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "Nothing was changed") {
						t.Errorf("%s: got %v, want a sentence that names %s", call, err, name)
					}
				}
				if after := snapshot(t, dir); after != before {
					t.Error("files changed, want them kept for a rescue")
				}
			})
		}
	}
}

func snapshot(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %q\n", e.Name(), data)
	}
	return b.String()
}

func TestLostIdentityIsNotReplaced(t *testing.T) {
	t.Parallel()
	c, dir, _ := setupKeys(t, nil)
	mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
	if err := os.Remove(filepath.Join(dir, "identity.txt")); err != nil {
		t.Fatal(err)
	}
	_, err := c.Set(t.Context(), "new", "api.example.com", testKey)
	if sys.CodeOf(err) != sys.CodeUnavailable || !strings.Contains(err.Error(), "identity.txt") {
		t.Errorf("got %v, want unavailable, naming identity.txt", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "identity.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a new identity was made, want none while old keys need theirs")
	}
}

func TestWidePermissionsAreNarrowedAndTold(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	c, dir, log := setupKeys(t, nil)
	mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
	paths := map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "identity.txt"): 0o600, filepath.Join(dir, "credentials.age"): 0o600}
	for path := range paths {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Get(t.Context(), "openai", "api.example.com"); err != nil {
		t.Fatal(err)
	}
	for path, want := range paths {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != want {
			t.Errorf("%s: got %v, want %v", filepath.Base(path), st.Mode().Perm(), want)
		}
		if !strings.Contains(log.String(), path) {
			t.Errorf("nothing in the log about %s, want it told", path)
		}
	}
}

func TestLinkInPlaceOfAKeyFileIsRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows needs a right to make links")
	}
	c, dir, _ := setupKeys(t, nil)
	mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
	path := filepath.Join(dir, "credentials.age")
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+".moved", path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "openai", "api.example.com"); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want invalid", err)
	}
}
