package undo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"oxios/kernel/security"
)

// The kinds of a [State].
const (
	Absent = "absent"
	File   = "file"
	Link   = "link"
	Folder = "folder"
	Other  = "other" // a pipe, a socket, a device: never touched
)

// State is how a path is at one moment. Two states are the same when they are
// equal.
type State struct {
	Kind    string
	Content string      // the id of the content of a file, or of what a link says; "" where it was not read
	Size    int64       // bytes of a file
	Mode    fs.FileMode // permissions of a file or folder
}

// String is the state in words, as it is written down: "file 644 ID 12".
func (s State) String() string {
	switch s.Kind {
	case File:
		return fmt.Sprintf("file %o %s %d", s.Mode, orNone(s.Content), s.Size)
	case Link:
		return "link " + orNone(s.Content)
	case Folder:
		return fmt.Sprintf("folder %o", s.Mode)
	}
	return s.Kind
}

func orNone(id string) string {
	if id == "" {
		return "-"
	}
	return id
}

// Parse reads what [State.String] and [State.With] wrote.
func Parse(text string) (State, error) {
	bad := func() (State, error) { return State{}, fmt.Errorf("%q is no state of a file", text) }
	words := strings.Split(bare(text), " ")
	s := State{Kind: words[0]}
	content := func(id string) bool {
		if s.Content = id; id == "-" {
			s.Content = ""
		}
		return id == "-" || validID(id)
	}
	mode := func(word string) bool {
		n, err := strconv.ParseUint(word, 8, 9)
		s.Mode = fs.FileMode(n)
		return err == nil
	}
	var err error
	switch {
	case (s.Kind == Absent || s.Kind == Other) && len(words) == 1:
	case s.Kind == Link && len(words) == 2 && content(words[1]):
	case s.Kind == Folder && len(words) == 2 && mode(words[1]):
	case s.Kind == File && len(words) == 4 && mode(words[1]) && content(words[2]):
		if s.Size, err = strconv.ParseInt(words[3], 10, 64); err != nil {
			return bad()
		}
	default:
		return bad()
	}
	return s, nil
}

// Look reads how rel is now, its content included. Links are not followed.
func Look(root *security.Root, rel string) (State, error) {
	info, err := root.FS().Lstat(rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return State{Kind: Absent}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("look at %s: %w", rel, err)
	}
	s := stateOf(info)
	switch s.Kind {
	case Link:
		to, err := root.FS().Readlink(rel)
		if err != nil {
			return State{}, fmt.Errorf("read the link %s: %w", rel, err)
		}
		s.Content = ID([]byte(to))
	case File:
		f, err := open(root, rel, info)
		if err != nil {
			return State{}, err
		}
		defer f.Close()
		h := newHash(kindBlob, info.Size())
		n, err := io.Copy(h, f)
		if err != nil {
			return State{}, fmt.Errorf("read %s: %w", rel, err)
		}
		if n != info.Size() {
			return State{}, fmt.Errorf("read %s: %w", rel, errChanging)
		}
		s.Content = idOf(h)
	}
	return s, nil
}

// stateOf is what can be told without reading.
func stateOf(info fs.FileInfo) State {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return State{Kind: File, Size: info.Size(), Mode: mode.Perm()}
	case mode&fs.ModeSymlink != 0:
		return State{Kind: Link}
	case mode.IsDir():
		return State{Kind: Folder, Mode: mode.Perm()}
	}
	return State{Kind: Other}
}

// open opens the very file that info describes: what took its place meanwhile is
// not read.
func open(root *security.Root, rel string, info fs.FileInfo) (*os.File, error) {
	f, now, err := root.OpenRegular(rel)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, now) {
		f.Close()
		return nil, fmt.Errorf("read %s: %w", rel, errChanging)
	}
	return f, nil
}

// Keep makes sure that what s describes at rel is in the store.
func Keep(o *Objects, root *security.Root, rel string, s State) error {
	switch s.Kind {
	case Link:
		if has, err := o.Has(s.Content); has || err != nil {
			return err
		}
		to, err := root.FS().Readlink(rel)
		if err != nil {
			return err
		}
		if id, err := o.Put([]byte(to)); err != nil || id != s.Content {
			return errors.Join(err, differs(id != s.Content))
		}
	case File:
		if has, err := o.Has(s.Content); has || err != nil {
			return err
		}
		info, err := root.FS().Lstat(rel)
		if err != nil {
			return err
		}
		f, err := open(root, rel, info)
		if err != nil {
			return err
		}
		defer f.Close()
		return o.PutFile(s.Content, s.Size, f)
	}
	return nil
}

func differs(is bool) error {
	if is {
		return errChanging
	}
	return nil
}

// Direct reports whether no part of the folder of rel is a link: a path that was
// recorded must still mean the same place.
func Direct(root *security.Root, rel string) bool {
	dir := path.Dir(filepath.ToSlash(rel))
	if dir == "." {
		return true
	}
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		info, err := root.FS().Lstat(at)
		if err != nil {
			return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return false
		}
	}
	return true
}
