package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// watcher follows one run until it ends or waits for somebody who is not here.
type watcher struct {
	*console
	link   *link
	sent   kernel.Submitted
	alone  bool // no window, page or notification is there to decide
	noWait bool
	canAsk bool // the person at this terminal can answer

	progress
	question
	leaving bool   // an approval waits and nobody can answer: go once all else is settled
	told    string // what holds the run up, as it was said
}

// follow returns when the run has ended, or when it waits and nobody is here.
func (w *watcher) follow(ctx, keep context.Context, events <-chan kernel.Event, timeout time.Duration) error {
	if w.sent.Demo {
		w.note("%s", w.t("Demo: scripted, no language model", "데모: 대본대로 답하며 언어 모델이 아닙니다"))
	}
	if w.sent.Queued {
		w.note("%s", w.t("· The agent of this conversation is at work; it reads your message before its next step.", "· 이 대화의 에이전트가 일하는 중입니다. 다음 단계 전에 메시지를 읽습니다."))
	}
	if w.sent.Queued { // the run may have waited for long
		w.lookHeld(keep)
	}
	ended := w.await(keep)
	var late <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		late = t.C
	}
	look := time.NewTicker(150 * time.Millisecond) // whether all but the approval is settled
	defer look.Stop()
	for {
		select {
		case o := <-ended:
			if sys.CodeOf(o.err) == sys.CodeUnavailable && w.link.own == nil {
				return w.afterOwner(keep, o)
			}
			return w.end(keep, o, events)
		case e, ok := <-events:
			if !ok {
				events = nil // the owner went away; Wait says so
				continue
			}
			if err := w.see(keep, e); err != nil {
				return err
			}
		case <-w.opens:
			w.open()
		case line, ok := <-w.lines:
			if err := w.answer(keep, line, ok); err != nil {
				return err
			}
		case <-look.C:
			if !w.leaving {
				continue
			}
			if left, err := w.leave(keep); left || err != nil {
				return err
			}
		case <-late:
			w.stop(keep)
			return w.cut(ended, exitFailed, w.fail(sys.CodeTimeout,
				fmt.Sprintf(w.t("It did not end within %s and was stopped.", "%s 안에 끝나지 않아 멈췄습니다."), timeout), w.kept(keep)))
		case <-ctx.Done():
			w.stop(keep)
			return w.cut(ended, exitStopped, w.fail(sys.CodeCanceled, w.t("It was stopped.", "멈췄습니다."), w.kept(keep)))
		}
	}
}

// cut ends the following of a run that was stopped here. A script gets what came of
// it, with why: by its ids it can go on.
func (w *watcher) cut(ended <-chan outcome, code int, why error) error {
	if w.json && !w.sent.Queued {
		select {
		case o := <-ended:
			if o.err != nil {
				break
			}
			o.result.Error = sys.AsError(why)
			w.explain(o.result.Error)
			if err := w.writeJSON(o.result); err != nil {
				return err
			}
			return exits(code)
		case <-time.After(stopPatience):
		}
	}
	return &exitError{code: code, err: why}
}

// afterOwner looks for what became of the run in a process that went away.
func (w *watcher) afterOwner(ctx context.Context, o outcome) error {
	l, err := w.connect(ctx)
	if err != nil {
		return o.err
	}
	w.link.close()
	w.link = l
	v, err := l.Agents.Run(ctx, w.sent.RunID)
	switch {
	case err != nil:
		return o.err
	case v.Run.State == "waiting":
		w.alone = true
		if left, err := w.leave(ctx); left || err != nil {
			return err
		}
	case v.Run.EndedAt != nil:
		r, err := l.Agents.Wait(ctx, w.sent.RunID)
		w.missed = true
		return w.end(ctx, outcome{r, err}, nil)
	}
	w.breakLine()
	return w.fail(sys.CodeUnavailable, w.t("The Oxios that worked on it has stopped; what it had confirmed is kept.", "일하던 Oxios가 멈췄습니다. 확인된 내용은 보관됩니다."), w.kept(ctx))
}

// outcome is what Wait returned.
type outcome struct {
	result kernel.RunResult
	err    error
}

func (w *watcher) await(ctx context.Context) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		r, err := w.link.Agents.Wait(ctx, w.sent.RunID)
		ended <- outcome{r, err}
	}()
	return ended
}

// see takes an event up.
func (w *watcher) see(ctx context.Context, e kernel.Event) error {
	if e.Kind == "gap" {
		w.missed = true
		w.lookHeld(ctx)
		return w.askOpen(ctx)
	}
	if e.Kind == "status" {
		if s, ok := as[kernel.Status](e); ok {
			w.held(s.Held)
		}
		return nil
	}
	if e.RunID != w.sent.RunID {
		return nil
	}
	if e.Kind == "approval" {
		if a, ok := as[kernel.Approval](e); ok {
			return w.approval(ctx, a)
		}
	}
	w.show(e)
	return nil
}

// heldWords says what keeps runs from going on, and what lets them.
func (c *console) heldWords(h kernel.Held) (why, hint string) {
	return sys.Words{EN: h.Message, KO: h.MessageKO}.In(c.lang == korean), sys.Words{EN: h.Hint, KO: h.HintKO}.In(c.lang == korean)
}

