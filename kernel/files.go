package kernel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The bounds of reading.
const (
	maxFile      = 50 << 20  // of a file that is read or changed as text
	maxReadBytes = 100 << 10 // of one answer
	maxReadLines = 2000      // of one answer, when no limit is given
	maxLine      = 4000      // bytes shown of one line
)

// ReadArgs says what to read. Lines count from 1; the zero values read from the
// start as much as fits in one answer.
type ReadArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"` // the first line
	Limit  int    `json:"limit,omitempty"`  // how many lines
}

// FileText is a part of a text file, as UTF-8 with LF at the ends of lines and
// with marks in the place of secrets, which write and edit put back.
type FileText struct {
	Path       string `json:"path"`
	Text       string `json:"text"`
	FirstLine  int    `json:"first_line"`
	Lines      int    `json:"lines"`       // in Text
	TotalLines int    `json:"total_lines"` // in the file
	Encoding   string `json:"encoding"`    // utf-8, utf-8 with BOM, utf-16le, utf-16be or cp949
	More       bool   `json:"more"`        // there are lines after these
}

// Read reads a text file. Binary files, folders and files over 50 MB are
// errors that say what else to do.
func (a *ExecAPI) Read(ctx context.Context, in ReadArgs) (FileText, error) {
	p := a.place(in.Path)
	act := a.fileAction("exec.read", p, useRead, struct{ Path string }{p.abs})
	act.reads = a.readsFile(p)
	return guard(ctx, a.caller, act, func(ctx context.Context) (FileText, error) { return a.readText(ctx, p, in) })
}

func (a *ExecAPI) readText(ctx context.Context, p place, in ReadArgs) (FileText, error) {
	k := a.k
	if in.Offset < 0 || in.Limit < 0 {
		return FileText{}, sys.Errorf(sys.CodeInvalid, "offset and limit cannot be negative.").WithHint("Lines count from 1.")
	}
	root, err := p.open()
	if err != nil {
		return FileText{}, err
	}
	defer root.Close()
	f, info, err := root.OpenRegular(p.rel)
	if err != nil {
		return FileText{}, k.fileError(root, p, err)
	}
	defer f.Close()
	if info.Size() > maxFile {
		return FileText{}, sys.Errorf(sys.CodeTooLarge, "%s has %s; files over %s are not read as a whole.", p.shown, sizeText(info.Size()), sizeText(maxFile)).
			WithHint("Search it with grep, or take a part of it with a command such as sed -n '1,200p'.")
	}
	enc, err := sniff(f)
	if err != nil {
		return FileText{}, notText(p, info.Size(), err)
	}
	t := FileText{Path: p.shown, FirstLine: max(in.Offset, 1), Encoding: string(enc)}
	// The whole of it: a secret has its number from the beginning, and may begin before the first line that is shown.
	raw, err := io.ReadAll(io.LimitReader(enc.reader(f), 4*maxFile))
	if err != nil {
		return FileText{}, fmt.Errorf("read %s: %w", p.shown, err)
	}
	marked := k.marked(p.abs, string(raw))
	a.sawMarks(marked)
	if err := t.fill(ctx, strings.NewReader(marked.Shown()), orDefault(in.Limit, maxReadLines)); err != nil {
		return FileText{}, fmt.Errorf("read %s: %w", p.shown, err)
	}
	if t.Lines == 0 && t.FirstLine > 1 {
		return FileText{}, sys.Errorf(sys.CodeInvalid, "%s has %s, so there is no line %d.", p.shown, sys.Words{EN: plural(t.TotalLines, "line"), KO: fmt.Sprintf("%d줄", t.TotalLines)}, t.FirstLine)
	}
	return t, nil
}

func orDefault(n, other int) int {
	if n == 0 {
		return other
	}
	return n
}

// fill takes the lines that fit and counts the others.
func (t *FileText) fill(ctx context.Context, r io.Reader, limit int) error {
	var text strings.Builder
	lines := bufio.NewReaderSize(r, 64<<10)
	full := false
	for {
		if t.TotalLines%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line, length, err := nextLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if length == 0 && err != nil {
			break
		}
		t.TotalLines++
		if t.TotalLines < t.FirstLine {
			continue
		}
		if t.Lines == limit || text.Len()+len(line) > maxReadBytes {
			full = true
		}
		if full {
			t.More = true
			continue
		}
		t.Lines++
		text.WriteString(line)
		text.WriteByte('\n')
	}
	t.Text = text.String()
	return nil
}

