// Package memory is what agents remember from one conversation to the next:
// facts, and episodes of what happened.
//
// SQLite holds the truth; an index in memory, built from it at the first use of
// a space and dropped when it is idle, finds. The package promises that what it
// has acknowledged is found from then on, also after a crash; that nothing of one
// space is found in another; that a fact which replaces another keeps it as its
// history; and that what is forgotten is gone from the index and the database,
// its history and its uses with it.
package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The kinds of memories.
const (
	KindFact         = "fact"         // something that holds: about the person, their work, what they want
	KindEpisode      = "episode"      // something that happened
	KindSession      = "session"      // what a conversation was about
	KindConversation = "conversation" // what was said, word for word
)

// Kinds returns the kinds of memories.
func Kinds() []string { return []string{KindFact, KindEpisode, KindSession, KindConversation} }

// Where a memory comes from.
const (
	FromPerson       = "person"       // they wrote it
	FromAgent        = "agent"        // an agent remembered it while it worked
	FromConversation = "conversation" // found in a conversation after it had ended
	FromImport       = "import"
)

// Limits.
const (
	MaxText = 8000 // characters of a memory
	maxKey  = 120  // characters of what a fact is about
	maxSaid = 300  // characters of the words that a memory was taken from
)

// Memory is one thing that is remembered.
type Memory struct {
	ID         string       `json:"id"`
	Space      string       `json:"space"` // "" is the default one
	Kind       string       `json:"kind"`  // fact, episode, session or conversation
	Text       string       `json:"text"`
	Key        string       `json:"key,omitempty"`    // what a fact is about: of a key there is one that holds
	Source     string       `json:"source"`           // person, agent, conversation or import
	Thread     string       `json:"thread,omitempty"` // the conversation that it stands in
	RunID      string       `json:"run_id,omitempty"`
	Labels     store.Labels `json:"labels,omitempty"` // where what its agent had read came from
	Importance float64      `json:"importance"`       // base × (1 + ln(1 + uses))
	Base       float64      `json:"base"`
	Uses       int          `json:"uses"` // in how many runs it was used
	UsedAt     *time.Time   `json:"used_at,omitempty"`
	Pinned     bool         `json:"pinned"`  // always recalled first, and never curated away
	SaidAt     time.Time    `json:"said_at"` // when what it tells was said
	CreatedAt  time.Time    `json:"created_at"`
	UpdatedAt  time.Time    `json:"updated_at"`

	ReplacedBy string     `json:"replaced_by,omitempty"`
	ReplacedAt *time.Time `json:"replaced_at,omitempty"`

	n int64
}

// New is something to be remembered.
type New struct {
	ID         string // made up if ""
	Space      string
	Kind       string // a fact if ""
	Text       string
	Key        string // replaces the fact of the same key and space
	Source     string
	Thread     string
	RunID      string
	Labels     store.Labels
	Importance float64   // 1 if 0
	SaidAt     time.Time // now if zero
	Quote      string    // the person's words that it was taken from, if it was
}

// Memories are all memories of a home.
type Memories struct {
	store *store.Store
	clock sys.Clock

	embedder Embedder     // the learned one, if there is any
	onDamage func()       // vectors were dropped that cannot be read
	damaged  atomic.Int64 // how many

	mu      sync.Mutex
	indexes map[string]*spaceIndex
	said    map[string]*said // of what was said, by space
}

// Open returns the memories that a database holds. It reads nothing yet.
func Open(s *store.Store, clock sys.Clock) *Memories {
	return &Memories{store: s, clock: clock, embedder: noEmbedder{}, indexes: map[string]*spaceIndex{}, said: map[string]*said{}}
}

const columns = `m.n, m.id, m.space, m.kind, m.text, m.key, m.source, m.thread, m.run_id, m.labels_json, m.importance, m.pinned, m.said_at, m.created_at, m.updated_at,
	m.replaced_by, m.replaced_at, (SELECT count(*) FROM memory_uses u WHERE u.memory_id = m.id), (SELECT max(at) FROM memory_uses u WHERE u.memory_id = m.id)`

func scan(row interface{ Scan(...any) error }) (Memory, error) {
	var m Memory
	var labels sql.NullString
	var said, created, updated int64
	var replaced, used sql.NullInt64
	err := row.Scan(&m.n, &m.ID, &m.Space, &m.Kind, &m.Text, &m.Key, &m.Source, &m.Thread, &m.RunID, &labels, &m.Base, &m.Pinned, &said, &created, &updated,
		&m.ReplacedBy, &replaced, &m.Uses, &used)
	if err != nil {
		return Memory{}, err
	}
	if labels.Valid {
		if err := json.Unmarshal([]byte(labels.String), &m.Labels); err != nil {
			return Memory{}, fmt.Errorf("read the labels of memory %s: %w", m.ID, err)
		}
	}
	m.SaidAt, m.CreatedAt, m.UpdatedAt = store.FromMillis(said), store.FromMillis(created), store.FromMillis(updated)
	m.ReplacedAt, m.UsedAt = timeOf(replaced), timeOf(used)
	m.Importance = m.Base * (1 + math.Log(1+float64(m.Uses)))
	return m, nil
}

