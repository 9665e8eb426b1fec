package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"oxios/kernel/sys"

	"github.com/google/go-cmp/cmp"
)

func search(t *testing.T, s *Store, text string) []Session {
	t.Helper()
	found, err := s.Sessions(context.Background(), SessionQuery{Search: text})
	if err != nil {
		t.Fatalf("search %q: %v", text, err)
	}
	return found
}

func TestSearchFindsWhatPeopleType(t *testing.T) {
	t.Parallel()
	s := setup(t)
	korean, english := newSession(t, s, "회의 정리"), newSession(t, s, "Deploy the site")
	say(t, s, korean.ID, RoleUser, "어제 학교에서 있었던 발표 자료를 정리해 주세요. 파일은 바탕화면에 있습니다.")
	say(t, s, korean.ID, RoleAssistant, "100% 끝났습니다.")
	say(t, s, english.ID, RoleUser, `Look at Müller's "quarterly_report" in /srv/www OR say why not.`)
	say(t, s, english.ID, RoleTool, "tool output that nobody searches for")
	for query, want := range map[string][]string{
		"학교":                 {korean.ID}, // two syllables, with a particle behind
		"발표 자료":              {korean.ID},
		"자료 어제":              {korean.ID}, // any order
		"바탕화면":               {korean.ID},
		"바탕화면에 파일":           {korean.ID}, // long and short together
		"글":                  nil,
		"회의":                 {korean.ID}, // a title, short
		"deploy the":         {english.ID},
		"QUARTERLY":          {english.ID},
		"MÜLLER":             {english.ID},
		"uarterl":            {english.ID},
		`"quarterly_report"`: {english.ID},
		"_report":            {english.ID},
		"/s":                 {english.ID},
		"OR":                 {english.ID}, // no operator
		"AND NOT (":          nil,
		"0%":                 {korean.ID}, // no wildcard
		"__":                 nil,
		"nobody searches":    nil, // tool output is left out
		"학교 quarterly":       nil, // all words in one message
		"   ":                {korean.ID, english.ID},
		"\x00*":              nil,
		"content:학교에서":       nil, // no column filter
	} {
		got := map[string]bool{}
		for _, session := range search(t, s, query) {
			got[session.ID] = true
		}
		wanted := map[string]bool{}
		for _, id := range want {
			wanted[id] = true
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("search %q (-want +got):\n%s", query, diff)
		}
	}
}

func TestSnippetShowsTheMatch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "long")
	say(t, s, session.ID, RoleUser, strings.Repeat("앞 ", 300)+"여기에 찾는\n단어 needle 있음 "+strings.Repeat("뒤 ", 300))
	for _, word := range []string{"Needle", "단어"} {
		found := search(t, s, word)
		if len(found) != 1 {
			t.Fatalf("search %q: got %d sessions, want 1", word, len(found))
		}
		got := found[0].Snippet
		if !strings.Contains(got, "단어 needle") || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") || len([]rune(got)) > 165 {
			t.Errorf("search %q: got snippet %q", word, got)
		}
	}
	if got := search(t, s, "long")[0].Snippet; got != "" {
		t.Errorf("a title alone: got snippet %q, want none", got)
	}
}

func TestSearchFollowsChanges(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "first title")
	say(t, s, session.ID, RoleUser, "something")
	title := "두 번째 제목"
	updated, err := s.UpdateSession(context.Background(), session.ID, SessionPatch{Title: &title})
	if err != nil || updated.Title != title || !updated.UpdatedAt.After(session.CreatedAt.Add(-time.Second)) {
		t.Fatalf("got %+v, error %v", updated, err)
	}
	write(t, s, func(tx *Tx) error {
		_, err := tx.Exec("UPDATE messages SET content = 'another text' WHERE session_id = ?", session.ID)
		return err
	})
	for query, want := range map[string]int{"first title": 0, "번째 제목": 1, "something": 0, "another": 1} {
		if got := len(search(t, s, query)); got != want {
			t.Errorf("search %q: got %d sessions, want %d", query, got, want)
		}
	}
	if _, err := s.UpdateSession(context.Background(), "none", SessionPatch{}); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}

