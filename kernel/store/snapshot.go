package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"oxios/kernel/sys"
)

// Version is the version of the database that this Oxios writes: how many
// migrations it knows.
func Version() int {
	names, err := fs.Glob(migrationFiles(), "*.sql")
	if err != nil {
		panic(err) // the pattern is ours
	}
	return len(names)
}

// Snapshot writes the database as it is at this moment to path, which must not
// exist, without waiting for writers or holding them up. Discarded sessions
// are left out, and so is whatever was deleted. Half a copy is removed.
func (s *Store) Snapshot(ctx context.Context, path string) (err error) {
	defer func() {
		if err != nil {
			_ = os.Remove(path)
			err = classify(fmt.Errorf("copy the database: %w", err))
		}
	}()
	if err := s.copyTo(ctx, path); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	copied, err := Open(ctx, path, Options{Clock: s.clock})
	if err != nil {
		return err
	}
	ids, err := copied.Discarded(ctx)
	for _, id := range ids {
		if err == nil {
			err = copied.DeleteDiscarded(ctx, id, nil)
		}
	}
	return errors.Join(err, copied.Close()) // which leaves one file, without a log
}

func (s *Store) copyTo(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(s.path, "mode=ro&_pragma=busy_timeout(5000)"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", path)
	return errors.Join(err, db.Close())
}

// Verify reads the whole database, its indexes included, and reports damage.
// It is slower than [Store.Check]: it also compares each index with its table.
func (s *Store) Verify(ctx context.Context) error {
	return s.Read(ctx, func(tx *Tx) error {
		problems, err := stringsOf(tx, "PRAGMA integrity_check(3)")
		if err != nil {
			return err
		}
		if len(problems) != 1 || problems[0] != "ok" {
			return unreadable(s.path, errors.New(strings.Join(problems, "; ")))
		}
		var orphans int
		if err := tx.QueryRow("SELECT count(*) FROM pragma_foreign_key_check").Scan(&orphans); err != nil {
			return err
		}
		if orphans > 0 {
			return unreadable(s.path, sys.Errorf(sys.CodeInternal, "%d rows point at rows that do not exist.", orphans))
		}
		return nil
	})
}

// Counts returns how many rows each table has, for comparing two copies.
func (s *Store) Counts(ctx context.Context) (map[string]int64, error) {
	counts := map[string]int64{}
	err := s.Read(ctx, func(tx *Tx) error {
		names, err := tables(tx)
		if err != nil {
			return err
		}
		for _, name := range names {
			var n int64
			if err := tx.QueryRow("SELECT count(*) FROM " + name).Scan(&n); err != nil {
				return err
			}
			counts[name] = n
		}
		return nil
	})
	return counts, err
}

// tables are the names of the tables that hold what was written, in the order
// of their making; those that a full-text index keeps for itself are left out.
func tables(tx *Tx) ([]string, error) {
	return stringsOf(tx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE '%\_fts%' ESCAPE '\' ORDER BY rowid`)
}

// Sizes returns how many bytes each table takes in the file, with its indexes,
// under the table's name. Full-text indexes stand under "messages" and
// "sessions". It reads every page, about a second for a gigabyte.
func (s *Store) Sizes(ctx context.Context) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`SELECT coalesce((SELECT tbl_name FROM sqlite_schema m WHERE m.name = d.name), d.name), sum(d.pgsize)
			FROM dbstat d WHERE d.aggregate = TRUE GROUP BY 1`)
		if err != nil {
			return err
		}
		for rows.Next() {
			var name string
			var size int64
			if err := rows.Scan(&name, &size); err != nil {
				return err
			}
			name, _, _ = strings.Cut(name, "_fts")
			sizes[name] += size
		}
		return rows.Err()
	})
	return sizes, err
}
