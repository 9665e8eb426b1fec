package mcp

import (
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// as adds a program and returns the kernel as it sees it.
func (s *site) as(name string, scopes ...string) *kernel.Handle {
	s.t.Helper()
	s.add(name, scopes...)
	who, err := s.ClientNamed(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.As(who)
}

func (s *site) submit(h *kernel.Handle, text string) kernel.Submitted {
	s.t.Helper()
	out, err := h.Agents.Submit(s.t.Context(), kernel.Submit{Text: text})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// heard reports whether a run carries words of a program.
func (s *site) heard(run string) bool {
	s.t.Helper()
	v, err := s.Person().Agents.Run(s.t.Context(), run)
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.ContainsFunc(v.Run.Labels, func(l kernel.Label) bool {
		return l.Origin == "client" || slices.ContainsFunc(l.From, func(l kernel.Label) bool { return l.Origin == "client" })
	})
}

func TestWhatAProgramSaidStaysItsWordWhenThePersonSaysItAgain(t *testing.T) {
	t.Parallel()
	s := asking(t)
	h := s.as("Sender", "run", "approvals")
	first := s.submit(h, "again")
	s.Wait(first.RunID)
	for _, text := range []string{"", "risky, and again"} {
		again := s.Say(text, func(m *kernel.Submit) { m.InsteadOf = first.RunID })
		if !s.heard(again.RunID) {
			t.Errorf("%q: what the program said has no label any more", text)
		}
		if text == "" {
			s.Wait(again.RunID)
			continue
		}
		ap := s.Approval(again.RunID)
		if _, err := h.Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("it approved what its own words ask for: %v", err)
		}
	}
}

const keeps = `
[[scenario]]
match = "^From now on"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "memory_write"
args = '{"text": "{{message}}", "type": "fact"}'
[[scenario.turn]]
text = "Noted."
[[scenario]]
match = "."
[[scenario.turn]]
text = "An answer."
`

func TestAProgramGoesOnOnlyInAConversationThatItBegan(t *testing.T) {
	t.Parallel()
	s := setup(t, kerneltest.Script(keeps))
	h := s.as("Sender", "run")
	told := s.submit(h, "From now on the invoices go into the folder Bills")
	ap := s.Approval(told.RunID)
	if _, err := s.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	s.Wait(told.RunID)
	mine := s.Ask("Where do invoices go?")
	if !s.heard(mine.RunID) {
		t.Fatal("what the program had remembered was not recalled")
	}
	if _, err := h.Agents.Submit(t.Context(), kernel.Submit{SessionID: mine.SessionID, Text: "x"}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("it went on in the person's conversation: %v", err)
	}
	s.Ask("And where do they go?", func(m *kernel.Submit) { m.SessionID = told.SessionID })
	if _, err := h.Agents.Submit(t.Context(), kernel.Submit{SessionID: told.SessionID, Text: "x"}); err != nil {
		t.Errorf("it could not go on in its own: %v", err)
	}
}

func TestAProgramThatMayNotReadSeesItsOwnRunsAndStopsNoOther(t *testing.T) {
	t.Parallel()
	s := asking(t)
	mine := s.Say("risky").RunID
	s.Approval(mine)
	runner, reader := s.as("Runner", "run"), s.as("Reader", "run", "read")
	own := s.submit(runner, "again").RunID
	s.Wait(own)
	forbidden := func(what string, err error) {
		t.Helper()
		if sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for _, q := range []kernel.ProcessQuery{{}, {All: true}, {All: true, Limit: 1}} {
		list, err := runner.Agents.List(t.Context(), q)
		if err != nil || slices.ContainsFunc(list, func(p kernel.Process) bool { return p.ID != own }) || q.All && len(list) != 1 {
			t.Errorf("%+v lists %+v, %v", q, list, err)
		}
	}
	_, err := runner.Agents.Run(t.Context(), mine)
	forbidden("another's run", err)
	_, err = runner.Agents.Wait(t.Context(), mine)
	forbidden("a wait for another's run", err)
	for name, h := range map[string]*kernel.Handle{"Runner": runner, "Reader": reader} {
		_, err = h.Agents.Kill(t.Context(), mine)
		forbidden(name+" stops another's run", err)
	}
	if _, err := runner.Agents.Run(t.Context(), own); err != nil {
		t.Errorf("its own run: %v", err)
	}
	if _, err := reader.Agents.Run(t.Context(), mine); err != nil {
		t.Errorf("a run with the scope read: %v", err)
	}
	if _, err := runner.Agents.Kill(t.Context(), own); sys.CodeOf(err) != sys.CodeConflict { // it has ended
		t.Errorf("its own run was not stopped: %v", err)
	}
	f := &face{h: remote.Local(runner)}
	if _, err := f.readRun(t.Context(), &sdk.ReadResourceRequest{Params: &sdk.ReadResourceParams{URI: runs + mine}}); err == nil {
		t.Error("another's run was read as a resource")
	}
}

func TestSecretsOfARunAreMaskedForPrograms(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	s := asking(t)
	const key = "ghp_9aK2mQ7xV4tR1wZ8cB5nE3yH6uJ0sL2dF4gP"
	token := s.add("Reader", "read", "run")
	run := s.Ask("again " + key + " " + token).RunID
	cs := s.mustConnect(token, nil)
	shows := func(text string) bool { return strings.Contains(text, key) || strings.Contains(text, token) }
	for _, tool := range []string{"agents_run", "agents_wait"} {
		if text, bad := s.call(cs, tool, map[string]any{"id": run}); bad || shows(text) || strings.Contains(text, home+"/") {
			t.Errorf("%s: %v %s", tool, bad, text)
		}
	}
	if text, bad := s.call(cs, "agents_list", map[string]any{"all": true}); bad || shows(text) || !strings.Contains(text, run) {
		t.Errorf("agents_list: %v %s", bad, text)
	}
	read, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: runs + run})
	if err != nil || shows(read.Contents[0].Text) || !strings.Contains(read.Contents[0].Text, run) {
		t.Errorf("the resource: %+v, %v", read, err)
	}
	v, err := s.Person().Agents.Run(t.Context(), run)
	if err != nil || !strings.Contains(v.Run.Text, key) {
		t.Errorf("the person reads %q, %v", v.Run.Text, err)
	}
}

func TestWhatAProgramSaidIsRememberedAsNobodysWord(t *testing.T) {
	t.Parallel()
	s := setup(t, kerneltest.Script(keeps))
	told := s.submit(s.as("Sender", "run"), "I live in Jeju")
	s.Wait(told.RunID)
	got, err := s.Person().Memory.Extract(t.Context(), told.SessionID)
	if err != nil || len(got) != 1 || got[0].Outcome != "nothing" {
		t.Errorf("got %+v, %v", got, err)
	}
}
