package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// How often a program is told to ask.
const (
	pollWork = time.Second
	pollWait = 3 * time.Second // for the person
)

// runTasks are the runs of a program as tasks. All of their state is the kernel's, so that an id means the same after Oxios
// came back, in whatever way it went.
type runTasks struct{ f *face }

// idOf is the id of a run as a task of this program: no other program has one of it.
func (r runTasks) idOf(run string) string {
	sum := sha256.Sum256([]byte(r.f.self.ID + "\x00" + run))
	return run + "." + hex.EncodeToString(sum[:8])
}

// runOf is the run of a task.
func (r runTasks) runOf(id string) (string, error) {
	run, _, _ := strings.Cut(id, ".")
	if id == "" || r.idOf(run) != id {
		return "", noTask(id)
	}
	return run, nil
}

// begun is the task of a run that has not ended.
func (r runTasks) begun(run string, at time.Time) task {
	return task{ID: r.idOf(run), Status: taskWorking, Created: at.UTC(), Updated: at.UTC(), Poll: pollWork.Milliseconds()}
}

func (r runTasks) get(ctx context.Context, id string) (task, error) {
	run, err := r.runOf(id)
	if err != nil {
		return task{}, err
	}
	open, err := r.f.h.Agents.List(ctx, kernel.ProcessQuery{})
	if err != nil {
		return task{}, r.hidden(id, err)
	}
	for _, p := range open {
		if p.ID != run {
			continue
		}
		t := r.begun(run, p.CreatedAt)
		if p.StartedAt != nil {
			t.Updated = p.StartedAt.UTC()
		}
		t.Message = plain(p.Doing)
		if waiting := waitFor(open, run); len(waiting) > 0 {
			return t, r.waits(ctx, &t, waiting)
		}
		return t, nil
	}
	v, err := r.f.h.Agents.Run(ctx, run)
	if err != nil {
		return task{}, r.hidden(id, err)
	}
	t := r.begun(run, v.Run.CreatedAt)
	if !v.Run.State.Ended() { // it began between the two looks
		return t, nil
	}
	return t, r.ended(ctx, &t, v.Run)
}

// hidden makes of a run that the program may not see one that there is not.
func (r runTasks) hidden(id string, err error) error {
	if c := sys.CodeOf(err); c == sys.CodeForbidden || c == sys.CodeNotFound {
		return noTask(id)
	}
	return err
}

// ended fills in what came of a run.
func (r runTasks) ended(ctx context.Context, t *task, run kernel.Run) error {
	if run.EndedAt != nil {
		t.Updated = run.EndedAt.UTC()
	}
	t.Poll = 0
	if run.State == "stopped" {
		t.Status, t.Message = taskCancelled, plain(run.EndReason)
		return nil
	}
	v, err := r.f.h.Agents.Wait(ctx, run.ID)
	if err != nil {
		return r.hidden(t.ID, err)
	}
	t.Status, t.Result = taskCompleted, result(v)
	t.Result.IsError = t.Result.IsError || run.State != "done"
	return nil
}

// waitFor are the runs that wait for the person, of a run and those that it has forked.
func waitFor(open []kernel.Process, run string) (waiting []kernel.Process) {
	parent := map[string]string{}
	for _, p := range open {
		parent[p.ID] = p.ParentID
	}
	for _, p := range open {
		for at := p.ID; at != ""; at = parent[at] {
			if at == run && p.State == "waiting" {
				waiting = append(waiting, p)
			}
		}
	}
	return waiting
}

// waits fills in what a run waits for: as questions where this program may answer them, else as a word that it waits in Oxios.
func (r runTasks) waits(ctx context.Context, t *task, waiting []kernel.Process) error {
	t.Status, t.Poll, t.Asks = taskWaiting, pollWait.Milliseconds(), sdk.InputRequestMap{}
	t.Message = "It waits for the person in Oxios: " + plain(waiting[0].WaitingFor)
	if !r.f.answers || !r.f.has("security.approve") {
		return nil
	}
	for _, p := range waiting {
		list, err := r.f.h.Security.Approvals(ctx, kernel.ApprovalQuery{State: "pending", RunID: p.ID})
		if err != nil {
			return err
		}
		for _, ap := range list {
			if len(t.Asks) < maxAsked {
				t.Asks[ap.ID+"."+ap.Request.Hash] = question(ap)
			}
		}
	}
	return nil
}

func (r runTasks) update(ctx context.Context, id string, answers map[string]json.RawMessage) error {
	if _, err := r.get(ctx, id); err != nil {
		return err
	}
	for key, raw := range answers {
		ap, hash, _ := strings.Cut(key, ".") // the request as it was shown
		var said sdk.ElicitResult
		if hash == "" || !r.f.answers || json.Unmarshal(raw, &said) != nil {
			continue // what nobody asked is answered by nobody
		}
		if _, err := r.f.decision(ctx, ap, hash, &said); err != nil {
			r.f.log.DebugContext(ctx, "An answer to a task was not taken", "approval", ap, "error", err)
		}
	}
	return nil
}

func (r runTasks) cancel(ctx context.Context, id string) error {
	run, err := r.runOf(id)
	if err != nil {
		return err
	}
	_, err = r.f.h.Agents.Kill(ctx, run)
	switch sys.CodeOf(err) {
	case sys.CodeConflict:
		return nil // it has ended
	case sys.CodeNotFound:
		return noTask(id)
	}
	return err
}

// follow answers a call about a run with its task, as long as it is at work and the program takes tasks.
func (f *face) follow(ctx context.Context, run string) (bool, error) {
	if !mayBeLater(ctx) {
		return false, nil
	}
	v, err := f.h.Agents.Run(ctx, run)
	if err != nil || v.Run.State.Ended() {
		return false, err
	}
	later(ctx, runTasks{f}.begun(v.Run.ID, v.Run.CreatedAt))
	return true, nil
}