func timeOf(ms sql.NullInt64) *time.Time {
	if !ms.Valid {
		return nil
	}
	t := store.FromMillis(ms.Int64)
	return &t
}

// Check makes a new memory whole, or says what is wrong with it.
func (ms *Memories) Check(n *New) error {
	n.Text, n.Key = strings.TrimSpace(n.Text), strings.TrimSpace(n.Key)
	if n.Kind == "" {
		n.Kind = KindFact
	}
	switch {
	case n.Text == "":
		return sys.Errorf(sys.CodeInvalid, "There is nothing to remember: the text is empty.")
	case !utf8.ValidString(n.Text):
		return sys.Errorf(sys.CodeInvalid, "The memory is no text in UTF-8. Nothing was kept.")
	case utf8.RuneCountInString(n.Text) > MaxText:
		return sys.Errorf(sys.CodeTooLarge, "The memory has %d characters; %d is the most. Nothing was kept.", utf8.RuneCountInString(n.Text), MaxText).
			WithHint("Say it shorter, or keep the text as a note.")
	case utf8.RuneCountInString(n.Key) > maxKey:
		return sys.Errorf(sys.CodeInvalid, "What the fact is about has over %d characters. Nothing was kept.", maxKey)
	case n.Kind != KindFact && n.Key != "":
		return sys.Errorf(sys.CodeInvalid, "Only a fact replaces another by what it is about. Nothing was kept.")
	}
	if err := checkKind(n.Kind); err != nil {
		return err
	}
	if n.ID == "" {
		n.ID = sys.NewID()
	}
	if n.Importance <= 0 || math.IsNaN(n.Importance) || math.IsInf(n.Importance, 0) {
		n.Importance = 1
	}
	if n.SaidAt.IsZero() {
		n.SaidAt = ms.clock.Now()
	}
	return nil
}

func checkKind(kind string) error {
	if slices.Contains(Kinds(), kind) {
		return nil
	}
	return sys.Errorf(sys.CodeInvalid, "%q is no kind of memory.", kind).WithHint("It is one of %s.", strings.Join(Kinds(), ", "))
}

// Remember keeps something. What is remembered already, word for word, in this
// space is not kept twice: that memory is returned, and its importance grows a
// little. A fact with a key replaces the one that held before.
func (ms *Memories) Remember(ctx context.Context, n New) (m Memory, err error) {
	err = ms.store.Write(ctx, func(tx *store.Tx) error {
		m, err = ms.RememberIn(tx, n)
		return err
	})
	return m, err
}

// RememberIn is [Memories.Remember] inside a transaction.
func (ms *Memories) RememberIn(tx *store.Tx, n New) (Memory, error) {
	if err := ms.Check(&n); err != nil {
		return Memory{}, err
	}
	known, err := one(tx, "m.space = ?1 AND substr(m.text, 1, 64) = substr(?3, 1, 64) AND m.kind = ?2 AND m.text = ?3 AND m.key = ?4 AND m.replaced_by = ''", n.Space, n.Kind, n.Text, n.Key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ms.insert(tx, n)
	case err != nil:
		return Memory{}, err
	case n.Kind != KindFact && (n.Kind != KindEpisode || n.Source != FromAgent && n.Source != FromConversation):
		return ms.insert(tx, n)
	}
	_, err = tx.Exec("UPDATE memories SET importance = min(importance * 1.2, 10), updated_at = ?, said_at = max(said_at, ?) WHERE id = ?", store.Millis(ms.clock.Now()), store.Millis(n.SaidAt), known.ID)
	if err != nil {
		return Memory{}, err
	}
	return one(tx, "m.id = ?", known.ID)
}

