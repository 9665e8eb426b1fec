package mcp

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/guard"
	"oxios/kernel/health"
	"oxios/kernel/home"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Config is all that the service uses.
type Config struct {
	Dir     string // what it keeps lies here: a folder of each server
	Version string // of Oxios, as servers are told
	Clock   sys.Clock
	Log     *slog.Logger

	Settings interface {
		MCP() Settings                                  // those in force
		SetMCPServer(name string, server *Server) error // writes one into config.toml; nil takes it out
	}
	Sandbox interface {
		Start(ctx context.Context, spec sandbox.Spec) (*sandbox.Job, error)
	}
	Net interface { // the network guard
		Transport(open []netip.Prefix) *http.Transport   // with these addresses of the own machine or network open
		Inside(ctx context.Context, address string) bool // whether it leads into the person's own machine or network
	}
	Keys interface { // each bound to the machine that it is for
		Get(ctx context.Context, name, host string) (string, error)
		Set(ctx context.Context, name, host, secret string) (where string, err error)
		Delete(ctx context.Context, name string) error
	}
	Secret   func(text string)                                                                     // what is masked from now on
	Spec     func(files string, network bool, also ...string) sandbox.Spec                         // of a program that works in the folder files and reads also: environment, limits, what is out of its sight
	Download func(files string, from []security.Address) (sandbox.Spec, func() []security.NetTry)  // of one that downloads into files, from these machines alone; and what it asked for
	Env      func(name string) string                                                              // Oxios' own environment
	Environ  func() []string                                                                       // all of it, as lines NAME=value; nil is none
	Expand   func(path string) string                                                              // makes ~ absolute
	Own      func(path string) bool                                                                // it holds Oxios' own home, or lies in it
	Mask     func(text string) string                                                              // takes secrets out of a text
	Keep     func(c *guard.Caller, text string) string                                             // holds a long result so that its caller can read it on, and returns its id; "" where it cannot
	Progress func(ctx context.Context, c *guard.Caller, text string)                               // what a server says of a call that it works on, for the person
	Ask      func(ctx context.Context, c *guard.Caller, f security.Form) (security.Answers, error) // has the person answer what a server asks; it waits for them
	Complete func(ctx context.Context, c *guard.Caller, s Sample) (Sampled, error)                 // has the model answer a server; it waits for the person's approval
	Brings   func(server, tool string) store.Labels                                                // where what a server said came from
	Ends     func(ctx context.Context) bool                                                        // a call ends because Oxios does, and is gone on with in its next process
	// AppCaller returns who an app calls as, in the conversation of its run. over is called when the app no longer waits for a call.
	AppCaller func(ctx context.Context, server, run string) (c *guard.Caller, over func(call string, subject any), err error)
	Told      func(server string) // something about a server changed: faces look again
}

// Service is the part of the kernel that speaks to MCP servers.
type Service struct {
	c           Config
	environment func() map[string]variable // the servers that the environment names, by name

	mu      sync.Mutex
	live    map[string]*live       // by name: what runs, or is being started
	ended   map[string][]time.Time // when one ended by itself, within the time that counts
	read    map[string]read        // what is known of each, by name
	offers  map[string]readOffers  // what each has besides tools, by name
	began   chan struct{}          // a server runs: it has to be looked after
	found   map[string]found       // where packages come from, by kind and scope
	loading map[string]*loading    // by name: what is being installed
	altered map[string]string      // by name: the hash of what lies there in place of what was installed
	doors   map[string]*door       // by name: the sign-ins of servers
	signing map[string]*signing    // by name: the sign-in that was begun last
	closed  bool
	pin     sync.Mutex // held by who compares what a server says with what was accepted
	running bool
	tickets tickets
}

// New returns the service. It starts nothing: a server runs from the first call of one of its tools on.
func New(c Config) *Service {
	return &Service{
		c: c, environment: sync.OnceValue(func() map[string]variable {
			if c.Environ == nil {
				return nil
			}
			return readEnvironment(c.Environ())
		}),
		found: map[string]found{}, loading: map[string]*loading{}, altered: map[string]string{},
		live: map[string]*live{}, ended: map[string][]time.Time{}, read: map[string]read{}, offers: map[string]readOffers{}, doors: map[string]*door{}, signing: map[string]*signing{},
		began: make(chan struct{}, 1),
	}
}

