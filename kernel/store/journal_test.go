package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"oxios/kernel/sys"
)

func journal(t testing.TB, s *Store, runID string) *Journal {
	t.Helper()
	j, err := s.Journal(context.Background(), runID)
	if err != nil {
		t.Fatalf("Journal: %v", err)
	}
	return j
}

func propose(t testing.TB, s *Store, j *Journal, kind StepKind) *OpenStep {
	t.Helper()
	step := &Step{Kind: kind, Name: "ls", Args: json.RawMessage(`{"path":"."}`)}
	write(t, s, func(tx *Tx) error { return j.Propose(tx, step) })
	return j.Open(step)
}

func steps(t testing.TB, s *Store, runID string) []Step {
	t.Helper()
	all, err := s.Steps(context.Background(), runID)
	if err != nil {
		t.Fatalf("Steps: %v", err)
	}
	return all
}

func TestStepGoesThroughItsStates(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	r := newRun(t, s, newSession(t, s, "x").ID)
	j := journal(t, s, r.ID)
	o := propose(t, s, j, StepTool)
	if err := o.Wait(ctx, "approval-1", func(tx *Tx) error { return s.Put(tx, "approval", "1") }); err != nil {
		t.Fatal(err)
	}
	if got := steps(t, s, r.ID)[0]; got.State != StepWaiting || got.ApprovalID != "approval-1" {
		t.Errorf("after Wait: got %+v", got)
	}
	starts := 0
	for range 2 { // the second syscall of the same step
		err := o.Start(ctx, func(tx *Tx) error {
			starts++
			return o.SetAudit(tx, int64(40+starts))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := steps(t, s, r.ID)[0]; got.State != StepStarted || got.StartedAt == nil || got.AuditSeq != 41 || starts != 2 {
		t.Errorf("after Start: got %+v, %d calls of fn", got, starts)
	}
	var order []string
	o.OnClose(func(tx *Tx) error { order = append(order, "audit"); return nil })
	following := &Step{Kind: StepModel}
	err := o.Close(ctx, OutcomeOK, json.RawMessage(`"fine"`), func(tx *Tx) error {
		order = append(order, "also")
		return j.Propose(tx, following)
	})
	if err != nil {
		t.Fatal(err)
	}
	all := steps(t, s, r.ID)
	if len(all) != 2 || all[0].State != StepClosed || all[0].Outcome != OutcomeOK || string(all[0].Result) != `"fine"` || all[0].ClosedAt == nil ||
		all[1].State != StepProposed || all[1].Seq != 2 {
		t.Errorf("after Close: got %+v", all)
	}
	if fmt.Sprint(order) != "[audit also]" {
		t.Errorf("got order %v, want [audit also]", order)
	}
	if o.Step().State != StepClosed || StepFrom(WithStep(ctx, o)) != o || StepFrom(ctx) != nil {
		t.Error("the handle does not know its step")
	}
}

func TestIllegalTransitionsAreInternal(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	r := newRun(t, s, newSession(t, s, "x").ID)
	j := journal(t, s, r.ID)
	o := propose(t, s, j, StepTool)
	if err := o.Close(ctx, "perhaps", nil, nil); sys.CodeOf(err) != sys.CodeInternal {
		t.Errorf("unknown outcome: got %v, want internal", err)
	}
	write(t, s, func(tx *Tx) error {
		if err := o.SetAudit(tx, 1); sys.CodeOf(err) != sys.CodeInternal {
			t.Errorf("SetAudit before Start: got %v, want internal", err)
		}
		return nil
	})
	twin := o.Step()
	stale := j.Open(&twin)
	if err := o.Close(ctx, OutcomeDenied, nil, nil); err != nil { // from proposed: denied before it began
		t.Fatal(err)
	}
	ran := false
	fn := func(*Tx) error { ran = true; return nil }
	for name, err := range map[string]error{
		"Start": o.Start(ctx, fn), "Wait": o.Wait(ctx, "a", fn), "Close": o.Close(ctx, OutcomeOK, nil, fn), "stale handle": stale.Start(ctx, fn),
	} {
		if sys.CodeOf(err) != sys.CodeInternal {
			t.Errorf("%s after Close: got %v, want internal", name, err)
		}
	}
	if ran || steps(t, s, r.ID)[0].Outcome != OutcomeDenied {
		t.Error("an illegal transition had an effect")
	}
}

func TestFailedTransitionKeepsTheStepAndTheDeferredWork(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx, cancel := context.WithCancel(context.Background())
	r := newRun(t, s, newSession(t, s, "x").ID)
	o := propose(t, s, journal(t, s, r.ID), StepTool)
	no := errors.New("no")
	if err := o.Start(ctx, func(*Tx) error { return no }); !errors.Is(err, no) {
		t.Fatalf("got %v, want no", err)
	}
	if got := steps(t, s, r.ID)[0].State; got != StepProposed || o.Step().State != StepProposed {
		t.Errorf("got %s in the database and %s in the handle, want proposed", got, o.Step().State)
	}
	if err := o.Start(ctx, nil); err != nil {
		t.Fatal(err)
	}
	deferred := 0
	o.OnClose(func(*Tx) error { deferred++; return nil })
	if err := o.Close(ctx, OutcomeOK, nil, func(*Tx) error { return no }); !errors.Is(err, no) {
		t.Fatalf("got %v, want no", err)
	}
	cancel() // Stop was pressed: what happened is recorded nevertheless
	if err := o.Close(ctx, OutcomeCanceled, nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := steps(t, s, r.ID)[0]; got.Outcome != OutcomeCanceled || deferred != 2 {
		t.Errorf("got outcome %q and %d deferred calls, want canceled and 2", got.Outcome, deferred)
	}
}

func TestTenParallelStepsOfOneRun(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	r := newRun(t, s, newSession(t, s, "x").ID)
	j := journal(t, s, r.ID)
	proposed := make([]*Step, 10)
	for i := range proposed {
		proposed[i] = &Step{Kind: StepTool, Name: fmt.Sprint("tool", i)}
	}
	write(t, s, func(tx *Tx) error { return j.Propose(tx, proposed...) })
	var wg sync.WaitGroup
	for _, step := range proposed {
		wg.Add(1)
		go func() {
			defer wg.Done()
			o := j.Open(step)
			if err := o.Start(ctx, nil); err != nil {
				t.Error(err)
			}
			follow := &Step{Kind: StepMessage}
			refused := errors.New("refused")
			// A proposal that is rolled back gives its numbers back.
			err := s.Write(ctx, func(tx *Tx) error {
				if err := j.Propose(tx, &Step{Kind: StepMessage}, &Step{Kind: StepMessage}); err != nil {
					return err
				}
				return refused
			})
			if !errors.Is(err, refused) {
				t.Errorf("got %v, want refused", err)
			}
			if err := o.Close(ctx, OutcomeOK, nil, func(tx *Tx) error { return j.Propose(tx, follow) }); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	all := steps(t, s, r.ID)
	if len(all) != 20 {
		t.Fatalf("got %d steps, want 20", len(all))
	}
	for i, step := range all {
		if step.Seq != i+1 {
			t.Errorf("step %d has seq %d", i+1, step.Seq)
		}
		if want := StepClosed; i < 10 && step.State != want {
			t.Errorf("step %d is %s, want %s", i+1, step.State, want)
		}
	}
}

func TestTakeoverFencesTheFormerOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "oxios.db")
	ctx := context.Background()
	old := reopen(t, path)
	if _, err := old.TakeOver(ctx, "node-a"); err != nil {
		t.Fatal(err)
	}
	session := newSession(t, old, "x")
	r, ended := newRun(t, old, session.ID), newRun(t, old, session.ID)
	done := RunDone
	write(t, old, func(tx *Tx) error { return old.UpdateRun(tx, ended.ID, RunPatch{State: &done}) })
	j := journal(t, old, r.ID)
	waiting, started := propose(t, old, j, StepTool), propose(t, old, j, StepTool)
	if err := started.Start(ctx, nil); err != nil {
		t.Fatal(err)
	}

	young := reopen(t, path)
	taken, err := young.TakeOver(ctx, "node-b")
	if err != nil || len(taken) != 1 || taken[0].ID != r.ID {
		t.Fatalf("got %v, error %v; want the open run alone", taken, err)
	}
	running := RunRunning
	ran := false
	fn := func(*Tx) error { ran = true; return nil }
	for name, err := range map[string]error{
		"Propose":   old.Write(ctx, func(tx *Tx) error { return j.Propose(tx, &Step{Kind: StepModel}) }),
		"Wait":      waiting.Wait(ctx, "a", fn),
		"Start":     waiting.Start(ctx, fn),
		"Close":     started.Close(ctx, OutcomeOK, nil, fn),
		"UpdateRun": old.Write(ctx, func(tx *Tx) error { return old.UpdateRun(tx, r.ID, RunPatch{State: &running}) }),
	} {
		if sys.CodeOf(err) != sys.CodeConflict {
			t.Errorf("%s by the former owner: got %v, want conflict", name, err)
		}
	}
	if ran {
		t.Error("a fenced transition ran its function")
	}
	// The new owner goes on where the old one was.
	nj := journal(t, young, r.ID)
	all := steps(t, young, r.ID)
	if all[0].State != StepProposed || all[1].State != StepStarted {
		t.Errorf("the former owner changed the steps: %+v", all)
	}
	if err := nj.Open(&all[1]).Close(ctx, OutcomeUnknown, nil, func(tx *Tx) error { return nj.Propose(tx, &Step{Kind: StepModel}) }); err != nil {
		t.Error(err)
	}
	write(t, young, func(tx *Tx) error { return young.UpdateRun(tx, r.ID, RunPatch{State: &running}) })
	if got := steps(t, young, r.ID); len(got) != 3 || got[2].Seq != 3 {
		t.Errorf("got %+v, want a third step", got)
	}
}

func TestSecondJournalFencesTheFirst(t *testing.T) {
	t.Parallel()
	s := setup(t)
	r := newRun(t, s, newSession(t, s, "x").ID)
	first, second := journal(t, s, r.ID), journal(t, s, r.ID)
	propose(t, s, second, StepModel)
	err := s.Write(context.Background(), func(tx *Tx) error { return first.Propose(tx, &Step{Kind: StepModel}) })
	if sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v, want conflict", err)
	}
	if _, err := s.Journal(context.Background(), "none"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("journal of no run: got %v, want not_found", err)
	}
}

func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	t.Parallel()
	for round := range 3 {
		path := filepath.Join(t.TempDir(), "oxios.db")
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), writerChild+"="+path)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		var acknowledged []string
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			acknowledged = append(acknowledged, lines.Text())
			if len(acknowledged) == 200+round*100 {
				if err := child.Process.Kill(); err != nil { // in the middle of the next writes
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait() // it was killed
		if len(acknowledged) < 200 {
			t.Fatalf("the child wrote %d times, want at least 200", len(acknowledged))
		}
		s := reopen(t, path)
		if err := s.Check(context.Background()); err != nil {
			t.Errorf("after the kill: %v", err)
		}
		for _, key := range acknowledged {
			if _, ok, err := s.Get(context.Background(), key); err != nil || !ok {
				t.Fatalf("round %d: the acknowledged write %s is gone (error %v)", round, key, err)
			}
		}
		lone := "SELECT count(*) FROM kv a WHERE key NOT LIKE '%-twin' AND NOT EXISTS (SELECT 1 FROM kv b WHERE b.key = a.key || '-twin')"
		if got := count(t, s, lone); got != 0 {
			t.Errorf("got %d halves of a transaction, want 0", got)
		}
	}
}