// insert keeps a checked memory, and has the index know it with the commit.
func (ms *Memories) insert(tx *store.Tx, n New) (Memory, error) {
	now := ms.clock.Now()
	if n.Key != "" {
		old, err := one(tx, "m.space = ? AND m.key = ? AND m.replaced_by = ''", n.Space, n.Key)
		if err == nil {
			err = ms.replace(tx, old, n.ID, now)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return Memory{}, err
		}
	}
	_, err := tx.Exec(`INSERT INTO memories (id, space, kind, text, key, source, thread, run_id, labels_json, importance, said_at, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		n.ID, n.Space, n.Kind, n.Text, n.Key, n.Source, n.Thread, n.RunID, labelsJSON(n.Labels), n.Importance, store.Millis(n.SaidAt), store.Millis(now), store.Millis(now))
	if err != nil {
		return Memory{}, err
	}
	m, err := one(tx, "m.id = ?", n.ID)
	if err == nil {
		err = quote(tx, n.ID, n.Quote)
	}
	if err == nil {
		tx.OnCommit(func() { ms.put(m) })
	}
	return m, err
}

// quote keeps the words that a memory was taken from.
func quote(tx *store.Tx, id, words string) error {
	if words == "" {
		return nil
	}
	_, err := tx.Exec("INSERT OR REPLACE INTO memory_quotes (memory_id, text) VALUES (?, ?)", id, sys.Shorten(words, maxSaid))
	return err
}

// Quote returns the person's own words that a memory was taken from, shortened;
// "" where it was not taken from any, or they are gone with their conversation.
func (ms *Memories) Quote(ctx context.Context, id string) (words string, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow("SELECT text FROM memory_quotes WHERE memory_id = ?", id).Scan(&words)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return words, err
}

// replace makes a memory the history of another.
func (ms *Memories) replace(tx *store.Tx, old Memory, by string, at time.Time) error {
	_, err := tx.Exec("UPDATE memories SET replaced_by = ?, replaced_at = ? WHERE id = ?", by, store.Millis(at), old.ID)
	if err == nil {
		tx.OnCommit(func() { ms.drop(old.Space, old.ID) })
	}
	return err
}

func labelsJSON(l store.Labels) any {
	if len(l) == 0 {
		return nil
	}
	raw, err := json.Marshal(l)
	if err != nil {
		panic(fmt.Sprintf("marshal labels: %v", err)) // plain strings always marshal
	}
	return string(raw)
}

func one(tx *store.Tx, where string, args ...any) (Memory, error) {
	return scan(tx.QueryRow("SELECT "+columns+" FROM memories m WHERE "+where+" LIMIT 1", args...))
}

func some(tx *store.Tx, tail string, args ...any) ([]Memory, error) {
	rows, err := tx.Query("SELECT "+columns+" FROM memories m "+tail, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Memory{}
	for rows.Next() {
		m, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

// Get returns a memory by its id, or the end of one that names it alone.
func (ms *Memories) Get(ctx context.Context, id string) (m Memory, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		m, err = one(tx, "m.id = ?", id)
		return missing(err, id)
	})
	return m, err
}

func missing(err error, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return sys.Errorf(sys.CodeNotFound, "There is no memory %q.", id).WithHint("`oxios memory list` shows those that there are.")
	}
	return err
}

// Query selects memories, the newest first, those that are pinned before them.
type Query struct {
	Space    string // "" is the default one
	Every    bool   // of all spaces
	Kind     string
	Source   string
	Pinned   bool
	Replaced bool   // those that a newer one replaced, instead of those that hold
	Run      string // those that a run was given or looked up
	Thread   string // those that stand in a conversation
	Limit    int    // 100 if 0, at most 1000
	Before   string // a memory's id: only what stands behind it
}

// List returns memories.
func (ms *Memories) List(ctx context.Context, q Query) (out []Memory, err error) {
	where, args := []string{"TRUE"}, []any{}
	add := func(cond string, v ...any) { where, args = append(where, cond), append(args, v...) }
	if q.Thread != "" {
		add("m.thread = ?", q.Thread)
	}
	if !q.Every {
		add("m.space = ?", q.Space)
	}
	if q.Kind != "" {
		if err := checkKind(q.Kind); err != nil {
			return nil, err
		}
		add("m.kind = ?", q.Kind)
	}
	if q.Source != "" {
		add("m.source = ?", q.Source)
	}
	if q.Pinned {
		add("m.pinned")
	}
	switch {
	case q.Run != "":
		add("m.id IN (SELECT memory_id FROM memory_uses WHERE run_id = ?)", q.Run)
	case q.Replaced:
		add("m.replaced_by <> ''")
	default:
		add("m.replaced_by = ''")
	}
	if q.Before != "" {
		add("(m.pinned, m.said_at, m.n) < (SELECT pinned, said_at, n FROM memories WHERE id = ?)", q.Before)
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	args = append(args, min(q.Limit, 1000))
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		out, err = some(tx, "WHERE "+strings.Join(where, " AND ")+" ORDER BY m.pinned DESC, m.said_at DESC, m.n DESC LIMIT ?", args...)
		return err
	})
	return out, err
}

// History returns what a memory replaced, the newest first.
func (ms *Memories) History(ctx context.Context, id string) (out []Memory, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		out, err = some(tx, "WHERE m.id IN "+chain+" AND m.id <> ?1 ORDER BY m.replaced_at DESC, m.n DESC", id)
		return err
	})
	return out, err
}

// chain are the ids of a memory and of all that it replaced, one after another.
const chain = `(WITH RECURSIVE c (id) AS (SELECT ?1 UNION SELECT m.id FROM memories m JOIN c ON m.replaced_by = c.id) SELECT id FROM c)`
