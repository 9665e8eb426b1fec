package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// answerOf is what came of a request that was written by hand.
type answerOf struct {
	Result struct {
		Kind    string                     `json:"resultType"`
		ID      string                     `json:"taskId"`
		Status  string                     `json:"status"`
		Message string                     `json:"statusMessage"`
		Result  *json.RawMessage           `json:"result"`
		Asks    map[string]json.RawMessage `json:"inputRequests"`
	} `json:"result"`
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	http int
}

// ask sends a request of a program that takes tasks.
func (s *site) ask(token, method, name, params string, header ...string) (out answerOf) {
	s.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},
		"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, method, params)
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", versionHeader: "2026-07-28", methodHeader: method, nameHeader: name} {
		req.Header.Set(k, v)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, data, ok := bytes.Cut(raw, []byte("data: {")); ok {
		raw = append([]byte("{"), data...)
	}
	out.http = res.StatusCode
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&out); err != nil {
		s.t.Fatalf("%s: %v: %s", method, err, raw)
	}
	return out
}

func (s *site) tool(token, name, args string) answerOf {
	s.t.Helper()
	return s.ask(token, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":%s`, name, args))
}

func (s *site) task(token, what, id string, more ...string) answerOf {
	s.t.Helper()
	return s.ask(token, "tasks/"+what, id, strings.Join(append([]string{fmt.Sprintf(`"taskId":%q`, id)}, more...), ","))
}

// until asks for a task until it has a state.
func (s *site) until(token, id, status string) (out answerOf) {
	s.t.Helper()
	s.Until("the task is "+status, func() bool {
		out = s.task(token, "get", id)
		return out.Result.Status == status
	})
	return out
}

func TestARunIsATaskOfTheProgramThatBeganIt(t *testing.T) {
	t.Parallel()
	s := asking(t)
	mine, other := s.add("Mine", "run"), s.add("Other", "read", "run")
	begun := s.tool(mine, "agents_submit", `{"text":"again"}`).Result
	if begun.Kind != "task" || begun.Status != "working" || begun.ID == "" || begun.Result != nil {
		t.Fatalf("the call was answered with %+v", begun)
	}
	done := s.until(mine, begun.ID, "completed").Result
	if done.Kind != "complete" || done.Result == nil || !strings.Contains(string(*done.Result), "Once more.") {
		t.Errorf("it came to %+v", done)
	}
	run, _, _ := strings.Cut(begun.ID, ".")
	for _, id := range []string{begun.ID, run, run + ".", run + ".0123456789abcdef", "nothing", ""} {
		who := other
		if id != begun.ID {
			who = mine
		}
		for _, what := range []string{"get", "update", "cancel"} {
			if a := s.task(who, what, id, `"inputResponses":{}`); a.Error.Code != -32602 || !strings.Contains(a.Error.Message, "has no task") {
				t.Errorf("%s of %q: %+v", what, id, a)
			}
		}
	}
	if a := s.tool(mine, "agents_wait", fmt.Sprintf(`{"id":%q}`, run)).Result; a.Kind != "complete" || a.ID != "" {
		t.Errorf("the wait for a run that has ended was answered with %+v", a)
	}
	if a := s.task(mine, "cancel", begun.ID); a.Error.Code != 0 || a.Result.Kind != "complete" {
		t.Errorf("the cancel of a task that has ended: %+v", a)
	}
}

func TestATaskThatWaitsIsAnsweredInOxiosAlone(t *testing.T) {
	t.Parallel()
	s := asking(t)
	for _, scopes := range [][]string{{"run"}, {"read", "run", "approvals"}} {
		token := s.add(strings.Join(scopes, " "), scopes...)
		begun := s.tool(token, "agents_submit", `{"text":"do something risky"}`).Result
		run, _, _ := strings.Cut(begun.ID, ".")
		ap := s.Approval(run)
		waits := s.until(token, begun.ID, "input_required").Result
		if len(waits.Asks) > 0 || waits.Asks == nil || !strings.Contains(waits.Message, "waits for the person in Oxios: "+ap.Request.Title) {
			t.Errorf("%s: a task that waits says %+v", scopes, waits)
		}
		yes := fmt.Sprintf(`"inputResponses":{%q:{"action":"accept","content":{"decision":"approve once"}},"x":{"y":1}}`, ap.ID+"."+ap.Request.Hash)
		if a := s.task(token, "update", begun.ID, yes); a.Error.Code != 0 || a.Result.Kind != "complete" || a.Result.ID != "" {
			t.Errorf("%s: the update was answered with %+v", scopes, a)
		}
		if got := s.task(token, "get", begun.ID).Result; got.Status != "input_required" {
			t.Fatalf("%s: the program answered its own request: %+v", scopes, got)
		}
		if again := s.tool(token, "agents_wait", fmt.Sprintf(`{"id":%q}`, run)).Result; again.ID != begun.ID {
			t.Errorf("%s: the wait has the id %q, not %q", scopes, again.ID, begun.ID)
		}
		if _, err := s.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
			t.Fatal(err)
		}
		if done := s.until(token, begun.ID, "completed").Result; !strings.Contains(string(*done.Result), "It is made.") {
			t.Errorf("%s: it came to %s", scopes, *done.Result)
		}
	}
}

