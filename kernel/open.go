package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"oxios/kernel/agent"
	"oxios/kernel/awake"
	"oxios/kernel/event"
	"oxios/kernel/git"
	"oxios/kernel/limit"
	"oxios/kernel/memory"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The faces that may own a home.
const (
	OwnerDesktop = "desktop"
	OwnerServe   = "serve"
	OwnerRun     = "run" // one command of the terminal
)

// Open builds the kernel of a home, top to bottom; the order is that of the
// dependencies. It starts nothing: [Kernel.Run] does. A home that another
// process owns gives [sys.CodeBusy], a database of a newer version
// [sys.CodeNewerDatabase]; both leave everything as it was.
func Open(ctx context.Context, o Options) (_ *Kernel, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := makeHome(o.Home); err != nil {
		return nil, err
	}
	k := &Kernel{opts: o, log: o.Log, clock: o.Clock, statusDue: make(chan struct{}, 1), diskDue: make(chan struct{}, 1), sleepDue: make(chan struct{}, 1), ready: make(chan struct{})}
	k.background, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			k.cancel()
		}
	}()

	if k.lock, err = lockHome(o.Home, o.Owner); err != nil {
		return nil, err
	}
	undo := []func(){func() { _ = k.lock.Unlock() }}
	defer func() {
		if err != nil {
			for i := len(undo) - 1; i >= 0; i-- {
				undo[i]()
			}
		}
	}()

	if k.config, err = openConfig(o.Home, o.Catalogue); err != nil {
		return nil, err
	}
	cfg := k.config.get()
	if k.store, err = store.Open(ctx, filepath.Join(o.Home, "oxios.db"), store.Options{Clock: o.Clock, Log: o.Log, Durable: o.Durable, Health: k.diskHealth}); err != nil {
		return nil, err
	}
	undo = append(undo, func() { _ = k.store.Close() })
	if k.node, err = k.nodeID(ctx); err != nil {
		return nil, err
	}

	k.bus = event.NewBus(o.Clock)
	k.network = newNetwork()
	k.neighbours = newNeighbours()
	k.redact = security.NewRedactor()
	k.marks = sync.OnceValue(k.openMarks)
	k.audit = security.NewAudit(k.store, o.Clock)
	newKey := k.keepCheckpoints()
	k.approvals = security.NewApprovals(k.store, security.ApprovalConfig{Clock: o.Clock, Notify: func(a security.Approval) {
		k.publish(event.ApprovalChange, scope{runID: a.Request.RunID, sessionID: a.Request.SessionID}, a)
		k.publishInterview(a)
		k.publishStatus()
	}, OnExpire: func(tx *store.Tx, a security.Approval) error {
		return k.recordDecision(tx, "kernel", a)
	}})
	k.grants = security.NewGrants(k.store, o.Clock)
	if err = k.loseForms(ctx); err != nil {
		return nil, err
	}
	if _, err = k.approvals.Expire(ctx); err != nil {
		return nil, fmt.Errorf("expire approvals: %w", err)
	}
	k.keys = security.NewCredentials(filepath.Join(o.Home, "keys"), security.CredentialOptions{FileOnly: !cfg.Keyring, Clock: o.Clock, Log: o.Log})
	k.cmds = newCommands(k)
	k.undos = newUndos(k)
	k.tries = newTries(k)
	k.attached = newAttachments(o.Home)
	watched := *k.opts.Net
	watched.Grants = func() []netip.Prefix { return k.config.get().grantedAddresses() }
	k.opts.Net = &watched
	k.web = k.newWeb()
	if err = k.firstVault(); err != nil {
		return nil, err
	}
	k.memories = memory.Open(k.store, o.Clock)
	k.embeddings = newEmbeddings(k)
	k.memories.UseEmbedder(k.embeddings, k.embeddings.wake)
	k.workspace = git.New(filepath.Join(o.Home, "workspace"), o.Clock)
	k.sandbox = sandbox.New(sandbox.Config{Helper: o.Helper, Most: o.Isolation, Log: o.Log, CacheDir: filepath.Join(o.Home, cachesFolder), Env: k.hostEnv, Kinds: kindOf})
	k.mcp, k.skills, k.clients = k.newMCP(), k.newSkills(), k.newClients()
	k.parts = append(k.parts, k.mcp, k.skills, k.clients)
	k.engine = newEngine(k)
	k.runner = &agent.Runner{Store: k.store, Bus: k.bus, Log: o.Log, Clock: o.Clock}
	k.exchange = k.newExchange()
	k.budgets = limit.NewBudgets(books{k}, o.Clock, func() *time.Location { return time.Local }, k.window)
	k.runs = newRuns(cfg, o.Clock, func() bool { return k.monitor.Overloaded() })
	k.monitor = limit.NewMonitor(o.Home, k.runs.atWork, o.Clock)
	k.unwritten = newUnwritten()
	if err = k.loadPaused(ctx); err != nil {
		return nil, err
	}
	// An earlier process was killed before it could finish these. What cannot be deleted now, as on a full disk, stays
	// hidden until the next start.
	k.sweep()
	k.discards = newDiscards()
	if _, perr := k.purge(ctx, nil); perr != nil {
		k.log.Warn("Could not delete discarded conversations", "error", perr)
	}
	k.tries.sweep()
	k.dropOldCaches()
	k.undos.afterCrash(ctx)
	// Whoever holds the home's lock has all its runs at once. A one-shot run
	// never goes on with others' runs.
	if o.Owner != OwnerRun {
		if k.left, err = k.store.TakeOver(ctx, o.Owner+":"+sys.NewID()); err != nil {
			return nil, fmt.Errorf("take over runs: %w", err)
		}
	}
	k.recordStart(ctx, newKey)
	return k, nil
}

