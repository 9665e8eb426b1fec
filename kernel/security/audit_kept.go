package security

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Evidence that is gone looks like evidence that never was. So the store
// remembers what there was: the key that signs, the newest checkpoint beside the
// database, and what each witness was told last. What is remembered goes on only
// while it is all there; from then on it stands still, and every verification
// compares with it, until the person begins the evidence anew.

// keptKey names that memory in the store.
const keptKey = "audit_kept"

// AuditSpan is a row of entries.
type AuditSpan struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Renewal says that the person began the evidence anew, and why they had to.
type Renewal struct {
	After   int64     `json:"after"` // the last entry before it
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`
	Problem string    `json:"problem,omitempty"` // what was wrong, in English
}

// mark is a checkpoint that a file has.
type mark struct {
	Seq       int64  `json:"seq"`
	Signature string `json:"signature"`
}

// kept is what the store remembers of the evidence.
type kept struct {
	Key       string          `json:"key"`
	Newest    mark            `json:"newest"`             // beside the database
	Witnesses map[string]mark `json:"witnesses"`          // by their files
	Found     []AuditSpan     `json:"found,omitempty"`    // entries that a checkpoint covers only as found
	Renewals  []Renewal       `json:"renewals,omitempty"` // the oldest first

	// Forgotten says that this memory began when the chain had been signed before:
	// somebody took the one before it away.
	Forgotten bool `json:"forgotten,omitempty"`
}

// remembered is kept as the store holds it: signed, so that whoever can write the
// store, but has no key, cannot have it forget a witness or what was only found.
type remembered struct {
	Kept      json.RawMessage `json:"kept"`
	Signer    string          `json:"signer"`
	Signature string          `json:"signature"` // over the bytes of Kept
}

// signed returns the bytes that are signed.
func (m remembered) signed() []byte {
	return appendField(appendField(appendField(nil, "oxios audit memory 1"), m.Signer), m.Kept)
}

func (m remembered) genuine() bool {
	key, ok := plainHex(m.Signer)
	signature, sok := plainHex(m.Signature)
	return ok && sok && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, m.signed(), signature)
}

func (k kept) line(key *SigningKey) (string, error) {
	raw, err := json.Marshal(k)
	if err != nil {
		return "", err
	}
	m := remembered{Kept: raw, Signer: key.Public()}
	m.Signature = hex.EncodeToString(ed25519.Sign(key.private(), m.signed()))
	line, err := json.Marshal(m)
	return string(line), err
}

// parseKept reads what the store remembers, and who signed it; good is false where
// that is nothing which Oxios wrote.
func parseKept(text string) (k kept, signer string, good bool) {
	var m remembered
	if json.Unmarshal([]byte(text), &m) != nil || !m.genuine() || json.Unmarshal(m.Kept, &k) != nil {
		return kept{}, "", false
	}
	return k, m.Signer, true
}

// kept returns what is remembered; own is the public key that signs here, "" for
// none. What somebody else wrote there counts as taken away.
func (a *Audit) kept(ctx context.Context, own string) (k kept, there bool, err error) {
	text, stored, err := a.st.Get(ctx, keptKey)
	if err != nil {
		return k, false, err
	}
	if stored {
		var signer string
		if k, signer, there = parseKept(text); there && signer != k.Key && signer != own {
			k, there = kept{}, false
		}
		k.Forgotten = k.Forgotten || !there
	}
	if k.Witnesses == nil {
		k.Witnesses = map[string]mark{}
	}
	return k, there, nil
}

// remember puts k into the store where it says something new; signing is held.
func (a *Audit) remember(ctx context.Context, k kept) error {
	line, err := k.line(a.keeping.Key)
	if err != nil {
		return err
	}
	text, ok, err := a.st.Get(ctx, keptKey)
	if err != nil {
		return err
	}
	if !ok || text != line {
		if err := a.st.Write(ctx, func(tx *store.Tx) error { return a.st.Put(tx, keptKey, line) }); err != nil {
			return err
		}
	}
	a.known = line
	return nil
}

// StartWords are the metadata with which the kernel says, inside the caller's
// transaction, which checkpoint was the newest when it began; 0 for none.
func (a *Audit) StartWords(tx *store.Tx) (map[string]any, error) {
	text, _, err := a.st.GetIn(tx, keptKey)
	if err != nil {
		return nil, err
	}
	k, _, _ := parseKept(text)
	return map[string]any{keptWord: k.Newest.Seq}, nil
}

// keptWord is the member of the kernel's first entry that names the newest
// checkpoint at its start. Where it stands at all, the evidence is remembered.
const keptWord = "audit_signed"

// start is what the kernel's first words said of the evidence.
type start struct{ seq, signed int64 }

// starts returns what the starts behind entry after said, the first first.
func (a *Audit) starts(ctx context.Context, after int64) ([]start, error) {
	return a.startsIn(ctx, after, "ASC", -1)
}

func (a *Audit) startsIn(ctx context.Context, after int64, order string, limit int) (list []start, err error) {
	err = a.st.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT seq, coalesce(CAST(metadata ->> '$.`+keptWord+`' AS INTEGER), 0) FROM audit
			WHERE seq > ? AND resource = '`+announces+`' AND actor = 'kernel' AND instr(metadata, '"`+keptWord+`"') > 0 AND json_valid(metadata) ORDER BY seq `+order+` LIMIT ?`, after, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var s start
			if err := rows.Scan(&s.seq, &s.signed); err != nil {
				return err
			}
			list = append(list, s)
		}
		return rows.Err()
	})
	return list, err
}

