package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// keyFollowed is where the store keeps which instructions were followed last. It is
// of this machine: a backup does not bring it in.
const keyFollowed = "instructions"

// maxFollowed is how many files with instructions are known.
const maxFollowed = 200

// followed is a file of instructions as the person had it followed last.
type followed struct {
	Hash string `json:"hash"`
	Text string `json:"text"`
}

func (k *Kernel) followedLast(ctx context.Context, path string) (followed, error) {
	raw, _, err := k.store.Get(ctx, keyFollowed)
	if err != nil {
		return followed{}, fmt.Errorf("read which instructions were followed: %w", err)
	}
	return followedOf(raw)[path], nil
}

// followedOf reads what is kept. Of what cannot be read nothing was followed.
func followedOf(raw string) map[string]followed {
	all := map[string]followed{}
	if json.Unmarshal([]byte(raw), &all) != nil || all == nil {
		return map[string]followed{}
	}
	return all
}

// keepFollowed notes that instructions are followed as they are now.
func (k *Kernel) keepFollowed(ctx context.Context, in Instructions) error {
	path := realPath(in.Path)
	if in.Text == "" {
		return nil
	}
	if last, err := k.followedLast(ctx, path); err != nil || last.Hash == in.Hash {
		return err
	}
	return k.store.Write(ctx, func(tx *store.Tx) error {
		raw, _, err := k.store.GetIn(tx, keyFollowed)
		if err != nil {
			return err
		}
		all := followedOf(raw)
		for other := range all {
			if len(all) < maxFollowed {
				break
			}
			delete(all, other) // its next change is asked about without a difference
		}
		all[path] = followed{Hash: in.Hash, Text: in.Text}
		out, err := json.Marshal(all)
		if err != nil {
			return err
		}
		return k.store.Put(tx, keyFollowed, string(out))
	})
}

// withhold takes the text from instructions that a run which had read from outside
// could have written, unless they are what was followed before: what lies in a place
// where such a run ran commands, or near one, may have come from there.
func (k *Kernel) withhold(ctx context.Context, in *Instructions) error {
	if in.Name == "" {
		return nil
	}
	path := realPath(in.Path)
	list, err := k.labelsAt(ctx, path, hashOf(in.Path))
	if err != nil {
		return err
	}
	var by Labels
	for _, f := range list {
		by = by.Join(Labels{writtenLabel(f)})
	}
	for _, dir := range []string{filepath.Dir(path), realPath(filepath.Dir(in.Path))} {
		near, err := k.labelsBelow(ctx, dir)
		if err != nil {
			return err
		}
		link := filepath.Join(dir, in.Name)
		for _, f := range near { // also of the link itself, and where a disk knows no capitals
			if f.Covers() != "" || strings.EqualFold(f.Path, path) || strings.EqualFold(f.Path, link) {
				by = by.Join(Labels{writtenLabel(f)})
			}
		}
	}
	repository, err := k.repositoryLabels(ctx, filepath.Dir(path))
	if err != nil {
		return err
	}
	by = by.Join(repository)
	if by, err = k.liveLabels(ctx, by); err != nil || !by.Untrusted() {
		return err
	}
	last, err := k.followedLast(ctx, path)
	if err != nil || last.Hash != "" && last.Hash == in.Hash {
		return err
	}
	why := sys.Say("It is not followed until you trust it: %s.", carriers(by))
	in.Change = unifiedDiff(in.Name, last.Text, in.Text)
	in.Text, in.Tokens, in.Problem, in.ProblemKO, in.Withheld = "", 0, why.EN, why.KO, true
	return nil
}

// FollowInstructions says that the person has seen the instructions of a folder as
// they are, by their hash, and wants them followed. When they change, that counts as
// new.
func (a *SecurityAPI) FollowInstructions(ctx context.Context, path, hash string) (Instructions, error) {
	act := action{call: "security.followInstructions", resource: "file:" + path, meta: map[string]any{"hash": hash}}
	return guard(ctx, a.caller, act, func(ctx context.Context) (Instructions, error) {
		abs, err := a.k.usable(path)
		if err != nil {
			return Instructions{}, err
		}
		in := a.k.instructions(abs)
		if in.Hash == "" || in.Hash != hash {
			return in, sys.Errorf(sys.CodeConflict, "The instructions are not what was shown. Nothing was changed.").WithHint("Look at them again.")
		}
		return in, a.k.keepFollowed(ctx, in)
	})
}
