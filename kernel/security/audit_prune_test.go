package security

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

func (w *witnessed) prune(t testing.TB, through int64) {
	t.Helper()
	if err := w.Prune(t.Context(), through, Entry{Actor: "kernel", Action: ActionOther, Resource: "audit"}); err != nil {
		t.Fatal(err)
	}
}

func (w *witnessed) setRoot(t testing.TB, line []byte) {
	t.Helper()
	err := w.st.Write(t.Context(), func(tx *store.Tx) error {
		if line == nil {
			return w.st.Remove(tx, rootKey)
		}
		return w.st.Put(tx, rootKey, string(line))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAPrunedChainIsWholeAndGoesOn(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 6)
	w.checkpoint(t)
	w.fill(t, 6)
	fourth, err := w.List(t.Context(), AuditQuery{From: 4, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := w.CutBefore(t.Context(), fourth[0].Timestamp, 0)
	if err != nil || cut.Through != 3 || cut.Entries != 3 || cut.Left != 9 || cut.Bytes < 300 || !cut.Until.Before(fourth[0].Timestamp) {
		t.Fatalf("got %+v, %v", cut, err)
	}
	w.prune(t, cut.Through)
	if r := w.whole(t); !r.OK || r.Pruned != 3 || r.Entries != 10 || r.Last != 13 || r.Signed != 13 || r.Witnessed != 13 {
		t.Errorf("got %+v after the first pruning", r)
	}
	w.fill(t, 2)
	w.prune(t, 8)
	w.Audit = w.keep(NewAudit(w.st, w.clock.now)) // another process goes on
	w.fill(t, 2)
	w.checkpoint(t)
	if r := w.whole(t); !r.OK || r.Pruned != 8 || r.Entries != 10 || r.Last != 18 || r.Witnessed != 18 {
		t.Errorf("got %+v after the second pruning", r)
	}
	root, err := w.root(t.Context())
	if err != nil || root.Count != 8 || root.RootSeq != 3 || root.Key != w.key.Public() {
		t.Errorf("got the root %+v, %v, want one that stands for 8 entries and follows that of 3", root, err)
	}
	// An export is checked without anything of the home.
	good := w.export(t)
	for name, p := range map[string]ExportProof{"nothing": {}, "the key": {Key: w.key.Public()}, "the witness": {Witness: w.known(t)}} {
		if r, err := VerifyExport(bytes.NewReader(good), p); err != nil || !r.OK || r.Pruned != 8 || r.Entries != 10 {
			t.Errorf("an export, compared with %s: got %+v, %v", name, r, err)
		}
	}
	// The file beside the database holds no checkpoint of what is gone.
	list, _, err := readCheckpoints(w.file, true)
	if err != nil || list[0].Seq < 8 {
		t.Errorf("got %+v, %v, want nothing before entry 8", list[0], err)
	}
	// Another machine's backup ends where this chain was pruned to, or further on.
	for seq, hash := range map[int64]string{8: root.Hash, 18: w.head.hash} {
		if ok, err := w.Contains(t.Context(), seq, hash); err != nil || !ok {
			t.Errorf("got %v, %v for entry %d, want it known", ok, err, seq)
		}
	}
	if ok, err := w.Contains(t.Context(), 8, w.head.hash); err != nil || ok {
		t.Errorf("got %v, %v for another hash, want it unknown", ok, err)
	}
}

func TestNoMutationOfAPrunedChainGetsPastAWitness(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 6)
	w.checkpoint(t)
	unpruned, err := os.ReadFile(w.path + copyOf(t, w))
	if err != nil {
		t.Fatal(err)
	}
	w.fill(t, 6)
	w.prune(t, 5)
	pruned, err := os.ReadFile(w.path + copyOf2(t, w))
	if err != nil {
		t.Fatal(err)
	}
	w.fill(t, 3)
	w.checkpoint(t)
	entries, err := w.List(t.Context(), AuditQuery{})
	if err != nil || entries[0].Seq != 6 || len(entries) != 11 {
		t.Fatalf("got %d entries, %v", len(entries), err)
	}
	if r := w.whole(t); !r.OK {
		t.Fatalf("got %+v of an untouched chain", r)
	}
	tried := w.mutateAll(t, entries)

	root, err := w.root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	line := checkpointLine(root)
	found := func(name string) {
		t.Helper()
		tried++
		if r := w.whole(t); r.OK || r.Problem == "" || r.ProblemKO == "" {
			t.Errorf("%s: got %+v, want it found", name, r)
		}
	}
	for i := range line {
		bad := bytes.Clone(line)
		bad[i] ^= 1
		w.setRoot(t, bad)
		found(fmt.Sprint("byte of the root ", i))
	}
	w.setRoot(t, nil)
	found("no root")
	other := signingKey(otherKey(t).Seed())
	w.setRoot(t, checkpointLine(other.sign(root)))
	found("signed by somebody")
	// Somebody with the key, but without the witness, cuts more off.
	later := root
	later.Seq, later.Hash, later.Count, later.Time = 9, entries[3].Hash, 9, root.Time.Add(time.Hour)
	w.exec(t, `DELETE FROM audit WHERE seq <= 9`)
	w.setRoot(t, checkpointLine(w.key.sign(later)))
	found("cut off further")
	w.replace(t, entries)
	w.setRoot(t, line)
	if r := w.whole(t); !r.OK {
		t.Fatalf("got %+v, want it mended", r)
	}
	t.Logf("%d mutations of a pruned store, all found", tried)

	// The whole database is put back, to a copy from before the pruning and to one from after it.
	for name, old := range map[string][]byte{"before": unpruned, "after": pruned} {
		if err := w.st.Close(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{w.path, w.path + "-wal", w.path + "-shm"} {
			_ = os.Remove(path)
		}
		if err := os.WriteFile(w.path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(w.file)
		w.Audit = w.open(t)
		found("a copy from " + name)
		w.fill(t, 20)
		w.checkpoint(t)
		found("a copy from " + name + " that went on")
	}
}

// copyOf2 is copyOf beside another copy.
func copyOf2(t testing.TB, w *witnessed) string {
	t.Helper()
	if err := os.Rename(w.path+".old", w.path+".older"); err != nil {
		t.Fatal(err)
	}
	return copyOf(t, w)
}

func TestNoMutationOfAPrunedExportGetsPastAKeyOrAWitness(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 4)
	w.checkpoint(t)
	w.prune(t, 3)
	good, known := w.export(t), w.known(t)
	proof := ExportProof{Key: w.key.Public(), Witness: known}
	check := func(name string, bad []byte, proof ExportProof) {
		t.Helper()
		if r, err := VerifyExport(bytes.NewReader(bad), proof); err != nil || r.OK || r.FirstBad == 0 || r.ProblemKO == "" {
			t.Fatalf("%s: got %+v, %v, want it found", name, r, err)
		}
	}
	if r, err := VerifyExport(bytes.NewReader(good), proof); err != nil || !r.OK || r.Pruned != 3 || r.Entries != 2 || r.Witnessed != 5 {
		t.Fatalf("got %+v, %v", r, err)
	}
	newest := checkpointLine(known[len(known)-1])
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		check(fmt.Sprint("byte ", i), bad, proof)
		if !bytes.HasPrefix(good[i:], newest) { // without its last line no record is missing
			check(fmt.Sprint("cut at byte ", i), good[:i], proof)
		}
	}
	entries, err := w.List(t.Context(), AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	root, err := w.root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	later := root
	later.Seq, later.Hash, later.Count, later.Time = 4, entries[0].Hash, 4, root.Time.Add(time.Minute)
	cut := slices.Concat(checkpointLine(w.key.sign(later)), lines(entries[1:], known...))
	check("cut further with the key", cut, ExportProof{Witness: known})
	other := signingKey(otherKey(t).Seed())
	check("cut further by somebody", slices.Concat(checkpointLine(other.sign(later)), lines(entries[1:], known...)), ExportProof{Key: proof.Key})
	check("without its root", lines(entries, known...), ExportProof{})
}

func TestWhatAnOlderKeySignedIsKnownAlsoWhenItsNameWasPruned(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	before := w.key.Public()
	w.append(t, Entry{Actor: "kernel", Action: ActionOther, Resource: announces, Metadata: fmt.Appendf(nil, `{"audit_key":%q}`, before)})
	w.fill(t, 4)
	w.checkpoint(t)
	w.prune(t, 3) // the entry that named the key is gone
	w.fill(t, 1)
	w.checkpoint(t)
	w.key = signingKey(otherKey(t).Seed())
	w.keep(w.Audit)
	w.append(t, Entry{Actor: "kernel", Action: ActionOther, Resource: announces, Metadata: fmt.Appendf(nil, `{"audit_key":%q,"audit_key_before":%q}`, w.key.Public(), before)})
	w.checkpoint(t)
	if r := w.whole(t); r.OK || r.FirstBad != 0 || r.Lacks != LacksKey {
		t.Errorf("got %+v, want both keys known, and the old one missed", r)
	}
	for name, p := range map[string]ExportProof{"nothing": {}, "the new key": {Key: w.key.Public()}, "the witness": {Witness: w.known(t)}} {
		if r, err := VerifyExport(bytes.NewReader(w.export(t)), p); err != nil || !r.OK {
			t.Errorf("compared with %s: got %+v, %v", name, r, err)
		}
	}
	if r, err := VerifyExport(bytes.NewReader(w.export(t)), ExportProof{Key: before}); err != nil || r.OK {
		t.Errorf("got %+v, %v for a key that did not sign the newest, want it found", r, err)
	}
}

func TestADamagedChainAndOneWithoutItsWitnessAreNotPruned(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 6)
	w.checkpoint(t)
	words := Entry{Actor: "kernel", Action: ActionOther}
	for _, through := range []int64{0, -1, 6, 7} {
		if err := w.Prune(t.Context(), through, words); sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("through %d: got %v, want it refused", through, err)
		}
	}
	dir := filepath.Dir(w.witness)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.fill(t, 1)
	if err := w.Prune(t.Context(), 3, words); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v, want it refused without the witness", err)
	}
	if err := errors.Join(os.Remove(dir), os.Rename(dir+".away", dir)); err != nil {
		t.Fatal(err)
	}
	w.exec(t, `UPDATE audit SET actor = 'nobody' WHERE seq = 2`)
	if err := w.Prune(t.Context(), 3, words); sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "Entry 2 was altered") {
		t.Errorf("got %v, want the damage kept as evidence", err)
	}
	if list, err := w.List(t.Context(), AuditQuery{}); err != nil || len(list) != 7 {
		t.Errorf("got %d entries, %v, want all 7", len(list), err)
	}
}
