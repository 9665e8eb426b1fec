package kernel

import (
	"context"
	"strings"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// FreeCut is what can be freed of the undo data or of the journal, and what cannot
// be done any more then.
type FreeCut struct {
	Part   string     `json:"part"`   // undo or journal
	Before time.Time  `json:"before"` // runs that had ended then; [InfraAPI.Free] takes it
	Runs   int        `json:"runs"`   // that can no longer be undone, or replayed
	Files  int        `json:"files"`  // of undo: that can no longer be put back
	Steps  int        `json:"steps"`  // of journal: of which is gone what they gave
	Bytes  int64      `json:"bytes"`  // about, not more
	Since  *time.Time `json:"since,omitempty"`
	Until  *time.Time `json:"until,omitempty"` // when the first and the last of these runs ended
}

// Freed says what was freed.
type Freed struct {
	FreeCut
	Freed   int64   `json:"freed"` // bytes
	Storage Storage `json:"storage"`
}

// freeableParts are the parts of which what is old can be freed.
var freeableParts = []string{PartUndo, PartJournal}

// FreeCut returns what freeing undo or journal takes with it, of runs that had ended
// before a moment. The zero time means now: all that can be freed. What a run at
// work, one of its forks or a run that can be gone on with needs is never in it.
// Nothing is changed.
func (a *InfraAPI) FreeCut(ctx context.Context, part string, before time.Time) (FreeCut, error) {
	return guard(ctx, a.caller, action{call: "infra.freeCut", resource: "home:" + part}, func(ctx context.Context) (FreeCut, error) {
		if before.IsZero() {
			before = a.k.clock.Now()
		}
		return a.k.freeCut(ctx, part, before)
	})
}

// Free frees undo or journal of the runs that had ended before a moment, which
// [InfraAPI.FreeCut] named. It cannot be undone.
func (a *InfraAPI) Free(ctx context.Context, part string, before time.Time) (Freed, error) {
	meta := map[string]any{"before": before}
	return guard(ctx, a.caller, action{call: "infra.free", resource: "home:" + part, meta: meta}, func(ctx context.Context) (Freed, error) {
		if now := a.k.clock.Now(); before.IsZero() || before.After(now) {
			before = now
		}
		cut, err := a.k.freeCut(ctx, part, before)
		if err != nil {
			return Freed{}, err
		}
		was, err := a.k.storage(ctx)
		if err != nil {
			return Freed{}, err
		}
		// What has begun is ended whether or not somebody still waits for it.
		ctx = context.WithoutCancel(ctx)
		if part == PartUndo {
			err = a.k.undos.clearBefore(ctx, before)
		} else {
			err = a.k.freeJournals(ctx, before)
		}
		if err != nil {
			return Freed{}, err
		}
		f := Freed{FreeCut: cut}
		if f.Storage, err = a.k.storage(ctx); err != nil {
			return f, err
		}
		f.Freed = max(0, was.part(part).Bytes-f.Storage.part(part).Bytes)
		return f, nil
	})
}

func (k *Kernel) freeCut(ctx context.Context, part string, before time.Time) (FreeCut, error) {
	out := FreeCut{Part: part, Before: before}
	var c store.Cut
	var err error
	switch part {
	case PartUndo:
		if c, err = k.store.UndoCut(ctx, before); err == nil {
			c.Bytes, err = k.undos.freeable(ctx, before)
		}
	case PartJournal:
		c, err = k.store.JournalCut(ctx, before)
	default:
		return out, sys.Errorf(sys.CodeInvalid, "%q cannot be freed. Nothing was changed.", part).WithHint("What can be freed: %s.", strings.Join(freeableParts, ", "))
	}
	out.Runs, out.Files, out.Steps, out.Bytes = c.Runs, c.Files, c.Steps, c.Bytes
	if c.Runs > 0 {
		out.Since, out.Until = &c.Since, &c.Until
	}
	return out, err
}

// freeable adds up the contents that only runs need which had ended before a moment.
// They take less, since they are kept compressed.
func (u *undos) freeable(ctx context.Context, before time.Time) (int64, error) {
	gone, stay, err := u.k.store.UndoStatesBefore(ctx, before)
	if err != nil {
		return 0, err
	}
	sizes := map[string]int64{}
	for i, text := range append(gone, stay...) {
		s, err := undo.Parse(text)
		switch {
		case err != nil:
			return 0, err
		case s.Content == "":
		case i < len(gone):
			sizes[s.Content] = s.Size
		default:
			delete(sizes, s.Content) // with another mode or at another path it is needed
		}
	}
	sum := int64(0)
	for _, n := range sizes {
		sum += n
	}
	return sum, nil
}

// freeJournals frees what is older than a moment, and says so where it was.
func (k *Kernel) freeJournals(ctx context.Context, before time.Time) error {
	said := sys.Say("(Oxios: what this step gave was freed on %s.)", k.clock.Now().Local().Format(time.DateOnly))
	n, err := k.store.FreeJournal(ctx, before, said.In(k.korean()))
	if err != nil || n == 0 {
		return err
	}
	k.log.InfoContext(ctx, "Freed journals", "runs", n)
	if err := k.store.Erase(ctx); err != nil { // what was freed would stand in the log of the database until its end
		k.log.WarnContext(ctx, "The log of the database could not be emptied", "error", err)
	}
	return nil
}

// keepJournals frees the journals that are older than journal_days.
func (k *Kernel) keepJournals(ctx context.Context) {
	days := k.config.get().JournalDays
	if days == 0 {
		return
	}
	if err := k.freeJournals(ctx, k.clock.Now().AddDate(0, 0, -days)); err != nil && ctx.Err() == nil {
		k.log.WarnContext(ctx, "Old journals could not be freed", "error", err)
	}
}
