package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/zeebo/blake3"
)

// Apply makes a plan's changes. It first compares every file with what the plan
// was made on: when one is another by now it fails with CodeConflict, and nothing
// was written. A plan of several steps is made as a whole: when the disk refuses
// a step, those before are taken back; when the process dies, the next [Open]
// finishes it. Folders that are missing are made.
func (v *Vault) Apply(ctx context.Context, plan Plan) error {
	if err := v.ready(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // from here on it is carried through
	}
	if len(plan.Steps) == 0 {
		return nil
	}
	paths, err := v.apply(ctx, plan)
	if err != nil {
		return err
	}
	return v.refresh(context.WithoutCancel(ctx), paths)
}

func (v *Vault) apply(ctx context.Context, plan Plan) (paths []string, err error) {
	v.applying.Lock()
	defer v.applying.Unlock()
	if v.redo.Load() {
		return nil, errCutOff(errors.New("an earlier change is not finished"))
	}
	root, err := v.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	h := &hand{v: v, root: root}
	if err := h.check(plan); err != nil {
		return nil, err
	}
	paths = v.touched(plan)
	if len(plan.Steps) == 1 {
		return paths, h.do(plan.Steps[0])
	}
	if err := v.writeJournal(plan); err != nil {
		return nil, err
	}
	for i, s := range plan.Steps {
		if err := h.do(s); err != nil {
			v.log.ErrorContext(ctx, "Change of several files failed and is taken back", "step", i, "path", s.Path, "error", err)
			if back := h.back(plan.Steps[:i]); back != nil {
				v.redo.Store(true)
				return nil, errCutOff(errors.Join(err, back))
			}
			return nil, errors.Join(err, v.dropJournal())
		}
	}
	return paths, v.dropJournal()
}

// touched are all paths that a plan changes, also those inside a folder.
func (v *Vault) touched(plan Plan) []string {
	var out []string
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, s := range plan.Steps {
		out = append(out, s.Path)
		if s.Kind != StepMove {
			continue
		}
		out = append(out, s.To)
		if s.BaseHash == "" {
			for p := range v.ix.files {
				if rest, ok := strings.CutPrefix(p, s.Path+"/"); ok {
					out = append(out, p, s.To+"/"+rest)
				}
			}
		}
	}
	return out
}

// hand does steps to the disk.
type hand struct {
	v    *Vault
	root *os.Root
}

// check compares the disk with what the steps were planned on.
func (h *hand) check(plan Plan) error {
	for i, s := range plan.Steps {
		if err := checkStep(s); err != nil {
			return err
		}
		was, written := origin(plan.Steps[:i], s.Path)
		if written != nil { // an earlier step makes the file what this one finds
			if hashOf(written) != s.BaseHash {
				return errChanged(s.Path)
			}
		} else if err := h.same(was, s); err != nil {
			return err
		}
		if s.Kind == StepMove && !h.freeFor(was, s.To) {
			return errExists(s.To)
		}
	}
	return nil
}

// checkStep keeps a plan that was kept or sent somewhere inside the vault.
func checkStep(s Step) error {
	for _, p := range []string{s.Path, s.To} {
		if p == "" && (p != s.Path && s.Kind != StepMove) {
			continue
		}
		if got, err := clean(p); err != nil || got != p {
			return cmpErr(err, errPath(p))
		}
	}
	if s.Kind == StepMove && strings.HasPrefix(s.To, s.Path+"/") {
		return errInside(s.Path)
	}
	return nil
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// origin is where the file lies now that a later step will find at p, and what
// it will hold by then when a step before writes it.
func origin(before []Step, p string) (now string, written []byte) {
	for i := len(before) - 1; i >= 0; i-- {
		s := before[i]
		switch {
		case s.Kind == StepWrite && s.Path == p && written == nil:
			written = append([]byte{}, s.After...)
		case s.Kind != StepMove:
		case p == s.To:
			p = s.Path
		default:
			if rest, ok := strings.CutPrefix(p, s.To+"/"); ok {
				p = s.Path + "/" + rest
			}
		}
	}
	return p, written
}

// same fails when the file at p is not the one that s was planned on.
func (h *hand) same(p string, s Step) error {
	hash, folder, err := h.hash(p)
	switch {
	case isMissing(err):
		if s.BaseHash == "" && s.Kind == StepWrite {
			return nil
		}
		return errRemoved(p)
	case err != nil:
		return errRead(p, err)
	case folder:
		if s.Kind == StepMove && s.BaseHash == "" {
			return nil
		}
		return errIsFolder(p)
	case s.BaseHash == "":
		return errExists(p)
	case hash != s.BaseHash:
		return errChanged(p)
	}
	return nil
}

// hash returns the hash of a file.
func (h *hand) hash(p string) (hash string, folder bool, err error) {
	disk, _ := onDisk(h.root, p)
	info, err := h.root.Stat(disk)
	if err != nil {
		return "", false, err
	}
	if info.IsDir() {
		return "", true, nil
	}
	if !info.Mode().IsRegular() {
		return "", false, errors.New("it is a device, a pipe or a socket")
	}
	f, err := h.root.Open(disk)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	sum := blake3.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", false, err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), false, nil
}

// freeFor reports whether the file at from may be called to: nothing lies there,
// or, on a disk that does not tell cases apart, the file itself.
func (h *hand) freeFor(from, to string) bool {
	disk, found := onDisk(h.root, to)
	if !found {
		return true
	}
	if fold(from) != fold(to) {
		return false
	}
	own, _ := onDisk(h.root, from)
	a, errA := h.root.Lstat(own)
	b, errB := h.root.Lstat(disk)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return false
	}
	return !h.listed(disk) || disk == own
}

// listed reports whether a folder lists a name in just this form: on a disk that
// does not tell cases apart, only the one form is.
func (h *hand) listed(disk string) bool {
	d, err := h.root.Open(cmpOr(parent(disk), "."))
	if err != nil {
		return true
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, n := range names {
		if n == path.Base(disk) {
			return true
		}
	}
	return false
}
