package kernel

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"oxios/kernel/event"
	"oxios/kernel/llm"
	"oxios/kernel/memory"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// What one look through a conversation takes.
const (
	extractText    = 24_000              // bytes of what was said; the rest is for the next call
	extractMessage = 6_000               // of one message
	extractKnown   = 30                  // known facts that are told
	extractAnswer  = 8 << 10             // tokens of the answer, thinking included
	extractTime    = 3 * time.Minute     // for one call
	extractAgain   = 15 * time.Minute    // until a model that could not be asked is asked again
	extractSince   = 14 * 24 * time.Hour // what was said before is left alone
	tendEvery      = time.Minute
)

// MemoryExtracted says what came of looking through a conversation.
type MemoryExtracted struct {
	SessionID string   `json:"session_id"`
	Title     string   `json:"title"`
	Outcome   string   `json:"outcome"`  // ok, nothing or bad
	Memories  []Memory `json:"memories"` // that were kept, its summary among them
	Left      int      `json:"left"`     // found and not kept: not in the person's words, a secret, or against what they pinned
	More      bool     `json:"more"`     // there is more of it for the next call
}

// care is what the kernel knows of keeping the memories.
type care struct {
	work sync.Mutex // held while a conversation is looked through

	mu    sync.Mutex
	why   *sys.Error           // why the last conversation was not looked through; nil when it was
	again map[string]time.Time // the conversations that wait for their model, until when
}

func (c *care) failed(why *sys.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = why
}

func (c *care) waits(id string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Before(c.again[id])
}

func (c *care) wait(id string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.again == nil {
		c.again = map[string]time.Time{}
	}
	c.again[id] = until
}

// tendMemory looks through conversations that rest, and puts the memories in
// order at night, until ctx ends. A command of the terminal is over before that.
func (k *Kernel) tendMemory(ctx context.Context) error {
	if k.opts.Owner == OwnerRun {
		return nil
	}
	tick := time.NewTicker(k.opts.Tend)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		k.extractFinished(ctx)
		k.curateAtNight(ctx)
	}
}

// extractFinished looks through the conversations that rest.
func (k *Kernel) extractFinished(ctx context.Context) {
	cfg := k.config.get()
	if !cfg.Memory || !cfg.MemoryExtract || k.runs.gate.is() {
		return
	}
	now := k.clock.Now()
	ids, err := k.memories.Finished(ctx, now.Add(-extractSince), now.Add(-time.Duration(cfg.MemoryIdleMin)*time.Minute), 200)
	if err != nil {
		if ctx.Err() == nil {
			k.log.Warn("Could not find out what to remember", "error", err)
		}
		return
	}
	for _, id := range ids {
		if k.care.waits(id, now) {
			continue
		}
		_, err := k.extract(ctx, id)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			continue
		}
		k.care.wait(id, now.Add(extractAgain))
		if sys.CodeOf(err) == sys.CodeBudget {
			return
		}
	}
}

// unread is the part of a conversation that nobody has looked through.
type unread struct {
	session  Session
	state    memory.Extraction
	provider string
	model    string
	runs     []string // whose messages they are
	last     string   // the newest of them
	ask      memory.Asking
	through  string // the newest message of it
	whole    bool   // that is the newest of the conversation
}

