package security

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// A hash chain alone is not evidence against whoever can write the database:
// they can compute it anew. So now and then the kernel signs where the chain
// stands, keeps that beside the database, and tells a witness outside the home.

// The kinds of checkpoints. The kind is signed with the rest, so that nobody can
// cut a chain off at an ordinary checkpoint and call that pruning.
const (
	CheckpointHead   = "checkpoint" // the chain was there at that time
	CheckpointPruned = "pruned"     // it stands for all entries up to it, which were taken out
	CheckpointEnd    = "end"        // an export ended with this entry; it vouches for nothing else
)

// Checkpoint says that entry Seq had this hash, and is signed.
type Checkpoint struct {
	Kind     string    `json:"kind"` // checkpoint or pruned
	Seq      int64     `json:"seq"`
	Hash     string    `json:"hash"`
	Time     time.Time `json:"time"`  // when it was signed; UTC
	Count    int64     `json:"count"` // entries that were there, those that were pruned not among them; of a pruned root those that it stands for
	RootSeq  int64     `json:"root_seq"`
	RootHash string    `json:"root_hash"` // what the chain began after: [Genesis], or the root of what was pruned
	Key      string    `json:"key"`       // the public key, in hex

	// Found are entries up to Seq that no earlier checkpoint covers and that the
	// process which signs did not write: they were there when it began. It vouches
	// that it found them, and for nothing else.
	Found []AuditSpan `json:"found,omitempty"`

	Signature string `json:"signature"` // Ed25519, in hex, over all of the above
}

// signed returns the bytes that are signed: each text with its length before it.
func (c Checkpoint) signed() []byte {
	form := "oxios audit checkpoint 1"
	if len(c.Found) > 0 {
		form = "oxios audit checkpoint 2"
	}
	b := appendField(nil, form)
	b = appendField(b, c.Kind)
	b = binary.BigEndian.AppendUint64(b, uint64(c.Seq))
	b = appendField(b, c.Hash)
	b = binary.BigEndian.AppendUint64(b, uint64(c.Time.UnixNano()))
	b = binary.BigEndian.AppendUint64(b, uint64(c.Count))
	b = binary.BigEndian.AppendUint64(b, uint64(c.RootSeq))
	b = appendField(b, c.RootHash)
	b = appendField(b, c.Key)
	for _, s := range c.Found {
		b = binary.BigEndian.AppendUint64(b, uint64(s.From))
		b = binary.BigEndian.AppendUint64(b, uint64(s.To))
	}
	return b
}

func (k *SigningKey) sign(c Checkpoint) Checkpoint {
	c.Time, c.Key = c.Time.UTC().Round(0), k.Public()
	c.Signature = hex.EncodeToString(ed25519.Sign(k.private(), c.signed()))
	return c
}

// Genuine reports whether the signature fits, made with the key that the
// checkpoint names. Whose key that is, is another question.
func (c Checkpoint) Genuine() bool {
	key, ok := plainHex(c.Key)
	signature, sok := plainHex(c.Signature)
	return ok && sok && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, c.signed(), signature)
}

// plainHex reads hex as we write it, which is one way only.
func plainHex(s string) ([]byte, bool) {
	b, err := hex.DecodeString(s)
	return b, err == nil && hex.EncodeToString(b) == s
}

// checkpointLine is a checkpoint as a line of an export, of the file beside the
// database and of the witness.
func checkpointLine(c Checkpoint) []byte {
	line, err := json.Marshal(struct {
		Checkpoint Checkpoint `json:"checkpoint"`
	}{c})
	if err != nil { // text and numbers
		panic(err)
	}
	return append(line, '\n')
}

// parseCheckpoint reads a line, which must be exactly as [checkpointLine] wrote it.
func parseCheckpoint(line []byte) (Checkpoint, bool) {
	var v struct {
		Checkpoint Checkpoint `json:"checkpoint"`
	}
	if json.Unmarshal(line, &v) != nil || !bytes.Equal(checkpointLine(v.Checkpoint), line) {
		return Checkpoint{}, false
	}
	return v.Checkpoint, true
}

var checkpointStart = []byte(`{"checkpoint":`)

// CheckpointEvery is how many entries are written before the next checkpoint.
const CheckpointEvery = 1000

// Keeping is where the checkpoints of a home are kept, and what signs them.
type Keeping struct {
	Key     *SigningKey   // nil where it cannot be read: then nothing is signed, and verifying says so
	Broken  error         // why there is no key
	File    string        // beside the database
	Witness func() string // a file outside the home; "" for none. It may change while the kernel runs
}

// Keep has the chain sign checkpoints. Without it the chain is only a chain.
func (a *Audit) Keep(k Keeping) {
	a.signing.Lock()
	defer a.signing.Unlock()
	a.keeping = k
}

