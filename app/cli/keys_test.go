package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeysAreLockedAndOpenedFromStandardInput(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "list", d.must(0, "keys", "list").err, "no passphrase", "not your account")
	const first, second = "four words of mine", "five other words of mine"
	d.with(typing{stdin: strings.NewReader(first + "\n")}, "keys", "passphrase", "--stdin").check(t, 0, "set")
	contains(t, "list", d.must(0, "keys", "list").err, "locked", "oxios keys unlock")
	if r := d.with(typing{stdin: strings.NewReader("wrong wrong\n" + second + "\n")}, "keys", "passphrase", "--stdin"); r.code != exitFailed || !strings.Contains(r.err, "not the passphrase") {
		t.Errorf("a wrong one: got %+v, want it refused", r)
	}
	d.with(typing{stdin: strings.NewReader(first + "\n" + second + "\n")}, "keys", "passphrase", "--stdin").check(t, 0, "change")
	contains(t, "unlock of nothing", d.must(exitFailed, "keys", "unlock", "--stdin").err, "not running")
	contains(t, "no terminal", d.must(exitFailed, "keys", "passphrase").err, "--stdin")
	r := d.with(typing{terminal: true, stdin: strings.NewReader(second + "\nsix more words\nseven more words\n")}, "keys", "passphrase")
	if r.code != exitFailed || !strings.Contains(r.err, "not the same") {
		t.Errorf("two new ones: got %+v, want them refused", r)
	}
	d.with(typing{stdin: strings.NewReader(second + "\n")}, "keys", "passphrase", "--remove", "--stdin").check(t, 0, "remove")
	contains(t, "removed", d.must(0, "keys", "list").err, "no passphrase")
	if err := filepath.WalkDir(d.Home, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(first)) || bytes.Contains(raw, []byte(second)) {
			t.Errorf("%s holds the passphrase", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestRunAsksForThePassphraseOfLockedKeys(t *testing.T) {
	t.Parallel()
	d := setup(t)
	const words = "four words of mine"
	d.with(typing{stdin: strings.NewReader(words + "\n")}, "keys", "passphrase", "--stdin").check(t, 0, "set")
	answer := func(what, typed string, code int) string {
		t.Helper()
		r := d.with(typing{terminal: true, stdin: strings.NewReader(typed + "\n")}, "run", "hello")
		r.check(t, code, what)
		contains(t, what, r.err, "Passphrase of the keys")
		return r.err
	}
	answer("the right one", words, 0)
	answer("none, where the model needs no key", "", 0)
	contains(t, "a wrong one", answer("a wrong one", "something else", exitFailed), "not the passphrase")
}

func TestImportAsksAndTakesKeysOut(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "nothing there", d.must(0, "keys", "import").err, "No unencrypted keys")
	path := filepath.Join(d.Home, "auth.json")
	const text = `{"openai": {"key": "sk-cli-0123456789abcdef"}, "other": {"key": "of nobody"}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := d.must(exitFailed, "keys", "import")
	contains(t, "nobody asked", r.err, "openai → api.openai.com", "other: Where this key belongs is not known", "--yes")
	if raw, _ := os.ReadFile(path); string(raw) != text {
		t.Errorf("got %s, want it untouched", raw)
	}
	r = d.must(0, "keys", "import", "--yes")
	contains(t, "import", r.out+r.err, "openai → api.openai.com", "gone from")
	if raw, err := os.ReadFile(path); err != nil || string(raw) != `{ "other": {"key": "of nobody"}}` {
		t.Errorf("got %s, %v", raw, err)
	}
	contains(t, "list", d.must(0, "keys", "list").out, "openai", "api.openai.com", "file", "cdef")
	if strings.Contains(r.out+r.err, "sk-cli") {
		t.Errorf("the key was printed: %+v", r)
	}
	d.must(0, "keys", "import", "--leave")
}
