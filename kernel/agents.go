package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/schedule"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// maxMessage is how many bytes one message may have: more than any model's
// window, and little enough to keep a conversation quick.
const maxMessage = 1 << 20

// Submit is a message for an agent.
type Submit struct {
	SessionID string `json:"session_id,omitempty"` // "" begins a conversation
	InsteadOf string `json:"instead_of,omitempty"` // a run: the message stands beside it, as another branch; with no text it is said again
	Text      string `json:"text"`
	Folder    string `json:"folder,omitempty"` // "" keeps the conversation's, or the configured one
	Provider  string `json:"provider,omitempty"`
	Model     string `json:"model,omitempty"` // "" keeps the conversation's, or the default; with InsteadOf it is for this answer alone
	Mode      string `json:"mode,omitempty"`  // ask, guarded, autonomous (or auto)
	Role      string `json:"role,omitempty"`  // what the agent may do at most; "" keeps the conversation's, or the configured one
	Name      string `json:"name,omitempty"`  // of the agent; default the beginning of the text
	Via       string `json:"via,omitempty"`   // the face; default that of the caller

	// Attachments are ids of [StateAPI.Attach]. A message that stands instead of
	// another one has the attachments of that one where this is null.
	Attachments []string `json:"attachments,omitempty"`

	// Pasted are the parts of Text that the person did not type: pasted into it, or
	// read from a file. They are the person's word, but a machine is named by them
	// only where one is an address alone.
	Pasted []Span `json:"pasted,omitempty"`

	// Terminal is the PATH of the terminal that the message was typed in, and what
	// belongs to it, as [TerminalEnv] returns it: commands find its programs too.
	Terminal []string `json:"terminal,omitempty"`

	// Space is where the conversation belongs, by the id of the space; "" is the
	// default one. Null finds it out for a new conversation, and keeps that of
	// another. What a new conversation's message leaves out (folder, model, mode,
	// role) is as its space has it.
	Space *string `json:"space,omitempty"`

	// MaxUSD is the most money that the run may spend, with all that it starts;
	// null keeps what the configuration says. A message that joins a run keeps
	// that run's limit.
	MaxUSD *float64 `json:"max_usd,omitempty"`

	// Agents is how many agents may work on the message at once, the one that
	// answers and all that it forks included: 1 forks none. 0 leaves it to the
	// configuration (max_children). A message that joins a run keeps that of
	// the run.
	Agents int `json:"agents,omitempty"`

	brings Labels // where the words come from, when they are not the person's
}

// Submitted says what became of a message.
type Submitted struct {
	RunID     string `json:"run_id"` // the run that answers, or, when queued, the one it waits for
	SessionID string `json:"session_id"`
	Queued    bool   `json:"queued"`
	Answered  bool   `json:"answered,omitempty"` // it was the answer to what the run had asked
	QueueID   string `json:"queue_id,omitempty"`
	Demo      bool   `json:"demo"`
}

// ProcessQuery selects runs. The zero value selects those that have not ended.
type ProcessQuery struct {
	All       bool   `json:"all,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	MadeBy    string `json:"made_by,omitempty"` // the step that forked them
	Limit     int    `json:"limit,omitempty"`   // 50 by default, at most 500; those that have not ended are listed all

	// With All: only those that have not ended before, and only those below a
	// pid. The pid that a page ends with gives the next page.
	Since  *time.Time `json:"since,omitempty"`
	Before int64      `json:"before,omitempty"`
}

// Process is a line of the process table.
type Process struct {
	ID         string     `json:"id"`
	PID        int64      `json:"pid"` // a number of this home, for people
	Name       string     `json:"name"`
	ParentID   string     `json:"parent_id,omitempty"`
	SessionID  string     `json:"session_id"`
	State      RunState   `json:"state"`
	Tool       string     `json:"tool,omitempty"`  // what it is doing: the open step's tool, or its model
	Doing      string     `json:"doing,omitempty"` // that step in one line
	DoingKO    string     `json:"doing_ko,omitempty"`
	Depth      int        `json:"depth"`
	Priority   string     `json:"priority"`
	Profile    string     `json:"profile"` // its rights
	Role       string     `json:"role"`    // what it may do at most
	Turns      int        `json:"turns"`
	Cost       Cost       `json:"cost"`
	Folder     string     `json:"folder"`
	Model      string     `json:"model"`
	Provider   string     `json:"provider"`
	AgeMS      int64      `json:"age_ms"`
	CreatedAt  time.Time  `json:"created_at"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
	EndReason  string     `json:"end_reason,omitempty"`
	Error      *sys.Error `json:"error,omitempty"`       // why it failed
	NotMet     bool       `json:"not_met,omitempty"`     // it is done, but its task did not pass its evaluation
	WaitingFor string     `json:"waiting_for,omitempty"` // the approval's title, or the limit that is reached
	WaitingKO  string     `json:"waiting_for_ko,omitempty"`
	Orphan     bool       `json:"orphan,omitempty"` // its parent ended before it did
	Paused     bool       `json:"paused,omitempty"` // it begins no new step, whatever its state; it was paused itself, or all are
}

