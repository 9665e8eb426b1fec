package kernel_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// foundSaid is what a search of the person finds that was said.
func foundSaid(t *testing.T, k *kerneltest.Kernel, text, space string) (out []kernel.MemoryFound) {
	t.Helper()
	found, err := k.Person().Memory.Search(t.Context(), kernel.MemorySearch{Text: text, Space: space, Said: true, Least: kernel.MemoryLeast})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Kind == "conversation" {
			out = append(out, f)
		}
	}
	return out
}

func TestWhatWasSaidIsFoundForSevenDaysInItsSpace(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	k := kerneltest.Open(t, kerneltest.With(func(o *kernel.Options) {
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	}))
	said := k.Say("The harbour festival of Jeju begins on the second Saturday")
	k.Wait(said.RunID)
	found := foundSaid(t, k, "when is the harbour festival", "")
	if len(found) == 0 || found[0].Thread != said.SessionID || !strings.Contains(found[0].Text, "second Saturday") || found[0].Source != "person" || found[0].Key == "" {
		t.Fatalf("found %+v", found)
	}
	if got := foundTexts(t, k, "harbour festival"); len(got) != 0 {
		t.Errorf("a search of what is remembered alone found %v", got)
	}
	other, err := k.Person().Space.Create(t.Context(), kernel.SpaceInput{Name: "Elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	if found := foundSaid(t, k, "harbour festival", other.ID); len(found) != 0 {
		t.Errorf("found in another space: %+v", found)
	}
	ahead.Store(int64(8 * 24 * time.Hour))
	if found := foundSaid(t, k, "harbour festival", ""); len(found) != 0 {
		t.Errorf("found after eight days: %+v", found)
	}
}

func TestWhatWasSaidGoesWithItsConversation(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	said := k.Say("The harbour festival of Jeju begins on the second Saturday")
	k.Wait(said.RunID)
	if len(foundSaid(t, k, "harbour festival", "")) == 0 {
		t.Fatal("nothing was found")
	}
	if _, err := k.Person().State.DiscardSession(t.Context(), said.SessionID); err != nil {
		t.Fatal(err)
	}
	if found := foundSaid(t, k, "harbour festival", ""); len(found) != 0 {
		t.Errorf("found in a conversation that was deleted: %+v", found)
	}
}

const recallScript = `
[[scenario]]
match = "^What did I say"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "memory_search"
args = '{"query": "harbour festival"}'
[[scenario.turn]]
text = "This: {{result}}"

[[scenario]]
match = "."
[[scenario.turn]]
text = "An answer."
`

func TestAgentFindsWhatWasSaidInOtherConversationsAndCarriesThat(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t, kerneltest.Script(recallScript))
	k.Ask("The harbour festival of Jeju begins on the second Saturday")
	r := k.Ask("What did I say of it?")
	if !strings.Contains(r.Response, "second Saturday") || strings.Contains(r.Response, "What did I say") {
		t.Errorf("the agent found: %s", r.Response)
	}
	if got := texts(labelsOf(t, k, r.RunID)); !strings.Contains(got, "what Oxios remembers of you") {
		t.Errorf("the run carries %q", got)
	}
	setConfig(t, k, "memory", "false")
	if r := k.Ask("What did I say of it?"); strings.Contains(r.Response, "second Saturday") {
		t.Errorf("memory is off, but the agent found: %s", r.Response)
	}
}
