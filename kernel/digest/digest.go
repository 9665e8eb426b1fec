// Package digest says what a folder holds in one word: blake3 over the paths, modes and contents of its files.
//
// It owns the form of that hash, so that it means the same wherever a folder is pinned. It promises that two lists of files
// that differ in a path, in whether a file may be executed, in a size, a content or in what a link says have two hashes. Times,
// owners and empty folders do not count. Begin with [New]. Which files count, and in which order, is the caller's: sorted by
// path. It must never read a file itself.
package digest

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"

	"github.com/zeebo/blake3"
)

// Hash is the hash of a folder whose files are told one after the other.
type Hash struct{ h *blake3.Hasher }

// New returns the hash of an empty folder.
func New() *Hash { return &Hash{blake3.New()} }

// File begins a file of so many bytes, whose content is written into what it returns.
func (h *Hash) File(name string, mode fs.FileMode, size int64) io.Writer {
	kind := byte('-')
	if mode&0o111 != 0 {
		kind = 'x'
	}
	h.put(name, kind, size)
	return h.h
}

// Link is a link that says target.
func (h *Hash) Link(name, target string) {
	h.put(name, 'l', int64(len(target)))
	_, _ = io.WriteString(h.h, target) // a hash takes all
}

// String is the hash of what was told so far.
func (h *Hash) String() string { return "blake3:" + hex.EncodeToString(h.h.Sum(nil)) }

// put writes what comes before a content; each part has its length with it, so that no two lists of files read alike.
func (h *Hash) put(name string, kind byte, size int64) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(name)))
	_, _ = h.h.Write(n[:])
	_, _ = io.WriteString(h.h, name)
	binary.BigEndian.PutUint64(n[:], uint64(size))
	_, _ = h.h.Write(append([]byte{kind}, n[:]...))
}
