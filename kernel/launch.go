package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"oxios/kernel/a2a"
	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/orchestrator"
	"oxios/kernel/security"
	"oxios/kernel/space"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// waits counts the approvals that a run waits for; the first and the last one
// change its state.
func (k *Kernel) waits(ctx context.Context, s scope, n int) {
	if s.runID == "" {
		return
	}
	before := k.runs.wait(s.runID, n)
	state := store.RunRunning
	switch {
	case before == 0 && n > 0:
		state = store.RunWaiting
	case before+n == 0 && !errors.Is(context.Cause(ctx), agent.ErrShutdown):
	default:
		return
	}
	keep := context.WithoutCancel(ctx)
	err := k.store.Write(keep, func(tx *store.Tx) error { return k.store.UpdateRun(tx, s.runID, store.RunPatch{State: &state}) })
	if err != nil {
		k.log.Warn("Could not record that a run waits", "run_id", s.runID, "error", err)
		return
	}
	if r, err := k.store.Run(keep, s.runID); err == nil {
		k.publish(event.RunState, s, r)
	}
	k.retellSession(keep, s.sessionID)
	k.publishStatus()
}

// submit makes a message a run, or queues it for the one that is at work.
func (k *Kernel) submit(ctx context.Context, m Submit, from scope) (Submitted, error) {
	if err := k.checkAgents(m.Agents); err != nil {
		return Submitted{}, err
	}
	create := k.store.CreateRun
	if m.InsteadOf != "" {
		old, err := k.instead(ctx, &m)
		if err != nil {
			return Submitted{}, err
		}
		m.Agents = cmp.Or(m.Agents, old.Agents)
		create = func(tx *store.Tx, r *Run) error { return k.store.CreateRunAfter(tx, r, old.AfterID) }
	}
	attached, err := k.attachmentsOf(ctx, m.Attachments)
	if err != nil {
		return Submitted{}, err
	}
	labels, err := k.attachedLabels(ctx, attached)
	if err != nil {
		return Submitted{}, err
	}
	labels = labels.Join(m.brings)
	text := strings.TrimSpace(m.Text)
	if text == "" && len(attached) > 0 {
		text = attached[0].Name
	}
	if text == "" {
		return Submitted{}, sys.Errorf(sys.CodeInvalid, "The message is empty. Nothing was sent.")
	}
	if err := checkSize(m.Text); err != nil {
		return Submitted{}, err
	}
	limits, err := k.limitsOf(m)
	if err != nil {
		return Submitted{}, err
	}
	session, isNew, err := k.sessionFor(ctx, m, text, from)
	if err != nil {
		return Submitted{}, err
	}
	if from.runID == "" {
		k.atTerminal(session.ID, m.Terminal)
	}
	if live := k.runs.inSession(session.ID); live != "" && !isNew {
		if m.InsteadOf != "" || len(m.brings) > 0 { // a queue keeps no labels
			return Submitted{}, errAtWork()
		}
		r, err := k.run(ctx, live)
		if err != nil {
			return Submitted{}, err
		}
		return k.enqueue(ctx, session, r, m, attached)
	}
	role, err := k.roleOf(session.Role)
	if err != nil {
		return Submitted{}, err
	}
	choice, err := k.engine.choose(ctx, session.Provider, session.Model)
	if err != nil {
		return Submitted{}, err
	}
	if err := k.canSee(ctx, choice, attached); err != nil {
		return Submitted{}, err
	}
	if from.runID == "" {
		k.engine.hearAgain(choice.provider)
	}
	session.Provider, session.Model = choice.provider, choice.model
	name := titleOf(cmp.Or(strings.TrimSpace(m.Name), text))
	rules, err := k.rulesIn(ctx, role, cmp.Or(m.InsteadOf, session.HeadID), name)
	if err != nil {
		return Submitted{}, err
	}
	run := Run{
		ID: sys.NewID(), SessionID: session.ID, Name: name, State: store.RunQueued, Profile: rules.Most().Profile, Role: role.Name, Rules: rulesText(rules),
		Folder: session.Folder, Provider: choice.provider, Model: choice.model, Mode: session.Mode, Via: m.Via, Text: m.Text, CreatedAt: k.clock.Now(),
		Attachments: attached, Agents: m.Agents, Labels: labels,
	}
	msg := Message{ID: sys.NewID(), SessionID: session.ID, RunID: run.ID, Role: "user", Content: m.Text, At: run.CreatedAt, Attachments: attached, Pasted: m.Pasted}
	var seen int64
	err = k.store.Write(ctx, func(tx *store.Tx) (err error) {
		if isNew {
			if err := k.store.InsertSession(tx, &session); err != nil {
				return err
			}
		}
		if err := k.store.UseSpace(tx, session.Space, run.CreatedAt); err != nil {
			return err
		}
		if m.Via != viaQueue { // whoever goes on has seen what came of it so far; a queued message was written before
			if seen, err = k.store.SeeSession(tx, session.ID); err != nil {
				return err
			}
		}
		if err := create(tx, &run); err != nil {
			return err
		}
		if limits != nil {
			if err := k.store.SetRunLimits(tx, run.ID, *limits); err != nil {
				return err
			}
		}
		return k.store.AddMessage(tx, msg)
	})
	if err != nil {
		return Submitted{}, err
	}
	k.publish(event.MessageAdded, scope{runID: run.ID, sessionID: session.ID}, msg)
	k.publish(event.RunCreated, scope{runID: run.ID, sessionID: session.ID}, run)
	if _, err := k.announceSession(ctx, session.ID); err != nil {
		return Submitted{}, err
	}
	if seen > 0 {
		k.publishInbox(event.Change{Did: event.Seen, IDs: []string{}, Count: int(seen)})
	}
	k.saidIn(ctx, session, isNew)
	if err := k.launch(run, nil); err != nil {
		return Submitted{}, err
	}
	return Submitted{RunID: run.ID, SessionID: session.ID, Demo: choice.demo}, nil
}

