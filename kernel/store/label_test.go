package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"oxios/kernel/sys"
)

// Trees of runs that fork, follow each other, read and are taken up again: what a
// run carries never shrinks, and a new one carries all that those had read whose
// words it begins with.
func TestLabelsOnlyGrowAlongForksAndConversations(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := t.Context()
	rapid.Check(t, func(r *rapid.T) {
		session := Session{ID: sys.NewID(), Title: "x"}
		var runs []string
		known := map[string]Labels{}
		of := func(id string) (l Labels) {
			if err := s.Read(ctx, func(tx *Tx) (err error) {
				l, err = s.LabelsOf(tx, id)
				return err
			}); err != nil {
				r.Fatal(err)
			}
			return l
		}
		begin := func(parent string) {
			run := Run{ID: sys.NewID(), SessionID: session.ID, ParentID: parent}
			before := Labels{}
			if parent != "" {
				before = known[parent]
			}
			if err := s.Write(ctx, func(tx *Tx) error { return s.CreateRun(tx, &run) }); err != nil {
				r.Fatal(err)
			}
			if run.AfterID != "" {
				before = before.Join(known[run.AfterID])
			}
			known[run.ID] = of(run.ID)
			for _, l := range before {
				if !known[run.ID].Has(l.ID) {
					r.Fatalf("a run begins without %s, which its parent or the run before it had read", l.Name)
				}
			}
			runs = append(runs, run.ID)
		}
		if err := s.Write(ctx, func(tx *Tx) error { return s.InsertSession(tx, &session) }); err != nil {
			r.Fatal(err)
		}
		begin("")
		for i := range rapid.IntRange(1, 25).Draw(r, "steps") {
			id := rapid.SampledFrom(runs).Draw(r, "run")
			switch rapid.IntRange(0, 3).Draw(r, "what") {
			case 0:
				begin(id)
			case 1:
				begin("")
			default:
				j, err := s.Journal(ctx, id)
				if err != nil {
					r.Fatal(err)
				}
				l := NewLabel(Label{Origin: LabelFile, Untrusted: rapid.Bool().Draw(r, "untrusted"), Name: fmt.Sprint(i)}, "", sys.Words{EN: "x"})
				step := j.Plan(&Step{Kind: StepTool, Name: "read"})
				step.Label(Labels{l})
				if err := step.Start(ctx, nil); err != nil {
					r.Fatal(err)
				}
				if err := step.Close(ctx, OutcomeOK, nil, nil); err != nil {
					r.Fatal(err)
				}
				if !of(id).Has(l.ID) {
					r.Fatal("the step's label is not the run's")
				}
			}
			for id, before := range known {
				now := of(id)
				for _, l := range before {
					if !now.Has(l.ID) {
						r.Fatalf("a run lost %s", l.Name)
					}
				}
				known[id] = now
			}
		}
	})
}
