package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/sys"
)

// One suite for both ways to a kernel: what a call answers may not depend on
// where the kernel runs.
func TestRemoteAnswersLikeLocal(t *testing.T) {
	t.Parallel()
	s := setup(t)
	local := s.handle()
	for _, tc := range []struct{ method, args string }{
		{"state.sessions", `[{"search":"x","limit":3}]`},
		{"state.sessions", `[{"search":"nothing"}]`},
		{"state.sessions", `[{}]`},
		{"state.sessions", `[null]`},
		{"state.session", `["1"]`},
		{"state.session", `["missing"]`},
		{"state.session", `["canceled"]`},
		{"state.session", `["panic"]`},
		{"state.deleteSession", `["1"]`},
		{"state.exportSession", `["</script>\u0001 \"한글\" \\ 🙂","md"]`},
		{"state.exportSession", `["one"]`},
		{"state.exportSession", `["one","two","three"]`},
		{"state.session", `[1]`},
		{"state.session", `{"id":"1"}`},
		{"state.session", ``},
		{"state.sessions", `[{"serach":"x"}]`},
		{"no.such", `[]`},
	} {
		want, wantErr := answer(t, local, tc.method, tc.args)
		got, gotErr := answer(t, s.remote, tc.method, tc.args)
		if got != want || gotErr != wantErr {
			t.Errorf("%s%s:\n got %s %s\nwant %s %s", tc.method, tc.args, got, gotErr, want, wantErr)
		}
	}
}

// answer is what a face shows: the result's JSON, or the error's.
func answer(t *testing.T, h *remote.Handle, method, args string) (result, problem string) {
	t.Helper()
	v, err := remote.Dispatch(t.Context(), h, method, json.RawMessage(args))
	if err != nil {
		b, merr := remote.Marshal(sys.AsError(err))
		if merr != nil {
			t.Fatal(merr)
		}
		return "", string(b)
	}
	b, err := remote.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), ""
}

func TestErrorsKeepTheirCodeMessageAndHint(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, err := s.remote.State.Session(t.Context(), "missing")
	e := wantCode(t, err, sys.CodeNotFound)
	if e.Message != `There is no session "missing".` || e.Hint == "" {
		t.Errorf("got %+v, want the message and the hint of the kernel", e)
	}
	if _, err := s.remote.State.Session(t.Context(), "canceled"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an error that is context.Canceled", err)
	}
}

func TestPanicIsAnErrorOfItsCallAlone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, err := s.remote.State.Session(t.Context(), "panic")
	if e := wantCode(t, err, sys.CodeInternal); !strings.Contains(e.Message, "a bug of ours") || strings.Contains(e.Message, "goroutine") {
		t.Errorf("got %q, want what panicked, without a stack", e.Message)
	}
	if _, err := s.remote.State.Session(t.Context(), "1"); err != nil {
		t.Errorf("the next call: got %v, want none", err)
	}
}

func TestUnknownArgumentsAreNamedNotDropped(t *testing.T) {
	t.Parallel()
	_, err := remote.Dispatch(t.Context(), newFake().handle(), "state.sessions", json.RawMessage(`[{"serach":"x"}]`))
	if e := wantCode(t, err, sys.CodeInvalid); !strings.Contains(e.Message, "serach") {
		t.Errorf("got %q, want the name of the field", e.Message)
	}
}

func TestCancelOnTheClientCancelsInTheKernel(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() {
		_, err := s.remote.Agents.Wait(ctx, "run")
		errs <- err
	}()
	<-s.waiting
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v, want context.Canceled", err)
	}
	if err := <-s.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the kernel saw %v, want context.Canceled", err)
	}
	if _, err := s.remote.State.Session(t.Context(), "1"); err != nil {
		t.Errorf("a later call: got %v, want none", err)
	}
}

func TestManyCallsShareOneConnection(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const n = 100
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			id := fmt.Sprint(i)
			r, err := s.remote.Agents.Wait(t.Context(), id)
			if err != nil || r.Response != id {
				t.Errorf("call %s: got %q and %v", id, r.Response, err)
			}
		})
	}
	for range n {
		<-s.waiting // all of them are open at once
	}
	close(s.release)
	all.Wait()
}

