package mcp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// asksNobody connects a program whose person never answers, and returns when they have been asked.
func (s *site) asksNobody(token string) *sdk.ClientSession {
	s.t.Helper()
	s.version = "2025-11-25"
	asked := make(chan struct{}, maxAsked)
	cs := s.mustConnect(token, &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked <- struct{}{}
		<-s.t.Context().Done()
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}})
	go func() { _, _ = cs.CallTool(s.t.Context(), &sdk.CallToolParams{Name: answerTool}) }()
	<-asked
	return cs
}

// stream sends a request that stays open.
func (s *site) stream(method, token, body string, header map[string]string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		r.Header.Set(k, v)
	}
	base := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: bearer{token: token, base: base}}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// within fails a test in which something hangs. It is slow machines that need so long.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		do()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Errorf("%s takes longer than 30 s", what)
	}
}

func TestAQuestionThatNobodyAnswersHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.Approval(s.Say("risky").RunID)
	s.asksNobody(s.add("Silent", "approvals"))
	token := s.add("Follower", "read")
	id, _ := s.session(token)
	follows := s.stream("GET", token, "", map[string]string{sessionHeader: id})
	for _, name := range []string{"Silent", "Follower"} {
		if _, err := s.Person().Clients.Revoke(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "the end of the other program's stream", func() { _, _ = io.Copy(io.Discard, follows.Body) })
}

func TestAQuestionThatNobodyAnswersEndsWithTheServer(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.Approval(s.Say("risky").RunID)
	s.asksNobody(s.add("Silent", "approvals"))
	s.stop()
	within(t, "the end of the server", func() {
		if err := <-s.served; err != nil {
			t.Error(err)
		}
	})
}

func TestAProgramWhoseProcessIsNotFoundIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t)
	token := s.add("Hidden", "read")
	s.peer.Store(int64(remote.PeerLost))
	if got, body := s.knock("POST", token, strings.NewReader(begin), nil); got != 403 || !strings.Contains(body, "which process") {
		t.Errorf("got %d %s", got, body)
	}
}

func TestTheTokenIsAskedBeforeTheProcessAndItsTroubleIsKept(t *testing.T) {
	t.Parallel()
	looked := false
	for token, want := range map[string]struct {
		err  error
		code int
	}{
		"unknown": {sys.Errorf(sys.CodeAuth, "This token is unknown or was revoked."), 401},
		"broken":  {sys.Errorf(sys.CodeUnavailable, "The list of programs cannot be read: inner."), 503},
		"":        {nil, 401},
	} {
		s := New(Config{
			Log:  slog.New(slog.DiscardHandler),
			Open: func(context.Context, string) (*remote.Handle, error) { return nil, want.err },
			Peer: func(*http.Request) remote.Behind { looked = true; return remote.PeerPerson },
		})
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", strings.NewReader(begin))
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != want.code || strings.Contains(w.Body.String(), "inner") {
			t.Errorf("%q: got %d %s, want %d", token, w.Code, w.Body, want.code)
		}
	}
	if looked {
		t.Error("a process was looked for before the token was known")
	}
}

const listen = `{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"resourceSubscriptions":["oxios://vault/a.md"]}}}`

func TestAProgramHasSoManyStreamsAndSessionsApart(t *testing.T) {
	t.Parallel()
	s := setup(t)
	token := s.add("Many", "read")
	header := map[string]string{versionHeader: stateless, methodHeader: "subscriptions/listen"}
	for i := range maxStreams {
		if resp := s.stream("POST", token, fmt.Sprintf(listen, i+1), header); resp.StatusCode != 200 {
			raw, _ := io.ReadAll(resp.Body)
			t.Fatalf("stream %d: %d %s", i, resp.StatusCode, raw)
		}
	}
	if resp := s.stream("POST", token, fmt.Sprintf(listen, 99), header); resp.StatusCode != 429 {
		t.Errorf("one stream too many: %d", resp.StatusCode)
	}
	if id, got := s.session(token); id == "" {
		t.Errorf("a session beside the streams: %d", got)
	}
}

func TestSessionsThatBeginAtOnceKeepTheBound(t *testing.T) {
	t.Parallel()
	s := setup(t)
	token := s.add("Many", "read")
	var begun atomic.Int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if resp := s.stream("POST", token, begin, nil); resp.StatusCode == 200 {
				begun.Add(1)
			}
		})
	}
	all.Wait()
	if n := begun.Load(); n == 0 || n > maxSessions {
		t.Errorf("%d sessions began, want at most %d", n, maxSessions)
	}
}

func TestWhatAProgramFollowsIsBounded(t *testing.T) {
	t.Parallel()
	s := setup(t)
	token := s.add("Follower", "read")
	s.version = "2025-11-25"
	cs := s.mustConnect(token, nil)
	for _, uri := range []string{"https://example.com/", "oxios://other/x", notes + strings.Repeat("x", maxAddress)} {
		if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("%.40s is followed", uri)
		}
	}
	for i := range maxFollowed {
		if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fmt.Sprint(notes, i)}); err != nil {
			t.Fatal(err)
		}
	}
	one := &sdk.SubscribeParams{URI: notes + "more"}
	if err := cs.Subscribe(t.Context(), one); err == nil || !strings.Contains(err.Error(), "200 addresses") {
		t.Errorf("one address too many: %v", err)
	}
	if err := cs.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: notes + "0"}); err != nil {
		t.Fatal(err)
	}
	if err := cs.Subscribe(t.Context(), one); err != nil {
		t.Errorf("after one was given up: %v", err)
	}
}

func TestWhatASessionFollowedIsForgottenInTheEnd(t *testing.T) {
	t.Parallel()
	f := &followed{}
	for i := range maxKept {
		if err := f.add(&sdk.ServerSession{}, fmt.Sprint(notes, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.add(&sdk.ServerSession{}, notes+"more"); err == nil || !f.many() {
		t.Errorf("one address too many is kept: %v", err)
	}
	face := &face{log: slog.New(slog.DiscardHandler)}
	face.follows.kept = f.kept
	at, err := serve(face)
	if err != nil {
		t.Fatal(err)
	}
	defer at.close()
	if !at.worn() {
		t.Error("a server that nobody uses and that keeps much is kept")
	}
}

func TestWordsOfARunAreNoChangeOfIt(t *testing.T) {
	t.Parallel()
	face := &face{log: slog.New(slog.DiscardHandler)}
	if err := face.follows.add(&sdk.ServerSession{}, runs+"r"); err != nil {
		t.Fatal(err)
	}
	at := &served{face: face, wake: make(chan struct{}, 1), changed: map[string]bool{}}
	s := &Server{faces: map[string]*served{"x": at}}
	for kind, want := range map[string]bool{"run.text": false, "run.reasoning": false, "run.state": true} {
		at.changed = map[string]bool{}
		s.updated(kernel.Event{Kind: kind, RunID: "r"})
		if at.changed[runs+"r"] != want {
			t.Errorf("%s: got %v, want %v", kind, !want, want)
		}
	}
}
