package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"oxios/kernel/limit"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Where a provider comes from.
const (
	sourceConfig     = "config"      // config.toml
	sourceWindow     = "window"      // added by the person; kept in the database
	sourceEnv        = "environment" // a key or an address in the environment
	sourceDiscovered = "discovered"  // a server on this machine that answered
	sourceDemo       = "demo"        // the scripted endpoint
)

// fresh is how long a look around this machine, and a list of models, is good
// for.
const fresh = time.Minute

// maxLocalContext is how many tokens of context a model on this machine is
// asked to hold at most.
const maxLocalContext = 32768

// engine knows the providers, and opens the model of a run.
type engine struct {
	k         *Kernel
	catalogue func() *llm.Catalogue // read when it is first needed

	pricesProblem atomic.Pointer[sys.Error] // of the person's own list

	breakers *limit.Breakers
	rates    limit.Rates

	mu      sync.Mutex
	found   []llm.Found
	foundAt time.Time
	clients map[string]*client // by provider id
}

// client is a provider that was opened, with what limits it.
type client struct {
	*llm.Client
	print   string // of the endpoint that it was opened for
	models  []llm.Model
	listed  time.Time
	listErr error

	unreached bool // the newest request did not arrive
}

// entry is a provider as the engine knows it.
type entry struct {
	llm.Endpoint
	source  string
	where   string // which variable or server it was found as
	enabled bool
	demo    bool
	model   string // the model that the environment, or the person, names with it
	running bool
	problem sys.Words
	models  []llm.Model // of a discovered server
}

// saved is a provider that the person added, as the database keeps it.
type saved struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	BaseURL  string `json:"base_url"`
	ProxyURL string `json:"proxy_url,omitempty"`
	CAFile   string `json:"ca_file,omitempty"`
	Model    string `json:"model,omitempty"` // the one that the person entered with it
	Enabled  bool   `json:"enabled"`
}

func newEngine(k *Kernel) *engine {
	e := &engine{k: k, breakers: limit.NewBreakers(limit.BreakerConfig{OnChange: func(limit.State) { k.publishStatus() }}), clients: map[string]*client{}}
	e.catalogue = sync.OnceValue(func() *llm.Catalogue {
		cat, err := llm.LoadCatalogue(e.pricesFile())
		if err != nil {
			k.log.Warn("models.toml has an error; the embedded catalogue is used", "error", err)
			e.pricesProblem.Store(sys.AsError(err))
			k.publishStatus()
		}
		return cat
	})
	return e
}

// pricesFile is the person's own list of models, which need not be there.
func (e *engine) pricesFile() string { return filepath.Join(e.k.opts.Home, "models.toml") }

// problemOfPrices is what is wrong with the person's own list of models; nil for
// nothing. It is read where there is one.
func (e *engine) problemOfPrices() *sys.Error {
	if _, err := os.Stat(e.pricesFile()); err != nil {
		return nil
	}
	e.catalogue()
	return e.pricesProblem.Load()
}

