package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// A run makes room when its next request would fill this much of the model's
// window, and then puts what came before so much shorter that well under half of
// it is left.
const (
	fullAt   = 0.8
	emptyTo  = 0.45
	tailMost = 0.2 // of the window: what stays as it was said, besides the last turn
	leastWin = 0.1 // of what was counted: less is not worth a call
	ownMost  = 0.6 // of the window: a prompt and tools that take more leave no room to work in
)

// askWindowAt is how many tokens a conversation has before a provider is asked
// how many the model holds: smaller windows say so by refusing.
const askWindowAt = 8000

// ContextArgs is what the journal keeps of making room before it is made.
type ContextArgs struct {
	Keep    int  `json:"keep"`              // messages of this run that stay as they were said, at the end
	Cut     int  `json:"cut,omitempty"`     // but for tool results of more bytes than this: of those the middle is left out; 0 for none
	Before  int  `json:"before"`            // tokens
	Window  int  `json:"window"`            // tokens that the model holds
	Refused bool `json:"refused,omitempty"` // the provider had refused the conversation
}

// ContextStep is what the journal keeps of room that was made.
type ContextStep struct {
	Text       string        `json:"text,omitempty"`       // what stands in place of what was dropped
	Kept       []llm.Message `json:"kept,omitempty"`       // of earlier runs, as it was said: it follows Text
	Summary    string        `json:"summary,omitempty"`    // the part of Text that tells the rest
	Mechanical bool          `json:"mechanical,omitempty"` // no model could be asked: Summary is a list of beginnings
	Error      string        `json:"error,omitempty"`      // why not, or why nothing was dropped
	Dropped    Dropped       `json:"dropped"`
	After      int           `json:"after,omitempty"` // tokens
	Model      string        `json:"model,omitempty"`
	Cost       store.Cost    `json:"cost"`
}

// Dropped is what a conversation lost when room was made: it stays in the
// journal.
type Dropped struct {
	Messages int   `json:"messages"`
	Results  int   `json:"results"` // of tools
	Bytes    int64 `json:"bytes"`
}

// Pinned is what stays word for word when a run makes room.
type Pinned struct {
	Said    []string // by persons in earlier runs of the conversation, the oldest first
	Own     []string // likewise in this run: what began it, then what joined it
	Task    string   // that was agreed on; "" for none
	Open    []string // what waits for a person
	Decided []string // what the person decided or answered, with their words
	Files   []string // that were looked at or changed, the newest last
}

func (c *ContextStep) messages() []llm.Message {
	return append([]llm.Message{{Role: llm.RoleUser, Content: c.Text}}, c.Kept...)
}

// room is how much of the model's window a run fills.
type room struct {
	earlier  *ContextStep // what the conversation begins with behind the prompt; nil when that is as it was said
	from     int          // the place in what was said in this run from which on the talk has it
	counted  int          // tokens that the provider counted, of all before at
	at       int          // a place in the talk
	refused  bool         // the provider has refused the talk as it is
	squeezed bool         // room was made, or could not be, since the last answer
	gaveIn   bool         // likewise, because the provider had refused the talk
	stuck    int          // tokens up to which it is no use to try again
	window   int          // tokens that were too many for the provider; 0 for none
}

// resume takes up what the journal tells.
func (r *room) resume(t Told, length int) {
	if t.Context != nil {
		r.earlier, r.from = t.Context, t.From
	}
	if t.counted > 0 {
		r.counted, r.at = t.counted, length-(len(t.Own)-t.countedAt)
	}
	r.refused, r.squeezed, r.gaveIn = t.refused, t.squeezed, t.gaveIn
}

// measured takes up what the provider counted of a request whose answer made
// the talk this long, and returns the tokens of both.
func (r *room) measured(u llm.Usage, length int) int {
	r.refused, r.squeezed, r.gaveIn = false, false, false
	r.counted, r.at = 0, 0
	if u.Reported && u.Input > 0 {
		r.counted, r.at = u.Input+u.Output-u.Reasoning, length // what was thought is not sent again
	}
	return r.counted
}

// What a message, a tool and a picture take besides their texts.
const (
	perMessage = 6
	perTool    = 12
	perPicture = 1600
)

// tokensOf estimates what messages take.
func tokensOf(list []llm.Message) int {
	n := 0
	for _, m := range list {
		n += perMessage + llm.Tokens(m.Content) + perPicture*len(m.Images)
		for _, c := range m.ToolCalls {
			n += perMessage + llm.Tokens(c.Name) + llm.Tokens(c.Args)
		}
	}
	return n
}

