package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"oxios/kernel/sys"
)

func put(t testing.TB, tx *Tx, key, value string) {
	t.Helper()
	if _, err := tx.Exec("INSERT INTO kv (key, value) VALUES (?, ?)", key, value); err != nil {
		t.Errorf("insert %s: %v", key, err)
	}
}

// holdWriter occupies the writer until release is called, so that the writes
// that follow end up in one batch.
func holdWriter(t *testing.T, s *Store) (release func()) {
	t.Helper()
	inside, gate := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.Write(context.Background(), func(*Tx) error {
			close(inside)
			<-gate
			return nil
		})
	}()
	<-inside
	return func() {
		close(gate)
		if err := <-done; err != nil {
			t.Errorf("held write: %v", err)
		}
	}
}

func awaitQueue(s *Store, n int) {
	for {
		s.w.mu.Lock()
		have := len(s.w.queue)
		s.w.mu.Unlock()
		if have >= n {
			return
		}
		runtime.Gosched()
	}
}

func TestWritersInOneBatchGetTheirOwnErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	release := holdWriter(t, s)
	const n = 64
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = s.Write(context.Background(), func(tx *Tx) error {
				put(t, tx, fmt.Sprintf("k%02d", i), "v")
				if i%3 == 0 {
					return fmt.Errorf("mine is %d", i)
				}
				if i%3 == 1 && i > 31 {
					panic(fmt.Sprintf("panic %d", i))
				}
				return nil
			})
		}()
	}
	awaitQueue(s, n)
	release()
	wg.Wait()
	want := 0
	for i, err := range errs {
		switch {
		case i%3 == 0:
			if err == nil || err.Error() != fmt.Sprintf("mine is %d", i) {
				t.Errorf("writer %d: got error %v, want its own", i, err)
			}
		case i%3 == 1 && i > 31:
			if sys.CodeOf(err) != sys.CodeInternal {
				t.Errorf("writer %d panicked: got error %v, want internal", i, err)
			}
		default:
			want++
			if err != nil {
				t.Errorf("writer %d: got error %v, want none", i, err)
			}
			if got := count(t, s, "SELECT count(*) FROM kv WHERE key = ?", fmt.Sprintf("k%02d", i)); got != 1 {
				t.Errorf("writer %d: got %d rows, want 1", i, got)
			}
		}
	}
	if got := count(t, s, "SELECT count(*) FROM kv"); got != want {
		t.Errorf("got %d rows, want %d: a failed write left something behind", got, want)
	}
}

func TestFailedSingleWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	mine := errors.New("mine")
	err := s.Write(context.Background(), func(tx *Tx) error {
		put(t, tx, "a", "1")
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("got error %v, want the one of the function itself", err)
	}
	if got := count(t, s, "SELECT count(*) FROM kv"); got != 0 {
		t.Errorf("got %d rows, want 0", got)
	}
}

func TestCallbacksFollowTheOutcome(t *testing.T) {
	t.Parallel()
	s := setup(t)
	release := holdWriter(t, s)
	var head atomic.Int64 // as a chain that runs ahead of its commit
	var committed []int64 // appended to by the writer alone, read after all have returned
	results := make(chan error, 8)
	for i := range 8 {
		go func() {
			results <- s.Write(context.Background(), func(tx *Tx) error {
				was := head.Load()
				head.Store(was + 1)
				tx.OnRollback(func() { head.Store(was) })
				tx.OnCommit(func() { committed = append(committed, was+1) })
				if i%2 == 1 {
					return errors.New("no")
				}
				return nil
			})
		}()
	}
	awaitQueue(s, 8)
	release()
	failed := 0
	for range 8 {
		if <-results != nil {
			failed++
		}
	}
	if failed != 4 || head.Load() != 4 || fmt.Sprint(committed) != "[1 2 3 4]" {
		t.Errorf("got %d failures, head %d, commits %v; want 4, 4, [1 2 3 4]", failed, head.Load(), committed)
	}
}

func TestWriteLeavesTheQueueWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	s := setup(t)
	release := holdWriter(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() {
		result <- s.Write(ctx, func(tx *Tx) error { put(t, tx, "late", "1"); return nil })
	}()
	awaitQueue(s, 1)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) { // while the writer is still held
		t.Errorf("got %v, want context.Canceled", err)
	}
	release()
	write(t, s, func(tx *Tx) error { return nil }) // the queue has run empty
	if got := count(t, s, "SELECT count(*) FROM kv"); got != 0 {
		t.Errorf("got %d rows of a write that its caller left, want 0", got)
	}
}

