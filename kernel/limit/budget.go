package limit

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Amount is what was used, or may be.
type Amount struct {
	Tokens int64   `json:"tokens"` // input and output together
	Calls  int64   `json:"calls"`  // of a model
	USD    float64 `json:"usd"`
}

// AmountOf is what a cost counts against limits. What is free costs no money.
func AmountOf(c store.Cost) Amount {
	return Amount{Tokens: int64(c.Input) + int64(c.Output), Calls: int64(c.Calls), USD: c.USD}
}

func (a Amount) plus(b Amount) Amount {
	return Amount{a.Tokens + b.Tokens, a.Calls + b.Calls, a.USD + b.USD}
}

func (a Amount) minus(b Amount) Amount {
	return Amount{a.Tokens - b.Tokens, a.Calls - b.Calls, a.USD - b.USD}
}

// Books is what is durable of a budget: the limits, and what was spent before
// this process began to count.
type Books interface {
	DayLimits() store.Limits
	RunLimits(ctx context.Context, run string) (store.Limits, error)
	DayCost(ctx context.Context, from time.Time) (store.Cost, error)
	TreeCost(ctx context.Context, run string) (store.Cost, error)
}

// What a limit holds for, and what it counts.
const (
	ScopeDay = "day"
	ScopeRun = "run" // a run, and all that it starts

	KindTokens = "tokens"
	KindCalls  = "calls"
	KindUSD    = "usd"
)

// Fewer output tokens than leastOutput are no answer: the call is not made.
// While other calls are under way, one waits for what they leave rather than to
// make do with fewer than roomyOutput.
const (
	leastOutput = 1024
	roomyOutput = 4096
)

// Claim is what one model call may use at most.
type Claim struct {
	Runs   []string // the run, its parent, and so on up to the root
	Input  int64    // tokens at most
	Output int64    // tokens that it should have; fewer are granted when a limit is near

	Free      bool    // money is not counted
	Priced    bool    // the two prices are known
	InputUSD  float64 // for a token, at most
	OutputUSD float64
}

// Short says that a limit leaves too little for a call. Nothing was reserved.
type Short struct {
	Scope string  // ScopeDay or ScopeRun
	Run   string  // whose limit it is
	Kind  string  // KindTokens, KindCalls or KindUSD
	Limit float64 // in the unit of its kind
	Used  float64
	Needs float64 // what the call may take at most

	Unpriced bool // the price is not known, so that a limit of money cannot be kept

	// Changed is closed when it is worth another try.
	Changed <-chan struct{}
}

// Error says it for a log; whoever shows it to a person has better words.
func (s *Short) Error() string {
	return fmt.Sprintf("the limit of %g %s of the %s is reached: %g used, %g needed", s.Limit, s.Kind, s.Scope, s.Used, s.Needs)
}

// Budgets is the ledger of what runs may use and have used. A call reserves the
// most that it may use in every scope at once, and settles what it used: so what
// is spent and what is reserved together never exceed a limit, however many
// calls are under way. It counts from what is durable on, and in memory from
// there: a crash loses the reservations alone.
type Budgets struct {
	books Books
	clock sys.Clock
	zone  func() *time.Location
	span  func() time.Duration // of a window; 0 for the day of the person

	mu      sync.Mutex
	day     account
	from    time.Time // when the window of day began
	runs    map[string]*account
	changed chan struct{}
}

// account is one scope's.
type account struct {
	spent, held Amount
	holds       int
}

// NewBudgets returns the ledger over books. The zone is the person's. span is how
// long a window is that the limits of the day hold for, whole multiples of a
// quarter of an hour; 0 is the day itself. It may change at any time.
func NewBudgets(books Books, clock sys.Clock, zone func() *time.Location, span func() time.Duration) *Budgets {
	return &Budgets{books: books, clock: clock, zone: zone, span: span, runs: map[string]*account{}, changed: make(chan struct{})}
}

// Hold is what a call has reserved. Settle or Release it, once.
type Hold struct {
	b      *Budgets
	runs   []string
	amount Amount
	Output int64 // tokens that the answer may have; 0: as many as it likes
	Scarce bool  // a limit is why Output is less than was asked for
	once   sync.Once
}

// Limited reports whether the call must stay within what it reserved.
func (h *Hold) Limited() bool { return h.Output > 0 }

// Midnight is when the day of now began.
func (b *Budgets) Midnight() time.Time {
	now := b.clock.Now().In(b.zone())
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
}

// Window is when the window of now began, and when the next one begins: the day,
// from midnight to midnight, or windows of the same length one after the other,
// whose bounds are the same wherever the person is.
func (b *Budgets) Window() (from, until time.Time) {
	if span := b.span(); span > 0 {
		from = b.clock.Now().UTC().Truncate(span)
		return from, from.Add(span)
	}
	from = b.Midnight()
	return from, time.Date(from.Year(), from.Month(), from.Day()+1, 0, 0, 0, 0, from.Location())
}

// Changed returns a channel that is closed when limits or what is used changed.
func (b *Budgets) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// Wake has all that wait for a limit look again.
func (b *Budgets) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
}

func (b *Budgets) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Forget drops what is known of a run that has ended.
func (b *Budgets) Forget(run string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.runs[run]; a != nil && a.holds == 0 {
		delete(b.runs, run)
	}
}

// Recount forgets all that was counted in memory, as after the database was
// changed from outside. What is reserved stays so.
func (b *Budgets) Recount() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.from = time.Time{}
	for id, a := range b.runs {
		if a.holds == 0 {
			delete(b.runs, id)
		}
	}
	b.wake()
}

