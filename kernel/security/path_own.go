package security

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Within reports whether p is dir or lies below it, by whole names as they are
// spelled. Both are clean. Nothing lies within "".
func Within(p, dir string) bool {
	if dir == "" {
		return false
	}
	p, dir = filepath.ToSlash(p), strings.TrimSuffix(filepath.ToSlash(dir), "/")
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// Leads reports whether p is dir or lies below it on the disk, whatever it is
// called: through a link, a bind mount or a file system to which two spellings
// are one name. Both are absolute. What does not exist is judged by the folders
// above it, and by how it is spelled.
func Leads(p, dir string) bool {
	if Within(p, dir) {
		return true
	}
	to, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for {
		if at, err := os.Stat(p); err == nil && os.SameFile(at, to) {
			return true
		}
		parent := filepath.Dir(p)
		if parent == p {
			return false
		}
		p = parent
	}
}

// ClassifyFile is [Classify] for a file of this machine: it knows the files of
// Oxios by where they lie too ([Leads]), which takes a look at each folder
// above p. A folder inside the Oxios home is open to its run.
func ClassifyFile(p, folder, home, oxiosHome string) PathVerdict {
	v := Classify(p, folder, home, oxiosHome)
	if v.Protected || oxiosHome == "" || !Leads(filepath.FromSlash(v.Abs), oxiosHome) {
		return v
	}
	if v.Inside && Leads(filepath.Dir(folder), oxiosHome) {
		return v
	}
	return v.Own()
}

// isProtected reports whether an absolute path belongs to Oxios. A folder
// inside the Oxios home (the workspace of a space) is open to its run, the rest
// is not. The state folder of Oxios holds the witness of the audit chain.
func isProtected(p, folder, oxiosHome string, inside bool) bool {
	open := inside && strings.Count(folder, "/") > strings.Count(oxiosHome, "/") && spelledWithin(folder, oxiosHome)
	if !open && spelledWithin(p, oxiosHome) {
		return true
	}
	if inside {
		p = p[len(strings.TrimSuffix(folder, "/")):]
	}
	p = pathFold(p)
	return hasPart(p, ".oxios") || strings.Contains(p+"/", "/.local/state/oxios/")
}

// Own is the verdict about what belongs to Oxios itself, wherever it lies.
func (v PathVerdict) Own() PathVerdict {
	v.Protected = true
	return v.with(TierRefuse, TierRefuse, cmdProtected)
}

// spelledWithin reports whether p lies within the Oxios home. Where the two
// differ in what many file systems pass over (letter case above all), the disk
// says whether they are one folder: the home exists, so that another spelling
// of it is found there too. As long as that cannot be known, they are one.
func spelledWithin(p, oxiosHome string) bool {
	if oxiosHome == "" || !Within(pathFold(p), pathFold(oxiosHome)) {
		return false
	}
	parts := strings.Split(p, "/")
	names := min(strings.Count(oxiosHome, "/")+1, len(parts)) // a character that only looks like a slash makes p shorter
	spelled := strings.Join(parts[:names], "/")
	if spelled == oxiosHome {
		return true
	}
	own, err := os.Stat(filepath.FromSlash(oxiosHome))
	if err != nil {
		return true
	}
	other, err := os.Stat(filepath.FromSlash(spelled))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(own, other)
}