func (o Options) withDefaults() (Options, error) {
	if o.Home == "" || !filepath.IsAbs(o.Home) {
		return o, sys.Errorf(sys.CodeInvalid, "The home folder %q is not an absolute path.", o.Home).WithHint("Set OXIOS_HOME to an absolute path.")
	}
	if o.Tools == nil {
		return o, sys.Errorf(sys.CodeInternal, "The kernel was opened without tools.")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Env == nil {
		o.Env = os.Getenv
		if o.Environ == nil {
			o.Environ = os.Environ
		}
	}
	if o.LoginEnv == nil {
		o.LoginEnv = sandbox.LoginEnv
	}
	if o.Owner == "" {
		o.Owner = OwnerServe
	}
	if o.Net == nil {
		o.Net = &security.NetGuard{}
	}
	if o.Sleep == nil {
		o.Sleep = awake.System{}
	}
	if o.Undo <= 0 {
		o.Undo = undoTime
	}
	if o.MaxPaths <= 0 {
		o.MaxPaths = maxLooked
	}
	if o.Guard <= 0 {
		o.Guard = guardEvery
	}
	if o.Tend <= 0 {
		o.Tend = tendEvery
	}
	o.Home = filepath.Clean(o.Home)
	return o, nil
}

// DefaultHome is $OXIOS_HOME, else ~/.oxios.
func DefaultHome() (string, error) {
	if h := os.Getenv("OXIOS_HOME"); h != "" {
		return filepath.Abs(h)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", sys.Errorf(sys.CodeUnavailable, "Your home folder is not known: %w.", err).WithHint("Set OXIOS_HOME to the folder in which Oxios should keep its data.")
	}
	return filepath.Join(home, ".oxios"), nil
}

// makeHome makes the folders of a home, closed to everybody else. A home that
// others may enter is closed, as it holds keys and conversations.
func makeHome(home string) error {
	for _, d := range []string{home, filepath.Join(home, "run"), filepath.Join(home, "keys"), filepath.Join(home, "logs"), filepath.Join(home, cachesFolder)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return folderError(home, err)
		}
	}
	if err := os.Chmod(home, 0o700); err != nil {
		return folderError(home, err)
	}
	return nil
}

func folderError(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return sys.Errorf(sys.CodeUnavailable, "The folder %s cannot be used: %w.", dir, err).WithHint("Make it yours, or set OXIOS_HOME to another folder.")
	}
	return sys.Errorf(sys.CodeUnavailable, "The folder %s cannot be made: %w.", dir, err)
}

// lockHome makes this process the owner of the home, until it ends however it
// ends.
func lockHome(home, owner string) (*flock.Flock, error) {
	path := filepath.Join(home, "run", "lock")
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	// A process that was killed while it started another one leaves its lock to that for a moment.
	for end := time.Now().Add(time.Second); err == nil && !ok && time.Now().Before(end) && ownerGone(home); ok, err = l.TryLock() {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return nil, sys.Errorf(sys.CodeUnavailable, "The home %s cannot be locked: %w.", home, err)
	}
	if !ok {
		who, _ := os.ReadFile(filepath.Join(home, "run", "owner"))
		return nil, sys.Errorf(sys.CodeBusy, "Another Oxios (%s) uses %s.", cmp.Or(strings.TrimSpace(string(who)), "unknown"), home).
			WithHint("Use that one, or end it first.")
	}
	text := fmt.Sprintf("%s, process %d", owner, os.Getpid())
	if err := os.WriteFile(filepath.Join(home, "run", "owner"), []byte(text), 0o600); err != nil {
		_ = l.Unlock()
		return nil, sys.Errorf(sys.CodeUnavailable, "The home %s cannot be written: %w.", home, err)
	}
	return l, nil
}

// ownerGone reports whether the process that last owned a home has ended. Where
// that cannot be told it has not.
func ownerGone(home string) bool {
	who, err := os.ReadFile(filepath.Join(home, "run", "owner"))
	_, id, found := strings.Cut(string(who), ", process ")
	pid, perr := strconv.Atoi(strings.TrimSpace(id))
	if err != nil || !found || perr != nil {
		return false
	}
	p, err := os.FindProcess(pid)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// recordStart begins this kernel's part of the audit chain. It also declares a
// clock that was set back since the last part, and names the key that signs it
// when that is new.
//
// Nobody waits for the disk here: what is written later comes after it, and nobody
// is given a Handle before it is there.
func (k *Kernel) recordStart(ctx context.Context, newKey bool) {
	meta := map[string]any{"version": k.opts.Version, "owner": k.opts.Owner, "node": k.node}
	if newKey {
		maps.Copy(meta, k.audit.KeyWords())
	}
	k.recorded = sync.OnceValue(k.store.Queue(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		signed, err := k.audit.StartWords(tx)
		if err != nil {
			return err
		}
		maps.Copy(meta, signed)
		_, err = k.audit.Append(tx, plainEntry("kernel", security.ActionOther, "kernel opened", meta))
		return err
	}))
	k.auditOK.Store(true) // until a verification says otherwise
}

// nodeID is the id of this installation: made once, kept in the database. It is
// read where it would be written: a connection for readers takes a millisecond to
// open, and the start needs none.
func (k *Kernel) nodeID(ctx context.Context) (id string, err error) {
	err = k.store.Write(ctx, func(tx *store.Tx) error {
		known, ok, err := k.store.GetIn(tx, "node")
		if id = known; err != nil || ok {
			return err
		}
		id = sys.NewID()
		return k.store.Put(tx, "node", id)
	})
	return id, err
}
