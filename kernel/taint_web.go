package kernel

import (
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// wording is a request to the web that an agent words itself: what it is made of
// may carry away what the run has read.
type wording struct {
	host    string // the machine that gets it, without "www."
	address string // of a page; "" for a search
	query   string // of a search
	goesOn  bool   // it asks for the rest of the page that was read last
}

// The bounds of what counts as not composed.
const (
	maxFound     = 20  // addresses of one machine after the first private read: a choice among links is a message too
	maxFreeQuery = 200 // characters of a search
)

// workLabel is of the person's work: the files of a folder, and what commands say
// there. It says only that an address may carry something of it.
func workLabel(folder string) Label {
	return store.NewLabel(Label{Origin: store.LabelWork, Name: folder}, "", sys.Say("files of %s, or what commands said there", shortenHome(folder)))
}

// place is where what the web told is kept: the conversation, which forks and what
// follows share, or the run where there is none.
func (s scope) place() string {
	if s.sessionID != "" {
		return s.sessionID
	}
	return s.runID
}

// worded says who chose the words of a request of a run that has read this. A
// choice among found addresses is counted.
func (c *caller) worded(ctx context.Context, w *wording, live Labels) (security.Wording, error) {
	if !live.Untrusted() || !live.Private() {
		return security.WordingNamed, nil // nobody could have put it there, or there is nothing to carry
	}
	said, err := c.k.wordsIn(ctx, c.scope.sessionID)
	if err != nil {
		return "", err
	}
	if w.address != "" && namedIn(said, w.host) {
		return security.WordingNamed, nil
	}
	if ok, err := c.saidYes(ctx, w.host, live); ok || err != nil {
		return security.WordingNamed, err
	}
	if live.Secret() {
		return security.WordingComposed, nil
	}
	if w.address == "" {
		if c.k.searchSetUp() && utf8.RuneCountInString(w.query) <= maxFreeQuery && !c.k.masks(w.query) {
			return security.WordingSearch, nil
		}
		return security.WordingComposed, nil
	}
	if w.goesOn { // nothing is chosen by reading on
		last, err := c.k.store.ReadLast(ctx, c.scope.place(), w.host, w.address)
		if last || err != nil {
			return security.WordingFound, err
		}
	}
	found, err := c.k.foundIn(ctx, c.scope.place(), said, w.address)
	if err != nil || !found {
		return security.WordingComposed, err
	}
	if c.trial != nil {
		return security.WordingFound, nil
	}
	var few bool
	err = c.k.store.Write(ctx, func(tx *store.Tx) (err error) {
		few, err = c.k.store.AskWeb(tx, c.scope.place(), w.host, maxFound)
		return err
	})
	if err != nil || !few {
		return security.WordingComposed, err
	}
	return security.WordingFound, nil
}

// wordsIn are the messages of the person in a conversation.
func (k *Kernel) wordsIn(ctx context.Context, session string) (out []Message, err error) {
	if session == "" {
		return nil, nil
	}
	messages, err := k.store.Messages(ctx, session)
	for _, m := range messages {
		if m.Role != store.RoleUser {
			continue
		}
		if r, rerr := k.store.Run(ctx, m.RunID); rerr == nil && r.Via == viaClient { // what a program said is not the person's word
			continue
		}
		out = append(out, m)
	}
	return out, err
}

// namedIn reports whether the person named a machine.
func namedIn(said []Message, host string) bool {
	for _, m := range said {
		for _, h := range security.NamedHosts(m.Content, m.Pasted) {
			if h == host && host != "" {
				return true
			}
		}
	}
	return false
}

// foundIn reports whether an address stands, as a whole, in what the person said or
// attached, or in a page or result that an agent of the conversation has read.
func (k *Kernel) foundIn(ctx context.Context, place string, said []Message, address string) (bool, error) {
	for _, m := range said {
		if security.HasAddress(m.Content, address) {
			return true, nil
		}
	}
	address, _, _ = strings.Cut(address, "#")
	pages, err := k.store.WebRead(ctx, place, strings.TrimSuffix(address, "/"))
	if err != nil {
		return false, err
	}
	for _, text := range pages {
		if security.HasAddress(text, address) {
			return true, nil
		}
	}
	for _, m := range said {
		for _, a := range m.Attachments {
			if text, _ := k.bodyOf(ctx, a); a.Kind != store.AttachFolder && a.Kind != store.AttachFile && security.HasAddress(text, address) {
				return true, nil
			}
		}
	}
	return false, nil
}

// saidYes reports whether the person has said yes to a machine for this run, since
// it read the last of what is secret or lies outside its folder.
func (c *caller) saidYes(ctx context.Context, host string, live Labels) (bool, error) {
	if c.scope.runID == "" || host == "" {
		return false, nil
	}
	list, err := c.k.approvals.List(ctx, security.ApprovalQuery{RunID: c.scope.runID})
	if err != nil {
		return false, err
	}
	for _, ap := range list {
		if ap.Request.Host != host || ap.Scope != security.ScopeRun || ap.State != security.ApprovalApproved {
			continue
		}
		since := true
		for _, l := range live {
			since = since && (!Labels{l}.Secret() || ap.Request.Labels.Has(l.ID))
		}
		if since {
			return true, nil
		}
	}
	return false, nil
}

// masks reports whether a text holds a secret, or stands for one.
func (k *Kernel) masks(text string) bool {
	return k.secret(text) || strings.Contains(text, "[secret:")
}

// searchSetUp reports whether the person chose who answers searches. The service
// that Oxios begins with is nobody's choice.
func (k *Kernel) searchSetUp() bool { return k.config.sets("search_service", "search_url") }

// heard keeps the addresses that a page or a search told an agent; address is that
// of the page, "" for a search.
func (c *caller) heard(ctx context.Context, address string, texts ...string) error {
	if c.who.Kind != sys.KindAgent || c.scope.place() == "" {
		return nil
	}
	p := store.WebPage{Place: c.scope.place(), Address: address, Addresses: security.AddressesIn(strings.Join(texts, "\n"))}
	if address != "" {
		p.Host = security.HostOf(address)
	}
	if p.Host+p.Addresses == "" {
		return nil
	}
	return c.k.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return c.k.store.AddWebRead(tx, p) })
}

// follows says whether a page may lead its reader on without a new question: what
// the agent composed could have been meant for the machine behind the page. first is
// how the address was worded that was asked for.
func (c *caller) follows(ctx context.Context, first security.Wording, from, to *url.URL) (bool, error) {
	live, err := c.k.liveLabels(ctx, c.k.runs.of(c.scope.runID).labels)
	if err != nil {
		return false, err
	}
	at := security.HostOf(to.String())
	switch {
	case !live.Untrusted() || !live.Private():
		return true, nil
	case at == security.HostOf(from.String()):
		return true, nil
	case first == security.WordingFound && !live.Secret():
		return true, nil
	}
	how, err := c.worded(ctx, &wording{host: at, address: to.String()}, live)
	return how != security.WordingComposed, err
}
