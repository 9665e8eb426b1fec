package kernel

import (
	"context"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/memory"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of a curation live in memory.
type (
	MemoryCuration = memory.Curation
	MemoryChange   = memory.Change
)

// night is the newest one whose hour has struck, by the clock on the wall.
func night(now time.Time, hour int) string {
	struck := time.Date(now.Year(), now.Month(), now.Day(), hour, 0, 0, 0, now.Location())
	if now.Before(struck) {
		struck = struck.AddDate(0, 0, -1)
	}
	return struck.Format(time.DateOnly)
}

// curateAtNight puts the memories in order once a night. A night in which the
// computer slept, or no kernel ran, is made up for.
func (k *Kernel) curateAtNight(ctx context.Context) {
	cfg := k.config.get()
	if !cfg.Memory || !cfg.MemoryCurate {
		return
	}
	now := night(k.clock.Now().In(time.Local), cfg.MemoryCurateHour)
	last, err := k.memories.LastNight(ctx)
	if err == nil && last < now {
		_, err = k.curate(ctx, "memory", now)
	}
	if err != nil && ctx.Err() == nil {
		k.log.Warn("Could not put the memories in order", "error", err)
	}
}

func (k *Kernel) curate(ctx context.Context, actor, night string) (MemoryCuration, error) {
	o := memory.Curating{ID: sys.NewID(), Night: night, Zone: time.Local}
	c, err := k.memories.Curate(ctx, o, func(tx *store.Tx, c MemoryCuration) error {
		meta := map[string]any{
			"syscall": "memory.curate", "night": night, "merged": c.Merged, "dated": c.Dated, "replaced": c.Replaced, "pruned": c.Pruned, "cleared": c.Cleared, "node": k.node,
		}
		_, err := k.audit.Append(tx, k.newEntry(actor, security.ActionMemoryWrite, "memory", meta))
		return err
	})
	if err == nil {
		did := event.ChangeOf(event.Curated, "", c.ID)
		did.Count = c.Merged + c.Dated + c.Replaced + c.Pruned
		k.publishMemory(scope{}, did)
	}
	return c, err
}

// Curate puts the memories in order now: it merges what is said twice, makes
// relative dates exact, lets the newest of the facts about the same hold, and sets
// aside what is old and was never of use. It asks no model. It returns the report.
func (a *MemoryAPI) Curate(ctx context.Context) (MemoryCuration, error) {
	return guard(ctx, a.caller, action{call: "memory.curate", resource: "memory"}, func(ctx context.Context) (MemoryCuration, error) {
		return a.k.curate(ctx, a.who.Actor(), "")
	})
}

// Curations returns the reports, the newest first: 10 by default, at most 100.
func (a *MemoryAPI) Curations(ctx context.Context, limit int) ([]MemoryCuration, error) {
	return guard(ctx, a.caller, action{call: "memory.curations", resource: "memory"}, func(ctx context.Context) ([]MemoryCuration, error) {
		if limit <= 0 {
			limit = 10
		}
		return a.k.memories.Curations(ctx, min(limit, 100))
	})
}

// Uncurate undoes one change of a report, by its place from 0 on, and returns the
// report as it is then. The same change is not made again.
func (a *MemoryAPI) Uncurate(ctx context.Context, id string, change int) (MemoryCuration, error) {
	act := action{call: "memory.uncurate", resource: "memory", meta: map[string]any{"curation": id, "change": change}}
	return guard(ctx, a.caller, act, func(ctx context.Context) (MemoryCuration, error) {
		c, err := a.k.memories.Uncurate(ctx, id, change)
		if err == nil {
			a.k.publishMemory(a.scope, event.ChangeOf(event.Reverted, "", c.ID))
		}
		return c, err
	})
}

// checkMemory says how much is remembered, and whether conversations are looked
// through, or why not.
func (k *Kernel) checkMemory(ctx context.Context) Check {
	c := Check{Name: "memory", State: CheckOK}
	s, err := k.memories.Stats(ctx)
	if err != nil {
		c.State, c.Detail = CheckFail, sys.TextOf(err)
		return c
	}
	cfg := k.config.get()
	_, last, err := k.memories.Calls(ctx, k.budgets.Midnight())
	k.care.mu.Lock()
	why := k.care.why
	k.care.mu.Unlock()
	when := sys.Say("no conversation was looked through so far")
	if last != nil {
		when = sys.Say("a conversation was looked through last on %s", last.At.In(time.Local).Format("2006-01-02 15:04"))
	}
	c.Detail = sys.Say("%d memories; %s", s.Memories, when)
	switch {
	case err != nil:
		c.State, c.Detail = CheckFail, sys.TextOf(err)
	case !cfg.Memory:
		c.Detail = sys.Say("%d memories; memory is switched off, so conversations are not looked through", s.Memories)
	case !cfg.MemoryExtract:
		c.Detail = sys.Say("%d memories; looking through conversations is switched off", s.Memories)
	case why != nil:
		what, hint := why.Words()
		c.State, c.Detail, c.Hint = CheckWarn, sys.Say("%d memories; %s. The last one could not be: %s", s.Memories, when, what), hint
	}
	return c
}
