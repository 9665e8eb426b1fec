package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"oxios/kernel/sys"
)

// The format is that of gitformat-index(5). A large index is split: most entries
// stand in a file that is shared by many versions of it and never changes, and
// the index itself has only what came since.

var (
	errNoIndex  = errors.New("there is no index")
	errBroken   = errors.New("the index is damaged")
	errUnknown  = errors.New("the index is of a kind that is not known here")
	linkTo      = []byte("link")
	resolveUndo = []byte("REUC")

	noBits = append(append(make([]byte, 7), 1), make([]byte, 12)...) // an empty set; git falls over when there is none
)

const (
	flagExtended = 0x4000
	flagStage    = 0x3000
	flagsKept    = 0xf000
	lengthMask   = 0x0fff
	intentToAdd  = 0x2000
	fixedLength  = 62 // of an entry before its name
)

// entry is one file in the index. stat is what the file system said of it, in
// git's form: times of change, device, inode, mode, owner and size.
type entry struct {
	stat  [40]byte
	id    plumbing.Hash
	flags uint16 // without the length of the name
	more  uint16 // with flagExtended
	name  string
}

func (e entry) mode() string { return fmt.Sprintf("%o", binary.BigEndian.Uint32(e.stat[24:])) }

func (e entry) modified() int64 {
	return time.Unix(int64(binary.BigEndian.Uint32(e.stat[8:])), int64(binary.BigEndian.Uint32(e.stat[12:]))).UnixNano()
}

// entryOf returns the entry of a file, without what is in it.
func entryOf(name string, info fs.FileInfo) entry {
	e := entry{name: name}
	put := func(at int, n int64) { binary.BigEndian.PutUint32(e.stat[at:], uint32(n)) }
	modified := info.ModTime()
	put(8, modified.Unix())
	put(12, int64(modified.Nanosecond()))
	mode := int64(0o100644)
	if isProgram(info) {
		mode = 0o100755
	}
	put(24, mode)
	put(36, info.Size())
	putSystem(info, put)
	return e
}

func compareEntries(a, b entry) int {
	if c := strings.Compare(a.name, b.name); c != 0 {
		return c
	}
	return int(a.flags&flagStage) - int(b.flags&flagStage)
}

// index is the file .git/index, without the files that it shares.
type index struct {
	version  uint32
	replaced []entry       // in place of shared ones, as the bits say
	entries  []entry       // in place of shared ones of the same name, or beside them
	shared   plumbing.Hash // zero: it shares none
	bits     []byte        // which shared ones are left out, and which are replaced
	undo     []byte        // how conflicts were before they were resolved
	written  int64         // when, in nanoseconds
}

func readIndexFile(name string) (*index, error) {
	raw, err := sys.ReadRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoIndex
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	x, err := parseIndex(raw)
	if err != nil {
		return nil, err
	}
	x.written = info.ModTime().UnixNano()
	return x, nil
}

// assumeUnchanged has git not look at a file.
const assumeUnchanged = 0x8000

// Assuming returns the index of a repository with the files of these names, below
// the folder tree, as ones that git takes for unchanged without looking at them.
// It is nil where that would change nothing: git finds by their times alone that
// they are unchanged, or does not know them.
func Assuming(indexFile, tree string, names []string) ([]byte, error) {
	x, err := readIndexFile(indexFile)
	if errors.Is(err, errNoIndex) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	looked := false
	for _, list := range [][]entry{x.replaced, x.entries} {
		for i := range list {
			e := &list[i]
			if !slices.Contains(names, e.name) {
				continue
			}
			info, err := os.Lstat(filepath.Join(tree, filepath.FromSlash(e.name)))
			is := entry{}
			if err == nil {
				is = entryOf(e.name, info)
			}
			same := err == nil && bytes.Equal(is.stat[:16], e.stat[:16]) && bytes.Equal(is.stat[20:24], e.stat[20:24]) && bytes.Equal(is.stat[36:], e.stat[36:])
			// A file that was written in the second in which the index was is read by git.
			if !same || x.written/int64(time.Second) <= info.ModTime().Unix() {
				looked = true
			}
			e.flags |= assumeUnchanged
		}
	}
	if !looked {
		return nil, nil
	}
	return x.encode(), nil
}

