package kernel

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"oxios/kernel/event"
	"oxios/kernel/limit"
	"oxios/kernel/llm"
	"oxios/kernel/memory"
	"oxios/kernel/retrieval"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// MemoryEmbedding is how far the vectors of memories have come.
type MemoryEmbedding struct {
	Embedder     string     `json:"embedder"` // provider/model; "" is the built-in one, which needs neither network nor time
	ProviderName string     `json:"provider_name,omitempty"`
	Local        bool       `json:"local"`       // no text leaves this machine
	Dim          int        `json:"dim"`         // how many numbers its vectors have; 0 while it gave none
	Total        int        `json:"total"`       // memories that hold
	Done         int        `json:"done"`        // of them, those that are found by their vectors
	Cut          int        `json:"cut"`         // of which not all was embedded: passages are too long for the model
	Damaged      int        `json:"damaged"`     // vectors that could not be read since the start, and are made anew
	Running      bool       `json:"running"`     // vectors are being made
	Since        *time.Time `json:"since"`       // it runs, or it fails
	Error        *sys.Error `json:"error"`       // why it stands still; it is tried again by itself
	QueryError   *sys.Error `json:"query_error"` // why searches go by words and the built-in vectors for now
	QueryUntil   *time.Time `json:"query_until"` // when they ask the embedder again
}

// EmbedderTest is what a try of an embedder found.
type EmbedderTest struct {
	Embedder string     `json:"embedder"`
	Local    bool       `json:"local"`
	Dim      int        `json:"dim"`
	Millis   int64      `json:"millis"` // how long it took
	Error    *sys.Error `json:"error"`
}

// Embedding says which embedder is configured, and how far its vectors have come.
func (a *MemoryAPI) Embedding(ctx context.Context) (MemoryEmbedding, error) {
	return guard(ctx, a.caller, action{call: "memory.embedding", resource: "memory"}, func(ctx context.Context) (MemoryEmbedding, error) {
		return a.k.embeddings.view(ctx)
	})
}

// Reembed deletes the vectors of the configured embedder and has them made anew,
// in the background. The built-in one has none to make.
func (a *MemoryAPI) Reembed(ctx context.Context) (MemoryEmbedding, error) {
	return guard(ctx, a.caller, action{call: "memory.reembed", resource: "memory"}, func(ctx context.Context) (MemoryEmbedding, error) {
		if err := a.k.embeddings.anew(ctx); err != nil {
			return MemoryEmbedding{}, err
		}
		return a.k.embeddings.view(ctx)
	})
}

// TryEmbedder embeds a sentence with a model, "provider/model", whether or not it
// is configured. Failures come in the report.
func (a *MemoryAPI) TryEmbedder(ctx context.Context, embedder string) (EmbedderTest, error) {
	return guard(ctx, a.caller, action{call: "memory.tryEmbedder", resource: "embedder:" + embedder, network: true}, func(ctx context.Context) (EmbedderTest, error) {
		t := EmbedderTest{Embedder: embedder, Local: true}
		if embedder == "" {
			t.Dim = retrieval.HashDim
			return t, nil
		}
		n, err := a.k.engine.embedder(ctx, embedder)
		if err != nil {
			return t, err
		}
		t.Local = n.Here()
		ctx, cancel := context.WithTimeout(ctx, tryTime)
		defer cancel()
		began := time.Now()
		vectors, err := a.k.embed(ctx, embedder, []string{unrelated()[0]})
		t.Millis = time.Since(began).Milliseconds()
		if err != nil {
			t.Error = sys.AsError(err)
			return t, nil
		}
		t.Dim = len(vectors[0])
		return t, nil
	})
}

// How long is waited for an embedder: for a search somebody waits, and a model
// on this machine may have to be loaded first.
const (
	queryTime = 2 * time.Second
	batchTime = 5 * time.Minute
	tryTime   = time.Minute

	// queryRest is how long searches do without an embedder that failed.
	queryRest = 30 * time.Second
)

// Limits of what is sent to an embedder.
const (
	embedBatch = 64   // texts at once
	embedLeast = 200  // characters that every model must take
	embedQuery = 2000 // characters of what is looked for
	askedMost  = 128  // vectors of queries that are remembered
)

// embeddings has the memories embedded by the model that is configured.
type embeddings struct {
	k   *Kernel
	due chan struct{} // there is something to embed, or to try again at once

	mu         sync.Mutex
	known      memory.Learned // of the embedder that was asked last
	running    bool
	since      time.Time
	failed     *sys.Error
	queryError *sys.Error
	queryAfter time.Time
	asked      map[string][]float32
	told       time.Time
}

