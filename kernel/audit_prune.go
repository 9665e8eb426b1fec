package kernel

import (
	"context"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// AuditCut is the oldest part of the audit record, which a pruning takes out.
type AuditCut = security.Cut

// AuditCut returns what pruning everything older than before would take out.
// Nothing is changed. The zero time asks for what audit_days and audit_max_entries
// say.
func (a *SecurityAPI) AuditCut(ctx context.Context, before time.Time) (AuditCut, error) {
	return guard(ctx, a.caller, action{call: "security.auditCut", resource: "audit"}, func(ctx context.Context) (AuditCut, error) {
		if before.IsZero() {
			cfg := a.k.config.get()
			if cfg.AuditDays == 0 && cfg.AuditMaxEntries == 0 {
				return AuditCut{}, sys.Errorf(sys.CodeInvalid, "The audit record is kept for ever, so nothing of it is too old.").WithHint("Name a date, or set audit_days or audit_max_entries.")
			}
			return a.k.surplus(ctx, cfg, int64(cfg.AuditMaxEntries))
		}
		return a.k.auditCut(ctx, before, 0)
	})
}

// PruneAudit takes out the records up to through, the last one of a cut that
// [SecurityAPI.AuditCut] showed, and leaves a signed root that stands for them. It
// cannot be undone. It returns what was taken out.
func (a *SecurityAPI) PruneAudit(ctx context.Context, through int64) (AuditCut, error) {
	meta := map[string]any{"through": through}
	return guard(ctx, a.caller, action{call: "security.pruneAudit", resource: "audit", meta: meta}, func(ctx context.Context) (AuditCut, error) {
		return a.k.pruneAudit(ctx, a.who.Actor(), through)
	})
}

// leastEntries is the smallest number of records that audit_max_entries may name:
// a pruning leaves records of its own.
const leastEntries = 100

// auditCut is what is older than before, and not among the newest entries from
// keep on, where that is not 0. What steps refer to that are still open stays:
// after a crash the record says whether they may be done again.
func (k *Kernel) auditCut(ctx context.Context, before time.Time, keep int64) (AuditCut, error) {
	open, err := k.store.OldestOpenAudit(ctx)
	if err != nil {
		return AuditCut{}, err
	}
	if open > 0 && (keep == 0 || open < keep) {
		keep = open
	}
	return k.audit.CutBefore(ctx, before, keep)
}

// surplus is what the settings do not want to keep: what is older than audit_days,
// and what there is beyond the newest most records where audit_max_entries is
// exceeded. The larger of the two holds the other.
func (k *Kernel) surplus(ctx context.Context, cfg Config, most int64) (cut AuditCut, err error) {
	if cfg.AuditDays > 0 {
		if cut, err = k.auditCut(ctx, k.clock.Now().AddDate(0, 0, -cfg.AuditDays), 0); err != nil {
			return cut, err
		}
	}
	if cfg.AuditMaxEntries == 0 {
		return cut, nil
	}
	first, last, err := k.auditEnds(ctx)
	if err != nil || last.Seq-first.Seq < int64(cfg.AuditMaxEntries) {
		return cut, err
	}
	many, err := k.auditCut(ctx, k.clock.Now().AddDate(1, 0, 0), last.Seq-most+1)
	if many.Through > cut.Through {
		cut = many
	}
	return cut, err
}

// auditEnds are the oldest and the newest entry; zero ones where there is none.
func (k *Kernel) auditEnds(ctx context.Context) (first, last AuditEntry, err error) {
	for newest, e := range map[bool]*AuditEntry{false: &first, true: &last} {
		list, err := k.audit.List(ctx, AuditQuery{Newest: newest, Limit: 1})
		if err != nil {
			return first, last, err
		}
		if len(list) > 0 {
			*e = list[0]
		}
	}
	return first, last, nil
}

func (k *Kernel) pruneAudit(ctx context.Context, actor string, through int64) (AuditCut, error) {
	state, err := k.audit.CutBefore(ctx, k.clock.Now().AddDate(1, 0, 0), through+1)
	if err != nil {
		return state, err
	}
	open, err := k.store.OldestOpenAudit(ctx)
	if err != nil {
		return state, err
	}
	if open > 0 && through >= open {
		return state, sys.Errorf(sys.CodeBusy, "Record %d belongs to a step that is still open. Nothing was pruned.", open).WithHint("Look at what would go once more.")
	}
	// What has begun is ended whether or not somebody still waits for it.
	err = k.audit.Prune(context.WithoutCancel(ctx), through, k.newEntry(actor, security.ActionConfigChange, "audit pruned", map[string]any{
		"through": through, "entries": state.Entries, "since": state.Since, "until": state.Until, "node": k.node,
	}))
	k.publishStatus()
	return state, err
}

// keepBounds takes out of the audit record what the settings do not want to keep:
// of what is older than audit_days a day or more at once, and of what exceeds
// audit_max_entries a tenth of it more, because each time leaves a line with the
// witness. It runs when the guardian has just found the record to be whole.
func (k *Kernel) keepBounds(ctx context.Context) {
	cfg := k.config.get()
	if cfg.AuditDays == 0 && cfg.AuditMaxEntries == 0 {
		return
	}
	first, last, err := k.auditEnds(ctx)
	old := cfg.AuditDays > 0 && first.Timestamp.Before(k.clock.Now().AddDate(0, 0, -cfg.AuditDays-1))
	many := cfg.AuditMaxEntries > 0 && last.Seq-first.Seq >= int64(cfg.AuditMaxEntries)
	if err == nil && first.Seq > 0 && (old || many) {
		var cut AuditCut
		if cut, err = k.surplus(ctx, cfg, int64(cfg.AuditMaxEntries-cfg.AuditMaxEntries/10)); err == nil && cut.Through > 0 {
			_, err = k.pruneAudit(ctx, "kernel", cut.Through)
		}
	}
	if err != nil && ctx.Err() == nil {
		k.log.WarnContext(ctx, "The audit record could not be pruned", "error", err)
	}
}
