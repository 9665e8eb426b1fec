package kernel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// The parts of a home.
const (
	PartConversations = "conversations" // messages, settings of the window
	PartJournal       = "journal"       // the steps of runs
	PartChanges       = "changes"       // what files held before and after a run changed them
	PartAudit         = "audit"         // the chain, and chains that came with backups
	PartSpare         = "spare"         // room in the database that is used again by itself, and its log
	PartCopies        = "copies"        // of the database, made before a newer version changed it
	PartLogs          = "logs"
	PartCache         = "cache"       // what programs that agents run keep for the next time
	PartKeys          = "keys"        // the encrypted keys
	PartSettings      = "settings"    // config.toml and the like
	PartAttachments   = "attachments" // what people attached to messages
	PartWorkspace     = "workspace"   // plans, what came of them, and their history
	PartUndo          = "undo"        // what runs replaced, so that it can be undone
	PartExtensions    = "extensions"  // what is known of MCP servers, and what these keep
	PartFiles         = "files"       // everything else
)

// StoragePart is a part of the home.
type StoragePart struct {
	ID    string `json:"id"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"` // 0 for what lies in the database
	Clean int64  `json:"clean"` // bytes that cleaning it frees; 0 when there is nothing, or it is never cleaned
	// Keeps names the setting that says for how many days it is kept, and Days is its
	// value: 0 for ever. "" where no setting does.
	Keeps string `json:"keeps,omitempty"`
	Days  int    `json:"days,omitempty"`
}

// Storage says how large the home is, and why. The parts together are the
// whole.
type Storage struct {
	Home  string        `json:"home"`
	Bytes int64         `json:"bytes"`
	Free  int64         `json:"free"` // bytes that are free on its disk
	Parts []StoragePart `json:"parts"`
}

// Cleaned says what a cleaning did.
type Cleaned struct {
	Part    string  `json:"part"`
	Freed   int64   `json:"freed"` // bytes
	Storage Storage `json:"storage"`
}

// Storage returns the size of each part of the home. It reads every page of
// the database, about a second for a gigabyte.
func (a *InfraAPI) Storage(ctx context.Context) (Storage, error) {
	return guard(ctx, a.caller, action{call: "infra.storage", resource: "home"}, func(ctx context.Context) (Storage, error) {
		return a.k.storage(ctx)
	})
}

// Clean empties one part: copies, logs or cache. Nothing else is touched, and
// no conversation, setting, key or record is lost. A cache in use is refused.
func (a *InfraAPI) Clean(ctx context.Context, part string) (Cleaned, error) {
	return guard(ctx, a.caller, action{call: "infra.clean", resource: "home:" + part}, func(ctx context.Context) (Cleaned, error) {
		done, err := a.k.alone()
		if err != nil {
			return Cleaned{}, err
		}
		defer done()
		before, err := a.k.storage(ctx)
		if err != nil {
			return Cleaned{}, err
		}
		if err := a.k.clean(part); err != nil {
			return Cleaned{}, err
		}
		c := Cleaned{Part: part}
		if c.Storage, err = a.k.storage(ctx); err != nil {
			return c, err
		}
		c.Freed = max(0, before.part(part).Bytes-c.Storage.part(part).Bytes)
		return c, nil
	})
}

// part returns one part; the zero value when there is none of that name.
func (s Storage) part(id string) StoragePart {
	for _, p := range s.Parts {
		if p.ID == id {
			return p
		}
	}
	return StoragePart{}
}