func newEmbeddings(k *Kernel) *embeddings {
	return &embeddings{k: k, due: make(chan struct{}, 1), asked: map[string][]float32{}}
}

// wake has the worker look again at once.
func (e *embeddings) wake() {
	select {
	case e.due <- struct{}{}:
	default: // it is about to
	}
}

// configured is the embedder that the person chose; "" is the built-in one.
func (e *embeddings) configured() string { return e.k.config.get().Embedder }

// Learned implements [memory.Embedder].
func (e *embeddings) Learned(ctx context.Context) (memory.Learned, bool) {
	ref := e.configured()
	if ref == "" {
		return memory.Learned{}, false
	}
	e.mu.Lock()
	known := e.known
	e.mu.Unlock()
	if known.ID == ref {
		return known, true
	}
	l, ok, err := e.k.memories.KnownEmbedder(ctx, ref)
	if err != nil || !ok {
		return memory.Learned{}, false
	}
	e.know(l)
	return l, true
}

// know remembers what is known of an embedder, and forgets the queries that
// another one embedded.
func (e *embeddings) know(l memory.Learned) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known != l {
		e.known, e.queryError, e.queryAfter = l, nil, time.Time{}
		clear(e.asked)
	}
}

// Query implements [memory.Embedder]. Nothing is sent to an embedder that is not
// configured any more.
func (e *embeddings) Query(ctx context.Context, by memory.Learned, text string) []float32 {
	text = firstRunes(strings.TrimSpace(text), embedQuery)
	if text == "" || e.configured() != by.ID {
		return nil
	}
	e.mu.Lock()
	v, ok := e.asked[text]
	rests := e.known != by || e.k.clock.Now().Before(e.queryAfter)
	e.mu.Unlock()
	if ok || rests {
		return v
	}
	asking, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	all, err := e.k.embed(asking, by.ID, []string{text})
	if err == nil && len(all[0]) != by.Dim {
		err = errOtherDim(by, len(all[0]))
	}
	if ctx.Err() != nil {
		return nil // whoever asked is gone
	}
	e.mu.Lock()
	before := e.queryError
	if e.queryError = nil; err != nil {
		e.queryError, e.queryAfter = sys.AsError(err), e.k.clock.Now().Add(queryRest)
	} else {
		if len(e.asked) >= askedMost {
			clear(e.asked)
		}
		v = all[0]
		e.asked[text] = v
	}
	changed := (before == nil) != (err == nil)
	e.mu.Unlock()
	if changed {
		e.tell(ctx, true)
	}
	return v
}

// anew deletes the vectors of the configured embedder, and begins again.
func (e *embeddings) anew(ctx context.Context) error {
	ref := e.configured()
	if ref == "" {
		return sys.Errorf(sys.CodeConflict, "The built-in embedder keeps no vectors, so there is nothing to make anew.").WithHint("Choose another embedder first, with `oxios memory embedder set`.")
	}
	if err := e.k.memories.DropEmbedder(ctx, ref); err != nil {
		return err
	}
	e.know(memory.Learned{})
	e.wake()
	return nil
}