// lookHeld asks what no event tells any more.
func (w *watcher) lookHeld(ctx context.Context) {
	if s, err := w.link.Infra.Status(ctx); err == nil {
		w.held(s.Held)
	}
}

// held says once what keeps the run from going on, and what lets it.
func (w *watcher) held(list []kernel.Held) {
	h, ok := heldRun(list, w.sent.RunID)
	if ok && h.ID != w.told {
		w.breakLine()
		w.noteHeld(h)
	}
	w.told = h.ID
}

// heldRun returns what keeps a run from going on.
func heldRun(list []kernel.Held, run string) (kernel.Held, bool) {
	at := slices.IndexFunc(list, func(h kernel.Held) bool {
		return slices.ContainsFunc(h.Runs, func(r kernel.HeldRun) bool { return r.RunID == run })
	})
	if at < 0 {
		return kernel.Held{}, false
	}
	return list[at], true
}

func (c *console) noteHeld(h kernel.Held) {
	why, hint := c.heldWords(h)
	c.note("? %s", fmt.Sprintf(c.t("waits: %s", "기다립니다: %s"), why))
	c.note("  %s", hint)
}

// askOpen asks what an event that was missed would have asked.
func (w *watcher) askOpen(ctx context.Context) error {
	open, err := w.pending(ctx)
	for _, a := range open {
		if err == nil {
			err = w.approval(ctx, a)
		}
	}
	return err
}

func (w *watcher) pending(ctx context.Context) ([]kernel.Approval, error) {
	return w.link.Security.Approvals(ctx, kernel.ApprovalQuery{State: "pending", RunID: w.sent.RunID})
}

// approval takes up a question of the run, or what became of it.
func (w *watcher) approval(ctx context.Context, a kernel.Approval) error {
	if a.State != "pending" {
		return w.decided(a)
	}
	if !w.first(a.ID) {
		return nil
	}
	w.breakLine()
	if w.canAsk {
		return w.enqueue(a)
	}
	w.note("? %s", fmt.Sprintf(w.t("waits for you: %s", "승인을 기다립니다: %s"), w.title(a)))
	return w.elsewhere(ctx, a)
}

// elsewhere leaves a request to somebody who is not at this terminal.
func (w *watcher) elsewhere(ctx context.Context, a kernel.Approval) error {
	switch {
	case ofServer(a) && (w.alone || w.noWait):
		return w.leaveServer(ctx, a)
	case w.alone || w.noWait:
		w.leaving = true
	case len(a.Request.Questions) > 0 || a.Request.Form != nil:
		w.note("  %s", fmt.Sprintf(w.t("Answer in the window, or with `oxios answer %s`.", "창에서 답하거나 `oxios answer %s`를 실행하세요."), tail(a.Request.RunID)))
	default:
		w.note("  %s", fmt.Sprintf(w.t("Decide in the window, or with `oxios approvals approve %s`.", "창에서 결정하거나 `oxios approvals approve %s`를 실행하세요."), tail(a.ID)))
	}
	return nil
}

// leave ends the command while an approval waits, once no other step of the run
// is under way: one that was cut off here would have an unknown outcome.
func (w *watcher) leave(ctx context.Context) (left bool, err error) {
	v, err := w.link.Agents.Run(ctx, w.sent.RunID)
	if err != nil {
		return false, err
	}
	waits := false
	for _, s := range v.Steps {
		switch s.State {
		case "waiting":
			waits = true
		case "closed":
		default:
			return false, nil
		}
	}
	if !waits {
		return false, nil // it was decided elsewhere, or the run has ended
	}
	open, err := w.pending(ctx)
	if err != nil || len(open) == 0 {
		return false, err
	}
	result := kernel.RunResult{
		SessionID: v.Run.SessionID, RunID: v.Run.ID, AgentID: v.Run.ID, State: v.Run.State, PhaseReached: "chat",
		Cost: v.Run.Cost, CriteriaMissed: []string{}, Changes: v.Changes, Totals: v.Totals, Demo: w.sent.Demo,
	}
	if err := w.place(ctx, &result); err != nil {
		return false, err
	}
	w.breakLine()
	for _, a := range open {
		result.Waiting = append(result.Waiting, a.ID)
		w.card(a)
		if len(a.Request.Questions) > 0 {
			result.PhaseReached = "interview"
			w.note("%s", fmt.Sprintf(w.t("Answer with `oxios answer %[1]s \"…\"`, one answer for each question, or let it start with `oxios answer %[1]s --assume`.",
				"`oxios answer %[1]s \"…\"`로 질문마다 하나씩 답하거나, `oxios answer %[1]s --assume`으로 가정하고 시작하게 하세요."), tail(a.Request.RunID)))
			continue
		}
		w.note("%s", fmt.Sprintf(w.t("Approve it with `oxios approvals approve %[1]s`, or deny it with `oxios approvals deny %[1]s --comment \"…\"`.",
			"`oxios approvals approve %[1]s`로 승인하거나 `oxios approvals deny %[1]s --comment \"…\"`로 거절하세요."), tail(a.ID)))
	}
	if w.alone {
		w.note("%s", w.t("The run is kept. It goes on after your answer, when Oxios runs (the window, or `oxios serve`).", "진행 상황은 보관됩니다. 답을 주시면 Oxios가 실행될 때(창 또는 `oxios serve`) 이어집니다."))
	}
	if w.json {
		if err := w.writeJSON(result); err != nil {
			return true, err
		}
	}
	return true, exits(exitWaiting)
}

