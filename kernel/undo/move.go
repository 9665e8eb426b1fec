package undo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"oxios/kernel/security"
)

// Why a move was not made. What was there stays.
var (
	ErrForeign  = errors.New("somebody else changed it")
	ErrNotEmpty = errors.New("the folder is not empty")
)

// Move takes one path from one state to another. Between a folder and something
// else there is a move to absent.
type Move struct {
	Root    *security.Root
	Rel     string
	Was     State  // what must be there
	Becomes State  // its content is in the store
	Meta    Meta   // what belongs to it then
	Temp    string // a name in the same folder that nobody else uses

	prepared bool // the content lies beside it, under Temp and .part
}

// Mover makes moves.
type Mover struct {
	Objects *Objects

	// Lazy leaves it to the caller to make what was done durable, with [Flush]. What
	// is to be there is prepared and flushed before it gets its name, see [Mover.Prepare].
	Lazy bool

	// Boundary, when set, is called before each change on the disk. With an error
	// of it nothing more happens, as when the power goes.
	Boundary func() error
}

func (m Mover) boundary() error {
	if m.Boundary == nil {
		return nil
	}
	return m.Boundary()
}

// sync makes the names in a folder durable.
func (m Mover) sync(v Move) error {
	if m.Lazy {
		return nil
	}
	return v.Root.Sync(path.Dir(v.Rel))
}

// Prepare writes what is to be there under a name that a crash clears away. After
// a [Flush] the move can be made without a doubt about its content.
func (m Mover) Prepare(v *Move) error {
	if v.Becomes.Kind != File || v.Was.Kind == Folder || v.Was == v.Becomes {
		return nil
	}
	if !Direct(v.Root, v.Rel) {
		return ErrForeign
	}
	if v.Was.Kind == Absent {
		if _, err := v.Root.FS().Lstat(v.Rel); err == nil {
			return nil // it is there, or somebody else's: Apply looks
		}
	}
	err := m.write(*v)
	v.prepared = err == nil
	return err
}

// Apply makes a move. It fails with [ErrForeign] when something else is there
// than what must be.
func (m Mover) Apply(v Move) error {
	if v.prepared {
		defer func() { _ = v.Root.FS().Remove(v.Temp + ".part") }() // where it was not used
	}
	if !Direct(v.Root, v.Rel) {
		return ErrForeign
	}
	now, err := Look(v.Root, v.Rel)
	if err != nil {
		return err
	}
	if now != v.Was {
		return ErrForeign
	}
	if v.prepared && now.Kind == Absent {
		if err := v.Root.RenameNew(v.Temp+".part", v.Rel); !errors.Is(err, errors.ErrUnsupported) {
			return foreignIf(errors.Is(err, fs.ErrExist), err)
		}
	}
	if err := Keep(m.Objects, v.Root, v.Rel, now); err != nil {
		return err
	}
	switch {
	case v.Was == v.Becomes:
		return nil
	case v.Becomes.Kind == Folder:
		return m.toFolder(v)
	case v.Was.Kind == Folder:
		return m.dropFolder(v)
	case v.Becomes.Kind == Absent:
		return m.drop(v)
	}
	if err := m.prepare(v); err != nil {
		return err
	}
	if v.Was.Kind == Absent {
		return m.place(v)
	}
	return m.replace(v)
}

// foreignIf is [ErrForeign] for an error that somebody else caused.
func foreignIf(is bool, err error) error {
	if is {
		return ErrForeign
	}
	return err
}

// folder makes the folder for a path that is not there.
func (m Mover) folder(v Move) error {
	dir := path.Dir(v.Rel)
	if dir == "." || v.Was.Kind != Absent {
		return nil
	}
	if info, err := v.Root.FS().Lstat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := m.boundary(); err != nil {
		return err
	}
	return v.Root.MkdirAll(dir, 0o755)
}

// prepare writes what is to be there under the other name.
func (m Mover) prepare(v Move) error {
	if v.Becomes.Kind == Link {
		return m.link(v)
	}
	if !v.prepared {
		if err := m.write(v); err != nil {
			return err
		}
	}
	err := m.boundary()
	if err == nil {
		err = v.Root.FS().Rename(v.Temp+".part", v.Temp)
		if err != nil {
			_ = v.Root.FS().Remove(v.Temp + ".part")
		}
	}
	return err
}

