package llm

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// Found is an endpoint that a look around this machine turned up.
type Found struct {
	Endpoint Endpoint  `json:"endpoint"`
	Source   string    `json:"source"`           // where it was found: an environment variable, or the server's name
	Models   []Model   `json:"models,omitempty"` // what it offers, or what OXIOS_MODEL names
	Running  bool      `json:"running"`          // it answered
	Named    bool      `json:"named,omitempty"`  // the environment names its address, its key and its model
	Problem  sys.Words `json:"problem,omitzero"` // why it cannot be used as it is
}

// Discovery looks for local model servers and for keys in the environment.
// The zero value of a field is the usual place.
type Discovery struct {
	Env      func(string) string // os.Getenv; nil is an empty environment
	Ollama   string              // http://127.0.0.1:11434, when OLLAMA_HOST says nothing
	LMStudio string              // http://127.0.0.1:1234
	LlamaCpp string              // http://127.0.0.1:8080
	Limit    time.Duration       // for each server, 500 ms
}

// Find looks at all places at once. It sends nothing off this machine: a key
// is found, not tried, and a server elsewhere that OLLAMA_HOST names is told,
// not asked. Servers that do not answer are left out, unless the environment
// names them. The order is fixed: environment first.
func (d Discovery) Find(ctx context.Context) []Found {
	if d.Env == nil {
		d.Env = func(string) string { return "" }
	}
	if d.Limit <= 0 {
		d.Limit = 500 * time.Millisecond
	}
	searches := []func(context.Context) *Found{
		d.oxiosEnv, d.openAIEnv, d.findOllama,
		func(ctx context.Context) *Found {
			return d.local(ctx, KindLMStudio, "LM Studio", or(d.LMStudio, "http://127.0.0.1:1234"))
		},
		func(ctx context.Context) *Found {
			return d.local(ctx, KindLlamaCpp, "llama.cpp", or(d.LlamaCpp, "http://127.0.0.1:8080"))
		},
	}
	results := make([]*Found, len(searches))
	var wg sync.WaitGroup
	for i, search := range searches {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, d.Limit)
			defer cancel()
			results[i] = search(ctx)
		})
	}
	wg.Wait()
	var out []Found
	for _, f := range results {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (d Discovery) oxiosEnv(context.Context) *Found {
	base, key, model := strings.TrimSpace(d.Env("OXIOS_BASE_URL")), strings.TrimSpace(d.Env("OXIOS_API_KEY")), strings.TrimSpace(d.Env("OXIOS_MODEL"))
	if base == "" && key == "" {
		return nil
	}
	f := &Found{Source: "OXIOS_API_KEY", Endpoint: Endpoint{ID: "env", Kind: KindOpenAI, BaseURL: or(base, OpenAIBaseURL), Key: key}}
	if key == "" {
		f.Source = "OXIOS_BASE_URL"
	}
	if u, err := url.Parse(f.Endpoint.BaseURL); err == nil {
		f.Endpoint.Name = u.Host
		if u.Port() == "11434" && isLoopback(f.Endpoint.BaseURL) {
			f.Endpoint.Kind, f.Endpoint.Local = KindOllama, true
		}
	}
	if model != "" {
		f.Models = []Model{{ID: model, Provider: f.Endpoint.ID}}
	}
	f.Named = base != "" && key != "" && model != ""
	if err := f.Endpoint.withDefaults().validate(); err != nil {
		f.Problem = sys.TextOf(err)
		f.Named = false
	}
	return f
}

func (d Discovery) openAIEnv(context.Context) *Found {
	key := strings.TrimSpace(d.Env("OPENAI_API_KEY"))
	if key == "" {
		return nil
	}
	// A key that belongs to another server must not be sent to OpenAI.
	base := or(strings.TrimSpace(d.Env("OPENAI_BASE_URL")), OpenAIBaseURL)
	f := &Found{Source: "OPENAI_API_KEY", Endpoint: Endpoint{ID: "openai", Name: "OpenAI", Kind: KindOpenAI, BaseURL: base, Key: key}}
	if err := f.Endpoint.withDefaults().validate(); err != nil {
		f.Problem = sys.TextOf(err)
	}
	return f
}

func (d Discovery) findOllama(ctx context.Context) *Found {
	named := strings.TrimSpace(d.Env("OLLAMA_HOST"))
	if named == "" {
		return d.local(ctx, KindOllama, "Ollama", or(d.Ollama, "http://127.0.0.1:11434"))
	}
	base := ollamaURL(named)
	f := &Found{Source: "OLLAMA_HOST", Endpoint: Endpoint{ID: KindOllama, Name: "Ollama", Kind: KindOllama, BaseURL: base}}
	switch {
	case base == "":
		f.Problem = sys.Say("OLLAMA_HOST is not an address that can be read. Write it like 127.0.0.1:11434.")
		return f
	case !isLoopback(base):
		f.Problem = sys.Say("OLLAMA_HOST names another machine, which was not asked. Add it as a provider to use it.")
		return f
	}
	if running := d.local(ctx, KindOllama, "OLLAMA_HOST", base); running != nil {
		return running
	}
	f.Endpoint.Local = true
	f.Problem = sys.Say("OLLAMA_HOST names this machine, but Ollama does not answer there. Start it with: ollama serve")
	return f
}

// ollamaURL reads OLLAMA_HOST, which is also where Ollama listens: a bare
// host, a bare port, 0.0.0.0 for every address. It returns "" for nonsense.
func ollamaURL(s string) string {
	scheme, port := "http", "11434"
	if before, rest, ok := strings.Cut(s, "://"); ok {
		scheme, s = before, rest
		switch scheme {
		case "http":
			port = "80"
		case "https":
			port = "443"
		default:
			return ""
		}
	}
	hostport, path, _ := strings.Cut(s, "/")
	host := hostport
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		host, port = h, or(p, port)
	}
	host = strings.Trim(host, "[]")
	if host == "" || host == "0.0.0.0" {
		host = "127.0.0.1"
	}
	if host == "::" {
		host = "::1"
	}
	u, err := url.Parse(scheme + "://" + net.JoinHostPort(host, port))
	if err != nil || strings.ContainsAny(host, " \t@?#") {
		return ""
	}
	if path = strings.Trim(path, "/"); path != "" {
		u.Path = "/" + path
	}
	return u.String()
}

