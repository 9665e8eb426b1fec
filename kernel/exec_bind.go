package kernel

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/zeebo/blake3"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// basis is what a command stands on besides its words: the files that it would
// execute or read as program text, and those that its tools read first. An
// approval is bound to it.
type basis struct {
	mu    sync.Mutex
	files map[string]security.BasisFile // by absolute path; one that is not there counts too
}

func (b *basis) get() map[string]security.BasisFile {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files
}

func (b *basis) set(files map[string]security.BasisFile) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files = files
}

// states are the files without their texts.
func (b *basis) states() map[string]string {
	out := map[string]string{}
	for path, f := range b.get() {
		out[path] = f.State
	}
	return out
}

// How much of the files is kept for a difference, and how large a file is read.
const (
	maxBasisText = 64 << 10
	maxBasisAll  = 256 << 10
	maxBasisRead = 256 << 20
)

// stands looks at the files that the command stands on.
func (c *command) stands() map[string]security.BasisFile {
	if c.verdict.ReadOnly || c.verdict.Tier >= security.TierRefuse {
		return nil
	}
	v, out, room := c.verdict, map[string]security.BasisFile{}, maxBasisAll
	add := func(path string) {
		if _, ok := out[path]; ok || path == "" {
			return
		}
		f := c.caller.k.basisFile(path, room)
		room -= len(f.Text)
		out[path] = f
	}
	for _, p := range v.Texts {
		add(filepath.FromSlash(p))
	}
	for _, p := range v.Patterns {
		for _, found := range security.Matching(filepath.FromSlash(p), true) {
			add(found)
		}
	}
	for _, t := range v.Tools {
		for _, p := range t.Reads(c.caller.scope.folder) {
			add(p)
		}
	}
	for _, name := range v.Programs {
		if found := findProgram(name, append(slices.Clone(v.Paths), c.argv[0]), c.dir, c.env); found != "" && security.Within(realPath(found), realPath(c.caller.scope.folder)) {
			add(found)
		}
	}
	return out
}

// basisFile is what a file says now. What is no file, or cannot be read, is a state
// of its own.
func (k *Kernel) basisFile(path string, room int) security.BasisFile {
	if isFolder(path) {
		return security.BasisFile{State: "folder"}
	}
	f, info, err := sys.OpenRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return security.BasisFile{State: security.BasisMissing}
	case errors.Is(err, sys.ErrSpecial):
		return security.BasisFile{State: "special"}
	case err != nil:
		return security.BasisFile{State: "unreadable"}
	}
	defer f.Close()
	switch {
	case info.Size() > maxBasisRead:
		return security.BasisFile{State: fmt.Sprintf("large %d %d", info.Size(), info.ModTime().UnixNano())}
	}
	if info.Size() > maxBasisText {
		h := blake3.New()
		if _, err := io.Copy(h, f); err != nil {
			return security.BasisFile{State: "unreadable"}
		}
		return security.BasisFile{State: fmt.Sprintf("%x", h.Sum(nil))}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxBasisRead))
	if err != nil {
		return security.BasisFile{State: "unreadable"}
	}
	out := security.BasisFile{State: contentHash(raw)}
	if text, _, err := decodeText(raw); err == nil && len(text) <= room {
		out.Text, out.Kept = k.masked(text), true
	}
	return out
}

// changedFiles are the paths in which two looks at a basis differ, sorted.
func changedFiles(was, is map[string]security.BasisFile) (out []string) {
	for path := range maps.Keys(was) {
		if now, ok := is[path]; !ok && was[path].State != security.BasisMissing || ok && now.State != was[path].State {
			out = append(out, path)
		}
	}
	for path, f := range is {
		if _, ok := was[path]; !ok && f.State != security.BasisMissing {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// basisDiff shows in what two looks at a basis differ.
func (c *command) basisDiff(was, is map[string]security.BasisFile, changed []string) string {
	var b strings.Builder
	for _, path := range changed {
		b.WriteString(textDiff(c.caller.scope.relative(path), side(was[path]), side(is[path])))
	}
	return capDiff(b.String(), maxCardDiff)
}

// side is a file in a difference: its text, and whether it has one that was kept.
func side(f security.BasisFile) (s diffSide) {
	return diffSide{f.Text, f.Kept || f.State == "" || f.State == security.BasisMissing}
}

type diffSide struct {
	text string
	kept bool
}

// textDiff is the difference of one file. What is no text, or too large, is named.
func textDiff(name string, was, is diffSide) string {
	if was.kept && is.kept {
		if d := unifiedDiff(name, was.text, is.text); d != "" {
			return d
		}
	}
	return unifiedDiff(name, "(not shown: no text, a secret, or too large)\n", "(changed)\n")
}

// movedNow fails when something that the command stands on was changed since it
// was asked about.
func (c *command) movedNow() error {
	changed := changedFiles(c.stood.get(), c.stands())
	if len(changed) == 0 {
		return nil
	}
	return sys.Errorf(sys.CodeConflict, "%s was changed while this waited. Nothing was run.", c.caller.scope.relative(changed[0])).
		WithHint("Look at it and ask again.")
}

// holds are the commands that wait for a person or are about to start, with what
// they stand on.
type holds struct {
	mu   sync.Mutex
	list map[*command]struct{}
}

// hold keeps what a command stands on from being written by its own run until the
// returned function is called.
func (h *holds) hold(c *command) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.list == nil {
		h.list = map[*command]struct{}{}
	}
	h.list[c] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.list, c)
	}
}

// waiting returns the held commands that stand on one of some paths, with the path.
func (h *holds) waiting(paths []string) (found []*command, path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.list {
		for _, p := range paths {
			if c.standsOn(p) {
				found, path = append(found, c), p
				break
			}
		}
	}
	return found, path
}

// standsOn reports whether a path is of what the command stands on, or a folder
// that holds some of it.
func (c *command) standsOn(path string) bool {
	path = realPath(path)
	for at := range c.stood.get() {
		if real := realPath(at); security.Within(real, path) && (real == path || !isFolder(at)) {
			return true
		}
	}
	for _, pattern := range c.verdict.Patterns {
		if ok, _ := filepath.Match(filepath.FromSlash(pattern), path); ok {
			return true
		}
	}
	return false
}
