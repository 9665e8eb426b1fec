package kernel_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	if os.Getenv("OXIOS_CRASH_HOME") != "" {
		crashing()
	}
	if powered != nil && os.Getenv("OXIOS_POWER_HOME") != "" {
		powered()
	}
	if os.Getenv(playsAt) != "" {
		relay()
	}
	if os.Getenv("OXIOS_STREAMING") != "" {
		streaming()
	}
	kerneltest.Main(m)
}

// powered is a life whose disk is watched, where that can be done.
var powered func()

func open(t testing.TB, o ...kerneltest.Option) *kerneltest.Kernel {
	t.Helper()
	return kerneltest.Open(t, o...)
}

const writeScript = `
[[scenario]]
name = "write"
any = ["write"]
[[scenario.turn]]
text = "I will write it."
[[scenario.turn.call]]
tool = "write"
args = '{"path": "hello.txt", "content": "Hello\n"}'
[[scenario.turn]]
text = "Done."
`

const pushScript = `
[[scenario]]
name = "push"
any = ["push"]
[[scenario.turn]]
text = "I will push."
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "git push origin main", "reason": "the work is done"}'
[[scenario.turn]]
when = "(?i)denied"
text = "You said no. Nothing was sent: {{result}}"
[[scenario.turn]]
text = "It ran: {{result}}"

[[scenario]]
name = "sudo"
any = ["sudo"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "sudo touch /tmp/oxios-sudo-ran"}'
[[scenario.turn]]
text = "{{result}}"
`

func TestMessageBecomesAFileAndAVerifiedChain(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writeScript))
	r := k.Ask("write hello")
	if r.State != "done" || r.Response != "I will write it.\n\nDone." {
		t.Errorf("got %s, %q", r.State, r.Response)
	}
	if b, err := os.ReadFile(filepath.Join(k.Folder, "hello.txt")); err != nil || string(b) != "Hello\n" {
		t.Errorf("got file %q, %v", b, err)
	}
	if len(r.Changes) != 1 || r.Changes[0].Path != "hello.txt" || r.Changes[0].Kind != "created" {
		t.Errorf("got changes %+v, want hello.txt created", r.Changes)
	}
	report, err := k.Person().Security.VerifyAudit(t.Context())
	if err != nil || !report.OK || report.Entries < 6 {
		t.Errorf("got report %+v, %v, want a whole chain of spawn, calls, results and exit", report, err)
	}
}

func TestEffectThroughAToolIsSeenThroughThePersonsHandle(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writeScript))
	out := k.Say("write hello")
	k.Wait(out.RunID)
	v, err := k.Person().State.Session(t.Context(), out.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, s := range v.Runs[0].Steps {
		if s.Kind == "tool" {
			titles = append(titles, s.Title)
		}
	}
	if len(titles) != 1 || !strings.Contains(titles[0], "hello.txt") {
		t.Errorf("got tool steps %q, want one about hello.txt", titles)
	}
	if len(v.Messages) != 2 || v.Session.State != "done" || v.Session.Title != "write hello" {
		t.Errorf("got %d messages, state %s, title %q", len(v.Messages), v.Session.State, v.Session.Title)
	}
}

func TestPushWaitsForThePersonAndADenialReachesTheAgentWithItsComment(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(pushScript))
	out := k.Say("push it")
	ap := k.Approval(out.RunID)
	if ap.Request.Command != "git push origin main" || !ap.Request.Network || ap.Request.Claim != "the work is done" {
		t.Errorf("got request %+v", ap.Request)
	}
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{})
	if err != nil || len(list) != 1 || list[0].State != "waiting" {
		t.Errorf("got processes %+v, %v, want one that waits", list, err)
	}
	if _, err := k.Person().Security.Deny(t.Context(), ap.ID, "use a branch"); err != nil {
		t.Fatal(err)
	}
	r := k.Wait(out.RunID)
	if !strings.Contains(r.Response, "You said no") || !strings.Contains(r.Response, "use a branch") {
		t.Errorf("got %q, want the denial with its comment", r.Response)
	}
}

func TestApprovedCommandRunsExactlyOnce(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(strings.ReplaceAll(pushScript, "git push origin main", "echo ran >> ran.txt; rm nothing.txt")))
	out := k.Say("push it")
	ap := k.Approval(out.RunID)
	if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: "another"}); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v for a hash that was not shown, want a conflict", err)
	}
	if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	k.Wait(out.RunID)
	if b, _ := os.ReadFile(filepath.Join(k.Folder, "ran.txt")); string(b) != "ran\n" {
		t.Errorf("got %q, want exactly one run", b)
	}
	got, err := k.Person().Security.Approval(t.Context(), ap.ID)
	if err != nil || got.State != "used" {
		t.Errorf("got state %s, %v, want used", got.State, err)
	}
}

