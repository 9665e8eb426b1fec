package store

import (
	"context"
	"database/sql"
	"errors"

	"oxios/kernel/sys"
)

// maxStatements bounds the prepared statements of a connection. A query beyond
// it runs unprepared, so that a caller who builds text cannot fill the memory.
const maxStatements = 256

// conn is one SQLite connection and its prepared statements.
type conn struct {
	raw   *sql.Conn
	stmts map[string]*statement
}

type statement struct {
	prepared *sql.Stmt
	rows     *sql.Rows // what it returned last; it may be open still
}

func newConn(raw *sql.Conn) *conn { return &conn{raw: raw, stmts: map[string]*statement{}} }

func (c *conn) close() error {
	var err error
	for _, s := range c.stmts {
		err = errors.Join(err, s.prepared.Close())
	}
	return errors.Join(err, c.raw.Close())
}

// statement returns query prepared, or nil where it must run unprepared: the
// cache is full, or rows of the same statement are being read (SQLite would
// continue those instead of starting anew).
func (c *conn) statement(query string) (*statement, error) {
	if s, ok := c.stmts[query]; ok {
		if s.rows != nil {
			if _, err := s.rows.Columns(); err == nil {
				return nil, nil
			}
			s.rows = nil
		}
		return s, nil
	}
	if len(c.stmts) >= maxStatements {
		return nil, nil
	}
	// Not the caller's context: the statement outlives the call.
	prepared, err := c.raw.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	s := &statement{prepared: prepared}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.raw.ExecContext(ctx, query, args...)
	}
	return s.prepared.ExecContext(ctx, args...)
}

// Tx is one transaction, valid until the function that it was given to
// returns. It belongs to one goroutine.
type Tx struct {
	ctx    context.Context // the caller's
	sqlCtx context.Context // what SQLite is interrupted by; never done in a write: an interrupt would take the whole batch along
	c      *conn
	broken error // the first failure that may have ended the transaction
	rows   []*sql.Rows

	committed, rolledBack []func()
}

// Context returns the context of the Write or Read that the transaction
// belongs to. Passing it on to Write or Read from inside is an error.
func (t *Tx) Context() context.Context { return t.ctx }

// OnCommit has fn called after the transaction is durable and before Write
// returns. Calls come in the order of the commits, from the writer's
// goroutine: fn must be quick and must not call Write. In a Read it is never
// called.
func (t *Tx) OnCommit(fn func()) { t.committed = append(t.committed, fn) }

// OnRollback has fn called when nothing of the transaction was kept, before
// the next transaction begins: state in memory that ran ahead goes back here.
// The last one registered is called first.
func (t *Tx) OnRollback(fn func()) { t.rolledBack = append(t.rolledBack, fn) }

// Exec runs a statement. Times are passed as integers, see [Millis].
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	if t.broken != nil {
		return nil, t.broken
	}
	res, err := t.c.exec(t.sqlCtx, query, args...)
	return res, t.fail(err)
}

// Query runs a statement that returns rows. Rows that are left open are closed
// with the transaction.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	if t.broken != nil {
		return nil, t.broken
	}
	s, err := t.c.statement(query)
	if err != nil {
		return nil, t.fail(err)
	}
	var rows *sql.Rows
	if s == nil {
		rows, err = t.c.raw.QueryContext(t.sqlCtx, query, args...)
	} else {
		rows, err = s.prepared.QueryContext(t.sqlCtx, args...)
		s.rows = rows
	}
	if err != nil {
		return nil, t.fail(err)
	}
	t.rows = append(t.rows, rows)
	return rows, nil
}

// QueryRow runs a statement that returns at most one row, which must be
// scanned before the next call. A failure comes out of Scan.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row {
	if t.broken != nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		return t.c.raw.QueryRowContext(ended, query, args...)
	}
	if s, err := t.c.statement(query); err == nil && s != nil {
		return s.prepared.QueryRowContext(t.sqlCtx, args...)
	}
	// Unprepared, also when preparing failed: the same failure is then in the row.
	return t.c.raw.QueryRowContext(t.sqlCtx, query, args...)
}

// fail classifies err and remembers it when the transaction may be gone, so
// that nothing runs outside of one.
func (t *Tx) fail(err error) error {
	if err == nil {
		return nil
	}
	coded := classify(err)
	if t.broken == nil && breaksTransaction(err) {
		t.broken = coded
	}
	return coded
}

// end closes what fn left open and returns the error of the transaction:
// fn's, or the failure that fn kept to itself.
func (t *Tx) end(err error) error {
	for _, rows := range t.rows {
		if cerr := rows.Close(); cerr != nil && err == nil {
			err = cerr
		}
	}
	if err = t.fail(err); err == nil {
		err = t.broken
	}
	return err
}

// must reports a statement that changed no row as err.
func must(res sql.Result, err error, missing func() error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return missing()
}

func errNotFound(what, id string) error {
	return sys.Errorf(sys.CodeNotFound, "There is no %s %q.", sys.Words{EN: what, KO: sys.Korean(what)}, id)
}
