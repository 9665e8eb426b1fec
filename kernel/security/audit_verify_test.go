package security

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

func TestEveryFlippedByteOfAnExportIsFound(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 3)
	good := b.export(t)
	for i := range good {
		for _, bit := range []byte{0x01, 0x20, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= bit
			got, err := VerifyExport(bytes.NewReader(bad), ExportProof{})
			if err != nil || got.OK || got.FirstBad == 0 || got.Problem == "" {
				t.Fatalf("byte %d ^ %#x (%q): got %+v, %v, want it found", i, bit, bad[max(0, i-10):min(len(bad), i+10)], got, err)
			}
		}
	}
}

func TestEveryFlippedByteOfTheStoreIsFound(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 4)
	const victim = 2
	flip := func(column string, i int, set func(byte) byte) {
		t.Helper()
		before, err := b.List(t.Context(), AuditQuery{From: victim, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		e := before[0]
		text := map[string]string{
			"actor": e.Actor, "action": string(e.Action), "resource": e.Resource,
			"prev_hash": e.PrevHash, "hash": e.Hash, "metadata": string(e.Metadata),
		}[column]
		bad := []byte(text)
		bad[i] = set(bad[i])
		b.exec(t, `UPDATE audit SET `+column+` = CAST(? AS TEXT) WHERE seq = ?`, bad, victim)
		mustVerify(t, b.fresh(), AuditReport{FirstBad: victim})
		b.exec(t, `UPDATE audit SET `+column+` = ? WHERE seq = ?`, text, victim)
	}
	e, err := b.List(t.Context(), AuditQuery{From: victim, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for column, n := range map[string]int{
		"actor": len(e[0].Actor), "action": len(e[0].Action), "resource": len(e[0].Resource),
		"prev_hash": len(e[0].PrevHash), "hash": len(e[0].Hash), "metadata": len(e[0].Metadata),
	} {
		for i := range n {
			flip(column, i, func(c byte) byte { return c ^ 1 })
		}
	}
	for bit := range 62 {
		b.exec(t, `UPDATE audit SET timestamp = (timestamp | ?1) - (timestamp & ?1) WHERE seq = ?2`, int64(1)<<bit, victim)
		mustVerify(t, b.fresh(), AuditReport{FirstBad: victim})
		b.exec(t, `UPDATE audit SET timestamp = ? WHERE seq = ?`, e[0].Timestamp.UnixNano(), victim)
	}
	mustVerify(t, b.fresh(), AuditReport{OK: true, Entries: 4})
}

func TestDamageToTheChainIsFound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sql  string
		want int64
	}{
		"first removed":      {`DELETE FROM audit WHERE seq = 1`, 1},
		"one removed":        {`DELETE FROM audit WHERE seq = 4`, 4},
		"a piece removed":    {`DELETE FROM audit WHERE seq BETWEEN 3 AND 6`, 3},
		"removed, closed up": {`DELETE FROM audit WHERE seq = 4; UPDATE audit SET seq = seq - 1 WHERE seq > 4`, 4},
		"swapped":            {`UPDATE audit SET seq = -3 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = -3`, 3},
		"content swapped": {`UPDATE audit SET resource = (SELECT resource FROM audit WHERE seq = 4), hash = (SELECT hash FROM audit WHERE seq = 4),
			prev_hash = (SELECT prev_hash FROM audit WHERE seq = 4), timestamp = (SELECT timestamp FROM audit WHERE seq = 4),
			metadata = (SELECT metadata FROM audit WHERE seq = 4) WHERE seq = 3`, 3},
		"one put in front":  {`INSERT INTO audit SELECT 0, timestamp, actor, action, resource, prev_hash, hash, metadata FROM audit WHERE seq = 1`, 1},
		"far in front":      {`INSERT INTO audit SELECT -9223372036854775807, timestamp, actor, action, resource, prev_hash, hash, metadata FROM audit WHERE seq = 1`, 1},
		"one put behind":    {`INSERT INTO audit SELECT 9, timestamp, actor, action, resource, prev_hash, hash, metadata FROM audit WHERE seq = 8`, 9},
		"metadata edited":   {`UPDATE audit SET metadata = '{"run_id":"run-9","n":4}' WHERE seq = 5`, 5},
		"metadata broken":   {`UPDATE audit SET metadata = '{"run_id' WHERE seq = 5`, 5},
		"metadata emptied":  {`UPDATE audit SET metadata = '' WHERE seq = 5`, 5},
		"hash of a blob":    {`UPDATE audit SET hash = x'00' WHERE seq = 5`, 5},
		"text moved across": {`UPDATE audit SET actor = 'agent:run-1e', resource = substr(resource, 2) WHERE seq = 5`, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupAudit(t)
			b.fill(t, 8)
			for _, statement := range strings.Split(tc.sql, ";") {
				b.exec(t, statement)
			}
			mustVerify(t, b.fresh(), AuditReport{FirstBad: tc.want})
			got, err := VerifyExport(bytes.NewReader(b.export(t)), ExportProof{})
			if err != nil || got.OK || got.FirstBad != tc.want {
				t.Errorf("export: got %+v, %v, want entry %d", got, err, tc.want)
			}
		})
	}
}

