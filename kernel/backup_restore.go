package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	programs "oxios/kernel/client"
	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// RestoreInput says what to restore.
type RestoreInput struct {
	Path string `json:"path"`          // of a backup; absolute
	Try  bool   `json:"try,omitempty"` // check it and say what would be added; change nothing

	// Take names what is taken over besides data: ids of [RestoreReport.Asked], or
	// [TakeAll]. The zero value takes none of it.
	Take []string `json:"take,omitempty"`
}

// RestoreReport says what a restore did. What is here already is never
// overwritten: "kept" counts what differs in the backup and stayed as it is
// here.
type RestoreReport struct {
	Backup   BackupReport   `json:"backup"`
	Tried    bool           `json:"tried"` // nothing was changed
	Sessions Merged         `json:"sessions"`
	Messages int            `json:"messages"` // added
	Runs     int            `json:"runs"`     // added
	Files    Merged         `json:"files"`
	Settings Merged         `json:"settings"` // that are not in config.toml
	Memories Merged         `json:"memories"` // what agents remember
	Costs    Merged         `json:"costs"`    // quarters of an hour in the account
	Differ   []string       `json:"differ"`   // what was kept: titles of conversations, then paths; at most 20 of each
	Asked    []RestoreAsked `json:"asked"`    // settings, providers and files that come in only when the person says so
	Archive  string         `json:"archive"`  // the file in the home that now holds the backup's audit chain; "" when this home's has it
	Keys     []BackupKey    `json:"keys"`     // that must be entered again
	Took     int64          `json:"took_ms"`
}

// added reports whether anything came in.
func (r RestoreReport) added() bool {
	return r.Sessions.Added+r.Files.Added+r.Settings.Added+r.Costs.Added+r.Memories.Added > 0 || r.Archive != ""
}

// Restore adds what a backup has and this home lacks, and changes nothing that
// is here. It checks the whole backup first; a damaged one, or one of a newer
// Oxios, changes nothing, and neither does a disk that is full in the middle.
// Restoring twice adds nothing. Nothing that comes in runs by itself.
//
// Writes of running agents wait while conversations come in: some three
// seconds for ten thousand messages of 1 KiB.
func (a *InfraAPI) Restore(ctx context.Context, in RestoreInput) (RestoreReport, error) {
	meta := map[string]any{"try": in.Try}
	return guard(ctx, a.caller, action{call: "infra.restore", resource: "file:" + in.Path, paths: namedPaths(in.Path), meta: meta}, func(ctx context.Context) (RestoreReport, error) {
		began := time.Now()
		if !filepath.IsAbs(in.Path) {
			return RestoreReport{}, sys.Errorf(sys.CodeInvalid, "%q is not an absolute path. Nothing was changed.", in.Path)
		}
		done, err := a.k.alone()
		if err != nil {
			return RestoreReport{}, err
		}
		defer done()
		r, err := a.k.restore(ctx, in, a.who.Actor())
		if err != nil {
			return RestoreReport{}, notWritten(err)
		}
		r.Took = time.Since(began).Milliseconds()
		if !in.Try && r.added() {
			if err := a.k.memories.Rebuild(ctx); err != nil {
				return RestoreReport{}, err
			}
			a.k.announceRestore(r)
		}
		return r, nil
	})
}

