package security

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"oxios/kernel/store"
	"oxios/kernel/sys"

	"github.com/zeebo/blake3"
)

// Action is what an audit entry is about.
type Action string

// The actions of the audit chain.
const (
	ActionAgentSpawn   Action = "AgentSpawn"
	ActionAgentExit    Action = "AgentExit"
	ActionToolCall     Action = "ToolCall"   // the intent, before the effect
	ActionToolResult   Action = "ToolResult" // the outcome, after it
	ActionMemoryWrite  Action = "MemoryWrite"
	ActionMemoryRead   Action = "MemoryRead"
	ActionConfigChange Action = "ConfigChange"
	ActionSkillInstall Action = "SkillInstall"
	ActionCronTrigger  Action = "CronTrigger"
	ActionGitCommit    Action = "GitCommit"
	ActionAccessDenied Action = "AccessDenied"
	ActionOther        Action = "Other"
)

func (a Action) known() bool {
	switch a {
	case ActionAgentSpawn, ActionAgentExit, ActionToolCall, ActionToolResult, ActionMemoryWrite, ActionMemoryRead,
		ActionConfigChange, ActionSkillInstall, ActionCronTrigger, ActionGitCommit, ActionAccessDenied, ActionOther:
		return true
	}
	return false
}

// Genesis is the prev_hash of the first entry.
const Genesis = "genesis"

// The limits of an entry's fields, in bytes. A longer actor or resource is
// shortened, its digest put in place of the rest; longer metadata is refused.
const (
	maxAuditActor    = 256
	maxAuditResource = 4 << 10
	maxAuditMetadata = 64 << 10
)

// Entry is one line of the audit chain.
type Entry struct {
	Seq       int64     `json:"seq"`       // 1, 2, 3, … without a gap
	Timestamp time.Time `json:"timestamp"` // UTC, to the nanosecond; never earlier than the entry before, but see [Audit.Append]
	Actor     string    `json:"actor"`     // who: [sys.Principal.Actor]
	Action    Action    `json:"action"`
	Resource  string    `json:"resource"` // what it was done to
	PrevHash  string    `json:"prev_hash"`
	Hash      string    `json:"hash"` // blake3 in hex over every other field

	// Metadata is a JSON object: run_id, step_id, call, node, outcome, …
	Metadata json.RawMessage `json:"metadata"`
}

// digest returns the hash of e: blake3 over the bytes of every other field,
// each with its length before it (4 bytes, big-endian), the numbers as 8 bytes.
// Without the lengths, text could move from one field to the next unseen.
func (e Entry) digest() string {
	hash, _ := e.digestIn(nil)
	return hash
}

// digestIn is digest with a buffer that the caller keeps.
func (e Entry) digestIn(b []byte) (string, []byte) {
	b = appendField(b[:0], "oxios audit 1")
	b = binary.BigEndian.AppendUint64(b, uint64(e.Seq))
	b = binary.BigEndian.AppendUint64(b, uint64(e.Timestamp.UnixNano()))
	b = appendField(b, e.Actor)
	b = appendField(b, e.Action)
	b = appendField(b, e.Resource)
	b = appendField(b, e.PrevHash)
	b = appendField(b, e.Metadata)
	sum := blake3.Sum256(b)
	return hex.EncodeToString(sum[:]), b
}

func appendField[T ~string | ~[]byte](b []byte, field T) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(field)))
	return append(b, field...)
}

// Audit is the chain in the store. An entry is written in the transaction of
// what it records, so that neither exists without the other. There is one
// Audit per store.
type Audit struct {
	st    *store.Store
	clock sys.Clock

	due     chan struct{}
	pruning sync.RWMutex // held for writing while entries are taken out, for reading while they are verified

	signing sync.Mutex // held while a checkpoint is made
	keeping Keeping
	known   string // what this process had the store remember of the evidence

	mu        sync.Mutex
	head      *link            // the last entry written, committed or not; nil if unknown
	committed link             // the last entry that is durable, as far as this process wrote any
	flying    map[int64]string // hashes of entries written here that are not durable yet
	foreign   []AuditSpan      // entries that were found here, and that this process did not write
	standing  Standing
}

// link is what the next entry must know of the last one.
type link struct {
	seq       int64
	hash      string
	timestamp time.Time
	written   time.Time // this process's monotonic time of writing
}

// NewAudit returns the chain kept in st. It reads nothing.
func NewAudit(st *store.Store, clock sys.Clock) *Audit {
	return &Audit{st: st, clock: clock, due: make(chan struct{}, 1), flying: map[int64]string{}}
}

