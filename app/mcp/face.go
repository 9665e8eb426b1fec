package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

const (
	maxResult = 1 << 20          // of a tool or resource
	patience  = 50 * time.Second // of a wait: many programs give a call a minute
)

// face is Oxios as one program sees it.
type face struct {
	h       *remote.Handle // whose principal is the program
	self    kernel.Client
	answers bool   // approvals may come to it
	updates bool   // it is told when what it follows changes
	key     []byte // signs what an elicitation is about while the program has it
	version string
	log     *slog.Logger
	more    func(*sdk.Server) // what tests add
	tasks   keeper            // the same; nil keeps runs alone
	calls   calls
	follows followed
}

// has reports whether a scope of the program names a call.
func (f *face) has(call string) bool {
	return slices.ContainsFunc(kernel.ScopesFor(call), func(s string) bool { return slices.Contains(f.self.Scopes, s) })
}

// server makes the server of the program. One server serves any number of sessions.
func (f *face) server() (*sdk.Server, error) {
	o := &sdk.ServerOptions{
		Instructions: "Oxios runs agents on this person's computer and keeps their notes and memories. Runs work under the person's rules; what they must approve waits for them in Oxios.",
		Logger:       slog.New(fromWarn{f.log.Handler()}), CompletionHandler: f.complete,
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }, // each program has its own
		Capabilities: &sdk.ServerCapabilities{Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Tools: &sdk.ToolCapabilities{}},
	}
	if f.updates {
		o.SubscribeHandler, o.UnsubscribeHandler = f.subscribe, f.unsubscribe
		o.Capabilities.Resources.Subscribe = true
	}
	tasks := cmp.Or[keeper](f.tasks, runTasks{f})
	if f.has("agents.wait") {
		o.Capabilities.AddExtension(tasksExtension, nil)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "oxios", Title: "Oxios", Version: f.version}, o)
	for _, t := range tools {
		if !f.has(t.call) {
			continue
		}
		def, err := t.define()
		if err != nil {
			return nil, err
		}
		s.AddTool(def, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return f.call(ctx, t, req.Params.Arguments), nil
		})
	}
	if f.answers && f.has("security.approve") {
		f.addAnswer(s)
	}
	f.addResources(s)
	if err := f.addTasks(s, tasks); err != nil {
		return nil, err
	}
	f.follows.servers = append(f.follows.servers, s)
	s.AddReceivingMiddleware(f.ends, f.recovered, f.missing, f.tasked, f.lists)
	if f.more != nil {
		f.more(s)
	}
	return s, nil
}

// recovered makes an error of a panic: one request must not end the others.
func (f *face) recovered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (out sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				f.log.ErrorContext(ctx, "A request of a program panicked", "method", method, "err", p, "stack", string(debug.Stack()))
				out, err = nil, problem(sys.Errorf(sys.CodeInternal, "%s failed inside Oxios: %v. Nothing else was affected.", method, p))
			}
		}()
		return next(ctx, method, req)
	}
}

// missing answers a call of a tool that the program does not have with what is missing.
func (f *face) missing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		p, ok := req.GetParams().(*sdk.CallToolParamsRaw)
		if !ok || p == nil {
			return next(ctx, method, req)
		}
		call := ""
		if t, known := toolOf(p.Name); known {
			call = t.call
		} else if p.Name == answerTool {
			call = "security.approve"
		}
		switch {
		case call == "" || f.has(call) && (p.Name != answerTool || f.answers):
			return next(ctx, method, req)
		case f.has(call):
			return failed(sys.Errorf(sys.CodeForbidden, "Oxios cannot tell which process this program is, so it is asked nothing here.").
				WithHint("Connect it with `oxios mcp serve`, or answer in Oxios.")), nil
		}
		return failed(sys.Errorf(sys.CodeForbidden, "This program does not have the scope %s, which %s needs.", strings.Join(kernel.ScopesFor(call), " or "), p.Name).
			WithHint("The person gives it in Oxios: Settings, Programs.")), nil
	}
}

// call makes a call for the program.
func (f *face) call(ctx context.Context, t tool, raw json.RawMessage) *sdk.CallToolResult {
	args, err := t.pack(raw)
	if err != nil {
		return failed(err)
	}
	if t.call == "agents.wait" {
		return f.wait(ctx, args)
	}
	v, err := remote.Dispatch(ctx, f.h, t.call, args)
	if err != nil {
		return failed(err)
	}
	if begun, ok := v.(kernel.Submitted); ok {
		if _, err := f.follow(ctx, begun.RunID); err != nil {
			f.log.DebugContext(ctx, "A run that was begun is answered without a task", "run", begun.RunID, "error", err)
		}
	}
	return result(v)
}

// wait waits for a run, and says what it waits for itself.
func (f *face) wait(ctx context.Context, args json.RawMessage) *sdk.CallToolResult {
	var which []string
	if json.Unmarshal(args, &which) == nil && len(which) == 1 {
		if task, err := f.follow(ctx, which[0]); task || err != nil {
			return answered(err)
		}
	}
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := remote.Dispatch(short, f.h, "agents.wait", args)
	if err != nil {
		if ctx.Err() == nil && short.Err() != nil {
			return said("The run is still at work. Call agents_wait again.")
		}
		return failed(err)
	}
	r, ok := v.(kernel.RunResult)
	if !ok || len(r.Waiting) == 0 {
		return result(v)
	}
	out := result(v)
	out.Content = append([]sdk.Content{&sdk.TextContent{Text: "The run waits for the person in Oxios (approval " + strings.Join(r.Waiting, ", ") +
		"). It goes on once they have answered there; call agents_wait again then."}}, out.Content...)
	return out
}

// result is what a call returned, as JSON.
func result(v any) *sdk.CallToolResult {
	raw, err := remote.Marshal(v)
	switch {
	case err != nil:
		return failed(err)
	case len(raw) > maxResult:
		return failed(sys.Errorf(sys.CodeTooLarge, "The answer takes %d kB, and %d kB is the most.", len(raw)>>10, maxResult>>10).WithHint("Ask for less, or for a part."))
	case string(raw) == "null":
		raw = []byte("done")
	}
	return said(string(raw))
}

// answered is the result of a call that needs no words, or its error.
func answered(err error) *sdk.CallToolResult {
	if err != nil {
		return failed(err)
	}
	return said("done")
}

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// failed is an error as a model reads it: what went wrong, and what to do next.
func failed(err error) *sdk.CallToolResult {
	e := sys.AsError(err)
	out := said(strings.TrimSpace(e.Message + " " + e.Hint))
	out.IsError = true
	return out
}

// problem is an error of a request that is no call of a tool.
func problem(err error) error {
	e := sys.AsError(err)
	return errors.New(strings.TrimSpace(e.Message + " " + e.Hint))
}

func invalid(format string, args ...any) error { return sys.Errorf(sys.CodeInvalid, format, args...) }

// plain takes from a text what a dialog cannot show: an agent may have written it.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