// renewed is the last entry before the evidence was begun anew, 0 if it never was.
func (k kept) renewed() (after int64) {
	for _, n := range k.Renewals {
		after = max(after, n.After)
	}
	return after
}

// replaced reports whether k is an older copy of what was remembered: not what
// this process wrote or, where it wrote nothing yet, older than what one of the
// last two starts named. The start of this process read the copy. Signing is held.
func (a *Audit) replaced(ctx context.Context, k kept) (bool, error) {
	if a.known != "" {
		text, _, err := a.st.Get(ctx, keptKey)
		return text != a.known, err
	}
	list, err := a.startsIn(ctx, k.renewed(), "DESC", 2)
	return slices.ContainsFunc(list, func(s start) bool { return s.signed > k.Newest.Seq }), err
}

// forgotten reports whether more was known of the evidence than k knows: a start
// named a newer checkpoint, or, where there is no memory at all, one was made
// after a start that remembers. files are those with checkpoints.
func (a *Audit) forgotten(ctx context.Context, k kept, there bool, files ...string) (bool, error) {
	if k.Forgotten {
		return true, nil
	}
	list, err := a.starts(ctx, k.renewed())
	if err != nil {
		return false, err
	}
	for _, s := range list {
		if s.signed > k.Newest.Seq {
			return true, nil
		}
	}
	if there || len(list) == 0 {
		return false, nil
	}
	for _, file := range files {
		if last, _, err := lastCheckpoint(file); err == nil && last.Seq >= list[0].seq {
			return true, nil
		}
	}
	return false, nil
}

// in reports whether a file still has the checkpoint.
func (m mark) in(file string) (has bool, err error) {
	if m.Signature == "" {
		return true, nil
	}
	if _, err := os.Stat(file); err != nil {
		return false, err
	}
	for _, whole := range []bool{false, true} { // it is nearly always among the newest
		list, _, err := readCheckpoints(file, whole)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(list, func(c Checkpoint) bool { return c.Signature == m.Signature }) {
			return true, nil
		}
	}
	return false, nil
}

// What of the evidence is not there any more: [AuditReport.Lacks]. Of a witness it
// is the file.
const (
	LacksKey         = "key"
	LacksCheckpoints = "checkpoints"
	LacksMemory      = "memory"
)

// missing says what of the evidence that was remembered is not there any more.
// The signing is not held.
func (a *Audit) missing(ctx context.Context, k kept, there bool, root Checkpoint) (lacks string, why sys.Words, err error) {
	a.signing.Lock()
	keeping, witness := a.keeping, a.witness()
	a.signing.Unlock()
	if keeping.Key == nil {
		return LacksKey, sys.Say("The audit record cannot be signed: %s", sys.TextOf(cmp.Or(keeping.Broken, error(fs.ErrNotExist)))), nil
	}
	if k.Key != "" && keeping.Key.Public() != k.Key {
		return LacksKey, sys.Say("The key that signed the record is gone, and another one is in its place."), nil
	}
	known := k
	if k.Newest.Seq < root.Seq {
		k.Newest = mark{} // pruned; the root stands for it
	}
	switch has, err := k.Newest.in(keeping.File); {
	case errors.Is(err, fs.ErrNotExist):
		return LacksCheckpoints, sys.Say("The file with the signed checkpoints is missing. It vouched for the record up to entry %d.", k.Newest.Seq), nil
	case err != nil:
		return LacksCheckpoints, sys.Say("The file with the signed checkpoints cannot be read: %s.", reasonOf(err)), nil
	case !has:
		return LacksCheckpoints, sys.Say("The file with the signed checkpoints does not have the one of entry %d any more: it was emptied, or replaced by another one.", k.Newest.Seq), nil
	}
	for _, file := range sortedFiles(k.Witnesses) {
		told := k.Witnesses[file]
		switch has, err := told.in(file); {
		case errors.Is(err, fs.ErrNotExist):
			return file, sys.Say("The witness %s is missing. It knew the record up to entry %d.", file, told.Seq), nil
		case err != nil:
			return file, sys.Say("The witness %s cannot be read: %s.", file, reasonOf(err)), nil
		case !has:
			return file, sys.Say("The witness %s does not know entry %d any more: it was emptied, or replaced by another one.", file, told.Seq), nil
		}
	}
	if gone, err := a.forgotten(ctx, known, there, keeping.File, witness); err != nil || !gone {
		return "", sys.Words{}, err
	}
	return LacksMemory, sys.Say("The record was signed, but what Oxios remembered of that was taken out of the database."), nil
}

