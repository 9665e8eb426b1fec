package llm

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"oxios/kernel/sys"
)

// Price is what a model costs, in USD per million tokens. Some makers charge
// more for a request whose input is longer than Above tokens; then the other
// three prices hold for the whole request.
type Price struct {
	Input       float64 `json:"input"`
	CachedInput float64 `json:"cached_input"`
	CacheWrite  float64 `json:"cache_write,omitempty"` // what is put into the cache; 0: as Input
	Output      float64 `json:"output"`

	Above       int     `json:"above,omitempty"` // 0: one price for every length
	AboveInput  float64 `json:"above_input,omitempty"`
	AboveCached float64 `json:"above_cached,omitempty"`
	AboveOutput float64 `json:"above_output,omitempty"`
}

// Cost is the price of one request in USD.
func (p Price) Cost(u Usage) float64 {
	in, cached, write, out := p.Input, p.CachedInput, cmp.Or(p.CacheWrite, p.Input), p.Output
	if p.Above > 0 && u.Input > p.Above {
		in, cached, out = p.AboveInput, p.AboveCached, p.AboveOutput
		write = max(write, in)
	}
	u = u.sane()
	return (float64(u.Input-u.Cached-u.Written)*in + float64(u.Cached)*cached + float64(u.Written)*write + float64(u.Output)*out) / 1e6
}

// Free reports whether the price is exactly zero.
func (p Price) Free() bool { return p == Price{} }

// Label says the model's price in words: "unknown", "free", or the two prices.
func (m Model) Label() string {
	switch {
	case m.Price == nil:
		return "unknown"
	case m.Price.Free():
		return "free"
	}
	return fmt.Sprintf("$%g in, $%g out per million tokens", m.Price.Input, m.Price.Output)
}

//go:embed catalogue.toml
var embeddedTOML []byte

// Catalogue knows prices and abilities of models that do not describe
// themselves. It is read-only after it was loaded.
type Catalogue struct {
	asOf   string
	models map[string]catalogueModel // by lower-case id
}

type catalogueFile struct {
	AsOf  string           `toml:"as_of"`
	Model []catalogueModel `toml:"model"`
}

type catalogueModel struct {
	ID        string   `toml:"id"`
	Aliases   []string `toml:"aliases"`
	Provider  string   `toml:"provider"` // whose price it is; "" holds for every provider
	Context   int      `toml:"context"`
	Tools     *bool    `toml:"tools"`
	Images    *bool    `toml:"images"`
	Reasoning *bool    `toml:"reasoning"`

	Input       *float64 `toml:"input"` // without input and output the price is unknown
	CachedInput *float64 `toml:"cached_input"`
	CacheWrite  *float64 `toml:"cache_write"`
	Output      *float64 `toml:"output"`
	Above       int      `toml:"above"`
	AboveInput  float64  `toml:"above_input"`
	AboveCached float64  `toml:"above_cached"`
	AboveOutput float64  `toml:"above_output"`
	Until       string   `toml:"until"` // the last day of the price, 2006-01-02; afterwards it is unknown

	own bool // of the person's own list
}

var embeddedCatalogue = sync.OnceValue(func() *Catalogue {
	c := &Catalogue{models: map[string]catalogueModel{}}
	if err := c.merge(embeddedTOML, false); err != nil {
		panic("embedded catalogue: " + err.Error()) // a test parses it
	}
	return c
})

// LoadCatalogue returns the embedded catalogue, with the models of userFile
// over it. A missing or empty userFile is no error. When the file has an
// error, the embedded catalogue is returned with an error that points at it.
func LoadCatalogue(userFile string) (*Catalogue, error) {
	base := embeddedCatalogue()
	if userFile == "" {
		return base, nil
	}
	data, err := os.ReadFile(userFile)
	if errors.Is(err, fs.ErrNotExist) {
		return base, nil
	}
	if err != nil {
		return base, sys.Errorf(sys.CodeInvalid, "The price list %s cannot be read: %w", userFile, err)
	}
	own := &Catalogue{asOf: base.asOf, models: make(map[string]catalogueModel, len(base.models))}
	for k, v := range base.models {
		own.models[k] = v
	}
	if err := own.merge(data, true); err != nil {
		return base, sys.Errorf(sys.CodeInvalid, "The price list %s has an error: %w", userFile, err).
			WithHint("The built-in prices are used until it is corrected.")
	}
	return own, nil
}

func (c *Catalogue) merge(data []byte, own bool) error {
	var file catalogueFile
	dec := toml.NewDecoder(bytes.NewReader(sys.WithoutMark(data))).DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		var at *toml.DecodeError
		var strict *toml.StrictMissingError
		switch {
		case errors.As(err, &strict) && len(strict.Errors) > 0:
			line, col := strict.Errors[0].Position()
			return sys.Errorf(sys.CodeInvalid, "line %d, column %d: %q is not a known setting", line, col, strings.Join(strict.Errors[0].Key(), "."))
		case errors.As(err, &at):
			line, col := at.Position()
			return sys.Errorf(sys.CodeInvalid, "line %d, column %d: %s", line, col, sys.MistakeInTOML(at))
		}
		return err
	}
	for i, m := range file.Model {
		if m.ID == "" {
			return sys.Errorf(sys.CodeInvalid, "the model number %d has no id", i+1)
		}
		for _, v := range []*float64{m.Input, m.CachedInput, m.CacheWrite, m.Output} {
			if v != nil && (*v < 0 || *v > 1e5) {
				return sys.Errorf(sys.CodeInvalid, "model %s: a price is outside 0 to 100000", m.ID)
			}
		}
		if m.Until != "" {
			if _, err := time.Parse(time.DateOnly, m.Until); err != nil {
				return sys.Errorf(sys.CodeInvalid, "model %s: until is not a date like 2026-12-31", m.ID)
			}
		}
	}
	for _, m := range file.Model {
		m.own = own
		for _, id := range append([]string{m.ID}, m.Aliases...) {
			c.models[strings.ToLower(id)] = m
		}
	}
	if file.AsOf != "" {
		c.asOf = file.AsOf
	}
	return nil
}

