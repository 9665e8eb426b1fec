package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Trial is what came of trying a provider before it is saved.
type Trial struct {
	Report TestReport `json:"report"`
	Field  string     `json:"field,omitempty"`  // which of the fields has to be corrected: address, key, model, ca_file or proxy_url; "" is none of them
	Models []string   `json:"models,omitempty"` // what it offers, as far as it said so
	Saved  *Provider  `json:"saved,omitempty"`  // the provider, where it answered and was to be saved
}

// trialTime is how long a provider may take for its trial: a person waits.
const trialTime = 2 * time.Minute

// TryProvider tries a provider as a person enters it. With save it is saved, but
// only if it answers: what does not work is not left behind. Failures come in the report, with the field that they are about.
func (a *InfraAPI) TryProvider(ctx context.Context, in ProviderInput, save bool) (Trial, error) {
	return guard(ctx, a.caller, action{call: "infra.tryProvider", network: true, resource: "provider:" + cmp.Or(in.ID, in.Name, hostPort(in.BaseURL)), meta: map[string]any{"base_url": in.BaseURL, "save": save}}, func(ctx context.Context) (Trial, error) {
		trial, tried := a.k.tryProvider(ctx, in)
		if !save || trial.Report.Error != nil || !trial.Report.Answers {
			return trial, nil
		}
		p, err := a.k.saveProvider(ctx, in, &trial.Report)
		if err != nil {
			return trial, err
		}
		a.k.engine.listed(ctx, p.ID, tried)
		trial.Saved = &p
		return trial, nil
	})
}

