package kernel

import (
	"cmp"
	"context"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// folderLabel is of a folder that the person has not trusted: the names in it, and
// what a command may have read there.
func folderLabel(dir string) Label {
	return store.NewLabel(Label{Origin: store.LabelFolder, Untrusted: true, Name: dir, Place: dir}, "", sys.Say("what lies in %s, a folder that you have not trusted", shortenHome(dir)))
}

// readsFile tells where the file comes from that a call reads.
func (c *caller) readsFile(p place) func(context.Context) (Labels, error) {
	return func(ctx context.Context) (Labels, error) {
		if p.err != nil {
			return nil, nil
		}
		return c.k.fileLabels(ctx, p.abs, p.inside, p.verdict.Sensitive)
	}
}

// readsFolder is readsFile for the names in a folder. With deep the files that
// agents wrote count wherever they lie below it, with hidden also those that an index
// leaves out.
func (c *caller) readsFolder(p place, deep, hidden bool) func(context.Context) (Labels, error) {
	return func(ctx context.Context) (Labels, error) {
		if p.err != nil {
			return nil, nil
		}
		out, err := c.k.placeLabels(ctx, p.abs, p.inside)
		if err != nil {
			return nil, err
		}
		written, err := c.k.writtenBelow(ctx, p.abs, func(f store.FileLabel) bool {
			return (hidden || f.Covers() != store.CoversHidden) && (deep || filepath.Dir(f.Path) == p.abs)
		})
		return out.Join(written), err
	}
}

// readsPlace tells where what is searched lies: a file, or the files of a folder.
func (c *caller) readsPlace(p place) func(context.Context) (Labels, error) {
	return func(ctx context.Context) (Labels, error) {
		switch {
		case p.err != nil:
			return nil, nil
		case isFolder(p.abs):
			return c.k.placeLabels(ctx, p.abs, p.inside)
		}
		return c.k.fileLabels(ctx, p.abs, p.inside, p.verdict.Sensitive)
	}
}

// readMatches tells which of the files that a search found something in agents
// wrote, or lie in a folder of their own that is not trusted.
func (c *caller) readMatches(ctx context.Context, p place, found []GrepMatch) (out Labels, err error) {
	seen := map[string]bool{}
	for _, m := range found {
		path := m.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.folder, filepath.FromSlash(path))
		}
		if path = realPath(path); seen[path] {
			continue
		}
		seen[path] = true
		some, err := c.k.fileLabels(ctx, path, p.inside, false)
		if err != nil {
			return nil, err
		}
		out = out.Join(some)
	}
	return out, nil
}

// placeLabels are the labels of a folder because of where it lies.
func (k *Kernel) placeLabels(ctx context.Context, dir string, inside bool) (Labels, error) {
	trust, err := k.trust(ctx, dir)
	if err != nil {
		return nil, err
	}
	switch {
	case inside && trust == FolderTrusted, !inside && security.IsSystemPath(dir):
		return nil, nil
	case inside:
		return Labels{folderLabel(dir)}, nil
	}
	return Labels{outsideLabel(dir, trust)}, nil
}

func outsideLabel(path, trust string) Label {
	l := Label{Origin: store.LabelOutside, Sensitive: true, Name: path}
	if trust != FolderTrusted {
		l.Untrusted = true
	}
	return store.NewLabel(l, "", sys.Say("%s, outside the folder of the run", shortenHome(path)))
}

// fileLabels are the labels of a file: because of where it lies, what it is, and
// who wrote it. path is absolute, links followed.
func (k *Kernel) fileLabels(ctx context.Context, path string, inside, secret bool) (out Labels, err error) {
	dir := filepath.Dir(path)
	trust, err := k.trust(ctx, dir)
	if err != nil {
		return nil, err
	}
	some, err := k.anyLabel(ctx)
	if err != nil {
		return nil, err
	}
	stranger := inside && trust != FolderTrusted
	content := ""
	if stranger || some {
		content = hashOf(path)
	}
	switch {
	case stranger:
		text := sys.Say("%s from %s, a folder that you have not trusted", filepath.Base(path), shortenHome(dir))
		out = Labels{store.NewLabel(Label{Origin: store.LabelFile, Untrusted: true, Name: path, Place: dir}, content, text)}
	case !inside && !security.IsSystemPath(path):
		out = Labels{outsideLabel(path, trust)}
	}
	if secret {
		out = append(out, secretLabel(path))
	}
	if !some {
		return out, nil
	}
	written, err := k.labelsAt(ctx, path, content)
	for _, f := range written {
		out = out.Join(Labels{writtenLabel(f)})
	}
	return out, err
}