// RunResult is what came of a run.
type RunResult struct {
	Response     string   `json:"response"`
	SessionID    string   `json:"session_id"`
	RunID        string   `json:"run_id"`
	AgentID      string   `json:"agent_id"` // the same as run_id: an agent is its run
	Name         string   `json:"name"`
	State        RunState `json:"state"`
	Status       string   `json:"status,omitempty"`                  // how the answer came about: "" as it should, forced by the limit of turns, cut
	PhaseReached string   `json:"phase_reached"`                     // chat, interview, seed, execute, evaluate or evolve
	SeedID       OrNull   `json:"seed_id" ts_type:"string | null"`   // of the task that it began; "" for a run that only talked
	SpaceID      OrNull   `json:"space_id" ts_type:"string | null"`  // "" is the default one
	SpaceTag     OrNull   `json:"space_tag" ts_type:"string | null"` // "[emoji name]"; "" for the default one

	EvaluationPassed *bool           `json:"evaluation_passed"` // null when nothing was evaluated
	CriteriaMissed   []string        `json:"criteria_missed"`   // of its task, as the last evaluation found; none when it passed, or was not evaluated
	Output           string          `json:"output"`
	Error            *sys.Error      `json:"error,omitempty"`
	Cost             Cost            `json:"cost"`
	Changes          []ChangeSummary `json:"changes"`
	Totals           []ChangeTotal   `json:"totals,omitempty"`            // where Changes does not list all
	Waiting          []string        `json:"waiting_approvals,omitempty"` // ids of approvals that it waits for
	Demo             bool            `json:"demo"`
}

// OrNull is a text that is null as JSON when there is none.
type OrNull string

// MarshalJSON writes null for "".
func (s OrNull) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

// Submit hands a message to an agent. In a conversation whose agent is still
// working the message is queued: it joins the run before its next model call.
func (a *AgentsAPI) Submit(ctx context.Context, m Submit) (Submitted, error) {
	meta := map[string]any{"session_id": m.SessionID, "bytes": len(m.Text), "attachments": len(m.Attachments)}
	if m.InsteadOf != "" {
		meta["instead_of"] = m.InsteadOf
	}
	return guard(ctx, a.caller, action{call: "agents.submit", resource: "session:" + cmp.Or(m.SessionID, "new"), paths: namedPaths(m.Folder), meta: meta}, func(ctx context.Context) (Submitted, error) {
		if m.Via == "" || a.who.Kind == sys.KindClient {
			m.Via = a.who.Via
		}
		if a.who.Kind == sys.KindClient {
			m, err := a.fromClient(ctx, m)
			if err != nil {
				return Submitted{}, err
			}
			return a.k.submit(ctx, m, a.scope)
		}
		if out, ok, err := a.answerWith(ctx, m); ok || err != nil {
			return out, err
		}
		if a.who.Kind == sys.KindPerson {
			if err := a.fetchAttached(ctx, &m); err != nil {
				return Submitted{}, err
			}
		}
		if err := a.k.fits(ctx, m.Attachments); err != nil {
			return Submitted{}, err
		}
		return a.k.submit(ctx, m, a.scope)
	})
}