func TestAProgramThatMayAnswersARunOfThePersonByItsTask(t *testing.T) {
	t.Parallel()
	s := asking(t)
	token := s.add("Phone", "read", "run", "approvals")
	run := s.Say("do something risky").RunID
	ap := s.Approval(run)
	id := s.tool(token, "agents_wait", fmt.Sprintf(`{"id":%q}`, run)).Result.ID
	waits := s.until(token, id, "input_required").Result
	if len(waits.Asks) != 1 {
		t.Fatalf("it asks %+v", waits)
	}
	if a := s.task(token, "cancel", id); a.Error.Code != -32603 || !strings.Contains(a.Error.Message, "stops only the runs that it started") {
		t.Errorf("it stopped the person's run: %+v", a)
	}
	for key, q := range waits.Asks {
		if !strings.Contains(string(q), `"method":"elicitation/create"`) || !strings.Contains(string(q), "made.txt") {
			t.Errorf("it asks %s", q)
		}
		for _, said := range []string{`{"action":"decline"}`, `{"action":"accept","content":{}}`, `[]`, `null`} {
			if a := s.task(token, "update", id, fmt.Sprintf(`"inputResponses":{%q:%s}`, key, said)); a.Error.Code != 0 {
				t.Errorf("%s: %+v", said, a)
			}
		}
		if a := s.task(token, "update", id, fmt.Sprintf(`"inputResponses":{%q:{"action":"accept","content":{"decision":"approve once"}}}`, ap.ID+".another")); a.Error.Code != 0 || s.task(token, "get", id).Result.Status != "input_required" {
			t.Errorf("another request than the one that was shown: %+v", a)
		}
		s.task(token, "update", id, fmt.Sprintf(`"inputResponses":{%q:{"action":"accept","content":{"decision":"approve once"}}}`, key))
	}
	if done := s.until(token, id, "completed").Result; !strings.Contains(string(*done.Result), "It is made.") {
		t.Errorf("it came to %s", *done.Result)
	}
	s.peer.Store(int64(remote.PeerUntold))
	run = s.Say("do something risky again").RunID
	s.Approval(run)
	if waits := s.until(token, s.tool(token, "agents_wait", fmt.Sprintf(`{"id":%q}`, run)).Result.ID, "input_required").Result; len(waits.Asks) > 0 {
		t.Errorf("a program whose process is not known was asked %+v", waits)
	}
}

func TestACancelledTaskEndsItsRun(t *testing.T) {
	t.Parallel()
	s := asking(t)
	token := s.add("Mine", "run")
	id := s.tool(token, "agents_submit", `{"text":"do something risky"}`).Result.ID
	run, _, _ := strings.Cut(id, ".")
	s.Approval(run)
	if a := s.task(token, "cancel", id); a.Error.Code != 0 || a.Result.Kind != "complete" || a.Result.Status != "" {
		t.Fatalf("the cancel was answered with %+v", a)
	}
	s.until(token, id, "cancelled")
	if r := s.Wait(run); r.State != "stopped" {
		t.Errorf("its run is %s", r.State)
	}
}

func TestARequestAboutATaskNamesItInItsHeader(t *testing.T) {
	t.Parallel()
	s := asking(t)
	token := s.add("Mine", "run")
	id := s.tool(token, "agents_submit", `{"text":"again"}`).Result.ID
	for _, name := range []string{"", "another", id + "x"} {
		if a := s.ask(token, "tasks/get", name, fmt.Sprintf(`"taskId":%q`, id)); a.http != http.StatusBadRequest || a.Error.Code != -32020 {
			t.Errorf("named %q: %+v", name, a)
		}
	}
	if a := s.ask(token, "tasks/get", " "+id+" ", fmt.Sprintf(`"taskId":%q`, id)); a.Error.Code != 0 {
		t.Errorf("with spaces: %+v", a)
	}
}

// What a task is lies in the kernel: its id means the same in the next process, whatever end the one before it had.
func TestATaskOutlivesOxios(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t, kerneltest.Script(risky))
	made, err := k.Person().Clients.Add(t.Context(), "Mine", []string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	tasks := func() runTasks {
		who, err := k.ClientOf(t.Context(), made.Token)
		if err != nil {
			t.Fatal(err)
		}
		f, err := newFace(t.Context(), remote.Local(k.As(who)), "test", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return runTasks{f}
	}
	before := tasks()
	begun, err := before.f.h.Agents.Submit(t.Context(), kernel.Submit{Text: "again"})
	if err != nil {
		t.Fatal(err)
	}
	id := before.idOf(begun.RunID)
	k.Restart()
	k.Wait(begun.RunID)
	if got, err := tasks().get(t.Context(), id); err != nil || got.Status != taskCompleted || got.Result == nil {
		t.Errorf("after the restart it is %+v, %v", got, err)
	}
}
