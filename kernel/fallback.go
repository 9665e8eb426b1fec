package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// maxFallbacks is how many models may answer in place of one.
const maxFallbacks = 8

// Fallbacks are the models that answer in place of one that cannot, in their
// order. Nothing but such a list lets a conversation go to another provider.
type Fallbacks struct {
	Provider     string     `json:"provider"`
	ProviderName string     `json:"provider_name"`
	Model        string     `json:"model"`
	Local        bool       `json:"local"`  // it runs on this machine
	Source       string     `json:"source"` // config: written in config.toml, and changed there; window
	Then         []Fallback `json:"then"`
}

// Fallback is one model that answers in place of another one.
type Fallback struct {
	Provider     string    `json:"provider"`
	ProviderName string    `json:"provider_name"`
	Model        string    `json:"model"`
	Local        bool      `json:"local"`
	Crosses      bool      `json:"crosses"`          // what is said goes to another provider than that of the model
	Problem      sys.Words `json:"problem,omitzero"` // why it cannot answer now
}

// Fallbacks lists the models for which others answer when they cannot.
func (a *InfraAPI) Fallbacks(ctx context.Context) ([]Fallbacks, error) {
	return guard(ctx, a.caller, action{call: "infra.fallbacks", resource: "models"}, func(ctx context.Context) ([]Fallbacks, error) {
		return a.k.fallbacks(ctx)
	})
}

// SetFallbacks says which models answer in place of one that cannot, in their
// order, each as "provider/model"; none: nobody does. It is the person's consent
// that a conversation with the model goes on with them, wherever they are.
func (a *InfraAPI) SetFallbacks(ctx context.Context, provider, model string, then []string) ([]Fallbacks, error) {
	of := provider + "/" + model
	act := action{call: "infra.setFallbacks", resource: "model:" + of, meta: map[string]any{"fallbacks": then}}
	return guard(ctx, a.caller, act, func(ctx context.Context) ([]Fallbacks, error) {
		if err := a.k.setFallbacks(ctx, of, then); err != nil {
			return nil, err
		}
		a.k.publish(event.ConfigChanged, scope{}, a.k.config.view())
		return a.k.fallbacks(ctx)
	})
}