func (k *Kernel) restore(ctx context.Context, in RestoreInput, actor string) (r RestoreReport, err error) {
	dir, remove, err := k.scratch()
	if err != nil {
		return r, err
	}
	defer remove()
	m, err := unpack(ctx, in.Path, dir)
	if err != nil {
		return r, err
	}
	if err := k.sound(ctx, in.Path, m); err != nil {
		return r, err
	}
	from, err := openCopy(ctx, in.Path, m, k.opts.Clock)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	r = RestoreReport{Backup: m.report(in.Path), Tried: in.Try}
	if info, err := os.Stat(in.Path); err == nil {
		r.Backup.Bytes = info.Size()
	}
	asked := &asking{k: k, take: in.Take, list: []RestoreAsked{}}
	if err := asked.sift(ctx, &m, from); err != nil {
		return r, err
	}
	if id := asked.unknown(); id != "" {
		return r, sys.Errorf(sys.CodeNotFound, "The backup has nothing to take over by the name %q. Nothing was changed.", id).WithHint("`oxios restore --check FILE` lists what there is.")
	}
	r.Asked = asked.list
	// What a person has deleted is gone before a backup may bring it back.
	if _, err := k.purge(ctx, nil); err != nil {
		return r, err
	}
	p := &placing{k: k, dry: in.Try, report: &r}
	if err := k.bring(ctx, m, from, dir, p, actor); err != nil {
		p.undo()
		return r, err
	}
	if !in.Try {
		k.workspace.Recheck()
		n, err := asked.settle()
		if err != nil {
			return r, err
		}
		r.Settings.Added += n
	}
	r.Keys, err = k.lacking(m.Keys)
	return r, err
}

// bring adds files, conversations and state. Files come first: they can be
// taken back when the database does not take the rest.
func (k *Kernel) bring(ctx context.Context, m manifest, from *store.Store, dir string, p *placing, actor string) error {
	root, err := os.OpenRoot(k.opts.Home)
	if err != nil {
		return err
	}
	defer root.Close()
	p.root = root
	// Nobody may take content away whose rows are still to come.
	k.attached.saving.RLock()
	defer k.attached.saving.RUnlock()
	mine, err := k.audit.Contains(ctx, cmp.Or(m.Audit.Last, m.Audit.Entries), m.Audit.Head) // older backups name no last entry: theirs is the count
	if err != nil {
		return err
	}
	var archives []security.AuditArchive
	if !mine && m.Audit.Entries > 0 {
		x, added, err := k.archive(ctx, m, from, dir, p)
		if err != nil {
			return err
		}
		if added {
			p.report.Archive = x.File
			archives = append(archives, x)
		}
	}
	for _, e := range m.Entries[1:] {
		added, err := p.place(ctx, strings.TrimPrefix(e.Name, filesPrefix), e)
		if err != nil {
			return err
		}
		if added && path.Dir(e.Name) == filesPrefix+"audit" {
			if x, ok := archiveOf(e); ok {
				archives = append(archives, x)
			}
		}
	}
	o := store.MergeOptions{At: m.MadeAt, SameChain: mine, Keep: keepState, Skip: []string{"node", "paused", "audit_root", "audit_kept", "written", programs.Key, keyFolders, keyFollowed}}
	merge := k.store.Merge
	if p.dry {
		merge = func(ctx context.Context, from *store.Store, o store.MergeOptions, _ func(*store.Tx, store.MergeReport) error) (store.MergeReport, error) {
			return k.store.TryMerge(ctx, from, o)
		}
	}
	merged, err := merge(ctx, from, o, func(tx *store.Tx, merged store.MergeReport) error {
		p.report.take(merged)
		return k.recordRestore(tx, actor, m, *p.report, archives)
	})
	if err == nil && p.dry {
		p.report.take(merged)
	}
	return err
}

func (r *RestoreReport) take(m store.MergeReport) {
	r.Sessions, r.Messages, r.Runs, r.Settings, r.Costs, r.Memories = m.Sessions, m.Messages, m.Runs, m.State, m.Costs, m.Memories
	r.Differ = slices.Concat(m.Differ, r.Differ)
}

// recordRestore puts what came in into the chain, with the transaction that
// brings it. A restore that adds nothing leaves no entry besides the call's.
func (k *Kernel) recordRestore(tx *store.Tx, actor string, m manifest, r RestoreReport, archives []security.AuditArchive) error {
	for _, x := range archives {
		if _, err := k.audit.Append(tx, security.ArchiveEntry(actor, x)); err != nil {
			return err
		}
	}
	if !r.added() {
		return nil
	}
	_, err := k.audit.Append(tx, k.newEntry(actor, security.ActionConfigChange, "restored", map[string]any{
		"node": k.node, "from_node": m.Node, "made_at": m.MadeAt, "database": m.Entries[0].Blake3, "sessions": r.Sessions.Added, "messages": r.Messages,
		"files": r.Files.Added, "chain": m.Audit.Head, "chain_entries": m.Audit.Entries, "chain_ok": m.Audit.OK,
	}))
	return err
}