func TestContextThatEndsInsideDoesNotHurtTheWrite(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx, cancel := context.WithCancel(context.Background())
	err := s.Write(ctx, func(tx *Tx) error {
		put(t, tx, "a", "1")
		cancel()
		put(t, tx, "b", "1")
		return nil
	})
	if got := count(t, s, "SELECT count(*) FROM kv"); err != nil || got != 2 {
		t.Errorf("got error %v and %d rows, want none and 2", err, got)
	}
}

func TestNestedWriteIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t)
	err := s.Write(context.Background(), func(tx *Tx) error {
		return s.Write(tx.Context(), func(*Tx) error { return nil })
	})
	if sys.CodeOf(err) != sys.CodeInternal {
		t.Errorf("got %v, want internal", err)
	}
}

func TestWriterSurvivesAFunctionThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	s := setup(t)
	err := s.Write(context.Background(), func(tx *Tx) error {
		put(t, tx, "a", "1")
		runtime.Goexit()
		return nil
	})
	if sys.CodeOf(err) != sys.CodeInternal {
		t.Errorf("got %v, want internal", err)
	}
	write(t, s, func(tx *Tx) error { put(t, tx, "b", "1"); return nil })
	if got := count(t, s, "SELECT count(*) FROM kv"); got != 1 {
		t.Errorf("got %d rows, want the second write's alone", got)
	}
}

func TestFullDiskIsToldAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	write(t, s, func(tx *Tx) error { put(t, tx, "kept", "1"); return nil })
	write(t, s, func(tx *Tx) error {
		var pages int
		if err := tx.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
			return err
		}
		return tx.QueryRow(fmt.Sprintf("PRAGMA max_page_count = %d", pages+2)).Scan(&pages)
	})
	big := make([]byte, 1<<20)
	insert := func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO kv (key, value) VALUES ('big', hex(?))", big)
		return err
	}
	if err := s.Write(context.Background(), insert); sys.CodeOf(err) != sys.CodeDiskFull {
		t.Errorf("got %v, want disk_full", err)
	}
	err := s.Write(context.Background(), func(tx *Tx) error {
		_ = insert(tx) // a caller that overlooks it does not write the rest alone
		_, _ = tx.Exec("INSERT INTO kv (key, value) VALUES ('rest', '1')")
		return nil
	})
	if sys.CodeOf(err) != sys.CodeDiskFull {
		t.Errorf("an overlooked failure: got %v, want disk_full", err)
	}
	release := holdWriter(t, s)
	results := make(chan error, 8)
	for i := range 8 {
		go func() {
			results <- s.Write(context.Background(), func(tx *Tx) error {
				if i%4 == 3 {
					return insert(tx)
				}
				_, err := tx.Exec("INSERT INTO kv (key, value) VALUES (?, '1')", fmt.Sprint("small", i))
				return err
			})
		}()
	}
	awaitQueue(s, 8)
	release()
	saved := 0
	for range 8 {
		if err := <-results; err == nil {
			saved++
		} else if sys.CodeOf(err) != sys.CodeDiskFull {
			t.Errorf("in a batch: got %v, want disk_full", err)
		}
	}
	if got := count(t, s, "SELECT count(*) FROM kv WHERE key LIKE 'small%'"); got != saved {
		t.Errorf("got %d rows, want the %d that were acknowledged", got, saved)
	}
	if saved > 6 {
		t.Errorf("%d of 8 writes succeeded, want at most 6", saved)
	}
	if got := count(t, s, "SELECT count(*) FROM kv WHERE key IN ('kept', 'big', 'rest')"); got != 1 {
		t.Errorf("got %d of the rows kept, big, rest; want kept alone", got)
	}
	write(t, s, func(tx *Tx) error {
		var pages int
		return tx.QueryRow("PRAGMA max_page_count = 1000000").Scan(&pages)
	})
	if err := s.Write(context.Background(), insert); err != nil {
		t.Errorf("after space was made: %v", err)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	t.Parallel()
	s := setup(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	nothing := func(*Tx) error { return nil }
	if err := s.Write(context.Background(), nothing); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("Write: got %v, want unavailable", err)
	}
	if err := s.Read(context.Background(), nothing); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("Read: got %v, want unavailable", err)
	}
}