// tryProvider asks a provider for its models and one of them for an answer.
func (k *Kernel) tryProvider(ctx context.Context, in ProviderInput) (Trial, []llm.Model) {
	model := strings.TrimSpace(in.Model)
	failed := func(field string, err error) (Trial, []llm.Model) {
		return Trial{Field: field, Report: TestReport{Model: model, Error: sys.AsError(err), At: k.clock.Now()}}, nil
	}
	ep := in.endpoint()
	if ep.BaseURL == "" {
		return failed("address", sys.Errorf(sys.CodeInvalid, "The provider needs an address. Nothing was saved.").
			WithHint("Write it like https://api.openai.com/v1 or http://127.0.0.1:11434/v1."))
	}
	if ep.Key == "" && in.ID != "" { // the one that is stored for this address
		key, err := k.keys.Get(ctx, in.ID, ep.BaseURL)
		if err != nil && sys.CodeOf(err) != sys.CodeNotFound {
			return failed("key", err)
		}
		ep.Key = key
	}
	if ep.Key != "" {
		k.redact.AddSecret(ep.Key)
	}
	c, err := llm.New(ep, llm.WithCatalogue(k.engine.catalogue()), llm.WithLogger(k.log))
	if err != nil {
		return failed(fieldOfInput(in, err), err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, trialTime, sys.Errorf(sys.CodeTimeout, "It did not answer within %s.", trialTime).
		WithHint("Try again, or check whether the server is busy."))
	defer cancel()
	list, err := c.Models(ctx)
	trial := Trial{Report: TestReport{Model: model, At: k.clock.Now()}}
	for _, m := range list {
		trial.Models = append(trial.Models, m.ID)
	}
	// A server without a list may answer all the same, if the person names a model.
	if code := sys.CodeOf(err); err != nil && (model == "" || code == sys.CodeAuth || code == sys.CodeNetwork) {
		return failed(fieldOf(err), err)
	}
	if model == "" {
		if len(list) == 0 {
			trial.Field = "model"
			trial.Report.Error = sys.Errorf(sys.CodeUnavailable, "%s offers no model.", cmp.Or(in.Name, hostPort(ep.BaseURL))).WithHint("Load one there, or enter the name of one.")
			return trial, list
		}
		model = usual(list)
	}
	trial.Report = llm.Test(ctx, c, model, nil)
	if trial.Report.Error != nil {
		trial.Field = fieldOf(trial.Report.Error)
	}
	return trial, list
}

// fieldOf is the field that has to be corrected after a provider failed with err.
func fieldOf(err error) string {
	if errors.Is(err, llm.ErrTrouble) { // every field may be right
		return ""
	}
	switch sys.CodeOf(err) {
	case sys.CodeAuth, sys.CodeQuota:
		return "key"
	case sys.CodeUnknownModel:
		return "model"
	case sys.CodeNetwork, sys.CodeProvider, sys.CodeInvalid:
		return "address"
	}
	return ""
}

// fieldOfInput is the field that makes an endpoint impossible: an endpoint
// without the field would be possible.
func fieldOfInput(in ProviderInput, err error) string {
	ep := in.endpoint()
	possible := func(ep llm.Endpoint) bool {
		c, err := llm.New(ep)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	without := ep
	if without.Key = ""; possible(without) {
		return "key"
	}
	without = ep
	if without.CAFile = ""; possible(without) {
		return "ca_file"
	}
	without = ep
	if without.ProxyURL = ""; possible(without) {
		return "proxy_url"
	}
	return fieldOf(err)
}

func (in ProviderInput) endpoint() llm.Endpoint {
	url := strings.TrimSpace(in.BaseURL)
	return llm.Endpoint{
		ID: in.ID, Name: cmp.Or(strings.TrimSpace(in.Name), hostPort(url)), Kind: in.Kind, BaseURL: url, Key: in.Key,
		ProxyURL: strings.TrimSpace(in.ProxyURL), CAFile: strings.TrimSpace(in.CAFile),
	}
}

// hostPort is the name that a provider gets from its address, "" when there is
// none in it.
func hostPort(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return u.Host
}

// usual is the model of a list that is taken where nobody names one: the first
// that is known to use tools, because an agent needs them.
func usual(list []llm.Model) string {
	if i := slices.IndexFunc(list, func(m llm.Model) bool { return m.Tools != nil && *m.Tools }); i >= 0 {
		return list[i].ID
	}
	return list[0].ID
}

// saveProvider keeps a provider, with what its trial found; a nil report is a
// provider that was not tried, which loses what was found before if it is
// reached in another way now.
func (k *Kernel) saveProvider(ctx context.Context, in ProviderInput, report *TestReport) (Provider, error) {
	list, err := k.engine.saved(ctx)
	if err != nil {
		return Provider{}, err
	}
	if strings.TrimSpace(in.BaseURL) == "" && in.Kind != "" && in.Kind != llm.KindOpenAI {
		return Provider{}, sys.Errorf(sys.CodeInvalid, "The provider needs an address. Nothing was saved.")
	}
	c, err := llm.New(in.endpoint())
	if err != nil {
		return Provider{}, err
	}
	ep := c.Endpoint()
	c.Close()
	s := saved{
		ID: in.ID, Name: cmp.Or(strings.TrimSpace(in.Name), hostPort(ep.BaseURL)), Kind: ep.Kind, BaseURL: ep.BaseURL,
		ProxyURL: ep.ProxyURL, CAFile: ep.CAFile, Model: strings.TrimSpace(in.Model), Enabled: in.Enabled == nil || *in.Enabled,
	}
	if s.ID == "" {
		s.ID = freeID(s.Name, list)
	}
	if in.Key != "" {
		if _, err := k.keys.Set(ctx, s.ID, s.BaseURL, ep.Key); err != nil {
			return Provider{}, err
		}
	}
	same := false
	if i := slices.IndexFunc(list, func(o saved) bool { return o.ID == s.ID }); i >= 0 {
		o := list[i]
		same = in.Key == "" && o.BaseURL == s.BaseURL && o.ProxyURL == s.ProxyURL && o.CAFile == s.CAFile && o.Kind == s.Kind
		if s.Model == "" && same {
			s.Model = o.Model
		}
		list[i] = s
	} else {
		list = append(list, s)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return Provider{}, err
	}
	err = k.store.Write(ctx, func(tx *store.Tx) error {
		if err := k.store.Put(tx, "providers", string(raw)); err != nil {
			return err
		}
		switch {
		case report != nil:
			return k.putTest(tx, s.ID, *report)
		case !same:
			return k.store.Put(tx, "test:"+s.ID, "")
		}
		return nil
	})
	if err != nil {
		return Provider{}, err
	}
	return k.announceProvider(ctx, s.ID)
}

// putTest keeps what a test found, of the provider and of its model.
func (k *Kernel) putTest(tx *store.Tx, provider string, report TestReport) error {
	raw, err := json.Marshal(report)
	if err != nil {
		return err
	}
	if err := k.store.Put(tx, testKey(provider, report.Model), string(raw)); err != nil {
		return err
	}
	return k.store.Put(tx, "test:"+provider, string(raw))
}

// listed notes what a provider said that it offers, so that it is not asked again
// for it at once.
func (e *engine) listed(ctx context.Context, id string, list []llm.Model) {
	n, err := e.entry(ctx, id)
	if err != nil || len(list) == 0 {
		return
	}
	c, err := e.client(ctx, n)
	if err != nil {
		return
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Provider = id
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.models, c.listed, c.listErr = list, time.Now(), nil
}