func (m Mover) link(v Move) error {
	if err := m.folder(v); err != nil {
		return err
	}
	to, err := m.Objects.Read(v.Becomes.Content)
	if err != nil {
		return err
	}
	if err := m.boundary(); err != nil {
		return err
	}
	if err := v.Root.FS().Symlink(string(to), v.Temp); err != nil {
		return err
	}
	return v.date(v.Temp)
}

// write writes the content of a file, with all that belongs to it.
func (m Mover) write(v Move) error {
	if err := m.folder(v); err != nil {
		return err
	}
	in, err := m.Objects.Open(v.Becomes.Content)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := m.boundary(); err != nil {
		return err
	}
	part := v.Temp + ".part"
	f, err := v.Root.FS().OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	if err == nil {
		err = v.dress(f)
	}
	if err == nil && !m.Lazy {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = v.date(part)
	}
	if err != nil {
		_ = v.Root.FS().Remove(part)
	}
	return err
}

// place gives what was prepared a name that must be free.
func (m Mover) place(v Move) error {
	if err := m.boundary(); err != nil {
		return err
	}
	if err := v.Root.FS().Link(v.Temp, v.Rel); errors.Is(err, fs.ErrExist) {
		return errors.Join(ErrForeign, v.Root.FS().Remove(v.Temp))
	} else if err != nil {
		// A disk without links.
		if _, lerr := v.Root.FS().Lstat(v.Rel); lerr == nil {
			return errors.Join(ErrForeign, v.Root.FS().Remove(v.Temp))
		}
		if err := v.Root.FS().Rename(v.Temp, v.Rel); err != nil {
			return err
		}
		return m.sync(v)
	}
	return m.cleared(v)
}

// cleared takes the other name away and makes the folder durable.
func (m Mover) cleared(v Move) error {
	if err := m.boundary(); err != nil {
		return err
	}
	if err := v.Root.FS().Remove(v.Temp); err != nil {
		return err
	}
	return m.sync(v)
}

// replace exchanges what is there with what was prepared, and looks at what it got.
func (m Mover) replace(v Move) error {
	if err := m.boundary(); err != nil {
		return err
	}
	err := v.Root.Exchange(v.Temp, v.Rel)
	if errors.Is(err, errors.ErrUnsupported) {
		now, err := Look(v.Root, v.Rel)
		if err == nil && now != v.Was {
			err = ErrForeign
		}
		if err != nil {
			return errors.Join(err, v.Root.FS().Remove(v.Temp))
		}
		if err := v.Root.FS().Rename(v.Temp, v.Rel); err != nil {
			return err
		}
		return m.sync(v)
	}
	if err != nil {
		return errors.Join(foreignOr(v, err), v.Root.FS().Remove(v.Temp))
	}
	got, err := Look(v.Root, v.Temp)
	if err != nil || got != v.Was {
		// Somebody wrote in the moment before: theirs gets its name back.
		if err := m.boundary(); err != nil {
			return err
		}
		if err := v.Root.Exchange(v.Temp, v.Rel); err != nil {
			return err
		}
		return errors.Join(ErrForeign, err, v.Root.FS().Remove(v.Temp))
	}
	return m.cleared(v)
}

// foreignOr is why something failed: somebody else, if that is what it was.
func foreignOr(v Move, err error) error {
	if now, lerr := Look(v.Root, v.Rel); lerr == nil && now != v.Was {
		return ErrForeign
	}
	return err
}

// drop takes a name away and looks at what it had before it goes.
func (m Mover) drop(v Move) error {
	if err := m.boundary(); err != nil {
		return err
	}
	if err := v.Root.FS().Rename(v.Rel, v.Temp); err != nil {
		return foreignOr(v, err)
	}
	got, err := Look(v.Root, v.Temp)
	if err != nil || got != v.Was {
		return errors.Join(ErrForeign, err, m.back(v))
	}
	return m.cleared(v)
}

