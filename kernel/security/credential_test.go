package security

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"oxios/kernel/sys"
)

const testKey = "sk-test-0123456789abcdef"

func setupKeys(t *testing.T, r ring) (*Credentials, string, *bytes.Buffer) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	var log bytes.Buffer
	opts := CredentialOptions{ring: r, FileOnly: r == nil, Log: slog.New(slog.NewTextHandler(&log, nil))}
	return NewCredentials(dir, opts), dir, &log
}

func mustSet(t *testing.T, c *Credentials, name, host, secret, want string) {
	t.Helper()
	where, err := c.Set(t.Context(), name, host, secret)
	if err != nil || where != want {
		t.Fatalf("Set(%q): got %q, %v, want %q", name, where, err, want)
	}
}

func TestKeySurvivesInEveryPlace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		ring  ring
		where string
	}{
		{"keyring", &memoryRing{}, WhereKeyring},
		{"no keyring", brokenRing{}, WhereFile},
		{"file by configuration", nil, WhereFile},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, dir, log := setupKeys(t, tc.ring)
			mustSet(t, c, "openai", "https://API.example.com/v1", "  "+testKey+"\n", tc.where)
			mustSet(t, c, "local", "localhost:11434", "short", tc.where)

			again := NewCredentials(dir, c.opts)
			got, err := again.Get(t.Context(), "openai", "api.example.com:443")
			if err != nil || got != testKey {
				t.Errorf("after a restart: got %q, %v, want the key", got, err)
			}
			list, err := again.List()
			if err != nil || len(list) != 2 {
				t.Fatalf("List: got %v, %v, want two keys", list, err)
			}
			if list[0].Tail != "" || list[1].Tail != "cdef" || list[1].Host != "api.example.com" || list[1].Where != tc.where || list[1].At.IsZero() {
				t.Errorf("List: got %+v", list)
			}
			if err := again.Delete(t.Context(), "openai"); err != nil {
				t.Fatal(err)
			}
			if _, err := again.Get(t.Context(), "openai", "api.example.com"); sys.CodeOf(err) != sys.CodeNotFound {
				t.Errorf("a deleted key: got %v, want not_found", err)
			}
			if err := again.Delete(t.Context(), "openai"); sys.CodeOf(err) != sys.CodeNotFound {
				t.Errorf("deleted twice: got %v, want not_found", err)
			}
			assertNoKeyIn(t, dir, log)
		})
	}
}

// assertNoKeyIn looks for the key in the clear in every file and in the log.
func assertNoKeyIn(t *testing.T, dir string, log *bytes.Buffer) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(testKey)) {
			t.Errorf("%s holds the key in the clear", e.Name())
		}
		st, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
			t.Errorf("%s: got mode %v, want 0600", e.Name(), st.Mode().Perm())
		}
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	if strings.Contains(log.String(), testKey) {
		t.Errorf("the log holds the key: %s", log)
	}
}

func TestNothingIsTouchedBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	r := &memoryRing{}
	c, dir, _ := setupKeys(t, r)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got a folder, want none before the first key: %v", err)
	}
	if _, err := c.Get(t.Context(), "openai", "api.example.com"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
	if list, err := c.List(); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v, want an empty list", list, err)
	}
	if r.calls != 0 {
		t.Errorf("the keyring was asked %d times without a key in it, want 0", r.calls)
	}
}

func TestKeyIsRefusedToAnotherHost(t *testing.T) {
	t.Parallel()
	for _, r := range []ring{&memoryRing{}, nil} {
		c, _, _ := setupKeys(t, r)
		where := WhereFile
		if r != nil {
			where = WhereKeyring
		}
		mustSet(t, c, "openai", "api.example.com", testKey, where)
		for _, host := range []string{
			"evil.example.com", "api.example.com.evil.net", "api.example.com:8443", "http://api.example.com",
			"api.example.co", "example.com", "https://api.example.com@evil.net/",
		} {
			got, err := c.Get(t.Context(), "openai", host)
			if got != "" || sys.CodeOf(err) != sys.CodeRefused {
				t.Errorf("%s for %q: got %q, %v, want refused", where, host, got, err)
			}
			if err != nil && strings.Contains(err.Error(), testKey) {
				t.Errorf("the refusal holds the key: %v", err)
			}
		}
		for _, host := range []string{"", "https://", "%zz"} {
			if _, err := c.Get(t.Context(), "openai", host); sys.CodeOf(err) != sys.CodeInvalid {
				t.Errorf("%q: got %v, want invalid", host, err)
			}
		}
	}
}