func parseIndex(raw []byte) (*index, error) {
	end := len(raw) - sha1.Size
	if end < 12 || string(raw[:4]) != "DIRC" {
		return nil, errBroken
	}
	if sum := sha1.Sum(raw[:end]); !bytes.Equal(sum[:], raw[end:]) && !bytes.Equal(raw[end:], make([]byte, sha1.Size)) {
		return nil, errBroken
	}
	x := &index{version: binary.BigEndian.Uint32(raw[4:])}
	if x.version < 2 || x.version > 4 {
		return nil, errUnknown
	}
	count := int(binary.BigEndian.Uint32(raw[8:]))
	if count > end/fixedLength {
		return nil, errBroken
	}
	x.entries = make([]entry, 0, count)
	rest, previous := raw[12:end], ""
	for range count {
		var e entry
		var ok bool
		if e, rest, ok = x.parseEntry(rest, previous); !ok {
			return nil, errBroken
		}
		previous = e.name
		x.entries = append(x.entries, e)
	}
	for len(rest) >= 8 {
		kind, size := rest[:4], int(binary.BigEndian.Uint32(rest[4:]))
		if size > len(rest)-8 {
			return nil, errBroken
		}
		data := rest[8 : 8+size]
		rest = rest[8+size:]
		switch {
		case bytes.Equal(kind, linkTo) && size >= len(x.shared):
			copy(x.shared[:], data)
			x.bits = data[len(x.shared):]
		case bytes.Equal(kind, resolveUndo):
			x.undo = data
		case kind[0] < 'A' || kind[0] > 'Z':
			return nil, errUnknown
		} // the others speed git up, and would have to be brought up to date
	}
	if len(rest) > 0 {
		return nil, errBroken
	}
	_, replaced, err := x.marks()
	if err != nil || len(replaced) > len(x.entries) {
		return nil, errBroken
	}
	x.replaced, x.entries = x.entries[:len(replaced):len(replaced)], x.entries[len(replaced):]
	return x, nil
}

func (x *index) parseEntry(raw []byte, previous string) (e entry, rest []byte, ok bool) {
	if len(raw) < fixedLength {
		return e, nil, false
	}
	copy(e.stat[:], raw)
	copy(e.id[:], raw[40:])
	flags := binary.BigEndian.Uint16(raw[60:])
	e.flags = flags & flagsKept
	at := fixedLength
	if flags&flagExtended != 0 {
		if len(raw) < at+2 {
			return e, nil, false
		}
		e.more = binary.BigEndian.Uint16(raw[at:])
		at += 2
	}
	if x.version == 4 {
		drop, size := varint(raw[at:])
		if size == 0 || drop > len(previous) {
			return e, nil, false
		}
		at += size
		null := bytes.IndexByte(raw[at:], 0)
		if null < 0 {
			return e, nil, false
		}
		e.name = previous[:len(previous)-drop] + string(raw[at:at+null])
		return e, raw[at+null+1:], true
	}
	length := int(flags & lengthMask)
	if length == lengthMask {
		length = bytes.IndexByte(raw[at:], 0)
	}
	end := (at + length + 8) &^ 7
	if length < 0 || end > len(raw) {
		return e, nil, false
	}
	e.name = string(raw[at : at+length])
	return e, raw[end:], true
}