func TestTooManyOpenCallsAreTurnedAway(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var all sync.WaitGroup
	defer all.Wait()
	defer close(s.release)
	for range 256 {
		all.Go(func() {
			if _, err := s.remote.Agents.Wait(t.Context(), "x"); err != nil {
				t.Errorf("got %v, want none", err)
			}
		})
	}
	for range 256 {
		<-s.waiting
	}
	_, err := s.remote.State.Session(t.Context(), "1")
	wantCode(t, err, sys.CodeBusy)
}

func TestStopOfTheKernelEndsPendingCallsWithASentence(t *testing.T) {
	t.Parallel()
	s := setup(t)
	events, err := s.remote.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 1)
	go func() {
		_, err := s.remote.Agents.Wait(t.Context(), "run")
		errs <- err
	}()
	<-s.waiting
	s.stop()
	e := wantCode(t, <-errs, sys.CodeUnavailable)
	if !strings.Contains(e.Message, "kernel has stopped") || e.Hint == "" {
		t.Errorf("got %q, want a sentence that says that the kernel has stopped, and what to do", e)
	}
	if _, open := <-events; open {
		t.Error("the stream is still open")
	}
	<-s.client.Done()
	_, err = s.remote.State.Session(t.Context(), "1")
	wantCode(t, err, sys.CodeUnavailable)
	_, err = s.remote.Infra.Events(t.Context(), 0)
	wantCode(t, err, sys.CodeUnavailable)
}