// base estimates what every request takes: the prompt and the tools.
func (x *run) base() int {
	n := tokensOf(x.talk[:1])
	for _, d := range x.defs {
		n += perTool + llm.Tokens(d.Name) + llm.Tokens(d.Description) + llm.Tokens(string(d.Schema))
	}
	return n
}

// count is about how many tokens the next request has: what the provider has
// counted of it, and an estimate of the rest.
func (x *run) count() int {
	if x.room.counted > 0 {
		return x.room.counted + tokensOf(x.talk[x.room.at:])
	}
	return x.base() + tokensOf(x.talk[1:])
}

// canMakeRoom reports whether a request that was refused may be made again.
func (x *run) canMakeRoom() bool {
	if x.spec.Recorded != nil {
		_, ok, _ := x.spec.Recorded()
		return ok
	}
	return !x.room.gaveIn && x.lastTurn() > x.first()
}

// refused closes a model step that the provider did not take up because the
// talk is too long: the call is made again behind what is put shorter.
func (x *run) refused(ctx context.Context, open *store.OpenStep, kept ModelStep, why error) (ending, []call, bool) {
	kept.Code = sys.CodeOf(why)
	x.room.refused = true
	err := x.closeStep(ctx, open, store.OutcomeError, mustJSON(kept), func(tx *store.Tx) error {
		return x.Store.UpdateRun(tx, x.id, store.RunPatch{Turns: &x.turns, Cost: &x.cost})
	})
	if err != nil {
		return x.failed(ctx, err, ""), nil, true
	}
	return ending{}, nil, false
}

// makeRoom puts what came before shorter when the next request would not fit.
// An error ends the run.
func (x *run) makeRoom(ctx context.Context) error {
	if x.spec.Recorded != nil {
		return x.makeRecordedRoom(ctx)
	}
	if x.spec.ContextLength == 0 && x.spec.Window != nil && x.count() > askWindowAt {
		x.spec.ContextLength, x.spec.Window = x.spec.Window(ctx), nil
	}
	window := cmp.Or(x.room.window, x.spec.ContextLength)
	if !x.room.refused && window == 0 {
		return nil
	}
	now := x.count()
	if x.room.refused && (window == 0 || now < window) {
		window, x.room.window = now, now // it holds less than that, whatever is said of it
	}
	switch {
	case !x.room.refused && (float64(now) < fullAt*float64(window) || now <= min(x.room.stuck, window)):
		return nil
	case x.room.squeezed && !x.room.refused:
		x.room.stuck = now + window/10 // a run that was taken up again
	default:
		if err := x.compact(ctx, now, window); err != nil {
			return err
		}
	}
	if x.room.refused || x.count() > window {
		return x.tooLong(nil)
	}
	return nil
}

// compact makes a step of putting what came before shorter. It does nothing
// where too little would be won.
func (x *run) compact(ctx context.Context, now, window int) error {
	var pinned Pinned
	if x.spec.Pin != nil {
		var err error
		if pinned, err = x.spec.Pin(ctx); err != nil {
			return err
		}
	}
	draft := x.draft(pinned, window)
	stays := x.own[len(x.own)-draft.keep:]
	cut := cutResults(stays, draft.cut)
	expected := tokensOf(x.talk[1:x.first()]) + tokensOf(draft.dropped) + tokensOf(stays) - tokensOf(cut) - draft.fixed
	if len(draft.dropped) == 0 || float64(expected) < leastWin*float64(now) {
		x.room.stuck = now + window/10
		return nil
	}
	args := ContextArgs{Keep: draft.keep, Cut: draft.cut, Before: now, Window: window, Refused: x.room.refused}
	open := x.journal.Plan(&store.Step{Kind: store.StepContext, Name: "context", Args: mustJSON(args)})
	made := ContextStep{Kept: draft.kept, Dropped: droppedOf(draft.dropped)}
	made.Dropped.Bytes += droppedOf(stays).Bytes - droppedOf(cut).Bytes
	if err := x.summarise(ctx, open, draft, &made); err != nil {
		if errors.Is(context.Cause(ctx), ErrShutdown) {
			return err // it is made again
		}
		made.Error = ErrorText(err)
		return errors.Join(err, x.closeContext(ctx, open, store.OutcomeCanceled, made))
	}
	made.Text = draft.text(made, x.id)
	talk := append(append(x.talk[:1:1], made.messages()...), cut...)
	made.After = x.base() + tokensOf(talk[1:])
	outcome := store.OutcomeOK
	if made.After >= now {
		outcome, made.Error, made.Text, made.Kept = store.OutcomeError, "Nothing was won by it, so the conversation stays as it is.", "", nil
	}
	if err := x.closeContext(ctx, open, outcome, made); err != nil {
		return err
	}
	x.room.squeezed, x.room.gaveIn = true, args.Refused
	if outcome == store.OutcomeOK {
		x.talk = talk
		x.room.earlier, x.room.from, x.room.counted, x.room.refused = &made, len(x.own)-draft.keep, 0, false
	}
	if float64(made.After) >= fullAt*float64(window) || float64(now-made.After) < leastWin*float64(now) {
		x.room.stuck = x.count() + window/10
	}
	return nil
}

