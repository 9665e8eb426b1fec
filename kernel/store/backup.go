package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// Backup is a copy of the database, made before a migration.
type Backup struct {
	Path    string    `json:"path"`
	Version int       `json:"version"` // the user_version of the copy
	Size    int64     `json:"size"`    // bytes
	At      time.Time `json:"at"`
}

func backupPath(path string, version int) string { return fmt.Sprintf("%s.v%d.bak", path, version) }

// Backups lists the copies beside the database, newest version first.
func (s *Store) Backups() ([]Backup, error) { return Backups(s.path) }

// Backups lists the copies beside the database at path, newest version first.
// The database need not be open, or even readable.
func Backups(path string) ([]Backup, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	var found []Backup
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+".v")
		if !ok {
			continue
		}
		number, ok = strings.CutSuffix(number, ".bak")
		version, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("list backups: %w", err)
		}
		found = append(found, Backup{Path: filepath.Join(filepath.Dir(path), e.Name()), Version: version, Size: info.Size(), At: info.ModTime().UTC()})
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Version > found[j].Version })
	return found, nil
}

// RestoreBackup puts the copy at backup in the place of the database at path,
// which must be closed, with the home locked. The copy is checked first. The
// database that was there is kept beside it as <path>.replaced-<time>, and that
// path is returned ("" when there was none). The backup stays where it is.
func RestoreBackup(ctx context.Context, path, backup string) (replaced string, err error) {
	if err := checkFile(ctx, backup); err != nil {
		return "", err
	}
	fresh := path + ".restoring"
	if err := copyFile(fresh, backup); err != nil {
		return "", fmt.Errorf("copy backup: %w", classify(err))
	}
	replaced, err = setAside(ctx, path)
	if err != nil {
		return "", fmt.Errorf("keep the present database: %w", errors.Join(err, os.Remove(fresh)))
	}
	// Only now, without a log beside it: SQLite would play the old log into the restored file.
	if err := os.Rename(fresh, path); err != nil {
		return replaced, fmt.Errorf("put the backup in place: %w", err)
	}
	return replaced, syncDir(filepath.Dir(path))
}

// setAside copies the database at path to a name of its own and moves its log
// along. The file itself stays until the restored one replaces it, so that an
// interruption never leaves a home without a database.
func setAside(ctx context.Context, path string) (string, error) {
	kept := path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000")
	_, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing {
		// Where the database can still be read, this moves its log into the file. Where it cannot, file and log are kept as they are.
		if db, err := sql.Open("sqlite", dsn(path, "mode=rw&_pragma=busy_timeout(1000)")); err == nil {
			_, _ = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
			_ = db.Close()
		}
		if err := copyFile(kept, path); err != nil {
			return "", classify(err)
		}
	}
	if err := os.Rename(path+"-wal", kept+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if missing {
		return "", nil
	}
	return kept, nil
}

// checkFile reads the whole database at path without changing it.
func checkFile(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return sys.Errorf(sys.CodeNotFound, "There is no backup %s: %w.", path, err)
	}
	db, err := sql.Open("sqlite", dsn(path, "mode=ro&immutable=1"))
	if err != nil {
		return fmt.Errorf("check %q: %w", path, err)
	}
	var verdict string
	err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return unreadable(path, err)
	}
	return nil
}

// vacuumInto copies the database behind c to path, complete and on the disk
// before it gets its name. An older file of that name is replaced.
func vacuumInto(ctx context.Context, c *sql.Conn, path string) error {
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := func() error {
		if _, err := c.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
			return err
		}
		if err := os.Chmod(part, 0o600); err != nil {
			return err
		}
		f, err := os.OpenFile(part, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	}(); err != nil {
		_ = os.Remove(part) // half a copy is no backup
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