// nextLine returns a line without its end, cut to [maxLine], and how many bytes
// it had with its end; 0 at the end of the file.
func nextLine(r *bufio.Reader) (line string, length int, err error) {
	var kept []byte
	for {
		part, err := r.ReadSlice('\n')
		length += len(part)
		if room := maxLine + 1 - len(kept); room > 0 {
			kept = append(kept, part[:min(room, len(part))]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = strings.TrimSuffix(strings.TrimSuffix(string(kept), "\n"), "\r")
		if len(line) > maxLine || length > len(kept) {
			cut := cutText(line, maxLine)
			line = fmt.Sprintf("%s … [%d more bytes of this line]", strings.ToValidUTF8(cut, ""), length-len(cut))
		}
		return line, length, err
	}
}

// notText explains why a file is not read.
func notText(p place, size int64, err error) error {
	var binary *errBinary
	if !errors.As(err, &binary) {
		return fmt.Errorf("read %s: %w", p.shown, err)
	}
	return sys.Errorf(sys.CodeInvalid, "%s is not a text file: %s, %s.", p.shown, binary.kind, sizeText(size)).
		WithHint("Use a program that knows this kind of file.")
}

// fileError adds to an error about a file what helps to find the right one.
func (k *Kernel) fileError(root *security.Root, p place, err error) error {
	e := sys.AsError(err)
	switch e.Code {
	case sys.CodeNotFound:
		e = sys.Errorf(sys.CodeNotFound, "There is no %s.", p.shown).WithHint("%s", nearby(root, p))
	case sys.CodeInvalid:
		if info, serr := root.Stat(p.rel); serr == nil && info.IsDir() {
			e = sys.Errorf(sys.CodeInvalid, "%s is a folder, not a file.", p.shown).WithHint("Use ls to see what is in it.")
		}
	default:
	}
	return e
}

// nearby names what is where a missing file was looked for, the most alike
// first.
func nearby(root *security.Root, p place) sys.Words {
	dir, name := path.Dir(p.rel), path.Base(p.rel)
	for dir != "." {
		info, err := root.Stat(dir)
		if err == nil && info.IsDir() {
			break
		}
		dir, name = path.Dir(dir), path.Base(dir)
	}
	entries, err := root.ReadDir(dir)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return shuts(p.shut, filepath.Join(p.root, dir, e.Name()), e)
	})
	if err != nil || len(entries) == 0 {
		return sys.Say("Its folder is empty or missing. Use ls or find to look around.")
	}
	type candidate struct {
		name  string
		score float64
	}
	var list []candidate
	for _, e := range entries {
		shown := path.Join(dir, e.Name())
		if e.IsDir() {
			shown += "/"
		}
		list = append(list, candidate{p.show(shown), likeness(strings.ToLower(name), strings.ToLower(e.Name()))})
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var names []string
	for _, c := range list[:min(5, len(list))] {
		names = append(names, c.name)
	}
	if list[0].score >= 0.4 {
		return sys.Say("Did you mean %s? There are: %s.", names[0], strings.Join(names, ", "))
	}
	return sys.Say("In its folder there are: %s. Use find to look elsewhere.", strings.Join(names, ", "))
}

// likeness compares two texts by their pairs of bytes: 1 for equal ones, 0 for
// those that share none.
func likeness(a, b string) float64 {
	if a == b {
		return 1
	}
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	pairs := map[string]int{}
	for i := 0; i+2 <= len(a); i++ {
		pairs[a[i:i+2]]++
	}
	shared := 0
	for i := 0; i+2 <= len(b); i++ {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b)-2)
}

// LsArgs says which folder to list; "" is the caller's own.
type LsArgs struct {
	Path string `json:"path,omitempty"`
}

// DirEntry is one entry of a folder.
type DirEntry struct {
	Name     string `json:"name"`
	Dir      bool   `json:"dir"`
	Size     int64  `json:"size"` // bytes; 0 for a folder
	Modified string `json:"modified"`
	Link     string `json:"link,omitempty"` // where a link points
}

// LsResult is what is in a folder: folders first, then files, by name.
type LsResult struct {
	Path      string     `json:"path"`
	Entries   []DirEntry `json:"entries"`
	Total     int        `json:"total"` // also of those that are left out
	Truncated bool       `json:"truncated"`
}

const maxEntries = 1000

// Ls lists a folder, at most 1000 entries of it.
func (a *ExecAPI) Ls(ctx context.Context, in LsArgs) (LsResult, error) {
	p := a.place(in.Path)
	act := a.fileAction("exec.ls", p, useList, struct{ Path string }{p.abs})
	act.reads = a.readsFolder(p, false, false)
	return guard(ctx, a.caller, act, func(ctx context.Context) (LsResult, error) {
		root, err := p.open()
		if err != nil {
			return LsResult{}, err
		}
		defer root.Close()
		return a.list(ctx, root, p)
	})
}

func (a *ExecAPI) list(ctx context.Context, root *security.Root, p place) (LsResult, error) {
	r := LsResult{Path: p.shown, Entries: []DirEntry{}}
	entries, err := root.ReadDir(p.rel)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return r, a.k.fileError(root, p, err)
	}
	if err != nil {
		return r, err
	}
	shut := a.shut()
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return shuts(shut, filepath.Join(p.abs, e.Name()), e) })
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		switch {
		case a.IsDir() && !b.IsDir():
			return -1
		case b.IsDir() && !a.IsDir():
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	r.Total = len(entries)
	if len(entries) > maxEntries {
		entries, r.Truncated = entries[:maxEntries], true
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		info, err := e.Info()
		if err != nil {
			continue // it was deleted meanwhile
		}
		entry := DirEntry{Name: a.k.masked(e.Name()), Dir: e.IsDir(), Modified: info.ModTime().UTC().Format("2006-01-02T15:04:05Z")}
		if info.Mode().IsRegular() {
			entry.Size = info.Size()
		}
		if target, err := root.FS().Readlink(path.Join(p.rel, e.Name())); err == nil {
			entry.Link = a.k.masked(filepath.ToSlash(target))
		}
		r.Entries = append(r.Entries, entry)
	}
	return r, nil
}
