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
// Nothing is changed. The zero time asks for what audit_days says.
func (a *SecurityAPI) AuditCut(ctx context.Context, before time.Time) (AuditCut, error) {
	return guard(ctx, a.caller, action{call: "security.auditCut", resource: "audit"}, func(ctx context.Context) (AuditCut, error) {
		if before.IsZero() {
			days := a.k.config.get().AuditDays
			if days == 0 {
				return AuditCut{}, sys.Errorf(sys.CodeInvalid, "The audit record is kept for ever, so nothing of it is too old.").WithHint("Name a date, or set audit_days.")
			}
			before = a.k.clock.Now().AddDate(0, 0, -days)
		}
		return a.k.auditCut(ctx, before)
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

// auditCut keeps what steps refer to that are still open: after a crash the
// record says whether they may be done again.
func (k *Kernel) auditCut(ctx context.Context, before time.Time) (AuditCut, error) {
	open, err := k.store.OldestOpenAudit(ctx)
	if err != nil {
		return AuditCut{}, err
	}
	return k.audit.CutBefore(ctx, before, open)
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

// keepDays takes out of the audit record what is older than audit_days, a day or
// more of it at once: each time leaves a line with the witness. It runs when the
// guardian has just found the record to be whole.
func (k *Kernel) keepDays(ctx context.Context) {
	days := k.config.get().AuditDays
	if days == 0 {
		return
	}
	old := k.clock.Now().AddDate(0, 0, -days)
	first, err := k.audit.List(ctx, AuditQuery{Limit: 1})
	if err == nil && len(first) == 1 && first[0].Timestamp.Before(old.AddDate(0, 0, -1)) {
		var cut AuditCut
		if cut, err = k.auditCut(ctx, old); err == nil && cut.Through > 0 {
			_, err = k.pruneAudit(ctx, "kernel", cut.Through)
		}
	}
	if err != nil && ctx.Err() == nil {
		k.log.WarnContext(ctx, "The audit record could not be pruned", "error", err)
	}
}
