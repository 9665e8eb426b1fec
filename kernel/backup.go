package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Merged counts what became of things of one kind in a restore.
type Merged = store.Merged

// BackupKey names a key that no backup holds. After a restore it must be
// entered again.
type BackupKey struct {
	Name string `json:"name"`
	Host string `json:"host"`
}

// BackupReport says what a backup holds. It was read back from the disk and
// compared.
type BackupReport struct {
	Path     string      `json:"path"`
	Bytes    int64       `json:"bytes"`
	MadeAt   time.Time   `json:"made_at"`
	Version  string      `json:"version"` // of the Oxios that made it
	Sessions int64       `json:"sessions"`
	Messages int64       `json:"messages"`
	Files    int         `json:"files"` // besides the database
	Audit    AuditReport `json:"audit"`
	Keys     []BackupKey `json:"keys"`    // left out, as every key is
	Emptied  []string    `json:"emptied"` // config.toml, or names of providers: what is secret in them is not in the backup
	Skipped  []string    `json:"skipped"` // links and the like in the home, which were not followed
	Took     int64       `json:"took_ms"`
}

func (m manifest) report(path string) BackupReport {
	return BackupReport{
		Path: path, MadeAt: m.MadeAt, Version: m.Oxios, Sessions: m.Rows["sessions"], Messages: m.Rows["messages"],
		Files: len(m.Entries) - 1, Audit: m.Audit, Keys: m.Keys, Emptied: m.Emptied, Skipped: m.Skipped,
	}
}

// Backup writes everything in the home to one file at path, which must be
// absolute and must not exist; for a folder it makes up a name. It works beside
// running agents, reads the file back, and compares every part of it before
// the file gets its name: a backup that is there is whole.
//
// Keys, logs, caches and deleted conversations are never in it.
func (a *InfraAPI) Backup(ctx context.Context, path string) (BackupReport, error) {
	return guard(ctx, a.caller, action{call: "infra.backup", resource: "file:" + path, paths: namedPaths(path)}, func(ctx context.Context) (BackupReport, error) {
		began := time.Now()
		path, err := a.k.backupPath(path)
		if err != nil {
			return BackupReport{}, err
		}
		done, err := a.k.alone()
		if err != nil {
			return BackupReport{}, err
		}
		defer done()
		m, size, err := a.k.backup(ctx, path)
		if err != nil {
			return BackupReport{}, notWritten(err)
		}
		r := m.report(path)
		r.Bytes, r.Took = size, time.Since(began).Milliseconds()
		return r, nil
	})
}

// alone lets one backup, restore or cleaning run at a time.
func (k *Kernel) alone() (done func(), err error) {
	if !k.housework.TryLock() {
		return nil, sys.Errorf(sys.CodeBusy, "A backup, a restore or a cleaning is under way. Nothing was changed.").WithHint("Try again when it is done.")
	}
	return k.housework.Unlock, nil
}

// backupPath is where a backup goes.
func (k *Kernel) backupPath(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", sys.Errorf(sys.CodeInvalid, "%q is not an absolute path. Nothing was written.", path)
	}
	path = filepath.Clean(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "oxios-backup-"+k.clock.Now().In(time.Local).Format("20060102-150405")+".tar.gz")
	}
	if _, err := os.Lstat(path); err == nil {
		return "", sys.Errorf(sys.CodeConflict, "%s is there already. It was not overwritten.", path).WithHint("Choose another name.")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", notWritten(err)
	}
	// A backup in the home would be part of the next one, and go with the disk that it is to save from. The faces
	// hand one over through run/, which no backup holds.
	home, folder := realPath(k.opts.Home), realPath(filepath.Dir(path))
	if security.Within(folder, home) && !security.Within(folder, filepath.Join(home, "run")) {
		return "", sys.Errorf(sys.CodeInvalid, "%s lies in the home of Oxios itself. Nothing was written.", path).
			WithHint("Choose a folder outside of %s, best on another disk.", shortenHome(k.opts.Home))
	}
	return path, nil
}