// checkSize refuses a message that is larger than one may be.
func checkSize(text string) error {
	if len(text) <= maxMessage {
		return nil
	}
	return sys.Errorf(sys.CodeTooLarge, "The message has %.1f MB; 1 MB is the most. Nothing was sent, and your text is kept.", float64(len(text))/(1<<20)).
		WithHint("Save it as a file in the folder and name the file in your message.")
}

// sessionFor finds the conversation of a message, or makes up a new one; what
// the message names wins over what the conversation has.
func (k *Kernel) sessionFor(ctx context.Context, m Submit, text string, from scope) (Session, bool, error) {
	cfg := k.config.get()
	s := Session{ID: sys.NewID(), Title: titleOf(text), CreatedAt: k.clock.Now(), UpdatedAt: k.clock.Now(), Folder: from.folder, Mode: cfg.Mode, Provider: cfg.Provider, Model: cfg.Model}
	isNew := m.SessionID == ""
	var err error
	if !isNew {
		if s, err = k.store.Session(ctx, m.SessionID); err != nil {
			return s, false, err
		}
	}
	patch := SessionPatch{}
	switch {
	case isNew:
		err = k.place(ctx, m, text, &s)
	case m.Space != nil && *m.Space != s.Space:
		err = k.moveSessions(ctx, []string{s.ID}, *m.Space)
		s.Space, s.SpaceWhy = *m.Space, space.WhyPerson
	}
	if err != nil {
		return s, false, err
	}
	if m.Folder != "" && m.Folder != s.Folder {
		s.Folder, patch.Folder = m.Folder, &m.Folder
	}
	if s.Folder, err = k.checkFolder(cmp.Or(s.Folder, cfg.workFolder())); err != nil {
		return s, false, err
	}
	if m.Model != "" && (m.Model != s.Model || m.Provider != s.Provider) {
		s.Provider, s.Model = m.Provider, m.Model
		if m.InsteadOf == "" {
			patch.Provider, patch.Model = &m.Provider, &m.Model
		}
	}
	if m.Mode != "" {
		mode, err := security.ParseMode(m.Mode)
		if err != nil {
			return s, false, err
		}
		s.Mode = string(mode)
		patch.Mode = &s.Mode
	}
	if m.Role != "" && m.Role != s.Role {
		if _, err := k.roleOf(m.Role); err != nil {
			return s, false, err
		}
		s.Role, patch.Role = m.Role, &m.Role
	}
	if patch.Folder != nil {
		patch.Folder = &s.Folder
	}
	if s.Archived { // who writes in it wants to see it
		s.Archived = false
		patch.Archived = &s.Archived
	}
	if !isNew && patch != (SessionPatch{}) {
		_, err = k.store.UpdateSession(ctx, s.ID, patch)
	}
	return s, isNew, err
}

