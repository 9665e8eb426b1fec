package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"oxios/kernel/sys"

	_ "modernc.org/sqlite" // registers the driver
)

// readerCount bounds how many reads run at once; more of them wait. Each
// reader is opened when all the others are in use, and keeps up to 2 MB of pages.
const readerCount = 4

// Options are the parts that a [Store] is given. The zero value works.
type Options struct {
	Clock sys.Clock    // nil: the real time
	Log   *slog.Logger // nil: nothing is logged

	// Durable is called after each commit, before anybody hears of it: the tests
	// of crashes end the process there.
	Durable func()

	// Health is called when the disk does not take a write, with why, and when it
	// takes one again, with nil; not for each write. It runs in the writer's
	// goroutine and must not wait.
	Health func(error)
}

// Store is an open database. Its methods may be called from any goroutine.
type Store struct {
	path  string
	clock sys.Clock
	log   *slog.Logger

	owner atomic.Pointer[string] // who took the runs over; nil before TakeOver

	writerDB *sql.DB
	readerDB *sql.DB
	w        *writer

	readers chan *conn    // open and at rest; with spare and those in use they are readerCount
	spare   chan struct{} // readers that nobody has needed so far
	closed  chan struct{} // closed by Close
	once    sync.Once
}

// Open opens the database at path and creates or migrates it where needed. It
// starts one goroutine, the writer, which [Store.Close] ends and waits for.
//
// Its errors are [sys.Error] values: newer_database when a newer Oxios wrote
// the file, unavailable when it is damaged or not a database, disk_full, busy.
// In all of these cases the file keeps its content.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	return open(ctx, path, o, migrationFiles())
}

func open(ctx context.Context, path string, o Options, migrations fs.FS) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := touch(path); err != nil {
		return nil, err
	}
	s := &Store{path: path, clock: o.Clock, log: o.Log, closed: make(chan struct{}), readers: make(chan *conn, readerCount), spare: make(chan struct{}, readerCount)}
	if s.writerDB, err = sql.Open("sqlite", dsn(path, "_pragma=busy_timeout(5000)&_txlock=immediate")); err != nil {
		return nil, fmt.Errorf("open database %q: %w", path, err)
	}
	if s.readerDB, err = sql.Open("sqlite", dsn(path, "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(5000)")); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %q: %w", path, err), s.writerDB.Close())
	}
	first := make(chan *conn, 1)
	go func() { first <- s.firstReader(ctx) }()
	c, err := s.openWriter(ctx, migrations)
	r := <-first
	if err != nil {
		if r != nil {
			err = errors.Join(err, r.close())
		}
		return nil, errors.Join(err, s.readerDB.Close(), s.writerDB.Close())
	}
	spare := readerCount
	if r != nil {
		s.readers <- r
		spare--
	}
	for range spare {
		s.spare <- struct{}{}
	}
	s.w = newWriter(c, o.Log)
	if o.Durable != nil {
		s.w.durable = o.Durable
	}
	if o.Health != nil {
		s.w.health = o.Health
	}
	go s.w.run()
	return s, nil
}

// firstReader opens a connection that reads, beside the one that writes: each of them
// parses all tables, which is the larger part of opening. It returns nil where there
// is nothing to read yet, or where reading fails: whoever opens the next one is told why.
func (s *Store) firstReader(ctx context.Context) *conn {
	if info, err := os.Stat(s.path); err != nil || info.Size() == 0 {
		return nil
	}
	raw, err := s.readerDB.Conn(ctx)
	if err != nil {
		return nil
	}
	var tables int
	if err := raw.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		_ = raw.Close()
		return nil
	}
	return newConn(raw)
}

// openWriter brings the database up to date and prepares the one connection
// that writes.
func (s *Store) openWriter(ctx context.Context, migrations fs.FS) (*conn, error) {
	raw, err := s.writerDB.Conn(ctx)
	if err != nil {
		return nil, unreadable(s.path, err)
	}
	// The version is read before anything is set: a file of a newer Oxios, or one that is no database, stays as it is.
	if err := migrate(ctx, raw, s.path, migrations, s.log); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	for _, pragma := range []string{
		"PRAGMA journal_mode = WAL",
		"PRAGMA synchronous = FULL",
		"PRAGMA fullfsync = 1",            // macOS: fsync alone stops at the drive's cache
		"PRAGMA checkpoint_fullfsync = 1", // the same for the main file
		"PRAGMA foreign_keys = ON",
		"PRAGMA secure_delete = ON", // what a person deletes is overwritten
		"PRAGMA temp_store = MEMORY",
		"PRAGMA journal_size_limit = 67108864",
	} {
		if _, err := raw.ExecContext(ctx, pragma); err != nil {
			return nil, errors.Join(classify(fmt.Errorf("%s: %w", pragma, err)), raw.Close())
		}
	}
	return newConn(raw), nil
}

// Close refuses new calls, waits for the writes and reads under way, and
// closes the database. A second call does nothing.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closed)
		s.w.close()
		for range readerCount {
			select {
			case c := <-s.readers:
				err = errors.Join(err, c.close())
			case <-s.spare:
			}
		}
		// The writer goes last: the last connection to close moves the log into the main file, and readers may not write.
		err = errors.Join(err, s.readerDB.Close(), s.w.c.close(), s.writerDB.Close())
	})
	return err
}

// Path returns the absolute path of the database file.
func (s *Store) Path() string { return s.path }

// Check reads the whole database and reports damage, for doctor: it takes
// about a second per gigabyte. It returns nil when the database is sound.
func (s *Store) Check(ctx context.Context) error {
	return s.Read(ctx, func(tx *Tx) error {
		var verdict string
		if err := tx.QueryRow("PRAGMA quick_check(1)").Scan(&verdict); err != nil {
			return err
		}
		if verdict != "ok" {
			return unreadable(s.path, errors.New(verdict))
		}
		return nil
	})
}

func errClosed() error {
	return sys.Errorf(sys.CodeUnavailable, "The database is closed.").WithHint("Oxios is shutting down; start it again.")
}

// touch makes sure that path is a file of ours or a new one, private to its
// owner, before SQLite looks at it.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The database %s cannot be opened: %w.", path, err).
			WithHint("Check that the folder exists and that you own it.")
	}
	defer f.Close()
	// A copy that was put there may be open to others. What SQLite makes beside it gets the same mode.
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return sys.Errorf(sys.CodeUnavailable, "The database %s cannot be opened: %w.", path, err).WithHint("Check that the folder exists and that you own it.")
			}
		}
	}
	head := make([]byte, 16)
	switch n, err := io.ReadFull(f, head); {
	case errors.Is(err, io.EOF):
		return nil // empty: SQLite takes it for a new database, and so do we
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return unreadable(path, err)
	case bytes.Equal(head[:n], make([]byte, n)) && journalBeside(path):
		return nil // the power went while it was made: SQLite takes it back by that journal
	case string(head[:n]) != "SQLite format 3\x00":
		return unreadable(path, errors.New("it is not a database"))
	}
	return nil
}

// journalBeside reports whether a transaction was cut off that SQLite rolls back.
func journalBeside(path string) bool {
	info, err := os.Stat(path + "-journal")
	return err == nil && info.Size() > 0
}

// dsn names a file in the form that SQLite reads parameters from. Escaping
// keeps a path with ? or % from being taken for parameters.
func dsn(path, query string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a Windows drive letter
	}
	return (&url.URL{Scheme: "file", Path: p, RawQuery: query}).String()
}