func (k *Kernel) setFallbacks(ctx context.Context, of string, then []string) error {
	if _, ok := k.config.get().Fallbacks[of]; ok {
		return sys.Errorf(sys.CodeConflict, "config.toml says what answers in place of %s. Nothing was changed.", of).WithHint("Change it there.")
	}
	if err := checkFallbacks(of, then); err != nil {
		return err
	}
	for _, name := range append([]string{of}, then...) {
		id, _, _ := strings.Cut(name, "/")
		if _, err := k.engine.entry(ctx, id); err != nil && (name != of || len(then) > 0) {
			return err
		}
	}
	all := k.engine.savedFallbacks(ctx)
	if all[of] = then; len(then) == 0 {
		delete(all, of)
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return k.store.Write(ctx, func(tx *store.Tx) error { return k.store.Put(tx, "fallbacks", string(raw)) })
}

// checkFallbacks refuses a list that means nothing.
func checkFallbacks(of string, then []string) error {
	for i, name := range append([]string{of}, then...) {
		provider, model, ok := strings.Cut(name, "/")
		switch {
		case !ok || provider == "" || model == "":
			return sys.Errorf(sys.CodeInvalid, "fallbacks names %q, but must name a model as provider/model", name)
		case i > 0 && (name == of || slices.Contains(then[:i-1], name)):
			return sys.Errorf(sys.CodeInvalid, "fallbacks names %q twice for %s", name, of)
		case i > maxFallbacks:
			return sys.Errorf(sys.CodeInvalid, "fallbacks names more than %d models for %s", maxFallbacks, of)
		}
	}
	return nil
}

func (k *Kernel) fallbacks(ctx context.Context) ([]Fallbacks, error) {
	list, err := k.engine.entries(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[string]entry{}
	for _, n := range list {
		byID[n.ID] = n
	}
	out := []Fallbacks{}
	add := func(source string, all map[string][]string) {
		for _, of := range slices.Sorted(maps.Keys(all)) {
			provider, model, _ := strings.Cut(of, "/")
			n := byID[provider]
			f := Fallbacks{Provider: provider, ProviderName: cmp.Or(n.Name, provider), Model: model, Local: n.Local, Source: source, Then: []Fallback{}}
			for _, name := range all[of] {
				f.Then = append(f.Then, fallbackView(byID, provider, name))
			}
			out = append(out, f)
		}
	}
	written, kept := k.config.get().Fallbacks, k.engine.savedFallbacks(ctx)
	maps.DeleteFunc(kept, func(of string, _ []string) bool { return written[of] != nil })
	add(sourceConfig, written)
	add(sourceWindow, kept)
	return out, nil
}

func fallbackView(byID map[string]entry, of, name string) Fallback {
	id, model, _ := strings.Cut(name, "/")
	n, ok := byID[id]
	f := Fallback{Provider: id, ProviderName: cmp.Or(n.Name, id), Model: model, Local: n.Local, Crosses: !n.Local && id != of}
	if !ok {
		f.Problem = sys.TextOf(errNoProvider(id))
	} else if !n.usable() {
		f.Problem = sys.Say("The provider %s is switched off.", f.ProviderName)
	}
	return f
}

// usable reports whether a provider may be asked when a list names it: a key of
// the environment waits only for somebody to choose its provider.
func (n entry) usable() bool { return n.enabled || (n.source == sourceEnv && n.problem.EN == "") }

func (e *engine) savedFallbacks(ctx context.Context) map[string][]string {
	all := map[string][]string{}
	if raw, ok, err := e.k.store.Get(ctx, "fallbacks"); err == nil && ok {
		_ = json.Unmarshal([]byte(raw), &all) // an unreadable list is an empty one: nothing goes anywhere
	}
	return all
}

// fallbacks returns which models answer in place of c, as the person said.
func (e *engine) fallbacks(ctx context.Context, c choice) []choice {
	of := c.provider + "/" + c.model
	names, ok := e.k.config.get().Fallbacks[of]
	if !ok {
		names = e.savedFallbacks(ctx)[of]
	}
	var list []choice
	for _, name := range names {
		provider, model, _ := strings.Cut(name, "/")
		list = append(list, newChoice(provider, model))
	}
	return list
}

// lineup are the models of a run in the order in which they are asked: its own
// one first.
func (e *engine) lineup(ctx context.Context, own choice) []choice {
	return append([]choice{own}, e.fallbacks(ctx, own)...)
}

// openFirst readies the first model of a lineup that can be readied. A run that
// another one of them answered in goes on with that one: stood names it.
func (e *engine) openFirst(ctx context.Context, line []choice, stood *llm.Stand) (*chosen, error) {
	if stood != nil {
		if c := newChoice(stood.Provider, stood.Model); slices.Contains(line, c) {
			if open, err := e.openStandIn(ctx, c); err == nil {
				return open, nil
			}
		}
	}
	first, err := e.open(ctx, line[0].provider, line[0].model)
	if err == nil {
		return first, nil
	}
	for _, c := range line[1:] {
		if open, oerr := e.openStandIn(ctx, c); oerr == nil {
			open.missing = sys.AsError(err)
			return open, nil
		}
	}
	return nil, err
}

func (e *engine) openStandIn(ctx context.Context, c choice) (*chosen, error) {
	n, err := e.entry(ctx, c.provider)
	if err != nil {
		return nil, err
	}
	if !n.usable() {
		return nil, sys.Errorf(sys.CodeUnavailable, "The provider %s is switched off.", n.Name)
	}
	return e.open(ctx, c.provider, c.model)
}

// Complete makes one model call for the run. When its model cannot answer, and
// nothing of an answer came, the others of the lineup are asked in their order;
// the one that answers makes the run's next calls too. When nobody can, the call
// waits for the first one as it would without the others.
func (m *guardedModel) Complete(ctx context.Context, req llm.Request, emit func(llm.Delta)) (*llm.Response, store.Cost, error) {
	if emit == nil {
		emit = func(llm.Delta) {}
	}
	if err := m.ask(ctx); err != nil {
		return nil, store.Cost{}, err
	}
	asked := m.chosen
	var why error
	wanted := newChoice(asked.provider, asked.model)
	if asked.missing != nil {
		wanted, why, asked.missing = m.line[0], asked.missing, nil
	} else {
		resp, cost, err := m.call(ctx, req, emit, len(m.line) == 1)
		if resp != nil || len(m.line) == 1 || ctx.Err() != nil || !m.called || !cannotAnswer(err) {
			return m.signed(resp, sys.Words{}), cost, err
		}
		why = err
	}
	last := why
	for _, c := range m.line {
		if c == wanted {
			continue
		}
		next, err := m.caller.k.engine.openStandIn(ctx, c)
		if err == nil {
			err = next.takes(req)
		}
		if err != nil {
			last = err
			continue
		}
		m.use(next)
		resp, cost, err := m.standIn(ctx, req, emit, wanted.model, why)
		if err == nil || resp != nil || ctx.Err() != nil {
			return resp, cost, err
		}
		last = err
	}
	m.use(asked)
	if m.patient && !asked.Endpoint().Here() && m.unreached(why) {
		resp, cost, err := m.call(ctx, req, emit, true)
		return m.signed(resp, sys.Words{}), cost, err
	}
	told := sys.AsError(why)
	words, hint := told.Words()
	lastly, _ := sys.AsError(last).Words()
	return nil, store.Cost{}, sys.Errorf(told.Code, "%s None of its fallbacks answered either. The last one: %s", words, lastly).
		WithHint("%s", hint).WithCause(errors.Join(why, last))
}

// ask reads the lineup anew, if there is one: from a model that the person has
// taken out of it the run goes back to its own.
func (m *guardedModel) ask(ctx context.Context) error {
	if len(m.line) == 1 {
		return nil
	}
	e := m.caller.k.engine
	m.line = e.lineup(ctx, m.line[0])
	if slices.Contains(m.line, newChoice(m.chosen.provider, m.chosen.model)) {
		return nil
	}
	own, err := e.open(ctx, m.line[0].provider, m.line[0].model)
	if err != nil {
		return err
	}
	m.use(own)
	return nil
}

// standIn makes a call with a model that stands in for another one. The person
// is told when it begins to answer.
func (m *guardedModel) standIn(ctx context.Context, req llm.Request, emit func(llm.Delta), instead string, why error) (*llm.Response, store.Cost, error) {
	reason, _ := sys.AsError(why).Words()
	who := sys.Words{EN: m.chosen.model}
	if m.chosen.provider != m.line[0].provider {
		who = sys.Say("%s of %s", m.chosen.model, cmp.Or(m.chosen.Endpoint().Name, m.chosen.provider))
	}
	said := sys.Say("%s does not answer, so %s answers. %s", instead, who, reason)
	if m.own() {
		said = sys.Say("%s does not answer, so %s answers again. %s", instead, who, reason)
	}
	told := false
	tell := func() {
		if !told {
			told = true
			emit(llm.Delta{Stand: said})
		}
	}
	resp, cost, err := m.call(ctx, req, func(d llm.Delta) {
		if d.Text != "" || d.Reasoning != "" || d.Tool != "" {
			tell()
		}
		emit(d)
	}, false)
	if resp != nil {
		tell()
	}
	return m.signed(resp, said), cost, err
}

// cannotAnswer reports whether an error says that a model cannot answer now,
// whoever asks: its provider is away, overloaded or out of credit, or does not
// know it. A refused key, a conversation that is too long or a refusal are
// no such errors.
func cannotAnswer(err error) bool {
	switch sys.CodeOf(err) {
	case sys.CodeUnavailable, sys.CodeNetwork, sys.CodeTimeout, sys.CodeQuota, sys.CodeRateLimit, sys.CodeUnknownModel, sys.CodeStreamCut:
		return true
	}
	return errors.Is(err, llm.ErrTrouble)
}

// takes says why a model cannot take a request.
func (c *chosen) takes(req llm.Request) error {
	if c.chatOnly && len(req.Tools) > 0 {
		return sys.Errorf(sys.CodeInvalid, "%s cannot use tools.", c.model)
	}
	if c.blind && slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return len(m.Images) > 0 }) {
		return sys.Errorf(sys.CodeInvalid, "%s does not see pictures.", c.model)
	}
	return nil
}

