package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// RunState says where a run is in its life.
type RunState string

// The states of a run. The last four are ends.
const (
	RunQueued      RunState = "queued"
	RunRunning     RunState = "running"
	RunWaiting     RunState = "waiting" // for a person
	RunPaused      RunState = "paused"
	RunDone        RunState = "done"
	RunFailed      RunState = "failed"
	RunStopped     RunState = "stopped"     // by a person
	RunInterrupted RunState = "interrupted" // its process ended before it did
)

// Ended reports whether nothing more will happen in a run of this state.
func (s RunState) Ended() bool {
	switch s {
	case RunDone, RunFailed, RunStopped, RunInterrupted:
		return true
	}
	return false
}

// openRuns is the condition of an open run, word for word that of the index runs_open.
const openRuns = "state IN ('queued', 'running', 'waiting', 'paused')"

// shown is the condition of a run whose session was not discarded.
const shown = "(session_id IS NULL OR session_id NOT IN " + Hidden + ")"

// Run is one run of an agent: what a message started, or a fork.
type Run struct {
	ID        string     `json:"id"`
	PID       int64      `json:"pid"` // a number for people, never given twice in a home
	SessionID string     `json:"session_id"`
	ParentID  string     `json:"parent_id"`
	AfterID   string     `json:"after_id"` // the run that it follows in its conversation; "" for a first one, and for one with a parent
	CopyOf    string     `json:"copy_of"`  // the run of another conversation that it shows again: it never ran itself
	Name      string     `json:"name"`
	State     RunState   `json:"state"`
	Profile   string     `json:"profile"`
	Role      string     `json:"role"` // what it may do at most, by name; its rules stand as they were when it began
	Rules     string     `json:"-"`    // of the role, as JSON; "" for a run from before there were roles
	Folder    string     `json:"folder"`
	Provider  string     `json:"provider"`
	Model     string     `json:"model"`
	Mode      string     `json:"mode"`
	Via       string     `json:"via"`
	Text      string     `json:"text"` // the message that started it
	CreatedAt time.Time  `json:"created_at"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	Turns     int        `json:"turns"`
	Cost      Cost       `json:"cost"` // its own, without that of its children
	EndReason string     `json:"end_reason"`
	Error     *sys.Error `json:"error,omitempty"`
	NotMet    bool       `json:"not_met,omitempty"`  // it is done, but its task did not pass its evaluation
	FreedAt   *time.Time `json:"freed_at,omitempty"` // when its journal was freed: what its steps gave is gone

	Priority int    `json:"priority"`          // 0 low, 1 normal, 2 high, 3 critical
	Depth    int    `json:"depth"`             // forks above it: 0 for what a person started
	MadeBy   string `json:"made_by,omitempty"` // the step of its parent that forked it
	Orphan   bool   `json:"orphan,omitempty"`  // its parent ended before it did
	Agents   int    `json:"agents,omitempty"`  // at most so many work on its task at once, itself and all forks included; 0 is no limit of its own
	Paused   bool   `json:"paused,omitempty"`  // it begins no new step until a person lets it go on
	Share    *Share `json:"share,omitempty"`   // what it was forked for, when that is a part of a seed

	Attachments  []Attachment  `json:"attachments,omitempty"`  // of the message that started it
	Instructions *Instructions `json:"instructions,omitempty"` // of its folder, as it was told them, without their text
	Labels       Labels        `json:"labels,omitempty"`       // what it began with of what others have read; its steps bring more
}

// Share is a part of a seed that an agent of its own works on.
type Share struct {
	SeedID   string `json:"seed_id"`
	Version  int    `json:"version"`
	Criteria []int  `json:"criteria"`           // their numbers, from 1
	GivenBy  string `json:"given_by,omitempty"` // the step that gave it to an agent that was at work already
}

// Instructions are what a file of a folder tells the agents that work in it.
type Instructions struct {
	Name      string `json:"name"`   // AGENTS.md or CLAUDE.md
	Path      string `json:"path"`   // absolute
	Bytes     int64  `json:"bytes"`  // of the file
	Tokens    int    `json:"tokens"` // about, of what is loaded
	Cut       bool   `json:"cut"`    // the file is longer than what is loaded
	Hash      string `json:"hash"`   // blake3 of what is loaded, in hex
	Text      string `json:"text,omitempty"`
	Problem   string `json:"problem,omitempty"` // why it could not be loaded
	ProblemKO string `json:"problem_ko,omitempty"`

	// Withheld says that a run which had read from outside could have written it:
	// it is not followed until the person has seen Change, the difference from what
	// was followed last.
	Withheld bool   `json:"withheld,omitempty"`
	Change   string `json:"change,omitempty"`
}

// RunPatch changes what is not nil.
type RunPatch struct {
	State     *RunState
	Name      *string
	Provider  *string
	Model     *string
	Mode      *string
	StartedAt *time.Time
	EndedAt   *time.Time // now by default, when State becomes an end
	Turns     *int
	Cost      *Cost // the new total; what came on top goes into the account of the day
	EndReason *string
	Error     *sys.Error
	Paused    *bool
	Priority  *int

	Instructions *Instructions
}

// RunQuery selects runs, the newest first.
type RunQuery struct {
	SessionID string
	ParentID  string
	MadeBy    string // the step that forked it, or gave it a part of a seed
	PID       int64
	Via       string
	Open      bool      // only those that have not ended
	Since     time.Time // only those that have not ended before
	Before    int64     // only those below this pid: the pid that a page ended with gives the next one
	Limit     int       // 50 by default, at most 500; open runs have no limit by default
}

// notMet is the condition of a run that is done without having kept what its
// task promised: the newest version of its seed did not pass. A copy shows what
// the run did that it is a copy of.
const notMet = `(runs.state = 'done' AND (SELECT d.state FROM seeds d WHERE d.run_id = coalesce(nullif(runs.copy_of, ''), runs.id)
	ORDER BY d.version DESC LIMIT 1) IN ('failed', 'ended'))`

const runColumns = `id, pid, session_id, parent_id, after_id, copy_of, name, state, profile, folder, provider, model, mode, via, text,
	created_at, started_at, ended_at, turns, cost_json, end_reason, error_json, attachments_json, instructions_json,
	priority, depth, made_by, orphan, paused, share_json, agents, labels_json, role, role_json, freed_at, coalesce(` + notMet + `, FALSE)`

func scanRun(row scanner, more ...any) (Run, error) {
	var r Run
	var session, parent, cost, failure, attached, told, share, labels sql.NullString
	var created int64
	var started, ended, freed sql.NullInt64
	err := row.Scan(append([]any{
		&r.ID, &r.PID, &session, &parent, &r.AfterID, &r.CopyOf, &r.Name, &r.State, &r.Profile, &r.Folder, &r.Provider, &r.Model, &r.Mode, &r.Via, &r.Text,
		&created, &started, &ended, &r.Turns, &cost, &r.EndReason, &failure, &attached, &told,
		&r.Priority, &r.Depth, &r.MadeBy, &r.Orphan, &r.Paused, &share, &r.Agents, &labels, &r.Role, &r.Rules, &freed, &r.NotMet,
	}, more...)...)
	if err != nil {
		return Run{}, err
	}
	r.SessionID, r.ParentID = session.String, parent.String
	if r.Paused && (r.State == RunQueued || r.State == RunRunning) {
		r.State = RunPaused
	}
	r.CreatedAt, r.StartedAt, r.EndedAt, r.FreedAt = FromMillis(created), fromNull(started), fromNull(ended), fromNull(freed)
	if err := errors.Join(fromJSON(cost, &r.Cost), fromJSON(failure, &r.Error), fromJSON(attached, &r.Attachments), fromJSON(told, &r.Instructions), fromJSON(share, &r.Share), fromJSON(labels, &r.Labels)); err != nil {
		return Run{}, fmt.Errorf("read run %s: %w", r.ID, err)
	}
	return r, nil
}

func nullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// CreateRun saves a new run and sets its PID, and its ID, State (queued) and
// CreatedAt where it has none. It belongs to whom [Store.TakeOver] named. It
// goes behind the head of its conversation and becomes the head; one with a
// parent belongs to its parent's answer instead.
func (s *Store) CreateRun(tx *Tx, r *Run) error {
	if r.SessionID == "" || r.ParentID != "" {
		return s.insertRun(tx, r)
	}
	var head string
	if err := tx.QueryRow("SELECT head_id FROM sessions WHERE id = ?", r.SessionID).Scan(&head); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("find the end of the conversation: %w", err)
	}
	return s.CreateRunAfter(tx, r, head)
}

// CreateRunAfter is CreateRun behind a certain run of the conversation, or at
// its beginning for "". What followed there stays, as another branch.
func (s *Store) CreateRunAfter(tx *Tx, r *Run, after string) error {
	r.AfterID = after
	if err := s.insertRun(tx, r); err != nil {
		return err
	}
	return s.SetHead(tx, r.SessionID, r.ID)
}

// insertRun writes the row of a run. It begins with the labels of the runs whose
// words its model reads: the one that forked it, or the one that it follows, which
// has those before it.
func (s *Store) insertRun(tx *Tx, r *Run) error {
	for _, before := range []string{r.ParentID, r.AfterID} {
		if before == "" {
			continue
		}
		labels, err := s.LabelsOf(tx, before)
		if err != nil {
			return err
		}
		r.Labels = r.Labels.Join(labels)
	}
	if r.ID == "" {
		r.ID = sys.NewID()
	}
	if r.State == "" {
		r.State = RunQueued
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = s.now()
	}
	if err := tx.QueryRow(`INSERT INTO counters (name, value) VALUES ('pid', 1)
		ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value`).Scan(&r.PID); err != nil {
		return fmt.Errorf("allot a pid: %w", err)
	}
	cost, err := nullJSON(r.Cost)
	if err != nil {
		return fmt.Errorf("encode cost: %w", err)
	}
	attached, err := attachmentsJSON(r.Attachments)
	if err != nil {
		return err
	}
	told, err := instructionsJSON(r.Instructions)
	if err != nil {
		return err
	}
	var share any
	if r.Share != nil {
		if share, err = nullJSON(r.Share); err != nil {
			return fmt.Errorf("encode a share: %w", err)
		}
	}
	_, err = tx.Exec(`INSERT INTO runs (id, pid, session_id, parent_id, after_id, copy_of, name, state, profile, folder, provider, model, mode, via, text,
		created_at, started_at, ended_at, turns, cost_json, end_reason, owner, attachments_json, instructions_json, priority, depth, made_by, share_json, agents, labels_json, role, role_json)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		r.ID, r.PID, nullText(r.SessionID), nullText(r.ParentID), r.AfterID, r.CopyOf, r.Name, r.State, r.Profile, r.Folder, r.Provider, r.Model, r.Mode, r.Via, r.Text,
		Millis(r.CreatedAt), nullMillis(r.StartedAt), nullMillis(r.EndedAt), r.Turns, cost, r.EndReason, s.ownerName(), attached, told, r.Priority, r.Depth, r.MadeBy, share, r.Agents, labelsJSON(r.Labels), r.Role, r.Rules)
	if err != nil {
		return fmt.Errorf("save run: %w", err)
	}
	return nil
}

