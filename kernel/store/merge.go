package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Merged counts what became of things of one kind in a merge.
type Merged struct {
	Added   int `json:"added"`   // they were missing here
	Present int `json:"present"` // they were here already
	Kept    int `json:"kept"`    // they differ from those here, which stay as they are
}

// MergeReport says what a merge did.
type MergeReport struct {
	Sessions Merged   `json:"sessions"`
	Messages int      `json:"messages"` // added
	Runs     int      `json:"runs"`     // added
	State    Merged   `json:"state"`    // small state: providers, favourites, tools
	Costs    Merged   `json:"costs"`    // quarters of an hour in the account
	Memories Merged   `json:"memories"` // what agents remember
	Differ   []string `json:"differ"`   // the titles of the sessions that differ, at most 20
}

// maxDiffer bounds the titles in a [MergeReport].
const maxDiffer = 20

// MergeOptions say how a database is merged into another.
type MergeOptions struct {
	At        time.Time // when the other database was copied: its open runs ended then
	SameChain bool      // audit_seq of the steps means the same entry in both

	// Keep returns the value of small state that both have and that differs,
	// and whether it is another than that which is here. Nil: that stays.
	Keep func(key, here, there string) (value string, changed bool)
	// Skip names the state that stays where it is.
	Skip []string
}

// mergedTables are the tables that [Store.Merge] knows; a test compares them
// with the schema. The audit chain is not merged: two chains do not make one. Nor
// are the limits of runs: nothing that comes in can run. What an undo needs is in
// no backup, nor are the grants, which hold on the machine where they were given. The labels of
// files and what the person ended belong to the files of this machine. A merge of
// spaces is undone where it was made, and so is what a curation of memories did.
// The calls that looked for memories are in the account alone. The vectors of
// memories are made anew, by the embedder that is configured here. Which addresses a
// conversation has read stays out: what is not known there asks.
var mergedTables = []string{
	"sessions", "messages", "runs", "steps", "queued", "mail", "changes", "approvals", "attachments", "attached", "seeds", "audit", "kv", "spend", "counters", "limits",
	"file_marks", "undo_moves", "undo_commands", "tries", "grants", "file_labels", "ended_labels",
	"spaces", "space_words", "space_declined", "space_merges", "memories", "memory_uses", "memory_vectors", "embedders", "spend_purposes",
	"memory_quotes", "memory_extractions", "memory_calls", "memory_curations", "web_read", "web_asked",
}

// Merge adds what from has and this database lacks, and changes nothing that
// is here: a session that is here stays as it is, with all that belongs to it.
// Merging the same database again adds nothing. Then it calls done in the same
// transaction, unless done is nil; an error of it, or of anything else, leaves
// this database as it was.
//
// Nothing that comes in can run: open runs are interrupted, and requests that
// wait or were approved are canceled.
func (s *Store) Merge(ctx context.Context, from *Store, o MergeOptions, done func(*Tx, MergeReport) error) (MergeReport, error) {
	var report MergeReport
	err := from.Read(ctx, func(there *Tx) error {
		return s.Write(ctx, func(here *Tx) error {
			m := &merge{here: here, there: there, o: o, columns: map[string][]string{}}
			if err := m.all(); err != nil {
				return err
			}
			report = m.report
			if done == nil {
				return nil
			}
			return done(here, report)
		})
	})
	return report, err
}

// merge is one merge under way.
type merge struct {
	here, there *Tx
	o           MergeOptions
	report      MergeReport
	columns     map[string][]string // of each table
	spaceOf     map[string]string   // the space here, by that there
}

