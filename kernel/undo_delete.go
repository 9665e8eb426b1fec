package kernel

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// What is counted of folders before they are deleted.
const (
	maxCounted = 500_000
	countTime  = 10 * time.Second
)

// deletion is what a command is about to delete as whole folders, and how much
// of it undo does not bring back.
type deletion struct {
	files, lost      int
	bytes, lostBytes int64
	more             bool // there is more than could be counted
}

// covered reports whether undo brings all of it back.
func (d *deletion) covered() bool { return d.lost == 0 && !d.more }

// weighDeletion finds out whether undo covers what the command takes away for
// good, and the folders that it deletes. Where it does not, a person decides in each
// mode. What works on a copy can be put back whole, .git too.
func (c *command) weighDeletion() {
	if c.verdict.Final && c.onCopy(c.caller.k.background, c.caller.k.isolation()) {
		c.verdict.Final = false
	}
	if len(c.verdict.Removes) == 0 || c.verdict.Tier >= security.TierRefuse || c.err != nil || c.caller.who.Kind != sys.KindAgent {
		return
	}
	c.deletion = c.deletes(c.caller.k.background)
	c.verdict.Final = c.verdict.Final || !c.deletion.covered()
}

var errCounted = errors.New("more than is counted")

// deletes counts what the folders hold that the command deletes.
func (c *command) deletes(ctx context.Context) *deletion {
	k := c.caller.k
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	d := &deletion{}
	folder := realPath(c.caller.scope.folder)
	kept := map[string]bool{}
	copied := c.onCopy(ctx, c.caller.k.isolation())
	if !copied && c.caller.scope.runID != "" && !k.undos.tooLarge(folder) {
		k.undos.objects.Clearing.RLock()
		x, err := k.undos.look(ctx, folder)
		k.undos.objects.Clearing.RUnlock()
		if err == nil {
			for _, e := range x.Entries {
				if e.Kept {
					kept[e.Path] = true
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, tree := range c.verdict.Removes {
		tree = filepath.Join(realPath(filepath.Dir(tree)), filepath.Base(tree)) // a link goes itself
		err := filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				d.more = true // it cannot be looked into
				return nil
			case e.IsDir() || seen[path]:
				return nil
			case len(seen) >= maxCounted:
				return errCounted
			}
			seen[path] = true
			size := int64(0)
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				size = info.Size()
			}
			d.files++
			d.bytes += size
			rel, err := filepath.Rel(folder, path)
			if copied || err == nil && kept[filepath.ToSlash(rel)] {
				return nil
			}
			d.lost++
			d.lostBytes += size
			return nil
		})
		d.more = d.more || err != nil
	}
	if copied && (d.files > maxTried || d.bytes > int64(k.config.get().UndoFolderMB)<<20) {
		d.lost, d.lostBytes = d.files, d.bytes
	}
	return d
}

// words say on a card what goes, and what of it does not come back.
func (d *deletion) words() sys.Words {
	files, size := filesWords(d.files), sys.Words{EN: sizeText(d.bytes), KO: sizeText(d.bytes)}
	switch {
	case d.more:
		return sys.Say("not all of it: more than %s (%s), too many to be counted", files, size)
	case d.lost == 0:
		return sys.Say("yes, all of it: %s (%s)", files, size)
	case d.lost == d.files:
		return sys.Say("no: undo brings back none of %s (%s)", files, size)
	}
	return sys.Say("not all of it: of %s (%s) undo does not bring back %d (%s)", files, size, d.lost, sizeText(d.lostBytes))
}

func filesWords(n int) sys.Words {
	if n == 1 {
		return sys.Say("1 file")
	}
	return sys.Say("%d files", n)
}
