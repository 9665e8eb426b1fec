package store

import (
	"context"
	"encoding/json"
	"time"
)

// FileMark is what one step did, or was about to do, to one path.
type FileMark struct {
	N      int64
	RunID  string
	StepID string
	Path   string // absolute
	Before string // a state in words
	After  string
	Unsure bool // somebody else may have done it
	At     time.Time
}

// The states of an [UndoMove].
const (
	MoveOpen = "open"
	MoveDone = "done"
	MoveLeft = "left" // it was not made: something else was there
)

// UndoMove is one path of one undo or redo.
type UndoMove struct {
	OpID    string
	N       int
	RunID   string
	Tree    bool  // of all the runs that came of this one as well
	After   int64 // the number of the last [FileMark] that was there before
	Redo    bool
	Path    string // absolute
	Was     string // a state in words
	Becomes string
	Temp    string
	State   string
	TryID   string // the request whose try it applies, "" for an undo or a redo
	At      time.Time
}

// UndoCommand is a command whose changes are not found yet.
type UndoCommand struct {
	ID, RunID, StepID, Folder string
	At                        time.Time
}

// AddFileMarks writes down what is about to be done, and fills in the numbers.
func (s *Store) AddFileMarks(tx *Tx, marks []FileMark) error {
	for i, m := range marks {
		// No number stands twice on the two sides of an undo, also where the last marks were removed since.
		res, err := tx.Exec(`INSERT INTO file_marks (n, run_id, step_id, path, before, after, unsure, at)
			VALUES (1 + max(coalesce((SELECT max(n) FROM file_marks), 0), coalesce((SELECT max(after_mark) FROM undo_moves), 0)),?,?,?,?,?,?,?)`,
			m.RunID, m.StepID, m.Path, m.Before, m.After, m.Unsure, Millis(s.now()))
		if err != nil {
			return err
		}
		if marks[i].N, err = res.LastInsertId(); err != nil {
			return err
		}
	}
	return nil
}

// SetFileMark corrects how something was left, once it is known.
func (s *Store) SetFileMark(tx *Tx, n int64, after string) error {
	_, err := tx.Exec("UPDATE file_marks SET after = ? WHERE n = ?", after, n)
	return err
}

// RemoveFileMark takes back what was not done.
func (s *Store) RemoveFileMark(tx *Tx, n int64) error {
	_, err := tx.Exec("DELETE FROM file_marks WHERE n = ?", n)
	return err
}

const markColumns = "n, run_id, step_id, path, before, after, unsure, at"

// FileMarks returns what some runs did, in the order in which it was done.
func (s *Store) FileMarks(ctx context.Context, runIDs ...string) ([]FileMark, error) {
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	return s.fileMarks(ctx, "SELECT "+markColumns+" FROM file_marks WHERE run_id IN (SELECT value FROM json_each(?)) ORDER BY n", string(ids))
}

// FileMarksOf returns what runs did to one path.
func (s *Store) FileMarksOf(ctx context.Context, path string) ([]FileMark, error) {
	return s.fileMarks(ctx, "SELECT "+markColumns+" FROM file_marks WHERE path = ? ORDER BY n", path)
}

// FileMarksSince returns what was done since a moment, by whatever run.
func (s *Store) FileMarksSince(ctx context.Context, since time.Time) ([]FileMark, error) {
	return s.fileMarks(ctx, "SELECT "+markColumns+" FROM file_marks WHERE at >= ? ORDER BY n", Millis(since))
}

// FileMarksAfter returns what other runs did to some paths after some runs did
// their last thing to them.
func (s *Store) FileMarksAfter(ctx context.Context, runIDs, paths []string) ([]FileMark, error) {
	list, err := json.Marshal(paths)
	if err != nil {
		return nil, err
	}
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	return s.fileMarks(ctx, "SELECT "+markColumns+` FROM file_marks m WHERE path IN (SELECT value FROM json_each(?1)) AND run_id NOT IN (SELECT value FROM json_each(?2))
		AND n > (SELECT max(n) FROM file_marks o WHERE o.run_id IN (SELECT value FROM json_each(?2)) AND o.path = m.path) ORDER BY n`, string(list), string(ids))
}

func (s *Store) fileMarks(ctx context.Context, query string, args ...any) ([]FileMark, error) {
	var all []FileMark
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(query, args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			var m FileMark
			var at int64
			if err := rows.Scan(&m.N, &m.RunID, &m.StepID, &m.Path, &m.Before, &m.After, &m.Unsure, &at); err != nil {
				return err
			}
			m.At = FromMillis(at)
			all = append(all, m)
		}
		return rows.Err()
	})
	return all, err
}

// MarkedRuns says of how many paths of some runs something was written down, by run.
func (s *Store) MarkedRuns(ctx context.Context, runIDs []string) (map[string]int, error) {
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT run_id, count(DISTINCT path) FROM file_marks WHERE run_id IN (SELECT value FROM json_each(?)) GROUP BY run_id", string(ids))
		if err != nil {
			return err
		}
		for rows.Next() {
			var id string
			var n int
			if err := rows.Scan(&id, &n); err != nil {
				return err
			}
			out[id] = n
		}
		return rows.Err()
	})
	return out, err
}

