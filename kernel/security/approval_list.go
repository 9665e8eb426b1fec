package security

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// ApprovalQuery narrows a list; zero fields do not.
type ApprovalQuery struct {
	State     string `json:"state,omitempty"`
	RunID     string `json:"run_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Limit     int    `json:"limit,omitempty"` // 200 if zero
}

// where returns the condition of q at now. An open row whose time is over
// counts as expired before that is written. The states stand in the text, as
// the index of what is pending serves only such queries.
func (q ApprovalQuery) where(now int64) (string, []any) {
	var (
		terms = []string{`session_id NOT IN ` + store.Hidden} // what a person has deleted is not shown while it can be undone
		args  []any
	)
	add := func(term string, values ...any) {
		terms, args = append(terms, term), append(args, values...)
	}
	switch q.State {
	case "":
	case ApprovalPending:
		add(`state = 'pending' AND expires_at > ?`, now)
	case ApprovalApproved:
		add(`state = 'approved' AND expires_at > ?`, now)
	case ApprovalExpired:
		add(`(state = 'expired' OR state IN ('pending', 'approved') AND expires_at <= ?)`, now)
	default:
		add(`state = ?`, q.State)
	}
	if q.RunID != "" {
		add(`run_id = ?`, q.RunID)
	}
	if q.SessionID != "" {
		add(`session_id = ?`, q.SessionID)
	}
	return "WHERE " + strings.Join(terms, " AND "), args
}

// List returns approvals, the newest first.
func (a *Approvals) List(ctx context.Context, q ApprovalQuery) ([]Approval, error) {
	if q.Limit <= 0 {
		q.Limit = 200
	}
	where, args := q.where(a.now().UnixMilli())
	var out []Approval
	err := a.st.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT `+approvalColumns+` FROM approvals `+where+` ORDER BY id DESC LIMIT ?`, append(args, q.Limit)...)
		if err != nil {
			return err
		}
		out, err = a.collect(rows)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	return out, nil
}

// Get returns one approval.
func (a *Approvals) Get(ctx context.Context, id string) (ap Approval, err error) {
	err = a.st.Read(ctx, func(tx *store.Tx) (err error) {
		ap, err = a.get(tx, id)
		return err
	})
	return ap, err
}

func (a *Approvals) get(tx *store.Tx, id string) (Approval, error) {
	ap, err := a.scan(tx.QueryRow(`SELECT `+approvalColumns+` FROM approvals WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Approval{}, sys.Errorf(sys.CodeNotFound, "There is no approval %q.", id).
			WithHint("See the list of approvals.")
	}
	if err != nil {
		return Approval{}, fmt.Errorf("read approval: %w", err)
	}
	return ap, nil
}

func (a *Approvals) query(tx *store.Tx, where string, args ...any) ([]Approval, error) {
	rows, err := tx.Query(`SELECT `+approvalColumns+` FROM approvals WHERE `+where+` ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read approvals: %w", err)
	}
	return a.collect(rows)
}

func (a *Approvals) collect(rows *sql.Rows) ([]Approval, error) {
	defer rows.Close()
	out := []Approval{}
	for rows.Next() {
		ap, err := a.scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, ap)
	}
	return out, rows.Err()
}
