package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"oxios/kernel/sys"
)

// Cache says in which cache a command's tools keep what they need again. Each
// folder has one of its own: what one agent puts there, code among it, is found by
// commands in the same folder alone.
type Cache struct {
	Folder string // that it belongs to; "" for the command's own
	// Kind tells apart caches of one folder that are not to be mixed: those from
	// before it was trusted and after.
	Kind string
	// Run, if set, writes into a layer of its own over the cache, which
	// [Runner.DropLayer] throws away. Where none can be mounted, it begins with an
	// empty cache.
	Run string
	// None: it has no cache at all, and so none of its own is made.
	None bool
}

// What lies in the folder of the caches: one folder for each, named by the hash of
// whose it is, and the layers of runs.
const (
	cacheFiles = "files"  // what a command sees
	cacheOwner = "folder" // whose it is, in words; its time is that of the last use
)

// CacheLayers is the folder, among the caches, of what runs wrote over them.
const CacheLayers = ".runs"

// caching is what a runner knows about caches.
type caching struct {
	mu   sync.Mutex
	used map[string]int // commands that use a folder of the caches now
	grew atomic.Bool    // a command has run since they were measured
}

// cacheUse is the cache of one command.
type cacheUse struct {
	at    string // where the command sees it; "" for none
	from  string // what lies there
	layer *layer // mounted over it
	done  func() // it is not used any more
}

// cacheOf makes the cache that a command uses.
func (r *Runner) cacheOf(ctx context.Context, spec Spec, level sys.Isolation) (cacheUse, error) {
	u := cacheUse{done: func() {}}
	if r.cfg.CacheDir == "" || spec.Cache.None {
		return u, nil
	}
	fail := func(err error) (cacheUse, error) {
		u.done()
		return cacheUse{done: func() {}}, sys.Errorf(sys.CodeDiskFull, "No folder could be made for the cache of the command: %w", err)
	}
	folder := spec.Cache.Folder
	if folder == "" {
		folder = spec.Dir
	}
	folder = canonical(folder)
	id := cacheID(folder, spec.Cache.Kind)
	base := filepath.Join(r.cfg.CacheDir, id)
	parts := []string{base}
	own := ""
	if spec.Cache.Run != "" {
		own = filepath.Join(r.layersOf(spec.Cache.Run), id)
		parts = append(parts, own)
	}
	free, alone := r.caches.use(parts)
	r.caches.grew.Store(true)
	u.done = free
	if err := os.MkdirAll(filepath.Join(base, cacheFiles), 0o700); err != nil {
		return fail(err)
	}
	mark := filepath.Join(base, cacheOwner)
	if now := time.Now(); os.Chtimes(mark, now, now) != nil {
		if err := os.WriteFile(mark, []byte(folder+"\n"), 0o600); err != nil {
			return fail(err)
		}
	}
	u.at = canonical(filepath.Join(base, cacheFiles))
	if u.from = u.at; own == "" {
		return u, nil
	}
	if err := os.MkdirAll(own, 0o700); err != nil {
		return fail(err)
	}
	if own = canonical(own); !alone { // two may not write into one layer at a time
		var err error
		if own, err = os.MkdirTemp(own, "more-"); err != nil {
			return fail(err)
		}
		u.done = func() { removeAll(own); free() }
	}
	if level >= sys.IsolationFull && r.CanCopy(ctx, canonical(filepath.Join(r.cfg.CacheDir, CacheLayers))) == nil {
		u.layer = &layer{Lower: u.at, Upper: filepath.Join(own, partUpper), Work: filepath.Join(own, partWork), At: filepath.Join(own, partMerged)}
		return u, nil
	}
	u.from = filepath.Join(own, cacheFiles)
	if err := os.MkdirAll(u.from, 0o700); err != nil {
		return fail(err)
	}
	if level < sys.IsolationFull {
		u.at = u.from
	}
	return u, nil
}

// use notes that a command uses folders of the caches, and reports whether no other
// one uses the last of them.
func (c *caching) use(paths []string) (done func(), alone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used == nil {
		c.used = map[string]int{}
	}
	for _, p := range paths {
		c.used[p]++
	}
	last := paths[len(paths)-1]
	alone = c.used[last] == 1
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, p := range paths {
			if c.used[p]--; c.used[p] == 0 {
				delete(c.used, p)
			}
		}
	}), alone
}

func cacheID(folder, kind string) string {
	sum := sha256.Sum256([]byte(folder + "\x00" + kind))
	return hex.EncodeToString(sum[:16])
}

func (r *Runner) layersOf(run string) string {
	return filepath.Join(r.cfg.CacheDir, CacheLayers, cacheID(run, CacheLayers))
}

// DropLayer throws away what a run wrote over caches. None of its commands may
// run any more.
func (r *Runner) DropLayer(run string) {
	if r.cfg.CacheDir != "" && run != "" {
		removeAll(r.layersOf(run))
	}
}

// SweepCaches removes caches until all together take no more than limit bytes:
// first those of folders that are gone, then those that were used the longest ago.
// What a command uses stays. It does nothing where no command has run since the
// last time.
func (r *Runner) SweepCaches(ctx context.Context, limit int64) error {
	if r.cfg.CacheDir == "" || !r.caches.grew.Swap(false) {
		return nil
	}
	entries, err := os.ReadDir(r.cfg.CacheDir)
	if err != nil {
		return err
	}
	type one struct {
		path  string
		size  int64
		last  time.Time
		owner bool
	}
	var list []one
	var sum int64
	for _, e := range entries {
		path := filepath.Join(r.cfg.CacheDir, e.Name())
		o := one{path: path}
		_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return ctx.Err() // what went meanwhile takes no room
			}
			if info, err := d.Info(); err == nil {
				o.size += info.Size()
			}
			return ctx.Err()
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		sum += o.size
		if e.Name() == CacheLayers {
			continue
		}
		if info, err := os.Lstat(filepath.Join(path, cacheOwner)); err == nil {
			o.last = info.ModTime()
			folder, _ := os.ReadFile(filepath.Join(path, cacheOwner))
			_, err := os.Lstat(string(folder[:max(0, len(folder)-1)]))
			o.owner = err == nil
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b one) int {
		if a.owner != b.owner {
			if b.owner {
				return -1
			}
			return 1
		}
		return a.last.Compare(b.last)
	})
	for _, o := range list {
		if sum <= limit {
			return nil
		}
		if r.caches.take(o.path) {
			sum -= o.size
		}
	}
	return nil
}

// take removes a cache that nobody uses. Nobody can begin to use it meanwhile.
func (c *caching) take(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used[path] > 0 {
		return false
	}
	removeAll(path)
	return true
}
