package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/guard"
	"oxios/kernel/sys"
)

// tasksExtension is the extension by which a server answers a call with a task: an id, under which its state is asked for.
const tasksExtension = "io.modelcontextprotocol/tasks"

// How often a server is asked for a task: as often as it says, within bounds.
const (
	pollTime    = time.Second
	shortPoll   = 200 * time.Millisecond
	longPoll    = 30 * time.Second
	maxTaskID   = 512
	maxLostPoll = 5 // that fail one after the other
)

// taskState is what a server says of a task.
type taskState struct {
	sdk.ResultBase
	ID      string                     `json:"taskId"`
	Status  string                     `json:"status"`
	Message string                     `json:"statusMessage"`
	Poll    float64                    `json:"pollIntervalMs"`
	Result  json.RawMessage            `json:"result"`
	Error   *taskError                 `json:"error"`
	Asks    map[string]json.RawMessage `json:"inputRequests"`
}

type (
	taskError struct {
		Message string `json:"message"`
	}
	taskParams struct {
		sdk.ParamsBase
		ID      string                     `json:"taskId"`
		Answers map[string]json.RawMessage `json:"inputResponses,omitempty"`
	}
	taskTaken struct{ sdk.ResultBase }
)

// speakTasks lets a client take tasks, and ask for them.
func speakTasks(c *sdk.Client) {
	for _, err := range []error{
		sdk.AddSendingCustomMethod[*taskParams, *taskState](c, "tasks/get"),
		sdk.AddSendingCustomMethod[*taskParams, *taskTaken](c, "tasks/update"),
		sdk.AddSendingCustomMethod[*taskParams, *taskTaken](c, "tasks/cancel"),
	} {
		if err != nil {
			panic(err) // none of these is a method of the protocol itself
		}
	}
}

// taskOf is the task that a call was answered with.
func taskOf(meta sdk.Meta) (t taskState, ok bool) {
	raw, err := json.Marshal(meta[taskKey])
	if err != nil || meta[taskKey] == nil {
		return t, false
	}
	if json.Unmarshal(raw, &t) != nil {
		t = taskState{}
	}
	return t, true
}

// over reports whether nothing more will come of a task.
func (t taskState) over() bool {
	return t.Status == "completed" || t.Status == "failed" || t.Status == "cancelled"
}

// interval is how long to wait before the server is asked again.
func (t taskState) interval() time.Duration {
	if t.Poll <= 0 {
		return pollTime
	}
	return time.Duration(min(max(t.Poll, float64(shortPoll.Milliseconds())), float64(longPoll.Milliseconds()))) * time.Millisecond
}

// follows says why a state cannot be the one after this; "" where it can.
func (t taskState) follows(next taskState) sys.Words {
	switch {
	case next.ID != t.ID:
		return sys.Say("it answered about another task")
	case next.Status != "working" && next.Status != "input_required" && !next.over():
		return sys.Say("it named a state that there is not")
	case t.over() && t.Status != next.Status:
		return sys.Say("it had ended, and went back")
	case next.Status == "completed" && len(next.Result) == 0:
		return sys.Say("it ended without a result")
	}
	return sys.Words{}
}