// As is the service as a caller sees it.
func (s *Service) As(c *guard.Caller) *API { return &API{c: c, s: s} }

// Run ends servers that nobody has called for a while, and those that config.toml no longer has, until ctx ends. Those
// that run then are ended by [Service.Close]: whoever still calls them is stopped first.
func (s *Service) Run(ctx context.Context) error {
	s.mu.Lock()
	twice := s.running
	s.running = true
	s.mu.Unlock()
	if twice {
		return sys.Errorf(sys.CodeConflict, "The servers are looked after already.")
	}
	due := time.NewTimer(tendEvery) // while nothing runs it wakes nobody
	due.Stop()
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.began:
			due.Reset(tendEvery)
		case <-due.C:
			if s.tend() {
				due.Reset(tendEvery)
			}
		}
	}
}

// tendEvery is how often is looked for servers that nobody needs.
const tendEvery = 15 * time.Second

// tend ends those that nobody needs, and reports whether others run.
func (s *Service) tend() bool {
	set := s.settings()
	idle := time.Duration(set.IdleMin) * time.Minute
	if idle == 0 {
		idle = 10 * time.Minute
	}
	now := s.c.Clock.Now()
	s.mu.Lock()
	var over []*live
	for name, l := range s.live {
		def, ok := set.Servers[name]
		if !ok || !l.def.runsAs(def) || l.idle(now, idle) {
			over = append(over, l)
		}
	}
	s.mu.Unlock()
	for _, l := range over {
		l.end()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live) > 0
}

// path makes a path that begins with ~ absolute, and leaves every other word alone.
func (s *Service) path(p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		return s.c.Expand(p)
	}
	return p
}

// Close ends all servers, and waits until they have. No other is started.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.endAll()
	return nil
}

func (s *Service) endAll() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.live))
	installs := slices.Collect(maps.Values(s.loading))
	waiting := slices.Collect(maps.Keys(s.signing))
	s.mu.Unlock()
	var ending sync.WaitGroup
	for _, name := range waiting {
		ending.Go(func() { s.giveUp(name) })
	}
	for _, l := range all {
		ending.Go(l.end)
	}
	for _, i := range installs {
		ending.Go(i.end)
	}
	ending.Wait()
}

// Checks says how the servers stand: one line for all of them. It starts none.
func (s *Service) Checks(context.Context) []health.Check {
	set := s.settings()
	unusable := s.unusable()
	if len(set.Servers)+len(unusable) == 0 {
		return nil
	}
	c := health.Check{Name: "mcp", State: health.OK}
	var broken, changed []string
	on := 0
	for _, name := range slices.Sorted(maps.Keys(set.Servers)) {
		def := set.Servers[name]
		if def.Disabled {
			continue
		}
		on++
		k, ok, err := s.known(name, def)
		switch {
		case err != nil || s.broken(name):
			broken = append(broken, name)
		case ok && k.Changed != nil:
			changed = append(changed, name)
		}
	}
	c.Detail = sys.Say("%d servers, %d of them on", len(set.Servers), on)
	switch {
	case len(unusable) > 0:
		c.State, c.Detail = health.Warn, unusable[0].Problem
		c.Hint = sys.Say("Correct %s where you set it, then start Oxios again.", unusable[0].Variable)
	case len(broken) > 0:
		c.State, c.Detail = health.Warn, sys.Say("Servers that keep stopping: %s", strings.Join(broken, ", "))
		c.Hint = sys.Say("`oxios mcp log %s` shows what it said last.", broken[0])
	case len(changed) > 0:
		c.State, c.Detail = health.Warn, sys.Say("Servers that changed their tools: %s", strings.Join(changed, ", "))
		c.Hint = sys.Say("Review the change under Extensions, or with `oxios mcp show %s`.", changed[0])
	}
	return []health.Check{c}
}

// Kept is what the service keeps in the home.
func (s *Service) Kept() []home.Part {
	return []home.Part{{ID: "extensions", Folder: "mcp"}}
}