func (k *Kernel) storage(ctx context.Context) (Storage, error) {
	parts := map[string]*StoragePart{}
	var order []*StoragePart
	for _, id := range []string{PartConversations, PartJournal, PartChanges, PartAudit, PartSpare, PartAttachments, PartWorkspace, PartUndo, PartExtensions, PartFiles, PartSettings, PartKeys, PartCopies, PartLogs, PartCache} {
		parts[id] = &StoragePart{ID: id}
		order = append(order, parts[id])
	}
	var database int64
	err := fs.WalkDir(os.DirFS(k.opts.Home), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == "." {
				return err
			}
			return nil // it went, or is closed to us; what can be seen is counted
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return ctx.Err()
		}
		if name == databaseName || strings.HasPrefix(name, databaseName+"-") {
			database += info.Size()
			return nil
		}
		p := parts[k.partOf(name)]
		p.Files++
		p.Bytes += info.Size()
		return ctx.Err()
	})
	if err != nil {
		return Storage{}, err
	}
	sizes, err := k.store.Sizes(ctx)
	if err != nil {
		return Storage{}, err
	}
	used := int64(0)
	for table, size := range sizes {
		used += size
		switch table {
		case "audit":
			parts[PartAudit].Bytes += size
		case "steps":
			parts[PartJournal].Bytes += size
		case "changes":
			parts[PartChanges].Bytes += size
		case "file_marks", "undo_moves", "undo_commands", "tries":
			parts[PartUndo].Bytes += size
		default:
			parts[PartConversations].Bytes += size
		}
	}
	// The log may hold pages that the file does not have yet.
	parts[PartSpare].Bytes = max(0, database-used)
	cfg := k.config.get()
	for id, kept := range map[string]struct {
		key  string
		days int
	}{PartUndo: {"undo_days", cfg.UndoDays}, PartJournal: {"journal_days", cfg.JournalDays}, PartAudit: {"audit_days", cfg.AuditDays}} {
		parts[id].Keeps, parts[id].Days = kept.key, kept.days
	}
	s := Storage{Home: shortenHome(k.opts.Home), Parts: []StoragePart{}}
	for _, p := range order {
		if slices.Contains(cleanable, p.ID) {
			p.Clean = p.Bytes
		}
		s.Bytes += p.Bytes
		s.Parts = append(s.Parts, *p)
	}
	if free, err := freeSpace(k.opts.Home); err == nil {
		s.Free = free
	}
	return s, nil
}

// cleanable are the parts that can be emptied without losing anything that a
// person wrote or decided.
var cleanable = []string{PartCopies, PartLogs, PartCache}

// partOf says which part a file of the home belongs to.
func (k *Kernel) partOf(name string) string {
	top, _, inside := strings.Cut(name, "/")
	id := ""
	ofParts(k, func(p keeper) {
		for _, kept := range p.Kept() {
			if inside && kept.Folder == top {
				id = kept.ID
			}
		}
	})
	if id != "" {
		return id
	}
	switch {
	case inside && (top == cachesFolder || top == sharedCache):
		return PartCache
	case inside && (top == "logs" || top == "keys" || top == "audit" || top == "attachments" || top == "workspace" || top == undoFolder):
		return top
	case inside && top == "run", name == "config.toml", name == "models.toml":
		return PartSettings
	case isCopy(name):
		return PartCopies
	}
	return PartFiles
}

func (k *Kernel) clean(part string) error {
	switch part {
	case PartCopies:
		return k.cleanCopies()
	case PartLogs:
		return k.cleanLogs()
	case PartCache:
		return k.cleanCache()
	}
	return sys.Errorf(sys.CodeInvalid, "%q cannot be cleaned. Nothing was changed.", part).
		WithHint("What can be cleaned: %s.", strings.Join(cleanable, ", "))
}

func (k *Kernel) cleanCopies() error {
	for _, path := range k.copies() {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notCleaned(err)
		}
	}
	return nil
}

// cleanLogs empties the logs: a face may hold one open, and would go on writing
// into a file that nobody can see.
func (k *Kernel) cleanLogs() error {
	dir := filepath.Join(k.opts.Home, "logs")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return notCleaned(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if filepath.Ext(path) == ".log" {
			err = os.Truncate(path, 0)
		} else {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notCleaned(err)
		}
	}
	return nil
}

// cleanCache empties the cache. Commands write into it, so what lies there is
// not trusted: no link is followed out of it.
func (k *Kernel) cleanCache() error {
	jobs := k.cmds.list(&caller{k: k, who: sys.Person("")})
	if k.runs.atWork() > 0 || slices.ContainsFunc(jobs, func(j Job) bool { return j.Running }) {
		return sys.Errorf(sys.CodeBusy, "An agent is at work, and its commands may use the cache. Nothing was changed.").
			WithHint("Clean it when nothing runs.")
	}
	cache, err := os.OpenRoot(filepath.Join(k.opts.Home, cachesFolder))
	if err != nil {
		return notCleaned(err)
	}
	defer cache.Close()
	// Some programs close the folders of their cache to writing.
	err = fs.WalkDir(cache.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || name == "." {
			return err
		}
		return cache.Chmod(filepath.FromSlash(name), 0o700)
	})
	if err != nil {
		return notCleaned(err)
	}
	entries, err := fs.ReadDir(cache.FS(), ".")
	if err != nil {
		return notCleaned(err)
	}
	for _, e := range entries {
		if err := cache.RemoveAll(e.Name()); err != nil {
			return notCleaned(err)
		}
	}
	return nil
}

func notCleaned(err error) error {
	return sys.Errorf(sys.CodeUnavailable, "Not all of it could be removed: %w. What is left can be cleaned again.", err)
}
