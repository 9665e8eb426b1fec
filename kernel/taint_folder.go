package kernel

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// special reports whether a folder came to hold a pipe, a socket or a device, or held
// one: through these goes what no index sees.
func special(before, after *undo.Index) bool {
	was := map[string]undo.Stamp{}
	for _, e := range before.Entries {
		if e.State.Kind == undo.Other {
			was[e.Path] = e.Stamp
		}
	}
	n := 0
	for _, e := range after.Entries {
		if e.State.Kind != undo.Other {
			continue
		}
		if stamp, ok := was[e.Path]; !ok || stamp != e.Stamp {
			return true
		}
		n++
	}
	return n != len(was)
}

// taintBelow notes that a run which has read from outside may have written whatever
// lies below a path: everything, or what nobody looks at there.
func (k *Kernel) taintBelow(ctx context.Context, cover, path, runID string, read Labels) error {
	known, err := k.store.FileLabels(ctx, path, "")
	if err != nil {
		return err
	}
	f := store.FileLabel{Path: path, Content: cover + runID, RunID: runID, Labels: read}
	if i := slices.IndexFunc(known, func(o store.FileLabel) bool { return o.Path == path && o.Covers() != "" }); i >= 0 {
		old := known[i]
		live, err := k.liveLabels(ctx, Labels{writtenLabel(old)})
		switch {
		case err != nil:
			return err
		case len(live) == 0: // the person trusts what was there before this
			f.Content = cover + sys.NewID()
		case old.Covers() == store.CoversAll || old.Covers() == cover:
			if !slices.ContainsFunc(read, func(l Label) bool { return !old.Labels.Has(l.ID) }) {
				return nil
			}
			f.Content, f.RunID = old.Content, old.RunID
		}
	}
	return k.store.Write(ctx, func(tx *store.Tx) error { return k.store.LabelFiles(tx, f) })
}

// repositoryLabels are those of the repository around a folder: git reads its
// messages, tags and stashes there.
func (k *Kernel) repositoryLabels(ctx context.Context, dir string) (out Labels, err error) {
	if some, err := k.anyLabel(ctx); err != nil || !some {
		return nil, err
	}
	for _, place := range gitPlaces(repositoryOf(dir)) {
		at, err := k.labelsAt(ctx, place, "")
		if err != nil {
			return nil, err
		}
		below, err := k.labelsBelow(ctx, place)
		if err != nil {
			return nil, err
		}
		for _, f := range append(at, below...) {
			out = out.Join(Labels{writtenLabel(f)})
		}
	}
	return out, nil
}

// gitPlaces are where git keeps what it knows of a folder: its ".git", and where that is
// a file or a link, what it leads to and shares.
func gitPlaces(top string) []string {
	out := []string{filepath.Join(top, ".git")}
	dir := gitLeadsTo(out[0])
	if dir == "" {
		return out
	}
	if dir != out[0] {
		out = append(out, dir)
	}
	if common := filepath.FromSlash(firstLine(filepath.Join(dir, "commondir"))); common != "" {
		out = append(out, realPath(pathFrom(dir, common)))
	}
	return out
}

// firstLine is the first line of a file, "" where there is none.
func firstLine(path string) string {
	f, _, err := sys.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	raw, _ := io.ReadAll(io.LimitReader(f, 1<<16)) // of what cannot be read there is none
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSpace(line)
}

// unseen tells what of a run's effects nobody can know: those of a command of a
// run that has read from outside.
type unseen struct {
	read   Labels            // what the run had read; none where it has read nothing from outside
	hidden map[string]uint64 // how the places were that the index leaves out
}

// untold finds what a run has read from outside, before one of its commands begins.
func (w *watched) untold(ctx context.Context) error {
	read, err := w.u.k.readOutside(ctx, w.by.scope.runID)
	w.unseen.read = read
	return err
}

// readOutside is what a run has read from outside, by where it came from; nil for
// nothing.
func (k *Kernel) readOutside(ctx context.Context, runID string) (Labels, error) {
	read, err := k.liveLabels(ctx, k.runs.of(runID).labels.WithoutWork())
	if err != nil || !read.Untrusted() {
		return nil, err
	}
	return roots(read), nil
}

// begin is called before a command starts, and [watched.done] whatever comes of it. The
// folder is tainted at once where nobody will know what the command did: in the
// background others read meanwhile, and a folder that holds too much is not looked at.
// Without containment it may write anywhere.
func (w *watched) begin(ctx context.Context, level sys.Isolation) error {
	if w == nil || !w.unsure && len(w.unseen.read) == 0 {
		return nil
	}
	w.u.begun(w)
	if !w.unsure && w.before != nil && level.Contained() {
		return nil
	}
	return w.taint(ctx)
}

// taint puts one label on the whole folder.
func (w *watched) taint(ctx context.Context) error {
	if len(w.unseen.read) == 0 {
		return nil
	}
	return w.u.k.taintBelow(ctx, store.CoversAll, w.folder, w.by.scope.runID, w.unseen.read)
}