func sortedFiles(m map[string]mark) []string {
	var files []string
	for file := range m {
		files = append(files, file)
	}
	slices.Sort(files)
	return files
}

// reasonOf is why a file could not be read, without its path.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// strange notes entries that somebody else wrote: they were there when this
// process read where the chain ends. a.mu is held.
func (a *Audit) strange(l link) {
	if l.seq == 0 || l.hash == a.committed.hash || a.flying[l.seq] == l.hash {
		return
	}
	a.foreign = merged(append(a.foreign, AuditSpan{a.committed.seq + 1, l.seq}))
}

// merged are spans in their order, those that touch made one.
func merged(spans []AuditSpan) []AuditSpan {
	slices.SortFunc(spans, func(x, y AuditSpan) int { return int(x.From - y.From) })
	var out []AuditSpan
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, s.To)
		} else if s.From <= s.To {
			out = append(out, s)
		}
	}
	return out
}

// within are the parts of spans that lie in (after, to].
func within(spans []AuditSpan, after, to int64) []AuditSpan {
	var out []AuditSpan
	for _, s := range spans {
		if s.From, s.To = max(s.From, after+1), min(s.To, to); s.From <= s.To {
			out = append(out, s)
		}
	}
	return out
}

// Renew begins the evidence anew: the checkpoints and the witnesses that are
// there are put aside, where they can be compared with still, and new ones begin.
// words is the entry that says so. The report that this returns says what was
// wrong before. A chain that is damaged itself is not mended by it, and stays.
func (a *Audit) Renew(ctx context.Context, home string, words func(AuditReport) Entry) (AuditReport, error) {
	r, err := a.VerifyAll(ctx, home)
	if err != nil {
		return r, err
	}
	chain, err := a.Verify(ctx)
	if err != nil {
		return r, err
	}
	if !chain.OK {
		return r, sys.Errorf(sys.CodeConflict, "The record itself is damaged from entry %d on, so its evidence cannot begin anew: %s", chain.FirstBad, sys.Words{EN: chain.Problem, KO: chain.ProblemKO}).
			WithHint("Export the chain with `oxios audit export` before you do anything else.")
	}
	if !a.signs() {
		return r, sys.Errorf(sys.CodeUnavailable, "The audit record cannot be signed, so nothing was begun anew.").WithHint("`oxios doctor` says why.")
	}
	if err := a.putAside(ctx, words(r), r); err != nil {
		return r, err
	}
	return r, a.Checkpoint(ctx)
}

func (a *Audit) putAside(ctx context.Context, words Entry, r AuditReport) error {
	a.signing.Lock()
	defer a.signing.Unlock()
	k, _, err := a.kept(ctx, a.keeping.Key.Public())
	if err != nil {
		return err
	}
	files := append(sortedFiles(k.Witnesses), a.keeping.File)
	if w := a.witness(); w != "" && !slices.Contains(files, w) {
		files = append(files, w)
	}
	now := a.clock.Now()
	for _, file := range files {
		aside := file + ".until-" + now.UTC().Format("20060102-150405.000000000")
		if err := os.Rename(file, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put %s aside: %w", filepath.Base(file), err)
		}
	}
	renewed := kept{Key: a.keeping.Key.Public(), Found: k.Found, Renewals: k.Renewals}
	a.known = "" // the next checkpoint reads it
	return a.st.Write(ctx, func(tx *store.Tx) error {
		e, err := a.Append(tx, words)
		if err != nil {
			return err
		}
		renewed.Renewals = append(renewed.Renewals, Renewal{After: e.Seq - 1, At: e.Timestamp, Actor: e.Actor, Problem: r.Problem})
		// Nothing vouches any more for what was written before.
		if from := r.Pruned + 1; from < e.Seq {
			renewed.Found = merged(append(renewed.Found, AuditSpan{from, e.Seq - 1}))
		}
		line, err := renewed.line(a.keeping.Key)
		if err != nil {
			return err
		}
		return a.st.Put(tx, keptKey, line)
	})
}