// Continue goes on where a run was stopped, cut, interrupted or ended by its
// limit, as a new run behind it. What followed there already stays, as another
// branch.
func (a *AgentsAPI) Continue(ctx context.Context, runID string) (Submitted, error) {
	return guard(ctx, a.caller, action{call: "agents.continue", resource: "run:" + runID}, func(ctx context.Context) (Submitted, error) {
		r, err := a.k.run(ctx, runID)
		if err != nil {
			return Submitted{}, err
		}
		if !r.State.Ended() {
			return Submitted{}, sys.Errorf(sys.CodeConflict, "That run has not ended, so there is nothing to continue.")
		}
		if r.ParentID != "" {
			return Submitted{}, sys.Errorf(sys.CodeInvalid, "Another agent forked that one, so it is not continued by itself. Nothing was sent.").
				WithHint("Go on with the agent that forked it, and say what it should do again.")
		}
		s, err := a.k.store.Session(ctx, r.SessionID)
		if err == nil && a.k.runs.inSession(s.ID) == "" {
			err = a.k.setHead(ctx, s, r.ID)
		}
		if err != nil {
			return Submitted{}, err
		}
		return a.k.submit(ctx, Submit{SessionID: r.SessionID, Text: a.k.continueText(), Via: a.who.Via, Agents: min(r.Agents, a.k.mostAgents())}, a.scope)
	})
}

func (k *Kernel) continueText() string {
	if k.korean() {
		return "멈춘 곳에서 이어서 해 주세요."
	}
	return "Go on where you stopped."
}

// List is ps: the runs that have not ended, or all of them, the newest first.
func (a *AgentsAPI) List(ctx context.Context, q ProcessQuery) ([]Process, error) {
	return guard(ctx, a.caller, action{call: "agents.list", resource: "runs"}, func(ctx context.Context) ([]Process, error) {
		query := store.RunQuery{SessionID: q.SessionID, MadeBy: q.MadeBy, Open: !q.All, Limit: q.Limit, Before: q.Before}
		if q.Since != nil {
			query.Since = *q.Since
		}
		list, err := a.runsFor(ctx, query)
		if err != nil {
			return nil, err
		}
		if a.who.Kind == sys.KindAgent { // it sees itself and what it has forked
			list = family(list, a.who.ID)
		}
		out := []Process{}
		for _, r := range list {
			if r = a.k.unwritten.over(r); r.State.Ended() && !q.All {
				continue
			}
			p, err := a.k.process(ctx, r)
			if err != nil {
				return nil, err
			}
			out = append(out, forReader(a.caller, p))
		}
		return out, nil
	})
}

func (k *Kernel) process(ctx context.Context, r Run) (Process, error) {
	p := Process{
		ID: r.ID, PID: r.PID, Name: r.Name, ParentID: r.ParentID, SessionID: r.SessionID, State: r.State, Turns: r.Turns,
		Cost: r.Cost, Folder: shortenHome(r.Folder), Model: r.Model, Provider: r.Provider, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Depth: r.Depth, Priority: schedule.Priority(r.Priority).String(), Profile: r.Profile, Role: cmp.Or(r.Role, r.Profile), EndReason: r.EndReason, Error: r.Error, NotMet: r.NotMet, Orphan: r.Orphan, Paused: r.Paused,
	}
	if k.runs.gate.is() && !r.State.Ended() { // with all others
		p.Paused = true
		if r.State == store.RunQueued || r.State == store.RunRunning {
			p.State = store.RunPaused
		}
	}
	end := k.clock.Now()
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	p.AgeMS = end.Sub(r.CreatedAt).Milliseconds()
	if r.State.Ended() {
		return p, nil
	}
	steps, err := k.store.Steps(ctx, r.ID)
	if err != nil {
		return p, err
	}
	for _, s := range slices.Backward(steps) {
		if s.State != store.StepClosed {
			v := agent.View(s)
			p.Tool, p.Doing, p.DoingKO = s.Name, v.Title, v.TitleKO
			if n := len(k.runs.Below(r.ID)); s.Name == "begin_task" && s.State == store.StepStarted && n > 0 {
				said := sys.Say("%d agents work on the parts", n)
				p.Doing, p.DoingKO = said.EN, said.KO
			}
			break
		}
	}
	waiting, err := k.approvals.List(ctx, security.ApprovalQuery{RunID: r.ID, State: security.ApprovalPending})
	if len(waiting) > 0 {
		p.WaitingFor, p.WaitingKO = waiting[0].Request.Title, waiting[0].Request.TitleKO
	} else if r, ok := k.reached.of(r.ID); ok {
		p.WaitingFor, p.WaitingKO = r.Message, r.MessageKO
	}
	return p, err
}

