package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"sync"

	"oxios/kernel/event"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// TestReport is what a real test of a model found.
type TestReport = llm.TestReport

// Provider is an endpoint as the settings show it. It never holds a key.
type Provider struct {
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	Kind     string      `json:"kind"` // openai, ollama, lmstudio, llamacpp
	BaseURL  string      `json:"base_url"`
	Local    bool        `json:"local"` // on this machine: free, and nothing leaves
	Enabled  bool        `json:"enabled"`
	Source   string      `json:"source"` // config, window, environment, discovered, demo
	Where    string      `json:"where,omitempty"`
	KeyTail  string      `json:"key_tail,omitempty"`  // the key's last characters
	KeyWhere string      `json:"key_where,omitempty"` // keyring, file or environment
	ProxyURL string      `json:"proxy_url,omitempty"`
	CAFile   string      `json:"ca_file,omitempty"`
	Running  bool        `json:"running"`
	Problem  sys.Words   `json:"problem,omitzero"` // why it cannot be used as it is
	Demo     bool        `json:"demo"`
	Models   []Model     `json:"models,omitempty"` // as far as they are known without asking
	Test     *TestReport `json:"test,omitempty"`   // the last one
}

// Model is a model as the settings and the composer show it. A nil flag means
// unknown, as does a nil price.
type Model struct {
	ID            string     `json:"id"`
	Provider      string     `json:"provider"`
	ProviderName  string     `json:"provider_name"`
	ContextLength int        `json:"context_length,omitempty"`
	Window        int        `json:"window,omitempty"` // tokens of it that a run uses at most
	Tools         *bool      `json:"tools,omitempty"`
	Images        *bool      `json:"images,omitempty"`
	Reasoning     *bool      `json:"reasoning,omitempty"`
	ChatOnly      bool       `json:"chat_only"`
	Price         *llm.Price `json:"price,omitempty"` // USD per million tokens
	Free          bool       `json:"free"`
	Favourite     bool       `json:"favourite"`
	Default       bool       `json:"default"`
	Demo          bool       `json:"demo"`
}

// ProviderInput is a provider as a person enters it.
type ProviderInput struct {
	ID       string `json:"id,omitempty"` // "" adds one
	Name     string `json:"name"`         // "" is the host of its address
	Kind     string `json:"kind,omitempty"`
	BaseURL  string `json:"base_url"`
	Key      string `json:"key,omitempty"` // "" keeps the old one
	ProxyURL string `json:"proxy_url,omitempty"`
	CAFile   string `json:"ca_file,omitempty"`
	Model    string `json:"model,omitempty"`   // the one to use; "" keeps the old one, or takes a suitable one of its list
	Enabled  *bool  `json:"enabled,omitempty"` // default true
}

// ModelQuery selects models.
type ModelQuery struct {
	Search   string `json:"search,omitempty"`   // words that all occur in the model's or provider's name
	Provider string `json:"provider,omitempty"` // "" is all
	Refresh  bool   `json:"refresh,omitempty"`  // ask the providers again
}

// Found is an endpoint that a look around this machine turned up.
type Found struct {
	Provider Provider  `json:"provider"`
	Source   string    `json:"source"` // the variable or the server's name
	Running  bool      `json:"running"`
	Named    bool      `json:"named"` // the environment names its address, its key and its model: the person's word for it
	Problem  sys.Words `json:"problem,omitzero"`
}

// Providers lists the endpoints that are known. No provider elsewhere is asked.
func (a *InfraAPI) Providers(ctx context.Context) ([]Provider, error) {
	return guard(ctx, a.caller, action{call: "infra.providers", resource: "providers"}, func(ctx context.Context) ([]Provider, error) {
		list, err := a.k.engine.entries(ctx)
		if err != nil {
			return nil, err
		}
		out := []Provider{}
		for _, n := range list {
			out = append(out, a.k.provider(ctx, n))
		}
		return out, nil
	})
}

func (k *Kernel) provider(ctx context.Context, n entry) Provider {
	p := Provider{
		ID: n.ID, Name: cmp.Or(n.Name, n.ID), Kind: cmp.Or(n.Kind, llm.KindOpenAI), BaseURL: n.BaseURL, Local: n.Local, Enabled: n.enabled, Source: n.source, Where: n.where,
		ProxyURL: n.ProxyURL, CAFile: n.CAFile, Running: n.running, Problem: n.problem, Demo: n.demo,
	}
	if n.Key != "" {
		p.KeyWhere = "environment"
		if len(n.Key) >= 12 {
			p.KeyTail = n.Key[len(n.Key)-4:]
		}
	} else if infos, err := k.keys.List(); err == nil {
		for _, i := range infos {
			if i.Name == n.ID {
				p.KeyWhere, p.KeyTail = i.Where, i.Tail
			}
		}
	}
	k.engine.mu.Lock()
	known := n.models
	if c, ok := k.engine.clients[n.ID]; ok && c.models != nil {
		known = c.models
	}
	k.engine.mu.Unlock()
	p.Models = k.modelViews(ctx, n, known)
	if raw, ok, err := k.store.Get(ctx, "test:"+n.ID); err == nil && ok {
		var t TestReport
		if json.Unmarshal([]byte(raw), &t) == nil {
			p.Test = &t
		}
	}
	return p
}

