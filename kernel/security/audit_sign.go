package security

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
)

// Checkpoint signs where the chain stands and tells the witness, where there is
// something new since the last time. What is signed is what this process wrote,
// not what the database now says of it: whoever changed it in between is found.
// When only the witness cannot be written, the error is a [WitnessError] and the
// checkpoint is kept all the same.
func (a *Audit) Checkpoint(ctx context.Context) error {
	a.signing.Lock()
	defer a.signing.Unlock()
	if a.keeping.Key == nil {
		return nil
	}
	k, there, err := a.kept(ctx, a.keeping.Key.Public())
	if err != nil {
		return err
	}
	if !there { // it begins before anything is signed, so that what is signed without it is noticed
		a.mu.Lock()
		signed := a.standing.Signed > 0
		a.mu.Unlock()
		if k.Forgotten, err = a.forgotten(ctx, k, false, a.keeping.File, a.witness()); err != nil {
			return err
		}
		k.Forgotten = k.Forgotten || signed
		k.Key = a.keeping.Key.Public()
		if err := a.remember(ctx, k); err != nil {
			return err
		}
	}
	if !k.Forgotten {
		if k.Forgotten, err = a.replaced(ctx, k); err != nil {
			return err
		}
	}
	if err := a.signHead(ctx, &k); err != nil {
		return err
	}
	away := a.tell(&k)
	if err := a.remember(ctx, k); err != nil {
		return err
	}
	return away
}

// signHead keeps a checkpoint of what this process wrote where there is something
// new, and says so in k; signing is held.
func (a *Audit) signHead(ctx context.Context, k *kept) error {
	a.mu.Lock()
	at := a.committed
	a.standing.Witness, a.standing.Key = a.witness(), a.keeping.Key.Public()
	a.mu.Unlock()
	list, _, err := readCheckpoints(a.keeping.File, false)
	if err != nil {
		return err
	}
	var last Checkpoint
	var signed int64 // a root that came last stands for an older entry
	for _, c := range list {
		last, signed = c, max(signed, c.Seq)
	}
	held, err := k.Newest.in(a.keeping.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if at.seq != 0 && (at.seq != last.Seq || at.hash != last.Hash) {
		root, err := a.root(ctx)
		if err != nil {
			return err
		}
		a.mu.Lock()
		found := within(a.foreign, max(signed, root.Seq), at.seq)
		a.mu.Unlock()
		last = a.keeping.Key.sign(Checkpoint{
			Kind: CheckpointHead, Seq: at.seq, Hash: at.hash, Time: a.clock.Now(), Count: at.seq - root.Seq, RootSeq: root.Seq, RootHash: root.hash(), Found: found,
		})
		if err := appendDurable(a.keeping.File, checkpointLine(last), false); err != nil {
			return err
		}
		a.mu.Lock()
		a.foreign = within(a.foreign, at.seq, math.MaxInt64)
		a.mu.Unlock()
		k.Found = merged(append(k.Found, found...))
	}
	if last.Seq == 0 {
		return nil
	}
	if held {
		k.Newest = mark{last.Seq, last.Signature}
	}
	a.mu.Lock()
	a.standing.Signed, a.standing.SignedAt = last.Seq, last.Time
	a.mu.Unlock()
	return nil
}

// tell has the witness know the newest checkpoint, and says so in k. A witness
// that was told before and is gone is not made anew: it may be on a disk that
// comes back, and a new one would hide that it is missing. Signing is held.
func (a *Audit) tell(k *kept) error {
	witness := a.witness()
	if witness == "" {
		return nil
	}
	last, _, err := lastCheckpoint(a.keeping.File)
	if err != nil || last.Seq == 0 {
		return err
	}
	told := k.Witnesses[witness]
	held, err := told.in(witness)
	if err != nil {
		return &WitnessError{File: witness, Err: err}
	}
	known, _, err := lastCheckpoint(witness)
	if err != nil {
		return &WitnessError{File: witness, Err: err}
	}
	if known.Signature != last.Signature {
		if err := appendDurable(witness, checkpointLine(last), true); err != nil {
			return &WitnessError{File: witness, Err: err}
		}
	}
	if !held {
		return &WitnessError{File: witness, Err: errors.New("what it knew was taken away")}
	}
	k.Witnesses[witness] = mark{last.Seq, last.Signature}
	a.mu.Lock()
	a.standing.Witnessed, a.standing.WitnessedAt = last.Seq, last.Time
	a.mu.Unlock()
	return nil
}

// WitnessError says that the witness could not be told.
type WitnessError struct {
	File string
	Err  error
}

func (e *WitnessError) Error() string { return fmt.Sprintf("witness %s: %v", e.File, e.Err) }
func (e *WitnessError) Unwrap() error { return e.Err }
