package kernel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// What the guardian looks at.
const (
	FindingAudit     = "audit"
	FindingWitness   = "witness"
	FindingWorkspace = "workspace"
	FindingDatabase  = "database"
	FindingDisk      = "disk"
	FindingLoad      = "load"
	FindingLock      = "keys_locked" // keys wait for their passphrase
	FindingLoose     = "keys_loose"  // keys lie unencrypted in files of older programs
)

const (
	guardEvery = 5 * time.Minute
	wholeEvery = 24 * time.Hour // all records and the whole database, not only what is new
	leastDisk  = 1 << 30        // bytes that should be free: a database that cannot grow records nothing
)

// Finding is something that the guardian found, and that still holds.
type Finding struct {
	Kind      string    `json:"kind"`  // audit, witness, workspace, database, disk, load, keys_locked, keys_loose, or the name of a part
	Bad       bool      `json:"bad"`   // the person hears of it; otherwise it stands in the audit record alone
	Since     time.Time `json:"since"` // when it was found
	Message   string    `json:"message"`
	MessageKO string    `json:"message_ko,omitempty"`
	Hint      string    `json:"hint,omitempty"`
	HintKO    string    `json:"hint_ko,omitempty"`
}

func found(bad bool, message, hint sys.Words) *Finding {
	return &Finding{Bad: bad, Message: message.EN, MessageKO: message.KO, Hint: hint.EN, HintKO: hint.KO}
}

// guardian is what was found when somebody looked last.
type guardian struct {
	look sync.Mutex // held while one looks

	mu       sync.Mutex
	findings map[string]Finding
	whole    time.Time         // when it looked at everything last
	verified security.Verified // how far the chain is known to be good
}

// list returns the findings, the first one first.
func (g *guardian) list() []Finding {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Finding
	for _, f := range g.findings {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return strings.Compare(a.Kind, b.Kind)
	})
	return out
}

// keepGuard looks at the house when it begins and every five minutes, until ctx
// ends. A command of the terminal is over before that.
func (k *Kernel) keepGuard(ctx context.Context) error {
	if k.opts.Owner == OwnerRun {
		return nil
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		k.inspect(ctx, false)
		timer.Reset(k.opts.Guard)
	}
}

// inspect looks at everything that the guardian watches over. What is new goes
// into the audit record, and so does what was mended; the status tells the rest.
func (k *Kernel) inspect(ctx context.Context, whole bool) {
	g := &k.guardian
	g.look.Lock()
	defer g.look.Unlock()
	now := k.clock.Now()
	g.mu.Lock()
	before := g.findings
	whole = whole || g.whole.IsZero() || now.Sub(g.whole).Abs() >= wholeEvery
	g.mu.Unlock()

	checks := map[string]func(context.Context, bool) *Finding{
		FindingAudit: k.guardAudit, FindingWitness: k.guardWitness, FindingWorkspace: k.guardWorkspace, FindingDatabase: k.guardDatabase, FindingDisk: k.guardDisk, FindingLoad: k.guardLoad,
		FindingLock: k.guardLock, FindingLoose: k.guardLoose,
	}
	after := map[string]Finding{}
	ofParts(k, func(p examined) {
		for _, c := range p.Checks(ctx) {
			if c.State == CheckOK {
				continue
			}
			checks[c.Name] = func(context.Context, bool) *Finding { return found(true, c.Detail, c.Hint) }
		}
	})
	for kind, check := range checks {
		// What was damaged may have been mended anywhere.
		f := check(ctx, whole || before[kind].Kind != "")
		if ctx.Err() != nil {
			return
		}
		if f == nil {
			continue
		}
		f.Kind, f.Since = kind, now
		if old, ok := before[kind]; ok && old.Message == f.Message {
			f.Since = old.Since
		}
		after[kind] = *f
	}
	k.recordFindings(ctx, before, after)
	if after[FindingAudit].Kind == "" && after[FindingWitness].Kind == "" {
		k.keepBounds(ctx)
	}
	k.keepJournals(ctx)
	k.keepCaches(ctx)
	g.mu.Lock()
	g.findings = after
	if whole {
		g.whole = now
	}
	g.mu.Unlock()
	k.publishStatus()
}

