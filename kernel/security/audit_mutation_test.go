package security

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel/store"
)

// witnessed is a chain with a key, checkpoints beside it and a witness.
type witnessed struct {
	*book
	dir     string
	key     *SigningKey
	file    string // the checkpoints
	witness string
}

func setupWitnessed(t testing.TB) *witnessed {
	t.Helper()
	dir := t.TempDir()
	w := &witnessed{book: setupAudit(t), dir: dir, file: filepath.Join(dir, "audit", "checkpoints.jsonl"), witness: filepath.Join(dir, "elsewhere", "witness.jsonl")}
	key, made, err := OpenSigningKey(filepath.Join(dir, "keys"), slog.New(slog.DiscardHandler))
	if err != nil || !made {
		t.Fatalf("got %v, made %v", err, made)
	}
	w.key = key
	w.keep(w.Audit)
	return w
}

func (w *witnessed) keep(a *Audit) *Audit {
	a.Keep(Keeping{Key: w.key, File: w.file, Witness: func() string { return w.witness }})
	return a
}

// open brings the file of the database back as this process sees it.
func (w *witnessed) open(t testing.TB) *Audit {
	t.Helper()
	w.st = openStore(t, w.path)
	return w.keep(NewAudit(w.st, w.clock.now))
}

func (w *witnessed) checkpoint(t testing.TB) {
	t.Helper()
	if err := w.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func (w *witnessed) known(t testing.TB) []Checkpoint {
	t.Helper()
	f, err := os.Open(w.witness)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := ReadWitness(f)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// whole is what another process finds of everything.
func (w *witnessed) whole(t testing.TB) AuditReport {
	t.Helper()
	r, err := w.keep(NewAudit(w.st, w.clock.now)).VerifyAll(context.Background(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rewrite computes the chain anew from entry seq on, with other content, as
// somebody does who can write the database and knows how it is hashed.
func rewrite(entries []Entry, seq int64) []Entry {
	out := slices.Clone(entries)
	prev := out[0].PrevHash
	for i := range out {
		if out[i].Seq >= seq {
			if out[i].Seq == seq {
				out[i].Resource = "nothing of note"
			}
			out[i].PrevHash = prev
			out[i].Hash = out[i].digest()
		}
		prev = out[i].Hash
	}
	return out
}

func (w *witnessed) replace(t testing.TB, entries []Entry) {
	t.Helper()
	w.exec(t, `DELETE FROM audit`)
	err := w.st.Write(context.Background(), func(tx *store.Tx) error {
		for _, e := range entries {
			if _, err := tx.Exec(`INSERT INTO audit (seq, timestamp, actor, action, resource, prev_hash, hash, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
				e.Seq, e.Timestamp.UnixNano(), e.Actor, string(e.Action), e.Resource, e.PrevHash, e.Hash, string(e.Metadata)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ended is an export with its last line, as the home writes it.
func (w *witnessed) ended(t testing.TB, export []byte) []byte {
	t.Helper()
	own := bytes.SplitAfter(w.export(t), []byte("\n"))
	return append(export, own[len(own)-2]...)
}

func lines(entries []Entry, with ...Checkpoint) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		b.Write(ExportLine(e))
		for _, c := range with {
			if c.Seq == e.Seq {
				b.Write(checkpointLine(c))
			}
		}
	}
	return b.Bytes()
}

func TestNoMutationOfTheStoreGetsPastAWitness(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 6)
	w.checkpoint(t)
	old, err := os.ReadFile(w.path + copyOf(t, w))
	if err != nil {
		t.Fatal(err)
	}
	w.fill(t, 6)
	w.checkpoint(t)
	entries, err := w.List(t.Context(), AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if r := w.whole(t); !r.OK || r.Signed != 12 || r.Witnessed != 12 || r.Key != w.key.Public() {
		t.Fatalf("got %+v of an untouched chain", r)
	}
	tried := w.mutateAll(t, entries)
	t.Logf("%d mutations of the store, all found", tried)

	// The whole database is put back to what it was, and goes on from there.
	if err := w.st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{w.path, w.path + "-wal", w.path + "-shm"} {
		_ = os.Remove(name)
	}
	if err := os.WriteFile(w.path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.file); err != nil {
		t.Fatal(err)
	}
	w.Audit = w.open(t)
	if r := w.whole(t); r.OK || r.FirstBad != 7 || !strings.Contains(r.Problem, "The chain ends at entry 6, but entry 12 was witnessed at ") {
		t.Errorf("an old copy: got %+v", r)
	}
	w.fill(t, 20)
	w.checkpoint(t)
	if r := w.whole(t); r.OK || r.FirstBad != 12 || !strings.Contains(r.Problem, "not the one that was witnessed") {
		t.Errorf("an old copy that went on: got %+v", r)
	}
}

// mutateAll changes the chain in every way that somebody with the database might,
// and wants each found. Entries are those that are there; the newest is witnessed.
func (w *witnessed) mutateAll(t testing.TB, entries []Entry) (tried int) {
	t.Helper()
	first := entries[0].Seq
	number := func(list []Entry) []Entry {
		for n := range list {
			list[n].Seq = first + int64(n)
		}
		return list
	}
	kept, err := os.ReadFile(w.file)
	if err != nil {
		t.Fatal(err)
	}
	mutate := func(name string, changed []Entry) {
		t.Helper()
		w.replace(t, changed)
		// Whoever can write the home takes the checkpoints beside the database away as well.
		for _, beside := range [][]byte{kept, nil} {
			if err := os.WriteFile(w.file, beside, 0o600); err != nil {
				t.Fatal(err)
			}
			tried++
			if r := w.whole(t); r.OK || r.FirstBad == 0 || r.Problem == "" || r.ProblemKO == "" {
				t.Errorf("%s: got %+v, want it found", name, r)
			}
		}
	}
	for i := range entries {
		mutate(fmt.Sprint("removed ", i), slices.Delete(slices.Clone(entries), i, i+1))
		mutate(fmt.Sprint("cut before ", i), entries[:i])
		mutate(fmt.Sprint("rewritten with right hashes from ", i), rewrite(entries, first+int64(i)))
		mutate(fmt.Sprint("rewritten and cut, from ", i), rewrite(entries, first+int64(i))[:max(i, len(entries)/2)])
		twice := slices.Insert(slices.Clone(entries), i, entries[i])
		mutate(fmt.Sprint("twice ", i), number(twice))
		if i > 0 {
			swapped := slices.Clone(entries)
			swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
			mutate(fmt.Sprint("swapped ", i), number(swapped))
		}
		if i < len(entries)-1 {
			closed := slices.Delete(slices.Clone(entries), i, i+1)
			mutate(fmt.Sprint("removed and rewritten ", i), rewrite(number(closed), first+int64(i)))
		}
	}
	// Every byte of one row, and of its time.
	at := len(entries) - 4
	victim := entries[at]
	for column, value := range map[string]*string{"actor": &victim.Actor, "action": (*string)(&victim.Action), "resource": &victim.Resource, "prev_hash": &victim.PrevHash, "hash": &victim.Hash} {
		for i := range *value {
			changed := slices.Clone(entries)
			bad := []byte(*value)
			bad[i] ^= 1
			switch column {
			case "actor":
				changed[at].Actor = string(bad)
			case "action":
				changed[at].Action = Action(bad)
			case "resource":
				changed[at].Resource = string(bad)
			case "prev_hash":
				changed[at].PrevHash = string(bad)
			case "hash":
				changed[at].Hash = string(bad)
			}
			mutate(fmt.Sprint(column, " ", i), changed)
		}
	}
	w.replace(t, entries)
	if err := os.WriteFile(w.file, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	return tried
}

// copyOf saves the database as it is now and returns what its name ends in.
func copyOf(t testing.TB, w *witnessed) string {
	t.Helper()
	const end = ".old"
	if err := w.st.Snapshot(context.Background(), w.path+end); err != nil {
		t.Fatal(err)
	}
	return end
}

func TestNoMutationOfAnExportGetsPastAWitness(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 2)
	w.checkpoint(t)
	w.fill(t, 2)
	w.checkpoint(t)
	good, proof := w.export(t), ExportProof{Key: w.key.Public(), Witness: w.known(t)}
	check := func(name string, bad []byte, proof ExportProof) {
		t.Helper()
		r, err := VerifyExport(bytes.NewReader(bad), proof)
		if err != nil || r.OK || r.FirstBad == 0 || r.Problem == "" || r.ProblemKO == "" {
			t.Fatalf("%s: got %+v, %v, want it found", name, r, err)
		}
	}
	for name, p := range map[string]ExportProof{"nothing": {}, "the key": {Key: proof.Key}, "the witness": {Witness: proof.Witness}, "both": proof} {
		if r, err := VerifyExport(bytes.NewReader(good), p); err != nil || !r.OK || r.Entries != 4 || r.Signed != 4 || r.Witnessed != int64(len(p.Witness)*2) {
			t.Fatalf("compared with %s: got %+v, %v", name, r, err)
		}
	}
	for i := range good {
		for _, bits := range []byte{0x01, 0x20, 0x80} { // 0x20 makes a small letter of a capital
			bad := bytes.Clone(good)
			bad[i] ^= bits
			check(fmt.Sprintf("byte %d ^ %#x", i, bits), bad, proof)
		}
		if !bytes.HasPrefix(good[i:], checkpointLine(proof.Witness[1])) { // without its last line no record is missing
			check(fmt.Sprint("cut at byte ", i), good[:i], proof)
		}
	}
	all := strings.SplitAfter(strings.TrimSuffix(string(good), "\n"), "\n")
	all[len(all)-1] += "\n"
	for i := range all {
		if !strings.HasPrefix(all[i], string(checkpointStart)) { // a checkpoint less is not a record less
			check(fmt.Sprint("line removed ", i), []byte(strings.Join(slices.Delete(slices.Clone(all), i, i+1), "")), proof)
		}
		check(fmt.Sprint("line twice ", i), []byte(strings.Join(slices.Insert(slices.Clone(all), i, all[i]), "")), proof)
		if i > 0 {
			swapped := slices.Clone(all)
			swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
			check(fmt.Sprint("lines swapped ", i), []byte(strings.Join(swapped, "")), proof)
		}
	}
	entries, err := w.List(t.Context(), AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		changed := rewrite(entries, int64(i+1))
		check(fmt.Sprint("rewritten from ", i), lines(changed), ExportProof{Witness: proof.Witness})
		check(fmt.Sprint("rewritten, with the old checkpoints, from ", i), lines(changed, proof.Witness...), ExportProof{})
		// Somebody else signs it.
		other := signingKey(otherKey(t).Seed())
		var signed []Checkpoint
		for _, c := range proof.Witness {
			c.Hash = changed[c.Seq-1].Hash
			signed = append(signed, other.sign(c))
		}
		check(fmt.Sprint("rewritten and signed by somebody, from ", i), lines(changed, signed...), ExportProof{Key: proof.Key})
		check(fmt.Sprint("the same against the witness, from ", i), lines(changed, signed...), ExportProof{Witness: proof.Witness})
	}
	check("not signed at all", lines(entries), ExportProof{Key: proof.Key})
	// An ordinary checkpoint does not stand for what was taken away before it.
	root := proof.Witness[0]
	check("begins at a checkpoint", append(checkpointLine(root), lines(entries[2:])...), proof)
	root.Kind = CheckpointPruned
	check("a checkpoint made a root", append(checkpointLine(root), lines(entries[2:])...), proof)
}

func otherKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	key, _, err := OpenSigningKey(filepath.Join(t.TempDir(), "keys"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return key.private()
}

func TestACheckpointSignsWhatWasWrittenNotWhatStandsThere(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 5)
	entries, err := w.List(t.Context(), AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	w.replace(t, rewrite(entries, 3)) // in the moment before the checkpoint
	w.checkpoint(t)
	if r := w.whole(t); r.OK || r.FirstBad != 5 {
		t.Errorf("got %+v, want entry 5", r)
	}
}

func TestTheWitnessIsToldAgainWhenItIsBackAndNothingIsLost(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 2)
	w.checkpoint(t)
	if err := os.Rename(filepath.Dir(w.witness), filepath.Dir(w.witness)+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(w.witness), nil, 0o600); err != nil { // no folder can be made there
		t.Fatal(err)
	}
	w.fill(t, 2)
	var away *WitnessError
	if err := w.Checkpoint(t.Context()); !asWitness(err, &away) || away.File != w.witness {
		t.Fatalf("got %v, want the witness named", err)
	}
	if s := w.Standing(); s.Signed != 4 || s.Witnessed != 2 {
		t.Errorf("got %+v, want 4 signed and 2 witnessed", s)
	}
	if r := w.whole(t); r.OK || r.Lacks != w.witness || r.FirstBad != 0 || r.Signed != 4 {
		t.Errorf("got %+v, want a chain that is well, and a witness that cannot be read", r)
	}
	if err := os.Remove(filepath.Dir(w.witness)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Dir(w.witness)+".away", filepath.Dir(w.witness)); err != nil {
		t.Fatal(err)
	}
	w.checkpoint(t)
	if list := w.known(t); len(list) != 2 || list[1].Seq != 4 {
		t.Errorf("got %+v", list)
	}
	// Half a line, as a power failure leaves it, goes; nothing else does.
	f, err := os.OpenFile(w.witness, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"checkpoint":{"kind`)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if r := w.whole(t); !r.OK {
		t.Errorf("got %+v with half a line", r)
	}
	w.fill(t, 1)
	w.checkpoint(t)
	if list := w.known(t); len(list) != 3 || list[2].Seq != 5 {
		t.Errorf("got %+v", list)
	}
	// Somebody who takes the witness away is told of.
	if err := os.Remove(w.witness); err != nil {
		t.Fatal(err)
	}
	w.fill(t, 1)
	if err := w.Checkpoint(t.Context()); !asWitness(err, &away) {
		t.Errorf("got %v of a witness that vanished", err)
	}
}

func asWitness(err error, to **WitnessError) bool { return errors.As(err, to) }

func TestANewKeyIsNamedByTheChain(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 2)
	w.checkpoint(t)
	w.key = signingKey(otherKey(t).Seed())
	w.keep(w.Audit)
	w.fill(t, 1)
	w.checkpoint(t)
	if r := w.whole(t); r.OK || !strings.Contains(r.Problem, "does not know") {
		t.Errorf("got %+v, want the old key unknown", r)
	}
	words := fmt.Sprintf(`{"audit_key":%q,"audit_key_before":%q}`, w.key.Public(), w.known(t)[0].Key)
	w.append(t, Entry{Actor: "kernel", Action: ActionOther, Resource: announces, Metadata: []byte(words)})
	w.checkpoint(t)
	if r := w.whole(t); r.OK || r.FirstBad != 0 || r.Lacks != LacksKey || r.Signed != 4 || r.Key != w.key.Public() {
		t.Errorf("got %+v, want both keys known, and the old one missed", r)
	}
}

func TestCheckpointsAreDueByTheThousand(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.clock.add(time.Second)
	write := func(n int) {
		if err := w.st.Write(t.Context(), func(tx *store.Tx) error {
			for range n {
				if _, err := w.Append(tx, Entry{Actor: "a", Action: ActionOther}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	due := func() bool {
		select {
		case <-w.Due():
			return true
		default:
			return false
		}
	}
	if write(CheckpointEvery - 1); due() {
		t.Error("due too early")
	}
	if write(1); !due() {
		t.Error("not due")
	}
	w.checkpoint(t)
	if write(1); due() {
		t.Error("due again at once")
	}
}