// place says where a run that waits works, and how far it has come.
func (w *watcher) place(ctx context.Context, r *kernel.RunResult) error {
	seeds, err := w.link.Agents.Seeds(ctx, kernel.SeedQuery{RunID: r.RunID})
	if err != nil {
		return err
	}
	if len(seeds) > 0 { // the newest version first
		r.SeedID, r.PhaseReached = kernel.OrNull(seeds[0].ID), "execute"
		if seeds[0].Version > 1 {
			r.PhaseReached = "evolve"
		}
	}
	s, err := w.link.State.Sessions(ctx, kernel.SessionQuery{ID: r.SessionID})
	if err != nil || len(s) == 0 || s[0].Space == "" {
		return err
	}
	in, err := w.link.Space.Get(ctx, s[0].Space)
	r.SpaceID, r.SpaceTag = kernel.OrNull(in.Space.ID), kernel.OrNull(in.Tag)
	return err
}

// stopPatience is how long a run that was stopped may take to end.
const stopPatience = 7 * time.Second

// stop ends the run, or takes the message back that waits for another one.
func (w *watcher) stop(ctx context.Context) {
	w.breakLine()
	if len(w.queue) > 0 {
		fmt.Fprintln(w.err) // the question stands on the line
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	var err error
	if w.sent.Queued {
		err = w.link.Agents.Unqueue(ctx, w.sent.QueueID)
	} else {
		_, err = w.link.Agents.Kill(ctx, w.sent.RunID)
	}
	if code := sys.CodeOf(err); err != nil && code != sys.CodeNotFound && code != sys.CodeConflict {
		w.note("%s", safe(err.Error())) // the end is told by the caller
	}
}

// kept says what is left of a run that was stopped.
func (w *watcher) kept(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	n := 0
	if v, err := w.link.Agents.Run(ctx, w.sent.RunID); err == nil {
		n = len(v.Changes)
	}
	return w.keptAnd(n)
}

// keptAnd says what is left of a run that changed so many files.
func (w *watcher) keptAnd(changed int) string {
	kept := w.t("Your message and what was done are kept.", "메시지와 한 일은 그대로 있습니다.")
	if changed > 0 {
		kept = fmt.Sprintf(w.t("Finished steps and %d changed files are kept.", "끝난 단계와 변경된 파일 %d개는 그대로 있습니다."), changed)
	}
	return kept + " " + fmt.Sprintf(w.t("Go on with `oxios run --session %s \"…\"`.", "`oxios run --session %s \"…\"`로 이어 갈 수 있습니다."), w.sent.SessionID)
}

// end says what came of the run.
func (w *watcher) end(ctx context.Context, o outcome, events <-chan kernel.Event) error {
	// The last events may still be on their way.
	for grace := time.After(500 * time.Millisecond); events != nil && o.err == nil && !w.over; {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				break
			}
			if e.RunID == w.sent.RunID && e.Kind != "approval" {
				w.show(e)
			}
		case <-grace:
			events = nil
		}
	}
	if o.err != nil {
		w.breakLine()
		return o.err
	}
	r := o.result
	if r.Demo && !w.sent.Demo {
		w.note("%s", w.t("Demo: scripted, no language model", "데모: 대본대로 답하며 언어 모델이 아닙니다"))
	}
	if w.json {
		if err := w.writeJSON(r); err != nil {
			return err
		}
	} else {
		w.rest(r.Response)
	}
	w.summary(r)
	_ = w.link.Agents.MarkSeen(ctx, []string{r.RunID}, true) // it was just shown; at worst the inbox shows it again
	switch {
	case missed(r):
		w.noteMissed(r)
		w.note("%s", w.keptAnd(len(r.Changes)))
		return exits(exitFailed)
	case r.State == "done" && r.Status == "forced":
		w.note("%s %s", w.t("It reached the limit of steps, so it was asked for its answer.", "단계 한도에 이르러 그때까지의 답을 받았습니다."), w.keptAnd(len(r.Changes)))
	case r.State == "done" && r.Status == "cut":
		w.note("%s %s", w.t("The answer reached the model's limit and ends in the middle.", "답이 모델의 한도에 이르러 중간에 끝났습니다."), w.keptAnd(len(r.Changes)))
	}
	if r.State == "done" {
		return nil
	}
	if r.Error != nil {
		w.explain(r.Error)
	} else {
		w.note(w.t("The run ended as %s.", "실행이 끝난 상태: %s."), r.State)
	}
	w.note("%s", w.keptAnd(len(r.Changes)))
	return exits(exitFailed)
}
