package security

import (
	"bytes"
	"context"
	"testing"
)

func TestAnExportThatWasCutAtItsEndSaysSo(t *testing.T) {
	t.Parallel()
	w := setupWitnessed(t)
	w.fill(t, 3)
	w.checkpoint(t)
	early := w.export(t)
	w.fill(t, 2)
	w.checkpoint(t)
	good := w.export(t)
	all := bytes.SplitAfter(bytes.TrimSuffix(good, []byte("\n")), []byte("\n"))
	all[len(all)-1] = append(all[len(all)-1], '\n')
	check := func(name string, text []byte, ok bool) {
		t.Helper()
		for _, p := range []ExportProof{{}, {Key: w.key.Public()}} {
			r, err := VerifyExport(bytes.NewReader(text), p)
			if err != nil || r.OK != ok || !ok && (r.FirstBad == 0 || r.ProblemKO == "" || r.ProblemKO == r.Problem) {
				t.Errorf("%s: got %+v, %v, want ok %v", name, r, err, ok)
			}
		}
	}
	check("whole", good, true)
	check("an earlier one", early, true)
	for i := range all[1:] {
		check("cut behind a line", bytes.Join(all[:i+1], nil), false)
	}
	last := all[len(all)-1]
	check("cut, with the last line put behind it", append(bytes.Join(all[:3], nil), last...), false)
	check("more behind its end", append(bytes.Clone(good), all[0]...), false)
	unsigned := NewAudit(w.st, w.clock.now)
	var out bytes.Buffer
	if err := unsigned.ExportTo(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	bare := bytes.SplitAfter(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	check("signed, with an unsigned end", append(bytes.Join(all[:len(all)-1], nil), append(bare[len(bare)-1], '\n')...), false)
	if r, err := VerifyExport(bytes.NewReader(out.Bytes()), ExportProof{}); err != nil || !r.OK || r.Signed != 0 {
		t.Errorf("nothing signed: got %+v, %v, want it whole, and no word of a signature", r, err)
	}
}
