package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// taskAnswer is what a request about a task was answered with.
type taskAnswer struct {
	Result struct {
		ID      string          `json:"taskId"`
		Status  string          `json:"status"`
		Message string          `json:"statusMessage"`
		Result  json.RawMessage `json:"result"`
	} `json:"result"`
	Error *struct{ Message string } `json:"error"`
}

// program is a program that takes tasks, behind `oxios mcp serve`. It asks one thing, and returns the answer.
func (m *machine) program(method, params string) (out taskAnswer) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Minute)
	defer cancel()
	cmd := m.command(ctx, "mcp", "serve", "--client", "Desk")
	in, err := cmd.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	var errs buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	_, err = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`+"\n", method, params)
	if err != nil {
		m.t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &out)
	}
	in.Close()
	_, _ = io.Copy(io.Discard, said)
	if werr := cmd.Wait(); err != nil || werr != nil || out.Error != nil {
		m.t.Fatalf("%s: %q, %v, %v\n%s", method, line, err, werr, errs.String())
	}
	return out
}

func TestATaskIsTheSameOneAfterAKillOfOxios(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.must(0, "mcp", "clients", "add", "Desk", "--scope", "run")
	_, kill := m.serve()
	begun := m.program("tools/call", `"name":"agents_submit","arguments":{"text":"Push my changes"}`).Result
	if begun.Status != "working" || begun.ID == "" {
		t.Fatalf("got %+v", begun)
	}
	state := func(status string) (now taskAnswer) {
		t.Helper()
		until(t, "the task is "+status, func() bool {
			now = m.program("tasks/get", fmt.Sprintf(`"taskId":%q`, begun.ID))
			return now.Result.Status == status
		})
		return now
	}
	state("input_required")
	kill()
	m.serve()
	if now := state("input_required"); !strings.Contains(now.Result.Message, "waits for the person in Oxios") {
		t.Errorf("after the kill: %+v", now)
	}
	m.must(0, "approvals", "approve", m.waiting()[0].ID)
	if now := state("completed"); len(now.Result.Result) == 0 {
		t.Errorf("at its end: %+v", now)
	}
}