// Run returns one run with its steps and what it changed.
func (a *AgentsAPI) Run(ctx context.Context, id string) (RunView, error) {
	act := action{call: "agents.run", resource: "run:" + id}
	told := ""
	act.brought = a.wordsOf(func() []string { return []string{told} })
	return guard(ctx, a.caller, act, func(ctx context.Context) (RunView, error) {
		id, err := a.reach(ctx, id)
		told = id
		if err == nil {
			err = a.mayReach(ctx, id, false)
		}
		if err != nil {
			return RunView{}, err
		}
		r, err := a.k.run(ctx, id)
		if err != nil {
			return RunView{}, err
		}
		steps, err := a.k.store.Steps(ctx, r.ID)
		if err != nil {
			return RunView{}, err
		}
		v, err := a.k.runView(ctx, r, steps, true)
		if err != nil {
			return v, err
		}
		uses, err := a.k.memories.CountUses(ctx, []string{r.ID})
		v.Memories = uses[r.ID]
		if a.foreign() {
			v.Run.Folder = shortenHome(v.Run.Folder)
		}
		return forReader(a.caller, v), err
	})
}

// Wait blocks until the run has ended and returns what came of it. It returns
// at once for a run that nobody works on; one that waits for a person then
// names its approvals.
func (a *AgentsAPI) Wait(ctx context.Context, id string) (RunResult, error) {
	act := action{call: "agents.wait", resource: "run:" + id}
	told := ""
	act.brought = a.wordsOf(func() []string { return []string{told} })
	return guard(ctx, a.caller, act, func(ctx context.Context) (RunResult, error) {
		id, err := a.reach(ctx, id)
		told = id
		if err == nil {
			err = a.mayReach(ctx, id, false)
		}
		if err != nil {
			return RunResult{}, err
		}
		done, err := a.k.waitsFor(a.scope.runID, id)
		if err != nil {
			return RunResult{}, err
		}
		defer done()
		a.k.runs.joins(a.scope.runID, +1)
		a.k.publishStatus()
		back := sys.Park(ctx)
		if a.who.Kind == sys.KindClient {
			err = a.k.endsOrWaits(ctx, id)
		} else {
			err = a.k.runs.Wait(ctx, id)
		}
		back()
		a.k.runs.joins(a.scope.runID, -1)
		a.k.publishStatus()
		if err != nil {
			return RunResult{}, err
		}
		if step := store.StepFrom(ctx); step != nil { // what it said at its end is in the result already
			step.OnClose(func(tx *store.Tx) error { return a.k.exchange.ReadEnd(tx, id, a.scope.runID, step.Step().ID) })
		}
		res, err := a.k.result(ctx, id)
		return forReader(a.caller, res), err
	})
}

func (k *Kernel) result(ctx context.Context, id string) (RunResult, error) {
	r, err := k.run(ctx, id)
	if err != nil {
		return RunResult{}, err
	}
	res := RunResult{SessionID: r.SessionID, RunID: r.ID, AgentID: r.ID, Name: r.Name, State: r.State, PhaseReached: "chat", Error: r.Error, Cost: r.Cost, CriteriaMissed: []string{}, Changes: []ChangeSummary{}}
	in, tag, err := k.spaceOfSession(ctx, r.SessionID)
	if err != nil {
		return res, err
	}
	res.SpaceID, res.SpaceTag = OrNull(in), OrNull(tag)
	msgs, err := k.store.Messages(ctx, r.SessionID)
	if err != nil {
		return res, err
	}
	for _, m := range k.unwritten.messages(r.SessionID, msgs) {
		if m.RunID == id && m.Role == "assistant" {
			res.Response, res.Output, res.Status, res.Demo = m.Content, m.Content, m.Status, m.Demo
		}
	}
	changes, err := k.changes(ctx, id)
	if err != nil {
		return res, err
	}
	for _, c := range changes {
		res.Changes = append(res.Changes, c.ChangeSummary)
	}
	if res.Totals, err = k.totals(ctx, id, len(changes)); err != nil {
		return res, err
	}
	waiting, err := k.approvals.List(ctx, security.ApprovalQuery{RunID: id, State: security.ApprovalPending})
	if err != nil {
		return res, err
	}
	for _, w := range waiting {
		res.Waiting = append(res.Waiting, w.ID)
	}
	return res, k.tellTask(ctx, &res)
}