// encode returns the file.
func (x *index) encode() []byte {
	all := slices.Concat(x.replaced, x.entries)
	version := x.version
	if version < 4 {
		version = 2
		if slices.ContainsFunc(all, func(e entry) bool { return e.flags&flagExtended != 0 }) {
			version = 3
		}
	}
	out := make([]byte, 0, 128*len(all)+256)
	out = append(out, "DIRC"...)
	out = binary.BigEndian.AppendUint32(out, version)
	out = binary.BigEndian.AppendUint32(out, uint32(len(all)))
	previous := ""
	for _, e := range all {
		start := len(out)
		out = append(out, e.stat[:]...)
		out = append(out, e.id[:]...)
		out = binary.BigEndian.AppendUint16(out, e.flags|uint16(min(len(e.name), lengthMask)))
		if e.flags&flagExtended != 0 {
			out = binary.BigEndian.AppendUint16(out, e.more)
		}
		if version == 4 {
			same := 0
			for same < min(len(previous), len(e.name)) && previous[same] == e.name[same] {
				same++
			}
			out = appendVarint(out, len(previous)-same)
			out = append(append(out, e.name[same:]...), 0)
			previous = e.name
			continue
		}
		out = append(out, e.name...)
		for fill := 8 - (len(out)-start)%8; fill > 0; fill-- {
			out = append(out, 0)
		}
	}
	extend := func(kind []byte, parts ...[]byte) {
		data := slices.Concat(parts...)
		out = append(out, kind...)
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		out = append(out, data...)
	}
	if !x.shared.IsZero() {
		extend(linkTo, x.shared[:], x.bits)
	}
	if x.undo != nil {
		extend(resolveUndo, x.undo)
	}
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

func sharedFile(folder string, id plumbing.Hash) string {
	return filepath.Join(folder, "sharedindex."+id.String())
}

// join takes the shared entries into the index itself.
func (x *index) join(folder string) error {
	if x.shared.IsZero() {
		return nil
	}
	base, err := readIndexFile(sharedFile(folder, x.shared))
	if err != nil {
		return fmt.Errorf("read what the index shares: %w", err)
	}
	if !base.shared.IsZero() {
		return errBroken
	}
	left, replaced, err := x.marks()
	if err != nil {
		return err
	}
	own := map[string]bool{}
	for _, e := range x.entries {
		own[e.name] = true
	}
	out := make([]entry, 0, len(base.entries)+len(x.entries))
	for n, at := range replaced {
		if at >= len(base.entries) {
			return errBroken
		}
		e := x.replaced[n]
		e.name = base.entries[at].name
		base.entries[at] = e
	}
	for at, e := range base.entries {
		if _, gone := slices.BinarySearch(left, at); !gone && !own[e.name] {
			out = append(out, e)
		}
	}
	out = append(out, x.entries...)
	slices.SortStableFunc(out, compareEntries)
	x.entries, x.replaced, x.shared, x.bits = out, nil, plumbing.ZeroHash, nil
	return nil
}

// marks returns which shared entries are left out and which are replaced, both
// in order.
func (x *index) marks() (left, replaced []int, err error) {
	if len(x.bits) == 0 {
		return nil, nil, nil
	}
	left, rest, err := parseBits(x.bits)
	if err == nil {
		replaced, _, err = parseBits(rest)
	}
	return left, replaced, err
}

// parseBits reads a set of numbers in the form EWAH: words of 64 bits, each run
// of them after a word that says how many of the same come first and how many
// follow as they are.
func parseBits(raw []byte) (set []int, rest []byte, err error) {
	if len(raw) < 12 {
		return nil, nil, errBroken
	}
	count, words := int(binary.BigEndian.Uint32(raw)), int(binary.BigEndian.Uint32(raw[4:]))
	if words > (len(raw)-12)/8 {
		return nil, nil, errBroken
	}
	data := raw[8 : 8+8*words]
	rest = raw[12+8*words:]
	at := 0
	for len(data) > 0 {
		head := binary.BigEndian.Uint64(data)
		data = data[8:]
		run, literal := int(head>>1&0xffffffff), int(head>>33)
		if literal > len(data)/8 {
			return nil, nil, errBroken
		}
		if head&1 == 1 {
			for bit := at; bit < min(at+64*run, count); bit++ {
				set = append(set, bit)
			}
		}
		at += 64 * run
		for range literal {
			for word := binary.BigEndian.Uint64(data); word != 0; word &= word - 1 {
				set = append(set, at+bits.TrailingZeros64(word))
			}
			data = data[8:]
			at += 64
		}
	}
	return set, rest, nil
}

// varint reads a number as the index has it in version 4, and how many bytes it
// takes; 0 when there is none.
func varint(raw []byte) (n, size int) {
	for i, c := range raw[:min(len(raw), 5)] {
		if i > 0 {
			n++
		}
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}

func appendVarint(out []byte, n int) []byte {
	raw := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		raw = append(raw, byte(0x80|n&0x7f))
	}
	slices.Reverse(raw)
	return append(out, raw...)
}
