package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/sys"
)

// tasksExtension is the extension by which a call is answered with a task: an id, under which its state is asked for.
const tasksExtension = "io.modelcontextprotocol/tasks"

// The states of a task.
const (
	taskWorking   = "working"
	taskWaiting   = "input_required"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// task is the state of a long call as the extension writes it.
type task struct {
	sdk.ResultBase
	Kind    string    `json:"resultType"`
	ID      string    `json:"taskId"`
	Status  string    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	TTL     *int64    `json:"ttlMs"` // null: it is kept
	Poll    int64     `json:"pollIntervalMs,omitempty"`

	Result *sdk.CallToolResult `json:"result,omitempty"`
	Error  *taskError          `json:"error,omitempty"`
	Asks   sdk.InputRequestMap `json:"inputRequests,omitzero"`
}

// taskError is why a call failed that has no result.
type taskError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

type (
	taskParams struct {
		sdk.ParamsBase
		ID string `json:"taskId"`
	}
	taskAnswers struct {
		sdk.ParamsBase
		ID      string                     `json:"taskId"`
		Answers map[string]json.RawMessage `json:"inputResponses"`
	}
	// taken says that a request about a task was taken, and nothing else.
	taken struct {
		sdk.ResultBase
		Kind string `json:"resultType"`
	}
)

// keeper knows tasks. What it does not know it answers with not_found.
type keeper interface {
	get(ctx context.Context, id string) (task, error)
	update(ctx context.Context, id string, answers map[string]json.RawMessage) error
	cancel(ctx context.Context, id string) error
}

// addTasks adds the methods about tasks.
func (f *face) addTasks(s *sdk.Server, all keeper) error {
	ack := func(err error) (*taken, error) {
		if err != nil {
			return nil, taskProblem(err)
		}
		return &taken{Kind: "complete"}, nil
	}
	err := sdk.AddReceivingCustomMethod(s, "tasks/get", func(ctx context.Context, _ *sdk.ServerSession, p *taskParams) (*task, error) {
		t, err := all.get(ctx, p.ID)
		if err != nil {
			return nil, taskProblem(err)
		}
		t.Kind = "complete"
		return &t, nil
	})
	if err == nil {
		err = sdk.AddReceivingCustomMethod(s, "tasks/update", func(ctx context.Context, _ *sdk.ServerSession, p *taskAnswers) (*taken, error) {
			return ack(all.update(ctx, p.ID, p.Answers))
		})
	}
	if err == nil {
		err = sdk.AddReceivingCustomMethod(s, "tasks/cancel", func(ctx context.Context, _ *sdk.ServerSession, p *taskParams) (*taken, error) {
			return ack(all.cancel(ctx, p.ID))
		})
	}
	return err
}

// taskProblem is an error about a task as the protocol numbers it.
func taskProblem(err error) error {
	code := int64(jsonrpc.CodeInternalError)
	if c := sys.CodeOf(err); c == sys.CodeNotFound || c == sys.CodeInvalid {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: problem(err).Error()}
}

// noTask is the error of an id that is none of this program's.
func noTask(id string) error {
	return sys.Errorf(sys.CodeNotFound, "This program has no task %q.", sys.Shorten(plain(id), 100))
}

// tasked lets a call be answered with a task, where the program says in its request that it takes one, and keeps the methods
// about tasks for those programs.
func (f *face) tasked(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		about := strings.HasPrefix(method, "tasks/")
		switch {
		case !about && method != "tools/call":
			return next(ctx, method, req)
		case !takesTasks(req) && about:
			return nil, needsTasks()
		case about, !takesTasks(req):
			return next(ctx, method, req)
		}
		var made task
		out, err := next(context.WithValue(ctx, laterKey{}, &made), method, req)
		if err != nil || made.ID == "" {
			return out, err
		}
		made.Kind, made.Result, made.Error, made.Asks = "task", nil, nil, nil
		return &made, nil
	}
}

type laterKey struct{}

// later answers the call of ctx with a task that is there already.
func later(ctx context.Context, t task) {
	if into, ok := ctx.Value(laterKey{}).(*task); ok {
		*into = t
	}
}

// mayBeLater reports whether a call may be answered with a task.
func mayBeLater(ctx context.Context) bool {
	_, ok := ctx.Value(laterKey{}).(*task)
	return ok
}

// takesTasks reports whether a program takes tasks, by what it says in its request or said at the begin of its session.
func takesTasks(req sdk.Request) bool {
	r, ok := req.(interface {
		ClientCapabilities() *sdk.ClientCapabilities
	})
	if !ok {
		return false
	}
	caps := r.ClientCapabilities()
	if caps == nil {
		return false
	}
	_, ok = caps.Extensions[tasksExtension]
	return ok
}

// needsTasks is the error for a program that does not take tasks.
func needsTasks() error {
	caps := &sdk.ClientCapabilities{}
	caps.AddExtension(tasksExtension, nil)
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: caps})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "This needs a program that takes tasks (" + tasksExtension + ").", Data: data}
}

// misnamed answers a request about a task whose header does not name the task of its body, and reports whether it did: by that
// header requests find their way. The library does so for tools.
func misnamed(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.Header.Get(methodHeader), "tasks/") {
		return false
	}
	raw, _ := io.ReadAll(r.Body) // what cannot be read fails again for whoever reads on
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(raw), r.Body), r.Body}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			Task string `json:"taskId"`
		} `json:"params"`
	}
	if json.Unmarshal(raw, &m) != nil || len(m.ID) == 0 || m.Params.Task == strings.TrimSpace(r.Header.Get(nameHeader)) {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": taskError{ // when it does not arrive, nobody is left to be told
		Code: sdk.CodeHeaderMismatch, Message: "The header " + nameHeader + " does not name the task of the request.",
	}})
	return true
}