func (m *guardedModel) own() bool {
	return m.chosen.provider == m.line[0].provider && m.chosen.model == m.line[0].model
}

// use has another model asked from now on.
func (m *guardedModel) use(c *chosen) {
	if c != m.chosen {
		m.chosen, m.mixed = c, true
		m.last, m.lastTokens = nil, 0 // tokens of another model are others
	}
}

// fit makes the request one for the model that is chosen.
func (m *guardedModel) fit(req llm.Request) llm.Request {
	req.Model, req.ContextLength = m.chosen.model, m.chosen.contextLength
	if m.mixed || !m.own() {
		n := 0
		req.Messages = renumber(req.Messages, &n)
	}
	return req
}

// signed notes on an answer which model gave it, if it was not the run's own.
func (m *guardedModel) signed(resp *llm.Response, why sys.Words) *llm.Response {
	if resp != nil && (!m.own() || why.EN != "") {
		resp.Stand = &llm.Stand{Provider: m.chosen.provider, Model: m.chosen.model, Demo: m.chosen.demo, Why: why}
	}
	return resp
}

// stoodIn returns which model made the newest call of a run in place of its own;
// nil when that one did.
func stoodIn(steps []store.Step) *llm.Stand {
	for _, s := range slices.Backward(steps) {
		var m agent.ModelStep
		if s.Kind == store.StepModel && s.Outcome == store.OutcomeOK && json.Unmarshal(s.Result, &m) == nil {
			return m.Stand
		}
	}
	return nil
}

// errNoProvider says that a provider is not known.
func errNoProvider(id string) *sys.Error {
	return sys.Errorf(sys.CodeNotFound, "There is no provider %q.", id).
		WithHint("A local server may have stopped: start it, or choose another model in Settings, Models.")
}