func TestEventsArriveInOrderAndKeepTheirData(t *testing.T) {
	t.Parallel()
	s := setup(t)
	events, err := s.remote.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2000
	for i := range n {
		s.bus.Publish(kernel.Event{Kind: event.RunEnded, RunID: fmt.Sprint(i), Data: event.Text{Text: "<" + fmt.Sprint(i)}})
	}
	for i := range n {
		e := <-events
		text, ok := event.As[event.Text](e)
		if e.RunID != fmt.Sprint(i) || !ok || text.Text != "<"+fmt.Sprint(i) {
			t.Fatalf("event %d: got %+v with %v", i, e, text)
		}
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	events, err := s.remote.Infra.Events(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range events {
		t.Error("got an event of an ended stream")
	}
	if _, err := s.remote.Infra.Events(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	_, err = s.remote.Infra.Events(t.Context(), 7)
	wantCode(t, err, sys.CodeForbidden)
	// JavaScript writes numbers of this size as text.
	_, err = remote.Subscribe(t.Context(), s.handle(), "infra.events", json.RawMessage(`["7"]`))
	wantCode(t, err, sys.CodeForbidden)
}

// A reader that takes nothing must hold back neither the kernel nor the other
// calls of its connection, and must learn that it missed something.
func TestSlowReaderLearnsOfItsGapAndBlocksNobody(t *testing.T) {
	t.Parallel()
	s := setup(t)
	events, err := s.remote.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 30_000
	for range n {
		s.bus.Publish(kernel.Event{Kind: event.RunText, Data: event.Text{Text: strings.Repeat("x", 200)}})
	}
	s.bus.Publish(kernel.Event{Kind: event.RunEnded})
	if _, err := s.remote.State.Session(t.Context(), "1"); err != nil {
		t.Fatalf("a call beside the stuck stream: got %v, want none", err)
	}
	var seen, missed uint64
	for e := range events {
		if e.Kind == event.Gap {
			m, _ := event.As[event.Missed](e)
			missed += m.Missed
			continue
		}
		seen++
		if e.Kind == event.RunEnded {
			break
		}
	}
	if missed == 0 || seen+missed != n+1 {
		t.Errorf("got %d events and a gap of %d, want %d together and a gap", seen, missed, n+1)
	}
}

func TestTooLargeIsSaidAndNothingElseBreaks(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, err := s.remote.State.Session(t.Context(), strings.Repeat("x", 17<<20))
	e := wantCode(t, err, sys.CodeTooLarge)
	if !strings.Contains(e.Message, "16 MiB") {
		t.Errorf("got %q, want the limit in it", e.Message)
	}
	_, err = s.remote.State.ExportSession(t.Context(), "x", "huge")
	wantCode(t, err, sys.CodeTooLarge)
	// A message of 10 MB is large, and allowed.
	text := strings.Repeat("한글<&>", 1_000_000)
	got, err := s.remote.State.ExportSession(t.Context(), text, "md")
	if err != nil || got != text+".md" {
		t.Errorf("a text of %d bytes: got %d bytes and %v", len(text), len(got), err)
	}
}

func TestRefusalOfOpenIsToldToThePeer(t *testing.T) {
	t.Parallel()
	var peer remote.Peer
	s := serve(t, t.TempDir(), func(p remote.Peer) (*remote.Handle, error) {
		peer = p
		return nil, sys.Errorf(sys.CodeForbidden, "An agent's command may not ask as the person.").WithHint("Ask the person.")
	})
	_, err := remote.Dial(t.Context(), s.home)
	if e := wantCode(t, err, sys.CodeForbidden); e.Hint != "Ask the person." {
		t.Errorf("got %+v, want the hint of open", e)
	}
	s.stop()
	if peer.PID != ourPID {
		t.Errorf("got process %d, want %d", peer.PID, ourPID)
	}
}

func TestDialWithoutAnOwnerSaysHowToStart(t *testing.T) {
	t.Parallel()
	_, err := remote.Dial(t.Context(), t.TempDir())
	if e := wantCode(t, err, sys.CodeUnavailable); !strings.Contains(e.Hint, "oxios serve") {
		t.Errorf("got %+v, want a hint how to start", e)
	}
}

func TestPatientDialWaitsForTheWinnersSocket(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	type result struct {
		c   *remote.Client
		err error
	}
	got := make(chan result, 1)
	begun := time.Now()
	go func() {
		c, err := remote.DialPatiently(t.Context(), home)
		got <- result{c, err}
	}()
	f := newFake()
	for time.Since(begun) < 100*time.Millisecond {
		time.Sleep(10 * time.Millisecond) // the owner needs a while to open
	}
	serve(t, home, func(remote.Peer) (*remote.Handle, error) { return f.handle(), nil })
	r := <-got
	if r.err != nil {
		t.Fatal(r.err)
	}
	if err := r.c.Close(); err != nil {
		t.Error(err)
	}
	begun = time.Now()
	_, err := remote.DialPatiently(t.Context(), t.TempDir())
	wantCode(t, err, sys.CodeUnavailable)
	if took := time.Since(begun); took < time.Second || took > 5*time.Second {
		t.Errorf("gave up after %v, want about 2 s", took)
	}
}

func TestTextBoundaryCarriesWholeErrors(t *testing.T) {
	t.Parallel()
	h := newFake().handle()
	with := func(h *remote.Handle, err error) func() (*remote.Handle, error) {
		return func() (*remote.Handle, error) { return h, err }
	}
	got, err := remote.CallJSON(t.Context(), with(h, nil), "state.exportSession", `["a","md"]`)
	if err != nil || got != `"a.md"` {
		t.Errorf("got %s and %v, want \"a.md\"", got, err)
	}
	for _, tc := range []struct {
		h            *remote.Handle
		method, args string
		want         sys.Code
	}{
		{h, "state.session", `["missing"]`, sys.CodeNotFound},
		{h, "state.session", `["panic"]`, sys.CodeInternal},
		{h, "state.session", `[`, sys.CodeInvalid},
		{h, "state.nothing", `[]`, sys.CodeInvalid},
		{h, "infra.events", `[0]`, sys.CodeInvalid},
		{nil, "state.session", `["1"]`, sys.CodeUnavailable},
		{&remote.Handle{}, "state.session", `["1"]`, sys.CodeInternal},
	} {
		_, err := remote.CallJSON(t.Context(), with(tc.h, nil), tc.method, tc.args)
		var e sys.Error
		if err == nil || json.Unmarshal([]byte(err.Error()), &e) != nil || e.Code != tc.want || e.Message == "" {
			t.Errorf("%s%s: got %v, want JSON with code %q", tc.method, tc.args, err, tc.want)
		}
	}
	full := sys.Errorf(sys.CodeDiskFull, "The disk is full.")
	if _, err := remote.CallJSON(t.Context(), with(nil, full), "state.session", `["1"]`); sys.CodeOf(err) != sys.CodeDiskFull {
		t.Errorf("got %v, want why there is no kernel", err)
	}
}