func TestAnEditedListDoesNotMoveAKeyToAnotherHost(t *testing.T) {
	t.Parallel()
	c, dir, _ := setupKeys(t, &memoryRing{})
	mustSet(t, c, "openai", "api.example.com", testKey, WhereKeyring)
	path := filepath.Join(dir, "keyring.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.ReplaceAll(data, []byte("api.example.com"), []byte("evil.net"))
	if err := os.WriteFile(path, edited, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "openai", "evil.net"); got != "" || sys.CodeOf(err) != sys.CodeRefused {
		t.Errorf("got %q, %v, want refused", got, err)
	}
}

func TestUselessKeysAreRefused(t *testing.T) {
	t.Parallel()
	c, dir, _ := setupKeys(t, nil)
	for _, tc := range []struct{ name, host, secret string }{
		{"", "h", testKey},
		{"n", "", testKey},
		{"n", "h", " \n"},
		{"n", "h", "a\nb"},
		{"n\n", "h", testKey},
		{"n", "h", strings.Repeat("k", maxCredentialSecret+1)},
	} {
		_, err := c.Set(t.Context(), tc.name, tc.host, tc.secret)
		if code := sys.CodeOf(err); code != sys.CodeInvalid && code != sys.CodeTooLarge {
			t.Errorf("%q %q: got %v, want it refused", tc.name, tc.host, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused key left files: %v", err)
	}
}

func TestHangingKeyringFallsBackAndKeepsNothing(t *testing.T) {
	t.Parallel()
	r := &hangingRing{release: make(chan struct{})}
	dir := filepath.Join(t.TempDir(), "keys")
	c := NewCredentials(dir, CredentialOptions{ring: r, KeyringTimeout: 30 * time.Millisecond})
	start := time.Now()
	mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
	mustSet(t, c, "other", "api.example.com", testKey, WhereFile) // the first call hangs still
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v, want the time limit to hold", took)
	}
	if got, err := c.Get(t.Context(), "openai", "api.example.com"); err != nil || got != testKey {
		t.Errorf("got %q, %v, want the key from the file", got, err)
	}
	close(r.release)
	c.ring.turn <- struct{}{} // the call that was left behind has ended
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.items) != 0 {
		t.Errorf("the keyring holds %d keys that nobody counts on, want 0", len(r.items))
	}
}

func TestLockedKeyringIsToldOnGet(t *testing.T) {
	t.Parallel()
	memory := &memoryRing{}
	c, dir, _ := setupKeys(t, memory)
	mustSet(t, c, "openai", "api.example.com", testKey, WhereKeyring)

	locked := NewCredentials(dir, CredentialOptions{ring: brokenRing{}})
	_, err := locked.Get(t.Context(), "openai", "api.example.com")
	if sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v, want unavailable", err)
	}
	// The person enters it again: now the file has it, and the old copy is not listed.
	mustSet(t, locked, "openai", "api.example.com", testKey+"-2", WhereFile)
	if got, err := locked.Get(t.Context(), "openai", "api.example.com"); err != nil || got != testKey+"-2" {
		t.Errorf("got %q, %v, want the newer key", got, err)
	}
	// The keyring is back: the key moves there and leaves the file.
	mustSet(t, c, "openai", "api.example.com", testKey+"-3", WhereKeyring)
	list, err := c.List()
	if err != nil || len(list) != 1 || list[0].Where != WhereKeyring {
		t.Errorf("got %v, %v, want one key in the keyring", list, err)
	}
	if stored, err := c.vault.load(); err != nil || len(stored) != 0 {
		t.Errorf("the file: got %d keys, %v, want none", len(stored), err)
	}
	memory.items = nil // somebody emptied the keyring
	if _, err := c.Get(t.Context(), "openai", "api.example.com"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}

func TestPanickingKeyringIsNoKeyring(t *testing.T) {
	t.Parallel()
	c, _, _ := setupKeys(t, panickingRing{})
	mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
}

func TestCanceledSetStoresNothing(t *testing.T) {
	t.Parallel()
	r := &hangingRing{release: make(chan struct{})}
	c, dir, _ := setupKeys(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Set(ctx, "openai", "api.example.com", testKey); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a canceled Set left files: %v", err)
	}
	close(r.release)
	c.ring.turn <- struct{}{}
}

func TestConcurrentKeysAllArrive(t *testing.T) {
	t.Parallel()
	c, _, _ := setupKeys(t, nil)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if _, err := c.Set(t.Context(), fmt.Sprintf("p%02d", i), "api.example.com", testKey); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, err := c.List(); err != nil || len(list) != 16 {
		t.Errorf("got %d keys, %v, want 16", len(list), err)
	}
}

// The real library without a session bus must fail at once and start nothing.
func TestNoSessionBusIsNoKeyring(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a session bus")
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "nobody"))
	dir := filepath.Join(t.TempDir(), "keys")
	c := NewCredentials(dir, CredentialOptions{})
	mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
	if got, err := c.Get(t.Context(), "openai", "api.example.com"); err != nil || got != testKey {
		t.Errorf("got %q, %v, want the key from the file", got, err)
	}
}