// signs reports whether checkpoints are kept here: the chain in a backup's copy
// has nobody who could say whose key a root was signed with.
func (a *Audit) signs() bool {
	a.signing.Lock()
	defer a.signing.Unlock()
	return a.keeping.Key != nil
}

// Due has something to receive when so many entries were written that a
// checkpoint is due.
func (a *Audit) Due() <-chan struct{} { return a.due }

// Standing is how far checkpoints and the witness go, as this process knows it.
type Standing struct {
	Signed      int64     `json:"signed"` // the last entry that is signed; 0 for none
	SignedAt    time.Time `json:"signed_at,omitzero"`
	Witnessed   int64     `json:"witnessed"` // the last entry that the witness has
	WitnessedAt time.Time `json:"witnessed_at,omitzero"`
	Witness     string    `json:"witness"` // its file; "" when none is wanted
	Key         string    `json:"key"`     // the public key that signs
}

// Standing returns how far checkpoints and the witness go.
func (a *Audit) Standing() Standing {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.standing
}

// rootKey names the signed root of what was pruned in the store. It is changed
// in the transaction that takes the entries out.
const rootKey = "audit_root"

// root returns the checkpoint that stands for what was pruned; the zero value
// when nothing was.
func (a *Audit) root(ctx context.Context) (Checkpoint, error) {
	text, ok, err := a.st.Get(ctx, rootKey)
	if err != nil || !ok {
		return Checkpoint{}, err
	}
	c, ok := parseCheckpoint([]byte(text))
	if !ok || c.Kind != CheckpointPruned || !c.Genuine() {
		return Checkpoint{Kind: "damaged"}, nil // the verification says so; appending goes on
	}
	return c, nil
}

// hash is what the first entry after the root continues.
func (c Checkpoint) hash() string {
	if c.Seq == 0 {
		return Genesis
	}
	return c.Hash
}

// announces are the resource and the members of the entry that names a new key:
// the kernel's own first words. So the chain vouches for the key that follows.
const announces = "kernel opened"

// KeyWords are the metadata with which the kernel names the key that it made,
// and the one that signed before it.
func (a *Audit) KeyWords() map[string]any {
	a.signing.Lock()
	defer a.signing.Unlock()
	words := map[string]any{"audit_key": a.keeping.Key.Public()}
	if last, _, err := lastCheckpoint(a.keeping.File); err == nil && last.Key != "" {
		words["audit_key_before"] = last.Key
	}
	return words
}

// announced returns the keys that an entry names.
func announced(e Entry) []string {
	if e.Resource != announces || e.Actor != "kernel" || e.Action != ActionOther || !bytes.Contains(e.Metadata, []byte(`"audit_key"`)) {
		return nil
	}
	var m struct {
		Key    string `json:"audit_key"`
		Before string `json:"audit_key_before"`
	}
	if json.Unmarshal(e.Metadata, &m) != nil {
		return nil
	}
	return slices.DeleteFunc([]string{m.Key, m.Before}, func(k string) bool { return k == "" })
}

// trust are the keys whose word counts.
type trust map[string]bool

func (t trust) add(keys ...string) {
	for _, k := range keys {
		if k != "" {
			t[k] = true
		}
	}
}