// summarise asks the model for the part that is told shorter, and does it
// without one when that fails. The error is that the run is to end.
func (x *run) summarise(ctx context.Context, open *store.OpenStep, d draft, made *ContextStep) error {
	req := d.request(x.room.earlier)
	req.Model, req.ContextLength = x.spec.Run.Model, x.spec.ContextLength
	resp, cost, err := x.spec.Model.Complete(store.WithStep(ctx, open), req, func(llm.Delta) { sys.Beat(ctx) })
	x.cost = x.cost.Add(cost)
	made.Cost = cost
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if resp != nil {
		made.Summary, made.Model = d.cutSummary(resp.Message.Content), resp.Model
	}
	switch {
	case err != nil:
		made.Error = err.Error()
	case made.Summary == "":
		made.Error = "The model answered without a word."
	default:
		return nil
	}
	made.Summary, made.Mechanical = d.list(x.room.earlier, x.calls), true
	return nil
}

func (x *run) closeContext(ctx context.Context, open *store.OpenStep, outcome string, made ContextStep) error {
	return x.closeStep(context.WithoutCancel(ctx), open, outcome, mustJSON(made), func(tx *store.Tx) error {
		return x.Store.UpdateRun(tx, x.id, store.RunPatch{Cost: &x.cost})
	})
}

// makeRecordedRoom makes room as a run did that is played again.
func (x *run) makeRecordedRoom(ctx context.Context) error {
	was, ok, err := x.spec.Recorded()
	if err != nil || !ok {
		return err
	}
	open := x.journal.Plan(&store.Step{Kind: store.StepContext, Name: was.Name, Args: was.Args})
	_, _, err = x.spec.Model.Complete(store.WithStep(ctx, open), llm.Request{}, func(llm.Delta) {})
	if cerr := x.closeStep(context.WithoutCancel(ctx), open, was.Outcome, was.Result, nil); cerr != nil || ctx.Err() != nil {
		return errors.Join(err, cerr)
	}
	var args ContextArgs
	var made ContextStep
	if err := errors.Join(json.Unmarshal(was.Args, &args), json.Unmarshal(was.Result, &made)); err != nil {
		return fmt.Errorf("read step %s: %w", was.ID, err)
	}
	if was.Outcome == store.OutcomeOK {
		x.talk = append(append(x.talk[:1:1], made.messages()...), cutResults(x.own[max(0, len(x.own)-args.Keep):], args.Cut)...)
	}
	return nil
}

// tooLong is the error of a run whose talk does not fit whatever is done.
func (x *run) tooLong(why error) error {
	if x.spec.Recorded != nil && why != nil {
		return why
	}
	told := sys.Errorf(sys.CodeContextLength, "The conversation is too long for the window of %s, and it could not be put short enough. What was done is kept.", x.spec.Run.Model)
	if len(x.own) == 1 && len(x.spec.History) == 0 {
		told = sys.Errorf(sys.CodeContextLength, "The message is too long for the window of %s. Nothing was done, and the message is kept.", x.spec.Run.Model)
	}
	if window := cmp.Or(x.room.window, x.spec.ContextLength); window > 0 && float64(x.base()) > ownMost*float64(window) {
		return sys.Errorf(sys.CodeContextLength, "The window of %s holds %d tokens, and Oxios itself needs about %d for its instructions and tools. Nothing was done, and the message is kept.",
			x.spec.Run.Model, window, x.base()).WithCause(why).
			WithHint("Start the model with a window of at least %d tokens, or choose another model.", 2*x.base())
	}
	return told.WithCause(why).WithHint("Go on in a new conversation with less in it, or choose a model with a larger window.")
}
