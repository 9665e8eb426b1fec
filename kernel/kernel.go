package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"oxios/kernel/a2a"
	"oxios/kernel/agent"
	programs "oxios/kernel/client"
	"oxios/kernel/document"
	"oxios/kernel/event"
	"oxios/kernel/git"
	"oxios/kernel/limit"
	"oxios/kernel/mcp"
	"oxios/kernel/memory"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/skill"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/wasm"
	"oxios/kernel/web"
)

// Options is what a kernel is made from. Home and Tools are needed.
type Options struct {
	Home    string // the home folder, absolute; made with mode 0700 if it is missing
	Version string // of the program, for people
	Owner   string // which face owns the home: desktop, serve or run; default serve
	Helper  string // the static oxios binary, which runs commands contained; "" gives isolation 0
	Window  string // the window's program, which can start with the system; "" where there is none
	Log     *slog.Logger
	Clock   sys.Clock

	// Tools makes what one run may use, from that run's own Handle. It is
	// called when the kernel is complete.
	Tools func(ctx context.Context, h *Handle, goal string) (agent.Toolset, error)

	// Catalogue lists the tools that Tools can make, for the settings.
	Catalogue []ToolInfo

	// Demo starts the scripted endpoint and returns its base URL. It lives
	// until ctx ends. Nil: no demo is offered.
	Demo func(ctx context.Context) (baseURL string, err error)

	// Env reads the environment; default os.Getenv. Environ lists it; default
	// os.Environ, or nothing where Env is another one. LoginEnv is the
	// environment of commands; default that of the person's login shell.
	Env      func(string) string
	Environ  func() []string
	LoginEnv func(ctx context.Context) ([]string, error)

	// Net is the guard of what contained commands reach; default the one that
	// asks the system's name service and dials for real.
	Net *security.NetGuard

	// Isolation is the strongest that commands get, 0 for the strongest that holds
	// here; for tests.
	Isolation sys.Isolation

	// Sleep holds off the computer's sleep; default that of the system.
	Sleep SleepLock

	// Undo is how long a deletion can be undone; default 10 s.
	Undo time.Duration

	// MaxPaths is how many paths of a folder are looked at before and after a
	// command; default 100,000.
	MaxPaths int

	// Guard is how often the guardian looks; default 5 minutes.
	Guard time.Duration

	// Tend is how often the kernel looks whether a conversation rests, and
	// whether the memories wait to be put in order; default a minute.
	Tend time.Duration

	// Durable is called after each commit of the database; see [store.Options].
	Durable func()

	// NoDiscovery keeps the kernel from asking the machine's ports for model
	// servers; for tests.
	NoDiscovery bool
}

// Kernel is the running system of one home. Make one with [Open].
type Kernel struct {
	opts  Options
	log   *slog.Logger
	clock sys.Clock
	node  string // this installation's id, in audit records

	lock       *flock.Flock
	config     *configFile
	store      *store.Store
	bus        *event.Bus
	audit      *security.Audit
	approvals  *security.Approvals
	grants     *security.Grants
	keys       *security.Credentials
	redact     *security.Redactor
	sandbox    *sandbox.Runner
	terminals  sync.Map // of conversations: the PATH of the terminal and what belongs to it
	engine     *engine
	runs       *runs
	runner     *agent.Runner
	exchange   *a2a.Exchange
	demo       demoServer
	network    *network
	neighbours *neighbours
	lost       lostForms
	budgets    *limit.Budgets
	monitor    *limit.Monitor
	reached    reached // limits that runs wait for
	cmds       *commands
	undos      *undos
	seen       seenFiles
	tries      *tries
	holds      holds
	discards   *discards
	housework  sync.Mutex // held while a backup, a restore or a cleaning is under way
	unwritten  *unwritten
	names      names // in the folder that somebody mentions files of
	attached   *attachments
	memories   *memory.Memories
	embeddings *embeddings
	care       care
	web        *web.Client
	marks      func() *security.Marks // of secrets in files
	shown      shownMarks
	vaults     vaults

	topics      topics     // of the spaces
	vaultWrites sync.Mutex // held while the vault is changed
	workspace   *git.Repo  // seeds and evaluations
	mcp         *mcp.Service
	skills      *skill.Service
	clients     *programs.Service
	parts       []any // in the order in which they were built
	guardian    guardian

	left       []store.Run     // open runs of an earlier process, until Run takes them up
	ready      chan struct{}   // closed when Run has
	background context.Context // ends at Close; for work that a call began and that outlives it
	cancel     context.CancelFunc
	running    atomic.Bool
	front      front
	auditOK    atomic.Bool  // what the last verification found
	recorded   func() error // waits until the start is in the audit chain
	checked    checked      // and when, and how far it came
	statusDue  chan struct{}
	diskDue    chan struct{}             // the disk takes nothing, or takes writes again
	disk       atomic.Pointer[sys.Error] // why nothing can be written; nil while it can
	sleepDue   chan struct{}             // who works may have changed
	trouble    atomic.Pointer[sys.Error] // what a person should know, in Status
	page       atomic.Pointer[func() string]
}