// trusted returns the keys that may have signed: this home's, and those that the
// chain names.
func (a *Audit) trusted(ctx context.Context) (trust, error) {
	keys := trust{}
	a.signing.Lock()
	if a.keeping.Key != nil {
		keys.add(a.keeping.Key.Public())
	}
	a.signing.Unlock()
	err := a.st.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT ` + auditColumns + ` FROM audit WHERE resource = '` + announces + `' AND instr(metadata, '"audit_key"') > 0`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			e, err := scanEntry(rows)
			if err != nil {
				return err
			}
			keys.add(announced(e)...)
		}
		return rows.Err()
	})
	return keys, err
}

// stamp is a time as a verdict tells it.
func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// from says where a checkpoint was read.
type from string

const (
	fromHome    from = "home"
	fromExport  from = "export"
	fromWitness from = "witness"
)

// against compares a checkpoint with the chain that holds entries (root, last];
// hash is that of the entry with its number, "" where it is not there.
func (c Checkpoint) against(where from, keys trust, root Checkpoint, last int64, hash string) (bad int64, problem sys.Words) {
	switch {
	case !c.Genuine():
		return c.Seq, sys.Say("The checkpoint of entry %d does not fit its signature: it was altered.", c.Seq)
	case c.Seq < root.Seq:
		return 0, sys.Words{} // pruned since; the root stands for it
	case !keys[c.Key]:
		return c.Seq, sys.Say("The checkpoint of entry %d was signed with a key that this chain does not know.", c.Seq)
	case c.Seq == root.Seq:
		hash = root.Hash
	case c.Seq > last && where == fromWitness:
		return last + 1, sys.Say("The chain ends at entry %d, but entry %d was witnessed at %s: the end was cut off, or an older copy was put in its place.", last, c.Seq, stamp(c.Time))
	case c.Seq > last:
		return last + 1, sys.Say("The chain ends at entry %d, but entry %d was signed at %s: the end was cut off, or an older copy was put in its place.", last, c.Seq, stamp(c.Time))
	}
	switch {
	case c.Hash == hash:
		return 0, sys.Words{}
	case where == fromWitness:
		return c.Seq, sys.Say("Entry %d is not the one that was witnessed at %s: it, or what stands before it, was rewritten.", c.Seq, stamp(c.Time))
	}
	return c.Seq, sys.Say("Entry %d is not the one that was signed at %s: it, or what stands before it, was rewritten.", c.Seq, stamp(c.Time))
}

// compare checks checkpoints against the entries in the store.
func (a *Audit) compare(ctx context.Context, where from, list []Checkpoint, keys trust, root Checkpoint, last int64) (bad int64, problem sys.Words, err error) {
	err = a.st.Read(ctx, func(tx *store.Tx) error {
		// What was written since the chain was read may be signed already.
		now := last
		if err := tx.QueryRow(`SELECT coalesce(max(seq), 0) FROM audit`).Scan(&now); err != nil {
			return err
		}
		last = max(last, now)
		for _, c := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			hash := ""
			if err := tx.QueryRow(`SELECT hash FROM audit WHERE seq = ?`, c.Seq).Scan(&hash); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			at, why := c.against(where, keys, root, last, hash)
			if at != 0 && (bad == 0 || at < bad) {
				bad, problem = at, why
			}
		}
		return nil
	})
	return bad, problem, err
}

// VerifyCheckpoints adds to the report of a good chain what the checkpoints
// beside it say, and those of the witness; only their newest ones unless whole.
func (a *Audit) VerifyCheckpoints(ctx context.Context, whole bool, r AuditReport) (AuditReport, error) {
	a.signing.Lock()
	file, witness, own := a.keeping.File, a.witness(), ""
	if a.keeping.Key != nil {
		own = a.keeping.Key.Public()
	}
	a.signing.Unlock()
	if file == "" {
		return r, nil // a copy, as in a backup: its home has what vouches for it
	}
	a.pruning.RLock() // a root and the entries behind it belong together
	defer a.pruning.RUnlock()
	root, err := a.root(ctx)
	if err != nil {
		return r, err
	}
	keys, err := a.trusted(ctx)
	if err != nil {
		return r, err
	}
	k, there, err := a.kept(ctx, own)
	if err != nil {
		return r, err
	}
	if own == "" {
		keys.add(k.Key) // what it signed is still that; that it is gone is told below
	}
	type proof struct {
		file  string
		where from
	}
	proofs := []proof{{file, fromHome}}
	if _, known := k.Witnesses[witness]; witness != "" && !known {
		proofs = append(proofs, proof{witness, fromWitness})
	}
	for _, w := range sortedFiles(k.Witnesses) { // one that is not wanted any more knows what it knew
		proofs = append(proofs, proof{w, fromWitness})
	}
	found := k.Found
	for _, at := range proofs {
		list, line, err := readCheckpoints(at.file, whole)
		if err != nil {
			if at.where == fromWitness {
				if _, known := k.Witnesses[at.file]; !known {
					r.Lacks = at.file
					return r.worse(0, sys.Say("The witness %s cannot be read: %s.", at.file, reasonOf(err))), nil
				}
				continue // what is missing is told below
			}
			if k.Newest.Signature == "" {
				return r, err
			}
			continue // told below
		}
		bad, problem, err := a.compare(ctx, at.where, list, keys, root, r.Last)
		if err == nil && bad == 0 && whole && at.where == fromWitness {
			bad, problem = unwitnessed(root, list)
		}
		switch {
		case err != nil:
			return r, err
		case bad != 0:
			return r.worse(bad, problem), nil
		case line != 0:
			return r.worse(0, sys.Say("Line %d of %s is not as Oxios wrote it: it was altered.", line, at.file)), nil
		}
		for _, c := range list {
			switch at.where {
			case fromWitness:
				r.Witnessed = max(r.Witnessed, c.Seq)
			default:
				r.Signed = max(r.Signed, c.Seq)
			}
			r.Key = c.Key
			found = append(found, c.Found...)
		}
	}
	r.Found = within(merged(found), root.Seq, math.MaxInt64)
	r.Renewals = k.Renewals
	if r.Last > r.Signed {
		r.Unsigned = &AuditSpan{max(r.Signed, root.Seq) + 1, r.Last}
	}
	lacks, why, err := a.missing(ctx, k, there, root)
	if err != nil || lacks == "" {
		return r, err
	}
	r.Lacks = lacks
	return r.worse(0, why), nil
}

// worse is r with something that is wrong.
func (r AuditReport) worse(bad int64, problem sys.Words) AuditReport {
	r.OK, r.FirstBad, r.Problem, r.ProblemKO = false, bad, problem.EN, problem.KO
	return r
}
