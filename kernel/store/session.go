package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"oxios/kernel/sys"
)

// StateIdle is the state of a session without a run.
const StateIdle = "idle"

// Session is one conversation. State, Waiting, Cost and Snippet are derived
// when it is read.
type Session struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Summary   string    `json:"summary"`
	Folder    string    `json:"folder"`
	Provider  string    `json:"provider"`
	Model     string    `json:"model"`
	Mode      string    `json:"mode"`
	Role      string    `json:"role"` // what its agents may do at most; "" is the configured one
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // of its newest message
	Archived  bool      `json:"archived"`
	Pinned    bool      `json:"pinned"`
	HeadID    string    `json:"head_id"`   // the run at the end of the branch that it shows; "" without one
	OriginID  string    `json:"origin_id"` // the conversation that it was branched from; "" for none
	Space     string    `json:"space"`     // "" is the default one
	SpaceWhy  string    `json:"space_why"` // why it is in it: person, path, word, active, topic, or "" when nothing spoke for another

	State   string `json:"state"`             // of the run at its head; idle without one
	NotMet  bool   `json:"not_met,omitempty"` // the task of that run did not pass its evaluation
	Waiting int    `json:"waiting"`           // pending approvals
	Cost    Cost   `json:"cost"`              // of all its runs
	Snippet string `json:"snippet,omitempty"` // the text around the match, in a search
	HitRun  string `json:"hit_run,omitempty"` // the run whose message matches, in a search; it may stand on another branch
}

// SessionPatch changes what is not nil.
type SessionPatch struct {
	Title    *string `json:"title,omitempty"`
	Summary  *string `json:"summary,omitempty"`
	Folder   *string `json:"folder,omitempty"`
	Provider *string `json:"provider,omitempty"`
	Model    *string `json:"model,omitempty"`
	Mode     *string `json:"mode,omitempty"`
	Role     *string `json:"role,omitempty"`
	Archived *bool   `json:"archived,omitempty"`
	Pinned   *bool   `json:"pinned,omitempty"`
	Space    *string `json:"space,omitempty"`
	SpaceWhy *string `json:"-"` // the kernel's own word
}

// SessionQuery selects sessions: pinned ones first, then by their newest
// message.
type SessionQuery struct {
	Search   string `json:"search"`   // words that all stand in one message or in the title; also parts of words
	Archived bool   `json:"archived"` // the archived ones instead of the others
	Limit    int    `json:"limit"`    // 50 by default, at most 500
	Before   string `json:"before"`   // a session's id: only what stands behind it in the list
	ID       string `json:"id"`       // an id or the beginning of one

	Space *string `json:"space,omitempty"` // of this space; "" is the default one; null for all
}

const sessionColumns = `s.id, s.title, s.summary, s.folder, s.provider, s.model, s.mode, s.role, s.created_at, s.updated_at, s.archived, s.pinned, s.head_id, s.origin_id, s.space, s.space_why,
	coalesce((SELECT r.state FROM runs r WHERE r.id = s.head_id), 'idle'),
	coalesce((SELECT ` + notMet + ` FROM runs WHERE runs.id = s.head_id), FALSE),
	(SELECT count(*) FROM approvals a WHERE a.session_id = s.id AND a.state = 'pending'),
	(SELECT json_group_array(json(r.cost_json)) FROM runs r WHERE r.session_id = s.id AND r.cost_json IS NOT NULL)`

// scanner is a row: *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

func scanSession(row scanner, more ...any) (Session, error) {
	var s Session
	var created, updated int64
	var costs string
	err := row.Scan(append([]any{
		&s.ID, &s.Title, &s.Summary, &s.Folder, &s.Provider, &s.Model, &s.Mode, &s.Role, &created, &updated,
		&s.Archived, &s.Pinned, &s.HeadID, &s.OriginID, &s.Space, &s.SpaceWhy, &s.State, &s.NotMet, &s.Waiting, &costs,
	}, more...)...)
	if err != nil {
		return Session{}, err
	}
	s.CreatedAt, s.UpdatedAt = FromMillis(created), FromMillis(updated)
	var parts []Cost
	if err := json.Unmarshal([]byte(costs), &parts); err != nil {
		return Session{}, fmt.Errorf("read the cost of session %s: %w", s.ID, err)
	}
	for _, part := range parts {
		s.Cost = s.Cost.Add(part)
	}
	return s, nil
}

// CreateSession saves a new session and returns it as it was saved: with an id
// and times where it had none.
func (s *Store) CreateSession(ctx context.Context, session Session) (Session, error) {
	err := s.Write(ctx, func(tx *Tx) error { return s.InsertSession(tx, &session) })
	return session, err
}

