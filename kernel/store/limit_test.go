package store

import (
	"context"
	"testing"
	"time"
)

func TestTreeCostIsThatOfARunAndOfAllThatItStarted(t *testing.T) {
	t.Parallel()
	s := setup(t)
	one := 1.5
	err := s.Write(t.Context(), func(tx *Tx) error {
		for _, r := range []Run{{ID: "root"}, {ID: "child", ParentID: "root"}, {ID: "grandchild", ParentID: "child"}, {ID: "other"}} {
			if err := s.CreateRun(tx, &r); err != nil {
				return err
			}
			if err := s.UpdateRun(tx, r.ID, RunPatch{Cost: &Cost{Calls: 1, Input: 10, USD: 0.5}}); err != nil {
				return err
			}
		}
		return s.SetRunLimits(tx, "child", Limits{USD: &one})
	})
	if err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]int{"root": 3, "child": 2, "grandchild": 1, "other": 1, "none": 0} {
		got, err := s.TreeCost(t.Context(), run)
		if err != nil || got.Calls != want || got.Input != 10*want || got.USD != 0.5*float64(want) {
			t.Errorf("%s: got %+v, %v, want %d calls", run, got, err, want)
		}
	}
	if l, ok, err := s.RunLimits(t.Context(), "child"); err != nil || !ok || *l.USD != 1.5 || l.Calls != nil {
		t.Errorf("got %+v, %v, %v", l, ok, err)
	}
	if l, ok, err := s.RunLimits(t.Context(), "root"); err != nil || ok || !l.None() {
		t.Errorf("got %+v, %v, %v, want none", l, ok, err)
	}
	slots, err := s.SlotCosts(context.Background(), time.Now().Add(-time.Hour))
	if err != nil || len(slots) == 0 || slots[len(slots)-1].Calls == 0 {
		t.Errorf("got %+v, %v", slots, err)
	}
}
