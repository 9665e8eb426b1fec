package remote_test

import (
	"fmt"
	"testing"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
)

const helloScript = `
[[scenario]]
name = "hello"
any = ["hello"]
[[scenario.turn]]
text = "Hello <there> & 안녕."
`

// The real kernel, asked in this process and over its socket.
func TestRealKernelAnswersTheSameOverItsSocket(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t, kerneltest.Script(helloScript), kerneltest.Uncontained())
	local := remote.Local(k.Person())
	s := serve(t, k.Home, func(remote.Peer) (*remote.Handle, error) { return local, nil })
	t.Cleanup(s.stop) // before the kernel closes
	far := dial(t, k.Home).Handle()

	events, err := far.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := far.Agents.Submit(t.Context(), kernel.Submit{Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := far.Agents.Wait(t.Context(), sent.RunID)
	if err != nil || result.Response != "Hello <there> & 안녕." {
		t.Fatalf("got %q and %v, want the answer of the model", result.Response, err)
	}
	ended := time.After(20 * time.Second)
	for done := false; !done; {
		select {
		case e := <-events:
			run, ok := event.As[kernel.Run](e)
			done = e.Kind == event.RunEnded && ok && run.ID == sent.RunID
		case <-ended:
			t.Fatal("the end of the run was not told")
		}
	}

	id, run := quoted(sent.SessionID), quoted(sent.RunID)
	for _, tc := range []struct{ method, args string }{
		{"security.audit", `[{"limit":50}]`},
		{"security.verifyAudit", `[]`},
		{"security.approvals", `[{}]`},
		{"security.tools", `[]`},
		{"security.policy", `[]`},
		{"state.sessions", `[{}]`},
		{"state.session", `[` + id + `]`},
		{"state.session", `["nothing"]`},
		{"state.exportSession", `[` + id + `,"json"]`},
		{"state.exportSession", `[` + id + `,"pdf"]`},
		{"agents.run", `[` + run + `]`},
		{"agents.wait", `[` + run + `]`},
		{"agents.queued", `[` + id + `]`},
		{"agents.changes", `[` + run + `]`},
		{"agents.kill", `["nothing"]`},
		{"infra.config", `[]`},
		{"infra.setConfig", `["mode","sometimes"]`},
		{"infra.providers", `[]`},
		{"infra.models", `[{}]`},
		{"exec.ls", `[{"path":` + quoted(k.Folder) + `}]`},
		{"exec.read", `[{"path":"gone.txt"}]`},
	} {
		want, wantErr := answer(t, local, tc.method, tc.args)
		got, gotErr := answer(t, far, tc.method, tc.args)
		if got != want || gotErr != wantErr {
			t.Errorf("%s%s:\n got %s %s\nwant %s %s", tc.method, tc.args, got, gotErr, want, wantErr)
		}
	}
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

func TestClientThatIsGoneIsNotInFront(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t, kerneltest.Uncontained())
	s := serve(t, k.Home, func(remote.Peer) (*remote.Handle, error) { return remote.Local(k.Person()), nil })
	t.Cleanup(s.stop) // before the kernel closes
	window, quick := dial(t, k.Home), dial(t, k.Home)
	for _, c := range []*remote.Client{window, quick} {
		if err := c.Handle().Infra.ReportFocus(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	if err := quick.Close(); err != nil {
		t.Fatal(err)
	}
	if err := window.Handle().Infra.ReportFocus(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	k.Until("nobody is in front", func() bool { return !k.Focused() })
}
