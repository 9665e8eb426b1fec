package security

import (
	"bytes"
	"crypto/ed25519"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// writeCorpus makes testdata/audit anew: `go test ./kernel/security -run AuditCorpus -corpus`.
var writeCorpus = flag.Bool("corpus", false, "write the exports in testdata/audit anew")

// corpusKey signs the exports in testdata/audit.
func corpusKey() *SigningKey {
	return signingKey(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

const corpus = "testdata/audit"

func corpusFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func corpusWitness(t testing.TB) []Checkpoint {
	t.Helper()
	list, err := ReadWitness(bytes.NewReader(corpusFile(t, "witness.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTheAuditCorpusIsVerifiedAsItsNamesSay(t *testing.T) {
	t.Parallel()
	if *writeCorpus {
		w := setupWitnessed(t)
		w.key = corpusKey()
		w.keep(w.Audit)
		w.fill(t, 3)
		w.checkpoint(t)
		w.fill(t, 2)
		w.checkpoint(t)
		whole := w.export(t)
		w.prune(t, 3)
		pruned := w.export(t)
		all := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
		witness, err := os.ReadFile(w.witness)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{
			"good-whole.jsonl": whole, "good-pruned.jsonl": pruned, "witness.jsonl": witness,
			"bad-cut.jsonl":      whole[:len(whole)/2],
			"bad-unended.jsonl":  bytes.Join(all[:len(all)-1], nil),
			"bad-removed.jsonl":  bytes.Join(slices.Delete(slices.Clone(all), 1, 2), nil),
			"bad-rootless.jsonl": pruned[bytes.IndexByte(pruned, '\n')+1:],
			"bad-spaces.jsonl":   bytes.Replace(whole, []byte(`"seq":2`), []byte(`"seq": 2`), 1),
			"bad-twice.jsonl":    bytes.Replace(whole, []byte(`{"seq":2`), []byte(`{"seq":9,"seq":2`), 1),
			"bad-empty.jsonl":    []byte("\n"),
			"bad-deep.jsonl":     append(bytes.Repeat([]byte("["), 5000), '\n'),
			"bad-huge.jsonl":     []byte("{\"checkpoint\":{\"kind\":\"pruned\",\"seq\":9223372036854775807}}\n"),
		} {
			if err := os.WriteFile(filepath.Join(corpus, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(corpus)
	if err != nil || len(entries) < 10 {
		t.Fatalf("got %d files, %v", len(entries), err)
	}
	for _, e := range entries {
		good := bytes.HasPrefix([]byte(e.Name()), []byte("good-"))
		if !good && !bytes.HasPrefix([]byte(e.Name()), []byte("bad-")) {
			continue
		}
		r, err := VerifyExport(bytes.NewReader(corpusFile(t, e.Name())), ExportProof{Key: corpusKey().Public(), Witness: corpusWitness(t)[:3]})
		if err != nil || r.OK != good {
			t.Errorf("%s: got %+v, %v", e.Name(), r, err)
		}
	}
}

// entriesOf are the lines of an export that are no checkpoints.
func entriesOf(export []byte) (out [][]byte) {
	for line := range bytes.Lines(export) {
		if !bytes.HasPrefix(line, checkpointStart) {
			out = append(out, line)
		}
	}
	return out
}

// FuzzVerifyExport feeds a verification what anybody may hand in. It must end with
// a verdict, and what it calls good must hold every record that the witness knows,
// byte for byte; only behind them may something else follow.
func FuzzVerifyExport(f *testing.F) {
	entries, err := os.ReadDir(corpus)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		f.Add(corpusFile(f, e.Name()))
	}
	proof := ExportProof{Key: corpusKey().Public(), Witness: corpusWitness(f)[:3]}
	good := [][][]byte{entriesOf(corpusFile(f, "good-whole.jsonl")), entriesOf(corpusFile(f, "good-pruned.jsonl"))}
	good[1] = good[1][:2] // up to what the witness knows
	f.Fuzz(func(t *testing.T, export []byte) {
		for _, p := range []ExportProof{{}, {Key: proof.Key}, proof} {
			r, err := VerifyExport(bytes.NewReader(export), p)
			switch {
			case err != nil:
				t.Fatalf("got %v, want a verdict", err)
			case !r.OK && (r.Problem == "" || r.ProblemKO == ""):
				t.Fatalf("got %+v, want to hear why", r)
			case !r.OK || len(p.Witness) == 0:
				continue
			}
			got := entriesOf(export)
			if !slices.ContainsFunc(good, func(want [][]byte) bool {
				return len(got) >= len(want) && slices.EqualFunc(got[:len(want)], want, bytes.Equal)
			}) {
				t.Fatalf("got %+v for\n%s", r, export)
			}
		}
	})
}
