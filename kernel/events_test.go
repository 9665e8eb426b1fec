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
	"oxios/kernel/security"
	"oxios/kernel/sys"
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

const eventsScript = `
[[scenario]]
match = "^lead"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "reader", "goal": "part of it"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "events"
args = '{"action": "recent", "limit": 200}'
[[scenario.turn]]
text = "{{result}}"

[[scenario]]
match = "^part of it"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "read"
args = '{"path": "page.txt"}'
[[scenario.turn]]
text = "Read."

[[scenario]]
match = "^worker"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "it is there", "acceptance_criteria": [{"text": "one", "check": {"file": "no", "not": true}}, {"text": "two", "check": {"file": "no", "not": true}}, {"text": "three", "check": {"file": "no", "not": true}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
text = "It is."

[[scenario]]
[[scenario.turn]]
text = "A stranger's zebra."
`

func TestAnAgentSeesTheEventsOfItsFamilyAlone(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(eventsScript))
	write(t, filepath.Join(k.Folder, "page.txt"), "words of somebody\n")
	other := k.Ask("another conversation")
	said := k.Ask("lead")
	child := processes(t, k, kernel.ProcessQuery{All: true})["reader"]
	seen := ""
	v, err := k.Person().Agents.Run(t.Context(), said.RunID)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range v.Steps {
		if st.Name == "events" {
			seen = st.Output
		}
	}
	for _, want := range []string{child.ID + " run.ended reader · done", said.RunID + " run.started", child.ID + " step tool · read · "} {
		if !strings.Contains(seen, want) {
			t.Errorf("the agent does not see %q in:\n%s", want, seen)
		}
	}
	if strings.Contains(seen, other.RunID) || strings.Contains(seen, "zebra") || strings.Contains(seen, "another conversation") {
		t.Errorf("the agent sees another conversation:\n%s", seen)
	}
	h := k.As(sys.Principal{Kind: sys.KindAgent, ID: said.RunID, Profile: "operator"})
	if _, err := h.Infra.RecentEvents(t.Context(), kernel.EventQuery{RunID: other.RunID}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("the events of another conversation: got %v, want forbidden", err)
	}
}

func TestWhoReadsTheEventsOfAnotherAgentCarriesWhatThatHadRead(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(eventsScript))
	h := k.AgentIn(stranger(t, map[string]string{"page.txt": "words of somebody\n"}), "auto")
	forked, err := h.Agents.Fork(t.Context(), kernel.Fork{Goal: "part of it", Name: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(forked.RunID); r.State != "done" {
		t.Fatalf("got %+v", r)
	}
	carries := func() kernel.Labels {
		t.Helper()
		v, err := k.Person().Agents.Run(t.Context(), h.Principal().ID)
		if err != nil {
			t.Fatal(err)
		}
		return v.Run.Labels
	}
	if l := carries(); l.Untrusted() {
		t.Fatalf("it carries %+v before it read anything", l)
	}
	if list, err := h.Infra.RecentEvents(t.Context(), kernel.EventQuery{RunID: forked.RunID}); err != nil || len(list) == 0 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if l := carries(); !l.Untrusted() {
		t.Errorf("it carries %+v, want what the other agent had read", l)
	}
}

func TestEveryProfileMayBeginATaskAndLookAtEvents(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, profile := range security.ProfileNames() {
		p, err := k.Person().Agents.Prompt(t.Context(), kernel.Submit{Text: "hello", Role: profile})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"begin_task", "events"} {
			if !strings.Contains(p.Prompt, "<name>"+name+"</name>") {
				t.Errorf("%s: %s is not offered", profile, name)
			}
		}
		if forks := strings.Contains(p.Prompt, "### agents"); forks != (profile == security.ProfileOperator || profile == security.ProfileSupervisor) {
			t.Errorf("%s: the prompt speaks of agents below it: %v", profile, forks)
		}
	}
}

func TestRecentEventsAreTheNewestThatFit(t *testing.T) {
	t.Parallel()
	k := open(t)
	first, second := k.Ask("hello").RunID, k.Ask("hello again").RunID
	p := k.Person()
	recent := func(q kernel.EventQuery) []kernel.Event {
		t.Helper()
		list, err := p.Infra.RecentEvents(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	ends := recent(kernel.EventQuery{Kinds: []string{event.RunEnded}})
	if len(ends) != 2 || ends[0].RunID != first || ends[1].RunID != second {
		t.Fatalf("got %+v, want both ends, the oldest first", ends)
	}
	if list := recent(kernel.EventQuery{Kinds: []string{"run"}, RunID: second, Limit: 1}); len(list) != 1 || list[0].RunID != second {
		t.Errorf("got %+v, want the newest of the second run", list)
	}
	if list := recent(kernel.EventQuery{After: ends[0].Seq, Kinds: []string{event.RunEnded}}); len(list) != 1 || list[0].RunID != second {
		t.Errorf("got %+v, want what came after the first end", list)
	}
	if _, ok := event.As[kernel.Run](ends[0]); !ok {
		t.Errorf("the person gets %T, want the run", ends[0].Data)
	}
}

func TestAWorkerBeginsATaskAndForksNobody(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(eventsScript))
	said := k.Ask("worker", func(m *kernel.Submit) { m.Role = "worker" })
	if said.EvaluationPassed == nil || !*said.EvaluationPassed || len(processes(t, k, kernel.ProcessQuery{All: true})) != 1 {
		t.Errorf("got %+v, want a task that passed, and one agent", said)
	}
}