// unreadOf gathers what the person and the assistant said on the branch that a
// conversation shows. It is for the model that answered there last, and for no
// other: what was said to a model of this machine is left out for one elsewhere.
func (k *Kernel) unreadOf(ctx context.Context, id string) (u unread, open *chosen, err error) {
	if u.session, err = k.store.Session(ctx, id); err != nil {
		return u, nil, err
	}
	if len(k.runs.allIn(id)) > 0 {
		return u, nil, sys.Errorf(sys.CodeBusy, "An agent is at work in this conversation. Nothing was looked through.").WithHint("Wait until it is done.")
	}
	if u.state, err = k.memories.Extraction(ctx, id); err != nil {
		return u, nil, err
	}
	all, err := k.store.Messages(ctx, id)
	if err != nil || len(all) == 0 {
		return u, nil, err
	}
	tree, err := k.store.Tree(ctx, id)
	if err != nil {
		return u, nil, err
	}
	branch := map[string]Run{}
	for _, r := range tree.Branch(u.session.HeadID) {
		if r.CopyOf == "" {
			branch[r.ID] = r
		}
	}
	for _, m := range slices.Backward(all) {
		if r, ok := branch[m.RunID]; ok && m.Role == store.RoleAssistant && m.Status != store.StatusFailed {
			u.provider, u.model = r.Provider, r.Model
			break
		}
	}
	from := 1 + slices.IndexFunc(all, func(m Message) bool { return m.ID == u.state.Through })
	u.whole, u.through = true, all[len(all)-1].ID
	fresh := slices.DeleteFunc(slices.Clone(all[from:]), func(m Message) bool {
		_, ok := branch[m.RunID]
		return !ok || m.Content == "" || m.Role != store.RoleUser && m.Role != store.RoleAssistant
	})
	if !slices.ContainsFunc(fresh, func(m Message) bool { return m.Role == store.RoleUser }) || u.provider == demoID {
		return u, nil, nil
	}
	if u.provider == "" {
		return u, nil, sys.Errorf(sys.CodeUnavailable, "No model has answered in this conversation, so none is asked about it.").WithHint("Send a message that a model answers.")
	}
	if open, err = k.engine.openStandIn(ctx, choice{provider: u.provider, model: u.model}); err != nil {
		return u, nil, err
	}
	size := 0
	for _, m := range fresh {
		r := branch[m.RunID]
		if !open.local && r.Provider != u.provider {
			continue
		}
		text := k.masked(clip(m.Content, extractMessage))
		if size += len(text); size > extractText && len(u.ask.Said) > 0 {
			u.whole = false
			break
		}
		u.ask.Said = append(u.ask.Said, memory.Said{Person: m.Role == store.RoleUser && r.Via != viaClient, Text: text, At: m.At})
		u.through, u.last = m.ID, r.ID
		if !slices.Contains(u.runs, r.ID) {
			u.runs = append(u.runs, r.ID)
		}
	}
	if u.whole {
		u.through = all[len(all)-1].ID
	}
	return u, open, nil
}

// clip is the beginning and the end of a long text.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most*2/3, len(s)-most/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n[…]\n" + s[tail:]
}

