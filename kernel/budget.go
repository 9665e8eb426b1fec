package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/limit"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Types of a budget, as the faces see them.
type (
	Limits = store.Limits
	Amount = limit.Amount
)

// The scopes of a budget.
const (
	ScopeDay = limit.ScopeDay
	ScopeRun = limit.ScopeRun
)

// BudgetView is what may be used, and what was.
type BudgetView struct {
	Day   BudgetLine `json:"day"`
	From  time.Time  `json:"from"`  // when the day began, or the window that window_secs makes of it
	Until time.Time  `json:"until"` // when the next one begins
	// WindowSecs is how long the window is; 0 for a day.
	WindowSecs int          `json:"window_secs,omitempty"`
	Runs       []BudgetLine `json:"runs"` // those that have not ended
}

// BudgetLine is one scope of a budget.
type BudgetLine struct {
	Scope     string   `json:"scope"` // day or run
	RunID     string   `json:"run_id,omitempty"`
	PID       int64    `json:"pid,omitempty"`
	SessionID string   `json:"session_id,omitempty"`
	Name      string   `json:"name,omitempty"`
	Limits    Limits   `json:"limits"`
	Used      Amount   `json:"used"`
	Own       bool     `json:"own"`               // the limits were set for this run; otherwise they are those of the configuration
	Reached   *Reached `json:"reached,omitempty"` // the run waits for a limit
}

// BudgetChange sets the limits of a scope, all three of them: null is no limit.
type BudgetChange struct {
	Scope string `json:"scope"`            // day or run
	RunID string `json:"run_id,omitempty"` // its id or its pid
	Limits
}

// Budget returns the limits of the day and of the runs that have not ended, with
// what was used. An agent sees its own run only.
func (a *InfraAPI) Budget(ctx context.Context) (BudgetView, error) {
	return guard(ctx, a.caller, action{call: "infra.budget", resource: "budget"}, func(ctx context.Context) (BudgetView, error) {
		cfg := a.k.config.get()
		v := BudgetView{Day: BudgetLine{Scope: ScopeDay, Limits: cfg.dayLimits()}, Runs: []BudgetLine{}}
		v.From, v.Until = a.k.budgets.Window()
		v.WindowSecs = cfg.WindowSecs
		spent, err := a.k.store.DayCost(ctx, v.From)
		if err != nil {
			return v, err
		}
		v.Day.Used = limit.AmountOf(spent)
		open, err := a.k.store.Runs(ctx, store.RunQuery{Open: true})
		if err != nil {
			return v, err
		}
		for _, r := range open {
			if a.who.Kind == sys.KindAgent && r.ID != a.who.ID {
				continue
			}
			line, err := a.k.budgetLine(ctx, r)
			if err != nil {
				return v, err
			}
			v.Runs = append(v.Runs, line)
		}
		return v, nil
	})
}

func (k *Kernel) budgetLine(ctx context.Context, r Run) (BudgetLine, error) {
	line := BudgetLine{Scope: ScopeRun, RunID: r.ID, PID: r.PID, SessionID: r.SessionID, Name: r.Name}
	var err error
	if line.Limits, line.Own, err = k.runLimits(ctx, r.ID); err != nil {
		return line, err
	}
	cost, err := k.store.TreeCost(ctx, r.ID)
	line.Used = limit.AmountOf(cost)
	if got, ok := k.reached.of(r.ID); ok {
		line.Reached = &got
	}
	return line, err
}

// SetBudget sets the limits of the day or of a run. Runs that wait for them go
// on at once where they now can.
func (a *InfraAPI) SetBudget(ctx context.Context, c BudgetChange) (BudgetView, error) {
	act := action{call: "infra.setBudget", resource: "budget:" + c.Scope, meta: map[string]any{"limits": c.Limits, "limit_of": c.RunID}}
	_, err := guard(ctx, a.caller, act, func(ctx context.Context) (struct{}, error) {
		if err := checkLimits(c.Limits); err != nil {
			return struct{}{}, err
		}
		if c.Scope == ScopeDay {
			return struct{}{}, a.k.setDay(c.Limits)
		}
		if c.Scope != ScopeRun {
			return struct{}{}, sys.Errorf(sys.CodeInvalid, "There is no limit of %q. Nothing was changed.", c.Scope).WithHint("Set that of the day or of a run.")
		}
		id, err := a.k.runID(ctx, c.RunID)
		if err != nil {
			return struct{}{}, err
		}
		err = a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.SetRunLimits(tx, id, c.Limits) })
		a.k.budgets.Wake()
		return struct{}{}, err
	})
	if err != nil {
		return BudgetView{}, err
	}
	a.k.publishStatus()
	return a.Budget(ctx)
}

// window is how long the limits of the day hold, where that is no day.
func (k *Kernel) window() time.Duration {
	return time.Duration(k.config.get().WindowSecs) * time.Second
}