// AsOf is the day on which the prices were looked up, 2006-01-02.
func (c *Catalogue) AsOf() string { return c.asOf }

var (
	dateSuffix  = sys.Pattern(`-(20\d\d-\d\d-\d\d|20\d{6}|\d{4}|\d{3}|latest|preview)$`)
	routeSuffix = sys.Pattern(`:(nitro|floor|exacto|thinking|extended|beta)$`)
)

// Lookup finds a model by its ID, also with a provider in front of it
// ("openai/gpt-5-mini", "models/gemini-2.5-pro") or a date behind it. Only
// whole names match: an unknown variant of a known model is unknown.
func (c *Catalogue) Lookup(id string) (Model, bool) {
	m, ok := c.find(id)
	if !ok {
		return Model{ID: id}, false
	}
	return m.model(id), true
}

func (c *Catalogue) find(id string) (catalogueModel, bool) {
	id = routeSuffix().ReplaceAllString(strings.ToLower(strings.TrimSpace(id)), "")
	for {
		for name := id; ; {
			if m, ok := c.models[name]; ok {
				return m, true
			}
			// OpenRouter writes claude-opus-4.5 for claude-opus-4-5.
			if m, ok := c.models[strings.ReplaceAll(name, ".", "-")]; ok {
				return m, true
			}
			_, rest, ok := strings.Cut(name, "/")
			if !ok {
				break
			}
			name = rest
		}
		short := dateSuffix().ReplaceAllString(id, "")
		if short == id {
			return catalogueModel{}, false
		}
		id = short
	}
}

func (m catalogueModel) model(id string) Model {
	out := Model{ID: id, Provider: m.Provider, ContextLength: m.Context, Tools: m.Tools, Images: m.Images, Reasoning: m.Reasoning}
	if m.Input == nil || m.Output == nil || m.expired(time.Now()) {
		return out
	}
	cached := m.CachedInput
	if cached == nil {
		cached = m.Input // no discount is known
	}
	var write float64
	switch {
	case m.CacheWrite != nil:
		write = *m.CacheWrite
	case m.Provider == "anthropic": // a quarter more, for five minutes in the cache
		write = 1.25 * *m.Input
	}
	out.Price = &Price{
		Input: *m.Input, CachedInput: *cached, CacheWrite: write, Output: *m.Output,
		Above: m.Above, AboveInput: m.AboveInput, AboveCached: m.AboveCached, AboveOutput: m.AboveOutput,
	}
	return out
}

func (m catalogueModel) expired(now time.Time) bool {
	last, err := time.Parse(time.DateOnly, m.Until)
	return err == nil && now.After(last.AddDate(0, 0, 1))
}

// makers are the hosts whose own price list a catalogue entry may be. Any
// other host is taken for a gateway that passes the maker's price on, except
// the ones in resellers, which have prices of their own.
var (
	makers = map[string]string{
		"api.openai.com": "openai", "api.anthropic.com": "anthropic", "generativelanguage.googleapis.com": "google",
		"api.x.ai": "xai", "api.deepseek.com": "deepseek", "api.mistral.ai": "mistral",
	}
	resellers = []string{
		"groq.com", "together.xyz", "together.ai", "fireworks.ai", "deepinfra.com", "cerebras.ai", "sambanova.ai",
		"nvidia.com", "azure.com", "amazonaws.com", "novita.ai", "hyperbolic.xyz", "siliconflow.com",
	}
)

// Fill completes what an endpoint's list left open. Nothing costs anything on
// a local endpoint, unless the person's own list names a price. Another server of
// this machine has the maker's price for what runs at its maker alone.
func (c *Catalogue) Fill(ep Endpoint, m *Model) {
	found, ok := c.find(m.ID)
	if ep.Local {
		m.Local = true
		if m.Price = (&Price{}); found.own {
			m.Price = found.model(m.ID).Price
		}
	}
	if !ok {
		return
	}
	known := found.model(m.ID)
	if m.ContextLength == 0 && !ep.Local { // a local server may run it with less
		m.ContextLength = known.ContextLength
	}
	for _, f := range []struct{ have, known **bool }{
		{&m.Tools, &known.Tools}, {&m.Images, &known.Images}, {&m.Reasoning, &known.Reasoning},
	} {
		if *f.have == nil {
			*f.have = *f.known
		}
	}
	if m.Price == nil && ownPrice(ep.BaseURL, found.Provider) && (found.own || !ep.Here() || closed(m.ID, found.Provider)) {
		m.Price = known.Price
	}
}

// closed reports whether a model runs at its maker alone: a server of this
// machine that offers it passes requests on, and they cost what they cost there.
func closed(id, provider string) bool {
	return slices.Contains([]string{"openai", "anthropic", "google", "xai"}, provider) && !containsAny(strings.ToLower(id), "gpt-oss", "gemma")
}

func ownPrice(base, provider string) bool {
	u, err := url.Parse(base)
	if err != nil || provider == "" {
		return err == nil
	}
	host := strings.ToLower(u.Hostname())
	if maker, ok := makers[host]; ok {
		return maker == provider
	}
	for _, r := range resellers {
		if host == r || strings.HasSuffix(host, "."+r) {
			return false
		}
	}
	return true
}
