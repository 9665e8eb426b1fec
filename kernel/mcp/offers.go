package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/security"
)

// Resource is something that a server has to read, or a template of the names of such things.
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri"` // its name on the server, and nothing else: Oxios opens no address and no file by it
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mime,omitempty"`
	Size        int64  `json:"size,omitempty"`     // bytes, as the server says
	Template    bool   `json:"template,omitempty"` // the URI has {parts} that its reader fills in
}

// Prompt is a text that a server has ready for a kind of work.
type Prompt struct {
	Server      string      `json:"server"`
	Name        string      `json:"name"` // on its server
	Call        string      `json:"call"` // as a person writes it behind a slash: server:prompt
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Args        []PromptArg `json:"args,omitempty"`
}

// PromptArg is a value that a prompt is made with.
type PromptArg struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// offers is what a server has besides tools, as it said last. It is kept beside what is known of it, so that nobody starts a
// server to choose from it. No model reads it without being marked with the server's name, so it is not pinned as tools are.
type offers struct {
	For       string     `json:"for"` // see [Known.For]
	Reads     bool       `json:"reads,omitempty"`
	Prompting bool       `json:"prompting,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
	Prompts   []Prompt   `json:"prompts,omitempty"`
	Left      int        `json:"left,omitempty"` // how many more there are, at least
}

// The bounds of what a server may have besides tools.
const (
	maxResources  = 1000
	maxPrompts    = 200
	maxPromptArgs = 50
	maxPages      = 200
	maxURI        = 2000
	offersFile    = "offers.json"
	offersTime    = 10 * time.Second // for a server to say what it has: its tools do not wait longer for that
	freshTime     = 2 * time.Second  // for a server that runs to say what it has anew
)

// has reads what a server has; nothing where it was never asked, or where another command said it.
func (s *Service) has(name string, def Server) offers {
	path := s.at(name, offersFile)
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxKnown {
		return offers{}
	}
	s.mu.Lock()
	r, ok := s.offers[name]
	s.mu.Unlock()
	if ok && os.SameFile(r.info, info) && r.info.ModTime().Equal(info.ModTime()) && r.info.Size() == info.Size() {
		return r.of(def)
	}
	r = readOffers{info: info}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &r.o)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.c.Log.Warn("What a server has besides tools cannot be read", "server", name, "error", err)
		return offers{}
	}
	s.mu.Lock()
	s.offers[name] = r
	s.mu.Unlock()
	return r.of(def)
}

// readOffers is the file with what a server has, as it was when it was read last. The lists in it are shared: nobody changes
// them.
type readOffers struct {
	info os.FileInfo
	o    offers
}

func (r readOffers) of(def Server) offers {
	if r.o.For != identity(def) {
		return offers{}
	}
	return r.o
}

// learnOffers asks a server that runs what it has besides tools, and keeps that. One that does not say it lends its tools all
// the same.
func (s *Service) learnOffers(ctx context.Context, l *live) {
	ctx, cancel := context.WithTimeout(ctx, offersTime)
	defer cancel()
	o := offers{For: identity(l.def)}
	caps := l.session.InitializeResult().Capabilities
	var err error
	if o.Reads = caps != nil && caps.Resources != nil; o.Reads {
		err = errors.Join(l.listResources(ctx, &o), l.listTemplates(ctx, &o))
	}
	if o.Prompting = caps != nil && caps.Prompts != nil; o.Prompting {
		err = errors.Join(err, l.listPrompts(ctx, &o))
	}
	if err != nil {
		s.c.Log.Warn("A server did not say all that it has besides tools", "server", l.name, "error", err)
	}
	raw, err := json.Marshal(o)
	if err == nil {
		err = security.WriteFileAtomic(s.at(l.name, offersFile), raw, 0o600)
	}
	if err != nil {
		s.c.Log.Warn("What a server has besides tools could not be kept", "server", l.name, "error", err)
	}
}

// paged calls next for each page of a list, until it says that there is none, or enough was heard.
func paged(next func(cursor string) (more string, enough bool, err error)) error {
	cursor := ""
	for range maxPages {
		more, enough, err := next(cursor)
		if err != nil || enough || more == "" {
			return err
		}
		cursor = more
	}
	return nil
}

func (l *live) listResources(ctx context.Context, o *offers) error {
	return paged(func(cursor string) (string, bool, error) {
		r, err := l.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, x := range r.Resources {
			o.add(Resource{Server: l.name, URI: x.URI, Name: plain(x.Name, 200), Title: plain(x.Title, 200), Description: plain(x.Description, 300), MIME: plain(x.MIMEType, 80), Size: max(0, x.Size)})
		}
		return r.NextCursor, len(o.Resources) >= maxResources, nil
	})
}

func (l *live) listTemplates(ctx context.Context, o *offers) error {
	return paged(func(cursor string) (string, bool, error) {
		r, err := l.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, x := range r.ResourceTemplates {
			o.add(Resource{Server: l.name, URI: x.URITemplate, Name: plain(x.Name, 200), Title: plain(x.Title, 200), Description: plain(x.Description, 300), MIME: plain(x.MIMEType, 80), Template: true})
		}
		return r.NextCursor, len(o.Resources) >= maxResources, nil
	})
}

// add takes a resource whose name people can see and tell from others.
func (o *offers) add(r Resource) {
	if len(o.Resources) >= maxResources || !nameable(r.URI, maxURI) {
		o.Left++
		return
	}
	r.Name = cmp.Or(r.Name, plain(r.URI, 200))
	o.Resources = append(o.Resources, r)
}

// nameable reports whether a server's name for something can be shown as it is, and said back to it.
func nameable(name string, most int) bool {
	return name != "" && len(name) <= most && seen(name) == name && !strings.ContainsAny(name, "\n\r\t")
}

func (l *live) listPrompts(ctx context.Context, o *offers) error {
	taken := map[string]bool{}
	return paged(func(cursor string) (string, bool, error) {
		r, err := l.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, x := range r.Prompts {
			p, ok := promptOf(l.name, x)
			if !ok || taken[p.Call] || len(o.Prompts) >= maxPrompts {
				o.Left++
				continue
			}
			taken[p.Call] = true
			o.Prompts = append(o.Prompts, p)
		}
		return r.NextCursor, len(o.Prompts) >= maxPrompts, nil
	})
}

// promptOf makes a prompt of what a server listed; ok is false for one that cannot be offered.
func promptOf(server string, x *sdk.Prompt) (p Prompt, ok bool) {
	p = Prompt{Server: server, Name: x.Name, Title: plain(x.Title, 80), Description: plain(x.Description, 500)}
	if !nameable(x.Name, 100) || len(x.Arguments) > maxPromptArgs {
		return p, false
	}
	_, call, _ := strings.Cut(callName(server, x.Name), joint)
	p.Call = server + ":" + call
	for _, a := range x.Arguments {
		there := slices.ContainsFunc(p.Args, func(o PromptArg) bool { return o.Name == a.Name })
		if !nameable(a.Name, 100) || there || strings.ContainsAny(a.Name, " =\"'") {
			return p, false
		}
		p.Args = append(p.Args, PromptArg{Name: a.Name, Title: plain(a.Title, 80), Description: plain(a.Description, 300), Required: a.Required})
	}
	return p, true
}

// refresh asks servers that run, and told that something changed, what they have now. Who does not answer in a moment is shown
// as it was known.
func (s *Service) refresh(ctx context.Context, name string) {
	s.mu.Lock()
	var all []*live
	for _, l := range s.live {
		if name == "" || l.name == name {
			all = append(all, l)
		}
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, freshTime)
	defer cancel()
	for _, l := range all {
		select {
		case <-l.ready:
		default:
			continue // it is being started: what it has is asked for then
		}
		if l.err != nil || l.learned.Load() == l.news.Load() {
			continue
		}
		if err := s.learn(ctx, l, false); err != nil {
			s.c.Log.Debug("A server did not say what it has now", "server", l.name, "error", err)
		}
	}
}
