package store

import (
	"bytes"
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"oxios/kernel/sys"
)

// fixture builds a database as an Oxios with the first n of the migrations
// left it, with a session and a message where the tables exist. Version 0 is
// a file that has a table of its own and no migration.
func fixture(t *testing.T, files fs.FS, version int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "oxios.db")
	if version == 0 {
		raw(t, path, "CREATE TABLE older (text TEXT); INSERT INTO older VALUES ('kept')")
		return path
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	some := fstest.MapFS{}
	for _, name := range names[:version] {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		some[name] = &fstest.MapFile{Data: data}
	}
	s, err := open(context.Background(), path, Options{}, some)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, path, `INSERT INTO sessions (id, created_at, updated_at, title) VALUES ('old', 1, 1, '한국어 제목');
		INSERT INTO messages (id, session_id, role, content, timestamp) VALUES ('m', 'old', 'user', 'a message from before', 1)`)
	return path
}

// next is the migrations of a later Oxios.
func next(t *testing.T, script string) fs.FS {
	t.Helper()
	names, err := fs.Glob(migrationFiles(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	later := fstest.MapFS{names[len(names)-1] + "-next.sql": {Data: []byte(script)}}
	for _, name := range names {
		data, err := fs.ReadFile(migrationFiles(), name)
		if err != nil {
			t.Fatal(err)
		}
		later[name] = &fstest.MapFile{Data: data}
	}
	return later
}

func raw(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

func one(t *testing.T, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var text string
	if err := db.QueryRow(query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

func TestOlderDatabaseIsCopiedAndMigrated(t *testing.T) {
	t.Parallel()
	t.Run("version 0", func(t *testing.T) {
		t.Parallel()
		path := fixture(t, nil, 0)
		s := reopen(t, path)
		newSession(t, s, "new")
		backups, err := s.Backups()
		if err != nil || len(backups) != 1 || backups[0].Version != 0 || backups[0].Path != path+".v0.bak" {
			t.Fatalf("got backups %v, error %v; want the one of version 0", backups, err)
		}
		if got := one(t, backups[0].Path, "SELECT text FROM older"); got != "kept" {
			t.Errorf("the backup holds %q, want kept", got)
		}
	})
	t.Run("version 1", func(t *testing.T) {
		t.Parallel()
		path := fixture(t, migrationFiles(), 1)
		s, err := open(context.Background(), path, Options{}, next(t, "ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		found, err := s.Sessions(context.Background(), SessionQuery{Search: "from before"})
		if err != nil || len(found) != 1 || found[0].Title != "한국어 제목" {
			t.Errorf("got %v, error %v; want the session from before", found, err)
		}
		if got := count(t, s, "SELECT count(*) FROM sessions WHERE colour = 'blue'"); got != 1 {
			t.Errorf("got %d migrated rows, want 1", got)
		}
		// The copy must be searchable too: its index points at rows by number.
		kept := filepath.Join(t.TempDir(), "oxios.db")
		if _, err := RestoreBackup(context.Background(), kept, path+".v1.bak"); err != nil {
			t.Fatal(err)
		}
		back := reopen(t, kept)
		if found, err := back.Sessions(context.Background(), SessionQuery{Search: "message from"}); err != nil || len(found) != 1 {
			t.Errorf("in the backup: got %v, error %v; want 1 session", found, err)
		}
	})
}

func TestVectorOfALongMemoryFromBeforePassagesIsMadeAnew(t *testing.T) {
	t.Parallel()
	path := fixture(t, migrationFiles(), 24)
	raw(t, path, `INSERT INTO memories (id, space, kind, text, key, source, thread, run_id, importance, said_at, created_at, updated_at)
		SELECT 'of ' || v.column1, '', 'fact', substr(replace(hex(zeroblob(1000)), '0', '가'), 1, v.column1), '', 'person', '', '', 1, 1, 1, 1 FROM (VALUES (1000), (1001)) v;
		INSERT INTO memory_vectors (memory_id, embedder, dim, vector, sum, made_at) SELECT id, 'p/m', 1, x'0000803f', 0, 1 FROM memories`)
	s := reopen(t, path)
	if got := one(t, path, "SELECT group_concat(memory_id) FROM memory_vectors"); got != "of 1000" {
		t.Errorf("vectors of %q stayed", got)
	}
	if got := count(t, s, "SELECT count(*) FROM memories"); got != 2 {
		t.Errorf("%d memories stayed", got)
	}
}

func TestNewDatabaseHasNoBackup(t *testing.T) {
	t.Parallel()
	s := setup(t)
	if backups, err := s.Backups(); err != nil || len(backups) != 0 {
		t.Errorf("got %v, error %v; want none", backups, err)
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"syntax":      "ALTER TABLE sessions ADD COLUMN colour TEXT; CREATE TABEL x (y);",
		"foreign key": "ALTER TABLE sessions ADD COLUMN colour TEXT; DELETE FROM sessions;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := fixture(t, migrationFiles(), 1)
			s, err := open(context.Background(), path, Options{}, next(t, script))
			if err == nil {
				s.Close()
				t.Fatal("a failing migration opened")
			}
			s = reopen(t, path)
			if got := count(t, s, "SELECT count(*) FROM sessions JOIN messages ON session_id = sessions.id"); got != 1 {
				t.Errorf("got %d messages, want the one from before", got)
			}
			if got := count(t, s, "SELECT count(*) FROM pragma_table_info('sessions') WHERE name = 'colour'"); got != 0 {
				t.Error("half of the migration stayed")
			}
		})
	}
}

func TestNewerDatabaseIsRefusedUntouched(t *testing.T) {
	t.Parallel()
	path := fixture(t, migrationFiles(), 1)
	raw(t, path, "PRAGMA user_version = 99")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), path, Options{})
	if sys.CodeOf(err) != sys.CodeNewerDatabase || sys.AsError(err).Hint == "" {
		t.Errorf("got %v, want newer_database with a hint", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (error %v)", err)
	}
}

func TestDamagedFileIsToldAndKept(t *testing.T) {
	t.Parallel()
	garbage := bytes.Repeat([]byte("not a database "), 1000)
	head := append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte{0xff}, 9000)...)
	for name, content := range map[string][]byte{"text": garbage, "short": []byte("x"), "header only": head[:16], "after the header": head} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "oxios.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(context.Background(), path, Options{})
			if err == nil {
				s.Close()
			}
			if sys.CodeOf(err) != sys.CodeUnavailable || !strings.Contains(err.Error(), "oxios.db") || !strings.Contains(err.Error(), "doctor") {
				t.Errorf("got %v, want unavailable that names the file and a way out", err)
			}
			if now, rerr := os.ReadFile(path); rerr != nil || !bytes.Equal(now, content) {
				t.Errorf("the file was overwritten (error %v)", rerr)
			}
		})
	}
}

