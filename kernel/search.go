package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The bounds of a search.
const (
	maxMatches   = 200
	maxPaths     = 1000
	maxMatchText = 500      // bytes shown of a line
	maxGrepFile  = 10 << 20 // of a file that is searched
	maxSearch    = 30 * time.Second
)

// GrepArgs says what to search. Pattern is a regular expression (RE2), matched
// line by line.
type GrepArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"` // a folder or a file; "" is the caller's folder
	Glob    string `json:"glob,omitempty"` // which files: "*.go", "src/**/*.ts"
}

// GrepMatch is a line that matches.
type GrepMatch struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// GrepResult is what a search found, in the order of the paths.
type GrepResult struct {
	Matches   []GrepMatch `json:"matches"`
	Files     int         `json:"files"` // how many files were searched
	Truncated bool        `json:"truncated"`
	Note      string      `json:"note,omitempty"` // what was left out, and how to see it
}

// Grep searches the lines of text files. It passes over version control,
// installed packages, binary files and files over 10 MB, and files that hold
// passwords or keys by their name; it ends after 200 matches or 30 seconds.
func (a *ExecAPI) Grep(ctx context.Context, in GrepArgs) (GrepResult, error) {
	p := a.place(in.Path)
	act := a.fileAction("exec.grep", p, useSearch, struct {
		Path string
		Args GrepArgs
	}{p.abs, in})
	return guard(ctx, a.caller, act, func(ctx context.Context) (GrepResult, error) {
		r := GrepResult{Matches: []GrepMatch{}}
		re, err := regexp.Compile(in.Pattern)
		if err != nil || in.Pattern == "" {
			return r, badPattern(in.Pattern, err)
		}
		if err := checkGlob(in.Glob); err != nil {
			return r, err
		}
		g := &grep{result: &r, line: re}
		if !strings.Contains(in.Pattern, `\A`) && !strings.Contains(in.Pattern, `\z`) {
			g.whole = regexp.MustCompile("(?m:" + in.Pattern + ")") // it compiled without the flag
		}
		s := &search{k: a.k, place: p, only: in.Glob, contents: true}
		err = s.walk(ctx, g.file)
		r.Note = s.note(r.Truncated, "Narrow the pattern, the path or the glob to see the rest.")
		r.Truncated = r.Truncated || s.timedOut
		for i := range r.Matches {
			r.Matches[i].Text = a.k.masked(r.Matches[i].Text)
		}
		return r, err
	})
}

func badPattern(pattern string, err error) error {
	if err == nil {
		return sys.Errorf(sys.CodeInvalid, "The pattern is empty. Nothing was searched.")
	}
	return sys.Errorf(sys.CodeInvalid, "%q is not a regular expression: %s.", cutText(pattern, 200), strings.TrimPrefix(err.Error(), "error parsing regexp: ")).
		WithHint("The syntax is RE2: no lookaround and no backreferences. Put a backslash before ( ) [ ] { } . * + ? | ^ $ \\ to mean the character itself.")
}

func checkGlob(glob string) error {
	if doublestar.ValidatePattern(glob) {
		return nil
	}
	return sys.Errorf(sys.CodeInvalid, "%q is not a pattern for file names.", cutText(glob, 200)).WithHint("Use one such as *.go, **/*_test.go or src/{a,b}/*.ts.")
}

// grep collects the lines that match.
type grep struct {
	result *GrepResult
	line   *regexp.Regexp
	whole  *regexp.Regexp // finds whether a file has a match at all; nil when it cannot
}

// file searches one file. It returns [fs.SkipAll] when there is enough.
func (g *grep) file(name string, open func() (fs.File, error)) error {
	f, err := open()
	if err != nil {
		return nil //nolint:nilerr // it went away, or may not be read: as grep -s
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxGrepFile+1))
	if err != nil || len(raw) > maxGrepFile {
		return err
	}
	if !bytes.HasPrefix(raw, []byte("\xFF\xFE")) && !bytes.HasPrefix(raw, []byte("\xFE\xFF")) && bytes.IndexByte(raw[:min(len(raw), sniffed)], 0) >= 0 {
		return nil
	}
	if !utf8.Valid(raw) {
		text, _, err := decodeText(raw)
		if err != nil {
			return nil //nolint:nilerr // binary
		}
		raw = []byte(text)
	}
	g.result.Files++
	if g.whole != nil && !g.whole.Match(raw) {
		return nil
	}
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if !g.line.Match(line) {
			continue
		}
		if len(g.result.Matches) == maxMatches {
			g.result.Truncated = true
			return fs.SkipAll
		}
		text := string(line)
		if len(text) > maxMatchText {
			at := g.line.FindStringIndex(text)[0]
			text = window(text, at, maxMatchText)
		}
		g.result.Matches = append(g.result.Matches, GrepMatch{name, n, text})
	}
	return nil
}