// retellSession publishes a conversation whose run changed its state.
func (k *Kernel) retellSession(ctx context.Context, id string) {
	if _, err := k.announceSession(ctx, id); err != nil && sys.CodeOf(err) != sys.CodeNotFound {
		k.log.Warn("Could not tell of a conversation", "session_id", id, "error", err)
	}
}

// launch puts a run to work: a new one, or one with steps of an earlier sitting.
func (k *Kernel) launch(run Run, steps []store.Step) error {
	mode, err := security.ParseMode(run.Mode)
	if err != nil {
		return err
	}
	task, err := k.taskOf(k.background, run)
	if err != nil {
		return err
	}
	var labels Labels
	err = k.store.Read(k.background, func(tx *store.Tx) (err error) {
		labels, err = k.store.LabelsOf(tx, run.ID)
		return err
	})
	if err != nil {
		return err
	}
	session, err := k.store.Session(k.background, run.SessionID)
	if err != nil {
		return err
	}
	k.runs.enter(run, session.Space, mode, task, labels)
	if err := k.register(k.background, run); err != nil {
		k.runs.leave(run.ID)
		return err
	}
	k.neighbours.remember(run.SessionID, steps)
	k.monitor.Wake()
	err = k.runs.Start(agent.Process{ID: run.ID, ParentID: run.ParentID, Priority: run.Priority}, func(ctx context.Context) {
		k.work(ctx, run, steps)
		k.exchange.Remove(run.ID)
		k.runs.leave(run.ID)
		k.sandbox.DropLayer(run.ID)
		k.neighbours.leave(run.ID, run.SessionID, len(k.runs.allIn(run.SessionID)) == 0)
		k.budgets.Forget(run.ID)
		k.publishStatus()
		if ctx.Err() == nil && run.ParentID == "" {
			k.startQueued(run.SessionID)
		}
	})
	if err != nil {
		k.exchange.Remove(run.ID)
		k.runs.leave(run.ID)
	}
	k.publishStatus()
	return err
}

// work is the life of one run.
func (k *Kernel) work(ctx context.Context, run Run, steps []store.Step) {
	keep := context.WithoutCancel(ctx)
	if limit := k.config.get().MaxRunTimeS; limit > 0 {
		began := run.CreatedAt
		if run.StartedAt != nil {
			began = *run.StartedAt
		}
		late := sys.Errorf(sys.CodeTimeout, "It took longer than the %d seconds that a run may take (max_run_time_s), so it was ended. What was done before is kept.", limit)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, began.Add(time.Duration(limit)*time.Second).Sub(k.clock.Now()), late)
		defer cancel()
	}
	if secs, whose := rulesOf(run).Longest(); secs > 0 {
		late := sys.Errorf(sys.CodeTimeout, "It worked longer than the %d seconds that %s allows (max_execution_time_secs), so Oxios stopped it. What was done before is kept.", secs, whose).
			WithHint("Continue, or give it more time.")
		var cancel context.CancelFunc
		ctx, cancel = atWorkFor(ctx, time.Duration(secs)*time.Second, late)
		defer cancel()
	}
	spec, err := k.spec(ctx, run, steps)
	if err == nil {
		run, err = k.runner.Execute(ctx, spec)
	}
	if errors.Is(context.Cause(ctx), agent.ErrShutdown) && !run.State.Ended() {
		return
	}
	if lost, ok := errors.AsType[*agent.Unwritten](err); ok {
		k.keepEnd(keep, run, lost.Message, lost.Err)
		return
	}
	if err != nil {
		problem := sys.AsError(err)
		state, reason := store.RunFailed, problem.Message
		if errors.Is(context.Cause(ctx), agent.ErrStopped) { // before it came to its loop
			state, reason, problem = store.RunStopped, "It was stopped.", nil
		} else {
			k.log.Error("Run failed outside its loop", "run_id", run.ID, "error", err)
		}
		if eerr := k.endRun(keep, run, state, reason, problem); eerr != nil {
			now := k.clock.Now()
			run.State, run.EndedAt, run.EndReason, run.Error = state, &now, reason, problem
			k.keepEnd(keep, run, nil, eerr)
		}
		return
	}
	if err := k.exited(keep, run); err != nil {
		k.keepEnd(keep, run, nil, err)
	}
}