// Reserve reserves what c may use, in all its scopes or in none. While other
// calls hold what c lacks it waits for them. When the limits leave too little
// all the same, it returns a [*Short].
func (b *Budgets) Reserve(ctx context.Context, c Claim) (*Hold, error) {
	for {
		hold, short, busy, err := b.try(ctx, c)
		switch {
		case err != nil:
			return nil, err
		case hold != nil:
			return hold, nil
		case !busy:
			return nil, short
		}
		select {
		case <-short.Changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// budget is a scope that a claim meets.
type budget struct {
	*account
	name, run string
	limits    store.Limits
}

// try reserves what c may use. busy says that calls under way hold what c lacks.
func (b *Budgets) try(ctx context.Context, c Claim) (hold *Hold, short *Short, busy bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	scopes, err := b.scopes(ctx, c.Runs)
	if err != nil {
		return nil, nil, false, err
	}
	output, bounded := c.Output, false
	var held *Short
	for _, s := range scopes {
		if _, _, short := s.grant(c, s.spent); short != nil {
			short.Changed = b.changed
			return nil, short, false, nil
		}
		granted, bounds, short := s.grant(c, s.spent.plus(s.held))
		if short == nil && s.holds > 0 && granted < min(c.Output, roomyOutput) {
			short = &Short{Scope: s.name, Run: s.run}
		}
		if short != nil {
			held = short
		}
		output, bounded = min(output, granted), bounded || bounds
	}
	if held != nil {
		held.Changed = b.changed
		return nil, held, true, nil
	}
	h := &Hold{b: b, runs: c.Runs, amount: Amount{Tokens: c.Input, Calls: 1}}
	if bounded {
		h.Output, h.Scarce = output, output < c.Output
		h.amount.Tokens += output
	}
	if !c.Free {
		h.amount.USD = float64(c.Input)*c.InputUSD + float64(h.Output)*c.OutputUSD
	}
	for _, s := range scopes {
		s.held = s.held.plus(h.amount)
		s.holds++
	}
	return h, nil, false, nil
}

// grant says how many output tokens s leaves to a call when so much is used, and
// whether it bounds them at all; or why the call cannot be made.
func (s *budget) grant(c Claim, used Amount) (output int64, bounds bool, short *Short) {
	output = c.Output
	least := min(leastOutput, c.Output)
	lacks := func(kind string, limit, used, needs float64) *Short {
		return &Short{Scope: s.name, Run: s.run, Kind: kind, Limit: limit, Used: used, Needs: needs}
	}
	if most := s.limits.Calls; most != nil && used.Calls+1 > *most {
		return 0, false, lacks(KindCalls, float64(*most), float64(used.Calls), 1)
	}
	if most := s.limits.Tokens; most != nil {
		left := *most - used.Tokens - c.Input
		if left < least {
			return 0, false, lacks(KindTokens, float64(*most), float64(used.Tokens), float64(c.Input+least))
		}
		output, bounds = min(output, left), true
	}
	if most := s.limits.USD; most != nil && !c.Free {
		needs := float64(c.Input)*c.InputUSD + float64(least)*c.OutputUSD
		switch left := *most - used.USD - float64(c.Input)*c.InputUSD + cent/1e6; {
		case !c.Priced:
			short = lacks(KindUSD, *most, used.USD, 0)
			short.Unpriced = *most > 0
			return 0, false, short
		case left < float64(least)*c.OutputUSD, *most <= 0:
			return 0, false, lacks(KindUSD, *most, used.USD, needs)
		case c.OutputUSD > 0:
			output, bounds = min(output, int64(math.Floor(left/c.OutputUSD))), true
		}
	}
	return output, bounds, nil
}

// cent is a cent in USD; sums of money are compared more finely than anybody
// pays, and less finely than floats add up.
const cent = 0.01

// scopes returns the day and the runs that a claim meets, with their limits as
// they are now. The caller holds the lock.
func (b *Budgets) scopes(ctx context.Context, runs []string) ([]budget, error) {
	if from, _ := b.Window(); !from.Equal(b.from) {
		spent, err := b.books.DayCost(ctx, from)
		if err != nil {
			return nil, fmt.Errorf("read what the day has cost: %w", err)
		}
		b.from, b.day.spent = from, AmountOf(spent)
	}
	all := []budget{{account: &b.day, name: ScopeDay, limits: b.books.DayLimits()}}
	for _, id := range runs {
		limits, err := b.books.RunLimits(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read the limits of run %s: %w", id, err)
		}
		a := b.runs[id]
		if a == nil {
			spent, err := b.books.TreeCost(ctx, id)
			if err != nil {
				return nil, fmt.Errorf("read what run %s has cost: %w", id, err)
			}
			a = &account{spent: AmountOf(spent)}
			b.runs[id] = a
		}
		all = append(all, budget{account: a, name: ScopeRun, run: id, limits: limits})
	}
	return all, nil
}

// Settle puts what the call used in the place of what it reserved.
func (h *Hold) Settle(c store.Cost) { h.end(AmountOf(c)) }

// Release gives back what was reserved: the call was never made.
func (h *Hold) Release() { h.end(Amount{}) }

func (h *Hold) end(used Amount) {
	h.once.Do(func() {
		h.b.mu.Lock()
		defer h.b.mu.Unlock()
		accounts := []*account{&h.b.day}
		for _, id := range h.runs {
			accounts = append(accounts, h.b.runs[id])
		}
		for _, a := range accounts {
			a.spent = a.spent.plus(used)
			if a.holds--; a.holds == 0 {
				a.held = Amount{} // floats do not add up to 0
				continue
			}
			a.held = a.held.minus(h.amount)
		}
		h.b.wake()
	})
}

// Held is what calls under way have reserved today.
func (b *Budgets) Held() Amount {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.day.held
}
