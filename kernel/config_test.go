package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func writeConfig(t *testing.T, k *kerneltest.Kernel, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(k.Home, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSetConfigChangesOneLineAndKeepsTheComments(t *testing.T) {
	t.Parallel()
	k := open(t)
	writeConfig(t, k, "# mine\nmode = \"ask\" # careful\nkeyring = false\n\n[[providers]]\nid = \"work\" # ours\nbase_url = \"https://llm.example.org/v1\"\n")
	for _, kv := range [][2]string{{"mode", "auto"}, {"theme", "dark"}} {
		if _, err := k.Person().Infra.SetConfig(t.Context(), kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(k.Home, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# mine\n", "id = \"work\" # ours", "theme = 'dark'\n[[providers]]"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	v, err := k.Person().Infra.Config(t.Context())
	if err != nil || v.Values["mode"] != "autonomous" || v.Values["theme"] != "dark" {
		t.Errorf("got %v, %v", v.Values, err)
	}
}

func TestConfigOfAnEditorOnWindowsIsInForceAndCanBeChanged(t *testing.T) {
	t.Parallel()
	k := open(t)
	writeConfig(t, k, "\uFEFFmode = \"ask\"\r\ntheme = \"dark\"\r\n")
	k.Restart()
	c, err := k.Person().Infra.Config(t.Context())
	if err != nil || c.Problem != nil || c.Values["mode"] != "ask" || c.Values["theme"] != "dark" {
		t.Errorf("got %+v, %v", c, err)
	}
	if _, err := k.Person().Infra.SetConfig(t.Context(), "mode", "auto"); err != nil {
		t.Fatal(err)
	}
	if c, err = k.Person().Infra.Config(t.Context()); err != nil || c.Values["mode"] != "autonomous" || c.Values["theme"] != "dark" {
		t.Errorf("got %+v, %v after a change", c, err)
	}
}

func TestErrorInConfigKeepsTheLastGoodOneAndPointsAtTheLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"theme = \"dark\"\nmode = \"loud\"\n":    "line 2",
		"theme = \"dark\"\nmoed = \"ask\"\n":     "moed",
		"theme = \"dark\"\nmode = \n":            "line 2",
		"max_tool_calls = 0\ntheme = \"dark\"\n": "from 1 to 500",
	} {
		k := open(t)
		writeConfig(t, k, "theme = \"light\"\nkeyring = false\n")
		if _, err := k.Person().Infra.Config(t.Context()); err != nil {
			t.Fatal(err)
		}
		writeConfig(t, k, text)
		v, err := k.Person().Infra.Config(t.Context())
		if err != nil || v.Problem == nil || !strings.Contains(v.Problem.Message, want) {
			t.Errorf("%q: got problem %v, %v, want %q in it", text, v.Problem, err, want)
			continue
		}
		if v.Values["theme"] != "light" {
			t.Errorf("%q: got theme %s, want the last good one", text, v.Values["theme"])
		}
		if _, err := k.Person().Infra.SetConfig(t.Context(), "theme", "dark"); sys.CodeOf(err) != sys.CodeConflict {
			t.Errorf("%q: got %v, want nothing changed while the file has an error", text, err)
		}
		k.Restart()
		if v, err := k.Person().Infra.Config(t.Context()); err != nil || v.Values["theme"] != "light" || v.Problem == nil {
			t.Errorf("%q: after a restart got theme %s, %v", text, v.Values["theme"], err)
		}
	}
}

func TestEditedConfigIsReadAgainByItself(t *testing.T) {
	t.Parallel()
	edit := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(t *testing.T, path, text string) {
		t.Helper()
		edit(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for name, save := range map[string]func(t *testing.T, path, text string){
		"written in place": write,
		"renamed over": func(t *testing.T, path, text string) {
			t.Helper()
			write(t, path+".new", text)
			edit(t, os.Rename(path+".new", path))
		},
		"moved away and written anew": func(t *testing.T, path, text string) {
			t.Helper()
			edit(t, os.Rename(path, path+"~"))
			write(t, path, text)
		},
		"written where a link leads": func(t *testing.T, path, text string) {
			t.Helper()
			target := filepath.Join(filepath.Dir(filepath.Dir(path)), "mine.toml")
			write(t, target, text)
			if _, err := os.Readlink(path); err != nil {
				edit(t, os.Remove(path))
				edit(t, os.Symlink(target, path))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			events, err := k.Person().Infra.Events(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(k.Home, "config.toml")
			for _, theme := range []string{"dark", "light", "dark"} { // the second and third save meet what the first left
				save(t, path, "theme = \""+theme+"\"\nkeyring = false\n")
				waitForTheme(t, events, theme)
			}
			edit(t, os.Remove(path))
			waitForTheme(t, events, "auto")
			write(t, path, "theme = \"light\"\nkeyring = false\n")
			waitForTheme(t, events, "light")
		})
	}
}

// waitForTheme reads events until the configuration has the theme.
func waitForTheme(t *testing.T, events <-chan kernel.Event, theme string) {
	t.Helper()
	limit := time.After(20 * time.Second) // less than the poll of a minute, which is not meant to find it
	for {
		select {
		case e := <-events:
			if v, ok := e.Data.(kernel.ConfigView); ok && v.Values["theme"] == theme {
				return
			}
		case <-limit:
			t.Fatalf("the theme %s was never in force", theme)
		}
	}
}

func TestBadValuesChangeNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, c := range []struct {
		key, value string
		code       sys.Code
	}{
		{"mode", "loud", sys.CodeInvalid},
		{"max_tool_calls", "many", sys.CodeInvalid},
		{"max_tool_calls", "-1", sys.CodeInvalid},
		{"colour", "red", sys.CodeNotFound},
		{"enter_sends", "perhaps", sys.CodeInvalid},
	} {
		before, _ := os.ReadFile(filepath.Join(k.Home, "config.toml"))
		_, err := k.Person().Infra.SetConfig(t.Context(), c.key, c.value)
		after, _ := os.ReadFile(filepath.Join(k.Home, "config.toml"))
		if sys.CodeOf(err) != c.code || string(before) != string(after) {
			t.Errorf("%s = %s: got %v, want %s and an untouched file", c.key, c.value, err, c.code)
		}
	}
}

func TestKeysNeverReachConfigOrTheAnswers(t *testing.T) {
	t.Parallel()
	k := open(t)
	const key = "sk-oxios-test-abcdefghijklmnop4f2A"
	p, err := k.Person().Infra.SaveProvider(t.Context(), kernel.ProviderInput{Name: "Work proxy", BaseURL: k.URL, Key: key})
	if err == nil && p.KeyTail != "4f2A" {
		t.Errorf("got tail %q, want 4f2A", p.KeyTail)
	}
	err = filepath.WalkDir(k.Home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), key) {
			t.Errorf("the key stands in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfigThatIsJustBeingWrittenIsNotTakenForAnEmptyOne(t *testing.T) {
	t.Parallel()
	k := open(t)
	theme := func() string {
		t.Helper()
		v, err := k.Person().Infra.Config(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v.Values["theme"]
	}
	writeConfig(t, k, "theme = \"light\"\nkeyring = false\n")
	if got := theme(); got != "light" {
		t.Fatalf("got theme %s, want light", got)
	}
	writeConfig(t, k, "") // as an editor does before it writes
	justNow := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(k.Home, "config.toml"), justNow, justNow); err != nil {
		t.Fatal(err)
	}
	if got := theme(); got != "light" {
		t.Errorf("got theme %s from a file that is being written, want light", got)
	}
	writeConfig(t, k, "theme = \n")
	if got := theme(); got != "light" {
		t.Errorf("got theme %s, want the last good one", got)
	}
}

func TestKeysOfTheQuickPromptNeedAModifierThatIsNotForWriting(t *testing.T) {
	t.Parallel()
	k := open(t)
	for keys, ok := range map[string]bool{
		"Ctrl+Alt+Space": true, "Super+Q": true, "Shift+Alt+F12": true, "Ctrl+Shift+9": true,
		"Space": false, "Shift+Q": false, "Ctrl+Alt": false, "Ctrl+q": false, "Ctrl+F13": false, "Ctrl+Alt+Space+A": false, "": false,
	} {
		v, err := k.Person().Infra.SetConfig(t.Context(), "quick_keys", keys)
		if ok != (err == nil) {
			t.Errorf("%q: got %v", keys, err)
		}
		if err == nil && v.Values["quick_keys"] != keys {
			t.Errorf("%q: got %q", keys, v.Values["quick_keys"])
		}
		if err != nil && !strings.Contains(err.Error(), "Ctrl+Alt+Space") {
			t.Errorf("%q: got %v, want an example", keys, err)
		}
	}
}
