package store

import (
	"context"
	"fmt"
	"slices"

	"oxios/kernel/sys"
)

// Tree is a conversation with all its branches. Each run follows the one that
// its AfterID names; runs that follow the same one are siblings, and a branch
// is the way from a first run to one that nothing follows. Runs with a parent
// are no part of it.
type Tree struct {
	Runs []Run // oldest first

	at      map[string]int      // index in Runs by id
	follows map[string][]string // the runs that follow one, "" for the first ones, oldest first
}

// Tree reads the runs of a session. One that does not exist has none.
func (s *Store) Tree(ctx context.Context, sessionID string) (Tree, error) {
	var t Tree
	err := s.Read(ctx, func(tx *Tx) (err error) {
		t, err = readTree(tx, sessionID)
		return err
	})
	return t, err
}

func readTree(tx *Tx, sessionID string) (Tree, error) {
	runs, err := queryRuns(tx, "SELECT "+runColumns+" FROM runs WHERE session_id = ? AND parent_id IS NULL ORDER BY pid", sessionID)
	t := Tree{Runs: runs, at: make(map[string]int, len(runs)), follows: map[string][]string{}}
	for i, r := range runs {
		t.at[r.ID] = i
		t.follows[r.AfterID] = append(t.follows[r.AfterID], r.ID)
	}
	return t, err
}

// Run returns one of the runs.
func (t Tree) Run(id string) (Run, bool) {
	i, ok := t.at[id]
	if !ok {
		return Run{}, false
	}
	return t.Runs[i], true
}

// Branch returns the runs from the first one to id. It is empty when there is
// no such run.
func (t Tree) Branch(id string) []Run {
	var back []Run
	for {
		r, ok := t.Run(id)
		if !ok {
			break
		}
		back = append(back, r)
		id = r.AfterID
	}
	slices.Reverse(back)
	return back
}

// Siblings returns the runs that stand at the same place as r, r included,
// the oldest first.
func (t Tree) Siblings(r Run) []string { return t.follows[r.AfterID] }

// End returns the newest run that ends a branch on which id stands: id itself
// when nothing follows it.
func (t Tree) End(id string) string {
	end := id
	for below := []string{id}; len(below) > 0; {
		next := below[len(below)-1]
		below = append(below[:len(below)-1], t.follows[next]...)
		if len(t.follows[next]) == 0 && t.at[next] > t.at[end] {
			end = next
		}
	}
	return end
}

// Branches counts the branches.
func (t Tree) Branches() int {
	n := 0
	for _, r := range t.Runs {
		if len(t.follows[r.ID]) == 0 {
			n++
		}
	}
	return n
}

// SetHead makes a session show the branch that ends at a run. It fails with
// not_found when there is no such session.
func (s *Store) SetHead(tx *Tx, sessionID, runID string) error {
	res, err := tx.Exec("UPDATE sessions SET head_id = ? WHERE id = ?", runID, sessionID)
	return must(res, err, func() error { return errNotFound("session", sessionID) })
}

// CopyBranch saves session as a new one whose OriginID is the conversation of
// the run, and copies into it the branch from the first run to that one, with
// steps and messages, under new ids. A copy shows what happened and never runs:
// it costs nothing, changed nothing and asks for nothing. It fails with
// not_found, and with busy while a run of the branch is open.
func (s *Store) CopyBranch(tx *Tx, runID string, session *Session) error {
	last, err := readRun(tx, runID)
	if err != nil {
		return err
	}
	tree, err := readTree(tx, last.SessionID)
	if err != nil {
		return err
	}
	branch := tree.Branch(runID)
	if slices.ContainsFunc(branch, func(r Run) bool { return !r.State.Ended() }) {
		return sys.Errorf(sys.CodeBusy, "An agent is still at work there, so nothing was branched.").WithHint("Wait until it is done, or stop it first.")
	}
	session.OriginID = last.SessionID
	if err := s.InsertSession(tx, session); err != nil {
		return err
	}
	for _, r := range branch {
		r.ID, r.SessionID, r.AfterID, r.CopyOf, r.Cost = sys.NewID(), session.ID, session.HeadID, r.ID, Cost{}
		if err := s.insertRun(tx, &r); err != nil {
			return err
		}
		session.HeadID = r.ID
	}
	if err := s.SetHead(tx, session.ID, session.HeadID); err != nil {
		return err
	}
	for _, query := range []string{
		"UPDATE runs SET (seq, error_json, freed_at) = (SELECT o.seq, o.error_json, o.freed_at FROM runs o WHERE o.id = runs.copy_of) WHERE session_id = ?1",
		`INSERT INTO steps (id, run_id, seq, kind, name, call_id, args_json, state, result_json, outcome, proposed_at, started_at, closed_at, audit_seq, labels_json)
			SELECT c.id || '-' || s.seq, c.id, s.seq, s.kind, s.name, s.call_id, s.args_json, s.state, s.result_json, s.outcome, s.proposed_at,
				s.started_at, s.closed_at, s.audit_seq, s.labels_json FROM runs c JOIN steps s ON s.run_id = c.copy_of WHERE c.session_id = ?1`,
		// A table of its own for the copies, which SQLite then looks up by an index of its own.
		`WITH c AS MATERIALIZED (SELECT id, session_id, copy_of FROM runs WHERE session_id = ?1)
			INSERT INTO messages (id, session_id, run_id, role, content, reasoning, timestamp, cost_json, tool_calls_json, provider, model, status, demo, attachments_json, pasted_json)
			SELECT c.id || '-' || m.n, c.session_id, c.id, m.role, m.content, m.reasoning, m.timestamp, m.cost_json, m.tool_calls_json, m.provider,
				m.model, m.status, m.demo, m.attachments_json, m.pasted_json FROM messages m JOIN c ON c.copy_of = m.run_id WHERE m.session_id = ?2 ORDER BY m.n`,
	} {
		if _, err := tx.Exec(query, session.ID, session.OriginID); err != nil {
			return fmt.Errorf("copy the branch: %w", err)
		}
	}
	return nil
}
