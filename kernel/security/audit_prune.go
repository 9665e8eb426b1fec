package security

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Old entries are taken out behind a root: one signed line that carries the
// number and the hash of the last of them, so that the chain which is left
// still continues something. However much was taken out, the root is one line.

// pruneBatch is how many entries one transaction takes out. Nobody else writes
// while it lasts, and the content of each is overwritten.
const pruneBatch = 10_000

// Cut is the oldest part of the chain, which a pruning takes out.
type Cut struct {
	Through int64     `json:"through"` // the last entry of it; 0 when nothing would go
	Entries int64     `json:"entries"`
	Bytes   int64     `json:"bytes"` // of their texts
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"` // when the last of them was written
	Left    int64     `json:"left"`           // entries that stay
}

// CutBefore returns what a pruning of everything older than before takes out.
// The newest entry always stays, and so does everything from the entry keep on,
// where that is not 0.
func (a *Audit) CutBefore(ctx context.Context, before time.Time, keep int64) (Cut, error) {
	var c Cut
	err := a.st.Read(ctx, func(tx *store.Tx) error {
		// The first that is young enough decides: where the clock was set back, an
		// entry may be followed by older ones.
		var stays sql.NullInt64
		if err := tx.QueryRow(`SELECT min(seq) FROM audit WHERE timestamp >= ?`, before.UnixNano()).Scan(&stays); err != nil {
			return err
		}
		var last int64
		if err := tx.QueryRow(`SELECT coalesce(max(seq), 0) FROM audit`).Scan(&last); err != nil {
			return err
		}
		through := last - 1
		if stays.Valid {
			through = min(through, stays.Int64-1)
		}
		if keep > 0 {
			through = min(through, keep-1)
		}
		var since, until int64
		err := tx.QueryRow(`SELECT count(*), coalesce(sum(length(actor) + length(action) + length(resource) + length(prev_hash) + length(hash) + length(metadata) + 16), 0),
			coalesce(min(timestamp), 0), coalesce(max(timestamp), 0) FROM audit WHERE seq <= ?`, through).Scan(&c.Entries, &c.Bytes, &since, &until)
		if err != nil {
			return err
		}
		if c.Entries > 0 {
			c.Through, c.Since, c.Until = through, time.Unix(0, since).UTC(), time.Unix(0, until).UTC()
		}
		return tx.QueryRow(`SELECT count(*) FROM audit WHERE seq > ?`, through).Scan(&c.Left)
	})
	if err != nil {
		return Cut{}, fmt.Errorf("look for old audit entries: %w", err)
	}
	return c, nil
}

// Prune takes out all entries up to through and leaves a signed root for them.
// words is the entry that says so in the chain. Before that the whole chain is
// verified, with its checkpoints and the witness: what is damaged stays, as the
// evidence that it is. The witness is told of a root before anything goes, and
// without it nothing does. A process that ends in the middle has taken out a
// part, behind a root that stands for that part.
func (a *Audit) Prune(ctx context.Context, through int64, words Entry) error {
	if !a.signs() {
		return sys.Errorf(sys.CodeUnavailable, "The audit record cannot be signed, so nothing was pruned.").WithHint("`oxios doctor` says why.")
	}
	r, err := a.Verify(ctx)
	if err == nil && r.OK {
		r, err = a.VerifyCheckpoints(ctx, true, r)
	}
	switch {
	case err != nil:
		return err
	case r.Lacks != "":
		return sys.Errorf(sys.CodeUnavailable, "What vouches for the audit record is not all there, so nothing was pruned: %s", sys.Words{EN: r.Problem, KO: r.ProblemKO}).
			WithHint("Find out who changed it. `oxios audit renew` begins the evidence anew and keeps what is there.")
	case !r.OK:
		return sys.Errorf(sys.CodeConflict, "The audit record is damaged, so nothing was pruned: %s", sys.Words{EN: r.Problem, KO: r.ProblemKO}).
			WithHint("Export the chain with `oxios audit export` before you do anything else.")
	case through <= r.Pruned || through >= r.Last:
		return sys.Errorf(sys.CodeInvalid, "Entry %d is not one that can be pruned: the record holds %d to %d, and the newest stays.", through, r.Pruned+1, r.Last)
	}
	if err := a.toldAll(ctx); err != nil {
		return err
	}
	for at := r.Pruned; at < through; {
		if err := ctx.Err(); err != nil {
			return err
		}
		at = min(at+pruneBatch, through)
		var said *Entry
		if at == through {
			said = &words
		}
		if err := a.pruneTo(ctx, at, said); err != nil {
			return err
		}
		if err := a.toldAll(ctx); err != nil {
			return err
		}
	}
	return a.trim(through)
}