func (m *merge) all() error {
	if err := m.spaces(); err != nil {
		return fmt.Errorf("merge spaces: %w", err)
	}
	missing, err := m.missing()
	if err != nil {
		return err
	}
	pids, err := m.pids(missing)
	if err != nil {
		return err
	}
	ids, err := json.Marshal(missing)
	if err != nil {
		return err
	}
	// A table for all sessions, not a session for all tables: rows go in together, and the full-text index, which
	// writes what it gathered at the end of a statement, does so less often.
	const theirs = "session_id IN (SELECT value FROM json_each(?1))"
	const ofTheirRuns = "run_id IN (SELECT id FROM runs WHERE " + theirs + ")"
	for _, part := range []struct {
		table, where, order string
		change              func(row)
		count               *int
	}{
		{"sessions", "id IN (SELECT value FROM json_each(?1))", "n", m.inSpace, &m.report.Sessions.Added},
		// Before the messages that have them. Two conversations may share one, and one of them may be here.
		{"attachments", "id IN (SELECT attachment_id FROM attached WHERE " + theirs + ")", "id", nil, nil},
		{"attached", theirs, "session_id", nil, nil},
		{"messages", theirs, "n", nil, &m.report.Messages},
		{"runs", theirs, "pid", func(r row) { m.endRun(r, pids) }, &m.report.Runs},
		{"steps", ofTheirRuns, "run_id, seq", m.endStep, nil},
		{"memory_uses", ofTheirRuns, "run_id", nil, nil},
		{"memory_extractions", theirs, "session_id", nil, nil},
		{"seeds", theirs, "id, version", m.endSeed, nil},
		{"changes", ofTheirRuns, "rowid", nil, nil},
		{"queued", theirs, "rowid", nil, nil},
		{"mail", theirs, "n", endMail, nil},
		{"approvals", "(" + theirs + " OR " + ofTheirRuns + ")", "id", m.endApproval, nil},
	} {
		n, err := m.copy(part.table, part.where, part.order, string(ids), part.change)
		if err != nil {
			return fmt.Errorf("merge %s: %w", part.table, err)
		}
		if part.count != nil {
			*part.count = n
		}
	}
	if err := m.memories(); err != nil {
		return err
	}
	if err := m.state(); err != nil {
		return fmt.Errorf("merge small state: %w", err)
	}
	return m.costs()
}

// missing returns the sessions that are not here, and counts the others.
func (m *merge) missing() ([]string, error) {
	sessions, err := m.there.Query("SELECT id, title FROM sessions WHERE discarded_at IS NULL ORDER BY n")
	if err != nil {
		return nil, err
	}
	missing := []string{}
	for sessions.Next() {
		var id, title string
		if err := sessions.Scan(&id, &title); err != nil {
			return nil, err
		}
		var present int
		if err := m.here.QueryRow("SELECT count(*) FROM sessions WHERE id = ?", id).Scan(&present); err != nil {
			return nil, err
		}
		if present == 0 {
			missing = append(missing, id)
			continue
		}
		more, err := m.hasMore(id)
		switch {
		case err != nil:
			return nil, err
		case !more:
			m.report.Sessions.Present++
			continue
		}
		m.report.Sessions.Kept++
		if len(m.report.Differ) < maxDiffer {
			m.report.Differ = append(m.report.Differ, title)
		}
	}
	return missing, sessions.Err()
}

// hasMore reports whether the other database has something of a session that
// is not here.
func (m *merge) hasMore(session string) (bool, error) {
	for _, q := range []string{"SELECT id FROM messages WHERE session_id = ?", "SELECT id FROM runs WHERE session_id = ?"} {
		there, err := stringsOf(m.there, q, session)
		if err != nil {
			return false, err
		}
		here, err := stringsOf(m.here, q, session)
		if err != nil {
			return false, err
		}
		known := make(map[string]bool, len(here))
		for _, id := range here {
			known[id] = true
		}
		if slices.ContainsFunc(there, func(id string) bool { return !known[id] }) {
			return true, nil
		}
	}
	return false, nil
}