// look finds local servers and keys in the environment. Only this machine is
// asked.
func (e *engine) look(ctx context.Context, again bool) []llm.Found {
	e.mu.Lock()
	if !again && !e.foundAt.IsZero() && time.Since(e.foundAt) < fresh {
		defer e.mu.Unlock()
		return e.found
	}
	e.mu.Unlock()
	d := llm.Discovery{Env: e.k.opts.Env}
	if e.k.opts.NoDiscovery { // an address where nothing listens
		d.Ollama, d.LMStudio, d.LlamaCpp = "http://127.0.0.1:1", "http://127.0.0.1:1", "http://127.0.0.1:1"
	}
	found := d.Find(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found, e.foundAt = found, time.Now()
	return found
}

// entries lists all providers. Of two with one id or one address the first
// wins: the environment of Oxios, config.toml, the window, what was found.
func (e *engine) entries(ctx context.Context) ([]entry, error) {
	cfg := e.k.config.get()
	window, err := e.saved(ctx)
	if err != nil {
		return nil, err
	}
	var list []entry
	add := func(n entry) {
		if !slices.ContainsFunc(list, func(o entry) bool { return o.ID == n.ID || (o.BaseURL == n.BaseURL && !n.demo) }) {
			list = append(list, n)
		}
	}
	found := e.look(ctx, false)
	for _, f := range found {
		if f.Endpoint.ID == "env" {
			n := foundEntry(f)
			n.enabled = f.Problem.EN == ""
			add(n)
		}
	}
	for _, p := range cfg.Providers {
		key := ""
		if p.KeyEnv != "" {
			key = e.k.opts.Env(p.KeyEnv)
		}
		add(entry{source: sourceConfig, where: "config.toml", enabled: !p.Disabled, Endpoint: llm.Endpoint{
			ID: p.ID, Name: cmp.Or(p.Name, p.ID), Kind: p.Kind, BaseURL: p.BaseURL, ProxyURL: p.ProxyURL, CAFile: p.CAFile, Headers: p.Headers, Key: key,
			Timeout: llm.Timeouts{FirstByte: time.Duration(p.FirstByteS) * time.Second, Idle: time.Duration(p.IdleS) * time.Second},
		}})
	}
	for _, p := range window {
		add(entry{source: sourceWindow, enabled: p.Enabled, model: p.Model, Endpoint: llm.Endpoint{
			ID: p.ID, Name: p.Name, Kind: p.Kind, BaseURL: p.BaseURL, ProxyURL: p.ProxyURL, CAFile: p.CAFile,
		}})
	}
	for _, f := range found {
		if f.Endpoint.ID == "env" {
			continue
		}
		n := foundEntry(f)
		// A server here is used as it is found. A key for somewhere else is
		// used once the person chose it.
		n.enabled = f.Problem.EN == "" && (f.Endpoint.Local || cfg.Provider == n.ID)
		add(n)
	}
	if url := e.k.demo.running(); url != "" || cfg.Provider == demoID {
		add(demoEntry(url))
	}
	return list, nil
}

func foundEntry(f llm.Found) entry {
	n := entry{Endpoint: f.Endpoint, source: sourceEnv, where: f.Source, running: f.Running, problem: f.Problem, models: f.Models}
	if f.Endpoint.Local && f.Endpoint.ID != "env" {
		n.source = sourceDiscovered
	}
	if n.source == sourceEnv && len(f.Models) > 0 {
		n.model = f.Models[0].ID
	}
	return n
}

func (e *engine) entry(ctx context.Context, id string) (entry, error) {
	list, err := e.entries(ctx)
	if err != nil {
		return entry{}, err
	}
	for _, n := range list {
		if n.ID == id {
			return n, nil
		}
	}
	return entry{}, errNoProvider(id)
}

func (e *engine) saved(ctx context.Context) ([]saved, error) {
	raw, ok, err := e.k.store.Get(ctx, "providers")
	if err != nil || !ok {
		return nil, err
	}
	var list []saved
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		return nil, fmt.Errorf("read providers: %w", err)
	}
	return list, nil
}

// save keeps the providers. The tests of those that were removed are forgotten:
// another one may get such an id.
func (e *engine) save(ctx context.Context, list []saved, removed ...string) error {
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return e.k.store.Write(ctx, func(tx *store.Tx) error {
		for _, id := range removed {
			if err := e.k.store.Put(tx, "test:"+id, ""); err != nil {
				return err
			}
		}
		return e.k.store.Put(tx, "providers", string(raw))
	})
}

