package security

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"oxios/kernel/sys"
)

func sourceFile(t *testing.T, name, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "old")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysLeaveTheirFileAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, file, text, want, keys string }{
		{
			"api keys", "auth.json", "{\n  \"openai\": {\"type\": \"api_key\", \"key\": \"k-1\"},\n  \"note\" : [1,  2, \",}\"],\n  \"zai\":{\"access_token\":\"k-2\",\"refresh_token\":null}\n}\n",
			"{\n  \n  \"note\" : [1,  2, \",}\"]\n  \n}\n", "openai=k-1 zai=k-2",
		},
		{"the only one", "auth.json", `{"openai":{"type":"api_key","key":"k"}}`, `{}`, "openai=k"},
		{"in tokens", "auth.json", `{"tokens": {"a": {"key": "k"}, "b": 1}, "version": 1}`, `{"tokens": { "b": 1}, "version": 1}`, "a=k"},
		{"a comma in a text", "auth.json", `{"x": "a,,}\",}", "a": {"key": "k,,"}}`, `{"x": "a,,}\",}" }`, "a=k,,"},
		{"engine", "config.toml", "# mine\n[engine]\ndefault_model = \"anthropic/claude\"\napi_key = \"k\"\n\n[exec] # keep\nmode=1\n", "# mine\n[engine]\ndefault_model = \"anthropic/claude\"\n\n[exec] # keep\nmode=1\n", "anthropic=k"},
		{"a remark behind it", "config.toml", "[engine]\nprovider = \"groq\"\napi_key = 'k' # old\n", "[engine]\nprovider = \"groq\"\napi_key = \"\" # old\n", "groq=k"},
		{"inline", "config.toml", "engine = { default_model = \"openai/x\", api_key = \"k\" }\n", "engine = { default_model = \"openai/x\", api_key = \"\" }\n", "openai=k"},
		{"of one provider", "config.toml", "[engine.providers.work]\nbase_url = \"https://w.example/v1\"\napi_key = \"\"\"k\"\"\"", "[engine.providers.work]\nbase_url = \"https://w.example/v1\"\n", "work=k@https://w.example/v1"},
		{"of a list", "config.toml", "[[providers]]\nid = \"a\"\n[[providers]]\nid = \"b\"\nbase_url = \"https://b.example\"\napi_key = \"k\"\n", "[[providers]]\nid = \"a\"\n[[providers]]\nid = \"b\"\nbase_url = \"https://b.example\"\n", "b=k@https://b.example"},
		{"other secrets stay", "config.toml", "[secrets]\napi_key = \"telegram\"\n", "[secrets]\napi_key = \"telegram\"\n", ""},
		{"no keys", "auth.json", `["openai"]`, `["openai"]`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := sourceFile(t, tc.file, tc.text)
			s, err := ReadKeySource(path)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, k := range s.Keys {
				keys = append(keys, strings.TrimSuffix(k.Provider+"="+k.Secret+"@"+k.BaseURL, "@"))
			}
			if got := strings.Join(keys, " "); got != tc.keys {
				t.Errorf("got keys %q, want %q", got, tc.keys)
			}
			if err := s.Remove(s.Keys); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestLoginsThatAreRenewedAreToldApart(t *testing.T) {
	t.Parallel()
	s, err := ReadKeySource(sourceFile(t, "auth.json", `{"a":{"type":"oauth","access_token":"t","refresh_token":"r"},"b":{"access":"t","refresh":"r"},"c":{"access_token":"t","expires_in":0}}`))
	if err != nil || len(s.Keys) != 3 || !s.Keys[0].Renewed || !s.Keys[1].Renewed || s.Keys[2].Renewed {
		t.Errorf("got %+v, %v, want a and b as renewed", s.Keys, err)
	}
}

func TestFileThatCannotBeReadIsToldWithItsLine(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"auth.json": "{\n \"openai\": {\"key\": \"secret-1234\"},\n oops\n}", "config.toml": "[engine]\napi_key = \"secret-1234\"\nmodel =\n"} {
		path := sourceFile(t, name, text)
		_, err := ReadKeySource(path)
		if sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), "line 3") || strings.Contains(err.Error(), "secret-1234") {
			t.Errorf("%s: got %v, want line 3 and no key", name, err)
		}
	}
	if _, err := ReadKeySource(filepath.Join(t.TempDir(), "auth.json")); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}

