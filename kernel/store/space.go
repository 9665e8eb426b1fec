package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// Space is a context of work: conversations, a folder, memories. The default
// space has no row; its id is "".
type Space struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"` // unique, whatever its case
	Emoji        string     `json:"emoji"`
	Folder       string     `json:"folder"` // that its conversations work in; "" for its own in the home
	Words        []string   `json:"words"`  // tags and key words
	Paths        []string   `json:"paths"`  // folders that belong to it
	Instructions string     `json:"instructions"`
	Provider     string     `json:"provider"`
	Model        string     `json:"model"`
	Mode         string     `json:"mode"`
	Role         string     `json:"role"`
	Shared       bool       `json:"shared"` // what is remembered in it may be given to the agents of other spaces
	CreatedAt    time.Time  `json:"created_at"`
	UpdatedAt    time.Time  `json:"updated_at"`
	UsedAt       time.Time  `json:"used_at"` // of its newest message
	ArchivedAt   *time.Time `json:"archived_at,omitempty"`
	Active       bool       `json:"active"` // new conversations begin in it where their first message names no other; at most one is

	Sessions int `json:"sessions"` // conversations in it
	Memories int `json:"memories"` // that hold
}

const spaceColumns = `s.id, s.name, s.emoji, s.folder, s.words, s.paths, s.instructions, s.provider, s.model, s.mode, s.role, s.shared, s.created_at, s.updated_at, s.used_at, s.archived_at, EXISTS (SELECT 1 FROM kv WHERE key = 'space.active' AND value = s.id),
	(SELECT count(*) FROM sessions c WHERE c.space = s.id AND c.discarded_at IS NULL), (SELECT count(*) FROM memories m WHERE m.space = s.id AND m.replaced_by = '')`

func scanSpace(row scanner) (Space, error) {
	var s Space
	var words, paths string
	var created, updated, used int64
	var archived sql.NullInt64
	err := row.Scan(&s.ID, &s.Name, &s.Emoji, &s.Folder, &words, &paths, &s.Instructions, &s.Provider, &s.Model, &s.Mode, &s.Role, &s.Shared, &created, &updated, &used, &archived, &s.Active, &s.Sessions, &s.Memories)
	if err != nil {
		return Space{}, err
	}
	s.Words, s.Paths = lines(words), lines(paths)
	s.CreatedAt, s.UpdatedAt, s.UsedAt = FromMillis(created), FromMillis(updated), FromMillis(used)
	if archived.Valid {
		at := FromMillis(archived.Int64)
		s.ArchivedAt = &at
	}
	return s, nil
}

func lines(s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, "\n")
}

// InsertSpace saves a new space, with an id and times where it has none. A name
// that is taken gives conflict.
func (s *Store) InsertSpace(tx *Tx, space *Space) error {
	if space.ID == "" {
		space.ID = sys.NewID()
	}
	if space.CreatedAt.IsZero() {
		space.CreatedAt = s.now()
	}
	space.UpdatedAt = s.now()
	if space.UsedAt.IsZero() {
		space.UsedAt = space.CreatedAt
	}
	if err := s.nameFree(tx, space); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO spaces (id, name, emoji, folder, words, paths, instructions, provider, model, mode, role, shared, created_at, updated_at, used_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		space.ID, space.Name, space.Emoji, space.Folder, strings.Join(space.Words, "\n"), strings.Join(space.Paths, "\n"), space.Instructions, space.Provider, space.Model, space.Mode, space.Role, space.Shared,
		Millis(space.CreatedAt), Millis(space.UpdatedAt), Millis(space.UsedAt))
	return err
}

// nameFree fails with conflict where another space has the name.
func (s *Store) nameFree(tx *Tx, space *Space) error {
	other, ok, err := s.SpaceNamed(tx, space.Name)
	if err != nil || !ok || other.ID == space.ID {
		return err
	}
	return sys.Errorf(sys.CodeConflict, "There is a space %q already. Nothing was changed.", other.Name).WithHint("Choose another name, or use that space.")
}

// SaveSpace writes a space over what it was. A name that another has gives
// conflict. One that is archived is the active one no longer; Active itself is
// changed by [Store.ActivateSpace] alone.
func (s *Store) SaveSpace(tx *Tx, space *Space) error {
	if err := s.nameFree(tx, space); err != nil {
		return err
	}
	space.UpdatedAt = s.now()
	var archived any
	if space.ArchivedAt != nil {
		archived = Millis(*space.ArchivedAt)
	}
	res, err := tx.Exec(`UPDATE spaces SET name = ?, emoji = ?, folder = ?, words = ?, paths = ?, instructions = ?, provider = ?, model = ?, mode = ?, role = ?, shared = ?, updated_at = ?, used_at = ?, archived_at = ? WHERE id = ?`,
		space.Name, space.Emoji, space.Folder, strings.Join(space.Words, "\n"), strings.Join(space.Paths, "\n"), space.Instructions, space.Provider, space.Model, space.Mode, space.Role, space.Shared,
		Millis(space.UpdatedAt), Millis(space.UsedAt), archived, space.ID)
	if err := must(res, err, func() error { return errNoSpace(space.ID) }); err != nil || archived == nil {
		return err
	}
	space.Active = false
	return s.leaveActive(tx, space.ID)
}

