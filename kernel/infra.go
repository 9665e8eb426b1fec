package kernel

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Status is the kernel's state at a glance.
type Status struct {
	Version      string        `json:"version"`
	Home         string        `json:"home"`
	Owner        string        `json:"owner"` // desktop, serve or run
	PID          int           `json:"pid"`
	Running      int           `json:"running"`           // runs at work, those that wait for a person apart
	Waiting      int           `json:"waiting"`           // approvals that wait
	NotMet       int           `json:"not_met,omitempty"` // runs that the person has not seen, whose task was not met
	Paused       bool          `json:"paused"`
	AuditOK      bool          `json:"audit_ok"` // as of the last verification
	Audit        sys.Words     `json:"audit"`    // the same in a few words; empty before the first verification
	AuditEntries int64         `json:"audit_entries"`
	Today        Cost          `json:"today"`             // since midnight, local time
	Limits       Limits        `json:"limits"`            // of the day, or of the window
	Window       *WindowUse    `json:"window,omitempty"`  // in place of the day, where window_secs makes one
	Reached      []Reached     `json:"reached,omitempty"` // limits that runs wait for
	Isolation    sys.Isolation `json:"isolation"`
	Onboarded    bool          `json:"onboarded"`
	HasModel     bool          `json:"has_model"`          // there is a default model:
	Provider     string        `json:"provider,omitempty"` // whose it is
	Model        string        `json:"model,omitempty"`    // and its id, chosen by the person or named by the environment
	Demo         bool          `json:"demo"`               // the default model is the scripted demo
	Offline      []Offline     `json:"offline,omitempty"`  // providers that runs wait for, or that are left alone after failures
	Held         []Held        `json:"held,omitempty"`     // what keeps runs from going on, for the person to hear of
	Findings     []Finding     `json:"findings,omitempty"` // of the guardian, the first one first
	MemoryMB     int           `json:"memory_mb"`          // of the machine, 0 when it cannot be told
	Problem      *sys.Error    `json:"problem,omitempty"`
}

// WindowUse is what was spent in the window that the limits of the day hold for.
type WindowUse struct {
	Secs int  `json:"secs"`
	Used Cost `json:"used"`
}

// Status returns the kernel's state at a glance.
func (a *InfraAPI) Status(ctx context.Context) (Status, error) {
	return guard(ctx, a.caller, action{call: "infra.status", resource: "status"}, func(ctx context.Context) (Status, error) {
		return a.k.status(ctx)
	})
}

func (k *Kernel) status(ctx context.Context) (Status, error) {
	s := Status{
		Version: k.opts.Version, Home: shortenHome(k.opts.Home), Owner: k.opts.Owner, PID: os.Getpid(),
		Paused: k.runs.gate.is(), AuditOK: k.auditOK.Load(), Audit: k.verdict(), Isolation: k.isolation(), Problem: k.trouble.Load(),
		Offline: k.away(), MemoryMB: memoryMB(),
	}
	s.Running = k.runs.atWork()
	waiting, err := k.approvals.List(ctx, security.ApprovalQuery{State: security.ApprovalPending})
	if err != nil {
		return s, err
	}
	s.Waiting = len(waiting)
	if s.NotMet, err = k.store.CountNotMet(ctx); err != nil {
		return s, err
	}
	s.Findings = k.guardian.list()
	s.Limits, s.Reached, s.Held = k.config.get().dayLimits(), k.reached.list(), k.held()
	if s.Today, err = k.store.DayCost(ctx, k.budgets.Midnight()); err != nil {
		return s, err
	}
	if w := k.window(); w > 0 {
		s.Window = &WindowUse{Secs: int(w / time.Second)}
		from, _ := k.budgets.Window()
		if s.Window.Used, err = k.store.DayCost(ctx, from); err != nil {
			return s, err
		}
	}
	if last, err := k.audit.List(ctx, security.AuditQuery{Newest: true, Limit: 1}); err == nil && len(last) > 0 {
		s.AuditEntries = last[0].Seq
	}
	done, _, err := k.store.Get(ctx, "onboarded")
	if err != nil {
		return s, err
	}
	s.Onboarded = done == "true"
	if c, err := k.engine.choose(ctx, "", ""); err == nil {
		s.HasModel, s.Provider, s.Model, s.Demo = true, c.provider, c.model, c.demo
	}
	if p := k.config.view().Problem; p != nil && s.Problem == nil {
		s.Problem = p
	}
	if s.Problem == nil {
		s.Problem = k.engine.problemOfPrices()
	}
	return s, nil
}