// InsertSession is [Store.CreateSession] inside a transaction.
func (s *Store) InsertSession(tx *Tx, session *Session) error {
	if session.ID == "" {
		session.ID = sys.NewID()
	}
	if session.CreatedAt.IsZero() {
		session.CreatedAt = s.now()
	}
	if session.UpdatedAt.IsZero() {
		session.UpdatedAt = session.CreatedAt
	}
	session.State = StateIdle
	_, err := tx.Exec(`INSERT INTO sessions (id, created_at, updated_at, title, summary, folder, provider, model, mode, role, archived, pinned, origin_id, space, space_why)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, session.ID, Millis(session.CreatedAt), Millis(session.UpdatedAt), session.Title, session.Summary,
		session.Folder, session.Provider, session.Model, session.Mode, session.Role, session.Archived, session.Pinned, session.OriginID, session.Space, session.SpaceWhy)
	return err
}

// Session returns one session, or not_found.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	var session Session
	err := s.Read(ctx, func(tx *Tx) (err error) {
		session, err = readSession(tx, id)
		return err
	})
	return session, err
}

func readSession(tx *Tx, id string) (Session, error) {
	session, err := scanSession(tx.QueryRow("SELECT "+sessionColumns+" FROM sessions s WHERE s.id = ? AND s.discarded_at IS NULL", id))
	if errors.Is(err, sql.ErrNoRows) {
		return Session{}, errNotFound("session", id)
	}
	return session, err
}

// TitleTaken reports whether a session has this very title.
func (s *Store) TitleTaken(tx *Tx, title string) (bool, error) {
	var taken bool
	err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM sessions WHERE title = ?)", title).Scan(&taken)
	return taken, err
}

// UpdateSession changes a session and returns it. It does not count as
// activity: the session keeps its place in the list, but for pinning.
func (s *Store) UpdateSession(ctx context.Context, id string, p SessionPatch) (Session, error) {
	var session Session
	err := s.Write(ctx, func(tx *Tx) error {
		res, err := tx.Exec(`UPDATE sessions SET title = coalesce(?, title), summary = coalesce(?, summary), folder = coalesce(?, folder),
			provider = coalesce(?, provider), model = coalesce(?, model), mode = coalesce(?, mode), role = coalesce(?, role),
			archived = coalesce(?, archived), pinned = coalesce(?, pinned), space = coalesce(?, space), space_why = coalesce(?, space_why) WHERE id = ? AND discarded_at IS NULL`,
			p.Title, p.Summary, p.Folder, p.Provider, p.Model, p.Mode, p.Role, p.Archived, p.Pinned, p.Space, p.SpaceWhy, id)
		if err := must(res, err, func() error { return errNotFound("session", id) }); err != nil {
			return err
		}
		session, err = readSession(tx, id)
		return err
	})
	return session, err
}

// DeleteSession removes a session with everything that was said and done in
// it: messages, queue, mail between its agents, runs, steps, file changes, approvals and its text in the index.
// Audit entries and the spending stay. It fails with busy while a run of the
// session is open.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	return s.Write(ctx, func(tx *Tx) error { return s.deleteSession(tx, id) })
}

func (s *Store) deleteSession(tx *Tx, id string) error {
	if err := notAtWork(tx, id); err != nil {
		return err
	}
	for _, query := range []string{
		"DELETE FROM changes WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM file_marks WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM undo_moves WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM tries WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM undo_commands WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM steps WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM approvals WHERE session_id = ?",
		"DELETE FROM approvals WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM limits WHERE scope = 'run' AND id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM seeds WHERE session_id = ?",
		"DELETE FROM memory_uses WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)",
		"DELETE FROM memory_extractions WHERE session_id = ?",
		"UPDATE memory_calls SET session_id = '' WHERE session_id = ?",
		"DELETE FROM space_declined WHERE instr(id, ?) > 0",
		"DELETE FROM queued WHERE session_id = ?",
		"DELETE FROM mail WHERE session_id = ?",
		"DELETE FROM grants WHERE session_id = ?",
		"DELETE FROM messages WHERE session_id = ?",
		"DELETE FROM runs WHERE session_id = ?",
	} {
		if _, err := tx.Exec(query, id); err != nil {
			return err
		}
	}
	res, err := tx.Exec("DELETE FROM sessions WHERE id = ?", id)
	return must(res, err, func() error { return errNotFound("session", id) })
}

// now is the clock's time as the database keeps it: to the millisecond.
func (s *Store) now() time.Time { return s.clock.Now().Truncate(time.Millisecond) }