// named reports whether an id can be sent back: it stands in a header, too.
func (t taskState) named() bool {
	if t.ID == "" || len(t.ID) > maxTaskID || t.ID[0] == ' ' || t.ID[len(t.ID)-1] == ' ' {
		return false
	}
	for _, r := range t.ID {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return true
}

// follow waits for what comes of a task. It ends with the bounds of a call, and then cancels the task; when Oxios ends it does
// not: the task is picked up again.
type follow struct {
	s    *Service
	l    *live
	def  Server
	tool Tool
	u    *underway
	done func() // of a server that was reached again

	last    taskState
	lost    int                           // polls that failed one after the other
	asking  map[string]context.CancelFunc // what the person is asked
	asked   map[string]bool               // what they have been
	said    chan reply                    // what they answered
	answers map[string]json.RawMessage    // that have not been sent
}

// reply is what came of a question of a task.
type reply struct {
	key string
	out json.RawMessage
	err error
}

func (s *Service) follow(l *live, u *underway, def Server, tool Tool, t taskState) (*sdk.CallToolResult, error) {
	f := &follow{s: s, l: l, def: def, tool: tool, u: u, done: func() {}, last: t, asking: map[string]context.CancelFunc{}, asked: map[string]bool{}, said: make(chan reply), answers: map[string]json.RawMessage{}}
	defer func() { f.done() }()
	r, err := f.wait()
	for _, stop := range f.asking {
		stop()
	}
	for range f.asking {
		<-f.said
	}
	return r, err
}

func (f *follow) wait() (*sdk.CallToolResult, error) {
	wait := f.last.interval()
	if f.last.over() || f.last.Status == "" {
		wait = 0
	}
	next := time.NewTimer(wait)
	defer next.Stop()
	for {
		select {
		case <-f.u.ctx.Done():
			return nil, f.ended()
		case r := <-f.said:
			f.asking[r.key]()
			delete(f.asking, r.key)
			if r.err != nil {
				f.cancel()
				return nil, r.err
			}
			if r.out != nil {
				f.answers[r.key] = r.out
				next.Reset(0)
			}
			continue
		case <-next.C:
		}
		r, err := f.look()
		if r != nil || err != nil {
			return r, err
		}
		next.Reset(f.last.interval())
	}
}

// look asks the server for the task, and returns what came of it at its end.
func (f *follow) look() (*sdk.CallToolResult, error) {
	got, err := f.get()
	if err != nil || got == nil {
		return nil, err
	}
	f.lost = 0
	if got.ID == "" {
		if t, ok := taskOf(got.Meta); ok { // it answers as if it had been called
			got = &t
		}
	}
	if why := f.last.follows(*got); why.EN != "" {
		f.cancel()
		return nil, sys.Errorf(sys.CodeUnavailable, "What the server %s says of its task makes no sense (%s). Check what %s did before you try again.", f.l.name, why, f.tool.Call)
	}
	f.last = *got
	if f.u.heard() && got.Message != "" && !got.over() {
		f.s.c.Progress(f.u.ctx, f.u.c, f.s.c.Mask(plain(got.Message, 200)))
	}
	switch got.Status {
	case "completed":
		var r sdk.CallToolResult
		if err := json.Unmarshal(got.Result, &r); err != nil {
			return nil, sys.Errorf(sys.CodeUnavailable, "What the server %s says of its task makes no sense (%s). Check what %s did before you try again.", f.l.name, sys.Say("it ended without a result"), f.tool.Call)
		}
		return &r, nil
	case "failed":
		text := plain(got.Message, 500)
		if got.Error != nil && got.Error.Message != "" {
			text = plain(got.Error.Message, 500)
		}
		return nil, sys.Errorf(sys.CodeUnavailable, "The task of %s failed at its server: %s", f.tool.Call, text)
	case "cancelled":
		return nil, sys.Errorf(sys.CodeUnavailable, "The server %s cancelled the task of %s. Check what it did before you try again.", f.l.name, f.tool.Call)
	}
	f.ask()
	return nil, nil
}

// get sends what the person answered, and asks for the state. It returns nothing where it is worth trying again.
func (f *follow) get() (*taskState, error) { //nolint:nilnil // nothing is worth trying again
	ctx, met := listen(forTask(f.u.ctx, f.last.ID))
	var err error
	if len(f.answers) > 0 {
		_, err = sdk.CallCustomMethod[*taskParams, *taskTaken](ctx, f.l.session, "tasks/update", &taskParams{ID: f.last.ID, Answers: f.answers})
		if err == nil {
			clear(f.answers)
		}
	}
	var got *taskState
	if err == nil {
		got, err = sdk.CallCustomMethod[*taskParams, *taskState](ctx, f.l.session, "tasks/get", &taskParams{ID: f.last.ID})
	}
	wire, _ := errors.AsType[*jsonrpc.Error](err)
	switch {
	case err == nil:
		return got, nil
	case f.u.ctx.Err() != nil:
		return nil, f.ended()
	case wire != nil && (wire.Code == jsonrpc.CodeInvalidParams || wire.Code == jsonrpc.CodeMethodNotFound):
		return nil, sys.Errorf(sys.CodeUnavailable, "The server %s does not know the task of %s any more. Check what it did before you try again.", f.l.name, f.tool.Call)
	}
	why := met.of(err)
	broke := wire == nil && (f.l.web == nil || errors.Is(err, sdk.ErrSessionMissing) || errors.Is(err, sdk.ErrConnectionClosed))
	switch code := sys.CodeOf(why); {
	case code == sys.CodeNetwork || code == sys.CodeRateLimit:
		return nil, nil // until nothing has been heard of it for as long as a call may be silent
	case code == sys.CodeAuth || code == sys.CodeTooLarge:
		return nil, why
	}
	gone := broke && !f.dropped(errors.Is(err, sdk.ErrSessionMissing))
	if f.lost++; f.lost >= maxLostPoll || gone || broke && f.lost > 1 {
		return nil, sys.Errorf(sys.CodeUnavailable, "The server %s could not be asked any more what became of %s. Check what it did before you try again.", f.l.name, f.tool.Call).WithCause(err)
	}
	if broke {
		return nil, f.again()
	}
	return nil, nil
}

// dropped waits until a server is gone with which no connection is left, and reports whether it is worth reaching again: a
// program that did not end by itself sent what cannot be read.
func (f *follow) dropped(forgotten bool) bool {
	if forgotten {
		f.l.forgotten()
		return true
	}
	if f.l.web == nil {
		soon := time.NewTimer(endTime / 4)
		defer soon.Stop()
		select {
		case <-f.l.finished():
		case <-soon.C:
			f.l.job.Kill()
			f.l.lost()
			return false
		}
	}
	f.l.lost()
	return true
}

// again reaches a server whose connection broke off: its task may have outlived that.
func (f *follow) again() error {
	f.done()
	f.done = func() {}
	l, done, err := f.s.reach(f.u.ctx, f.l.name, f.def)
	if f.u.ctx.Err() != nil {
		return f.ended()
	}
	if err != nil {
		return err
	}
	f.l, f.done = l, done
	return nil
}

// ended is why a call that has a task is not waited for any more. The task is cancelled, but where it is picked up again.
func (f *follow) ended() error {
	if f.s.c.Ends(f.u.ctx) {
		return context.Cause(f.u.ctx)
	}
	f.cancel()
	if err := f.u.outer.Err(); err != nil {
		return context.Cause(f.u.outer)
	}
	return sys.Errorf(sys.CodeTimeout, "The task of %s had not ended after %s, so it was cancelled. Check what it did before you try again.", f.tool.Call, f.u.over())
}

// cancel tells the server that nobody waits for the task.
func (f *follow) cancel() {
	ctx, cancel := context.WithTimeout(forTask(context.WithoutCancel(f.u.ctx), f.last.ID), endTime)
	defer cancel()
	if _, err := sdk.CallCustomMethod[*taskParams, *taskTaken](ctx, f.l.session, "tasks/cancel", &taskParams{ID: f.last.ID}); err != nil {
		f.s.c.Log.Debug("A task could not be cancelled", "server", f.l.name, "error", err)
	}
}

// ask passes on what the task asks for, each thing once, and takes back what it asks for no more.
func (f *follow) ask() {
	open := maps.Clone(f.last.Asks)
	if f.last.Status != "input_required" {
		open = nil
	}
	for key, stop := range f.asking {
		if _, still := open[key]; !still {
			stop()
		}
	}
	for key, raw := range open {
		if f.asked[key] || len(f.asked) >= maxAsked {
			continue
		}
		f.asked[key] = true
		ctx, stop := context.WithCancel(f.u.ctx)
		f.asking[key] = stop
		l := f.l
		go func() {
			out, err := l.asks(ctx, f.tool, raw)
			if ctx.Err() != nil {
				out, err = nil, nil
			}
			f.said <- reply{key, out, err}
		}()
	}
}

type taskIDKey struct{}

// forTask notes which task a request is about: over HTTP a header names it.
func forTask(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, taskIDKey{}, id)
}