func (e *embeddings) view(ctx context.Context) (MemoryEmbedding, error) {
	ref := e.configured()
	v := MemoryEmbedding{Embedder: ref, Local: true, Dim: retrieval.HashDim}
	c, err := e.k.memories.Coverage(ctx, ref)
	if err != nil {
		return v, err
	}
	v.Total, v.Done, v.Damaged = c.Total, c.Total, c.Damaged
	if ref == "" {
		return v, nil
	}
	by, _ := e.Learned(ctx)
	v.Dim, v.Done, v.Cut = by.Dim, c.Done, c.Cut
	provider, _, _ := strings.Cut(ref, "/")
	v.ProviderName, v.Local = provider, false
	if n, err := e.k.engine.entry(ctx, provider); err == nil {
		v.ProviderName, v.Local = cmp.Or(n.Name, n.ID), n.Here()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	v.Running, v.Error, v.QueryError = e.running, e.failed, e.queryError
	if (e.running || e.failed != nil) && !e.since.IsZero() {
		v.Since = &e.since
	}
	if until := e.queryAfter; e.queryError != nil {
		v.QueryUntil = &until
	}
	return v, nil
}

// tell publishes how it stands, at most twice a second unless it matters.
func (e *embeddings) tell(ctx context.Context, matters bool) {
	e.mu.Lock()
	if now := time.Now(); matters || now.Sub(e.told) >= 500*time.Millisecond {
		e.told, matters = now, true
	}
	e.mu.Unlock()
	if !matters {
		return
	}
	if v, err := e.view(ctx); err == nil {
		e.k.publish(event.EmbeddingChanged, scope{}, v)
	}
}

// embedder returns the provider of an embedder, "provider/model", that may be
// asked.
func (e *engine) embedder(ctx context.Context, ref string) (entry, error) {
	if err := checkEmbedder(ref); err != nil {
		return entry{}, err
	}
	provider, _, _ := strings.Cut(ref, "/")
	n, err := e.entry(ctx, provider)
	if err == nil && !n.usable() {
		err = sys.Errorf(sys.CodeUnavailable, "The provider %s is switched off.", cmp.Or(n.Name, n.ID)).WithHint("Switch it on in Settings, Models, or choose another embedder.")
	}
	return n, err
}

// checkEmbedder refuses what names no embedder.
func checkEmbedder(ref string) error {
	provider, model, ok := strings.Cut(ref, "/")
	if ok && idPattern().MatchString(provider) && strings.TrimSpace(model) == model && model != "" && utf8.RuneCountInString(ref) <= 300 {
		return nil
	}
	return sys.Errorf(sys.CodeInvalid, "embedder is %q, but must name a model as provider/model, like ollama/nomic-embed-text, or be empty for the built-in one", ref)
}

// embed returns the vectors of texts, each of length 1. What it costs counts
// against the limits of the day, and is charged.
func (k *Kernel) embed(ctx context.Context, ref string, texts []string) ([][]float32, error) {
	n, err := k.engine.embedder(ctx, ref)
	if err != nil {
		return nil, err
	}
	c, err := k.engine.client(ctx, n)
	if err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(ref, "/")
	m := llm.Model{ID: name, Provider: n.ID}
	k.engine.catalogue().Fill(n.Endpoint, &m)
	model := &chosen{engine: k.engine, client: c, provider: n.ID, model: name, local: n.Local, demo: n.demo, price: m.Price}
	claim := limit.Claim{Free: model.free(), Priced: m.Price != nil}
	for _, t := range texts {
		claim.Input += int64(len(t)) + 1
	}
	if m.Price != nil {
		claim.InputUSD = m.Price.Input / 1e6
	}
	if err := k.engine.rates.Wait(ctx, n.ID); err != nil {
		return nil, err
	}
	hold, err := k.budgets.Reserve(ctx, claim)
	if short, ok := isShort(err); ok {
		return nil, k.errShort(short, name)
	}
	if err != nil {
		return nil, err
	}
	defer hold.Release() // nothing is left to release of a call that was settled
	var r llm.Embeddings
	answered := false
	err = k.engine.breakers.Do(ctx, n.ID, c.Endpoint().Name, func(ctx context.Context) (err error) {
		r, err = c.Embed(ctx, name, texts)
		answered = err == nil || len(r.Vectors) > 0
		return err
	})
	if answered {
		if !r.Usage.Reported { // the most that it can have been
			r.Usage = llm.Usage{Input: int(claim.Input), Reported: true}
		}
		cost := model.cost(r.Usage)
		hold.Settle(cost)
		werr := k.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return k.store.Spend(tx, store.PurposeEmbedding, cost) })
		err = errors.Join(err, werr)
	}
	if err != nil {
		return nil, err
	}
	for _, v := range r.Vectors {
		retrieval.Normalize(v)
	}
	return r.Vectors, nil
}

// sent notes in the audit chain that memories go to an embedder elsewhere,
// before they do.
func (e *embeddings) sent(ctx context.Context, ref string, count int) error {
	n, err := e.k.engine.embedder(ctx, ref)
	if err != nil || n.Here() {
		return err
	}
	return e.k.store.Write(ctx, func(tx *store.Tx) error {
		_, err := e.k.audit.Append(tx, e.k.newEntry("kernel", security.ActionOther, "memories sent to "+ref, map[string]any{"count": count}))
		return err
	})
}

func errOtherDim(by memory.Learned, dim int) error {
	return sys.Errorf(sys.CodeProvider, "%s gives vectors of %d numbers now; those that are kept have %d.", by.ID, dim, by.Dim).
		WithHint("It is another model now: make all vectors anew with `oxios memory embedder rebuild`.")
}

// firstRunes is the beginning of a text, of at most so many characters.
func firstRunes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i]
		}
	}
	return s
}