// settle labels what a command may have done where the index does not look.
func (w *watched) settle(ctx context.Context, after *undo.Index, now looking) error {
	if len(w.unseen.read) == 0 {
		return nil
	}
	if special(w.before, after) {
		return w.taint(ctx)
	}
	for _, place := range changedHidden(w.unseen.hidden, now(after.Skipped)) {
		if err := w.u.k.taintBelow(ctx, store.CoversHidden, place, w.by.scope.runID, w.unseen.read); err != nil {
			return err
		}
	}
	return nil
}

// taintOutside labels what a command was let write outside its folder.
func (c *command) taintOutside(ctx context.Context, writable []string) error {
	k, id := c.caller.k, c.caller.scope.runID
	if id == "" || c.verdict.ReadOnly {
		return nil
	}
	read, err := k.readOutside(ctx, id)
	if err != nil || read == nil {
		return err
	}
	for _, path := range writable {
		if !security.Within(path, realPath(c.caller.scope.folder)) {
			if err := k.taintBelow(ctx, store.CoversAll, path, id, read); err != nil {
				return err
			}
		}
	}
	return nil
}

// shallowPrograms read what they are told to and nothing below it.
var shallowPrograms = strings.Fields("ls pwd echo printf cat head tail wc stat file sort uniq cut date which test [ true false basename dirname readlink realpath df")

var recursive = sys.Pattern(`(^|\s)-[A-Za-z]*R|--recursive|(^|\s)['"]?\.?/?\.[^./\s]|[*?\]}][^\s]*/|/[^\s]*[*?\]}]|--files0-from`)

// staysOnTop reports whether a command reads only the files that lie directly in its
// folder, and so nothing that an index leaves out.
func (c *command) staysOnTop() bool {
	return c.verdict.ReadOnly && !c.verdict.HasExpansion && !recursive().MatchString(c.line) &&
		!(c.verdict.HasGlob && slices.Contains(c.verdict.Programs, "ls")) && // it lists the folders that a pattern finds
		!slices.ContainsFunc(c.verdict.Programs, func(p string) bool { return !slices.Contains(shallowPrograms, p) })
}

// namesSecrets finds in what git said the files of its history that may hold
// passwords or keys: their names are all that tells it.
func (c *command) namesSecrets(output string) (out Labels) {
	if !slices.Contains(c.verdict.Programs, "git") {
		return nil
	}
	for line := range strings.Lines(output) {
		for _, name := range gitNames(line) {
			path := filepath.Join(repositoryOf(c.dir), filepath.FromSlash(name))
			if c.caller.judge(path, path).Sensitive {
				out = out.Join(Labels{secretLabel(path)})
			}
		}
		if len(out) >= maxLabels {
			break
		}
	}
	return out
}

// gitNames are the paths that a line of git names as those of the content behind it.
func gitNames(line string) (out []string) {
	line = strings.TrimRight(line, "\r\n")
	for _, head := range []string{"diff --git ", "diff --cc ", "diff --combined "} {
		if rest, ok := strings.CutPrefix(line, head); ok {
			for _, word := range strings.Fields(rest) {
				out = append(out, strings.Trim(word, `"`), plainName(word))
			}
			return out
		}
	}
	for _, head := range []string{"+++ ", "--- ", "rename to ", "rename from ", "copy from ", "copy to "} {
		if rest, ok := strings.CutPrefix(line, head); ok {
			name, _, _ := strings.Cut(rest, "\t")
			return []string{name, plainName(name)}
		}
	}
	// git grep and git blame put the name before what they found: REV:path:text.
	parts := strings.SplitN(line, ":", 4)
	return parts[:min(len(parts)-1, 2)]
}

// plainName is a name without the quotes and the letter that git puts before it.
func plainName(word string) string {
	word = strings.Trim(word, `"`)
	if _, name, ok := strings.Cut(word, "/"); ok && len(word) > 2 && word[1] == '/' {
		return name
	}
	return word
}

func secretLabel(path string) Label {
	return store.NewLabel(Label{Origin: store.LabelSecret, Sensitive: true, Name: path}, "", sys.Say("%s, which may hold passwords or keys", shortenHome(path)))
}

// isSystemProgram reports whether a path is that of a program of the system that a
// command starts by it: nothing of it is read.
func (c *command) isSystemProgram(path string, info os.FileInfo) bool {
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return false
	}
	name := filepath.Base(path)
	return slices.ContainsFunc(c.verdict.Programs, func(p string) bool { return filepath.Base(p) == name }) &&
		slices.ContainsFunc(programFolders, func(dir string) bool { return security.Within(path, dir) })
}

// programFolders are where systems keep programs that an administrator put there.
var programFolders = []string{"/usr", "/bin", "/sbin", "/opt", "/snap", "/nix/store", "/Applications", "/Library"}