func TestSudoIsRefusedAndNobodyCanApproveIt(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(pushScript))
	r := k.Ask("sudo please", func(m *kernel.Submit) { m.Mode = "auto" })
	if !strings.Contains(r.Response, "nobody can approve it") {
		t.Errorf("got %q, want a refusal", r.Response)
	}
	if _, err := os.Stat("/tmp/oxios-sudo-ran"); err == nil {
		t.Error("sudo ran")
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Action: "AccessDenied"})
	if err != nil || len(list) != 1 || list[0].Resource == "" {
		t.Errorf("got %d refusals in the chain, %v, want 1", len(list), err)
	}
}

func TestWaitingApprovalSurvivesARestartAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(strings.ReplaceAll(pushScript, "git push origin main", "echo ran >> ran.txt; rm nothing.txt")))
	out := k.Say("push it")
	ap := k.Approval(out.RunID)
	k.Restart()
	again := k.Approval(out.RunID)
	if again.ID != ap.ID || again.Request.Hash != ap.Request.Hash {
		t.Errorf("got approval %s, want %s once more", again.ID, ap.ID)
	}
	if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	r := k.Wait(out.RunID)
	if r.State != "done" || !strings.HasPrefix(r.Response, "I will push.\n\nIt ran") {
		t.Errorf("got %s, %q", r.State, r.Response)
	}
	if b, _ := os.ReadFile(filepath.Join(k.Folder, "ran.txt")); string(b) != "ran\n" {
		t.Errorf("got %q, want exactly one run", b)
	}
	if n := len(k.Demo.Requests()); n != 2 {
		t.Errorf("got %d model calls, want 2: the first is not repeated", n)
	}
}

func TestDecisionWithoutAnOwnerIsKeptForTheNextOne(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(strings.ReplaceAll(pushScript, "git push origin main", "echo ran >> ran.txt; rm nothing.txt")))
	out := k.Say("push it")
	ap := k.Approval(out.RunID)
	k.Stop()
	idle := open(t, kerneltest.At(k.Home, k.Folder), kerneltest.NotRunning())
	if _, err := idle.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	idle.Stop()
	next := open(t, kerneltest.At(k.Home, k.Folder), kerneltest.Script(pushScript))
	if r := next.Wait(out.RunID); r.State != "done" {
		t.Errorf("got %s, %v, want the run to have gone on", r.State, r.Error)
	}
	if b, _ := os.ReadFile(filepath.Join(k.Folder, "ran.txt")); string(b) != "ran\n" {
		t.Errorf("got %q, want exactly one run", b)
	}
}

func TestKillEndsModelStreamAndCommandsWithinASecond(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
any = ["think"]
[[scenario.turn]]
text = "Thinking about it"
hang = true
[[scenario]]
any = ["sleep"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "sleep 60"}'
[[scenario.turn]]
text = "woke"
`))
	for _, text := range []string{"think", "sleep"} {
		out := k.Say(text, func(m *kernel.Submit) { m.Mode = "auto" })
		k.Until("it is at work", func() bool {
			v, err := k.Person().Agents.Run(t.Context(), out.RunID)
			n := len(v.Steps)
			return err == nil && n > 0 && v.Steps[n-1].State == "started" && (text == "think" || v.Steps[n-1].Kind == "tool")
		})
		start := time.Now()
		if _, err := k.Person().Agents.Kill(t.Context(), out.RunID); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: stopping took %v", text, took)
		}
		if r := k.Wait(out.RunID); r.State != "stopped" {
			t.Errorf("%s: got %s, want stopped", text, r.State)
		}
	}
}

func TestAgentCannotDecideItsOwnRequestNorChangeSettings(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(pushScript))
	out := k.Say("push it")
	ap := k.Approval(out.RunID)
	agent := k.As(sys.Principal{Kind: sys.KindAgent, ID: out.RunID, Profile: "supervisor"})
	calls := map[string]error{}
	_, calls["approve"] = agent.Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash})
	_, calls["config"] = agent.Infra.SetConfig(t.Context(), "mode", "auto")
	_, calls["provider"] = agent.Infra.SaveProvider(t.Context(), kernel.ProviderInput{Name: "x", BaseURL: "http://127.0.0.1:1/v1"})
	calls["tool"] = agent.Security.SetTool(t.Context(), "exec", true)
	_, calls["submit"] = agent.Agents.Submit(t.Context(), kernel.Submit{Text: "hi"})
	for name, err := range calls {
		if sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("%s: got %v, want forbidden", name, err)
		}
	}
	nobody := k.As(sys.Principal{Kind: "stranger"})
	if _, err := nobody.State.Sessions(t.Context(), kernel.SessionQuery{}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("a stranger: got %v, want forbidden", err)
	}
}

func TestSecondKernelOfOneHomeIsTurnedAway(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, err := kernel.Open(t.Context(), k.Options())
	if sys.CodeOf(err) != sys.CodeBusy || !strings.Contains(err.Error(), "process") {
		t.Errorf("got %v, want busy, naming the owner", err)
	}
}

func TestEmptyAndHugeMessagesAreRefusedWithNothingLost(t *testing.T) {
	t.Parallel()
	k := open(t)
	for text, code := range map[string]sys.Code{" \n": sys.CodeInvalid, strings.Repeat("a", 10<<20): sys.CodeTooLarge} {
		_, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: text})
		if sys.CodeOf(err) != code {
			t.Errorf("got %v, want %s", err, code)
		}
	}
	list, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{})
	if err != nil || len(list) != 0 {
		t.Errorf("got %d conversations, %v, want none", len(list), err)
	}
}

func TestEndpointFailuresAreToldInOneSentenceEach(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
any = ["auth"]
[[scenario.turn]]
status = 401
body = '{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}'
[[scenario]]
any = ["quota"]
[[scenario.turn]]
status = 429
body = '{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota", "type": "insufficient_quota"}}'
[[scenario]]
any = ["unknown"]
[[scenario.turn]]
status = 404
body = '{"error": {"message": "The model does not exist", "code": "model_not_found"}}'
[[scenario]]
any = ["cut"]
[[scenario.turn]]
text = "This answer will end in the"
cut_chunks = 3
[[scenario.turn.call]]
tool = "write"
args = '{"path": "cut.txt", "content": "x"}'
`))
	for text, code := range map[string]sys.Code{"auth": sys.CodeAuth, "quota": sys.CodeQuota, "unknown": sys.CodeUnknownModel, "cut": sys.CodeStreamCut} {
		r := k.Ask(text)
		if r.State != "failed" || r.Error == nil || r.Error.Code != code || r.Error.Hint == "" {
			t.Errorf("%s: got %s, %+v, want failed with %s and a hint", text, r.State, r.Error, code)
		}
	}
	if _, err := os.Stat(filepath.Join(k.Folder, "cut.txt")); err == nil {
		t.Error("a tool of a cut answer ran")
	}
}

func TestMessageForABusyConversationIsQueuedAndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(pushScript))
	out := k.Say("push it")
	ap := k.Approval(out.RunID)
	first := k.Say("and tell me", func(m *kernel.Submit) { m.SessionID = out.SessionID })
	second := k.Say("forget this", func(m *kernel.Submit) { m.SessionID = out.SessionID })
	if !first.Queued || first.RunID != out.RunID {
		t.Errorf("got %+v, want it queued for the run at work", first)
	}
	if err := k.Person().Agents.Unqueue(t.Context(), second.QueueID); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Security.Deny(t.Context(), ap.ID, ""); err != nil {
		t.Fatal(err)
	}
	k.Wait(out.RunID)
	v, err := k.Person().State.Session(t.Context(), out.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range v.Messages {
		if m.Role == "user" {
			said = append(said, m.Content)
		}
	}
	if strings.Join(said, "|") != "push it|and tell me" {
		t.Errorf("got messages %q", said)
	}
}

func TestPauseStopsNewStepsUntilItIsLifted(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writeScript))
	if _, err := k.Person().Agents.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	out := k.Say("write hello")
	k.Until("the run is live", func() bool {
		s, err := k.Person().Infra.Status(t.Context())
		return err == nil && s.Paused && s.Running == 1
	})
	if n := len(k.Demo.Requests()); n != 0 {
		t.Errorf("got %d model calls while paused", n)
	}
	if _, err := k.Person().Agents.Pause(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(out.RunID); r.State != "done" {
		t.Errorf("got %s, want done", r.State)
	}
}

func TestSecondTurnOfAConversationKnowsTheFirst(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writeScript))
	out := k.Say("write hello")
	k.Wait(out.RunID)
	k.Ask("write again", func(m *kernel.Submit) { m.SessionID = out.SessionID })
	reqs := k.Demo.Requests()
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(reqs[2].Body, &body); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range body.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool assistant user" {
		t.Errorf("got roles %q", got)
	}
}

func TestEventsArriveInOrderAndAnAgentSeesItsOwnOnly(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writeScript))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	mine, err := k.Person().Infra.Events(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	other := k.Agent("guarded")
	theirs, err := other.Infra.Events(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var kinds []string
	wg.Go(func() {
		for e := range mine {
			kinds = append(kinds, e.Kind)
			if e.Kind == "run.ended" {
				return
			}
		}
	})
	k.Ask("write hello")
	wg.Wait()
	cancel()
	for e := range theirs {
		if e.RunID != other.Principal().ID {
			t.Errorf("an agent saw %s of run %s", e.Kind, e.RunID)
		}
	}
	got := strings.Join(kinds, " ")
	for _, want := range []string{"message", "run.created", "run.started", "step", "run.text", "change", "run.ended"} {
		if !strings.Contains(got, want) {
			t.Errorf("got events %s, want %s among them", got, want)
		}
	}
}
