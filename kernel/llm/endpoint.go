package llm

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// The kinds of endpoints. They differ in how models are described; Ollama also
// in the protocol, because its OpenAI-compatible one ignores num_ctx.
const (
	KindOpenAI   = "openai"
	KindOllama   = "ollama"
	KindLMStudio = "lmstudio"
	KindLlamaCpp = "llamacpp"
)

// OpenAIBaseURL is where OpenAI itself answers.
const OpenAIBaseURL = "https://api.openai.com/v1"

// Timeouts bound how long an endpoint may keep silent. Zero values take the
// defaults.
type Timeouts struct {
	Connect   time.Duration `json:"connect,omitempty"`    // to open the connection; 10 s
	FirstByte time.Duration `json:"first_byte,omitempty"` // from the request to the first byte of the answer; 120 s, 300 s for a local endpoint, which may load the model first
	Idle      time.Duration `json:"idle,omitempty"`       // between two pieces of the answer; 60 s
	Think     time.Duration `json:"think,omitempty"`      // the same before the answer itself has begun, when the model may think without a word; 300 s, or Idle where that is set
}

// Endpoint is where models answer. Its text forms never show the key.
type Endpoint struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`     // what a person reads; the host if empty
	Kind     string            `json:"kind"`     // "" is openai
	BaseURL  string            `json:"base_url"` // with its version path, https://host/v1; "" is OpenAI
	Key      string            `json:"-"`
	ProxyURL string            `json:"proxy_url,omitempty"` // "" uses HTTPS_PROXY and the others of the environment
	CAFile   string            `json:"ca_file,omitempty"`   // PEM certificates trusted besides the system's
	Headers  map[string]string `json:"-"`                   // sent with every request; may hold secrets
	Local    bool              `json:"local,omitempty"`     // runs on this machine and costs nothing
	Timeout  Timeouts          `json:"timeout,omitzero"`
}

// String names the endpoint without its secrets.
func (e Endpoint) String() string {
	return fmt.Sprintf("%s (%s)", e.name(), safeURL(e.BaseURL))
}

// GoString is String, so that %#v shows no key either.
func (e Endpoint) GoString() string { return e.String() }

// LogValue is String, so that a log shows no key.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.String()) }

func (e Endpoint) withDefaults() Endpoint {
	if e.Kind == "" {
		e.Kind = KindOpenAI
	}
	if e.BaseURL == "" && e.Kind == KindOpenAI {
		e.BaseURL = OpenAIBaseURL
	}
	e.BaseURL = strings.TrimRight(strings.TrimSpace(e.BaseURL), "/")
	// People copy the whole address of a call out of a manual.
	for _, suffix := range []string{"/chat/completions", "/responses", "/models"} {
		e.BaseURL = strings.TrimSuffix(e.BaseURL, suffix)
	}
	e.Key = strings.TrimSpace(e.Key)
	if e.Kind != KindOpenAI {
		e.Local = e.Local || isLoopback(e.BaseURL)
	}
	if e.Timeout.Connect <= 0 {
		e.Timeout.Connect = 10 * time.Second
	}
	if e.Timeout.FirstByte <= 0 {
		e.Timeout.FirstByte = 120 * time.Second
		if e.Local {
			e.Timeout.FirstByte = 300 * time.Second
		}
	}
	if e.Timeout.Think <= 0 {
		e.Timeout.Think = cmp.Or(max(e.Timeout.Idle, 0), 300*time.Second)
	}
	if e.Timeout.Idle <= 0 {
		e.Timeout.Idle = 60 * time.Second
	}
	return e
}

func (e Endpoint) validate() error {
	switch e.Kind {
	case KindOpenAI, KindOllama, KindLMStudio, KindLlamaCpp:
	default:
		return sys.Errorf(sys.CodeInvalid, "The provider kind %q is not known.", e.Kind).
			WithHint("Use openai, ollama, lmstudio or llamacpp.")
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return sys.Errorf(sys.CodeInvalid, "The address %q of the provider is not a web address.", safeURL(e.BaseURL)).
			WithHint("Write it like https://api.openai.com/v1 or http://127.0.0.1:11434/v1.")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return sys.Errorf(sys.CodeInvalid, "The address of the provider must end with its path, without ? or #.").
			WithHint("Put a key into the key field, or into a header.")
	}
	if strings.ContainsFunc(e.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return sys.Errorf(sys.CodeInvalid, "The key contains a space or a character that no key has.").
			WithHint("Copy the key again, without line breaks.")
	}
	return nil
}

func (e Endpoint) name() string {
	if e.Name != "" {
		return e.Name
	}
	if u, err := url.Parse(e.BaseURL); err == nil && u.Host != "" {
		return u.Host
	}
	return "The provider"
}

// root is the base address without its version path, where the local servers
// keep their own protocols.
func (e Endpoint) root() string {
	return strings.TrimRight(strings.TrimSuffix(e.BaseURL, "/v1"), "/")
}

// secrets are the texts that no message may show.
func (e Endpoint) secrets() []string {
	var out []string
	add := func(s string) {
		if len(s) >= 4 {
			out = append(out, s)
		}
	}
	add(e.Key)
	for name, v := range e.Headers {
		switch strings.ToLower(name) {
		case "user-agent", "http-referer", "x-title", "accept":
			continue // these name the client
		}
		add(v)
		if _, token, ok := strings.Cut(v, " "); ok {
			add(token)
		}
	}
	for _, raw := range []string{e.BaseURL, e.ProxyURL} {
		if u, err := url.Parse(raw); err == nil && u.User != nil {
			if p, ok := u.User.Password(); ok {
				add(p)
			}
		}
	}
	return out
}

func safeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "an unreadable address"
	}
	return u.Redacted()
}

// Here reports whether the endpoint is on this machine, whatever its kind: no
// network lies before it.
func (e Endpoint) Here() bool { return e.Local || isLoopback(e.BaseURL) }

func isLoopback(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || (ip != nil && ip.IsLoopback())
}
