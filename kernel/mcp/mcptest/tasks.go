package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// task is a task of the tool long, as it lies in a file: it outlives the server.
type task struct {
	mcp.ResultBase
	Kind    string              `json:"resultType"`
	ID      string              `json:"taskId"`
	Status  string              `json:"status"`
	Message string              `json:"statusMessage,omitempty"`
	Created time.Time           `json:"createdAt"`
	Updated time.Time           `json:"lastUpdatedAt"`
	TTL     *int64              `json:"ttlMs"`
	Poll    int                 `json:"pollIntervalMs"`
	Result  json.RawMessage     `json:"result,omitempty"`
	Error   json.RawMessage     `json:"error,omitempty"`
	Asks    mcp.InputRequestMap `json:"inputRequests,omitzero"`

	In   longArgs          `json:"in"`
	Said map[string]string `json:"said,omitempty"`
}

type longArgs struct {
	As  string `json:"as,omitempty"`  // how it goes wrong; see addTasks
	Ask string `json:"ask,omitempty"` // what it asks for: book, roots, model, strange
	MS  int    `json:"ms,omitempty"`  // how long it works
}

type taskParams struct {
	mcp.ParamsBase
	ID      string                     `json:"taskId"`
	Answers map[string]json.RawMessage `json:"inputResponses"`
}

// longTasks keeps tasks in a folder, with a file named calls that says what was asked of it.
type longTasks struct {
	mu  sync.Mutex
	dir string
}

func (l *longTasks) note(what string) {
	f, err := os.OpenFile(filepath.Join(l.dir, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, what)
		f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (l *longTasks) write(t *task) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, t.ID+".json"), raw, 0o600)
}

func (l *longTasks) read(id string) (*task, error) {
	var t task
	raw, err := os.ReadFile(filepath.Join(l.dir, filepath.Base(id)+".json"))
	if err != nil || json.Unmarshal(raw, &t) != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Task not found"}
	}
	return &t, nil
}

// addTasks adds the tool long, which answers with a task where the client takes one. As says how it goes wrong: fails, breaks
// (without a result), empty (it ends without a result), strange (a state that there is not), another (it answers about another
// task), back (it says first that it has ended), nameless (a task without an id), wide (an id that no header holds), forgets,
// ends (the server ends at the first question), endless, vast (16 MB and more), wrapped (it answers as if it had been called).
func addTasks(s *mcp.Server, dir string) {
	l := &longTasks{dir: dir}
	s.AddTool(&mcp.Tool{Name: "long", Description: "Works for a long while.", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return said("It needs a client that takes tasks."), nil
	})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && p.Name == "long" {
				if r, ok := req.(*mcp.CallToolRequest); ok && r.ClientCapabilities() != nil && r.ClientCapabilities().Extensions["io.modelcontextprotocol/tasks"] != nil {
					return l.begin(p.Arguments)
				}
			}
			return next(ctx, method, req)
		}
	})
	must(mcp.AddReceivingCustomMethod(s, "tasks/get", func(_ context.Context, _ *mcp.ServerSession, p *taskParams) (*task, error) { return l.get(p.ID) }))
	must(mcp.AddReceivingCustomMethod(s, "tasks/update", func(_ context.Context, _ *mcp.ServerSession, p *taskParams) (*task, error) {
		return l.change(p.ID, func(t *task) {
			t.Said = map[string]string{}
			for key, raw := range p.Answers {
				t.Said[key] = string(raw)
			}
			l.note("update")
		})
	}))
	must(mcp.AddReceivingCustomMethod(s, "tasks/cancel", func(_ context.Context, _ *mcp.ServerSession, p *taskParams) (*task, error) {
		return l.change(p.ID, func(t *task) {
			t.Status = "cancelled"
			l.note("cancel")
		})
	}))
}

func must(err error) {
	if err != nil {
		panic(err) // none of these is a method of the protocol itself
	}
}

func (l *longTasks) begin(raw json.RawMessage) (*task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now().UTC()
	t := &task{Kind: "task", ID: fmt.Sprintf("task-%d", now.UnixNano()), Status: "working", Created: now, Updated: now, Poll: 1}
	if err := json.Unmarshal(raw, &t.In); err != nil {
		return nil, err
	}
	l.note("call")
	if t.In.As == "back" {
		t.Status = "completed"
	}
	if err := l.write(t); err != nil {
		return nil, err
	}
	switch t.In.As {
	case "nameless":
		t.ID = ""
	case "wide":
		t.ID = "작업\r\nX-Evil: 1"
	}
	return t, nil
}

func (l *longTasks) change(id string, fn func(*task)) (*task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, err := l.read(id)
	if err != nil {
		return nil, err
	}
	fn(t)
	return &task{Kind: "complete"}, l.write(t)
}

func (l *longTasks) get(id string) (*task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, err := l.read(id)
	if err != nil {
		return nil, err
	}
	t.Kind, t.Message = "complete", "half way"
	ask := t.In.Ask != "" && t.Said["it"] == ""
	switch as := t.In.As; {
	case t.Status == "cancelled" || as == "endless":
	case as == "wrapped":
		t.Kind, t.Status, t.Result = "task", "completed", result("Wrapped.")
	case as == "back":
		t.Status = "working"
	case as == "strange":
		t.Status = "resting"
	case as == "another":
		t.ID = "another"
	case as == "empty":
		t.Status = "completed"
	case as == "forgets":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Task not found"}
	case as == "ends" && l.once(id):
		os.Exit(7)
	case as == "vast":
		t.Status, t.Result = "completed", result(strings.Repeat("vast ", 4<<20))
	case as == "breaks":
		t.Status, t.Error = "failed", json.RawMessage(`{"code":-32603,"message":"the disk is full"}`)
	case ask:
		t.Status, t.Asks = "input_required", mcp.InputRequestMap{"it": asked(t.In.Ask)}
	case time.Since(t.Created) < time.Duration(t.In.MS)*time.Millisecond:
	case as == "fails":
		t.Status, t.Result = "completed", json.RawMessage(`{"content":[{"type":"text","text":"It went wrong."}],"isError":true}`)
	default:
		t.Status, t.Result = "completed", result(strings.TrimSpace("It is done. "+t.Said["it"]))
	}
	return t, nil
}

// once reports whether something happens to a task for the first time.
func (l *longTasks) once(id string) bool {
	f, err := os.OpenFile(filepath.Join(l.dir, filepath.Base(id)+".once"), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		f.Close()
	}
	return err == nil
}

func result(text string) json.RawMessage {
	raw, err := json.Marshal(said(text))
	must(err)
	return raw
}

func asked(what string) mcp.InputRequest {
	switch what {
	case "roots":
		return &mcp.ListRootsParams{}
	case "model":
		return &mcp.CreateMessageParams{MaxTokens: 100, SystemPrompt: "Be brief.", Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Name a colour."}}}}
	}
	return &mcp.ElicitParams{Mode: "form", Message: "Which room do you want?", RequestedSchema: json.RawMessage(bookSchema)}
}
