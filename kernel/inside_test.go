package kernel

import (
	"fmt"
	"strings"
	"testing"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// LimitDatabase has the disk be full after so many more pages of the database,
// until the returned function is called.
func (k *Kernel) LimitDatabase(t *testing.T, more int) (free func()) {
	t.Helper()
	limit := func(pages int) {
		if err := k.store.Write(t.Context(), func(tx *store.Tx) error {
			return tx.QueryRow(fmt.Sprintf("PRAGMA max_page_count = %d", pages)).Scan(&pages)
		}); err != nil {
			t.Fatal(err)
		}
	}
	var pages int
	if err := k.store.Read(t.Context(), func(tx *store.Tx) error { return tx.QueryRow("PRAGMA page_count").Scan(&pages) }); err != nil {
		t.Fatal(err)
	}
	limit(pages + more)
	return func() { limit(1 << 30) }
}

// Fill makes conversations, each with so many runs of two messages of about
// 1 KiB and two steps.
func (k *Kernel) Fill(t testing.TB, sessions, runs int) {
	t.Helper()
	words := strings.Fields("the parser fails one run in ten because 시간대를 무시하고 날짜를 비교합니다 so it takes the clock from its caller and 테스트가 이제 통과합니다")
	text := func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < 1024; i++ {
			fmt.Fprintf(&b, "%s%d ", words[(n*7+i*i)%len(words)], (n+i)%97)
		}
		return b.String()
	}
	for i := range sessions {
		err := k.store.Write(t.Context(), func(tx *store.Tx) error {
			s := Session{Title: fmt.Sprint("Conversation ", i), Folder: "/home/minji/src"}
			if err := k.store.InsertSession(tx, &s); err != nil {
				return err
			}
			for j := range runs {
				r := Run{SessionID: s.ID, Text: "x", State: store.RunDone}
				if err := k.store.CreateRun(tx, &r); err != nil {
					return err
				}
				for _, role := range []string{store.RoleUser, store.RoleAssistant} {
					if err := k.store.AddMessage(tx, Message{SessionID: s.ID, RunID: r.ID, Role: role, Content: text(i*runs + j)}); err != nil {
						return err
					}
				}
				for seq := range 2 {
					if _, err := tx.Exec("INSERT INTO steps (id, run_id, seq, kind, name, args_json, state, result_json, outcome, proposed_at) VALUES (?, ?, ?, 'tool', 'read', ?, 'closed', ?, 'ok', 1)",
						sys.NewID(), r.ID, seq+1, `{"path":"a"}`, fmt.Sprintf("{\"text\":%q}", text(j))); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// CopyDatabase writes a copy of the database to path.
func (k *Kernel) CopyDatabase(t testing.TB, path string) {
	t.Helper()
	if err := k.store.Snapshot(t.Context(), path); err != nil {
		t.Fatal(err)
	}
}