// pids returns the pid that each run of the sessions gets here, by the one it
// has. Those of a session all stay, or are all new: their order says which run
// came first.
func (m *merge) pids(sessions []string) (map[int64]int64, error) {
	pids := map[int64]int64{}
	var renumbered []int64
	var last int64
	if err := m.here.QueryRow("SELECT coalesce(max(value), 0) FROM counters WHERE name = 'pid'").Scan(&last); err != nil {
		return nil, err
	}
	for _, id := range sessions {
		rows, err := m.there.Query("SELECT pid FROM runs WHERE session_id = ? ORDER BY pid", id)
		if err != nil {
			return nil, err
		}
		var old []int64
		taken := 0
		for rows.Next() {
			var pid int64
			if err := rows.Scan(&pid); err != nil {
				return nil, err
			}
			var n int
			if err := m.here.QueryRow("SELECT count(*) FROM runs WHERE pid = ?", pid).Scan(&n); err != nil {
				return nil, err
			}
			old, taken = append(old, pid), taken+n
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		if taken > 0 {
			renumbered = append(renumbered, old...)
			continue
		}
		for _, pid := range old {
			pids[pid] = pid
			last = max(last, pid)
		}
	}
	for _, pid := range renumbered {
		last++
		pids[pid] = last
	}
	if len(pids) == 0 {
		return pids, nil
	}
	_, err := m.here.Exec("INSERT INTO counters (name, value) VALUES ('pid', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", last)
	return pids, err
}

func (m *merge) endRun(r row, pids map[int64]int64) {
	if pid, ok := r["pid"].(int64); ok {
		r["pid"] = pids[pid]
	}
	r["owner"], r["lease_until"], r["token"] = "", nil, int64(1)
	if RunState(r.text("state")).Ended() {
		return
	}
	r["state"], r["end_reason"] = string(RunInterrupted), "It had not ended when the backup was made. All finished steps are kept."
	r["ended_at"], r["seen_at"] = Millis(m.o.At), Millis(m.o.At) // no news: the person restores it
}

// endStep closes what had not begun. A step that had begun stays open: nobody
// knows what became of it.
func (m *merge) endStep(r row) {
	if !m.o.SameChain {
		r["audit_seq"] = int64(0)
	}
	switch StepState(r.text("state")) {
	case StepProposed, StepWaiting:
		r["state"], r["outcome"], r["closed_at"] = string(StepClosed), OutcomeCanceled, Millis(m.o.At)
	case StepStarted, StepClosed:
	}
}

// endApproval takes back what could still let something run.
func (m *merge) endApproval(r row) {
	if s := r.text("state"); s == "pending" || s == "approved" {
		r["state"], r["decided_at"] = "canceled", Millis(m.o.At)
	}
}

// endSeed notes that nobody works on a seed that came in.
func (m *merge) endSeed(r row) {
	if r.text("state") == SeedActive {
		r["state"] = SeedEnded
	}
}

// endMail returns what nobody will read any more.
func endMail(r row) {
	if r.text("state") == MailWaiting {
		r["state"] = MailReturned
	}
}

func (m *merge) state() error {
	rows, err := m.there.Query("SELECT key, value FROM kv ORDER BY key")
	if err != nil {
		return err
	}
	for rows.Next() {
		var key, there, here string
		if err := rows.Scan(&key, &there); err != nil {
			return err
		}
		if slices.Contains(m.o.Skip, key) {
			continue
		}
		err := m.here.QueryRow("SELECT value FROM kv WHERE key = ?", key).Scan(&here)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			m.report.State.Added++
			_, err = m.here.Exec("INSERT INTO kv (key, value) VALUES (?, ?)", key, there)
		case err != nil:
		case here == there:
			m.report.State.Present++
		default:
			err = m.differs(key, here, there)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

func (m *merge) differs(key, here, there string) error {
	value, changed := here, false
	if m.o.Keep != nil {
		value, changed = m.o.Keep(key, here, there)
	}
	if !changed {
		m.report.State.Kept++
		return nil
	}
	m.report.State.Added++
	_, err := m.here.Exec("UPDATE kv SET value = ? WHERE key = ?", value, key)
	return err
}

// costs adds the quarters of an hour that are missing here. One that both have
// stays: it was counted here.
func (m *merge) costs() error {
	slots, err := m.there.Query("SELECT slot, calls FROM spend ORDER BY slot")
	if err != nil {
		return err
	}
	for slots.Next() {
		var slot, calls, here int64
		if err := slots.Scan(&slot, &calls); err != nil {
			return err
		}
		err := m.here.QueryRow("SELECT calls FROM spend WHERE slot = ?", slot).Scan(&here)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			m.report.Costs.Added++
			if _, err = m.copy("spend", "slot = ?", "slot", slot, nil); err == nil {
				_, err = m.copy("spend_purposes", "slot = ?", "slot, purpose", slot, nil)
			}
		case err == nil && here >= calls:
			m.report.Costs.Present++
		case err == nil:
			m.report.Costs.Kept++
		}
		if err != nil {
			return fmt.Errorf("merge the account: %w", err)
		}
	}
	return slots.Err()
}

// errMergeOnly ends a merge that shall only be tried.
var errMergeOnly = errors.New("the merge was only tried")

// TryMerge says what [Store.Merge] would do, and does nothing.
func (s *Store) TryMerge(ctx context.Context, from *Store, o MergeOptions) (MergeReport, error) {
	var report MergeReport
	_, err := s.Merge(ctx, from, o, func(_ *Tx, r MergeReport) error {
		report = r
		return errMergeOnly
	})
	if errors.Is(err, errMergeOnly) {
		err = nil
	}
	return report, err
}