// local asks one server on this machine whether it is what usually answers at
// this port; anything else that listens there is left alone.
func (d Discovery) local(ctx context.Context, kind, source, root string) *Found {
	names := map[string]string{KindOllama: "Ollama", KindLMStudio: "LM Studio", KindLlamaCpp: "llama.cpp"}
	ep := Endpoint{ID: kind, Name: names[kind], Kind: kind, BaseURL: strings.TrimRight(root, "/") + "/v1", Local: true}
	c, err := New(ep)
	if err != nil {
		return nil
	}
	defer c.Close()
	if !c.isKind(ctx) {
		return nil
	}
	f := &Found{Endpoint: ep, Source: source, Running: true}
	if f.Models, err = c.Models(ctx); err != nil {
		f.Problem = sys.TextOf(err)
	} else if len(f.Models) == 0 {
		f.Problem = sys.Say("%s runs, but has no model yet. Download one in it first.", ep.Name)
	}
	return f
}

func (c *Client) isKind(ctx context.Context) bool {
	var doc map[string]json.RawMessage
	switch c.ep.Kind {
	case KindOllama:
		return c.describe(ctx, http.MethodGet, c.ep.root()+"/api/tags", nil, &doc) == nil && doc["models"] != nil
	case KindLMStudio:
		return (c.describe(ctx, http.MethodGet, c.ep.root()+"/api/v0/models", nil, &doc) == nil && doc["data"] != nil) ||
			(c.describe(ctx, http.MethodGet, c.ep.BaseURL+"/models", nil, &doc) == nil && doc["data"] != nil)
	}
	// Port 8080 is everybody's: only llama.cpp says these words.
	return (c.describe(ctx, http.MethodGet, c.ep.root()+"/props", nil, &doc) == nil && doc["default_generation_settings"] != nil) ||
		(c.describe(ctx, http.MethodGet, c.ep.BaseURL+"/models", nil, &doc) == nil && strings.Contains(string(doc["data"]), `"llamacpp"`))
}
