package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// passedOver are folders that hold what nobody wrote here. One of them is
// searched when it is named as the path.
var passedOver = map[string]bool{".git": true, ".hg": true, ".svn": true, "node_modules": true, "__pycache__": true, ".venv": true}

// search walks the files below a place.
type search struct {
	k        *Kernel
	place    place
	only     string        // a glob; "" for all
	folders  bool          // folders are results too
	contents bool          // it looks into files: secrets and huge ones are left out
	all      bool          // also what is ignored
	within   time.Duration // how long it may take; 0 is maxSearch
	shut     security.Shut // what is left out without a word: the caller may not know of it

	own      os.FileInfo     // the Oxios home, if it can be looked at
	witness  string          // where the witness of the audit chain lies; "" for none
	skipped  map[string]bool // the names of folders that were passed over
	ignored  int             // paths that are ignored and would have been searched, a folder for all in it
	examples []string        // the first of those
	withheld int             // files that may hold secrets
	huge     int
	timedOut bool
}

// walk calls visit for what matches, in the order of the paths, until it
// returns [fs.SkipAll].
func (s *search) walk(ctx context.Context, visit func(name string, d fs.DirEntry, open func() (fs.File, error)) error) error {
	root, err := s.place.open()
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(s.place.rel)
	if err != nil {
		return s.k.fileError(root, s.place, err)
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() || s.folders {
			return sys.Errorf(sys.CodeInvalid, "%s is not a folder.", s.place.shown).WithHint("Give a folder as the path.")
		}
		return skipAll(visit(s.place.shown, fs.FileInfoToDirEntry(info), opener(root, s.place.rel)))
	}
	s.skipped = map[string]bool{}
	s.own, _ = os.Stat(s.k.opts.Home)
	for _, at := range s.k.witnessPlace() {
		s.witness = at
	}
	tree := root.FS().FS()
	ignores := func(string, bool) bool { return false }
	if !s.all {
		t := newIgnoring(root, s.place.rel)
		defer t.close(root)
		tree, ignores = t, t.ignores
	}
	end := time.Now().Add(cmp.Or(s.within, maxSearch))
	return skipAll(fs.WalkDir(tree, s.place.rel, func(rel string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Now().After(end):
			s.timedOut = true
			return fs.SkipAll
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir // a folder that may not be read
		case err != nil || rel == s.place.rel:
			return nil
		case shuts(s.shut, filepath.Join(s.place.root, filepath.FromSlash(rel)), d):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if passedOver[d.Name()] {
				s.skipped[d.Name()] = true
				return fs.SkipDir
			}
			if ignores(rel, true) {
				s.leaveOut(s.place.show(rel) + "/")
				return fs.SkipDir
			}
			if s.guarded(rel, d) {
				s.withheld++
				return fs.SkipDir
			}
			if s.folders && s.matches(rel) {
				return visit(s.place.show(rel)+"/", d, nil)
			}
			return nil
		}
		if !s.matches(rel) {
			return nil
		}
		if ignores(rel, false) {
			s.leaveOut(s.place.show(rel))
			return nil
		}
		if s.contents && !s.readable(rel, d) {
			return nil
		}
		return visit(s.place.show(rel), d, opener(root, rel))
	}))
}

func skipAll(err error) error {
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func opener(root *security.Root, rel string) func() (fs.File, error) {
	return func() (fs.File, error) {
		f, _, err := root.OpenRegular(rel)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

func (s *search) matches(rel string) bool {
	if s.only == "" {
		return true
	}
	name := rel
	switch {
	case !strings.Contains(s.only, "/"):
		name = path.Base(rel)
	case s.place.rel != ".":
		name = strings.TrimPrefix(rel, s.place.rel+"/")
	}
	if isASCII(name) {
		return doublestar.MatchUnvalidated(s.only, name)
	}
	return doublestar.MatchUnvalidated(norm.NFC.String(s.only), norm.NFC.String(name))
}

// leaveOut notes what is ignored.
func (s *search) leaveOut(name string) {
	if s.ignored++; len(s.examples) < 3 {
		s.examples = append(s.examples, name)
	}
}

// guarded reports whether nobody may look into a folder.
func (s *search) guarded(rel string, d fs.DirEntry) bool {
	if v := s.verdict(rel); v.Protected || v.Read >= security.TierRefuse {
		return true
	}
	info, err := d.Info()
	return err == nil && s.own != nil && os.SameFile(info, s.own) // bound to another name
}

// readable reports whether a file is looked into.
func (s *search) readable(rel string, d fs.DirEntry) bool {
	if !d.Type().IsRegular() {
		return false
	}
	if v := s.verdict(rel); v.Protected || v.Sensitive || v.Read >= security.TierRefuse {
		s.withheld++
		return false
	}
	if info, err := d.Info(); err == nil && info.Size() > maxGrepFile {
		s.huge++
		return false
	}
	return true
}

func (s *search) verdict(rel string) security.PathVerdict {
	at := filepath.Join(s.place.root, filepath.FromSlash(rel))
	v := security.Classify(at, s.place.folder, homeFolder(), s.k.opts.Home)
	if s.witness != "" && security.Within(at, s.witness) {
		v = v.Own()
	}
	return v
}

// note says in words what a search left out.
func (s *search) note(full bool, narrow string) string {
	var notes []string
	if full {
		notes = append(notes, "There is more. "+narrow)
	}
	if s.timedOut {
		notes = append(notes, fmt.Sprintf("The search was ended after %s. %s", maxSearch, narrow))
	}
	if s.ignored > 0 {
		what := s.k.masked(strings.Join(s.examples, ", "))
		if more := s.ignored - len(s.examples); more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, "Left out by .gitignore: "+what+". Set ignored to true to search that too, or name it as the path.")
	}
	if s.withheld > 0 {
		notes = append(notes, plural(s.withheld, "place")+" that may hold passwords or keys left out.")
	}
	if s.huge > 0 {
		notes = append(notes, plural(s.huge, "file")+" over "+sizeText(maxGrepFile)+" left out; use a command for those.")
	}
	var names []string
	for _, n := range []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"} {
		if s.skipped[n] {
			names = append(names, n)
		}
	}
	if len(names) > 0 {
		notes = append(notes, "Passed over: "+strings.Join(names, ", ")+". Name one as the path to look into it.")
	}
	return strings.Join(notes, " ")
}
