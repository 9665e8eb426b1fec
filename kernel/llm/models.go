package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"oxios/kernel/sys"
)

const (
	describeTimeout = 15 * time.Second // for a list of models or a description
	maxList         = 16 << 20         // bytes of one
)

// Models lists what the endpoint offers, with what the endpoint or the
// catalogue says about each model.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	var models []Model
	var err error
	switch c.ep.Kind {
	case KindOllama:
		models, err = c.ollamaModels(ctx)
	case KindLMStudio:
		if models, err = c.lmStudioModels(ctx); err != nil {
			models, err = c.listedModels(ctx) // older than its own list
		}
	default:
		models, err = c.listedModels(ctx)
		if err == nil && c.ep.Kind == KindLlamaCpp {
			c.llamaCppProps(ctx, models)
		}
	}
	if err != nil {
		return nil, c.explain(ctx, err, "", nil).told
	}
	for i := range models {
		models[i].Provider = c.ep.ID
		c.catalog.Fill(c.ep, &models[i])
	}
	slices.SortFunc(models, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(models, func(a, b Model) bool { return a.ID == b.ID }), nil
}

// describe fetches a JSON document.
func (c *Client) describe(ctx context.Context, method, url string, body any, into any) error {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	resp, err := c.do(ctx, method, url, raw)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := errorOf(resp); err != nil {
		return err
	}
	data, err := io.ReadAll(limitBody(resp.Body, maxList))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return c.fault(sys.CodeProvider, false, "Check the address: it usually ends with /v1.",
			"%s does not answer like a model server at %s.", c.ep.name(), safeURL(url))
	}
	return nil
}

// listedModel is the union of what servers write into /models.
type listedModel struct {
	ID            string `json:"id"`
	ContextLength int    `json:"context_length"`     // OpenRouter, Together
	ContextWindow int    `json:"context_window"`     // Groq
	MaxModelLen   int    `json:"max_model_len"`      // vLLM
	MaxContext    int    `json:"max_context_length"` // Mistral, LM Studio
	Loaded        int    `json:"loaded_context_length"`
	MaxInput      int    `json:"max_input_tokens"` // Anthropic
	Type          string `json:"type"`
	Meta          *struct {
		Trained int `json:"n_ctx_train"`
	} `json:"meta"` // llama.cpp
	Parameters   []string `json:"supported_parameters"`
	Architecture *struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"`
	Pricing      json.RawMessage `json:"pricing"`
	Capabilities json.RawMessage `json:"capabilities"`
}

func (c *Client) listedModels(ctx context.Context) ([]Model, error) {
	var raw json.RawMessage
	if err := c.describe(ctx, http.MethodGet, c.ep.BaseURL+"/models", nil, &raw); err != nil {
		return nil, err
	}
	return c.parseList(raw)
}

func (c *Client) parseList(raw json.RawMessage) ([]Model, error) {
	var doc struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		if json.Unmarshal(raw, &doc.Data) != nil { // Together sends a bare list
			return nil, c.fault(sys.CodeProvider, false, "Check the address: it usually ends with /v1.", "%s sent no list of models.", c.ep.name())
		}
	}
	var out []Model
	for _, item := range doc.Data {
		var m listedModel
		if json.Unmarshal(item, &m) != nil || m.ID == "" || strings.HasPrefix(m.Type, "embedding") {
			continue
		}
		out = append(out, m.model())
	}
	return out, nil
}

func (m listedModel) model() Model {
	out := Model{ID: m.ID}
	for _, n := range []int{m.Loaded, m.ContextLength, m.ContextWindow, m.MaxModelLen, m.MaxContext, m.MaxInput} {
		if n > 0 {
			out.ContextLength = n
			break
		}
	}
	if out.ContextLength == 0 && m.Meta != nil {
		out.ContextLength = max(m.Meta.Trained, 0)
	}
	if len(m.Parameters) > 0 {
		out.Tools = flag(slices.Contains(m.Parameters, "tools"))
		out.Reasoning = flag(slices.Contains(m.Parameters, "reasoning"))
	}
	if m.Architecture != nil && len(m.Architecture.Input) > 0 {
		out.Images = flag(slices.Contains(m.Architecture.Input, "image"))
	}
	switch m.Type {
	case "vlm":
		out.Images = flag(true)
	case "llm":
		out.Images = flag(false)
	}
	var names []string
	if json.Unmarshal(m.Capabilities, &names) == nil && m.Capabilities != nil {
		out.Tools = flag(slices.Contains(names, "tool_use") || slices.Contains(names, "tools"))
	}
	var abilities struct {
		Tools  *bool `json:"function_calling"`
		Vision *bool `json:"vision"`
	}
	if json.Unmarshal(m.Capabilities, &abilities) == nil {
		if abilities.Tools != nil {
			out.Tools = abilities.Tools
		}
		if abilities.Vision != nil {
			out.Images = abilities.Vision
		}
	}
	out.Price = listedPrice(m.Pricing)
	return out
}