// windowStep is what a window is a multiple of: what was spent is noted in parts of
// such a length.
const windowStep = 900

// setDay writes the limits of the day into config.toml, where a person may have
// written them too.
func (k *Kernel) setDay(l Limits) error {
	now := k.config.get()
	values := map[string]string{"day_usd": floatText(l.USD), "day_tokens": countText(l.Tokens), "day_calls": countText(l.Calls)}
	old := map[string]string{"day_usd": now.DayUSD, "day_tokens": now.DayTokens, "day_calls": now.DayCalls}
	for _, key := range []string{"day_usd", "day_tokens", "day_calls"} {
		if values[key] == old[key] {
			continue
		}
		if err := k.config.set(key, values[key]); err != nil {
			return err
		}
	}
	k.budgets.Wake()
	k.publish(event.ConfigChanged, scope{}, k.config.view())
	return nil
}

// checkLimits refuses limits that mean nothing.
func checkLimits(l Limits) error {
	for _, n := range []*int64{l.Tokens, l.Calls} {
		if n != nil && (*n < 0 || *n > maxCount) {
			return sys.Errorf(sys.CodeInvalid, "A limit is %d, but must be a whole number from 0 on. Nothing was changed.", *n)
		}
	}
	if l.USD != nil && !(*l.USD >= 0 && *l.USD <= maxUSD) { // also no NaN
		return sys.Errorf(sys.CodeInvalid, "A limit is $%v, but must be an amount from 0 on. Nothing was changed.", *l.USD)
	}
	return nil
}

// No limit is larger; what is, is a slip of the keyboard.
const (
	maxCount = 1e15
	maxUSD   = 1e9
)

// checkLimit checks a limit of config.toml.
func checkLimit(key, kind, value string) error {
	l := Limits{}
	if kind == "usd" {
		l.USD = usdOf(value)
		if value != "" && (l.USD == nil || checkLimits(l) != nil) {
			return sys.Errorf(sys.CodeInvalid, "%s is %q, but must be an amount like 5 or 0.50, or empty", key, value)
		}
		return nil
	}
	l.Tokens = countOf(value)
	if value != "" && (l.Tokens == nil || checkLimits(l) != nil) {
		return sys.Errorf(sys.CodeInvalid, "%s is %q, but must be a whole number from 0 on, or empty", key, value)
	}
	return nil
}

func usdOf(s string) *float64 {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return &v
	}
	return nil
}

func countOf(s string) *int64 {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return &v
	}
	return nil
}