// UseSpace notes that somebody wrote in a space. One that was archived is
// back then.
func (s *Store) UseSpace(tx *Tx, id string, at time.Time) error {
	_, err := tx.Exec("UPDATE spaces SET used_at = max(used_at, ?), archived_at = NULL WHERE id = ?", Millis(at), id)
	return err
}

// DeleteSpace removes an empty space, with what it had learned and the merges
// that could be undone with it. One with something in it is refused with
// conflict.
func (s *Store) DeleteSpace(tx *Tx, id string) error {
	space, err := s.Space(tx, id)
	if err != nil {
		return err
	}
	var sessions, memories int // those that are discarded, or are history, are in it too
	if err := tx.QueryRow("SELECT (SELECT count(*) FROM sessions WHERE space = ?1), (SELECT count(*) FROM memories WHERE space = ?1)", id).Scan(&sessions, &memories); err != nil {
		return err
	}
	if sessions > 0 || memories > 0 {
		return sys.Errorf(sys.CodeConflict, "The space %q is not empty: conversations %d, memories %d. It was kept as it is.", space.Name, sessions, memories).
			WithHint("Move them to another space, merge it into one, or archive it.")
	}
	for _, query := range []string{
		"DELETE FROM spaces WHERE id = ?1", "DELETE FROM space_words WHERE space = ?1", "DELETE FROM space_merges WHERE source = ?1 OR target = ?1",
	} {
		if _, err := tx.Exec(query, id); err != nil {
			return err
		}
	}
	return s.leaveActive(tx, id)
}

// activeSpace is the key of the space that is the active one.
const activeSpace = "space.active"

// ActivateSpace makes a space the active one instead of another; "" leaves none.
func (s *Store) ActivateSpace(tx *Tx, id string) error {
	if id == "" {
		return s.Remove(tx, activeSpace)
	}
	return s.Put(tx, activeSpace, id)
}

// ActiveSpace returns the id of the active space, "" where there is none.
func (s *Store) ActiveSpace(tx *Tx) (string, error) {
	id, _, err := s.GetIn(tx, activeSpace)
	return id, err
}

// leaveActive leaves no active space where it was this one.
func (s *Store) leaveActive(tx *Tx, id string) error {
	_, err := tx.Exec("DELETE FROM kv WHERE key = ? AND value = ?", activeSpace, id)
	return err
}

func errNoSpace(id string) error {
	return sys.Errorf(sys.CodeNotFound, "There is no space %q.", id).WithHint("`oxios spaces list` shows those that there are.")
}

// Space returns a space by its id, archived or not, or not_found.
func (s *Store) Space(tx *Tx, id string) (Space, error) {
	space, err := scanSpace(tx.QueryRow("SELECT "+spaceColumns+" FROM spaces s WHERE s.id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return Space{}, errNoSpace(id)
	}
	return space, err
}

// SpaceNamed returns the space with this name, archived or not.
func (s *Store) SpaceNamed(tx *Tx, name string) (Space, bool, error) {
	space, err := scanSpace(tx.QueryRow("SELECT "+spaceColumns+" FROM spaces s WHERE s.name = ? COLLATE NOCASE", name))
	if errors.Is(err, sql.ErrNoRows) {
		return Space{}, false, nil
	}
	return space, err == nil, err
}

// SpaceEnding returns the one space whose id ends like this.
func (s *Store) SpaceEnding(tx *Tx, end string) (Space, bool, error) {
	ids, err := stringsOf(tx, `SELECT id FROM spaces WHERE id LIKE ? ESCAPE '\'`, "%"+escapeLike(end))
	if err != nil || len(ids) != 1 {
		return Space{}, false, err
	}
	space, err := s.Space(tx, ids[0])
	return space, err == nil, err
}

// Spaces returns all spaces, archived ones too, the one that was used last first.
func (s *Store) Spaces(ctx context.Context) (all []Space, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT " + spaceColumns + " FROM spaces s ORDER BY s.used_at DESC, s.n DESC")
		if err != nil {
			return err
		}
		defer rows.Close()
		all = []Space{}
		for rows.Next() {
			space, err := scanSpace(rows)
			if err != nil {
				return err
			}
			all = append(all, space)
		}
		return rows.Err()
	})
	return all, err
}
