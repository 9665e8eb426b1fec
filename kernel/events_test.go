package kernel_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
)

// whatHappens follows what happens from now on. The function that it returns waits
// for the next event of a kind that fits, and fails the test when none comes.
func whatHappens(t *testing.T, h *kernel.Handle) func(fits func(kernel.Event) bool, kinds ...string) kernel.Event {
	t.Helper()
	events, err := h.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return func(fits func(kernel.Event) bool, kinds ...string) kernel.Event {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		for {
			select {
			case e, ok := <-events:
				if !ok {
					t.Fatalf("the events ended before one of kind %s", kinds)
				}
				if slices.Contains(kinds, e.Kind) && (fits == nil || fits(e)) {
					return e
				}
			case <-ctx.Done():
				t.Fatalf("there was no event of kind %s that fits", kinds)
			}
		}
	}
}

// did returns what the next event of a kind says was done, once it is that.
func did(t *testing.T, next func(func(kernel.Event) bool, ...string) kernel.Event, kind, what string) event.Change {
	t.Helper()
	e := next(func(e kernel.Event) bool {
		c, ok := event.As[event.Change](e)
		if !ok {
			t.Fatalf("an event of kind %s has the data %T", e.Kind, e.Data)
		}
		return c.Did == what
	}, kind)
	c, _ := event.As[event.Change](e)
	return c
}

func TestEventsOfMemoriesSayWhatBecameOfWhich(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	next := whatHappens(t, p)
	m, err := p.Memory.Remember(t.Context(), kernel.MemoryInput{Text: "The kite is green."})
	if err != nil {
		t.Fatal(err)
	}
	if c := did(t, next, event.MemoryChanged, event.Stored); !slices.Equal(c.IDs, []string{m.ID}) || c.Count != 1 {
		t.Errorf("stored: got %+v, want %s", c, m.ID)
	}
	run := k.Ask("Which colour has the kite that is green?").RunID
	e := next(nil, event.MemoryRecalled)
	if c, _ := event.As[event.Change](e); e.RunID != run || !slices.Equal(c.IDs, []string{m.ID}) {
		t.Errorf("recalled: got %+v for run %s, want %s for %s", c, e.RunID, m.ID, run)
	}
	pinned := true
	if _, err := p.Memory.Update(t.Context(), m.ID, kernel.MemoryPatch{Pinned: &pinned}); err != nil {
		t.Fatal(err)
	}
	did(t, next, event.MemoryChanged, event.Edited)
	if _, err := p.Memory.Forget(t.Context(), []string{m.ID}); err != nil {
		t.Fatal(err)
	}
	if c := did(t, next, event.MemoryChanged, event.Forgotten); !slices.Equal(c.IDs, []string{m.ID}) {
		t.Errorf("forgotten: got %+v, want %s", c, m.ID)
	}
}

func TestEventsOfSpacesSayWhatBecameOfWhich(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	next := whatHappens(t, p)
	a, b := space(t, k, kernel.SpaceInput{Name: "Pond"}), space(t, k, kernel.SpaceInput{Name: "Lake"})
	for _, id := range []string{a.ID, b.ID} {
		if c := did(t, next, event.SpaceChanged, event.Created); c.Space != id {
			t.Errorf("created: got %+v, want %s", c, id)
		}
	}
	said := k.Ask("hello", func(m *kernel.Submit) { m.Space = &a.ID })
	e := next(nil, event.SpaceActivated)
	if c, _ := event.As[event.Change](e); c.Space != a.ID || e.SessionID != said.SessionID {
		t.Errorf("activated: got %+v in %s, want %s in %s", c, e.SessionID, a.ID, said.SessionID)
	}
	if _, err := p.Space.Merge(t.Context(), a.ID, b.ID); err != nil {
		t.Fatal(err)
	}
	if c := did(t, next, event.SpaceChanged, event.Moved); !slices.Equal(c.IDs, []string{said.SessionID}) || c.Into != b.ID {
		t.Errorf("moved: got %+v, want %s into %s", c, said.SessionID, b.ID)
	}
	if c := did(t, next, event.SpaceChanged, event.Merged); c.Space != a.ID || c.Into != b.ID {
		t.Errorf("merged: got %+v, want %s into %s", c, a.ID, b.ID)
	}
	if _, err := p.Space.Unmerge(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	did(t, next, event.SpaceChanged, event.Unmerged)
	if _, err := p.Space.Archive(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if c := did(t, next, event.SpaceChanged, event.Archived); c.Space != b.ID {
		t.Errorf("archived: got %+v, want %s", c, b.ID)
	}
}

func TestEventsOfTheInboxNameTheRuns(t *testing.T) {
	t.Parallel()
	k := open(t)
	next := whatHappens(t, k.Person())
	run := k.Ask("hello").RunID
	if c := did(t, next, event.InboxChanged, event.Ended); !slices.Equal(c.IDs, []string{run}) {
		t.Errorf("ended: got %+v, want %s", c, run)
	}
	if err := k.Person().Agents.MarkSeen(t.Context(), []string{run}, true); err != nil {
		t.Fatal(err)
	}
	if c := did(t, next, event.InboxChanged, event.Seen); !slices.Equal(c.IDs, []string{run}) {
		t.Errorf("seen: got %+v, want %s", c, run)
	}
}

func TestPhasesOfATaskAreToldInTheirOrder(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(taskScript))
	next := whatHappens(t, k.Person())
	run := k.Say("tidy up").RunID
	k.Approval(run)
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: run, Answers: []string{"all"}}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) < 8 {
		e := next(nil, event.PhaseStarted, event.PhaseCompleted)
		ph, ok := event.As[event.Phase](e)
		if !ok || e.RunID != run {
			t.Fatalf("got %+v", e)
		}
		got = append(got, strings.TrimPrefix(e.Kind, "phase.")+" "+ph.Phase)
		if (ph.Seed == "") != (ph.Phase == "interview") {
			t.Errorf("%s names the seed %q", got[len(got)-1], ph.Seed)
		}
	}
	want := []string{"started interview", "completed interview", "started seed", "completed seed", "started execute", "completed execute", "started evaluate", "completed evaluate"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSwitchedVaultNamesItsFolder(t *testing.T) {
	t.Parallel()
	k := open(t)
	next := whatHappens(t, k.Person())
	other := t.TempDir()
	if _, err := k.Person().Infra.SetConfig(t.Context(), "vault_folder", other); err != nil {
		t.Fatal(err)
	}
	if at, _ := event.As[event.Text](next(nil, event.VaultSwitched)); filepath.Base(at.Text) != filepath.Base(other) {
		t.Errorf("got %q, want %q", at.Text, other)
	}
}
