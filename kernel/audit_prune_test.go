package kernel_test

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// aged is a kernel with a witness that did something a hundred days ago, and today.
func aged(t *testing.T) *kerneltest.Kernel {
	t.Helper()
	var now atomic.Int64
	now.Store(-int64(100 * 24 * time.Hour))
	k, _ := seen(t, kerneltest.Script(inboxScript), kerneltest.With(func(o *kernel.Options) {
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(now.Load())) }
	}))
	k.Ask("hello")
	now.Store(0)
	k.Ask("hello again")
	return k
}

func TestOldRecordsArePrunedWhenThePersonSaysSo(t *testing.T) {
	t.Parallel()
	k := aged(t)
	p := k.Person().Security
	before := time.Now().AddDate(0, 0, -50)
	cut, err := p.AuditCut(t.Context(), before)
	if err != nil || cut.Through == 0 || cut.Entries != cut.Through || cut.Bytes == 0 || cut.Left == 0 || !cut.Until.Before(before) {
		t.Fatalf("got %+v, %v", cut, err)
	}
	if _, err := k.Agent("autonomous").Security.PruneAudit(t.Context(), cut.Through); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %v of an agent, want it refused", err)
	}
	done, err := p.PruneAudit(t.Context(), cut.Through)
	if err != nil || done.Entries != cut.Entries {
		t.Fatalf("got %+v, %v", done, err)
	}
	s, err := p.AuditState(t.Context())
	if err != nil || s.First != cut.Through+1 || s.Since.Before(before) {
		t.Errorf("got %+v, %v, want a record that begins with entry %d", s, err, cut.Through+1)
	}
	r, err := p.VerifyAudit(t.Context())
	if err != nil || !r.OK || r.Pruned != cut.Through {
		t.Errorf("got %+v, %v", r, err)
	}
	export := exportedChain(t, k)
	if r, err := kernel.VerifyAuditExport(bytes.NewReader(export), kernel.AuditProof{Key: r.Key}); err != nil || !r.OK || r.Pruned != cut.Through {
		t.Errorf("got %+v, %v of the export", r, err)
	}
	k.Restart()
	if _, err := k.Person().Infra.SetConfig(t.Context(), "theme", "dark"); err != nil {
		t.Error(err)
	}
	if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !r.OK || r.Pruned != cut.Through {
		t.Errorf("got %+v, %v after another start", r, err)
	}
	if got := findings(t, k); len(got) != 0 {
		t.Errorf("got %+v, want nothing found", got)
	}
}

func TestTheRecordKeepsAsManyDaysAsThePersonWants(t *testing.T) {
	t.Parallel()
	k := aged(t)
	p := k.Person()
	if _, err := p.Security.AuditCut(t.Context(), time.Time{}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want to hear that it is kept for ever", err)
	}
	if _, err := p.Infra.SetConfig(t.Context(), "audit_days", "50"); err != nil {
		t.Fatal(err)
	}
	k.Until("what is older is pruned", func() bool {
		s, err := p.Security.AuditState(t.Context())
		return err == nil && s.First > 1
	})
	r, err := p.Security.VerifyAudit(t.Context())
	if err != nil || !r.OK || r.Pruned == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	words, err := p.Security.Audit(t.Context(), kernel.AuditQuery{Resource: "audit pruned"})
	if err != nil || len(words) != 1 || words[0].Actor != "kernel" {
		t.Errorf("got %+v, %v, want the record to say it once", words, err)
	}
	if got := findings(t, k); len(got) != 0 {
		t.Errorf("got %+v, want nothing found", got)
	}
}

func TestTheRecordHoldsNoMoreEntriesThanThePersonWants(t *testing.T) {
	t.Parallel()
	k, _ := seen(t, kerneltest.Script(inboxScript))
	p := k.Person()
	if _, err := p.Infra.SetConfig(t.Context(), "audit_max_entries", "99"); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want to hear that so few are refused", err)
	}
	if _, err := p.Infra.SetConfig(t.Context(), "audit_max_entries", "100"); err != nil {
		t.Fatal(err)
	}
	state := func() kernel.AuditState {
		s, err := p.Security.AuditState(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for state().Last < 200 {
		if _, err := p.Infra.SetConfig(t.Context(), "theme", "dark"); err != nil {
			t.Fatal(err)
		}
	}
	k.Until("the oldest are pruned", func() bool {
		s := state()
		return s.First > 1 && s.Last-s.First < 100
	})
	s := state()
	if s.Last-s.First < 80 {
		t.Errorf("got entries %d to %d, want about as many as may stay", s.First, s.Last)
	}
	cut, err := p.Security.AuditCut(t.Context(), time.Time{})
	if err != nil || cut.Through >= s.First {
		t.Errorf("got %+v, %v, want nothing beyond the limit", cut, err)
	}
	r, err := p.Security.VerifyAudit(t.Context())
	if err != nil || !r.OK || r.Pruned != s.First-1 {
		t.Errorf("got %+v, %v", r, err)
	}
	export := exportedChain(t, k)
	if r, err := kernel.VerifyAuditExport(bytes.NewReader(export), kernel.AuditProof{Key: r.Key}); err != nil || !r.OK || r.Pruned != s.First-1 {
		t.Errorf("got %+v, %v of the export", r, err)
	}
	k.Restart()
	if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !r.OK || r.Pruned < s.First-1 {
		t.Errorf("got %+v, %v after another start", r, err)
	}
	if got := findings(t, k); len(got) != 0 {
		t.Errorf("got %+v, want nothing found", got)
	}
}