// memoryMB is how much memory the machine has.
var memoryMB = sync.OnceValue(func() int { return int(totalMemory() >> 20) })

// publishStatus has the status published soon. It never waits, as it is called
// from the writer of the database too.
func (k *Kernel) publishStatus() {
	for _, due := range []chan struct{}{k.statusDue, k.sleepDue} {
		select {
		case due <- struct{}{}:
		default:
		}
	}
}

// watchStatus publishes the status after it changed, at most ten times a second.
func (k *Kernel) watchStatus(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.statusDue:
		}
		s, err := k.status(ctx)
		if err != nil {
			if ctx.Err() == nil {
				k.log.Warn("Could not read the status", "error", err)
			}
			continue
		}
		k.publish(event.StatusChanged, scope{}, s)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// raise tells the person of something that no call of theirs can report.
func (k *Kernel) raise(e *sys.Error) {
	k.trouble.Store(e)
	k.publish(event.Problem, scope{}, e)
	k.publishStatus()
}

// Config returns the configuration. An error in config.toml comes as a problem,
// with the last good configuration in force.
func (a *InfraAPI) Config(ctx context.Context) (ConfigView, error) {
	return guard(ctx, a.caller, action{call: "infra.config", resource: "config"}, func(context.Context) (ConfigView, error) {
		if err := a.k.readConfig(); err != nil {
			return ConfigView{}, err
		}
		return a.k.config.view(), nil
	})
}

// SetConfig changes one setting. A value that does not fit changes nothing.
func (a *InfraAPI) SetConfig(ctx context.Context, key, value string) (ConfigView, error) {
	return guard(ctx, a.caller, action{call: "infra.setConfig", resource: "config:" + key, meta: map[string]any{"value": value}}, func(ctx context.Context) (ConfigView, error) {
		if key == "folder" {
			f, err := a.k.checkFolder(value)
			if err != nil {
				return ConfigView{}, err
			}
			value = shortenHome(f)
		}
		if key == "embedder" && value != "" {
			if _, err := a.k.engine.embedder(ctx, value); err != nil {
				return ConfigView{}, err
			}
		}
		set := func() error { return a.k.config.set(key, value) }
		if key == "vault_folder" {
			dir := a.k.vaultDir(strings.TrimSpace(value))
			if value = shortenHome(dir); dir == a.k.vaultDir("") {
				value = ""
			}
			note := set
			set = func() error { return a.k.useVault(ctx, dir, note) }
		}
		if err := set(); err != nil {
			return ConfigView{}, err
		}
		v := a.k.config.view()
		a.k.budgets.Wake()
		a.k.publish(event.ConfigChanged, scope{}, v)
		a.k.publishStatus()
		return v, nil
	})
}

// FinishOnboarding notes that the person has been through the first start.
func (a *InfraAPI) FinishOnboarding(ctx context.Context) error {
	_, err := guard(ctx, a.caller, action{call: "infra.finishOnboarding", resource: "onboarding"}, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, a.k.onboarded(ctx)
	})
	return err
}

func (k *Kernel) onboarded(ctx context.Context) error {
	err := k.store.Write(ctx, func(tx *store.Tx) error { return k.store.Put(tx, "onboarded", "true") })
	k.publishStatus()
	return err
}

// ReportFocus tells whether a window is in front; notices come only when none
// is.
func (a *InfraAPI) ReportFocus(ctx context.Context, focused bool) error {
	_, err := guard(ctx, a.caller, action{call: "infra.reportFocus", resource: "window"}, func(context.Context) (struct{}, error) {
		a.k.front.set(a.caller, focused)
		return struct{}{}, nil
	})
	return err
}

// Focused reports whether a window said that it is in front.
func (k *Kernel) Focused() bool { return k.front.any() }

// front holds the clients that are in front, each for itself: one that says
// late that it is not takes nothing from the one that came after it.
type front struct {
	mu      sync.Mutex
	clients map[*caller]bool
}

func (f *front) set(client *caller, focused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !focused {
		delete(f.clients, client)
		return
	}
	if f.clients == nil {
		f.clients = map[*caller]bool{}
	}
	f.clients[client] = true
}

func (f *front) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.clients) > 0
}
