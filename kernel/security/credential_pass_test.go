package security

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"

	"oxios/kernel/sys"
)

const testPassphrase = "맑은 날 correct horse"

func lock(t *testing.T, c *Credentials) CredentialLock {
	t.Helper()
	l, err := c.Lock()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPassphraseLocksTheKeysUntilItIsGiven(t *testing.T) {
	t.Parallel()
	c, dir, log := setupKeys(t, nil)
	mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
	if err := c.Protect("", testPassphrase); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "openai", "api.example.com"); err != nil || got != testKey {
		t.Errorf("right after it was set: got %q, %v, want the key", got, err)
	}

	again := NewCredentials(dir, c.opts)
	if l := lock(t, again); !l.Protected || !l.Locked {
		t.Fatalf("after a restart: got %+v, want it locked", l)
	}
	before := snapshot(t, dir)
	_, getErr := again.Get(t.Context(), "openai", "api.example.com")
	_, setErr := again.Set(t.Context(), "new", "api.example.com", testKey)
	_, listErr := again.List()
	for call, err := range map[string]error{"Get": getErr, "Set": setErr, "List": listErr, "Delete": again.Delete(t.Context(), "openai")} {
		if !errors.Is(err, ErrKeysLocked) || !strings.Contains(err.Error(), "oxios keys unlock") {
			t.Errorf("%s: got %v, want to be told how to unlock", call, err)
		}
	}
	for _, wrong := range []string{"", "wrong passphrase", testPassphrase + " "} {
		if err := again.Unlock(wrong); sys.CodeOf(err) != sys.CodeDenied {
			t.Errorf("%q: got %v, want denied", wrong, err)
		}
	}
	if err := again.Protect("wrong passphrase", "another passphrase"); sys.CodeOf(err) != sys.CodeDenied {
		t.Errorf("changed with a wrong one: got %v, want denied", err)
	}
	if after := snapshot(t, dir); after != before {
		t.Error("files changed, want them as they were")
	}
	if err := again.Unlock(testPassphrase); err != nil {
		t.Fatal(err)
	}
	if got, err := again.Get(t.Context(), "openai", "api.example.com"); err != nil || got != testKey {
		t.Errorf("unlocked: got %q, %v, want the key", got, err)
	}
	mustSet(t, again, "new", "api.example.com", testKey+"-2", WhereFile)

	if err := again.Protect(testPassphrase, "another passphrase"); err != nil {
		t.Fatal(err)
	}
	third := NewCredentials(dir, c.opts)
	if err := third.Unlock(testPassphrase); sys.CodeOf(err) != sys.CodeDenied {
		t.Errorf("the old one: got %v, want denied", err)
	}
	if err := third.Protect("another passphrase", ""); err != nil {
		t.Fatal(err)
	}
	fourth := NewCredentials(dir, c.opts)
	if l := lock(t, fourth); l.Protected || l.Locked {
		t.Errorf("removed: got %+v, want no lock", l)
	}
	if got, err := fourth.Get(t.Context(), "new", "api.example.com"); err != nil || got != testKey+"-2" {
		t.Errorf("removed: got %q, %v, want the key", got, err)
	}
	assertNoKeyIn(t, dir, log)
	for _, secret := range []string{testPassphrase, "another passphrase"} {
		if strings.Contains(snapshot(t, dir)+log.String(), secret) {
			t.Error("the passphrase stands in a file or the log")
		}
	}
}

func TestSealedIdentityOpensWithAgeAlone(t *testing.T) {
	t.Parallel()
	c, dir, _ := setupKeys(t, nil)
	if err := c.Protect("", testPassphrase); err != nil {
		t.Fatal(err)
	}
	mustSet(t, c, "openai", "api.example.com", testKey, WhereFile)
	text, err := os.ReadFile(filepath.Join(dir, "identity.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("AGE-SECRET-KEY")) {
		t.Error("the identity stands in the file in the clear")
	}
	key, err := age.NewScryptIdentity(testPassphrase)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := age.Decrypt(armor.NewReader(bytes.NewReader(text)), key)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := age.ParseIdentities(plain)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := os.ReadFile(filepath.Join(dir, "credentials.age"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := age.Decrypt(bytes.NewReader(sealed), ids...); err != nil {
		t.Errorf("got %v, want it to open", err)
	}
}

func TestUselessPassphrasesAreRefused(t *testing.T) {
	t.Parallel()
	c, dir, _ := setupKeys(t, nil)
	for _, p := range []string{"short", "seven c", "two\nlines of words", strings.Repeat("x", maxPassphrase+1), "broken \xff\xfe bytes"} {
		if err := c.Protect("", p); sys.CodeOf(err) != sys.CodeInvalid && sys.CodeOf(err) != sys.CodeTooLarge {
			t.Errorf("%.20q: got %v, want it refused", p, err)
		}
	}
	for call, err := range map[string]error{"Protect": c.Protect("", ""), "Unlock": c.Unlock(testPassphrase)} {
		if sys.CodeOf(err) != sys.CodeConflict {
			t.Errorf("%s: got %v, want conflict", call, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it left files: %v", err)
	}
}

func TestDamagedSealIsToldAndKept(t *testing.T) {
	t.Parallel()
	c, dir, _ := setupKeys(t, nil)
	if err := c.Protect("", testPassphrase); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "identity.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-60], 0o600); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	if err := NewCredentials(dir, c.opts).Unlock(testPassphrase); sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), "identity.txt") {
		t.Errorf("got %v, want a sentence that names identity.txt", err)
	}
	if snapshot(t, dir) != before {
		t.Error("files changed, want them kept for a rescue")
	}
}