func (k *Kernel) modelViews(ctx context.Context, n entry, list []llm.Model) []Model {
	cfg := k.config.get()
	favourites := k.favourites(ctx)
	out := make([]Model, 0, len(list))
	for _, m := range list {
		k.engine.catalogue().Fill(n.Endpoint, &m)
		if t, ok := k.engine.test(ctx, n.ID, m.ID); ok {
			t.Apply(&m)
		}
		v := Model{
			ID: m.ID, Provider: n.ID, ProviderName: cmp.Or(n.Name, n.ID), ContextLength: m.ContextLength, Tools: m.Tools, Images: m.Images, Reasoning: m.Reasoning,
			ChatOnly: m.ChatOnly(), Price: m.Price, Free: n.Local || (m.Price != nil && m.Price.Free()), Demo: n.demo,
			Favourite: slices.Contains(favourites, n.ID+"/"+m.ID), Default: cfg.Provider == n.ID && cfg.Model == m.ID,
		}
		v.Window = windowOf(n.Endpoint, v.ContextLength)
		out = append(out, v)
	}
	return out
}

// Models lists the models of the providers that are switched on: favourites
// first, then those on this machine. A provider that does not answer is left
// out; TestProvider says why.
func (a *InfraAPI) Models(ctx context.Context, q ModelQuery) ([]Model, error) {
	return guard(ctx, a.caller, action{call: "infra.models", resource: "models"}, func(ctx context.Context) ([]Model, error) {
		list, err := a.k.engine.entries(ctx)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(n entry) bool { return !n.enabled || (q.Provider != "" && n.ID != q.Provider) })
		found := make([][]Model, len(list))
		var wg sync.WaitGroup
		for i, n := range list {
			wg.Go(func() {
				models, err := a.k.engine.models(ctx, n, q.Refresh)
				if err != nil {
					a.k.log.Info("A provider did not list its models", "provider", n.ID, "error", err)
				}
				if n.model != "" && !slices.ContainsFunc(models, func(m llm.Model) bool { return m.ID == n.model }) {
					models = append([]llm.Model{{ID: n.model, Provider: n.ID}}, models...)
				}
				found[i] = a.k.modelViews(ctx, n, models)
			})
		}
		wg.Wait()
		out := slices.Concat(found...)
		words := strings.Fields(strings.ToLower(q.Search))
		out = slices.DeleteFunc(out, func(m Model) bool {
			name := strings.ToLower(m.ID + " " + m.ProviderName)
			return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(name, w) })
		})
		rank := func(m Model) int {
			switch {
			case m.Default:
				return 0
			case m.Favourite:
				return 1
			case m.Free:
				return 2
			}
			return 3
		}
		sort.SliceStable(out, func(i, j int) bool { return rank(out[i]) < rank(out[j]) })
		return out, nil
	})
}

func (k *Kernel) favourites(ctx context.Context) []string {
	var list []string
	if raw, ok, err := k.store.Get(ctx, "favourites"); err == nil && ok {
		_ = json.Unmarshal([]byte(raw), &list) // an unreadable list is an empty one
	}
	return list
}

// SetFavourite marks a model, so that menus show it first.
func (a *InfraAPI) SetFavourite(ctx context.Context, provider, model string, on bool) error {
	_, err := guard(ctx, a.caller, action{call: "infra.setFavourite", resource: "model:" + provider + "/" + model}, func(ctx context.Context) (struct{}, error) {
		name := provider + "/" + model
		list := slices.DeleteFunc(a.k.favourites(ctx), func(n string) bool { return n == name })
		if on {
			list = append(list, name)
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.Put(tx, "favourites", string(raw)) })
	})
	return err
}

// SaveProvider adds a provider, or changes one that was added in the window,
// without a test; see [InfraAPI.TryProvider]. A name that is missing is the host
// of its address. The key goes to the keyring or the encrypted file, never to config.toml.
func (a *InfraAPI) SaveProvider(ctx context.Context, in ProviderInput) (Provider, error) {
	return guard(ctx, a.caller, action{call: "infra.saveProvider", resource: "provider:" + cmp.Or(in.ID, in.Name, hostPort(in.BaseURL)), meta: map[string]any{"base_url": in.BaseURL}}, func(ctx context.Context) (Provider, error) {
		return a.k.saveProvider(ctx, in, nil)
	})
}

func freeID(name string, taken []saved) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	id = strings.Trim(id, "-")
	if id == "" || id == "env" || id == demoID {
		id = "provider"
	}
	base := id
	for n := 2; slices.ContainsFunc(taken, func(o saved) bool { return o.ID == id }); n++ {
		id = base + "-" + string(rune('0'+n%10))
	}
	return id
}