// slightlyBack is how far the clock may go back without a word: time servers
// correct it by that much all the time.
const slightlyBack = 5 * time.Second

// clockSetBack is the metadata of an entry before which the clock was set back.
const clockSetBack = "clock_set_back_ms"

// Append writes e as the next entry, inside the caller's transaction, and
// returns it with its sequence number, time and hash. Actor and Action must be
// set; Seq, Timestamp, PrevHash and Hash are filled in.
//
// Timestamps do not decrease along the chain. If the clock was set back by
// more than a few seconds, the entry says so in its metadata
// (clock_set_back_ms) and time goes on from there.
func (a *Audit) Append(tx *store.Tx, e Entry) (Entry, error) {
	if !e.Action.known() {
		return Entry{}, sys.Errorf(sys.CodeInternal, "The audit chain has no action %q.", e.Action)
	}
	if e.Actor == "" {
		return Entry{}, sys.Errorf(sys.CodeInternal, "An audit entry needs an actor.")
	}
	metadata, err := auditMetadata(e.Metadata)
	if err != nil {
		return Entry{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	last, err := a.last(tx)
	if err != nil {
		return Entry{}, err
	}
	now := a.clock.Now()
	if back := last.timestamp.Sub(now); back > slightlyBack {
		metadata = withMember(metadata, clockSetBack, back.Milliseconds())
	} else if back > 0 {
		now = last.timestamp
	}
	e.Seq, e.Timestamp, e.PrevHash, e.Metadata = last.seq+1, now.Round(0), last.hash, metadata
	e.Actor, e.Resource = shorten(e.Actor, maxAuditActor), shorten(e.Resource, maxAuditResource)
	e.Hash = e.digest()
	_, err = tx.Exec(`INSERT INTO audit (seq, timestamp, actor, action, resource, prev_hash, hash, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Seq, e.Timestamp.UnixNano(), e.Actor, string(e.Action), e.Resource, e.PrevHash, e.Hash, string(e.Metadata))
	if err != nil {
		a.head = nil
		return Entry{}, fmt.Errorf("append to the audit chain: %w", err)
	}
	next := &link{seq: e.Seq, hash: e.Hash, timestamp: e.Timestamp, written: time.Now()}
	a.head = next
	a.flying[e.Seq] = e.Hash
	tx.OnRollback(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.head = nil // the store knows what is left
		delete(a.flying, next.seq)
	})
	tx.OnCommit(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.committed = *next
		delete(a.flying, next.seq)
		if next.seq-a.standing.Signed >= CheckpointEvery {
			select {
			case a.due <- struct{}{}:
			default: // somebody is told already
			}
		}
	})
	return e, nil
}

// last returns the entry to continue from.
func (a *Audit) last(tx *store.Tx) (link, error) {
	if a.head != nil {
		return *a.head, nil
	}
	l := link{hash: Genesis}
	var at int64
	err := tx.QueryRow(`SELECT seq, hash, timestamp FROM audit ORDER BY seq DESC LIMIT 1`).Scan(&l.seq, &l.hash, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return l, nil
	}
	if err != nil {
		return link{}, fmt.Errorf("read the end of the audit chain: %w", err)
	}
	l.timestamp = time.Unix(0, at).UTC()
	a.strange(l)
	return l, nil
}

// auditMetadata returns the object in the form in which it is hashed: compact
// and valid UTF-8. Nothing becomes an empty object.
func auditMetadata(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return json.RawMessage("{}"), nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil || b.Bytes()[0] != '{' {
		return nil, sys.Errorf(sys.CodeInternal, "The metadata of an audit entry must be a JSON object.")
	}
	if b.Len() > maxAuditMetadata {
		return nil, sys.Errorf(sys.CodeTooLarge, "The metadata of an audit entry is larger than %d KiB.", maxAuditMetadata>>10)
	}
	if !utf8.Valid(b.Bytes()) {
		return bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")), nil
	}
	return b.Bytes(), nil
}

// withMember adds a member in front of a compact object.
func withMember(object json.RawMessage, key string, n int64) json.RawMessage {
	rest := string(object[1:])
	if rest != "}" {
		rest = "," + rest
	}
	return json.RawMessage(fmt.Sprintf(`{%q:%d%s`, key, n, rest))
}

// shorten returns s as valid UTF-8 in at most limit bytes. What is cut off is
// replaced by a digest of the whole, so that the entry still names one thing.
func shorten(s string, limit int) string {
	if !utf8.ValidString(s) {
		var b strings.Builder
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				fmt.Fprintf(&b, `\x%02x`, s[i])
			} else {
				b.WriteString(s[i : i+n])
			}
			i += n
		}
		s = b.String()
	}
	if len(s) <= limit {
		return s
	}
	sum := blake3.Sum256([]byte(s))
	tail := fmt.Sprintf("… [%d bytes, blake3 %x]", len(s), sum[:16])
	return strings.ToValidUTF8(s[:limit-len(tail)], "") + tail
}

// AuditQuery narrows a list; zero fields do not.
type AuditQuery struct {
	From   int64  `json:"from,omitempty"`  // the first entry: going up from it, or down with Newest
	Limit  int    `json:"limit,omitempty"` // 200 if zero
	RunID  string `json:"run_id,omitempty"`
	Action Action `json:"action,omitempty"`
	Newest bool   `json:"newest,omitempty"` // the newest first

	Actor    string    `json:"actor,omitempty"`    // a part of who it was: "agent:", "person:window"
	Resource string    `json:"resource,omitempty"` // a part of what it was done to
	Text     string    `json:"text,omitempty"`     // a part of any field; small and capital letters of ASCII are the same
	Denied   bool      `json:"denied,omitempty"`   // only what was refused
	Since    time.Time `json:"since,omitzero"`
	Until    time.Time `json:"until,omitzero"` // earlier than this
}

// conditions returns what the fields of q ask of an entry. Words are looked for
// as plain text, so that a chain whose metadata somebody has broken is read too.
func (q AuditQuery) conditions() (where string, args []any) {
	where = "1"
	add := func(wanted bool, condition string, arg any) {
		if wanted {
			where, args = where+" AND "+condition, append(args, arg)
		}
	}
	bound := "seq >= ?"
	if q.Newest {
		bound = "seq <= ?"
	}
	add(q.From != 0, bound, q.From)
	add(q.Action != "", "action = ?", string(q.Action))
	add(q.RunID != "", "instr(metadata, ?) > 0", fmt.Sprintf(`"run_id":%q`, q.RunID))
	add(q.Actor != "", "instr(actor, ?) > 0", q.Actor)
	add(q.Resource != "", "instr(resource, ?) > 0", q.Resource)
	add(q.Text != "", "instr(lower(actor || char(10) || action || char(10) || resource || char(10) || metadata), lower(?)) > 0", q.Text)
	add(q.Denied, "action = ?", string(ActionAccessDenied))
	add(!q.Since.IsZero(), "timestamp >= ?", q.Since.UnixNano())
	add(!q.Until.IsZero(), "timestamp < ?", q.Until.UnixNano())
	return where, args
}

// List returns entries in the order of the chain, or the newest first.
func (a *Audit) List(ctx context.Context, q AuditQuery) ([]Entry, error) {
	if q.Limit <= 0 {
		q.Limit = 200
	}
	order := "ASC"
	if q.Newest {
		order = "DESC"
	}
	where, args := q.conditions()
	out := []Entry{}
	err := a.st.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT `+auditColumns+` FROM audit WHERE `+where+` ORDER BY seq `+order+` LIMIT ?`, append(args, q.Limit)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			e, err := scanEntry(rows)
			if err != nil {
				return err
			}
			out = append(out, e)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list the audit chain: %w", err)
	}
	return out, nil
}

const auditColumns = `seq, timestamp, actor, action, resource, prev_hash, hash, metadata`

func scanEntry(rows *sql.Rows) (Entry, error) {
	var (
		e        Entry
		at       int64
		metadata []byte
	)
	err := rows.Scan(&e.Seq, &at, &e.Actor, (*string)(&e.Action), &e.Resource, &e.PrevHash, &e.Hash, &metadata)
	e.Timestamp, e.Metadata = time.Unix(0, at).UTC(), metadata
	return e, err
}

// Intents returns the system calls whose intent a step recorded, in their order;
// seq is where its first one stands.
func (a *Audit) Intents(ctx context.Context, stepID string, seq int64) (calls []string, err error) {
	err = a.st.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT metadata ->> '$.syscall' FROM audit
			WHERE seq >= ? AND metadata ->> '$.step_id' = ? AND metadata ->> '$.phase' = 'intent' ORDER BY seq`, seq, stepID)
		if err != nil {
			return err
		}
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			calls = append(calls, name)
		}
		return rows.Err()
	})
	return calls, err
}
