package kernel_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const (
	looseOpenAI = "sk-loose-openai-0123456789abcdef"
	looseZai    = "loose-zai-0123456789abcdef.XyZ"
	looseEngine = "sk-ant-loose-0123456789abcdef"
	keyPhrase   = "four words of mine"
)

// keeper opens a kernel whose person has keys of older programs: two in
// ~/.oxi/auth.json with one that is renewed and one of nobody known, and one in
// the settings of the first Oxios.
func keeper(t *testing.T) (k *kerneltest.Kernel, auth string) {
	t.Helper()
	person := t.TempDir()
	auth = filepath.Join(person, ".oxi", "auth.json")
	if err := os.Mkdir(filepath.Dir(auth), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"openai": {"type": "api_key", "key": "` + looseOpenAI + `"}, "zai": {"access_token": "` + looseZai + `"}, "max": {"type": "oauth", "access_token": "t", "refresh_token": "r"}, "house": {"key": "unknown"}}`
	if err := os.WriteFile(auth, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, kerneltest.With(func(o *kernel.Options) {
		env := o.Env
		o.Guard = time.Hour
		o.Env = func(name string) string {
			if name == "HOME" {
				return person
			}
			return env(name)
		}
	})), auth
}

func infra(k *kerneltest.Kernel) *kernel.InfraAPI { return k.Person().Infra }

func mustKeys(t *testing.T, k *kerneltest.Kernel) kernel.Keys {
	t.Helper()
	keys, err := infra(k).Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func findingKinds(t *testing.T, k *kerneltest.Kernel) (kinds []string) {
	t.Helper()
	for _, f := range findings(t, k) {
		if strings.HasPrefix(f.Kind, "keys_") {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// assertNowhere looks for secrets in the clear in all that a kernel wrote and says.
func assertNowhere(t *testing.T, k *kerneltest.Kernel, secrets ...string) {
	t.Helper()
	texts := map[string][]byte{}
	err := filepath.WalkDir(k.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		texts[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h := k.Person()
	audit, err := h.Security.Audit(t.Context(), kernel.AuditQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	providers, err := h.Infra.Providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status, err := h.Infra.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	doctor, err := h.Infra.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"audit": audit, "providers": providers, "status": status, "doctor": doctor, "keys": mustKeys(t, k)} {
		if texts[name], err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	backup := filepath.Join(t.TempDir(), "backup.tar.gz")
	if _, err := h.Infra.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if texts["backup"], err = os.ReadFile(backup); err != nil {
		t.Fatal(err)
	}
	for where, text := range texts {
		for _, s := range secrets {
			if bytes.Contains(text, []byte(s)) {
				t.Errorf("%s holds %.8s… in the clear", where, s)
			}
		}
	}
}

func TestKeysOfOlderProgramsAreOfferedTakenOverAndGone(t *testing.T) {
	t.Parallel()
	k, auth := keeper(t)
	k.Until("it is told", func() bool { return slices.Equal(findingKinds(t, k), []string{"keys_loose"}) })
	before, err := os.ReadFile(auth)
	if err != nil {
		t.Fatal(err)
	}
	keys := mustKeys(t, k)
	if len(keys.Loose) != 1 || len(keys.Loose[0].Keys) != 4 || keys.Loose[0].Keys[0].Host != "api.openai.com" {
		t.Fatalf("got %+v, want four keys of one file", keys.Loose)
	}
	if now, _ := os.ReadFile(auth); !bytes.Equal(now, before) {
		t.Fatal("the file changed before anybody said so")
	}
	events, err := infra(k).Events(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := infra(k).ImportKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Imported) != 2 || r.Imported[0].Host != "api.openai.com" || r.Imported[1].Host != "api.z.ai" || r.Imported[1].Where != "file" {
		t.Errorf("got %+v, want openai and zai", r.Imported)
	}
	if len(r.Files) != 1 || len(r.Files[0].Keys) != 2 || r.Files[0].Keys[0].Problem == nil || r.Files[0].Keys[1].Problem == nil {
		t.Errorf("got %+v, want the other two to stay, with the reason", r.Files)
	}
	now, err := os.ReadFile(auth)
	if want := `{  "max": {"type": "oauth", "access_token": "t", "refresh_token": "r"}, "house": {"key": "unknown"}}`; err != nil || string(now) != want {
		t.Errorf("got %q, %v, want %q", now, err, want)
	}
	list, err := infra(k).Providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id, url := range map[string]string{"openai": "https://api.openai.com/v1", "zai": "https://api.z.ai/api/paas/v4"} {
		if !slices.ContainsFunc(list, func(p kernel.Provider) bool { return p.ID == id && p.BaseURL == url && p.KeyTail != "" && p.Enabled }) {
			t.Errorf("got %+v, want %s with its key", list, id)
		}
	}
	again, err := infra(k).ImportKeys(t.Context())
	if err != nil || len(again.Imported) != 0 {
		t.Errorf("once more: got %+v, %v, want nothing", again.Imported, err)
	}
	if _, err := infra(k).LeaveKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kinds := findingKinds(t, k); len(kinds) != 0 {
		t.Errorf("left there: got %v, want no more of it", kinds)
	}
	assertNowhere(t, k, looseOpenAI, looseZai)
	if raw, err := json.Marshal(drain(events)); err != nil || bytes.Contains(raw, []byte(looseOpenAI)) {
		t.Errorf("an event holds the key: %v", err)
	}
}

// drain returns the events that have arrived.
func drain(events <-chan kernel.Event) (out []kernel.Event) {
	for {
		select {
		case e := <-events:
			out = append(out, e)
		default:
			return out
		}
	}
}

func TestKeyOfTheOldSettingsIsTakenOutOfThem(t *testing.T) {
	t.Parallel()
	k := open(t)
	path := filepath.Join(k.Home, "config.toml")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const rest = "\n[engine] # of the first Oxios\ndefault_model = \"anthropic/claude-sonnet\"\n"
	writeConfig(t, k, string(old)+rest+"api_key = \""+looseEngine+"\"\n")
	k.Until("the mistake is told", func() bool {
		v, err := infra(k).Config(t.Context())
		return err == nil && v.Problem != nil
	})
	r, err := infra(k).ImportKeys(t.Context())
	if err != nil || len(r.Imported) != 1 || r.Imported[0].Provider != "anthropic" || r.Imported[0].Host != "api.anthropic.com" {
		t.Fatalf("got %+v, %v, want the key of anthropic", r.Imported, err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(old)+rest {
		t.Errorf("got %q, %v, want the rest as it was", now, err)
	}
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	assertNowhere(t, k, looseEngine)
}

func TestKeyWrittenIntoTheSettingsIsNotShownWithTheMistake(t *testing.T) {
	t.Parallel()
	k := open(t)
	writeConfig(t, k, "keyring = false\napi_key = \""+looseEngine+"\"\n")
	k.Until("the mistake is told", func() bool {
		v, err := infra(k).Config(t.Context())
		return err == nil && v.Problem != nil && strings.Contains(v.Problem.Message, "api_key")
	})
	v, err := infra(k).Config(t.Context())
	if err != nil || strings.Contains(v.Problem.Error()+v.Problem.MessageKO, looseEngine) {
		t.Errorf("got %v, %v, want it without the key", v.Problem, err)
	}
}

func TestFailedImportLeavesTheFileAndTakesNothing(t *testing.T) {
	t.Parallel()
	k, auth := keeper(t)
	if _, err := infra(k).SetKeyPassphrase(t.Context(), kernel.PassphraseInput{Next: keyPhrase}); err != nil {
		t.Fatal(err)
	}
	if _, err := infra(k).SaveProvider(t.Context(), kernel.ProviderInput{Name: "zai", BaseURL: "https://api.z.ai/api/paas/v4", Key: "another-key-0123456789"}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(auth)
	if err != nil {
		t.Fatal(err)
	}
	k.Restart() // locked
	if _, err := infra(k).ImportKeys(t.Context()); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("locked: got %v, want to be told", err)
	}
	if now, _ := os.ReadFile(auth); !bytes.Equal(now, before) {
		t.Errorf("the file changed: %s", now)
	}
	if _, err := infra(k).UnlockKeys(t.Context(), keyPhrase); err != nil {
		t.Fatal(err)
	}
	r, err := infra(k).ImportKeys(t.Context())
	if err != nil || len(r.Imported) != 1 || r.Imported[0].Provider != "openai" {
		t.Errorf("got %+v, %v, want openai alone: another key of zai is stored", r.Imported, err)
	}
	if now, _ := os.ReadFile(auth); !bytes.Contains(now, []byte(looseZai)) || bytes.Contains(now, []byte(looseOpenAI)) {
		t.Errorf("got %s, want zai's to stay and openai's to go", now)
	}
}

func TestLockedKeysAreToldAndOpenedByTheirPassphrase(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.With(func(o *kernel.Options) { o.Guard = time.Hour }))
	h := k.Person()
	p, err := h.Infra.SaveProvider(t.Context(), kernel.ProviderInput{Name: "Work", BaseURL: strings.Replace(k.URL, "127.0.0.1", "localhost", 1), Key: looseOpenAI})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Infra.SetKeyPassphrase(t.Context(), kernel.PassphraseInput{Next: keyPhrase}); err != nil {
		t.Fatal(err)
	}
	k.Restart()
	k.Until("it is told", func() bool { return slices.Equal(findingKinds(t, k), []string{"keys_locked"}) })
	if keys := mustKeys(t, k); !keys.Locked || !keys.Protected || keys.Problem != nil {
		t.Errorf("got %+v, want it locked", keys)
	}
	use := func(s *kernel.Submit) { s.Provider, s.Model = p.ID, kerneltest.Model }
	done := k.Ask("Hello!", use)
	if done.Error == nil || !strings.Contains(done.Error.Error(), "oxios keys unlock") {
		t.Errorf("got %+v, want the run to say that the keys are locked and what to do", done.Error)
	}
	if _, err := infra(k).UnlockKeys(t.Context(), "not this one"); sys.CodeOf(err) != sys.CodeDenied {
		t.Errorf("got %v, want denied", err)
	}
	assertNowhere(t, k, looseOpenAI, keyPhrase, "not this one")
	if keys, err := infra(k).UnlockKeys(t.Context(), keyPhrase); err != nil || keys.Locked || len(keys.List) != 1 {
		t.Errorf("got %+v, %v, want them open", keys, err)
	}
	if kinds := findingKinds(t, k); len(kinds) != 0 {
		t.Errorf("got %v, want no more of it", kinds)
	}
	if done := k.Ask("Hello!", use); done.Error != nil {
		t.Errorf("unlocked: got %v", done.Error)
	}
	assertNowhere(t, k, looseOpenAI, keyPhrase)
	for _, call := range []func(*kernel.InfraAPI) error{
		func(a *kernel.InfraAPI) error { _, err := a.Keys(t.Context()); return err },
		func(a *kernel.InfraAPI) error { _, err := a.UnlockKeys(t.Context(), keyPhrase); return err },
		func(a *kernel.InfraAPI) error { _, err := a.ImportKeys(t.Context()); return err },
		func(a *kernel.InfraAPI) error { _, err := a.LeaveKeys(t.Context()); return err },
		func(a *kernel.InfraAPI) error {
			_, err := a.SetKeyPassphrase(t.Context(), kernel.PassphraseInput{Current: keyPhrase})
			return err
		},
	} {
		if err := call(k.Agent("autonomous").Infra); sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("an agent: got %v, want forbidden", err)
		}
	}
}