func TestCutEndIsFoundByTheProcessThatWroteIt(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 5)
	b.exec(t, `DELETE FROM audit WHERE seq > 3`)
	mustVerify(t, b.Audit, AuditReport{FirstBad: 4})
}

func TestDamagedExportsAreToldByLine(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 4)
	lines := strings.SplitAfter(string(b.export(t)), "\n")[:4]
	for name, tc := range map[string]struct {
		text string
		want int64
	}{
		"line removed":     {lines[0] + lines[2] + lines[3], 2},
		"lines swapped":    {lines[0] + lines[2] + lines[1] + lines[3], 2},
		"line twice":       {lines[0] + lines[1] + lines[1] + lines[2], 3},
		"cut in a line":    {lines[0] + lines[1][:50], 2},
		"last newline cut": {strings.TrimSuffix(strings.Join(lines, ""), "\n"), 4},
		"begins late":      {lines[1] + lines[2], 1},
		"empty line":       {lines[0] + "\n" + lines[1], 2},
		"spaces":           {lines[0] + strings.Replace(lines[1], ":", ": ", 1), 2},
		"field twice":      {lines[0] + strings.Replace(lines[1], `{"seq":2,`, `{"seq":7,"seq":2,`, 1), 2},
		"endless line":     {lines[0] + strings.Repeat("x", maxExportLine+1), 2},
		"not an export":    {"hello\n", 1},
	} {
		got, err := VerifyExport(strings.NewReader(tc.text), ExportProof{})
		if err != nil || got.OK || got.FirstBad != tc.want {
			t.Errorf("%s: got %+v, %v, want entry %d", name, got, err, tc.want)
		}
	}
}

func TestClockStepsDoNotBreakTheChain(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{
		"an hour back": -time.Hour, "ten years on": 87600 * time.Hour, "ten years back": -87600 * time.Hour, "a second back": -time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupAudit(t)
			b.fill(t, 3)
			b.clock.add(step)
			b.fill(t, 3)
			mustVerify(t, b.Audit, AuditReport{OK: true, Entries: 6})
			b.clock.add(-step)
			mustVerify(t, b.Audit, AuditReport{OK: true, Entries: 6}) // the process knows that time went on
			b.fill(t, 3)
			mustVerify(t, b.Audit, AuditReport{OK: true, Entries: 9})
			mustVerify(t, b.fresh(), AuditReport{OK: true, Entries: 9})
		})
	}
	t.Run("frozen", func(t *testing.T) {
		t.Parallel()
		b := setupAudit(t)
		for range 4 {
			b.append(t, Entry{Actor: "a", Action: ActionOther})
		}
		mustVerify(t, b.fresh(), AuditReport{OK: true, Entries: 4})
	})
}

func TestFutureEntriesAreFlagged(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 3)
	b.clock.add(time.Hour)
	b.fill(t, 2)
	b.clock.add(-time.Hour)
	// Another process on the same machine, or another machine, knows nothing of the hour.
	got := mustVerify(t, b.fresh(), AuditReport{FirstBad: 4, Entries: 5})
	if !strings.Contains(got.Problem, "future") {
		t.Errorf("got %q, want the future told", got.Problem)
	}
	b.fill(t, 1) // says that the clock was set back
	mustVerify(t, b.fresh(), AuditReport{OK: true, Entries: 6})
}

func TestGoingBackInTimeWithoutAWordIsFound(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 2)
	c := newChain(b.clock.now())
	all, err := b.List(t.Context(), AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	forged := all[1]
	forged.Timestamp = forged.Timestamp.Add(-time.Hour)
	forged.Hash = forged.digest()
	if bad, problem := c.add(all[0]); bad != 0 {
		t.Fatal(problem)
	}
	if bad, problem := c.add(forged); bad != 2 || !strings.Contains(problem.EN, "before entry 1") {
		t.Errorf("got %d %q, want entry 2", bad, problem)
	}
}

