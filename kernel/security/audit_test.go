package security

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// book is everything an audit test needs.
type book struct {
	*Audit
	st    *store.Store
	clock *fakeClock
	path  string
}

func setupAudit(t testing.TB) *book {
	t.Helper()
	b := &book{path: filepath.Join(t.TempDir(), "oxios.db"), clock: newFakeClock()}
	b.st = openStore(t, b.path)
	b.Audit = NewAudit(b.st, b.clock.now)
	return b
}

func (b *book) append(t testing.TB, e Entry) Entry {
	t.Helper()
	var out Entry
	err := b.st.Write(context.Background(), func(tx *store.Tx) (err error) {
		out, err = b.Append(tx, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fill writes n entries, a second apart.
func (b *book) fill(t testing.TB, n int) {
	t.Helper()
	for i := range n {
		b.clock.add(time.Second)
		b.append(t, Entry{
			Actor: "agent:run-1", Action: ActionToolCall, Resource: fmt.Sprintf("exec.command 파일 %d <&>", i),
			Metadata: json.RawMessage(fmt.Sprintf(`{"run_id": "run-%d", "n": %d}`, i%2, i)),
		})
	}
}

func (b *book) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	err := b.st.Write(context.Background(), func(tx *store.Tx) error { _, err := tx.Exec(query, args...); return err })
	if err != nil {
		t.Fatal(err)
	}
}

func (b *book) export(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := b.ExportTo(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fresh is the chain as another process sees it.
func (b *book) fresh() *Audit { return NewAudit(b.st, b.clock.now) }

func mustVerify(t testing.TB, a *Audit, want AuditReport) AuditReport {
	t.Helper()
	got, err := a.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.OK != want.OK || got.FirstBad != want.FirstBad || (want.Entries != 0 && got.Entries != want.Entries) || (got.Problem == "") != got.OK {
		t.Errorf("Verify: got %+v, want %+v", got, want)
	}
	return got
}

func TestChainContinuesAndVerifies(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	if got := mustVerify(t, b.Audit, AuditReport{OK: true}); got.Head != Genesis || got.Entries != 0 {
		t.Errorf("empty: got %+v", got)
	}
	first := b.append(t, Entry{Actor: "person:window", Action: ActionConfigChange, Resource: "mode"})
	if first.Seq != 1 || first.PrevHash != Genesis || len(first.Hash) != 64 || string(first.Metadata) != "{}" {
		t.Errorf("first: got %+v", first)
	}
	b.fill(t, 5)
	if err := b.st.Close(); err != nil {
		t.Fatal(err)
	}
	b.st = openStore(t, b.path)
	b.Audit = b.fresh()
	b.fill(t, 5)
	report := mustVerify(t, b.Audit, AuditReport{OK: true, Entries: 11})
	all, err := b.List(t.Context(), AuditQuery{})
	if err != nil || len(all) != 11 || all[10].Hash != report.Head {
		t.Fatalf("got %d entries, %v, head %s", len(all), err, report.Head)
	}
	exported, err := VerifyExport(bytes.NewReader(b.export(t)), ExportProof{})
	if want := unsigned(report); err != nil || !reflect.DeepEqual(exported, want) {
		t.Errorf("export: got %+v, %v, want %+v", exported, err, want)
	}
}

// unsigned is what the export of a whole chain without checkpoints says.
func unsigned(r AuditReport) AuditReport {
	r.Unsigned = &AuditSpan{1, r.Last}
	return r.Judged()
}

// The hash of a known entry: whoever writes another verifier can check it here.
func TestHashOfAKnownEntry(t *testing.T) {
	t.Parallel()
	e := Entry{
		Seq: 1, Timestamp: time.Unix(1767323045, 678901234).UTC(), Actor: "agent:a", Action: ActionToolCall,
		Resource: "exec.command", PrevHash: Genesis, Metadata: json.RawMessage(`{"run_id":"r"}`),
	}
	const want = "7d2b0c06dc5643d9769ceb308d5cc0b04298378de6d40c16476895e52093089d"
	if got := e.digest(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	moved := e
	moved.Actor, moved.Resource = "agent:", "aexec.command"
	if moved.digest() == want {
		t.Error("text moved from one field to another and the hash is the same")
	}
}

func TestEntriesThatAreRolledBackLeaveNoGap(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 2)
	no := errors.New("no")
	for range 3 {
		err := b.st.Write(t.Context(), func(tx *store.Tx) error {
			for range 3 {
				if _, err := b.Append(tx, Entry{Actor: "a", Action: ActionOther}); err != nil {
					return err
				}
			}
			return no
		})
		if !errors.Is(err, no) {
			t.Fatal(err)
		}
		b.fill(t, 1)
	}
	mustVerify(t, b.Audit, AuditReport{OK: true, Entries: 5})
}

func TestConcurrentAppendsMakeOneChain(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	no := errors.New("no")
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 40 {
				err := b.st.Write(context.Background(), func(tx *store.Tx) error {
					for range 1 + i%3 {
						if _, err := b.Append(tx, Entry{Actor: fmt.Sprint("w", w), Action: ActionOther}); err != nil {
							return err
						}
					}
					if (w+i)%5 == 0 {
						return no // in the same commit as others who succeed
					}
					return nil
				})
				if (err != nil) != ((w+i)%5 == 0) {
					t.Errorf("writer %d, write %d: got %v", w, i, err)
				}
				if i%10 == 0 {
					mustVerify(t, b.Audit, AuditReport{OK: true})
				}
			}
		})
	}
	wg.Wait()
	want := int64(0)
	for w := range 16 {
		for i := range 40 {
			if (w+i)%5 != 0 {
				want += int64(1 + i%3)
			}
		}
	}
	mustVerify(t, b.Audit, AuditReport{OK: true, Entries: want})
}

func TestUnfitEntriesAreRefused(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	for name, tc := range map[string]struct {
		e    Entry
		want sys.Code
	}{
		"no actor":  {Entry{Action: ActionOther}, sys.CodeInternal},
		"no action": {Entry{Actor: "a"}, sys.CodeInternal},
		"array":     {Entry{Actor: "a", Action: ActionOther, Metadata: json.RawMessage(`[1]`)}, sys.CodeInternal},
		"not JSON":  {Entry{Actor: "a", Action: ActionOther, Metadata: json.RawMessage(`{"a":`)}, sys.CodeInternal},
		"too large": {Entry{Actor: "a", Action: ActionOther, Metadata: json.RawMessage(`{"a":"` + strings.Repeat("x", maxAuditMetadata) + `"}`)}, sys.CodeTooLarge},
	} {
		err := b.st.Write(t.Context(), func(tx *store.Tx) error { _, err := b.Append(tx, tc.e); return err })
		wantCode(t, name, err, tc.want)
	}
	mustVerify(t, b.Audit, AuditReport{OK: true})
}

func TestLongAndBrokenTextIsKeptApart(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	long := strings.Repeat("가", maxAuditResource)
	one := b.append(t, Entry{Actor: strings.Repeat("a", 1000), Action: ActionOther, Resource: long + "1"})
	two := b.append(t, Entry{Actor: "a\x00b\xff", Action: ActionOther, Resource: long + "2", Metadata: json.RawMessage("{\"p\":\"\xb0\xa1\"}")})
	if len(one.Resource) > maxAuditResource || len(one.Actor) > maxAuditActor || one.Resource == two.Resource {
		t.Errorf("got %d and %d bytes, equal %v", len(one.Resource), len(one.Actor), one.Resource == two.Resource)
	}
	if want := "a\x00b\\xff"; two.Actor != want {
		t.Errorf("got actor %q, want %q", two.Actor, want)
	}
	report := mustVerify(t, b.fresh(), AuditReport{OK: true, Entries: 2})
	if got, err := VerifyExport(bytes.NewReader(b.export(t)), ExportProof{}); err != nil || !reflect.DeepEqual(got, unsigned(report)) {
		t.Errorf("export: got %+v, %v, want %+v", got, err, unsigned(report))
	}
}

func TestListIsNarrowedAndOrdered(t *testing.T) {
	t.Parallel()
	b := setupAudit(t)
	b.fill(t, 6)
	b.append(t, Entry{Actor: "a", Action: ActionAccessDenied, Metadata: json.RawMessage(`{"run_id":"run-1"}`)})
	for name, tc := range map[string]struct {
		q    AuditQuery
		want []int64
	}{
		"all":          {AuditQuery{}, []int64{1, 2, 3, 4, 5, 6, 7}},
		"from":         {AuditQuery{From: 5}, []int64{5, 6, 7}},
		"newest":       {AuditQuery{Newest: true, Limit: 2}, []int64{7, 6}},
		"newest, from": {AuditQuery{Newest: true, From: 3}, []int64{3, 2, 1}},
		"run":          {AuditQuery{RunID: "run-1"}, []int64{2, 4, 6, 7}},
		"run, action":  {AuditQuery{RunID: "run-1", Action: ActionAccessDenied}, []int64{7}},
		"a wild card":  {AuditQuery{RunID: "run-%"}, nil},
		"refused":      {AuditQuery{Denied: true}, []int64{7}},
		"actor":        {AuditQuery{Actor: "agent:"}, []int64{1, 2, 3, 4, 5, 6}},
		"resource":     {AuditQuery{Resource: "파일 3"}, []int64{4}},
		"text":         {AuditQuery{Text: "EXEC.command 파일 2"}, []int64{3}},
		"text, meta":   {AuditQuery{Text: `"n":4`}, []int64{5}},
		"since, until": {AuditQuery{Since: b.clock.now().Add(-3 * time.Second), Until: b.clock.now()}, []int64{3, 4, 5}},
	} {
		got, err := b.List(t.Context(), tc.q)
		var seqs []int64
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
		if err != nil || !slices.Equal(seqs, tc.want) {
			t.Errorf("%s: got %v, %v, want %v", name, seqs, err, tc.want)
		}
	}
}