func TestListIsOrderedAndPaged(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var ids []string
	for i := range 7 {
		session, err := s.CreateSession(ctx, Session{Title: fmt.Sprint(i), CreatedAt: base.Add(time.Duration(i/2) * time.Minute), Pinned: i == 2, Archived: i == 6})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, session.ID)
	}
	write(t, s, func(tx *Tx) error {
		return s.AddMessage(tx, Message{SessionID: ids[0], Role: RoleUser, Content: "x", At: base.Add(time.Hour)})
	})
	var got []string
	q := SessionQuery{Limit: 2}
	for {
		page, err := s.Sessions(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, session := range page {
			got = append(got, session.Title)
		}
		q.Before = page[len(page)-1].ID
	}
	if want := []string{"2", "0", "5", "4", "3", "1"}; !cmp.Equal(got, want) {
		t.Errorf("got order %v, want %v", got, want)
	}
	archived, err := s.Sessions(ctx, SessionQuery{Archived: true})
	if err != nil || len(archived) != 1 || archived[0].Title != "6" {
		t.Errorf("archived: got %v, error %v", archived, err)
	}
	byID, err := s.Sessions(ctx, SessionQuery{ID: ids[3][:34]})
	if err != nil || len(byID) == 0 {
		t.Errorf("by the beginning of an id: got %v, error %v", byID, err)
	}
}

func TestSessionTellsWhatItsRunsDo(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	session := newSession(t, s, "x")
	if got, err := s.Session(ctx, session.ID); err != nil || got.State != StateIdle {
		t.Errorf("without a run: got %q, error %v; want idle", got.State, err)
	}
	first, second := newRun(t, s, session.ID), newRun(t, s, session.ID)
	child := Run{SessionID: session.ID, ParentID: second.ID}
	write(t, s, func(tx *Tx) error { return s.CreateRun(tx, &child) })
	if first.PID != 1 || second.PID != 2 || child.PID != 3 {
		t.Errorf("got pids %d, %d, %d; want 1, 2, 3", first.PID, second.PID, child.PID)
	}
	update := func(id string, p RunPatch) {
		t.Helper()
		write(t, s, func(tx *Tx) error { return s.UpdateRun(tx, id, p) })
	}
	done, waiting := RunDone, RunWaiting
	failure := &sys.Error{Code: sys.CodeQuota, Message: "No credit.", Hint: "Top up."}
	update(first.ID, RunPatch{State: &done, Cost: &Cost{Calls: 2, Input: 10, USD: 0.5}, Error: failure})
	update(second.ID, RunPatch{State: &waiting, Cost: &Cost{Calls: 1, Unknown: true}})
	write(t, s, func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO approvals (id, session_id, call, hash, request_json, created_at) VALUES ('a', ?, 'exec.shell', 'h', '{}', 1)", session.ID)
		return err
	})
	got, err := s.Session(ctx, session.ID)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Cost{Calls: 3, Input: 10, USD: 0.5, Unknown: true}); got.State != "waiting" || got.Waiting != 1 || got.Cost != want {
		t.Errorf("got state %q, waiting %d, cost %+v; want waiting, 1, %+v", got.State, got.Waiting, got.Cost, want)
	}
	r, err := s.Run(ctx, first.ID)
	if err != nil || !r.State.Ended() || r.EndedAt == nil || r.Error == nil || *r.Error != *failure || r.Text != "do it" {
		t.Errorf("got %+v, error %v", r, err)
	}
	open, err := s.Runs(ctx, RunQuery{SessionID: session.ID, Open: true})
	if err != nil || len(open) != 2 || open[0].ID != child.ID {
		t.Errorf("open runs: got %v, error %v; want the newest two", open, err)
	}
	if all, err := s.Runs(ctx, RunQuery{Limit: 1}); err != nil || len(all) != 1 {
		t.Errorf("got %v, error %v; want 1 run", all, err)
	}
	if byPID, err := s.Runs(ctx, RunQuery{PID: 2}); err != nil || len(byPID) != 1 || byPID[0].ID != second.ID {
		t.Errorf("by pid: got %v, error %v", byPID, err)
	}
	if err := s.Write(ctx, func(tx *Tx) error { return s.UpdateRun(tx, "none", RunPatch{State: &done}) }); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}