// Kill stops a run and all that it has forked: their model streams are closed
// and their commands are ended. It returns when the run has ended, within 5
// seconds. An agent stops those alone that it has forked.
func (a *AgentsAPI) Kill(ctx context.Context, id string) (Killed, error) {
	return guard(ctx, a.caller, action{call: "agents.kill", resource: "run:" + id, stops: true}, func(ctx context.Context) (Killed, error) {
		id, err := a.reach(ctx, id)
		if err == nil {
			err = a.mayReach(ctx, id, true)
		}
		if err != nil {
			return Killed{}, err
		}
		told := a.k.runs.Kill(id, agent.ErrStopped)
		if len(told) == 0 {
			return Killed{Runs: 1}, a.k.endIdle(ctx, id)
		}
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		for _, one := range told {
			if err := a.k.runs.Wait(within, one); err != nil {
				return Killed{}, sys.Errorf(sys.CodeTimeout, "The run was told to stop, but has not ended within 5 seconds.").WithHint("Look at `oxios ps`.")
			}
		}
		return Killed{Runs: len(told)}, nil
	})
}

// runID accepts a run's id or its pid.
func (k *Kernel) runID(ctx context.Context, id string) (string, error) {
	if pid, err := strconv.ParseInt(id, 10, 64); err == nil && pid > 0 {
		list, err := k.store.Runs(ctx, store.RunQuery{PID: pid})
		if err != nil {
			return "", err
		}
		if len(list) > 0 {
			return list[0].ID, nil
		}
	} else if _, err := k.store.Run(ctx, id); err == nil {
		return id, nil
	}
	return "", sys.Errorf(sys.CodeNotFound, "There is no run %q.", id).WithHint("`oxios ps` lists them.")
}

// endIdle stops a run that nobody works on, as one that waits in the journal.
func (k *Kernel) endIdle(ctx context.Context, id string) error {
	r, err := k.run(ctx, id)
	if err != nil {
		return err
	}
	if r.State.Ended() {
		return sys.Errorf(sys.CodeConflict, "That run has ended already (%s).", r.State)
	}
	return k.endRun(ctx, r, store.RunStopped, "It was stopped.", nil)
}

// Pause stops all agents from beginning a new step, or lets them go on. Steps
// that are open finish.
func (a *AgentsAPI) Pause(ctx context.Context, on bool) (Status, error) {
	return guard(ctx, a.caller, action{call: "agents.pause", resource: "runs", stops: on, meta: map[string]any{"on": on}}, func(ctx context.Context) (Status, error) {
		err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.Put(tx, "paused", fmt.Sprint(on)) })
		if err != nil {
			return Status{}, err
		}
		a.k.runs.gate.set(on)
		a.k.publishStatus()
		return a.k.status(ctx)
	})
}

// Queued lists the messages of a conversation that wait for its agent.
func (a *AgentsAPI) Queued(ctx context.Context, sessionID string) ([]Queued, error) {
	return guard(ctx, a.caller, action{call: "agents.queued", resource: "session:" + sessionID}, func(ctx context.Context) ([]Queued, error) {
		return a.k.store.Queued(ctx, sessionID, "")
	})
}

// Unqueue takes a queued message back, if its agent has not read it yet.
func (a *AgentsAPI) Unqueue(ctx context.Context, id string) error {
	_, err := guard(ctx, a.caller, action{call: "agents.unqueue", resource: "message:" + id}, func(ctx context.Context) (struct{}, error) {
		var session string
		err := a.k.store.Write(ctx, func(tx *store.Tx) error {
			q, err := a.k.store.RemoveQueued(tx, id)
			session = q.SessionID
			return err
		})
		if err != nil {
			return struct{}{}, err
		}
		a.k.publishQueue(ctx, session)
		return struct{}{}, nil
	})
	return err
}

func (k *Kernel) publishQueue(ctx context.Context, session string) {
	if q, err := k.store.Queued(ctx, session, ""); err == nil {
		k.publish(event.QueueChanged, scope{sessionID: session}, q)
	}
}
