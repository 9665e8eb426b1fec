package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sort"
	"strings"

	"oxios/kernel/sys"
)

//go:embed migrations/*.sql
var embedded embed.FS

func migrationFiles() fs.FS {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	return files
}

// migrate brings the database up to the last of the numbered scripts in files
// (0001.sql, 0002.sql, …). PRAGMA user_version holds the number of the last
// one that ran. Each runs in one transaction together with its number, and a
// database that has content is copied to path.v<N>.bak first.
func migrate(ctx context.Context, c *sql.Conn, path string, files fs.FS, log *slog.Logger) error {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	sort.Strings(names)
	have, tables, err := version(ctx, c)
	if err != nil {
		return unreadable(path, err)
	}
	if have > len(names) {
		return sys.Errorf(sys.CodeNewerDatabase, "This home was written by a newer Oxios (its database has version %d, this Oxios knows up to %d). Nothing was changed.", have, len(names)).
			WithHint("Update Oxios, or let `oxios doctor` go back to the backup beside the database.")
	}
	if have == len(names) {
		return nil
	}
	if tables > 0 {
		backup := backupPath(path, have)
		if err := vacuumInto(ctx, c, backup); err != nil {
			return fmt.Errorf("copy the database before its migration: %w", classify(err))
		}
		log.InfoContext(ctx, "Database copied before migration", "backup", backup, "version", have)
	}
	for i := have; i < len(names); i++ {
		script, err := fs.ReadFile(files, names[i])
		if err != nil {
			return fmt.Errorf("read migration %s: %w", names[i], err)
		}
		if err := runScript(ctx, c, i+1, string(script)); err != nil {
			return fmt.Errorf("migration %s failed and changed nothing: %w", names[i], classify(err))
		}
		log.InfoContext(ctx, "Database migrated", "version", i+1)
	}
	return nil
}

// version returns the number of the last migration and how many tables exist.
func version(ctx context.Context, c *sql.Conn) (have, tables int, err error) {
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return 0, 0, err
	}
	if err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return 0, 0, err
	}
	return have, tables, nil
}

// runScript runs one migration. Foreign keys are off meanwhile, because a script may
// rebuild a table; they are checked before the commit instead.
func runScript(ctx context.Context, c *sql.Conn, number int, script string) (err error) {
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, rerr := c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			if rerr != nil && !strings.Contains(rerr.Error(), "no transaction is active") {
				err = errors.Join(err, rerr)
			}
		}
	}()
	if _, err := c.ExecContext(ctx, script); err != nil {
		return err
	}
	var broken int
	if err := c.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&broken); err != nil {
		return err
	}
	if broken > 0 {
		return sys.Errorf(sys.CodeInternal, "%d rows point at rows that do not exist.", broken)
	}
	if _, err := c.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", number)); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "COMMIT")
	return err
}