// endRun ends a run from outside its loop.
func (k *Kernel) endRun(ctx context.Context, run Run, state RunState, reason string, problem *sys.Error) error {
	now := k.clock.Now()
	err := k.store.Write(ctx, func(tx *store.Tx) error {
		return k.store.UpdateRun(tx, run.ID, store.RunPatch{State: &state, EndedAt: &now, EndReason: &reason, Error: problem})
	})
	if err != nil {
		return err
	}
	run, err = k.store.Run(ctx, run.ID)
	if err != nil {
		return err
	}
	k.publish(event.RunEnded, scope{runID: run.ID, sessionID: run.SessionID}, run)
	return k.exited(ctx, run)
}

// exited cleans up behind a run, always: open approvals are withdrawn, messages
// that it has not read go back, and the chain gets the exit.
func (k *Kernel) exited(ctx context.Context, run Run) error {
	if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.exit(tx, run) }); err != nil {
		return fmt.Errorf("clean up behind run %s: %w", run.ID, err)
	}
	k.undos.sealed(ctx, run)
	return k.tellExit(ctx, run)
}

func (k *Kernel) exit(tx *store.Tx, run Run) error {
	if err := k.approvals.CancelRun(tx, run.ID); err != nil {
		return err
	}
	if err := k.grants.EndRun(tx, run.ID); err != nil {
		return err
	}
	if err := k.store.EndSeeds(tx, run.ID); err != nil {
		return err
	}
	if err := k.store.Orphan(tx, run.ID); err != nil {
		return err
	}
	if err := k.exchange.Settle(tx, run); err != nil {
		return err
	}
	if run.ParentID != "" {
		unread, err := k.store.TakeQueued(tx, run.SessionID, run.ID, 0)
		if err != nil {
			return err
		}
		if len(unread) > 0 {
			tx.OnCommit(func() {
				k.raise(sys.Errorf(sys.CodeConflict, "The agent %s ended before it read your message: %s", run.Name, sys.Shorten(oneParagraph(unread), 300)))
			})
		}
	}
	meta := map[string]any{"state": string(run.State), "turns": run.Turns, "reason": run.EndReason, "session_id": run.SessionID, "run_id": run.ID, "node": k.node}
	_, err := k.audit.Append(tx, k.newEntry("agent:"+run.ID, security.ActionAgentExit, "run:"+run.ID, meta))
	return err
}

func (k *Kernel) tellExit(ctx context.Context, run Run) error {
	if run.Share != nil {
		k.publish(event.GroupMember, scope{runID: run.ID, sessionID: run.SessionID}, run)
	}
	k.publishInbox(event.ChangeOf(event.Ended, "", run.ID))
	_, err := k.announceSession(ctx, run.SessionID)
	if sys.CodeOf(err) == sys.CodeNotFound {
		err = nil // the person deleted it meanwhile
	}
	return err
}

// viaTerminal is a command that somebody waits for: its runs say at once what
// holds them up, where others wait.
const viaTerminal = "terminal"