// Run returns one run, or not_found.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	var r Run
	err := s.Read(ctx, func(tx *Tx) (err error) {
		r, err = readRun(tx, id)
		return err
	})
	return r, err
}

func readRun(tx *Tx, id string) (Run, error) {
	r, err := scanRun(tx.QueryRow("SELECT "+runColumns+" FROM runs WHERE id = ? AND "+shown, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, errNotFound("run", id)
	}
	return r, err
}

// Runs lists runs. Copies, which never ran, are none.
func (s *Store) Runs(ctx context.Context, q RunQuery) ([]Run, error) {
	where, args := []string{"copy_of = ''", shown}, []any{}
	if q.SessionID != "" {
		where, args = append(where, "session_id = ?"), append(args, q.SessionID)
	}
	if q.ParentID != "" {
		where, args = append(where, "parent_id = ?"), append(args, q.ParentID)
	}
	if q.MadeBy != "" {
		where, args = append(where, "(made_by = ? OR share_json ->> 'given_by' = ?)"), append(args, q.MadeBy, q.MadeBy)
	}
	if q.PID != 0 {
		where, args = append(where, "pid = ?"), append(args, q.PID)
	}
	if q.Via != "" {
		where, args = append(where, "via = ?"), append(args, q.Via)
	}
	if !q.Since.IsZero() {
		where, args = append(where, "(ended_at IS NULL OR ended_at >= ?)"), append(args, Millis(q.Since))
	}
	if q.Before != 0 {
		where, args = append(where, "pid < ?"), append(args, q.Before)
	}
	n := limit(q.Limit)
	if q.Open {
		where = append(where, openRuns)
		if q.Limit <= 0 {
			n = -1
		}
	}
	var all []Run
	err := s.Read(ctx, func(tx *Tx) (err error) {
		all, err = queryRuns(tx, "SELECT "+runColumns+" FROM runs WHERE "+strings.Join(where, " AND ")+" ORDER BY pid DESC LIMIT ?", append(args, n)...)
		return err
	})
	return all, err
}

func queryRuns(tx *Tx, query string, args ...any) ([]Run, error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	var all []Run
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// UpdateRun changes a run. It fails with not_found, and with conflict when
// the run is open and another owner has taken it over.
func (s *Store) UpdateRun(tx *Tx, id string, p RunPatch) error {
	var failure any
	if p.Error != nil {
		text, err := json.Marshal(p.Error)
		if err != nil {
			return fmt.Errorf("encode error: %w", err)
		}
		failure = string(text)
	}
	var cost any
	if p.Cost != nil {
		text, err := s.account(tx, id, *p.Cost)
		if err != nil {
			return err
		}
		cost = text
	}
	told, err := instructionsJSON(p.Instructions)
	if err != nil {
		return err
	}
	reopened := false
	if p.State != nil {
		if reopened = !p.State.Ended(); !reopened && p.EndedAt == nil {
			now := s.now()
			p.EndedAt = &now
		}
	}
	owner := s.ownerName()
	res, err := tx.Exec(`UPDATE runs SET state = coalesce(?, state), name = coalesce(?, name), provider = coalesce(?, provider), model = coalesce(?, model),
		mode = coalesce(?, mode), started_at = coalesce(?, started_at), ended_at = CASE WHEN ? THEN NULL ELSE coalesce(?, ended_at) END,
		turns = coalesce(?, turns), cost_json = coalesce(?, cost_json), end_reason = coalesce(?, end_reason), error_json = coalesce(?, error_json),
		instructions_json = coalesce(?, instructions_json), paused = coalesce(?, paused), priority = coalesce(?, priority)
		WHERE id = ? AND (owner IN ('', ?) OR NOT `+openRuns+`)`,
		p.State, p.Name, p.Provider, p.Model, p.Mode, nullMillis(p.StartedAt), reopened, nullMillis(p.EndedAt), p.Turns, cost, p.EndReason, failure, told, p.Paused, p.Priority,
		id, owner)
	return must(res, err, func() error {
		var present int
		if err := tx.QueryRow("SELECT count(*) FROM runs WHERE id = ?", id).Scan(&present); err != nil {
			return err
		}
		if present == 0 {
			return errNotFound("run", id)
		}
		return errTakenOver(id)
	})
}

// SetShare says which part of a seed a run works on; nil is none.
func (s *Store) SetShare(tx *Tx, id string, share *Share) error {
	text, err := nullJSON(share)
	if err != nil {
		return fmt.Errorf("encode a share: %w", err)
	}
	res, err := tx.Exec("UPDATE runs SET share_json = ? WHERE id = ?", text, id)
	return must(res, err, func() error { return errNotFound("run", id) })
}

// instructionsJSON encodes what a run was told; the text stays in its file.
func instructionsJSON(in *Instructions) (any, error) {
	if in != nil {
		short := *in
		short.Text, short.Change = "", ""
		in = &short
	}
	return nullJSON(in)
}

// account puts what a run has cost since its last update into the account of
// the day, and returns the new total as it is saved.
func (s *Store) account(tx *Tx, id string, total Cost) (string, error) {
	var before Cost
	var text sql.NullString
	err := tx.QueryRow("SELECT cost_json FROM runs WHERE id = ?", id).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errNotFound("run", id)
	}
	if err == nil {
		err = fromJSON(text, &before)
	}
	if err != nil {
		return "", fmt.Errorf("read the cost of run %s: %w", id, err)
	}
	if total != before {
		if err := spend(tx, s.now(), total.minus(before)); err != nil {
			return "", fmt.Errorf("account for run %s: %w", id, err)
		}
	}
	encoded, err := json.Marshal(total)
	return string(encoded), err
}

// TakeOver makes owner the owner of all open runs and returns them, the oldest
// first. Whoever holds a [Journal] on one of them from before can append no
// more. It is called once at start, after the home's lock is held; runs that
// are created later belong to owner too.
func (s *Store) TakeOver(ctx context.Context, owner string) ([]Run, error) {
	var open []Run
	err := s.Write(ctx, func(tx *Tx) (err error) {
		if _, err := tx.Exec("UPDATE runs SET owner = ?, token = token + 1, lease_until = NULL WHERE "+openRuns, owner); err != nil {
			return err
		}
		open, err = queryRuns(tx, "SELECT "+runColumns+" FROM runs WHERE "+openRuns+" ORDER BY pid")
		tx.OnCommit(func() { s.owner.Store(&owner) })
		return err
	})
	return open, err
}

func (s *Store) ownerName() string {
	if name := s.owner.Load(); name != nil {
		return *name
	}
	return ""
}

func errTakenOver(runID string) error {
	return sys.Errorf(sys.CodeConflict, "The run %s has been taken over, so this step was not recorded.", runID).
		WithHint("Another Oxios goes on with it; follow it there.")
}

// Orphan marks the open children of a run, which ends before they do.
func (s *Store) Orphan(tx *Tx, runID string) error {
	_, err := tx.Exec("UPDATE runs SET orphan = 1 WHERE parent_id = ? AND "+openRuns, runID)
	return err
}

// Together counts the open runs of the task that a run belongs to: the one
// that a person started, and all that descend from it.
func (s *Store) Together(tx *Tx, runID string) (n int, err error) {
	err = tx.QueryRow(`WITH RECURSIVE up (id, parent_id) AS (SELECT id, parent_id FROM runs WHERE id = ? UNION SELECT r.id, r.parent_id FROM runs r JOIN up ON r.id = up.parent_id),
		tree (id) AS (SELECT id FROM up WHERE parent_id IS NULL UNION SELECT r.id FROM runs r JOIN tree t ON r.parent_id = t.id)
		SELECT count(*) FROM runs WHERE id IN tree AND `+openRuns, runID).Scan(&n)
	return n, err
}

// CountForks returns how many runs the run id has forked, ended ones too.
func (s *Store) CountForks(tx *Tx, runID string) (n int, err error) {
	err = tx.QueryRow("SELECT count(*) FROM runs WHERE parent_id = ?", runID).Scan(&n)
	return n, err
}

// TakeUp counts that a run is taken up after its process went down, and returns
// how often that happened since it last got on for a minute, this time
// included.
func (s *Store) TakeUp(tx *Tx, runID string) (attempts int, err error) {
	err = tx.QueryRow(`UPDATE runs SET taken_at = ?, attempts = 1 + CASE
		WHEN (SELECT max(closed_at) FROM steps WHERE run_id = runs.id) >= taken_at + 60000 THEN 0 ELSE attempts END
		WHERE id = ? RETURNING attempts`, Millis(s.now()), runID).Scan(&attempts)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errNotFound("run", runID)
	}
	return attempts, err
}

// PutDown notes that this process ends in order: what it leaves open brought
// nothing down.
func (s *Store) PutDown(tx *Tx) error {
	_, err := tx.Exec("UPDATE runs SET attempts = 0, taken_at = NULL WHERE attempts > 0 AND owner = ? AND "+openRuns, s.ownerName())
	return err
}