func (k *Kernel) announceProvider(ctx context.Context, id string) (Provider, error) {
	n, err := k.engine.entry(ctx, id)
	if err != nil {
		return Provider{}, err
	}
	p := k.provider(ctx, n)
	k.publish(event.ProviderChange, scope{}, p)
	k.publishStatus()
	return p, nil
}

// RemoveProvider removes a provider that was added in the window, and its key.
func (a *InfraAPI) RemoveProvider(ctx context.Context, id string) error {
	_, err := guard(ctx, a.caller, action{call: "infra.removeProvider", resource: "provider:" + id}, func(ctx context.Context) (struct{}, error) {
		list, err := a.k.engine.saved(ctx)
		if err != nil {
			return struct{}{}, err
		}
		n := len(list)
		list = slices.DeleteFunc(list, func(o saved) bool { return o.ID == id })
		if len(list) == n {
			return struct{}{}, sys.Errorf(sys.CodeNotFound, "The provider %q was not added here, so it cannot be removed here.", id).
				WithHint("It comes from config.toml, the environment or a server on this machine.")
		}
		if err := a.k.keys.Delete(ctx, id); err != nil && sys.CodeOf(err) != sys.CodeNotFound {
			return struct{}{}, err
		}
		return struct{}{}, a.k.engine.save(ctx, list, id)
	})
	return err
}

// UseModel makes a model the default of new conversations.
func (a *InfraAPI) UseModel(ctx context.Context, provider, model string) error {
	_, err := guard(ctx, a.caller, action{call: "infra.useModel", resource: "model:" + provider + "/" + model}, func(ctx context.Context) (struct{}, error) {
		if _, err := a.k.engine.entry(ctx, provider); err != nil {
			return struct{}{}, err
		}
		for _, kv := range [][2]string{{"provider", provider}, {"model", model}} {
			if err := a.k.config.set(kv[0], kv[1]); err != nil {
				return struct{}{}, err
			}
		}
		a.k.publish(event.ConfigChanged, scope{}, a.k.config.view())
		a.k.publishStatus()
		return struct{}{}, nil
	})
	return err
}

// TestProvider makes a real completion, a tool call and a question about an
// image with a model, "" for the provider's first. It costs a few hundred
// tokens. Failures come in the report.
func (a *InfraAPI) TestProvider(ctx context.Context, provider, model string) (TestReport, error) {
	return guard(ctx, a.caller, action{call: "infra.testProvider", network: true, resource: "provider:" + provider}, func(ctx context.Context) (TestReport, error) {
		n, err := a.k.engine.entry(ctx, provider)
		if err != nil {
			return TestReport{}, err
		}
		c, err := a.k.engine.client(ctx, n)
		if err != nil {
			return TestReport{}, err
		}
		if model == "" {
			first, err := a.k.engine.firstModel(ctx, n)
			if err != nil {
				return TestReport{Error: sys.AsError(err), At: a.k.clock.Now()}, nil
			}
			model = first.model
		}
		report := llm.Test(ctx, c.Client, model, nil)
		err = a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.putTest(tx, provider, report) })
		if err == nil {
			_, err = a.k.announceProvider(ctx, provider)
		}
		return report, err
	})
}

// Discover looks for local model servers and for keys in the environment. Only
// this machine is asked, and no key is tried.
func (a *InfraAPI) Discover(ctx context.Context) ([]Found, error) {
	return guard(ctx, a.caller, action{call: "infra.discover", resource: "machine"}, func(ctx context.Context) ([]Found, error) {
		out := []Found{}
		for _, f := range a.k.engine.look(ctx, true) {
			n := foundEntry(f)
			out = append(out, Found{Provider: a.k.provider(ctx, n), Source: f.Source, Running: f.Running, Named: f.Named, Problem: f.Problem})
		}
		return out, nil
	})
}

// StartDemo starts the scripted endpoint and makes it the default model, and puts
// a few files into the folder to work in if that is empty. Its
// answers are labelled: there is no language model behind them.
func (a *InfraAPI) StartDemo(ctx context.Context) (Provider, error) {
	return guard(ctx, a.caller, action{call: "infra.startDemo", resource: "provider:" + demoID}, func(ctx context.Context) (Provider, error) {
		if _, err := a.k.demo.start(a.k); err != nil {
			return Provider{}, err
		}
		n, err := a.k.engine.entry(ctx, demoID)
		if err != nil {
			return Provider{}, err
		}
		first, err := a.k.engine.firstModel(ctx, n)
		if err != nil {
			return Provider{}, err
		}
		for _, kv := range [][2]string{{"provider", demoID}, {"model", first.model}} {
			if err := a.k.config.set(kv[0], kv[1]); err != nil {
				return Provider{}, err
			}
		}
		if err := a.k.fillDemoFolder(); err != nil { // the demo works without
			a.k.log.WarnContext(ctx, "The demo's folder could not be filled", "error", err)
		}
		return a.k.announceProvider(ctx, demoID)
	})
}
