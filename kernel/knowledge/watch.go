package knowledge

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/text/unicode/norm"
)

// pace is how often the vault is looked after.
type pace struct {
	rescan time.Duration // a walk over all, for what no watch told
	absent time.Duration // whether a folder that went is back
	settle time.Duration // from the first event until the files are read: editors write in several steps
}

var usualPace = pace{rescan: time.Minute, absent: 2 * time.Second, settle: 50 * time.Millisecond}

// Run keeps the index in step with the folder until ctx ends: what another
// program changes is known a moment later. It returns nil then. It saves the
// index every minute in which it changed, and at the end. A folder that vanishes
// is waited for.
func (v *Vault) Run(ctx context.Context) error {
	v.log.InfoContext(ctx, "Vault is watched", "folder", v.dir)
	away := false
	for ctx.Err() == nil {
		err := v.ready(ctx)
		if err == nil {
			if away {
				away = false
				v.onChange(nil)
			}
			err = v.watch(ctx)
		}
		if err != nil && !away && ctx.Err() == nil { // also where it went before it was watched
			v.log.WarnContext(ctx, "Vault is not watched for now", "folder", v.dir, "error", err)
			away = true
			v.onChange(nil)
		}
		select {
		case <-ctx.Done():
		case <-time.After(v.pace.absent):
		}
	}
	return v.save()
}

// watcher is one watch over the folder, until the folder goes or ctx ends.
type watcher struct {
	v    *Vault
	fs   *fsnotify.Watcher // nil when the system gives no more watches: then only walks find changes
	full bool              // that was said
	disk map[string]bool   // files with events, as on the disk
	all  bool              // a walk is due: a folder came or went, or events were lost
}

func (v *Vault) watch(ctx context.Context) error {
	w := &watcher{v: v, disk: map[string]bool{}}
	var events chan fsnotify.Event
	var faults chan error
	if fs, err := fsnotify.NewWatcher(); err == nil {
		w.fs = fs
		events, faults = fs.Events, fs.Errors
		defer fs.Close()
		w.add(ctx, "")
	} else {
		v.log.WarnContext(ctx, "Changes in the vault are found once a minute only: no watch could be set", "error", err)
	}
	// After the watches, so that nothing slips between.
	if _, err := v.Rescan(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(v.pace.rescan)
	defer tick.Stop()
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	defer settled.Stop()
	waiting := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-events:
			if !ok {
				return errors.New("the watch ended")
			}
			if w.event(ctx, e) && !waiting {
				waiting = true
				settled.Reset(v.pace.settle)
			}
		case err := <-faults:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				v.log.WarnContext(ctx, "Watch of the vault had a fault", "error", err)
			}
			w.all = true
			if !waiting {
				waiting = true
				settled.Reset(v.pace.settle)
			}
		case <-settled.C:
			waiting = false
			if err := w.settle(ctx); err != nil {
				return err
			}
		case <-tick.C:
			w.add(ctx, "")
			if _, err := v.Rescan(ctx); err != nil {
				return err
			}
			if err := v.save(); err != nil {
				v.log.WarnContext(ctx, "Index of the vault could not be saved", "error", err)
			}
		}
	}
}

// add sets a watch on a folder and on those below it.
func (w *watcher) add(ctx context.Context, dir string) {
	if w.fs == nil {
		return
	}
	where := filepath.Join(w.v.dir, filepath.FromSlash(dir))
	if err := w.fs.Add(where); err != nil && !isMissing(err) {
		if !w.full {
			w.full = true
			w.v.log.WarnContext(ctx, "Some folders of the vault cannot be watched: changes there are found once a minute", "folder", dir, "error", err)
		}
		return
	}
	entries, err := list(where)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && e.Name()[0] != '.' {
			w.add(ctx, join(dir, e.Name()))
		}
	}
}

// event notes what an event tells, and reports whether it matters.
func (w *watcher) event(ctx context.Context, e fsnotify.Event) bool {
	rel, err := filepath.Rel(w.v.dir, e.Name)
	if err != nil {
		return false
	}
	disk := filepath.ToSlash(rel)
	if disk == "." {
		w.all = w.all || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
		return w.all
	}
	for part := range strings.SplitSeq(disk, "/") {
		if part[0] == '.' {
			return false
		}
	}
	if e.Op == fsnotify.Chmod {
		return false
	}
	w.v.mu.RLock()
	known := w.v.ix.folders[disk] != nil
	w.v.mu.RUnlock()
	root, err := w.v.root()
	if err != nil {
		w.all = true
		return true
	}
	defer root.Close()
	info, err := root.Lstat(disk)
	switch {
	case err == nil && info.IsDir():
		w.add(ctx, disk)
		w.all = true
	case known: // a folder that went, perhaps to another name, with its watches
		if w.fs != nil {
			for _, watched := range w.fs.WatchList() {
				if watched == e.Name || strings.HasPrefix(watched, e.Name+string(filepath.Separator)) {
					_ = w.fs.Remove(watched)
				}
			}
			w.add(ctx, "")
		}
		w.all = true
	default:
		w.disk[disk] = true
	}
	return true
}

// manyEvents is the number of files from which one walk is cheaper than as many
// looks.
const manyEvents = 500

// settle brings the index up to date with the events noted.
func (w *watcher) settle(ctx context.Context) error {
	if err := w.v.there(); err != nil {
		return err
	}
	all := w.all || len(w.disk) > manyEvents
	var paths []string
	for disk := range w.disk {
		paths = append(paths, norm.NFC.String(disk))
	}
	w.all = false
	clear(w.disk)
	if all {
		_, err := w.v.Rescan(ctx)
		return err
	}
	return w.v.refresh(ctx, paths)
}
