package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// writerChild makes this test binary a process that writes without end and
// reports each acknowledged write: see TestAcknowledgedWritesSurviveKill.
const writerChild = "OXIOS_STORE_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerChild); path != "" {
		if err := writeForever(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func writeForever(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	failed := make(chan error)
	lines := make(chan string)
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d-%d", w, i)
				// Two rows in one transaction: after the kill there are both or none.
				err := s.Write(ctx, func(tx *Tx) error {
					if err := s.Put(tx, key, "a"); err != nil {
						return err
					}
					return s.Put(tx, key+"-twin", "b")
				})
				if err != nil {
					failed <- err
					return
				}
				lines <- key
			}
		}()
	}
	out := bufio.NewWriter(os.Stdout)
	for {
		select {
		case err := <-failed:
			return err
		case line := <-lines:
			fmt.Fprintln(out, line)
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// setup opens a fresh database.
func setup(t testing.TB) *Store {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "oxios.db"))
}

func reopen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func write(t testing.TB, s *Store, fn func(tx *Tx) error) {
	t.Helper()
	if err := s.Write(context.Background(), fn); err != nil {
		t.Fatalf("Write: %v", err)
	}
}

func newSession(t testing.TB, s *Store, title string) Session {
	t.Helper()
	session, err := s.CreateSession(context.Background(), Session{Title: title})
	if err != nil {
		t.Fatalf("CreateSession: %v", err)
	}
	return session
}

func newRun(t testing.TB, s *Store, sessionID string) Run {
	t.Helper()
	r := Run{SessionID: sessionID, Name: "agent", Text: "do it"}
	write(t, s, func(tx *Tx) error { return s.CreateRun(tx, &r) })
	return r
}

func say(t testing.TB, s *Store, sessionID, role, content string) {
	t.Helper()
	write(t, s, func(tx *Tx) error {
		return s.AddMessage(tx, Message{SessionID: sessionID, Role: role, Content: content})
	})
}

// count returns how many rows match.
func count(t testing.TB, s *Store, query string, args ...any) int {
	t.Helper()
	var n int
	if err := s.Read(context.Background(), func(tx *Tx) error { return tx.QueryRow(query, args...).Scan(&n) }); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}