// back gives what lies under the other name its own again, unless that is taken.
func (m Mover) back(v Move) error {
	if err := m.boundary(); err != nil {
		return err
	}
	if err := v.Root.FS().Link(v.Temp, v.Rel); err != nil {
		if _, lerr := v.Root.FS().Lstat(v.Rel); lerr == nil {
			return fmt.Errorf("%s is kept as %s: its own name is taken", v.Rel, v.Temp)
		}
		return v.Root.FS().Rename(v.Temp, v.Rel)
	}
	return v.Root.FS().Remove(v.Temp)
}

func (m Mover) toFolder(v Move) error {
	if err := m.boundary(); err != nil {
		return err
	}
	if v.Was.Kind == Absent {
		if err := m.folder(v); err != nil {
			return err
		}
		if err := v.Root.FS().Mkdir(v.Rel, v.Becomes.Mode); errors.Is(err, fs.ErrExist) {
			return ErrForeign
		} else if err != nil {
			return err
		}
	}
	mode := v.Becomes.Mode
	if v.Was.Kind == Absent {
		mode |= 0o700 // what comes back into it has to get in; Finish takes it away
	}
	if err := v.Root.FS().Chmod(v.Rel, mode); err != nil { // the umask is not asked
		return err
	}
	return m.sync(v)
}

// dropFolder removes a folder that is empty. It gets the other name first, so that
// what somebody puts in its place at this moment is not what is removed.
func (m Mover) dropFolder(v Move) error {
	empty := func(rel string) bool {
		entries, err := fs.ReadDir(v.Root.FS().FS(), rel)
		return err == nil && len(entries) == 0
	}
	if !empty(v.Rel) {
		return ErrNotEmpty
	}
	if err := m.boundary(); err != nil {
		return err
	}
	if err := v.Root.FS().Rename(v.Rel, v.Temp); err != nil {
		return err
	}
	if info, err := v.Root.FS().Lstat(v.Temp); err != nil || !info.IsDir() || !empty(v.Temp) {
		if _, err := v.Root.FS().Lstat(v.Rel); err == nil {
			return fmt.Errorf("%w: %s is kept as %s", ErrNotEmpty, v.Rel, v.Temp)
		}
		return errors.Join(ErrNotEmpty, v.Root.FS().Rename(v.Temp, v.Rel))
	}
	return m.cleared(v)
}

// Settle puts in order what a crash left of a move, and reports whether it is made.
func (m Mover) Settle(v Move) (made bool, err error) {
	if err := v.Root.FS().Remove(v.Temp + ".part"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	now, err := Look(v.Root, v.Rel)
	if err != nil {
		return false, err
	}
	aside, err := Look(v.Root, v.Temp)
	if err != nil {
		return false, err
	}
	switch {
	case aside.Kind == Absent:
	case aside.Kind == Folder:
		if now.Kind == Absent {
			err = v.Root.FS().Rename(v.Temp, v.Rel)
		} else {
			err = v.Root.FS().Remove(v.Temp) // fails when it is not empty
		}
	case aside == v.Becomes || aside == v.Was:
		// Ours, and in the store. What was moved aside and has no name any more gets it back before it goes again.
		if aside == v.Was && now.Kind == Absent && v.Becomes.Kind != Absent {
			err = m.back(v)
			break
		}
		if aside == v.Was {
			err = Keep(m.Objects, v.Root, v.Temp, aside)
		}
		if err == nil {
			err = v.Root.FS().Remove(v.Temp)
		}
	case now.Kind == Absent:
		err = m.back(v)
	case now == v.Becomes:
		if err = v.Root.Exchange(v.Temp, v.Rel); err == nil {
			err = v.Root.FS().Remove(v.Temp)
		}
		return false, errors.Join(ErrForeign, err)
	default: // two that are somebody else's: neither is touched
		return false, ErrForeign
	}
	if err != nil {
		return false, err
	}
	if now, err = Look(v.Root, v.Rel); err != nil {
		return false, err
	}
	ours := v.Was.Kind == Absent && v.Becomes.Kind == Folder && now.Kind == Folder && now.Mode == v.Becomes.Mode|0o700
	if now != v.Becomes && !ours {
		return false, nil
	}
	err = m.sync(v)
	if now.Kind == Absent && errors.Is(err, fs.ErrNotExist) {
		return true, nil // its folder went after it, in the same undo
	}
	return true, err
}
