package store

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"oxios/kernel/sys"
)

const insertAudit = "INSERT INTO audit (timestamp, actor, action, resource, prev_hash, hash, metadata) VALUES (?,?,?,?,?,?,?)"

var kilobyte = strings.Repeat("x", 1024)

func entry(tx *Tx) error {
	_, err := tx.Exec(insertAudit, 1, "agent:1", "ToolCall", "exec.shell", "p", "h", kilobyte)
	return err
}

// BenchmarkRawAppendFsync is the control: 1 KiB appended to a file and flushed.
func BenchmarkRawAppendFsync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		if _, err := f.WriteString(kilobyte); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite is one durable write of 1 KiB at a time.
func BenchmarkWrite(b *testing.B) {
	s := setup(b)
	ctx := context.Background()
	for b.Loop() {
		if err := s.Write(ctx, entry); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite64 is 64 callers at once, each durable before its next.
func BenchmarkWrite64(b *testing.B) {
	s := setup(b)
	ctx := context.Background()
	jobs := make(chan struct{})
	var wg sync.WaitGroup
	for range 64 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range jobs {
				if err := s.Write(ctx, entry); err != nil {
					b.Error(err)
				}
			}
		}()
	}
	for b.Loop() {
		jobs <- struct{}{}
	}
	close(jobs)
	wg.Wait()
}

// BenchmarkTurn is what one tool turn writes, in three transactions: the model
// call ends and proposes the tool; the tool starts with its audit intent; it
// closes with the outcome and proposes the next model call.
func BenchmarkTurn(b *testing.B) {
	s := setup(b)
	ctx := context.Background()
	session := newSession(b, s, "bench")
	r := newRun(b, s, session.ID)
	j := journal(b, s, r.ID)
	model := propose(b, s, j, StepModel)
	if err := model.Start(ctx, nil); err != nil {
		b.Fatal(err)
	}
	turns := 0
	for b.Loop() {
		turns++
		tool := &Step{Kind: StepTool, Name: "ls", CallID: "c", Args: json.RawMessage(`{"path":"."}`)}
		err := model.Close(ctx, OutcomeOK, json.RawMessage(`{"text":"I look around."}`), func(tx *Tx) error {
			if err := entry(tx); err != nil {
				return err
			}
			if err := j.Propose(tx, tool); err != nil {
				return err
			}
			return s.UpdateRun(tx, r.ID, RunPatch{Turns: &turns, Cost: &Cost{Calls: turns, Input: 100 * turns, USD: float64(turns)}})
		})
		if err != nil {
			b.Fatal(err)
		}
		o := j.Open(tool)
		if err := o.Start(ctx, entry); err != nil {
			b.Fatal(err)
		}
		o.OnClose(entry)
		next := &Step{Kind: StepModel}
		err = o.Close(ctx, OutcomeOK, json.RawMessage(`{"text":"a b c"}`), func(tx *Tx) error {
			if err := s.AddMessage(tx, Message{SessionID: session.ID, Role: RoleTool, Content: "a b c"}); err != nil {
				return err
			}
			return j.Propose(tx, next)
		})
		if err != nil {
			b.Fatal(err)
		}
		model = j.Open(next)
	}
}

// BenchmarkAddMessage is a message of 1 KiB that goes into the full-text index.
func BenchmarkAddMessage(b *testing.B) {
	s := setup(b)
	session := newSession(b, s, "bench")
	text := strings.Repeat("오늘 회의에서 the deployment plan was discussed. ", 18)
	for b.Loop() {
		err := s.Write(context.Background(), func(tx *Tx) error {
			return s.AddMessage(tx, Message{ID: sys.NewID(), SessionID: session.ID, Role: RoleAssistant, Content: text})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is one short snapshot.
func BenchmarkRead(b *testing.B) {
	s := setup(b)
	session := newSession(b, s, "bench")
	for b.Loop() {
		if _, err := s.Session(context.Background(), session.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is open, one query, close, on a database that exists.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "oxios.db")
	for b.Loop() {
		s, err := Open(context.Background(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Sessions(context.Background(), SessionQuery{}); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch looks through 20,000 messages in 400 sessions.
func BenchmarkSearch(b *testing.B) {
	s := setup(b)
	write(b, s, func(tx *Tx) error {
		for i := range 400 {
			session := Session{Title: "conversation"}
			if err := s.InsertSession(tx, &session); err != nil {
				return err
			}
			for k := range 50 {
				text := strings.Repeat("some ordinary words of a conversation 그리고 한국어 문장. ", 6)
				if i == 7 && k == 7 {
					text += " needle 바늘"
				}
				if err := s.AddMessage(tx, Message{SessionID: session.ID, Role: RoleUser, Content: text}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for name, query := range map[string]string{"rare": "needle", "two syllables, rare": "바늘", "common": "ordinary"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Sessions(context.Background(), SessionQuery{Search: query}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