// toldAll signs where the chain stands; a witness that is wanted must know it.
func (a *Audit) toldAll(ctx context.Context) error {
	err := a.Checkpoint(ctx)
	var away *WitnessError
	if errors.As(err, &away) {
		return sys.Errorf(sys.CodeUnavailable, "The witness of the audit record, %s, could not be told, so nothing more was pruned: %w", away.File, away.Err).
			WithHint("Look after that file, or set audit_witness to another, or to nothing.")
	}
	return err
}

// pruneTo signs a root for everything up to an entry, has it kept and witnessed,
// and then takes those entries out.
func (a *Audit) pruneTo(ctx context.Context, through int64, words *Entry) error {
	a.pruning.Lock()
	defer a.pruning.Unlock()
	a.signing.Lock()
	defer a.signing.Unlock()
	before, err := a.root(ctx)
	if err != nil {
		return err
	}
	var hash string
	err = a.st.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT hash FROM audit WHERE seq = ?`, through).Scan(&hash)
	})
	if err != nil {
		return fmt.Errorf("prune the audit chain: %w", err)
	}
	root := a.keeping.Key.sign(Checkpoint{
		Kind: CheckpointPruned, Seq: through, Hash: hash, Time: a.clock.Now(), Count: through, RootSeq: before.Seq, RootHash: before.hash(),
	})
	line := checkpointLine(root)
	if err := appendDurable(a.keeping.File, line, false); err != nil {
		return err
	}
	if witness := a.witness(); witness != "" {
		if err := appendDurable(witness, line, true); err != nil {
			return err
		}
	}
	err = a.st.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(`DELETE FROM audit WHERE seq <= ?`, through); err != nil {
			return err
		}
		if words != nil {
			if _, err := a.Append(tx, *words); err != nil {
				return err
			}
		}
		return a.st.Put(tx, rootKey, string(line))
	})
	if err != nil {
		return fmt.Errorf("prune the audit chain: %w", err)
	}
	return nil
}

// witness returns the file of the witness, "" for none; signing is held.
func (a *Audit) witness() string {
	if a.keeping.Witness == nil {
		return ""
	}
	return a.keeping.Witness()
}

// trim takes the checkpoints of entries that are gone out of the file beside the
// database, which would grow for ever. The witness keeps all of its own.
func (a *Audit) trim(through int64) error {
	a.signing.Lock()
	defer a.signing.Unlock()
	list, bad, err := readCheckpoints(a.keeping.File, true)
	if err != nil || bad != 0 { // the verification tells of what was altered
		return err
	}
	var b bytes.Buffer
	for _, c := range list {
		if c.Seq >= through {
			b.Write(checkpointLine(c))
		}
	}
	return replaceDurable(a.keeping.File, b.Bytes())
}

// replaceDurable puts content in the place of a file, whole or not at all.
func replaceDurable(path string, content []byte) error {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(path)
	temp := name + ".tmp"
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	return syncDir(dir, ".")
}

// unwitnessed says that a root is not known to a witness which was there when it
// was signed: somebody who has the key, but not the witness, cut the chain off.
func unwitnessed(root Checkpoint, known []Checkpoint) (bad int64, problem sys.Words) {
	if root.Seq == 0 || len(known) == 0 || !known[0].Time.Before(root.Time) ||
		slices.ContainsFunc(known, func(c Checkpoint) bool { return c.Signature == root.Signature }) {
		return 0, sys.Words{}
	}
	return root.Seq, sys.Say("The record was pruned up to entry %d at %s, but the witness was not told: somebody cut it off.", root.Seq, stamp(root.Time))
}
