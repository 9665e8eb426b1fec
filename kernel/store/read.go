package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"oxios/kernel/sys"
)

// Read runs fn on a snapshot of the database: what was committed when its
// first query began. Any number may run, four at a time, and none waits for a
// write. fn must not call Read or Write. When ctx ends, the query under way is
// interrupted.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) (err error) {
	if ctx.Value(insideKey{}) != nil {
		return sys.Errorf(sys.CodeInternal, "Read was called inside a transaction.")
	}
	c, err := s.reader(ctx)
	if err != nil {
		return err
	}
	sound := false
	defer func() {
		if !sound { // also after a panic
			c.discard()
			s.spare <- struct{}{}
			return
		}
		s.readers <- c
	}()
	if _, err := c.exec(ctx, "BEGIN"); err != nil {
		return classify(err)
	}
	tx := &Tx{ctx: context.WithValue(ctx, insideKey{}, true), sqlCtx: ctx, c: c}
	err = tx.end(fn(tx))
	if _, rerr := c.exec(context.Background(), "ROLLBACK"); rerr == nil {
		// An interrupted connection may refuse its next query: it is not used again.
		sound = ctx.Err() == nil && tx.broken == nil
	}
	return err
}

// reader returns a connection, or waits for one. A new one is opened only when
// none is at rest: opening takes a millisecond, a short read 0.03.
func (s *Store) reader(ctx context.Context) (*conn, error) {
	select {
	case <-s.closed:
		return nil, errClosed()
	default:
	}
	select {
	case c := <-s.readers:
		return c, nil
	default:
	}
	select {
	case <-s.closed:
		return nil, errClosed()
	case <-ctx.Done():
		return nil, ctx.Err()
	case c := <-s.readers:
		return c, nil
	case <-s.spare:
		raw, err := s.readerDB.Conn(ctx)
		if err != nil {
			s.spare <- struct{}{}
			return nil, classify(err)
		}
		return newConn(raw), nil
	}
}

// Each calls fn with every row that query returns, in the types that SQLite
// gives: int64, float64, string, []byte or nil. The row is valid until fn
// returns; fn must not use the transaction, and ends the rows with io.EOF. Each
// is for a great many rows: [Tx.Query] takes two thirds longer to hand one over.
func (t *Tx) Each(query string, fn func(row []driver.Value) error, args ...driver.Value) error {
	if t.broken != nil {
		return t.broken
	}
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	err := t.c.raw.Raw(func(c any) error {
		rows, err := c.(driver.QueryerContext).QueryContext(t.sqlCtx, query, named) //nolint:forcetypeassert // modernc.org/sqlite's connection is one
		if err != nil {
			return err
		}
		defer rows.Close()
		row := make([]driver.Value, len(rows.Columns()))
		for {
			if err := rows.Next(row); err != nil {
				return err
			}
			if err := fn(row); err != nil {
				return err
			}
		}
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return t.fail(err)
}

// discard closes the connection for good: plainly closed, it would go back to
// database/sql's pool.
func (c *conn) discard() {
	for _, s := range c.stmts {
		_ = s.prepared.Close()
	}
	_ = c.raw.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.raw.Close()
}