// client opens a provider, or returns the one that is open.
func (e *engine) client(ctx context.Context, n entry) (*client, error) {
	if n.demo {
		url, err := e.k.demo.start(e.k)
		if err != nil {
			return nil, err
		}
		n.BaseURL = url
	}
	if n.Key == "" && !n.Local && !n.demo {
		key, err := e.k.keys.Get(ctx, n.ID, n.BaseURL)
		if err != nil && sys.CodeOf(err) != sys.CodeNotFound {
			return nil, err
		}
		n.Key = key
	}
	if n.Key != "" {
		e.k.redact.AddSecret(n.Key)
	}
	cfg := e.k.config.get()
	print := fmt.Sprint(n.Kind, n.BaseURL, n.Key, n.ProxyURL, n.CAFile, n.Headers, n.Timeout, cfg.RequestsPerMinute)
	e.mu.Lock()
	defer e.mu.Unlock()
	if c, ok := e.clients[n.ID]; ok && c.print == print {
		return c, nil
	}
	opened, err := llm.New(n.Endpoint, llm.WithCatalogue(e.catalogue()), llm.WithLogger(e.k.log))
	if err != nil {
		return nil, err
	}
	if old, ok := e.clients[n.ID]; ok {
		old.Close()
	}
	e.breakers.Reset(n.ID) // other settings, another chance
	e.rates.Set(n.ID, cfg.RequestsPerMinute)
	c := &client{Client: opened, print: print}
	e.clients[n.ID] = c
	return c, nil
}

