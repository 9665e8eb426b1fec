package undo

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Meta is what belongs to a path beside its [State]. A difference in it alone is
// no change: a file that was touched is the same file.
type Meta struct {
	Modified, Accessed int64  // nanoseconds; 0 where they are not known, and then not set
	Attrs              string // as [sys.EncodeAttrs] writes them
	Known              bool   // it was looked at
}

// With is a state with what belongs to it in words, which [Parse] and [ParseMeta]
// read: "file 644 ID 12 @1700000000000000000,1700000000000000000 +ATTRS".
func (s State) With(m Meta) string {
	if !m.Known || s.Kind == Absent || s.Kind == Other {
		return s.String()
	}
	out := s.String() + " @" + strconv.FormatInt(m.Modified, 10) + "," + strconv.FormatInt(m.Accessed, 10)
	if m.Attrs != "" {
		out += " +" + m.Attrs
	}
	return out
}

// bare is a state in words without what belongs to it.
func bare(text string) string {
	text, _, _ = strings.Cut(text, " @")
	return text
}

// Same reports whether two states in words are the same state.
func Same(a, b string) bool { return bare(a) == bare(b) }

// ParseMeta reads what belongs to a state in words. Those of older versions have
// nothing.
func ParseMeta(text string) (m Meta) {
	_, text, m.Known = strings.Cut(text, " @")
	if !m.Known {
		return m
	}
	times, attrs, _ := strings.Cut(text, " +")
	modified, accessed, _ := strings.Cut(times, ",")
	m.Modified, _ = strconv.ParseInt(modified, 10, 64)
	m.Accessed, _ = strconv.ParseInt(accessed, 10, 64)
	m.Attrs = attrs
	return m
}

// MetaOf looks at what belongs to rel now.
func MetaOf(root *security.Root, rel string) Meta {
	info, err := root.FS().Lstat(rel)
	if err != nil {
		return Meta{}
	}
	m := Meta{Modified: info.ModTime().UnixNano(), Accessed: accessedAt(info), Known: true}
	if info.IsDir() || info.Mode().IsRegular() {
		m.Attrs = attrsOf(root, rel, info)
	}
	return m
}

// attrsOf reads the attributes of a file or folder that info describes.
func attrsOf(root *security.Root, rel string, info fs.FileInfo) string {
	var f *os.File
	var err error
	if info.IsDir() {
		f, err = root.FS().Open(rel)
	} else {
		f, err = open(root, rel, info)
	}
	if err != nil {
		return "" // it may not be read
	}
	defer f.Close()
	return sys.EncodeAttrs(sys.ReadAttrs(f))
}

// dress gives an open file or folder its mode and attributes.
func (v Move) dress(f *os.File) error {
	if v.Meta.Known {
		sys.WriteAttrs(f, sys.DecodeAttrs(v.Meta.Attrs))
	}
	return f.Chmod(v.Becomes.Mode) // behind the lists, which the mode is a part of
}

// date gives what lies under a name the times of the move, if it has some.
func (v Move) date(rel string) error {
	if !v.Meta.Known || v.Meta.Modified == 0 {
		return nil
	}
	accessed := v.Meta.Accessed
	if accessed == 0 {
		accessed = v.Meta.Modified
	}
	if v.Becomes.Kind == Link {
		return dateLink(v.Root, rel, accessed, v.Meta.Modified)
	}
	return v.Root.FS().Chtimes(rel, time.Unix(0, accessed), time.Unix(0, v.Meta.Modified))
}

// Finish gives a folder that came back its mode, attributes and times, once all
// that came back into it is there.
func (m Mover) Finish(v Move) error {
	info, err := v.Root.FS().Lstat(v.Rel)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil // it went again, or is somebody else's
	}
	if err != nil {
		return err
	}
	f, err := v.Root.FS().Open(v.Rel)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := v.dress(f); err != nil {
		return err
	}
	if err := v.date(v.Rel); err != nil || m.Lazy {
		return err
	}
	return v.Root.Sync(path.Dir(v.Rel))
}
