package kernel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The folders of the home for what programs keep for the next time: one for each
// folder of the person, and the one that earlier versions had for all.
const (
	cachesFolder = "caches"
	sharedCache  = "cache"
	oldCaches    = "old-cache-" // in run/, what is being removed
)

// cache says in which cache a command keeps what its tools need again. A run that
// has read from outside writes into a layer that is thrown away with it: what an
// agent was talked into must not wait there for the next one. So does a command in
// the background: its run may read from outside while it goes on, and tell it by a
// file what to do. An untrusted folder has a cache that is as untrusted as itself,
// which ends when it becomes trusted.
func (c *command) cache(ctx context.Context) sandbox.Cache {
	k, folder := c.caller.k, realPath(c.caller.scope.folder)
	out := sandbox.Cache{Folder: folder, Run: c.caller.scope.runID}
	trust, err := k.trust(ctx, folder)
	if err != nil {
		return out // it is not known, so that nothing of it stays
	}
	if trust != FolderTrusted {
		out.Kind = "untrusted"
	} else if top := repositoryAbove(folder); top != "" {
		if trust, err := k.trust(ctx, top); err == nil && trust == FolderTrusted {
			out.Folder = top
		}
	}
	if c.background {
		c.layer = sys.NewID()
		out.Run = c.layer
		return out
	}
	run := k.runs.of(c.caller.scope.runID)
	labels, err := k.liveLabels(ctx, run.labels)
	if err != nil || run.scope.runID != out.Run {
		return out
	}
	outside := slices.ContainsFunc(labels, func(l Label) bool {
		switch {
		case !l.Untrusted:
			return false
		case l.Origin == store.LabelNetwork && l.Name == sys.Shorten(c.line, 500):
			return false // what this very command gets
		}
		return trust == FolderTrusted || l.Place == "" || !security.Within(l.Place, folder)
	})
	if !outside {
		out.Run = ""
	}
	return out
}

// dropOldCaches removes the cache that earlier versions had for all folders, as
// nobody knows who put what there, and the layers of runs that a crash ended. They
// are moved aside first, so that no start waits for it.
func (k *Kernel) dropOldCaches() {
	run := filepath.Join(k.opts.Home, "run")
	for _, old := range []string{sharedCache, filepath.Join(cachesFolder, sandbox.CacheLayers)} {
		err := os.Rename(filepath.Join(k.opts.Home, old), filepath.Join(run, oldCaches+sys.NewID()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			k.log.Warn("An old cache could not be moved aside", "name", old, "error", err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(run, oldCaches+"*")); len(left) > 0 {
		go func() { // what its end cuts short, the next start goes on with
			for _, path := range left {
				sandbox.RemoveAll(path)
			}
		}()
	}
}

// keepCaches holds all caches together to cache_mb.
func (k *Kernel) keepCaches(ctx context.Context) {
	if err := k.sandbox.SweepCaches(ctx, int64(k.config.get().CacheMB)<<20); err != nil && ctx.Err() == nil {
		k.log.WarnContext(ctx, "The caches could not be held to their limit", "error", err)
	}
}