// Run takes up the runs that an earlier process left, then keeps the house: the
// expiry of approvals and config.toml. It blocks until ctx ends and returns nil
// then.
func (k *Kernel) Run(ctx context.Context) error {
	if !k.running.CompareAndSwap(false, true) {
		return sys.Errorf(sys.CodeConflict, "The kernel runs already, or has run.")
	}
	if err := k.takeUp(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	close(k.ready)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return k.approvals.Run(ctx) })
	g.Go(func() error { return k.runs.scheduler.Run(ctx) })
	g.Go(func() error { return k.watchConfig(ctx) })
	g.Go(func() error { return k.watchDiscards(ctx) })
	g.Go(func() error { return k.watchStatus(ctx) })
	g.Go(func() error { return k.holdOffSleep(ctx) })
	g.Go(func() error { return k.writeEnds(ctx) })
	g.Go(func() error { return k.watchDisk(ctx) })
	g.Go(func() error { return k.probe(ctx) })
	g.Go(func() error { return k.monitor.Run(ctx) })
	g.Go(func() error { return k.keepGuard(ctx) })
	g.Go(func() error { return k.signAudit(ctx) })
	g.Go(func() error { return k.readEnv(ctx) })
	g.Go(func() error { return k.tendAttachments(ctx) })
	g.Go(func() error { return k.undos.tend(ctx) })
	g.Go(func() error { return k.restMemory(ctx) })
	g.Go(func() error { return k.keepEmbedded(ctx) })
	g.Go(func() error { return k.tendMemory(ctx) })
	g.Go(func() error { return k.keepVault(ctx) })
	ofParts(k, func(p runner) { g.Go(func() error { return p.Run(ctx) }) })
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Ready is closed when [Kernel.Run] has taken up what an earlier process left.
func (k *Kernel) Ready() <-chan struct{} { return k.ready }

// Close ends all work and closes what is open, the last opened first. Runs that
// wait for a person go on waiting in the journal.
func (k *Kernel) Close() error {
	k.cancel()
	if !k.runs.Close(10 * time.Second) {
		k.log.Warn("Some runs did not end in time")
	}
	k.tryEnds(context.WithoutCancel(k.background))
	if err := k.store.Write(context.Background(), k.store.PutDown); err != nil {
		k.log.Warn("Could not note that this ends in order", "error", err)
	}
	if err := k.closeParts(); err != nil {
		k.log.Warn("A part did not close in order", "error", err)
	}
	k.sandbox.Close()
	k.undos.ending.Wait()
	k.bus.Close()
	if _, err := k.purge(context.Background(), nil); err != nil {
		k.log.Warn("Discarded conversations are deleted at the next start", "error", err)
	}
	k.checkpoint(context.Background()) // nothing is recorded after it: the next start tells what is found behind it
	return errors.Join(k.vault().Close(), k.store.Close(), k.lock.Unlock())
}

// Home returns the home folder.
func (k *Kernel) Home() string { return k.opts.Home }

// Version returns the program's version.
func (k *Kernel) Version() string { return k.opts.Version }

// AgentOf returns the agent whose command the process pid descends from. A
// caller on the socket that has one is that agent, never the person: nobody
// approves their own request.
func (k *Kernel) AgentOf(pid int) (sys.Principal, bool) {
	run, ok := k.sandbox.Owner(pid)
	if !ok {
		return sys.Principal{}, false
	}
	return k.agentPrincipal(run), true
}

// isolation is how strongly commands are contained here. The first question
// waits for the escape attempts, some 100 ms; Run asks it at once.
func (k *Kernel) isolation() sys.Isolation { return k.sandbox.Probe(k.background).Level }

// probe tries the escapes and records what held.
func (k *Kernel) probe(ctx context.Context) error {
	r := k.sandbox.Probe(ctx)
	if ctx.Err() != nil {
		return nil
	}
	meta := map[string]any{"isolation": int(r.Level), "landlock": r.Landlock, "problem": r.Problem, "node": k.node}
	err := k.store.Write(ctx, func(tx *store.Tx) error {
		_, err := k.audit.Append(tx, k.newEntry("kernel", security.ActionOther, "isolation probed", meta))
		return err
	})
	if err != nil && ctx.Err() == nil {
		k.log.Warn("Could not record the isolation", "error", err)
	}
	return nil
}

// newEntry makes an audit record. Secrets in it are masked: the chain is for
// ever.
func (k *Kernel) newEntry(actor string, kind security.Action, resource string, meta map[string]any) security.Entry {
	e := plainEntry(actor, kind, k.masked(resource), meta)
	e.Metadata = json.RawMessage(k.masked(string(e.Metadata)))
	return e
}

// plainEntry makes an audit record of words that are the kernel's own, which hold no
// secret: the public key that signs the chain would be taken for one by its name.
func plainEntry(actor string, kind security.Action, resource string, meta map[string]any) security.Entry {
	raw, err := json.Marshal(meta)
	if err != nil { // nothing that we put in fails to marshal
		raw = json.RawMessage(`{}`)
	}
	return security.Entry{Actor: actor, Action: kind, Resource: resource, Metadata: raw}
}

// masked returns s without the secrets in it.
func (k *Kernel) masked(s string) string {
	out, _ := k.redact.Redact(s)
	return out
}

func (k *Kernel) publish(kind string, s scope, data any) {
	k.bus.Publish(event.Event{Kind: kind, RunID: s.runID, SessionID: s.sessionID, Data: data})
}

func (k *Kernel) publishStep(s scope, step store.Step) {
	k.publish(event.StepChanged, s, agent.View(step))
}

// SandboxHelper runs this process as the sandbox helper, as a reader of documents
// or as the host of a module, if it was started as one, and reports whether it
// was. main calls it before anything else.
func SandboxHelper() bool { return sandbox.Main() || document.Main() || wasm.Main() }