// listedPrice reads OpenRouter's prices: text, in USD per token.
func listedPrice(raw json.RawMessage) *Price {
	var p struct {
		Prompt     string `json:"prompt"`
		Completion string `json:"completion"`
		CacheRead  string `json:"input_cache_read"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &p) != nil {
		return nil
	}
	in, err1 := strconv.ParseFloat(p.Prompt, 64)
	out, err2 := strconv.ParseFloat(p.Completion, 64)
	if err1 != nil || err2 != nil || in < 0 || out < 0 || in > 1 || out > 1 {
		return nil
	}
	cached, err := strconv.ParseFloat(p.CacheRead, 64)
	if err != nil || cached < 0 || cached > in {
		cached = in
	}
	return &Price{Input: in * 1e6, CachedInput: cached * 1e6, Output: out * 1e6}
}

func flag(b bool) *bool { return &b }

func (c *Client) lmStudioModels(ctx context.Context) ([]Model, error) {
	var raw json.RawMessage
	if err := c.describe(ctx, http.MethodGet, c.ep.root()+"/api/v0/models", nil, &raw); err != nil {
		return nil, err
	}
	return c.parseList(raw)
}

// llamaCppProps replaces the trained context length by the one that the server
// was started with.
func (c *Client) llamaCppProps(ctx context.Context, models []Model) {
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities *struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
	}
	if c.describe(ctx, http.MethodGet, c.ep.root()+"/props", nil, &props) != nil {
		return // a newer or older server; the list says what it says
	}
	for i := range models {
		if props.Settings.Context > 0 {
			models[i].ContextLength = props.Settings.Context
		}
		if props.Modalities != nil {
			models[i].Images = flag(props.Modalities.Vision)
		}
	}
}

func (c *Client) ollamaModels(ctx context.Context) ([]Model, error) {
	var tags struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := c.describe(ctx, http.MethodGet, c.ep.root()+"/api/tags", nil, &tags); err != nil {
		return nil, err
	}
	out := make([]Model, len(tags.Models))
	chat := make([]bool, len(tags.Models))
	var g errgroup.Group
	g.SetLimit(4)
	for i, tag := range tags.Models {
		out[i], chat[i] = Model{ID: tag.Name}, true
		g.Go(func() error {
			chat[i] = c.ollamaShow(ctx, &out[i])
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var kept []Model
	for i := range out {
		if chat[i] && out[i].ID != "" {
			kept = append(kept, out[i])
		}
	}
	return kept, nil
}

// ollamaShow fills in what Ollama knows of a model, and reports whether it is
// one to talk to. Unknown counts as yes.
func (c *Client) ollamaShow(ctx context.Context, m *Model) bool {
	var show struct {
		Capabilities []string                   `json:"capabilities"`
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	if err := c.describe(ctx, http.MethodPost, c.ep.root()+"/api/show", map[string]string{"model": m.ID}, &show); err != nil {
		return true
	}
	for key, raw := range show.Info {
		var n int
		if strings.HasSuffix(key, ".context_length") && json.Unmarshal(raw, &n) == nil && n > 0 {
			m.ContextLength = n
		}
	}
	if len(show.Capabilities) == 0 {
		return true
	}
	m.Tools = flag(slices.Contains(show.Capabilities, "tools"))
	m.Images = flag(slices.Contains(show.Capabilities, "vision"))
	m.Reasoning = flag(slices.Contains(show.Capabilities, "thinking"))
	return slices.Contains(show.Capabilities, "completion")
}

// Describe returns what is known about one model: from the endpoint where it
// answers, else from the catalogue.
func (c *Client) Describe(ctx context.Context, id string) (Model, error) {
	models, err := c.Models(ctx)
	for _, m := range models {
		if m.ID == id {
			return m, nil
		}
	}
	m := Model{ID: id, Provider: c.ep.ID}
	c.catalog.Fill(c.ep, &m)
	var told *sys.Error
	if err != nil && errors.As(err, &told) {
		return m, told
	}
	return m, nil
}
