package security

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The scopes of a [Grant] beside [ScopeRun], which holds for one run.
const (
	ScopeSession = "session" // for every run of a conversation, in the folder that it was given in
	ScopeFolder  = "folder"  // for every run of a folder
)

// How long a grant may hold.
const (
	GrantDefault = 8 * time.Hour
	GrantLongest = 30 * 24 * time.Hour
)

// Grant is a kind of step that a person allows beforehand: a call of it does
// not ask.
type Grant struct {
	ID         string     `json:"id"`
	ApprovalID string     `json:"approval_id"` // the request that it was made from
	Scope      string     `json:"scope"`       // run, session or folder
	RunID      string     `json:"run_id,omitempty"`
	SessionID  string     `json:"session_id,omitempty"`
	Kind       Kind       `json:"kind"`
	CreatedBy  string     `json:"created_by"`
	CreatedAt  time.Time  `json:"created_at"` // times have milliseconds
	ExpiresAt  time.Time  `json:"expires_at"`
	Uses       int        `json:"uses"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
	EndedBy    string     `json:"ended_by,omitempty"` // who took it back, or "run" with its run
	Holds      bool       `json:"holds"`              // it allows calls now
}

// Grants owns the kinds of steps that a person has allowed. All of it is in
// the store, so that it outlives a restart. It is safe for concurrent use.
type Grants struct {
	st    *store.Store
	clock sys.Clock
}

// NewGrants returns the grants kept in st.
func NewGrants(st *store.Store, clock sys.Clock) *Grants { return &Grants{st: st, clock: clock} }

// Create stores a grant of kind k inside the caller's transaction. length is
// how long it holds, [GrantDefault] if zero; one of scope run or session holds
// for the longest time, and ends with its run or conversation if that is sooner.
func (g *Grants) Create(tx *store.Tx, by sys.Principal, ap Approval, scope string, length time.Duration) (Grant, error) {
	if err := onlyAPerson(by); err != nil {
		return Grant{}, err
	}
	k := ap.Request.Kind
	switch {
	case k == nil:
		return Grant{}, sys.Errorf(sys.CodeRefused, "This kind of step cannot be allowed beforehand. Nothing was decided.").
			WithHint("Approve it once.")
	case scope != ScopeRun && scope != ScopeSession && scope != ScopeFolder:
		return Grant{}, sys.Errorf(sys.CodeInvalid, "There is no scope %q.", scope).WithHint("Use run, session or folder.")
	case scope == ScopeRun && ap.Request.RunID == "":
		return Grant{}, sys.Errorf(sys.CodeInvalid, "This request belongs to no run. Nothing was decided.").WithHint("Approve it once.")
	case scope == ScopeSession && ap.Request.SessionID == "":
		return Grant{}, sys.Errorf(sys.CodeInvalid, "This request belongs to no conversation. Nothing was decided.").WithHint("Approve it once.")
	case length < 0 || length > GrantLongest || length > 0 && length < time.Minute:
		return Grant{}, sys.Errorf(sys.CodeInvalid, "A kind of step is allowed for a minute at least and 30 days at most. Nothing was decided.")
	}
	if length == 0 {
		length = GrantDefault
	}
	runID, sessionID := "", ""
	switch scope {
	case ScopeRun:
		runID, length = ap.Request.RunID, GrantLongest
	case ScopeSession:
		sessionID, length = ap.Request.SessionID, GrantLongest
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return Grant{}, fmt.Errorf("store grant: %w", err)
	}
	now := g.clock.Now().Truncate(time.Millisecond)
	out := Grant{
		ID: sys.NewID(), ApprovalID: ap.ID, Scope: scope, RunID: runID, SessionID: sessionID, Kind: *k,
		CreatedBy: by.Actor(), CreatedAt: now, ExpiresAt: now.Add(length), Holds: true,
	}
	_, err = tx.Exec(`INSERT INTO grants (id, approval_id, scope, run_id, session_id, folder, kind_json, created_by, created_at, expires_at, uses, ended_by)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '')`,
		out.ID, out.ApprovalID, out.Scope, out.RunID, out.SessionID, k.Folder, string(raw), out.CreatedBy, out.CreatedAt.UnixMilli(), out.ExpiresAt.UnixMilli())
	if err != nil {
		return Grant{}, fmt.Errorf("store grant: %w", err)
	}
	return out, nil
}

const grantColumns = `id, approval_id, scope, run_id, session_id, kind_json, created_by, created_at, expires_at, uses,
	COALESCE(last_used_at, 0), COALESCE(ended_at, 0), ended_by`

func (g *Grants) scan(row interface{ Scan(...any) error }) (Grant, error) {
	var (
		out                           Grant
		kind                          string
		created, expires, used, ended int64
	)
	err := row.Scan(&out.ID, &out.ApprovalID, &out.Scope, &out.RunID, &out.SessionID, &kind, &out.CreatedBy, &created, &expires, &out.Uses, &used, &ended, &out.EndedBy)
	if err != nil {
		return Grant{}, err
	}
	if err := json.Unmarshal([]byte(kind), &out.Kind); err != nil {
		return Grant{}, fmt.Errorf("read grant %s: %w", out.ID, err)
	}
	out.CreatedAt, out.ExpiresAt = time.UnixMilli(created).UTC(), time.UnixMilli(expires).UTC()
	for _, t := range []struct {
		ms int64
		to **time.Time
	}{{used, &out.LastUsedAt}, {ended, &out.EndedAt}} {
		if t.ms != 0 {
			at := time.UnixMilli(t.ms).UTC()
			*t.to = &at
		}
	}
	out.Holds = out.EndedAt == nil && g.clock.Now().Before(out.ExpiresAt)
	return out, nil
}

func (g *Grants) query(tx *store.Tx, rest string, args ...any) ([]Grant, error) {
	rows, err := tx.Query(`SELECT `+grantColumns+` FROM grants `+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	defer rows.Close()
	out := []Grant{}
	for rows.Next() {
		one, err := g.scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// List returns the grants that hold or, with all, also those that have ended,
// the newest first, at most 200.
func (g *Grants) List(ctx context.Context, all bool) (out []Grant, err error) {
	rest, args := `ORDER BY id DESC LIMIT 200`, []any(nil)
	if !all {
		rest, args = `WHERE ended_at IS NULL AND expires_at > ? ORDER BY id DESC LIMIT 200`, []any{g.clock.Now().UnixMilli()}
	}
	err = g.st.Read(ctx, func(tx *store.Tx) (err error) {
		out, err = g.query(tx, rest, args...)
		return err
	})
	return out, err
}

// Near returns the grants that hold in a folder, for a run of it and its
// conversation: those that a call there has to be compared with.
func (g *Grants) Near(ctx context.Context, folder, runID, sessionID string) (out []Grant, err error) {
	err = g.st.Read(ctx, func(tx *store.Tx) (err error) {
		out, err = g.query(tx, `WHERE ended_at IS NULL AND folder = ? AND (run_id = '' OR run_id = ?) AND (session_id = '' OR session_id = ?) AND expires_at > ? ORDER BY id DESC`,
			realDir(folder), runID, sessionID, g.clock.Now().UnixMilli())
		return err
	})
	return out, err
}

// Use counts a use of a grant, in the transaction that starts the call. One
// that was taken back, or whose time is over, gives an error.
func (g *Grants) Use(tx *store.Tx, id string) error {
	now := g.clock.Now().UnixMilli()
	res, err := tx.Exec(`UPDATE grants SET uses = uses + 1, last_used_at = ? WHERE id = ? AND ended_at IS NULL AND expires_at > ?`, now, id, now)
	if err != nil {
		return fmt.Errorf("use grant: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return sys.Errorf(sys.CodeConflict, "This kind of step is no longer allowed beforehand.").WithHint("Ask again.")
	}
	return nil
}

// Revoke ends a grant inside the caller's transaction: the next call asks.
func (g *Grants) Revoke(tx *store.Tx, by sys.Principal, id string) (Grant, error) {
	if err := onlyAPerson(by); err != nil {
		return Grant{}, err
	}
	old, err := g.scan(tx.QueryRow(`SELECT `+grantColumns+` FROM grants WHERE id = ?`, id))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Grant{}, sys.Errorf(sys.CodeNotFound, "There is no grant %q.", id).WithHint("See the list of grants.")
	case err != nil:
		return Grant{}, fmt.Errorf("read grant: %w", err)
	case !old.Holds:
		return Grant{}, sys.Errorf(sys.CodeConflict, "There is nothing to take back: this grant has ended.")
	}
	at := g.clock.Now().Truncate(time.Millisecond)
	if _, err := tx.Exec(`UPDATE grants SET ended_at = ?, ended_by = ? WHERE id = ? AND ended_at IS NULL`, at.UnixMilli(), by.Actor(), id); err != nil {
		return Grant{}, fmt.Errorf("end grant: %w", err)
	}
	old.EndedAt, old.EndedBy, old.Holds = &at, by.Actor(), false
	return old, nil
}

// EndRun ends the grants of a run that is over, inside the caller's
// transaction.
func (g *Grants) EndRun(tx *store.Tx, runID string) error {
	_, err := tx.Exec(`UPDATE grants SET ended_at = ?, ended_by = 'run' WHERE run_id = ? AND ended_at IS NULL`, g.clock.Now().UnixMilli(), runID)
	if err != nil {
		return fmt.Errorf("end the grants of run %s: %w", runID, err)
	}
	return nil
}