// models lists what a provider offers; a list younger than a minute is taken as
// it is.
func (e *engine) models(ctx context.Context, n entry, again bool) ([]llm.Model, error) {
	c, err := e.client(ctx, n)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	if !again && !c.listed.IsZero() && time.Since(c.listed) < fresh {
		defer e.mu.Unlock()
		return c.models, c.listErr
	}
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := c.Models(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	c.listed, c.listErr = time.Now(), err
	if err == nil {
		c.models = list
	}
	return c.models, err
}

// choice is a provider and a model.
type choice struct {
	provider, model string
	demo            bool
}

func newChoice(provider, model string) choice {
	return choice{provider: provider, model: model, demo: provider == demoID || model == demoModel}
}

// choose decides which model a conversation uses: the one it names, else the
// environment's, else the configured one. Which answer in its place when it
// cannot, the person says, see [engine.fallbacks].
func (e *engine) choose(ctx context.Context, provider, model string) (choice, error) {
	cfg := e.k.config.get()
	list, err := e.entries(ctx)
	if err != nil {
		return choice{}, err
	}
	if model == "" {
		for _, n := range list {
			if n.ID == "env" && n.enabled && (provider == "" || provider == n.ID) {
				return e.firstModel(ctx, n)
			}
		}
		if provider == "" || provider == cfg.Provider {
			provider, model = cfg.Provider, cfg.Model
		}
	}
	if provider == "" && model == "" {
		for _, n := range list { // what the environment names cannot be used: the person is to hear why
			if n.ID == "env" && n.problem.EN != "" {
				return choice{}, sys.Errorf(sys.CodeInvalid, "The model that the environment names cannot be used: %s Nothing was sent.", n.problem).
					WithHint("Correct OXIOS_BASE_URL, OXIOS_API_KEY and OXIOS_MODEL, or choose a model in Settings, Models.")
			}
		}
		return choice{}, sys.Errorf(sys.CodeUnavailable, "No model is chosen yet. Nothing was sent.").
			WithHint("Choose one in Settings, Models; set OXIOS_BASE_URL and OXIOS_MODEL; or try the offline demo with `oxios demo`.")
	}
	if provider == "" {
		return e.providerOf(ctx, list, model)
	}
	for _, n := range list {
		if n.ID == provider {
			if model == "" {
				return e.firstModel(ctx, n)
			}
			return newChoice(n.ID, model), nil
		}
	}
	if gone := newChoice(provider, model); model != "" && len(e.fallbacks(ctx, gone)) > 0 {
		return gone, nil // as a server on this machine that stopped: others answer in its place
	}
	_, err = e.entry(ctx, provider)
	return choice{}, err
}

func (e *engine) firstModel(ctx context.Context, n entry) (choice, error) {
	if n.model != "" {
		return newChoice(n.ID, n.model), nil
	}
	list, err := e.models(ctx, n, false)
	if err != nil {
		return choice{}, err
	}
	if len(list) == 0 {
		return choice{}, sys.Errorf(sys.CodeUnavailable, "%s offers no model.", n.Name).WithHint("Load one there, or name one with --model.")
	}
	return newChoice(n.ID, usual(list)), nil
}

// providerOf finds whose model it is: "provider/model", a model that a provider
// here lists, else the first provider that may be asked for it.
func (e *engine) providerOf(ctx context.Context, list []entry, model string) (choice, error) {
	if id, rest, ok := strings.Cut(model, "/"); ok {
		for _, n := range list {
			if n.ID == id {
				return newChoice(id, rest), nil
			}
		}
	}
	var first *entry
	for i, n := range list {
		if !n.enabled && n.source != sourceEnv {
			continue
		}
		if n.model == model {
			return newChoice(n.ID, model), nil
		}
		known := n.models
		if n.enabled {
			known, _ = e.models(ctx, n, false)
		}
		if slices.ContainsFunc(known, func(m llm.Model) bool { return m.ID == model }) {
			return newChoice(n.ID, model), nil
		}
		if first == nil && !n.Local {
			first = &list[i]
		}
	}
	if first == nil {
		return choice{}, sys.Errorf(sys.CodeUnknownModel, "No provider here offers the model %q. Nothing was sent.", model).
			WithHint("See Settings, Models for what there is.")
	}
	return newChoice(first.ID, model), nil
}

// chosen is the model of one run, ready to be called.
type chosen struct {
	*client
	engine          *engine
	provider, model string
	contextLength   int
	entry           *entry // of a model whose window nothing tells, so that its provider is asked when it matters
	chatOnly, demo  bool
	blind           bool // known to see no pictures
	local           bool
	reasons         bool // known to think before it answers
	price           *llm.Price
	missing         *sys.Error // why the run's own model could not be readied, where this one stands in for it
}

// open readies the model of a run.
func (e *engine) open(ctx context.Context, provider, model string) (*chosen, error) {
	n, err := e.entry(ctx, provider)
	if err != nil {
		return nil, err
	}
	c, err := e.client(ctx, n)
	if err != nil {
		return nil, err
	}
	out := &chosen{engine: e, client: c, provider: provider, model: model, demo: newChoice(provider, model).demo, local: n.Local}
	m := llm.Model{ID: model, Provider: provider}
	// A server on this machine knows its models best. A provider elsewhere is
	// not asked again for each run: its list is used when it is at hand.
	known := c.models
	if n.Local {
		known, _ = e.models(ctx, n, false)
	}
	if i := slices.IndexFunc(known, func(k llm.Model) bool { return k.ID == model }); i >= 0 {
		m = known[i]
	}
	e.catalogue().Fill(n.Endpoint, &m)
	if t, ok := e.test(ctx, provider, model); ok {
		t.Apply(&m)
	}
	out.chatOnly, out.price = m.ChatOnly(), m.Price
	if m.ContextLength == 0 && !n.Local && !out.demo {
		out.entry = &n
	}
	out.contextLength = windowOf(n.Endpoint, m.ContextLength)
	out.reasons = m.Reasoning != nil && *m.Reasoning
	out.blind = m.Images != nil && !*m.Images
	return out, nil
}

// askedWindow is what a provider said of a model's window when it was asked.
type askedWindow struct {
	Tokens int       `json:"tokens"` // 0: it did not say
	At     time.Time `json:"at"`
}

// window asks for the window of a model that nothing else tells. A run asks when
// its conversation is no longer short: a first message needs no answer to this.
func (c *chosen) window(ctx context.Context) int {
	if c.entry == nil {
		return c.contextLength
	}
	return c.engine.askWindow(ctx, *c.entry, c.model)
}

// askWindow asks a provider for the window of a model, once a day.
func (e *engine) askWindow(ctx context.Context, n entry, model string) int {
	key := "window:" + n.ID + ":" + model
	var known askedWindow
	if raw, ok, err := e.k.store.Get(ctx, key); err == nil && ok && json.Unmarshal([]byte(raw), &known) == nil && e.k.clock.Now().Sub(known.At) < 24*time.Hour {
		return known.Tokens
	}
	asking, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	list, err := e.models(asking, n, false)
	if err != nil {
		return known.Tokens
	}
	known = askedWindow{At: e.k.clock.Now()}
	if i := slices.IndexFunc(list, func(m llm.Model) bool { return m.ID == model }); i >= 0 {
		known.Tokens = list[i].ContextLength
	}
	raw, err := json.Marshal(known)
	if err == nil {
		err = e.k.store.Write(ctx, func(tx *store.Tx) error { return e.k.store.Put(tx, key, string(raw)) })
	}
	if err != nil {
		e.k.log.WarnContext(ctx, "The window of a model could not be kept", "model", model, "error", err)
	}
	return known.Tokens
}

// windowOf is how much of its context length a model is asked to hold: all of a
// large one costs memory that this machine may not have.
func windowOf(ep llm.Endpoint, length int) int {
	if ep.Kind == llm.KindOllama {
		return min(length, maxLocalContext)
	}
	return length
}

func (c *chosen) complete(ctx context.Context, req llm.Request, emit func(llm.Delta)) (*llm.Response, error) {
	if err := c.engine.rates.Wait(ctx, c.provider); err != nil {
		return nil, err
	}
	var resp *llm.Response
	err := c.engine.breakers.Do(ctx, c.provider, c.Endpoint().Name, func(ctx context.Context) (err error) {
		resp, err = c.Complete(ctx, req, emit)
		c.engine.mu.Lock()
		c.unreached = errors.Is(err, llm.ErrUnreachable)
		c.engine.mu.Unlock()
		return err
	})
	return resp, err
}

// hearAgain lets a provider be asked at once that could not be reached when it was
// asked last: nothing has arrived there, and who asks again has perhaps just
// started it. One that answered with failures is left alone for its pause, whoever
// asks.
func (e *engine) hearAgain(provider string) {
	e.mu.Lock()
	c := e.clients[provider]
	again := c != nil && c.unreached
	e.mu.Unlock()
	if again {
		e.breakers.Reset(provider)
	}
}

// free reports whether nothing is charged for the model: what runs on this
// machine is free, whatever server offers it, unless a price is known.
func (c *chosen) free() bool {
	return c.demo || (c.price == nil && c.Endpoint().Here()) || (c.price != nil && c.price.Free())
}

// cost says what a call cost. A price that is not known stays unknown; it is
// never 0.
func (c *chosen) cost(u llm.Usage) store.Cost {
	cost := store.Cost{Calls: 1, Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning}
	switch {
	case c.free():
		cost.Free = true
	case c.price == nil || !u.Reported:
		cost.Unknown = true
	default:
		cost.USD = c.price.Cost(u)
	}
	return cost
}

// nameOf is the name of a provider that was opened, else its id.
func (e *engine) nameOf(provider string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.clients[provider]; c != nil {
		return cmp.Or(c.Endpoint().Name, provider)
	}
	return provider
}

func testKey(provider, model string) string { return "test:" + provider + ":" + model }

func (e *engine) test(ctx context.Context, provider, model string) (llm.TestReport, bool) {
	var r llm.TestReport
	raw, ok, err := e.k.store.Get(ctx, testKey(provider, model))
	if err != nil || !ok || json.Unmarshal([]byte(raw), &r) != nil {
		return r, false
	}
	return r, true
}

// The provider of the scripted endpoint, and the model that it names: whoever
// plays that model is the demo, wherever it listens.
const (
	demoID    = "demo"
	demoModel = "oxios-demo"
)

func demoEntry(url string) entry {
	return entry{source: sourceDemo, enabled: true, demo: true, running: url != "", Endpoint: llm.Endpoint{
		ID: demoID, Name: "Demo", Kind: llm.KindOpenAI, BaseURL: cmp.Or(url, "http://127.0.0.1/v1"), Local: true,
	}}
}

// demoServer is the scripted endpoint, once it was started.
type demoServer struct {
	mu  sync.Mutex
	url string
}

func (d *demoServer) running() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.url
}

func (d *demoServer) start(k *Kernel) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.url != "" {
		return d.url, nil
	}
	if k.opts.Demo == nil {
		return "", sys.Errorf(sys.CodeUnavailable, "This Oxios has no demo.")
	}
	url, err := k.opts.Demo(k.background)
	if err != nil {
		return "", sys.Errorf(sys.CodeUnavailable, "The demo could not be started: %w.", err)
	}
	d.url = url
	return url, nil
}