// hashOf is the hash of what is in a file; "" where there is none to be read.
func hashOf(path string) string {
	f, info, err := sys.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info.Size() > maxFile {
		return ""
	}
	h := blake3.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// mostRoots is how much of what an agent had read stands with a file that it wrote.
const mostRoots = 40

// writtenLabel is of a file that an agent wrote: it stands for all that the agent
// had read.
func writtenLabel(f store.FileLabel) Label {
	l := Label{Origin: store.LabelWritten, Name: f.Path, Untrusted: f.Labels.Untrusted(), Sensitive: f.Labels.Sensitive(), From: f.Labels}
	if f.RunID == "" {
		return store.NewLabel(l, f.Content, sys.Say("%s, which was saved from %s", shortenHome(f.Path), carriers(f.Labels)))
	}
	if f.Covers() != "" {
		return store.NewLabel(l, f.Content, sys.Say("what lies in %s, where an agent ran commands after it had read %s", shortenHome(f.Path), carriers(f.Labels)))
	}
	return store.NewLabel(l, f.Content, sys.Say("%s, which an agent wrote after it had read %s", shortenHome(f.Path), carriers(f.Labels)))
}

// roots are what labels stand for in the end, so that they do not grow with each
// agent that reads what another one wrote.
func roots(labels Labels) (out Labels) {
	for _, l := range labels {
		if l.Origin == store.LabelWritten {
			out = out.Join(l.From)
			continue
		}
		out = out.Join(Labels{l})
	}
	if len(out) > mostRoots {
		sortUntrusted(out)
		kept := out[:mostRoots:mostRoots]
		if i := slices.IndexFunc(out, func(l Label) bool { return l.Sensitive }); i >= mostRoots { // neither kind is lost
			kept = append(kept, out[i])
		}
		out = kept
	}
	return out
}

// sortUntrusted puts what may want to be obeyed first.
func sortUntrusted(labels Labels) {
	slices.SortStableFunc(labels, func(a, b Label) int {
		switch {
		case a.Untrusted == b.Untrusted:
			return 0
		case a.Untrusted:
			return -1
		}
		return 1
	})
}

// writtenBelow are the labels of the files below a folder that agents wrote and
// that still are there, and of all that the folder lies in.
func (k *Kernel) writtenBelow(ctx context.Context, dir string, which func(store.FileLabel) bool) (out Labels, err error) {
	if some, err := k.anyLabel(ctx); err != nil || !some {
		return nil, err
	}
	list, err := k.labelsBelow(ctx, dir)
	for _, f := range list {
		if around := f.Covers() != "" && security.Leads(dir, f.Path); !around && !which(f) {
			continue
		}
		if _, err := os.Lstat(f.Path); err != nil {
			continue
		}
		if out = out.Join(Labels{writtenLabel(f)}); len(out) == maxLabels {
			break // whoever reads here has more than enough of them
		}
	}
	return out, err
}

// wrote notes that a run writes files, before it does: they carry what it has read.
func (k *Kernel) wrote(ctx context.Context, s scope, files ...store.FileLabel) error {
	read, err := k.liveLabels(ctx, k.runs.of(s.runID).labels.WithoutWork())
	if err != nil || len(read) == 0 || len(files) == 0 {
		return err
	}
	read = roots(read)
	for i := range files {
		files[i].RunID, files[i].Labels = s.runID, read
	}
	return k.store.Write(ctx, func(tx *store.Tx) error { return k.store.LabelFiles(tx, files...) })
}

// mostHashed is how many files of one command are known by their content too.
const mostHashed = 500

// labelledBy are the files that a command left, with what its run has read.
func (k *Kernel) labelledBy(ctx context.Context, runID string, marks []store.FileMark) (out []store.FileLabel, err error) {
	read, err := k.labelsOf(ctx, runID)
	if read = roots(read.WithoutWork()); err != nil || len(read) == 0 {
		return nil, err
	}
	for _, m := range marks {
		info, err := os.Lstat(m.Path)
		if err != nil {
			continue
		}
		f := store.FileLabel{Path: m.Path, RunID: runID, Labels: read}
		if len(out) < mostHashed && info.Mode().IsRegular() {
			f.Content = hashOf(m.Path)
		}
		if f.Content == "" { // a link, a folder by its name, or too much: each time it is another one
			f.Content = sys.NewID()
		}
		out = append(out, f)
	}
	return out, nil
}

// reads tells where what a command reads comes from, as far as its words show it.
func (c *command) reads(ctx context.Context) (out Labels, err error) {
	k := c.caller.k
	if c.err != nil {
		return nil, nil
	}
	if out, err = k.placeLabels(ctx, c.dir, true); err != nil {
		return nil, err
	}
	if c.verdict.Network {
		own := cmp.Or(stepID(ctx), sys.NewID())
		text := sys.Say("what `%s` got from the network", sys.Shorten(c.line, 120))
		// What a server of this computer says is the person's.
		inside := !c.background && len(c.ports()) > 0
		out = append(out, store.NewLabel(Label{Origin: store.LabelNetwork, Untrusted: true, Sensitive: inside, Name: sys.Shorten(c.line, 500)}, own, text))
	}
	secrets, err := c.readsSecrets(ctx)
	if err != nil {
		return nil, err
	}
	out = out.Join(secrets)
	named := false
	for _, word := range c.verdict.Paths {
		path := realPath(c.named(word))
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		named = true
		if c.isSystemProgram(path, info) {
			continue
		}
		if info.IsDir() {
			some, err := k.placeLabels(ctx, path, security.Within(path, realPath(c.caller.scope.folder)))
			if err != nil {
				return nil, err
			}
			written, err := k.writtenBelow(ctx, path, c.mayRead)
			if err != nil {
				return nil, err
			}
			out = out.Join(some).Join(written)
			continue
		}
		some, err := k.fileLabels(ctx, path, security.Within(path, realPath(c.caller.scope.folder)), c.caller.judge(path, path).Sensitive)
		if err != nil {
			return nil, err
		}
		out = out.Join(some)
	}
	if !c.staysOnTop() {
		some, err := k.repositoryLabels(ctx, realPath(c.dir))
		if err != nil {
			return nil, err
		}
		if slices.Contains(c.verdict.Programs, "git") || !c.verdict.ReadOnly {
			out = out.Join(some)
		}
	}
	if named && c.verdict.ReadOnly && !c.verdict.HasGlob && !c.verdict.HasExpansion {
		return out, nil
	}
	written, err := k.writtenBelow(ctx, realPath(c.dir), c.mayRead)
	return out.Join(written), err
}

// mayRead reports whether a command may read what a label is of.
func (c *command) mayRead(f store.FileLabel) bool {
	return f.Covers() != store.CoversHidden || !c.staysOnTop()
}

// controls reports whether a command would change what agents may do or are told:
// it starts Oxios itself, or names a file of instructions and does not only look.
func (c *command) controls() bool {
	if slices.ContainsFunc(c.verdict.Programs, func(p string) bool { return strings.TrimSuffix(filepath.Base(p), ".exe") == "oxios" }) {
		return true
	}
	return !c.verdict.ReadOnly && slices.ContainsFunc(c.verdict.Paths, isInstructions)
}

// isInstructions reports whether a path is that of a file that tells agents what to
// do.
func isInstructions(path string) bool {
	return slices.ContainsFunc(instructionFiles, func(name string) bool { return strings.EqualFold(filepath.Base(path), name) })
}