// inOnePass is what checking entry after entry finds.
func inOnePass(t *testing.T, b *book) AuditReport {
	t.Helper()
	all, err := b.List(t.Context(), AuditQuery{From: math.MinInt64, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	c := newChain(b.clock.now())
	for _, e := range all {
		if bad, problem := c.add(e); bad != 0 {
			return c.report(bad, problem)
		}
	}
	return c.report(0, sys.Words{})
}

func TestPagesFindWhatOnePassFinds(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, b *book, seq int64){
		"nothing": func(*testing.T, *book, int64) {},
		"removed": func(t *testing.T, b *book, seq int64) { b.exec(t, `DELETE FROM audit WHERE seq = ?`, seq) },
		"all behind removed": func(t *testing.T, b *book, seq int64) {
			b.exec(t, `DELETE FROM audit WHERE seq > ?`, seq)
		},
		"altered": func(t *testing.T, b *book, seq int64) {
			b.exec(t, `UPDATE audit SET resource = 'other' WHERE seq = ?`, seq)
		},
		"replaced by one whose hash is right": func(t *testing.T, b *book, seq int64) {
			e, err := b.List(t.Context(), AuditQuery{From: seq, Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			e[0].Resource = "other"
			b.exec(t, `UPDATE audit SET resource = 'other', hash = ? WHERE seq = ?`, e[0].digest(), seq)
		},
		"put far behind": func(t *testing.T, b *book, seq int64) {
			b.exec(t, `INSERT INTO audit SELECT seq + 9000000000000000000, timestamp, actor, action, resource, prev_hash, hash, metadata FROM audit WHERE seq = ?`, seq)
		},
		"put in front": func(t *testing.T, b *book, seq int64) {
			b.exec(t, `INSERT INTO audit SELECT seq - 100, timestamp, actor, action, resource, prev_hash, hash, metadata FROM audit WHERE seq = ?`, seq)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const entries = 9
			for seq := int64(1); seq <= entries; seq++ {
				b := setupAudit(t)
				b.fill(t, 3)
				b.clock.add(time.Hour) // ahead of now until the set-back is told, see TestFutureEntriesAreFlagged
				b.fill(t, 2)
				b.clock.add(-time.Hour)
				b.fill(t, entries-5)
				damage(t, b, seq)
				want := inOnePass(t, b)
				for size := int64(1); size <= entries+1; size++ {
					c := newChain(b.clock.now())
					bad, problem, err := b.fresh().verifyPages(t.Context(), c, size)
					if err != nil {
						t.Fatal(err)
					}
					if got := c.report(bad, problem); !reflect.DeepEqual(got, want) {
						t.Errorf("entry %d, pages of %d: got %+v, want %+v", seq, size, got, want)
					}
				}
			}
		})
	}
}

func TestFutureIsFlaggedAcrossPages(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 3)
	b.clock.add(time.Hour)
	b.fill(t, 4)
	b.clock.add(-time.Hour)
	for size := int64(1); size <= 8; size++ {
		c := newChain(b.clock.now())
		bad, problem, err := b.fresh().verifyPages(t.Context(), c, size)
		if got := c.report(bad, problem); err != nil || got.FirstBad != 4 || got.Entries != 7 {
			t.Errorf("pages of %d: got %+v, %v, want entry 4 dated in the future", size, got, err)
		}
	}
}

func TestLongChainIsVerifiedAcrossPages(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	const n = 2*verifyPage + 7
	err := b.st.Write(t.Context(), func(tx *store.Tx) error {
		for i := range n {
			if _, err := b.Append(tx, Entry{Actor: "a", Action: ActionOther, Resource: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mustVerify(t, b.fresh(), AuditReport{OK: true, Entries: n})
	b.exec(t, `DELETE FROM audit WHERE seq = ?`, verifyPage+1) // the first of the second page
	mustVerify(t, b.fresh(), AuditReport{FirstBad: verifyPage + 1})
}

// The guardian verifies while the kernel may be told to end.
func TestVerifyingEndsWhenItIsCanceledAtAnyMoment(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 200)
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i)*20*time.Microsecond, cancel)
		if r, err := b.Verify(ctx); err == nil && !r.OK {
			t.Errorf("got %+v, want a good chain or that it was canceled", r)
		}
		cancel()
	}
}