// AddUndoMoves writes down an undo or redo before its first move is made.
func (s *Store) AddUndoMoves(tx *Tx, moves []UndoMove) error {
	for _, m := range moves {
		if _, err := tx.Exec(`INSERT INTO undo_moves (op_id, n, run_id, tree, after_mark, redo, path, was, becomes, temp, state, try_id, at)
			VALUES (?,?,?,?,coalesce((SELECT max(n) FROM file_marks), 0),?,?,?,?,?,?,?,?)`,
			m.OpID, m.N, m.RunID, m.Tree, m.Redo, m.Path, m.Was, m.Becomes, m.Temp, MoveOpen, m.TryID, Millis(s.now())); err != nil {
			return err
		}
	}
	return nil
}

// CloseUndoMoves writes down what came of moves.
func (s *Store) CloseUndoMoves(tx *Tx, moves []UndoMove) error {
	for len(moves) > 0 {
		n := 1 // neighbours that became the same are written at once
		for n < len(moves) && moves[n].OpID == moves[0].OpID && moves[n].State == moves[0].State && moves[n].N == moves[0].N+n {
			n++
		}
		if _, err := tx.Exec("UPDATE undo_moves SET state = ? WHERE op_id = ? AND n BETWEEN ? AND ? AND state <> ?", moves[0].State, moves[0].OpID, moves[0].N, moves[n-1].N, moves[0].State); err != nil {
			return err
		}
		moves = moves[n:]
	}
	return nil
}

// UndoMoves returns what was undone and redone of some runs, in its order; for none
// of them what is open, of all runs.
func (s *Store) UndoMoves(ctx context.Context, runIDs ...string) ([]UndoMove, error) {
	const columns = "SELECT op_id, n, run_id, tree, after_mark, redo, path, was, becomes, temp, state, try_id, at FROM undo_moves WHERE "
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	query, args := columns+"run_id IN (SELECT value FROM json_each(?)) ORDER BY op_id, n", []any{string(ids)} // the ids of operations grow with time
	if len(runIDs) == 0 {
		query, args = columns+"state = 'open' ORDER BY op_id, n", nil
	}
	var all []UndoMove
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(query, args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			var m UndoMove
			var at int64
			if err := rows.Scan(&m.OpID, &m.N, &m.RunID, &m.Tree, &m.After, &m.Redo, &m.Path, &m.Was, &m.Becomes, &m.Temp, &m.State, &m.TryID, &at); err != nil {
				return err
			}
			m.At = FromMillis(at)
			all = append(all, m)
		}
		return rows.Err()
	})
	return all, err
}

// BeginUndoCommand writes down that a command is at work.
func (s *Store) BeginUndoCommand(tx *Tx, c UndoCommand) error {
	_, err := tx.Exec("INSERT INTO undo_commands (id, run_id, step_id, folder, started_at) VALUES (?,?,?,?,?)", c.ID, c.RunID, c.StepID, c.Folder, Millis(s.now()))
	return err
}

// EndUndoCommand writes down that the changes of a command were found.
func (s *Store) EndUndoCommand(tx *Tx, id string) error {
	_, err := tx.Exec("DELETE FROM undo_commands WHERE id = ?", id)
	return err
}

// UndoLeft reports whether a crash may have left an undo or a command of which
// not everything is written down.
func (s *Store) UndoLeft(tx *Tx) (left bool, err error) {
	err = tx.QueryRow("SELECT EXISTS (SELECT 1 FROM undo_moves WHERE state = 'open') OR EXISTS (SELECT 1 FROM undo_commands) OR EXISTS (SELECT 1 FROM tries WHERE state = 'applying')").Scan(&left)
	return left, err
}

// UndoCommands returns the commands whose changes are not found yet.
func (s *Store) UndoCommands(ctx context.Context) ([]UndoCommand, error) {
	var all []UndoCommand
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT id, run_id, step_id, folder, started_at FROM undo_commands ORDER BY started_at, id")
		if err != nil {
			return err
		}
		for rows.Next() {
			var c UndoCommand
			var at int64
			if err := rows.Scan(&c.ID, &c.RunID, &c.StepID, &c.Folder, &at); err != nil {
				return err
			}
			c.At = FromMillis(at)
			all = append(all, c)
		}
		return rows.Err()
	})
	return all, err
}

// UndoStates returns every state that an undo or a redo may need, in words, and
// the runs that have one.
func (s *Store) UndoStates(ctx context.Context) (states []string, runs map[string]bool, err error) {
	runs = map[string]bool{}
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`SELECT run_id, before FROM file_marks UNION SELECT run_id, after FROM file_marks
			UNION SELECT run_id, was FROM undo_moves UNION SELECT run_id, becomes FROM undo_moves
			UNION SELECT run_id, value->>'becomes' FROM tries, json_each(files_json)`)
		if err != nil {
			return err
		}
		for rows.Next() {
			var run, state string
			if err := rows.Scan(&run, &state); err != nil {
				return err
			}
			runs[run] = true
			states = append(states, state)
		}
		return rows.Err()
	})
	return states, runs, err
}