// window cuts a long line to n bytes around at.
func window(s string, at, n int) string {
	from := max(0, min(at-n/4, len(s)-n))
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	cut := cutText(s[from:], n)
	if from > 0 {
		cut = "… " + cut
	}
	return cut + " …"
}

// FindArgs says which files to look for. Pattern is a glob: one without a slash
// means the name, wherever it is.
type FindArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

// FindResult lists the paths that were found; folders end in a slash.
type FindResult struct {
	Paths     []string `json:"paths"`
	Truncated bool     `json:"truncated"`
	Note      string   `json:"note,omitempty"`
}

// Find looks for files and folders by their names. It ends after 1000 paths or
// 30 seconds, and passes over version control and installed packages.
func (a *ExecAPI) Find(ctx context.Context, in FindArgs) (FindResult, error) {
	p := a.place(in.Path)
	act := a.fileAction("exec.find", p, useFind, struct {
		Path string
		Args FindArgs
	}{p.abs, in})
	return guard(ctx, a.caller, act, func(ctx context.Context) (FindResult, error) {
		r := FindResult{Paths: []string{}}
		pattern := strings.TrimPrefix(in.Pattern, "./")
		if pattern == "" || filepath.IsAbs(pattern) || strings.HasPrefix(pattern, "~") || strings.HasPrefix(pattern, "../") {
			return r, sys.Errorf(sys.CodeInvalid, "The pattern %q is not one for names below a folder.", cutText(in.Pattern, 200)).
				WithHint("Give the folder as path, and a pattern such as *.pdf or src/**/*.go.")
		}
		if err := checkGlob(pattern); err != nil {
			return r, err
		}
		s := &search{k: a.k, place: p, only: pattern, folders: true}
		err := s.walk(ctx, func(name string, _ func() (fs.File, error)) error {
			if len(r.Paths) == maxPaths {
				r.Truncated = true
				return fs.SkipAll
			}
			r.Paths = append(r.Paths, a.k.masked(name))
			return nil
		})
		r.Note = s.note(r.Truncated, "Narrow the pattern or the path to see the rest.")
		r.Truncated = r.Truncated || s.timedOut
		return r, err
	})
}

// passedOver are folders that hold what nobody wrote here. One of them is
// searched when it is named as the path.
var passedOver = map[string]bool{".git": true, ".hg": true, ".svn": true, "node_modules": true, "__pycache__": true, ".venv": true}

// search walks the files below a place.
type search struct {
	k        *Kernel
	place    place
	only     string // a glob; "" for all
	folders  bool   // folders are results too
	contents bool   // it looks into files: secrets and huge ones are left out

	skipped  map[string]bool // the names of folders that were passed over
	withheld int             // files that may hold secrets
	huge     int
	timedOut bool
}

// walk calls visit for what matches, in the order of the paths, until it
// returns [fs.SkipAll].
func (s *search) walk(ctx context.Context, visit func(name string, open func() (fs.File, error)) error) error {
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
		return skipAll(visit(s.place.shown, opener(root, s.place.rel)))
	}
	s.skipped = map[string]bool{}
	end := time.Now().Add(maxSearch)
	return skipAll(fs.WalkDir(root.FS().FS(), s.place.rel, func(rel string, d fs.DirEntry, err error) error {
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
		}
		if d.IsDir() {
			if passedOver[d.Name()] {
				s.skipped[d.Name()] = true
				return fs.SkipDir
			}
			if s.guarded(rel) {
				s.withheld++
				return fs.SkipDir
			}
			if s.folders && s.matches(rel) {
				return visit(s.place.show(rel)+"/", nil)
			}
			return nil
		}
		if !s.matches(rel) {
			return nil
		}
		if s.contents && !s.readable(rel, d) {
			return nil
		}
		return visit(s.place.show(rel), opener(root, rel))
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
	return doublestar.MatchUnvalidated(s.only, name)
}

// guarded reports whether nobody may look into a folder.
func (s *search) guarded(rel string) bool {
	v := s.verdict(rel)
	return v.Protected || v.Read >= security.TierRefuse
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
	return security.Classify(filepath.Join(s.place.root, filepath.FromSlash(rel)), s.place.folder, homeFolder(), s.k.opts.Home)
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
