package security

import (
	"context"
	"fmt"

	"oxios/kernel/store"
)

// BasisMissing is the state of a file that is not there.
const BasisMissing = "missing"

// BasisFile is one file that a command stands on, as it was when a person was asked.
type BasisFile struct {
	State string `json:"state"`          // the hash of what is in it, or what it is instead
	Text  string `json:"text,omitempty"` // secrets masked, for the difference
	Kept  bool   `json:"kept,omitempty"` // the text is all of it
}

// Basis is what a request stands on. It is stored with it and never shown.
type Basis struct {
	Call  string               `json:"call"` // binds the call without the files: [RequestHash]
	Files map[string]BasisFile `json:"files"`
}

// storedRequest is a request as the store has it.
type storedRequest struct {
	Request
	Basis *Basis `json:"basis,omitempty"`
}

// Before finds what a person was asked before about the call of r: in this very
// step, or about the same call of its run while its files were others.
func (a *Approvals) Before(ctx context.Context, r Request) (ap Approval, found bool, err error) {
	if r.RunID == "" || r.Basis == nil {
		return ap, false, nil
	}
	err = a.st.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT `+approvalColumns+` FROM approvals WHERE run_id = ? AND call = ? ORDER BY id DESC LIMIT 200`, r.RunID, r.Call)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			next, err := a.scan(rows)
			if err != nil {
				return err
			}
			ofStep := r.StepID != "" && next.Request.StepID == r.StepID && answers(next)
			sameCall := next.Request.Basis != nil && next.Request.Basis.Call == r.Basis.Call && next.DecidedAt != nil && next.State != ApprovalDenied
			if ofStep || sameCall {
				ap, found = next, true
				return nil
			}
		}
		return rows.Err()
	})
	if err != nil {
		return ap, false, fmt.Errorf("find an earlier request: %w", err)
	}
	return ap, found, nil
}

// Supersede ends a request in whose place another one comes, inside the caller's
// transaction. One that has ended by itself stays as it is.
func (a *Approvals) Supersede(tx *store.Tx, id string) error {
	ap, err := a.get(tx, id)
	if err != nil || ap.State != ApprovalPending && ap.State != ApprovalApproved {
		return err
	}
	was := ap.State
	ap.State = ApprovalCanceled
	ap.Comment = "it was asked again, because something had changed"
	return a.move(tx, ap, was)
}
