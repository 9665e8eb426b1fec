package security

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel/store"
)

// again is how another process, which begins now, sees the chain.
func (w *witnessed) again() *Audit { return w.keep(NewAudit(w.st, w.clock.now)) }

func TestEvidenceThatIsGoneIsReportedForGood(t *testing.T) {
	t.Parallel()
	remove := func(t *testing.T, file string) {
		t.Helper()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	empty := func(t *testing.T, file string) {
		t.Helper()
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
	shorten := func(t *testing.T, file string) { // an older copy of itself
		t.Helper()
		all, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, all[:strings.IndexByte(string(all), '\n')+1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := func(t *testing.T, file string) {
		t.Helper()
		remove(t, file)
		if err := os.Mkdir(file, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		spoil func(*testing.T, *witnessed)
		want  string
	}{
		"witness removed":      {func(t *testing.T, w *witnessed) { remove(t, w.witness) }, "is missing"},
		"witness emptied":      {func(t *testing.T, w *witnessed) { empty(t, w.witness) }, "does not know entry 4"},
		"witness put back":     {func(t *testing.T, w *witnessed) { shorten(t, w.witness) }, "does not know entry 4"},
		"witness replaced":     {func(t *testing.T, w *witnessed) { folder(t, w.witness) }, "cannot be read"},
		"its folder removed":   {func(t *testing.T, w *witnessed) { _ = os.RemoveAll(filepath.Dir(w.witness)) }, "is missing"},
		"checkpoints removed":  {func(t *testing.T, w *witnessed) { remove(t, w.file) }, "The file with the signed checkpoints"},
		"checkpoints emptied":  {func(t *testing.T, w *witnessed) { empty(t, w.file) }, "does not have the one of entry 4"},
		"checkpoints put back": {func(t *testing.T, w *witnessed) { shorten(t, w.file) }, "does not have the one of entry 4"},
		"both removed":         {func(t *testing.T, w *witnessed) { remove(t, w.file); remove(t, w.witness) }, "The file with the signed checkpoints"},
		"another key":          {func(t *testing.T, w *witnessed) { w.key = signingKey(otherKey(t).Seed()) }, "key"},
		"no key":               {func(_ *testing.T, w *witnessed) { w.key = nil }, "cannot be signed"},
		"witness switched off, then removed": {func(t *testing.T, w *witnessed) {
			remove(t, w.witness)
			w.witness = ""
		}, "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setupWitnessed(t)
			w.fill(t, 2)
			w.checkpoint(t)
			w.fill(t, 2)
			w.checkpoint(t)
			if r := w.whole(t); !r.OK || r.Lacks != "" || r.Unsigned != nil || len(r.Found) != 0 {
				t.Fatalf("got %+v of what is whole", r)
			}
			c.spoil(t, w)
			for round := range 3 { // each with a start that signs on
				r := w.whole(t)
				if r.OK || !strings.Contains(r.Problem, c.want) || r.ProblemKO == "" || r.Judged().Verdict == "Audit intact" {
					t.Errorf("round %d: got %+v, want %q", round, r, c.want)
				}
				w.Audit = w.again()
				w.fill(t, 2)
				_ = w.Checkpoint(t.Context()) // an error where the witness is away
			}
			if w.key == nil {
				return
			}
			// The person begins anew, and that is told for good.
			if _, err := w.Renew(t.Context(), w.dir, func(r AuditReport) Entry {
				return Entry{Actor: "person:test", Action: ActionConfigChange, Resource: "audit renewed"}
			}); err != nil {
				t.Fatal(err)
			}
			w.fill(t, 1)
			w.checkpoint(t)
			r := w.whole(t)
			if !r.OK || len(r.Renewals) != 1 || r.Renewals[0].After != 10 || len(r.Found) == 0 || r.Signed != 12 || (w.witness != "" && r.Witnessed != 12) || r.Judged().Verdict == "Audit intact" {
				t.Errorf("begun anew: got %+v", r)
			}
		})
	}
}

func TestWhatIsFoundBehindTheLastCheckpointIsNeverSignedAsOnesOwn(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 4)
	w.checkpoint(t)
	// Somebody writes a row with a right hash behind the end, while nobody runs.
	forge := func() {
		t.Helper()
		all, err := w.List(t.Context(), AuditQuery{})
		if err != nil {
			t.Fatal(err)
		}
		e := all[len(all)-1]
		e.Seq, e.PrevHash, e.Resource = e.Seq+1, e.Hash, "approval:forged"
		e.Hash = e.digest()
		w.replace(t, append(all, e))
	}
	forge()
	if r := w.whole(t); !r.OK || r.Unsigned == nil || *r.Unsigned != (AuditSpan{5, 5}) {
		t.Errorf("before anybody signs: got %+v, want entry 5 unsigned", r)
	}
	w.Audit = w.again()
	w.fill(t, 1)
	w.checkpoint(t)
	w.Audit = w.again()
	w.fill(t, 1)
	w.checkpoint(t)
	want := func(when string, spans ...AuditSpan) {
		t.Helper()
		r := w.whole(t)
		if !r.OK || len(r.Found) != len(spans) || r.Unsigned != nil || !strings.Contains(r.Judged().Verdict, "found unsigned") {
			t.Fatalf("%s: got %+v, want %v", when, r, spans)
		}
		for i, s := range spans {
			if r.Found[i] != s {
				t.Errorf("%s: got %v, want %v", when, r.Found, spans)
			}
		}
	}
	want("signed twice since", AuditSpan{5, 5})
	// Also while this process runs: its next write finds the place taken and goes on behind it.
	forge()
	_ = w.st.Write(t.Context(), func(tx *store.Tx) error {
		_, err := w.Append(tx, Entry{Actor: "a", Action: ActionOther})
		return err
	})
	w.fill(t, 1)
	w.checkpoint(t)
	want("while it runs", AuditSpan{5, 5}, AuditSpan{8, 8})
	// An export says the same, without a home; nobody takes it out of a checkpoint.
	all, err := w.List(t.Context(), AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	known := w.known(t)
	r, err := VerifyExport(strings.NewReader(string(w.ended(t, lines(all, known...)))), ExportProof{Key: w.key.Public()})
	if err != nil || !r.OK || len(r.Found) != 2 {
		t.Errorf("export: got %+v, %v", r, err)
	}
	for _, c := range known {
		if len(c.Found) == 0 {
			continue
		}
		if c.Found = nil; c.Genuine() {
			t.Error("a checkpoint is genuine without what it only found")
		}
	}
	// What is taken out of the database is missed.
	w.exec(t, `DELETE FROM kv WHERE key = 'audit_kept'`)
	w.append(t, Entry{Actor: "kernel", Action: ActionOther, Resource: announces, Metadata: []byte(`{"audit_signed":4}`)})
	for range 2 {
		if r := w.whole(t); r.OK || r.Lacks != LacksMemory {
			t.Errorf("memory taken out: got %+v", r)
		}
		w.Audit = w.again()
		w.fill(t, 1)
		w.checkpoint(t)
	}
}

func TestWhoCanWriteTheStoreCannotHaveItForgetItsEvidence(t *testing.T) {
	t.Parallel()
	memory := func(t *testing.T, w *witnessed) string {
		t.Helper()
		text, _, err := w.st.Get(t.Context(), keptKey)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	put := func(t *testing.T, w *witnessed, text string) {
		t.Helper()
		if err := w.st.Write(t.Context(), func(tx *store.Tx) error { return w.st.Put(tx, keptKey, text) }); err != nil {
			t.Fatal(err)
		}
	}
	start := func(t *testing.T, w *witnessed) {
		t.Helper()
		w.Audit = w.again()
		err := w.st.Write(t.Context(), func(tx *store.Tx) error {
			words, err := w.StartWords(tx)
			if err != nil {
				return err
			}
			raw, err := json.Marshal(words)
			if err != nil {
				return err
			}
			_, err = w.Append(tx, Entry{Actor: "kernel", Action: ActionOther, Resource: announces, Metadata: raw})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, spoil := range map[string]func(t *testing.T, w *witnessed, older string){
		"taken out":    func(t *testing.T, w *witnessed, _ string) { w.exec(t, `DELETE FROM kv WHERE key = 'audit_kept'`) },
		"emptied":      func(t *testing.T, w *witnessed, _ string) { put(t, w, "") },
		"an older one": put,
		"without its witnesses": func(t *testing.T, w *witnessed, _ string) {
			put(t, w, strings.Replace(memory(t, w), `"witnesses":{`, `"witnesses":{},"was":{`, 1))
		},
		"signed by somebody else": func(t *testing.T, w *witnessed, _ string) {
			k, _, _ := parseKept(memory(t, w))
			k.Witnesses = nil
			text, err := k.line(signingKey(otherKey(t).Seed()))
			if err != nil {
				t.Fatal(err)
			}
			put(t, w, text)
		},
	} {
		for _, after := range []string{"the first start", "the second"} {
			for _, running := range []bool{false, true} {
				if name == "an older one" && after == "the first start" && !running {
					continue // no start names a newer one yet: it is as after a crash before the last was remembered
				}
				t.Run(fmt.Sprintf("%s after %s, running %v", name, after, running), func(t *testing.T) {
					t.Parallel()
					w := setupWitnessed(t)
					start(t, w)
					w.fill(t, 1)
					w.checkpoint(t)
					older := memory(t, w)
					w.fill(t, 1)
					w.checkpoint(t)
					if after != "the first start" {
						start(t, w)
						w.checkpoint(t)
					}
					if r := w.whole(t); !r.OK || len(r.Found) != 0 {
						t.Fatalf("got %+v of what is whole", r)
					}
					spoil(t, w, older)
					var kept []byte // of the witness
					if name == "an older one" {
						kept = checkpointLine(w.known(t)[0])
					}
					if err := errors.Join(os.Remove(w.witness), os.WriteFile(w.witness, kept, 0o600)); err != nil {
						t.Fatal(err)
					}
					if running { // it signs on before anybody verifies
						w.fill(t, 1)
						_ = w.Checkpoint(t.Context())
					} else {
						start(t, w)
						_ = w.Checkpoint(t.Context())
					}
					for round := range 3 {
						if r := w.whole(t); r.OK || r.Lacks == "" || r.Judged().Verdict == "Audit intact" {
							t.Errorf("round %d: got %+v, want it missed", round, r)
						}
						if !running || round > 0 {
							start(t, w)
						}
						w.fill(t, 1)
						_ = w.Checkpoint(t.Context())
					}
				})
			}
		}
	}
	t.Run("a home of an earlier release", func(t *testing.T) {
		t.Parallel()
		w := setupWitnessed(t)
		w.fill(t, 2)
		w.checkpoint(t)
		w.exec(t, `DELETE FROM kv WHERE key = 'audit_kept'`) // it remembered nothing yet
		for range 2 {
			start(t, w)
			w.checkpoint(t)
			if r := w.whole(t); !r.OK || len(r.Found) != 0 {
				t.Errorf("got %+v, want it intact", r)
			}
		}
	})
}
