package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMergeBringsWhatSpacesLearned(t *testing.T) {
	t.Parallel()
	from, to := setup(t), setup(t)
	garden, taxes := Space{Name: "Garden", Shared: true}, Space{Name: "Taxes", Role: "reader"}
	write(t, from, func(tx *Tx) error {
		for _, s := range []*Space{&garden, &taxes} {
			if err := from.InsertSpace(tx, s); err != nil {
				return err
			}
			if err := from.TeachSpace(tx, s.ID, []string{"soil"}, 2); err != nil {
				return err
			}
		}
		return from.DeclineProposal(tx, "new:x", time.Now())
	})
	write(t, to, func(tx *Tx) error { // one of this name is here: it is kept as it is
		s := Space{Name: "taxes"}
		return to.InsertSpace(tx, &s)
	})
	for range 2 {
		if _, err := to.Merge(context.Background(), from, MergeOptions{At: time.Now()}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := to.Spaces(context.Background()); err != nil || len(all) != 2 || all[0].Shared || all[1].Shared {
		t.Errorf("got %+v, %v, want no space that another home opens", all, err)
	}
	var words map[string][]SpaceWord
	if err := to.Read(context.Background(), func(tx *Tx) (err error) {
		words, err = to.SpaceWords(tx)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]SpaceWord{garden.ID: {{"soil", 2}}}, words); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := to.Declined(context.Background()); err != nil || !got["new:x"] || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestASpaceLearnsSoManyWordsAndForgetsTheLeast(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var words map[string][]SpaceWord
	write(t, s, func(tx *Tx) (err error) {
		for i := range 100 {
			if err := s.TeachSpace(tx, "x", []string{fmt.Sprintf("w%03d", i), "often"}, 1); err != nil {
				return err
			}
		}
		if err := s.TeachSpace(tx, "x", []string{"w000", "often"}, -1); err != nil {
			return err
		}
		words, err = s.SpaceWords(tx)
		return err
	})
	got := words["x"]
	if len(got) != maxLearned-1 || got[0] != (SpaceWord{"often", maxWeight - 1}) {
		t.Errorf("got %d words, the first %v", len(got), got[0])
	}
}
