package kernel_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
)

// serverTaskScript calls the tool that answers with a task.
func serverTaskScript(args string) kerneltest.Option {
	return kerneltest.Script(fmt.Sprintf("[[scenario]]\nmatch = '.'\n[[scenario.turn]]\n[[scenario.turn.call]]\ntool = \"test__long\"\nargs = '%s'\n[[scenario.turn]]\ntext = \"It came to this: {{result}}\"\n", args))
}

// tasked is a kernel with a server that answers with tasks.
func tasked(t *testing.T, args string, change ...func(*kernel.MCPServer)) *kerneltest.Kernel {
	t.Helper()
	k := open(t, serverTaskScript(args))
	server(t, k, "test", append([]func(*kernel.MCPServer){kindOfServer("tasks"), serves("none")}, change...)...)
	return k
}

// asksOf are what was asked of that server, in order.
func asksOf(k *kerneltest.Kernel) []string {
	raw, _ := os.ReadFile(filepath.Join(k.Home, "mcp", "test", "files", "calls"))
	return strings.Fields(string(raw))
}

// heldTasks are the tasks that are written down.
func heldTasks(home string) []string {
	found, _ := filepath.Glob(filepath.Join(home, "mcp", "test", "tasks", "[^.]*")) // not what is being written
	return found
}

func long(t *testing.T, k *kerneltest.Kernel, args string) (kernel.MCPResult, error) {
	t.Helper()
	return k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "long", Args: json.RawMessage(args)})
}

func TestACallThatBecomesATaskIsWaitedFor(t *testing.T) {
	t.Parallel()
	k := tasked(t, `{"ms": 300}`)
	r := k.Ask("work for long", func(m *kernel.Submit) { m.Mode = "autonomous" })
	if !strings.Contains(r.Response, "It is done.") || !slices.Equal(asksOf(k), []string{"call"}) || len(heldTasks(k.Home)) > 0 {
		t.Errorf("got %q, it was asked %v, and %v is written down", r.Response, asksOf(k), heldTasks(k.Home))
	}
	if got, err := long(t, k, `{"as": "fails"}`); err != nil || !got.Failed || got.Text != "It went wrong." {
		t.Errorf("a task whose tool fails: %+v, %v", got, err)
	}
	v, err := k.Person().MCP.Servers(t.Context())
	if err != nil || !slices.Equal(v[0].Known.Extensions, []string{"io.modelcontextprotocol/tasks"}) {
		t.Errorf("it uses %v, %v", v[0].Known.Extensions, err)
	}
}

func TestATaskElsewhereIsAskedForByItsName(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	remote.Tasks(t.TempDir())
	var unnamed, lost atomic.Int32
	remote.Instead(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Mcp-Method") != "tasks/get" {
			return false
		}
		if !strings.HasPrefix(r.Header.Get("Mcp-Name"), "task-") {
			unnamed.Add(1)
		}
		if lost.Add(1) > 2 {
			return false
		}
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return true
	})
	addRemote(t, k, remote.URL)
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if r, err := long(t, k, `{"ms": 100}`); err != nil || r.Text != "It is done." || unnamed.Load() > 0 || lost.Load() < 3 {
		t.Errorf("got %+v, %v; %d requests named no task", r, err, unnamed.Load())
	}
}

func TestATaskThatMakesNoSenseIsContainedInOneSentence(t *testing.T) {
	t.Parallel()
	k := tasked(t, `{}`)
	for as, want := range map[string]string{
		"breaks":   "The task of test__long failed at its server: the disk is full",
		"empty":    "What the server test says of its task makes no sense (it ended without a result). Check what test__long did before you try again.",
		"strange":  "makes no sense (it named a state that there is not)",
		"another":  "makes no sense (it answered about another task)",
		"back":     "makes no sense (it had ended, and went back)",
		"nameless": "answered test__long with a task that has no usable id",
		"wide":     "answered test__long with a task that has no usable id",
		"forgets":  "does not know the task of test__long any more",
	} {
		_, err := long(t, k, fmt.Sprintf(`{"as": %q}`, as))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", as, err, want)
		}
	}
	if r, err := long(t, k, `{"as": "wrapped"}`); err != nil || r.Text != "Wrapped." {
		t.Errorf("a state in the form of a new task: got %+v, %v", r, err)
	}
}

func TestATaskOutlivesItsServer(t *testing.T) {
	t.Parallel()
	k := tasked(t, `{}`)
	if r, err := long(t, k, `{"as": "ends", "ms": 100}`); err != nil || r.Text != "It is done." || !slices.Equal(asksOf(k), []string{"call"}) {
		t.Errorf("got %+v, %v; it was asked %v", r, err, asksOf(k))
	}
}

func TestAResultOfATaskThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	k := tasked(t, `{}`)
	if _, err := long(t, k, `{"as": "vast"}`); err == nil || !strings.Contains(err.Error(), "could not be asked any more what became of test__long") {
		t.Errorf("got %v", err)
	}
	if r, err := long(t, k, `{}`); err != nil || r.Text != "It is done." {
		t.Errorf("after that: got %+v, %v", r, err)
	}
}

func TestWhatATaskAsksForWaitsForThePerson(t *testing.T) {
	t.Parallel()
	k := tasked(t, `{"ask": "book"}`)
	sent := k.Say("work for long", func(m *kernel.Submit) { m.Mode = "autonomous" })
	a := k.Approval(sent.RunID)
	if a.Request.Form == nil || a.Request.Title != "The server test asks you something" {
		t.Fatalf("it asks %+v", a.Request)
	}
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: sent.RunID, ApprovalID: a.ID, Values: json.RawMessage(`{"name": "Ann"}`)}); err != nil {
		t.Fatal(err)
	}
	r := k.Wait(sent.RunID)
	if !strings.Contains(r.Response, `It is done.`) || !strings.Contains(r.Response, `"name":"Ann"`) || !slices.Equal(asksOf(k), []string{"call", "update"}) {
		t.Errorf("got %q; it was asked %v", r.Response, asksOf(k))
	}
}

func TestATaskGetsTheFoldersAndNotTheModel(t *testing.T) {
	t.Parallel()
	k := tasked(t, `{}`)
	if r, err := long(t, k, `{"ask": "roots"}`); err != nil || !strings.Contains(r.Text, `{"roots":`) {
		t.Errorf("got %+v, %v", r, err)
	}
	_, err := long(t, k, `{"ask": "model"}`)
	if err == nil || !strings.Contains(err.Error(), "asks for something that it does not get (this server may not ask the model), so it was cancelled") || !slices.Contains(asksOf(k), "cancel") {
		t.Errorf("got %v; it was asked %v", err, asksOf(k))
	}
}

func TestWhoStopsARunCancelsItsTask(t *testing.T) {
	t.Parallel()
	k := tasked(t, `{"as": "endless"}`)
	sent := k.Say("work for long", func(m *kernel.Submit) { m.Mode = "autonomous" })
	k.Until("the task is written down", func() bool { return len(heldTasks(k.Home)) == 1 })
	if _, err := k.Person().Agents.Kill(t.Context(), sent.RunID); err != nil {
		t.Fatal(err)
	}
	k.Wait(sent.RunID)
	k.Until("the task is cancelled and forgotten", func() bool {
		return slices.Equal(asksOf(k), []string{"call", "cancel"}) && len(heldTasks(k.Home)) == 0
	})
}

func TestATaskIsGoneOnWithAfterARestart(t *testing.T) {
	t.Parallel()
	for name, effect := range map[string]kernel.MCPEffect{"with approval": "", "without": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := tasked(t, `{"ms": 600}`, serves(effect))
			sent := k.Say("work for long", func(m *kernel.Submit) { m.Mode = "auto" })
			if effect == "" {
				a := k.Approval(sent.RunID)
				if _, err := k.Person().Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash}); err != nil {
					t.Fatal(err)
				}
			}
			k.Until("the task is written down", func() bool { return len(heldTasks(k.Home)) == 1 })
			k.Restart()
			r := k.Wait(sent.RunID)
			if !strings.Contains(r.Response, "It is done.") || !slices.Equal(asksOf(k), []string{"call"}) || len(heldTasks(k.Home)) > 0 {
				t.Errorf("got %q; it was asked %v, and %v is written down", r.Response, asksOf(k), heldTasks(k.Home))
			}
		})
	}
}

func TestATaskThatAskedBeforeARestartAsksAgain(t *testing.T) {
	t.Parallel()
	k := tasked(t, `{"ask": "book"}`)
	sent := k.Say("work for long", func(m *kernel.Submit) { m.Mode = "autonomous" })
	first := k.Approval(sent.RunID)
	k.Restart()
	var again kernel.Approval
	k.Until("it asks again", func() bool {
		list, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"})
		if err == nil && len(list) == 1 && list[0].ID != first.ID {
			again = list[0]
		}
		return again.ID != ""
	})
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: sent.RunID, ApprovalID: again.ID, Values: json.RawMessage(`{"name": "Ann"}`)}); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(sent.RunID); !strings.Contains(r.Response, `"name":"Ann"`) || strings.Contains(r.Response, "lost") || !slices.Equal(asksOf(k), []string{"call", "update"}) {
		t.Errorf("got %q; it was asked %v", r.Response, asksOf(k))
	}
}
