package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/sys"
)

// keptTasks are tasks in memory, beside the runs of a program: those of the conformance tests.
type keptTasks struct {
	mu  sync.Mutex
	all map[string]*keptTask
}

type keptTask struct {
	task
	ctx  context.Context
	stop context.CancelFunc
	said chan map[string]json.RawMessage
}

// begin makes a task of work that takes its time.
func (k *keptTasks) begin(work func(t *keptTask) (*reply, error)) task {
	ctx, stop := context.WithCancel(context.Background())
	now := time.Now().UTC()
	t := &keptTask{task: task{ID: sys.NewID(), Status: taskWorking, Created: now, Updated: now, Poll: 100}, ctx: ctx, stop: stop, said: make(chan map[string]json.RawMessage, 8)}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[t.ID] = t
	go func() {
		defer stop()
		r, err := work(t)
		k.mu.Lock()
		defer k.mu.Unlock()
		t.Updated, t.Asks = time.Now().UTC(), nil
		switch {
		case ctx.Err() != nil:
			t.Status = taskCancelled
		case err != nil:
			t.Status, t.Error = taskFailed, &taskError{Code: -32603, Message: err.Error()}
		default:
			t.Status, t.Result = taskCompleted, r
		}
	}()
	return t.task
}

// ask has the client answer some questions.
func (k *keptTasks) ask(t *keptTask, asks sdk.InputRequestMap) {
	k.mu.Lock()
	t.Status, t.Asks = taskWaiting, asks
	k.mu.Unlock()
	for {
		select {
		case <-t.ctx.Done():
			return
		case said := <-t.said:
			k.mu.Lock()
			for key := range said {
				delete(t.Asks, key)
			}
			left := len(t.Asks)
			k.mu.Unlock()
			if left == 0 {
				return
			}
		}
	}
}

func (k *keptTasks) of(id string) (*keptTask, error) {
	if t := k.all[id]; t != nil {
		return t, nil
	}
	return nil, noTask(id)
}

func (k *keptTasks) get(_ context.Context, id string) (task, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, err := k.of(id)
	if err != nil {
		return task{}, err
	}
	out := t.task
	if t.Asks != nil {
		out.Asks = sdk.InputRequestMap{}
		for key, q := range t.Asks {
			out.Asks[key] = q
		}
	}
	return out, nil
}

func (k *keptTasks) update(_ context.Context, id string, said map[string]json.RawMessage) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, err := k.of(id)
	if err != nil {
		return err
	}
	for key := range said {
		delete(t.Asks, key) // at once, so that it is not shown again
	}
	t.said <- said
	return nil
}

func (k *keptTasks) cancel(_ context.Context, id string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, err := k.of(id)
	if err == nil {
		t.stop()
	}
	return err
}

// addTaskFixtures adds the tools that answer with tasks.
func addTaskFixtures(s *sdk.Server, kept *keptTasks) {
	add := func(name string, needs bool, work func(req *request) func(t *keptTask) (*reply, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "For the conformance tests.", InputSchema: json.RawMessage(anything)}, func(ctx context.Context, req *request) (*reply, error) {
			do := work(req)
			switch {
			case do == nil:
				return &reply{InputRequests: sdk.InputRequestMap{"user_name": askName()}, RequestState: "asked"}, nil
			case mayBeLater(ctx):
				later(ctx, kept.begin(do))
				return said("begun"), nil
			case needs:
				return nil, needsTasks()
			}
			return do(&keptTask{ctx: ctx})
		})
	}
	s.AddTool(&sdk.Tool{Name: "greet", Description: "For the conformance tests.", InputSchema: json.RawMessage(anything)}, func(_ context.Context, req *request) (*reply, error) {
		var in struct {
			Name string `json:"name"`
		}
		err := json.Unmarshal(req.Params.Arguments, &in)
		return said("Hello, " + in.Name + "!"), err
	})
	add("slow_compute", false, func(req *request) func(*keptTask) (*reply, error) {
		var in struct {
			Seconds float64 `json:"seconds"`
			Label   string  `json:"label"`
		}
		err := json.Unmarshal(req.Params.Arguments, &in)
		return func(t *keptTask) (*reply, error) {
			select {
			case <-t.ctx.Done():
			case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
			}
			return said("computed " + in.Label), err
		}
	})
	add("failing_job", true, func(*request) func(*keptTask) (*reply, error) {
		return func(*keptTask) (*reply, error) { return failed(errors.New("the job failed")), nil }
	})
	add("protocol_error_job", false, func(*request) func(*keptTask) (*reply, error) {
		return func(*keptTask) (*reply, error) { return nil, errors.New("the job broke down") }
	})
	confirm := object(`"confirm":{"type":"boolean"}`, `"confirm"`)
	add("confirm_delete", false, func(*request) func(*keptTask) (*reply, error) {
		return func(t *keptTask) (*reply, error) {
			kept.ask(t, sdk.InputRequestMap{"confirm": &sdk.ElicitParams{Message: "Delete it?", RequestedSchema: confirm}})
			return said("deleted"), nil
		}
	})
	add("multi_input", false, func(*request) func(*keptTask) (*reply, error) {
		return func(t *keptTask) (*reply, error) {
			kept.ask(t, sdk.InputRequestMap{"first": askName(), "second": askName()})
			return said("both came"), nil
		}
	})
	add("test_tool_with_task", true, func(req *request) func(*keptTask) (*reply, error) {
		name := elicited(req, "user_name", "name")
		if name == "" {
			return nil
		}
		return func(*keptTask) (*reply, error) { return said(fmt.Sprintf("Hello, %s!", name)), nil }
	})
}
