package kernel

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

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
	Path    string `json:"path,omitempty"`    // a folder or a file; "" is the caller's folder
	Glob    string `json:"glob,omitempty"`    // which files: "*.go", "src/**/*.ts"
	Ignored bool   `json:"ignored,omitempty"` // also what .gitignore and .ignore leave out
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

// Grep searches the lines of text files. It passes over what .gitignore and
// .ignore leave out, unless that is asked for or named as the path; version
// control, installed packages, binary files and files over 10 MB; and files
// that hold passwords or keys by their name. It ends after 200 matches or 30
// seconds.
func (a *ExecAPI) Grep(ctx context.Context, in GrepArgs) (GrepResult, error) {
	p := a.place(in.Path)
	act := a.fileAction("exec.grep", p, useSearch, struct {
		Path string
		Args GrepArgs
	}{p.abs, in})
	act.reads = a.readsPlace(p)
	var found []GrepMatch
	act.brought = func(ctx context.Context) (Labels, error) { return a.readMatches(ctx, p, found) }
	return guard(ctx, a.caller, act, func(ctx context.Context) (GrepResult, error) {
		r := GrepResult{Matches: []GrepMatch{}}
		defer func() { found = r.Matches }()
		re, err := regexp.Compile(in.Pattern)
		if err != nil || in.Pattern == "" {
			return r, badPattern(in.Pattern, err)
		}
		if err := checkGlob(in.Glob); err != nil {
			return r, err
		}
		g := &grep{result: &r, line: re, marked: func(name, text string) string {
			file := filepath.FromSlash(name)
			if !filepath.IsAbs(file) {
				file = filepath.Join(p.folder, file)
			}
			t := a.k.marked(file, text)
			a.sawMarks(t)
			return t.Shown()
		}}
		if !strings.Contains(in.Pattern, `\A`) && !strings.Contains(in.Pattern, `\z`) {
			g.whole = regexp.MustCompile("(?m:" + in.Pattern + ")") // it compiled without the flag
		}
		s := &search{k: a.k, place: p, only: in.Glob, contents: true, all: in.Ignored, shut: a.shut()}
		err = s.walk(ctx, g.file)
		r.Note = s.note(r.Truncated, "Narrow the pattern, the path or the glob to see the rest.")
		r.Truncated = r.Truncated || s.timedOut
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
	marked func(name, text string) string // a file as it is read
	whole  *regexp.Regexp                 // finds whether a file has a match at all; nil when it cannot
}

// file searches one file. It returns [fs.SkipAll] when there is enough.
func (g *grep) file(name string, _ fs.DirEntry, open func() (fs.File, error)) error {
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
	// What is masked is not found either: it could be guessed by searching.
	n := 0
	for text := range strings.Lines(g.marked(name, string(raw))) {
		n++
		text = strings.TrimRight(text, "\r\n")
		if !g.line.MatchString(text) {
			continue
		}
		if len(g.result.Matches) == maxMatches {
			g.result.Truncated = true
			return fs.SkipAll
		}
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
	Ignored bool   `json:"ignored,omitempty"` // also what .gitignore and .ignore leave out
}

// FindResult lists the paths that were found; folders end in a slash.
type FindResult struct {
	Paths     []string `json:"paths"`
	Truncated bool     `json:"truncated"`
	Note      string   `json:"note,omitempty"`
}

// Find looks for files and folders by their names. It ends after 1000 paths or
// 30 seconds, and passes over version control, installed packages and what
// .gitignore and .ignore leave out, unless that is asked for or named as the
// path.
func (a *ExecAPI) Find(ctx context.Context, in FindArgs) (FindResult, error) {
	p := a.place(in.Path)
	act := a.fileAction("exec.find", p, useFind, struct {
		Path string
		Args FindArgs
	}{p.abs, in})
	act.reads = a.readsFolder(p, true, in.Ignored)
	return guard(ctx, a.caller, act, func(ctx context.Context) (FindResult, error) {
		r := FindResult{Paths: []string{}}
		pattern, folders := strings.CutSuffix(strings.TrimPrefix(in.Pattern, "./"), "/") // as they are listed
		if pattern == "" || filepath.IsAbs(pattern) || strings.HasPrefix(pattern, "~") || strings.HasPrefix(pattern, "../") {
			return r, sys.Errorf(sys.CodeInvalid, "The pattern %q is not one for names below a folder.", cutText(in.Pattern, 200)).
				WithHint("Give the folder as path, and a pattern such as *.pdf or src/**/*.go.")
		}
		if err := checkGlob(pattern); err != nil {
			return r, err
		}
		s := &search{k: a.k, place: p, only: pattern, folders: true, all: in.Ignored, shut: a.shut()}
		err := s.walk(ctx, func(name string, _ fs.DirEntry, _ func() (fs.File, error)) error {
			if folders && !strings.HasSuffix(name, "/") {
				return nil
			}
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