// spec gathers what a run needs: its rights, tools, model and history.
func (k *Kernel) spec(ctx context.Context, run Run, steps []store.Step) (agent.Spec, error) {
	h := k.As(k.agentPrincipal(run.ID))
	tools, err := k.opts.Tools(ctx, h, run.Text)
	if err != nil {
		return agent.Spec{}, fmt.Errorf("make the tools of a run: %w", err)
	}
	line := k.engine.lineup(ctx, newChoice(run.Provider, run.Model))
	chosen, err := k.engine.openFirst(ctx, line, stoodIn(steps))
	if err != nil {
		return agent.Spec{}, err
	}
	if chosen.chatOnly {
		tools = agent.Toolset{}
	}
	say := k.say(ctx)
	history, earlier, err := k.history(ctx, run, say, len(tools.Tools) > 0, !chosen.blind)
	if err != nil {
		return agent.Spec{}, err
	}
	if run.Instructions, err = k.told(ctx, run.Folder); err != nil {
		return agent.Spec{}, err
	}
	if run.Instructions != nil {
		err = k.store.Write(ctx, func(tx *store.Tx) error {
			return k.store.UpdateRun(tx, run.ID, store.RunPatch{Instructions: run.Instructions})
		})
		if err != nil {
			return agent.Spec{}, err
		}
	}
	if run.Instructions != nil && run.Instructions.Text != "" { // the model reads a file of the folder with every call
		if err := h.Exec.caller.take(ctx, Labels{workLabel(run.Folder)}); err != nil {
			return agent.Spec{}, err
		}
	}
	lineage, err := k.lineage(ctx, run)
	if err != nil {
		return agent.Spec{}, err
	}
	memories, err := k.recall(ctx, h.Exec.caller, run, len(steps) > 0)
	if err != nil {
		return agent.Spec{}, err
	}
	belongs, err := k.spaceByID(ctx, k.runs.of(run.ID).scope.space)
	if err != nil {
		return agent.Spec{}, err
	}
	cfg := k.config.get()
	return agent.Spec{
		Run: run, Model: &guardedModel{
			caller: h.Exec.caller, chosen: chosen, line: line, runs: lineage, waited: run.State == store.RunWaiting,
			patient: run.Via != viaTerminal, parks: run.Via != viaTerminal,
		}, Toolset: tools, History: history, Earlier: earlier, Steps: steps, Say: say,
		System: agent.Prompt(agent.PromptInput{
			Now: k.clock.Now().In(time.Local), OS: runtime.GOOS, Folder: run.Folder, Mode: run.Mode, Toolset: tools, Instructions: run.Instructions, Agents: run.Agents, Memories: memories,
			SpaceName: belongs.Name, SpaceInstructions: belongs.Instructions,
		}),
		ContextLength: chosen.contextLength, Window: chosen.window, MaxTurns: cfg.MaxToolCalls, MaxConcurrent: cfg.MaxToolConcurrency, Demo: chosen.demo,
		Started: func() { k.retellSession(k.background, run.SessionID) },
		Gate:    k.runs.pass(run.ID),
		Task:    &runTask{k: k, h: h, run: run, task: k.runs.task(run.ID)},
		Queued: func(tx *store.Tx) ([]store.Queued, error) {
			return k.store.TakeQueued(tx, run.SessionID, queueOf(run), 0)
		},
		Came: func(attached []Attachment) store.Labels {
			labels, err := k.attachedLabels(ctx, attached)
			if err != nil { // who does not know takes it for a stranger's
				k.log.WarnContext(ctx, "Could not tell where an attachment came from", "error", err)
				labels = strangers(attached)
			}
			k.runs.label(run.ID, labels)
			return labels
		},
		Clean: security.PlainText,
		Notes: func() []agent.Note { return append(k.neighbours.take(run.ID), k.lost.take(run.ID)...) },
		Mailbox: mailbox{k: k, x: k.exchange, run: run.ID, reader: a2a.Reader{
			MayReply: h.May("a2a.reply") && slices.ContainsFunc(tools.Tools, func(t agent.Tool) bool { return t.Name() == "a2a" }), WorksFor: lineage[1:],
		}},
		Again: func(ctx context.Context, s store.Step) bool { return k.again(ctx, s) },
		Pin:   func(ctx context.Context) (agent.Pinned, error) { return k.pin(ctx, run) },
	}, nil
}

func (k *Kernel) loadPaused(ctx context.Context) error {
	return k.store.Write(ctx, func(tx *store.Tx) error { // no reader, see [Kernel.nodeID]
		v, _, err := k.store.GetIn(tx, "paused")
		if err == nil {
			k.runs.gate.set(v == "true")
		}
		return err
	})
}

// Adopt returns the Handle of an agent that somebody else runs: its run is in
// the journal and live, and no model stands behind it. The tests of tools and
// of the guard are such agents.
func (k *Kernel) Adopt(folder, mode string) (*Handle, error) {
	m, err := security.ParseMode(mode)
	if err != nil {
		return nil, err
	}
	ctx := k.background
	role, err := k.roleOf("")
	if err != nil {
		return nil, err
	}
	rules := k.config.get().rulesFor(role, nil, "adopted")
	session := Session{ID: sys.NewID(), Title: "adopted", Folder: folder, Mode: string(m)}
	run := Run{ID: sys.NewID(), SessionID: session.ID, Name: "adopted", State: store.RunRunning, Profile: rules.Most().Profile, Role: role.Name, Rules: rulesText(rules), Folder: folder, Mode: string(m)}
	err = k.store.Write(ctx, func(tx *store.Tx) error {
		if err := k.store.InsertSession(tx, &session); err != nil {
			return err
		}
		return k.store.CreateRun(tx, &run)
	})
	if err != nil {
		return nil, err
	}
	k.runs.enter(run, "", m, orchestrator.New(k.clock, nil), nil)
	if err := k.register(ctx, run); err != nil {
		return nil, err
	}
	return k.As(k.agentPrincipal(run.ID)), nil
}