// later returns what comes of a call that was answered with a task.
func (s *Service) later(ctx context.Context, l *live, u *underway, def Server, tool Tool, t taskState) (*sdk.CallToolResult, error) {
	if !t.named() {
		return nil, sys.Errorf(sys.CodeUnavailable, "The server %s answered %s with a task that has no usable id. Check what it did before you try again.", l.name, tool.Call)
	}
	s.hold(ctx, l.name, held{Server: l.name, Tool: tool.Name, Task: t.ID, For: identity(def)})
	return s.follow(l, u, def, tool, t)
}

// pickUp goes on with a call that an earlier process of Oxios made, and whose task its server works on. Nothing is called.
func (s *Service) pickUp(ctx context.Context, c *guard.Caller, def Server, tool Tool, h held) (Result, error) {
	if h.For != identity(def) {
		return Result{}, sys.Errorf(sys.CodeConflict, "The server %s changed while it worked on the task of %s. Check what it did before you try again.", h.Server, tool.Call)
	}
	l, done, err := s.reach(inFolder(ctx, c.Scope().Folder), h.Server, def)
	if err != nil {
		return Result{}, err
	}
	defer done()
	u, over := l.begin(ctx, c, tool)
	defer over()
	s.release(ctx, h.Server)
	r, err := s.follow(l, u, def, tool, taskState{ID: h.Task})
	if err != nil {
		cost, _ := u.spent()
		return Result{Cost: cost}, err
	}
	return s.resultOf(c, tool, r, u), nil
}
