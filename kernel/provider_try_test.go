package kernel_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const tryKey = "try-key-0123456789abcdef"

// strict is the demo behind a server that wants a key and knows its models; it
// counts the answers that it gave.
func strict(t *testing.T, k *kerneltest.Kernel) (url string, answers *atomic.Int64) {
	t.Helper()
	answers = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.HasPrefix(r.URL.Path, "/v1/"):
			http.NotFound(w, r)
		case r.Header.Get("Authorization") != "Bearer "+tryKey:
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": "Incorrect API key provided.", "code": "invalid_api_key"}})
		default:
			if strings.HasSuffix(r.URL.Path, "/chat/completions") {
				answers.Add(1)
			}
			k.Demo.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1", answers
}

// dead is an address at which nothing listens.
func dead(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return "http://" + ln.Addr().String() + "/v1"
}

func TestProviderThatDoesNotAnswerIsToldAtItsFieldAndNotSaved(t *testing.T) {
	t.Parallel()
	k := open(t)
	url, _ := strict(t, k)
	before, err := infra(k).Providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pem := filepath.Join(t.TempDir(), "none.pem")
	tests := map[string]struct {
		in    kernel.ProviderInput
		model string
		field string
		code  sys.Code
	}{
		"a wrong key":               {kernel.ProviderInput{Name: "A", BaseURL: url, Key: "wrong-key-0123456789"}, "", "key", sys.CodeAuth},
		"no key":                    {kernel.ProviderInput{Name: "A", BaseURL: url}, "", "key", sys.CodeAuth},
		"a key with a line break":   {kernel.ProviderInput{Name: "A", BaseURL: url, Key: "half\nkey"}, "", "key", sys.CodeInvalid},
		"a dead address":            {kernel.ProviderInput{BaseURL: dead(t), Key: tryKey}, "", "address", sys.CodeNetwork},
		"a dead address, a model":   {kernel.ProviderInput{BaseURL: dead(t), Key: tryKey}, kerneltest.Model, "address", sys.CodeNetwork},
		"a name that is no host":    {kernel.ProviderInput{BaseURL: "http://nowhere.invalid/v1", Key: tryKey}, "", "address", sys.CodeNetwork},
		"an address without a way":  {kernel.ProviderInput{BaseURL: strings.TrimSuffix(url, "/v1"), Key: tryKey}, "", "address", sys.CodeProvider},
		"no address":                {kernel.ProviderInput{Name: "A", Key: tryKey}, "", "address", sys.CodeInvalid},
		"no web address":            {kernel.ProviderInput{Name: "A", BaseURL: "models", Key: tryKey}, "", "address", sys.CodeInvalid},
		"a model that is not there": {kernel.ProviderInput{BaseURL: url, Key: tryKey}, "gpt-none", "model", sys.CodeUnknownModel},
		"no certificates":           {kernel.ProviderInput{BaseURL: url, Key: tryKey, CAFile: pem}, "", "ca_file", sys.CodeInvalid},
		"no proxy":                  {kernel.ProviderInput{BaseURL: url, Key: tryKey, ProxyURL: "proxy"}, "", "proxy_url", sys.CodeInvalid},
	}
	for name, c := range tests {
		c.in.Model = c.model
		trial, err := infra(k).TryProvider(t.Context(), c.in, true)
		if err != nil || trial.Report.Error == nil || trial.Field != c.field || trial.Report.Error.Code != c.code || trial.Saved != nil {
			t.Errorf("%s: got field %q, %v, saved %v, %v, want %s (%s) and nothing saved", name, trial.Field, trial.Report.Error, trial.Saved, err, c.field, c.code)
			continue
		}
		if e := trial.Report.Error; e.Hint == "" || e.MessageKO == "" || e.HintKO == "" {
			t.Errorf("%s: got %+v, want what to do, in both languages", name, e)
		}
		if strings.Contains(trial.Report.Error.Error(), tryKey) {
			t.Errorf("%s: the key is shown: %v", name, trial.Report.Error)
		}
	}
	after, err := infra(k).Providers(t.Context())
	if err != nil || len(after) != len(before) {
		t.Errorf("got %d providers, %v, want the %d of before", len(after), err, len(before))
	}
	if keys, err := infra(k).Keys(t.Context()); err != nil || len(keys.List) != 0 {
		t.Errorf("got keys %v, %v, want none to be kept", keys.List, err)
	}
	if raw, err := os.ReadFile(filepath.Join(k.Home, "config.toml")); err != nil || strings.Contains(string(raw), "wrong-key") {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestProviderThatAnswersIsSavedWithItsTestAndItsHostsName(t *testing.T) {
	t.Parallel()
	k := open(t)
	url, _ := strict(t, k)
	if trial, err := infra(k).TryProvider(t.Context(), kernel.ProviderInput{BaseURL: url, Key: tryKey}, false); err != nil || !trial.Report.Answers || trial.Saved != nil {
		t.Errorf("tried alone: got %+v, %v, want an answer and nothing saved", trial, err)
	}
	trial, err := infra(k).TryProvider(t.Context(), kernel.ProviderInput{BaseURL: " " + url + "/chat/completions", Key: tryKey}, true)
	if err != nil || trial.Saved == nil || trial.Field != "" {
		t.Fatalf("got %+v, %v, want it saved", trial, err)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/v1")
	p := *trial.Saved
	if p.Name != host || p.BaseURL != url || p.Test == nil || !p.Test.Answers || p.Test.Model != kerneltest.Model || p.KeyTail != tryKey[len(tryKey)-4:] {
		t.Errorf("got %+v, want the name %q, its test and its key", p, host)
	}
	k.Restart()
	if done := k.Ask("Hello!", func(s *kernel.Submit) { s.Provider = p.ID }); done.Error != nil {
		t.Errorf("after a restart: %v, want an answer", done.Error)
	}
	// It is removed and added again untested: what was found before is not said of it.
	if err := infra(k).RemoveProvider(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	again, err := infra(k).SaveProvider(t.Context(), kernel.ProviderInput{BaseURL: url, Key: tryKey})
	if err != nil || again.ID != p.ID || again.Test != nil {
		t.Errorf("got %+v, %v, want it untested", again, err)
	}
}

func TestProviderWithoutAListOfModelsAnswersWithTheOneThatIsNamed(t *testing.T) {
	t.Parallel()
	k := open(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			http.NotFound(w, r)
			return
		}
		k.Demo.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	in := kernel.ProviderInput{BaseURL: srv.URL + "/v1"}
	if trial, err := infra(k).TryProvider(t.Context(), in, true); err != nil || trial.Saved != nil || trial.Field != "address" {
		t.Errorf("without a model: got %+v, %v", trial, err)
	}
	in.Model = kerneltest.Model
	trial, err := infra(k).TryProvider(t.Context(), in, true)
	if err != nil || trial.Saved == nil {
		t.Fatalf("got %+v, %v, want it saved", trial, err)
	}
	if done := k.Ask("Hello!", func(s *kernel.Submit) { s.Provider = trial.Saved.ID }); done.Error != nil {
		t.Errorf("got %v, want the model that was entered with it to be used", done.Error)
	}
}

func TestChangedProviderIsTriedBeforeItIsChanged(t *testing.T) {
	t.Parallel()
	k := open(t)
	url, answers := strict(t, k)
	trial, err := infra(k).TryProvider(t.Context(), kernel.ProviderInput{Name: "Work", BaseURL: url, Key: tryKey}, true)
	if err != nil || trial.Saved == nil {
		t.Fatalf("got %+v, %v", trial, err)
	}
	p := *trial.Saved
	change := kernel.ProviderInput{ID: p.ID, Name: "Work", BaseURL: url}
	change.Key = "wrong-key-0123456789"
	if trial, err := infra(k).TryProvider(t.Context(), change, true); err != nil || trial.Field != "key" {
		t.Errorf("got %+v, %v, want the key to be wrong", trial, err)
	}
	change.Key, change.Name = "", "Office" // the stored key is used
	trial, err = infra(k).TryProvider(t.Context(), change, true)
	if err != nil || trial.Saved == nil || trial.Saved.Name != "Office" || trial.Saved.KeyTail != p.KeyTail {
		t.Fatalf("got %+v, %v, want another name with the old key", trial, err)
	}
	// A switch is no other way to reach it, so its test still holds. Another address is.
	off := false
	change.Enabled = &off
	before := answers.Load()
	if p, err := infra(k).SaveProvider(t.Context(), change); err != nil || p.Test == nil || p.Enabled {
		t.Errorf("got %+v, %v, want it off with its test", p, err)
	}
	change.BaseURL = dead(t)
	if p, err := infra(k).SaveProvider(t.Context(), change); err != nil || p.Test != nil {
		t.Errorf("got %+v, %v, want it untested", p, err)
	}
	if n := answers.Load(); n != before {
		t.Errorf("saving asked the model %d times, want 0", n-before)
	}
	// The stored key belongs to the address that it was entered for.
	if trial, err := infra(k).TryProvider(t.Context(), change, false); err != nil || trial.Field != "key" {
		t.Errorf("got %+v, %v, want the key to be asked for again", trial, err)
	}
}