func TestFilesThatSomebodyElseCouldHavePutThereAreRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	const text = `{"openai":{"key":"k"}}`
	for name, spoil := range map[string]func(path string) error{
		"link": func(path string) error {
			if err := os.Rename(path, path+".real"); err != nil {
				return err
			}
			return os.Symlink(path+".real", path)
		},
		"second name":       func(path string) error { return os.Link(path, path+".too") },
		"written by others": func(path string) error { return os.Chmod(path, 0o666) },
		"open folder":       func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) },
		"folder":            func(path string) error { return os.Rename(filepath.Dir(path), path+"-gone") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := sourceFile(t, "auth.json", text)
			if name == "folder" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
			} else if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			s, err := ReadKeySource(path)
			if sys.CodeOf(err) != sys.CodeRefused || len(s.Keys) != 0 {
				t.Errorf("got %v, %v, want it refused", s.Keys, err)
			}
		})
	}
	if os.Getuid() == 0 {
		path := sourceFile(t, "auth.json", text)
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKeySource(path); sys.CodeOf(err) != sys.CodeRefused {
			t.Errorf("another owner: got %v, want it refused", err)
		}
	}
}

func TestFileThatChangedMeanwhileIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := sourceFile(t, "auth.json", `{"openai":{"key":"k"}}`)
	s, err := ReadKeySource(path)
	if err != nil {
		t.Fatal(err)
	}
	const newer = `{"openai":{"key":"newer"}}`
	if err := os.WriteFile(path, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(s.Keys); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v, want conflict", err)
	}
	if got, _ := os.ReadFile(path); string(got) != newer {
		t.Errorf("got %q, want it untouched", got)
	}
}

// Whatever else a file holds, what is left of it is what it was without the keys.
func TestWhatIsLeftIsWhatItWasWithoutTheKeys(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "old")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "auth.json")
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z,{}"\\]{1,6}`), 0, 6, rapid.ID[string]).Draw(t, "names")
		want := map[string]any{}
		var members []string
		for i, name := range names {
			if name == "tokens" {
				continue
			}
			q, _ := json.Marshal(name)
			space := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")
			if rapid.Bool().Draw(t, "key") {
				members = append(members, fmt.Sprintf(`%s%s:%s{"key":"s,}%d"}%s`, space, q, space, i, space))
				continue
			}
			want[name] = rapid.StringMatching(`[,{}\[\]"\\ a]{0,6}`).Draw(t, "value")
			v, _ := json.Marshal(want[name])
			members = append(members, fmt.Sprintf(`%s%s:%s[%s, 1]`, space, q, space, v))
			want[name] = []any{want[name], 1.0}
		}
		if err := os.WriteFile(path, []byte("{"+strings.Join(members, ",")+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadKeySource(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Remove(slices.Clone(s.Keys)); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]any{}
		if err := json.Unmarshal(raw, &got); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %s, %v, want %v", raw, err, want)
		}
	})
}

func TestWhatIsLeftOfSettingsStaysTOML(t *testing.T) {
	t.Parallel()
	path := sourceFile(t, "config.toml", "[engine]\nproviders = { a = { api_key = \"x\", base_url = \"https://a\" }, b = { api_key = 'y' } }\napi_key = \"z\"\ndefault_model = \"openai/m\"")
	s, err := ReadKeySource(path)
	if err != nil || len(s.Keys) != 3 {
		t.Fatalf("got %+v, %v, want three keys", s.Keys, err)
	}
	if err := s.Remove(s.Keys); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := toml.Unmarshal(raw, &all); err != nil || strings.Contains(string(raw), "z\"") {
		t.Errorf("got %s, %v", raw, err)
	}
}
