package llm

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestEnvironmentNamesAModelOnlyWithAddressKeyAndModel(t *testing.T) {
	t.Parallel()
	all := map[string]string{"OXIOS_BASE_URL": "https://models.example.com/v1", "OXIOS_API_KEY": "key-0123456789", "OXIOS_MODEL": "m"}
	tests := []struct {
		change map[string]string
		named  bool
	}{
		{nil, true},
		{map[string]string{"OXIOS_BASE_URL": ""}, false},
		{map[string]string{"OXIOS_API_KEY": ""}, false},
		{map[string]string{"OXIOS_MODEL": " "}, false},
		{map[string]string{"OXIOS_BASE_URL": "not an address"}, false},
		{map[string]string{"OXIOS_BASE_URL": "", "OXIOS_API_KEY": "", "OPENAI_API_KEY": "key-0123456789", "OPENAI_BASE_URL": "https://models.example.com/v1"}, false},
	}
	for _, tt := range tests {
		d := Discovery{Ollama: "http://127.0.0.1:1", LMStudio: "http://127.0.0.1:1", LlamaCpp: "http://127.0.0.1:1", Env: func(name string) string {
			if v, ok := tt.change[name]; ok {
				return v
			}
			return all[name]
		}}
		named := false
		for _, f := range d.Find(t.Context()) {
			named = named || f.Named
		}
		if named != tt.named {
			t.Errorf("%v: named %v, want %v", tt.change, named, tt.named)
		}
	}
}

func TestKeyGoesInAnthropicsOwnFormToItsHostAlone(t *testing.T) {
	t.Parallel()
	var got http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		_, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`))
	}))
	t.Cleanup(srv.Close)
	c, err := New(Endpoint{BaseURL: srv.URL + "/v1", Key: "key-0123456789"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Models(t.Context()); err != nil || got.Get("x-api-key") != "" || got.Get("Authorization") != "Bearer key-0123456789" {
		t.Errorf("elsewhere: got %v, %v", got, err)
	}
	seen := map[string]string{}
	c, err = New(Endpoint{BaseURL: "https://api.anthropic.com/v1", Key: "key-0123456789"})
	if err != nil {
		t.Fatal(err)
	}
	c.doer.client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		for _, name := range []string{"x-api-key", "anthropic-version", "Authorization"} {
			seen[name] = r.Header.Get(name)
		}
		w := httptest.NewRecorder()
		_, _ = w.WriteString(`{"data":[{"id":"claude-opus-5","type":"model"}]}`)
		return w.Result(), nil
	})}
	list, err := c.Models(t.Context())
	if err != nil || len(list) != 1 || seen["x-api-key"] != "key-0123456789" || seen["anthropic-version"] == "" {
		t.Errorf("got %v, %v, %v, want the list", list, err, seen)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
