package kernel

import (
	"cmp"
	"context"
	"time"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// RunCost is what one run has cost.
type RunCost = store.RunCost

// CostQuery selects a time.
type CostQuery struct {
	Days int `json:"days,omitempty"` // today and those before it; default 14, at most 366
}

// BesideCost is what calls have cost that no run made.
type BesideCost = store.PurposeCost

// CostView is what model calls have cost. The runs, what was beside them and the others together are
// the total, and so are the days.
type CostView struct {
	From    time.Time    `json:"from"` // midnight, in the person's time zone
	Days    []DayCosts   `json:"days"` // oldest first, also those on which nothing was spent
	Total   Cost         `json:"total"`
	Runs    []RunCost    `json:"runs"`    // the most expensive first, at most 100
	Beside  []BesideCost `json:"beside"`  // calls that no run made, by their purpose
	Others  Cost         `json:"others"`  // further runs, and those of deleted conversations
	Saved   float64      `json:"saved"`   // USD that the input would have cost more, had its provider not seen it before
	Stopped int          `json:"stopped"` // runs that a limit has ended
}

// DayCosts is what a day has cost.
type DayCosts struct {
	Day string `json:"day"` // 2026-01-31, in the person's time zone
	Cost
}

const (
	defaultDays = 14
	maxDays     = 366
	maxRunCosts = 100
)

// Costs returns what model calls have cost, by day and by run.
func (a *InfraAPI) Costs(ctx context.Context, q CostQuery) (CostView, error) {
	return guard(ctx, a.caller, action{call: "infra.costs", resource: "costs"}, func(ctx context.Context) (CostView, error) {
		return a.k.costs(ctx, min(max(cmp.Or(q.Days, defaultDays), 1), maxDays))
	})
}

func (k *Kernel) costs(ctx context.Context, days int) (CostView, error) {
	today := k.budgets.Midnight()
	v := CostView{From: today.AddDate(0, 0, 1-days), Runs: []RunCost{}}
	index := map[string]int{}
	for i := range days {
		day := v.From.AddDate(0, 0, i).Format(time.DateOnly)
		index[day] = i
		v.Days = append(v.Days, DayCosts{Day: day})
	}
	slots, err := k.store.SlotCosts(ctx, v.From)
	if err != nil {
		return v, err
	}
	for _, s := range slots {
		if i, ok := index[s.From.In(today.Location()).Format(time.DateOnly)]; ok {
			v.Days[i].Cost = v.Days[i].Add(s.Cost)
			v.Total = v.Total.Add(s.Cost)
		}
	}
	runs, err := k.store.RunCosts(ctx, v.From)
	if err != nil {
		return v, err
	}
	if v.Beside, err = k.store.PurposeCosts(ctx, v.From); err != nil {
		return v, err
	}
	v.Others = v.Total
	for _, p := range v.Beside {
		v.Others = less(v.Others, p.Cost)
	}
	for i, r := range runs {
		v.Saved += k.saved(ctx, r)
		if i < maxRunCosts {
			v.Runs = append(v.Runs, r)
			v.Others = less(v.Others, r.Cost)
		}
	}
	v.Stopped, err = k.store.CountFailed(ctx, v.From, string(sys.CodeBudget))
	return v, err
}

// less takes d from c. A conversation that came from a backup may have cost more
// than was counted here; nothing becomes negative by it.
func less(c, d Cost) Cost {
	c.Calls, c.Input, c.Output = max(c.Calls-d.Calls, 0), max(c.Input-d.Input, 0), max(c.Output-d.Output, 0)
	c.Cached, c.Reasoning, c.USD = max(c.Cached-d.Cached, 0), max(c.Reasoning-d.Reasoning, 0), max(c.USD-d.USD, 0)
	if c.Calls == 0 {
		return Cost{}
	}
	return c
}

// saved is what the cached input of a run would have cost more. Only what is
// known without asking anybody counts.
func (k *Kernel) saved(ctx context.Context, r RunCost) float64 {
	if r.Free || r.Cached == 0 {
		return 0
	}
	n, err := k.engine.entry(ctx, r.Provider)
	if err != nil {
		return 0
	}
	m := llm.Model{ID: r.Model, Provider: r.Provider}
	k.engine.catalogue().Fill(n.Endpoint, &m)
	if m.Price == nil {
		return 0
	}
	return float64(r.Cached) * max(m.Price.Input-m.Price.CachedInput, 0) / 1e6
}