// archive writes the chain of a backup as a file into the home. It reports
// false when it is there already.
func (k *Kernel) archive(ctx context.Context, m manifest, from *store.Store, dir string, p *placing) (x security.AuditArchive, added bool, err error) {
	name, err := security.ArchiveFile(m.Node, m.Audit)
	if err != nil {
		return x, false, err
	}
	e := packed{Name: filesPrefix + name, Mode: 0o600, from: filepath.Join(dir, "chain.jsonl")}
	f, err := os.OpenFile(e.from, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return x, false, err
	}
	err = security.NewAudit(from, k.opts.Clock).ExportTo(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return x, false, err
	}
	if e.Size, e.Blake3, err = fingerprint(ctx, e.from); err != nil {
		return x, false, err
	}
	x = security.AuditArchive{File: name, Entries: m.Audit.Entries, Head: m.Audit.Head, Blake3: e.Blake3}
	before := p.report.Files
	added, err = p.place(ctx, name, e)
	p.report.Files = before // it was made here, not taken from the backup
	return x, added, err
}

// archiveOf reads an archived chain that came with a backup, if that is what
// the file is.
func archiveOf(e packed) (security.AuditArchive, bool) {
	f, err := os.Open(e.from)
	if err != nil {
		return security.AuditArchive{}, false
	}
	defer f.Close()
	r, err := security.VerifyExport(f, security.ExportProof{})
	return security.AuditArchive{File: strings.TrimPrefix(e.Name, filesPrefix), Entries: r.Entries, Head: r.Head, Blake3: e.Blake3}, err == nil && r.Entries > 0
}

// lacking returns the keys that were there when a backup was made and that this
// home does not have.
func (k *Kernel) lacking(keys []BackupKey) ([]BackupKey, error) {
	here, err := k.keys.List()
	if err != nil && !errors.Is(err, security.ErrKeysLocked) {
		return nil, err
	}
	out := []BackupKey{}
	for _, key := range keys {
		if !slices.ContainsFunc(here, func(i security.CredentialInfo) bool { return i.Name == key.Name }) {
			out = append(out, key)
		}
	}
	return out, nil
}

// keepState joins state that both homes have. Providers, favourites and choices
// of the faces that are missing here are added to those that are here; all else
// stays.
func keepState(key, here, there string) (string, bool) {
	switch key {
	case "providers":
		return joined(here, there, func(p saved) string { return p.ID })
	case "favourites":
		return joined(here, there, func(name string) string { return name })
	case "kept":
		return joinedValues(here, there)
	}
	return here, false
}

// joined is the list of here with what there has beyond it.
func joined[T any](here, there string, id func(T) string) (string, bool) {
	var mine, theirs []T
	if json.Unmarshal([]byte(here), &mine) != nil || json.Unmarshal([]byte(there), &theirs) != nil {
		return here, false
	}
	n := len(mine)
	for _, t := range theirs {
		if !slices.ContainsFunc(mine, func(m T) bool { return id(m) == id(t) }) {
			mine = append(mine, t)
		}
	}
	raw, err := json.Marshal(mine)
	return string(raw), err == nil && len(mine) > n
}

// joinedValues is what faces keep here, with what they keep there beyond it.
func joinedValues(here, there string) (string, bool) {
	all, n := keptValues(there), 0
	for k, v := range keptValues(here) {
		if _, both := all[k]; both {
			n++
		}
		all[k] = v
	}
	raw, err := json.Marshal(all)
	return string(raw), err == nil && len(keptValues(there)) > n && len(all) <= maxKeptKeys
}

// announceRestore tells the faces that much is new.
func (k *Kernel) announceRestore(r RestoreReport) {
	k.budgets.Recount()
	if changed, err := k.config.refresh(); err == nil && changed {
		k.publish(event.ConfigChanged, scope{}, k.config.view())
	}
	k.topics.reset()
	k.publish(event.Restored, scope{}, r)
	k.publishStatus()
}