// extract looks through what is new in a conversation, with one call of its own
// model.
func (k *Kernel) extract(ctx context.Context, id string) (out MemoryExtracted, err error) {
	k.care.work.Lock()
	defer k.care.work.Unlock()
	defer func() {
		if code := sys.CodeOf(err); err == nil || code != sys.CodeBusy && code != sys.CodeNotFound {
			var why *sys.Error
			if err != nil {
				why = sys.AsError(err)
			}
			k.care.failed(why)
		}
	}()
	u, open, err := k.unreadOf(ctx, id)
	out = MemoryExtracted{SessionID: id, Title: u.session.Title, Outcome: memory.OutcomeNothing, Memories: []Memory{}, More: !u.whole}
	if err != nil {
		return out, err
	}
	if open == nil || len(u.ask.Said) == 0 || !slices.ContainsFunc(u.ask.Said, func(s memory.Said) bool { return s.Person }) {
		return out, k.noteExtraction(ctx, u, memory.OutcomeNothing)
	}
	left, err := k.extractLeft(ctx)
	if err != nil {
		return out, err
	}
	if err := k.known(ctx, &u); err != nil {
		return out, err
	}
	req := llm.Request{Messages: []llm.Message{{Role: store.RoleSystem, Content: memory.System}, {Role: store.RoleUser, Content: u.ask.Text()}}}
	m := &guardedModel{
		caller: &caller{k: k, who: sys.Principal{Kind: sys.KindMemory, ID: "memory"}, scope: scope{sessionID: id, space: u.session.Space}},
		chosen: open, line: []choice{{provider: u.provider, model: u.model}}, answer: extractAnswer,
	}
	m.caller.cspace, _ = security.SpaceOf(m.caller.who)
	if left >= 0 {
		most := int64(left) - m.inputBound(req)
		if most < 1024 {
			return out, errNoMemoryTokens(k.config.get().MemoryTokens)
		}
		m.answer = min(m.answer, most)
	}
	before := u.state
	if before.Tried != u.through {
		before.Attempts = 0
	}
	begun := memory.Extraction{Session: id, Through: before.Through, Tried: u.through, Attempts: before.Attempts + 1, At: k.clock.Now(), Outcome: memory.OutcomeBegun}
	if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.memories.SetExtraction(tx, begun) }); err != nil {
		return out, err
	}
	asking, cancel := context.WithTimeout(ctx, extractTime)
	resp, cost, err := m.call(asking, req, func(llm.Delta) {}, false)
	cancel()
	keep := context.WithoutCancel(ctx)
	if resp == nil {
		begun.Attempts, begun.Outcome = before.Attempts, memory.OutcomeFailed
		return out, errors.Join(err, k.store.Write(keep, func(tx *store.Tx) error { return k.memories.SetExtraction(tx, begun) }))
	}
	answer, bad := memory.ParseAnswer(resp.Message.Content, len(u.ask.Known))
	if err != nil {
		bad = err
	}
	labels, err := k.labelsOf(ctx, u.runs...)
	if err != nil {
		return out, err
	}
	out, err = k.keepAnswer(keep, u, begun, answer, bad, labels, cost)
	k.publishStatus()
	if err == nil && len(out.Memories) > 0 {
		did := each(out.Memories, func(m Memory) string { return m.ID })
		k.publishMemory(scope{sessionID: id}, event.ChangeOf(event.Stored, u.session.Space, did...))
	}
	return out, err
}

// noteExtraction notes that a part was looked through without a call.
func (k *Kernel) noteExtraction(ctx context.Context, u unread, outcome string) error {
	return k.store.Write(ctx, func(tx *store.Tx) error {
		return k.memories.SetExtraction(tx, memory.Extraction{Session: u.session.ID, Through: u.through, At: k.clock.Now(), Outcome: outcome})
	})
}

// extractLeft is how many tokens the day leaves; -1 for as many as one likes.
func (k *Kernel) extractLeft(ctx context.Context) (int, error) {
	most := countOf(k.config.get().MemoryTokens)
	if most == nil {
		return -1, nil
	}
	used, _, err := k.memories.Calls(ctx, k.budgets.Midnight())
	return max(0, int(*most)-used.Input-used.Output), err
}

func errNoMemoryTokens(most string) *sys.Error {
	return sys.Errorf(sys.CodeBudget, "The %s tokens a day for looking for what to remember leave too few for the next conversation. It waits.", most).
		WithHint("Raise them in Settings, Memory; a new day begins at midnight.")
}

// known gathers what is remembered already and may be about the same.
func (k *Kernel) known(ctx context.Context, u *unread) error {
	var words strings.Builder
	for _, s := range u.ask.Said {
		if s.Person {
			words.WriteString(clip(s.Text, 1000) + "\n")
		}
	}
	found, err := k.memories.Search(ctx, memory.Search{Space: u.session.Space, Text: clip(words.String(), 4000), Kind: memory.KindFact, K: extractKnown})
	if err != nil {
		return err
	}
	for _, f := range found {
		u.ask.Known = append(u.ask.Known, f.Memory)
	}
	u.ask.Title = k.masked(u.session.Title)
	summary, err := k.memories.Summary(ctx, u.session.ID)
	u.ask.Summary = summary.Text
	return err
}