// scratch makes a folder in the home for work under way, and returns what
// removes it. A folder that a crash left is removed at the next start.
func (k *Kernel) scratch() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(filepath.Join(k.opts.Home, "run"), scratchName)
	if err != nil {
		return "", nil, notWritten(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

const scratchName = "work-"

// sweep removes what an interrupted backup or restore left.
func (k *Kernel) sweep() {
	run := filepath.Join(k.opts.Home, "run")
	left, err := os.ReadDir(run)
	if err != nil {
		return // Open has just made it; whatever is wrong with it is told elsewhere
	}
	for _, e := range left {
		if e.IsDir() && strings.HasPrefix(e.Name(), scratchName) {
			_ = os.RemoveAll(filepath.Join(run, e.Name()))
		}
	}
}

func (k *Kernel) backup(ctx context.Context, path string) (_ manifest, size int64, err error) {
	dir, remove, err := k.scratch()
	if err != nil {
		return manifest{}, 0, err
	}
	defer remove()
	m, err := k.gather(ctx, dir)
	if err != nil {
		return manifest{}, 0, err
	}
	part, err := os.CreateTemp(filepath.Dir(path), ".oxios-backup-*.part") // CreateTemp makes it 0600
	if err != nil {
		return manifest{}, 0, err
	}
	defer func() { _ = os.Remove(part.Name()) }() // fails when it has got its name
	err = pack(ctx, part, m)
	if err == nil {
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return manifest{}, 0, err
	}
	remove() // the copies are not needed any more, and reading back takes room too
	if err := os.Mkdir(dir, 0o700); err != nil {
		return manifest{}, 0, err
	}
	if _, err := k.readBack(ctx, part.Name(), dir, m); err != nil {
		return manifest{}, 0, err
	}
	info, err := os.Stat(part.Name())
	if err != nil {
		return manifest{}, 0, err
	}
	return m, info.Size(), nameFile(part.Name(), path)
}

// nameFile gives a finished file its name, without replacing another one.
func nameFile(part, path string) error {
	err := os.Link(part, path)
	if errors.Is(err, fs.ErrExist) {
		return sys.Errorf(sys.CodeConflict, "%s is there already. It was not overwritten.", path).WithHint("Choose another name.")
	}
	if err == nil {
		return syncFolder(filepath.Dir(path))
	}
	// A disk without links, as most sticks are.
	if _, serr := os.Lstat(path); serr == nil {
		return sys.Errorf(sys.CodeConflict, "%s is there already. It was not overwritten.", path).WithHint("Choose another name.")
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes the name of a new file durable, where the system can.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every disk can, and the file itself is on it
	return d.Close()
}

// gather copies what a backup holds into dir, so that nothing of it changes
// any more, and describes it.
func (k *Kernel) gather(ctx context.Context, dir string) (manifest, error) {
	m := manifest{Format: backupFormat, Oxios: k.opts.Version, MadeAt: k.clock.Now().Truncate(time.Second), Node: k.node, Database: store.Version(), Keys: []BackupKey{}, Emptied: []string{}, Skipped: []string{}}
	database := filepath.Join(dir, databaseName)
	// What a conversation has attached must not go between the copy of its rows and that of its content.
	k.attached.saving.RLock()
	defer k.attached.saving.RUnlock()
	if err := k.store.Snapshot(ctx, database); err != nil {
		return m, err
	}
	attached, err := k.describe(ctx, database, &m)
	if err != nil {
		return m, err
	}
	size, hash, err := fingerprint(ctx, database)
	if err != nil {
		return m, err
	}
	m.Entries = []packed{{Name: databaseName, Size: size, Blake3: hash, Mode: 0o600, from: database}}
	if err := k.gatherFiles(ctx, dir, &m, attached); err != nil {
		return m, err
	}
	m.Keys, err = k.keyNames(ctx)
	if err != nil {
		return m, err
	}
	return m, nil
}

// describe takes the secrets out of a copy of the database, and counts and
// verifies what is left. It returns the hashes of what is attached there.
func (k *Kernel) describe(ctx context.Context, path string, m *manifest) (attached map[string]bool, err error) {
	copied, err := store.Open(ctx, path, store.Options{Clock: k.opts.Clock})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	if m.Emptied, err = emptyProviders(ctx, copied, m.Emptied); err != nil {
		return nil, err
	}
	if m.Rows, err = copied.Counts(ctx); err != nil {
		return nil, err
	}
	if m.Audit, err = security.NewAudit(copied, k.opts.Clock).Verify(ctx); err != nil {
		return nil, err
	}
	return copied.AttachmentHashes(ctx)
}

// readBack reads the backup at path and compares it with what was to be
// written: hashes, the database's own checks, the rows and the chain. It
// returns where the database now lies.
func (k *Kernel) readBack(ctx context.Context, path, dir string, want manifest) (database string, err error) {
	got, err := unpack(ctx, path, dir)
	if err != nil {
		return "", err
	}
	database = got.Entries[0].from
	if err := k.sound(ctx, path, got); err != nil {
		return "", err
	}
	for i := range got.Entries {
		got.Entries[i].from, want.Entries[i].from = "", ""
	}
	a, err := json.Marshal(got)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(want)
	if err != nil {
		return "", err
	}
	if string(a) != string(b) {
		return "", damagedBackup(path, sys.Say("its manifest cannot be read"), nil)
	}
	return database, nil
}

// sound checks the unpacked database against its manifest.
func (k *Kernel) sound(ctx context.Context, path string, m manifest) (err error) {
	st, err := openCopy(ctx, path, m, k.opts.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if err := st.Verify(ctx); err != nil {
		return damagedBackup(path, sys.Say("its database is damaged"), err)
	}
	rows, err := st.Counts(ctx)
	if err != nil {
		return damagedBackup(path, sys.Say("its database is damaged"), err)
	}
	for table, want := range m.Rows {
		if rows[table] != want {
			return damagedBackup(path, sys.Say("%s has %d rows instead of %d", table, rows[table], want), nil)
		}
	}
	chain, err := security.NewAudit(st, k.opts.Clock).Verify(ctx)
	if err != nil {
		return damagedBackup(path, sys.Say("its database is damaged"), err)
	}
	if chain.Entries != m.Audit.Entries || chain.Head != m.Audit.Head || chain.FirstBad != m.Audit.FirstBad {
		return damagedBackup(path, sys.Say("the audit chain is not the one that was saved"), nil)
	}
	return nil
}

// openCopy opens the unpacked database of a backup; an older one is brought up
// to date there.
func openCopy(ctx context.Context, path string, m manifest, clock sys.Clock) (*store.Store, error) {
	if m.Database > store.Version() {
		return nil, newerBackup(path, m.Oxios)
	}
	st, err := store.Open(ctx, m.Entries[0].from, store.Options{Clock: clock})
	switch sys.CodeOf(err) {
	case "":
		return st, nil
	case sys.CodeNewerDatabase:
		return nil, newerBackup(path, m.Oxios)
	case sys.CodeUnavailable, sys.CodeInternal:
		return nil, damagedBackup(path, sys.Say("its database is damaged"), err)
	}
	return nil, err
}