// recordFindings puts what is new and what was mended into the audit chain.
func (k *Kernel) recordFindings(ctx context.Context, before, after map[string]Finding) {
	var entries []security.Entry
	entry := func(f Finding, state string) {
		meta := map[string]any{"finding": f.Kind, "state": state, "bad": f.Bad, "message": f.Message, "node": k.node}
		entries = append(entries, k.newEntry("guardian", security.ActionOther, "guardian:"+f.Kind, meta))
	}
	for kind, f := range after {
		if before[kind].Message != f.Message {
			entry(f, "found")
		}
	}
	for kind, f := range before {
		if _, ok := after[kind]; !ok {
			entry(f, "mended")
		}
	}
	if len(entries) == 0 {
		return
	}
	err := k.store.Write(ctx, func(tx *store.Tx) error {
		for _, e := range entries {
			if _, err := k.audit.Append(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		k.log.Warn("What the guardian found could not be recorded", "error", err)
	}
	for _, e := range entries {
		k.log.Warn("The guardian found something, or it was mended", "what", e.Resource, "details", string(e.Metadata))
	}
}

// guardAudit verifies what the chain got since the last look, or all of it.
func (k *Kernel) guardAudit(ctx context.Context, whole bool) *Finding {
	g := &k.guardian
	g.mu.Lock()
	from := g.verified
	g.mu.Unlock()
	if whole || !k.auditOK.Load() { // somebody else found it damaged
		from = security.Verified{}
	}
	r, to, err := k.audit.VerifyAfter(ctx, from)
	if err == nil && r.OK {
		r, err = k.audit.VerifyCheckpoints(ctx, whole, r)
	}
	if err == nil && whole && r.OK {
		r, err = k.audit.VerifyArchives(ctx, k.opts.Home, r)
	}
	if ctx.Err() != nil {
		return nil
	}
	hint := sys.Say("Export the chain with `oxios audit export` before you do anything else.")
	if err != nil {
		return found(true, sys.Say("The audit record cannot be read: %s", sys.TextOf(err)), hint)
	}
	k.noteChecked(r)
	switch {
	case r.OK:
		g.mu.Lock()
		g.verified = to
		g.mu.Unlock()
		return nil
	case r.Lacks != "" && (r.Lacks == k.witness() || k.checked.noKey != nil):
		return nil // [Kernel.guardWitness] tells it
	case r.Lacks != "":
		return found(true, sys.Words{EN: r.Problem, KO: r.ProblemKO}, sys.Say("Find out who changed it. `oxios audit renew` begins the evidence anew and keeps what is there."))
	case r.FirstBad == 0:
		return found(true, sys.Say("What the audit record vouches for was altered: %s", sys.Words{EN: r.Problem, KO: r.ProblemKO}), hint)
	}
	return found(true, sys.Say("The audit record is damaged from entry %d on: %s", r.FirstBad, sys.Words{EN: r.Problem, KO: r.ProblemKO}), hint)
}

// guardWorkspace compares seeds and evaluations with their history.
func (k *Kernel) guardWorkspace(ctx context.Context, _ bool) *Finding {
	dir := filepath.Join(k.opts.Home, "workspace")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	changed, err := k.workspace.Verify(ctx)
	// Evaluations are written anew, and differ until that is committed; seeds never do.
	changed = slices.DeleteFunc(changed, func(name string) bool { return !strings.HasPrefix(name, "seeds/") })
	switch {
	case err != nil:
		return found(true, sys.Say("The history of seeds and evaluations is damaged: %s", sys.TextOf(err)),
			sys.Say("The files themselves are kept. End Oxios, and take %s from a backup, or move it away: then a new history begins.", shortenHome(filepath.Join(dir, ".git"))))
	case len(changed) > 0:
		return found(true, sys.Say("workspace/%s is not as it was written", namesOf(changed)), sys.Say("Seeds are never changed by Oxios. `git -C %s checkout -- .` brings back what was written.", shortenHome(dir)))
	}
	return nil
}

// namesOf lists some files in one line.
func namesOf(files []string) string {
	const most = 3
	if len(files) <= most {
		return strings.Join(files, ", ")
	}
	return strings.Join(files[:most], ", ") + ", …"
}

// guardDatabase reads the whole database, so not each time.
func (k *Kernel) guardDatabase(ctx context.Context, whole bool) *Finding {
	if !whole {
		return nil
	}
	if err := k.store.Check(ctx); err != nil && ctx.Err() == nil {
		return found(true, sys.TextOf(err), sys.Say("Copies made before changes of the database lie beside it; `oxios doctor --restore FILE` goes back to one."))
	}
	return nil
}

func (k *Kernel) guardDisk(ctx context.Context, _ bool) *Finding {
	s, err := k.monitor.Now(ctx)
	if err != nil || s.DiskFree >= leastDisk { // a system that says nothing of its disk has none that is full
		return nil
	}
	return found(true, sys.Say("The disk of %s is nearly full. When it is full nothing can be recorded, and agents cannot go on.", shortenHome(k.opts.Home)),
		sys.Say("Free some space. `oxios storage` shows what Oxios takes."))
}

func (k *Kernel) guardLoad(context.Context, bool) *Finding {
	if !k.monitor.Overloaded() {
		return nil
	}
	return found(false, sys.Say("The machine is busy: agents of low priority wait."), sys.Words{})
}

// checkGuardian says what the guardian found, after it has looked once more.
func (k *Kernel) checkGuardian(ctx context.Context) Check {
	k.inspect(ctx, false)
	c := Check{Name: "guardian", State: CheckOK, Detail: sys.Say("looked at the record, the seeds, the database and the disk: nothing found")}
	for _, f := range k.guardian.list() {
		if f.Bad && c.State == CheckFail {
			continue // the first one
		}
		c.State, c.Detail, c.Hint = CheckWarn, sys.Words{EN: f.Message, KO: f.MessageKO}, sys.Words{EN: f.Hint, KO: f.HintKO}
		if f.Bad {
			c.State = CheckFail
		}
	}
	return c
}
