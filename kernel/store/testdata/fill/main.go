// Command fill makes a home that was used for years, for the specs and the
// benchmarks of the window: one conversation of many runs, and many of one.
//
//	fill HOME RUNS SESSIONS
//
// A run is a message and its answer of about 700 bytes, with two steps.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

func main() {
	if err := fill(); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func fill() error {
	if len(os.Args) != 4 {
		return fmt.Errorf("usage: fill HOME RUNS SESSIONS")
	}
	runs, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	sessions, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	ctx := context.Background()
	st, err := store.Open(ctx, filepath.Join(os.Args[1], "oxios.db"), store.Options{})
	if err != nil {
		return err
	}
	err = st.Write(ctx, func(tx *store.Tx) error {
		for i := range sessions {
			if err := conversation(st, tx, fmt.Sprintf("Conversation %d", i), 1); err != nil {
				return err
			}
		}
		return conversation(st, tx, "The long conversation", runs)
	})
	if err != nil {
		return err
	}
	return st.Close()
}

// conversation adds one of so many runs. Every tenth answer has code in it.
func conversation(st *store.Store, tx *store.Tx, title string, runs int) error {
	s := store.Session{Title: title}
	if err := st.InsertSession(tx, &s); err != nil {
		return err
	}
	for i := range runs {
		ask := fmt.Sprintf("Message %d of %s: what about the ferry, the receipts and the garden? 날짜를 비교해 주세요.", i, title)
		answer := fmt.Sprintf("Answer %d. I looked at it.\n\n- **The ferry** leaves at %d\n- the receipts are `joined`\n\n%s", i, i%24, strings.Repeat("It takes the clock from its caller. 테스트가 이제 통과합니다. ", 6))
		if i%10 == 0 {
			answer += "\n\n```go\nfunc now() time.Time { return clock() }\n```\n"
		}
		r := store.Run{SessionID: s.ID, Text: ask, State: store.RunDone, Model: "oxios-demo"}
		if err := st.CreateRun(tx, &r); err != nil {
			return err
		}
		for _, m := range []store.Message{{Role: store.RoleUser, Content: ask}, {Role: store.RoleAssistant, Content: answer, Model: r.Model}} {
			m.SessionID, m.RunID = s.ID, r.ID
			if err := st.AddMessage(tx, m); err != nil {
				return err
			}
		}
		said, err := json.Marshal(map[string]string{"text": answer})
		if err != nil {
			return err
		}
		for seq, step := range [][4]string{
			{"tool", "read", `{"title":"Read notes.md","args":{"path":"notes.md"}}`, `{"title":"Read notes.md","text":"the ferry, the receipts"}`},
			{"model", r.Model, `{}`, string(said)},
		} {
			_, err := tx.Exec("INSERT INTO steps (id, run_id, seq, kind, name, args_json, state, result_json, outcome, proposed_at) VALUES (?, ?, ?, ?, ?, ?, 'closed', ?, 'ok', 1)",
				sys.NewID(), r.ID, seq+1, step[0], step[1], step[2], step[3])
			if err != nil {
				return err
			}
		}
	}
	return nil
}