func floatText(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func countText(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}

func (c Config) dayLimits() Limits {
	return Limits{USD: usdOf(c.DayUSD), Tokens: countOf(c.DayTokens), Calls: countOf(c.DayCalls)}
}

func (c Config) runLimits() Limits {
	return Limits{USD: usdOf(c.RunUSD), Tokens: countOf(c.RunTokens), Calls: countOf(c.RunCalls)}
}

// limitsOf are the limits that a message brings for its run; nil for none.
func (k *Kernel) limitsOf(m Submit) (*Limits, error) {
	if m.MaxUSD == nil {
		return nil, nil //nolint:nilnil // no limits are no error
	}
	l := k.config.get().runLimits()
	l.USD = m.MaxUSD
	if err := checkLimits(l); err != nil {
		return nil, sys.Errorf(sys.CodeInvalid, "The message may cost $%v at most, which is no amount. Nothing was sent.", *m.MaxUSD)
	}
	return &l, nil
}

// runLimits returns the limits of a run, and whether they were set for it. A
// run that was started by another one has its own, or none: those of its
// ancestors hold for it too.
func (k *Kernel) runLimits(ctx context.Context, id string) (l Limits, own bool, err error) {
	if l, own, err = k.store.RunLimits(ctx, id); err != nil || own {
		return l, own, err
	}
	usual := k.config.get().runLimits()
	if usual.None() {
		return usual, false, nil
	}
	r, err := k.store.Run(ctx, id)
	if err != nil || r.ParentID != "" {
		return Limits{}, false, err
	}
	return usual, false, nil
}

// limited reports whether a limit holds on what a run may use.
func (k *Kernel) limited(ctx context.Context, id string) (bool, error) {
	if !k.config.get().dayLimits().None() || id == "" {
		return !k.config.get().dayLimits().None(), nil
	}
	r, err := k.store.Run(ctx, id)
	if err != nil {
		return false, err
	}
	runs, err := k.lineage(ctx, r)
	for _, id := range runs {
		if err != nil {
			break
		}
		var l Limits
		if l, _, err = k.runLimits(ctx, id); !l.None() {
			return true, nil
		}
	}
	return false, err
}

// lineage is the run and those that it descends from, the root last.
func (k *Kernel) lineage(ctx context.Context, r Run) ([]string, error) {
	all := []string{r.ID}
	for parent := r.ParentID; parent != "" && !slices.Contains(all, parent); {
		all = append(all, parent)
		p, err := k.store.Run(ctx, parent)
		if sys.CodeOf(err) == sys.CodeNotFound {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("find what run %s descends from: %w", r.ID, err)
		}
		parent = p.ParentID
	}
	return all, nil
}

// books are the durable part of the budgets.
type books struct{ k *Kernel }

func (b books) DayLimits() store.Limits { return b.k.config.get().dayLimits() }

func (b books) RunLimits(ctx context.Context, run string) (store.Limits, error) {
	l, _, err := b.k.runLimits(ctx, run)
	if sys.CodeOf(err) == sys.CodeNotFound {
		err = nil // the person deleted the conversation meanwhile
	}
	return l, err
}

func (b books) DayCost(ctx context.Context, from time.Time) (store.Cost, error) {
	return b.k.store.DayCost(ctx, from)
}

func (b books) TreeCost(ctx context.Context, run string) (store.Cost, error) {
	return b.k.store.TreeCost(ctx, run)
}

// errShort makes of a limit that is reached what a person reads.
func (k *Kernel) errShort(s *limit.Short, model string) *sys.Error {
	if s.Unpriced {
		return sys.Errorf(sys.CodeBudget, "The price of %s is not known, so the limit of %s cannot be kept. Nothing was sent.", model, k.limitWords(s.Scope, s.Kind, s.Limit)).
			WithHint("Lift the limit of money and set one of tokens, or name the price in models.toml.")
	}
	most := k.limitWords(s.Scope, s.Kind, s.Limit)
	var e *sys.Error
	switch {
	case s.Limit <= 0:
		e = sys.Errorf(sys.CodeBudget, "The limit of %s allows nothing. Nothing was sent.", most)
	case s.Kind == limit.KindCalls:
		e = sys.Errorf(sys.CodeBudget, "The limit of %s is reached. Nothing more was sent.", most)
	default:
		e = sys.Errorf(sys.CodeBudget, "The limit of %s is reached: %s are used, and the next call may take up to %s. Nothing more was sent.",
			most, amountWords(s.Kind, s.Used), amountWords(s.Kind, s.Needs))
	}
	if s.Scope == limit.ScopeDay {
		return e.WithHint("Raise it in Settings, Limits and cost, or with `oxios budget set day`. %s", k.nextWindow())
	}
	return e.WithHint("Raise it with `oxios budget set` and the run, or give the next one more with --max-cost.")
}

func errCutByLimit() error {
	return sys.Errorf(sys.CodeBudget, "A limit left too few tokens for the whole answer. What came is kept; no tool of it ran.").
		WithHint("Raise the limit in Settings, Limits and cost, then continue.")
}

// limitWords says a limit: $5.00 a day, or $5.00 in 6 hours.
func (k *Kernel) limitWords(scope, kind string, most float64) sys.Words {
	amount := amountWords(kind, most)
	if scope != limit.ScopeDay {
		return sys.Say("%s a run", amount)
	}
	if w := k.window(); w > 0 {
		return sys.Say("%s in %s", amount, windowWords(w))
	}
	return sys.Say("%s a day", amount)
}

// windowWords says how long a window is, which is a multiple of [windowStep].
func windowWords(w time.Duration) sys.Words {
	switch minutes := int(w / time.Minute); {
	case minutes == 60:
		return sys.Say("1 hour")
	case minutes%60 == 0:
		return sys.Say("%d hours", minutes/60)
	default:
		return sys.Say("%d minutes", minutes)
	}
}

// nextWindow says when the limits of the day begin anew.
func (k *Kernel) nextWindow() sys.Words {
	if k.window() == 0 {
		return sys.Say("A new day begins at midnight.")
	}
	_, until := k.budgets.Window()
	return sys.Say("The limit begins anew at %s.", until.Local().Format("2006-01-02 15:04"))
}

func amountWords(kind string, v float64) sys.Words {
	switch kind {
	case limit.KindTokens:
		return sys.Say("%d tokens", int64(v))
	case limit.KindCalls:
		if v == 1 {
			return sys.Say("1 model call")
		}
		return sys.Say("%d model calls", int64(v))
	}
	return sys.Words{EN: usdText(v)}
}

// usdText says an amount to the cent, and a small one more finely.
func usdText(v float64) string {
	if v <= 0 || v >= 0.10 {
		return fmt.Sprintf("$%.2f", v)
	}
	fine := fmt.Sprintf("$%.4f", v)
	cents := len("$0.00")
	return fine[:cents] + strings.TrimRight(fine[cents:], "0")
}

// isShort returns the limit that err is about.
func isShort(err error) (*limit.Short, bool) { return errors.AsType[*limit.Short](err) }