func TestCheckFindsDamage(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "x")
	for range 50 {
		say(t, s, session.ID, RoleUser, strings.Repeat("some text that fills pages ", 40))
	}
	if err := s.Check(context.Background()); err != nil {
		t.Fatalf("a sound database: %v", err)
	}
	path := s.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) * 9 / 10; i < len(data); i++ {
		data[i] = 0x5a
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, path)
	if err := s.Check(context.Background()); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v, want unavailable", err)
	}
}

func TestRestoreGoesBackAndKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := fixture(t, migrationFiles(), 1)
	newer, err := open(ctx, path, Options{}, next(t, "CREATE TABLE extra (x);"))
	if err != nil {
		t.Fatal(err)
	}
	newSession(t, newer, "made after the update")
	if err := newer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, path, Options{}); sys.CodeOf(err) != sys.CodeNewerDatabase {
		t.Fatalf("got %v, want newer_database", err)
	}
	// What a crash leaves: a log that must not be played into the restored file.
	if err := os.WriteFile(path+"-wal", []byte("left over"), 0o600); err != nil {
		t.Fatal(err)
	}
	backups, err := Backups(path)
	if err != nil || len(backups) != 1 {
		t.Fatalf("got backups %v, error %v; want 1", backups, err)
	}
	replaced, err := RestoreBackup(ctx, path, backups[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	s := reopen(t, path)
	if got := count(t, s, "SELECT count(*) FROM sessions"); got != 1 {
		t.Errorf("got %d sessions after going back, want 1", got)
	}
	if got := one(t, replaced, "SELECT count(*) FROM sessions"); got != "2" {
		t.Errorf("got %s sessions in what was replaced, want 2", got)
	}
	// A log without its database must not get into the restored file either.
	alone := filepath.Join(t.TempDir(), "oxios.db")
	if err := os.WriteFile(alone+"-wal", []byte("left over"), 0o600); err != nil {
		t.Fatal(err)
	}
	if replaced, err := RestoreBackup(ctx, alone, backups[0].Path); err != nil || replaced != "" {
		t.Errorf("into an empty folder: got %q, error %v", replaced, err)
	}
	if _, err := os.Stat(alone + "-wal"); err == nil {
		t.Error("the old log lies beside the restored database")
	}
	damaged := filepath.Join(t.TempDir(), "bad.bak")
	if err := os.WriteFile(damaged, []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := RestoreBackup(ctx, path, damaged); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("a damaged backup: got %v, want unavailable", err)
	}
}

func TestPathMayHoldAnyCharacter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "집 100% #1 & more")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "oxios.db")
	s := reopen(t, path)
	newSession(t, s, "x")
	if got := count(t, s, "SELECT count(*) FROM sessions"); got != 1 {
		t.Errorf("got %d sessions, want 1", got)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the database is not at its path (error %v)", err)
	}
}
