package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"
)

func TestReadersDoNotWaitForTheWriter(t *testing.T) {
	t.Parallel()
	s := setup(t)
	write(t, s, func(tx *Tx) error { put(t, tx, "a", "1"); return nil })
	inside, gate := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.Write(context.Background(), func(tx *Tx) error {
			put(t, tx, "b", "1")
			close(inside)
			<-gate
			return nil
		})
	}()
	<-inside
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second) // below SQLite's own wait of 5 s
	defer cancel()
	var wg sync.WaitGroup
	for range 3 * readerCount {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var n int
			err := s.Read(ctx, func(tx *Tx) error { return tx.QueryRow("SELECT count(*) FROM kv").Scan(&n) })
			if err != nil || n != 1 {
				t.Errorf("during a write: got %d rows and error %v, want 1 and none", n, err)
			}
		}()
	}
	wg.Wait()
	close(gate)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := count(t, s, "SELECT count(*) FROM kv"); got != 2 {
		t.Errorf("after the write: got %d rows, want 2", got)
	}
}

func TestReadSeesOneMoment(t *testing.T) {
	t.Parallel()
	s := setup(t)
	err := s.Read(context.Background(), func(tx *Tx) error {
		var before, after int
		if err := tx.QueryRow("SELECT count(*) FROM kv").Scan(&before); err != nil {
			return err
		}
		write(t, s, func(tx *Tx) error { put(t, tx, "a", "1"); return nil })
		if err := tx.QueryRow("SELECT count(*) FROM kv").Scan(&after); err != nil {
			return err
		}
		if before != after {
			t.Errorf("one read saw %d rows, then %d", before, after)
		}
		_, err := tx.Exec("DELETE FROM kv")
		if err == nil {
			t.Error("a read could write")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestInterruptedReadLeavesTheReadersUsable(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for range 2 * readerCount {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		err := s.Read(ctx, func(tx *Tx) error {
			var n int
			return tx.QueryRow("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c").Scan(&n)
		})
		cancel()
		if err == nil {
			t.Fatal("an endless query ended")
		}
	}
	if got := count(t, s, "SELECT count(*) FROM kv"); got != 0 {
		t.Errorf("got %d rows, want 0", got)
	}
}

func TestSameQueryMayRunWhileItsRowsAreRead(t *testing.T) {
	t.Parallel()
	s := setup(t)
	write(t, s, func(tx *Tx) error {
		for i := range 4 {
			put(t, tx, fmt.Sprint(i), "v")
		}
		seen := 0
		const query = "SELECT key FROM kv ORDER BY key"
		outer, err := tx.Query(query)
		if err != nil {
			return err
		}
		for outer.Next() {
			inner, err := tx.Query(query)
			if err != nil {
				return err
			}
			for inner.Next() {
				seen++
			}
			if err := inner.Err(); err != nil {
				return err
			}
		}
		if seen != 16 {
			t.Errorf("got %d inner rows, want 16", seen)
		}
		left, err := tx.Query(query) // left open: the transaction closes it
		if err != nil {
			return err
		}
		left.Next()
		return outer.Err()
	})
}

func TestReadersAreOpenedOnlyWhenAllOthersAreInUse(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for range 10 {
		if err := s.Read(t.Context(), func(*Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := readerCount - len(s.spare); got != 1 {
		t.Errorf("got %d readers open after one read at a time, want 1", got)
	}
	inside, leave := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range readerCount {
		all.Go(func() {
			err := s.Read(context.Background(), func(*Tx) error {
				inside <- struct{}{}
				<-leave
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range readerCount {
		<-inside
	}
	if len(s.spare) != 0 || len(s.readers) != 0 {
		t.Errorf("got %d spare and %d resting readers while %d read, want none", len(s.spare), len(s.readers), readerCount)
	}
	close(leave)
	all.Wait()
	if got := len(s.readers); got != readerCount {
		t.Errorf("got %d readers at rest, want %d", got, readerCount)
	}
}

func TestEachGivesRowsInTheTypesOfTheDatabase(t *testing.T) {
	t.Parallel()
	s := setup(t)
	write(t, s, func(tx *Tx) error {
		for i := range 5 {
			put(t, tx, fmt.Sprint(i), "v")
		}
		return nil
	})
	failure := errors.New("ours")
	for name, tc := range map[string]struct {
		stop error // at the third row
		want error
		rows int
	}{
		"to the end": {rows: 5}, "stopped": {stop: io.EOF, rows: 3}, "failed": {stop: failure, want: failure, rows: 3},
	} {
		var got []string
		err := s.Read(t.Context(), func(tx *Tx) error {
			err := tx.Each("SELECT CAST(key AS INTEGER), value, x'00ff', NULL, 0.5 FROM kv WHERE key >= ? ORDER BY key", func(row []driver.Value) error {
				got = append(got, fmt.Sprintf("%#v", row))
				if len(got) == 3 {
					return tc.stop
				}
				return nil
			}, "0")
			if rerr := tx.QueryRow("SELECT 1").Scan(new(int)); rerr != nil {
				t.Errorf("%s: the transaction is of no use afterwards: %v", name, rerr)
			}
			return err
		})
		if !errors.Is(err, tc.want) || len(got) != tc.rows || got[0] != `[]driver.Value{0, "v", []uint8{0x0, 0xff}, driver.Value(nil), 0.5}` {
			t.Errorf("%s: got %d rows, %v, the first %s", name, len(got), err, got[0])
		}
	}
	err := s.Read(t.Context(), func(tx *Tx) error { return tx.Each("SELECT nothing FROM nowhere", nil) })
	if err == nil {
		t.Error("got no error for a query that is none")
	}
}
