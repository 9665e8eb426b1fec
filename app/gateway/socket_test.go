package gateway_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/sys"
)

// browser is a page's WebSocket.
type browser struct {
	t    *testing.T
	conn *websocket.Conn
}

type message struct {
	Ready  bool            `json:"ready"`
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *sys.Error      `json:"error"`
	Event  *kernel.Event   `json:"event"`
}

func (s *site) upgrade(cookie *http.Cookie) *websocket.Conn {
	s.t.Helper()
	h := http.Header{"Origin": {"http://" + s.host}}
	if cookie != nil {
		h.Set("Cookie", cookie.Name+"="+cookie.Value)
	}
	conn, _, err := websocket.Dial(s.t.Context(), "ws://"+s.host+"/ws", &websocket.DialOptions{HTTPHeader: h, HTTPClient: s.http})
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(32 << 20)
	s.t.Cleanup(func() { conn.CloseNow() })
	return conn
}

// wantOut checks that the server answers nothing but that nobody is let in.
func (s *site) wantOut(conn *websocket.Conn, why string) {
	s.t.Helper()
	if _, data, err := conn.Read(s.t.Context()); websocket.CloseStatus(err) != 4401 && !(err != nil && why == "too much") {
		s.t.Errorf("%s: got %q and %v, want status 4401", why, data, err)
	}
}

// letIn opens a page that has proved itself.
func (s *site) letIn() *browser {
	s.t.Helper()
	_, cookie, secret := s.exchange(s.g.Code())
	b := &browser{s.t, s.upgrade(cookie)}
	b.send(`{"auth":"` + secret + `"}`)
	if m := b.next(); !m.Ready {
		s.t.Fatalf("got %+v, want ready", m)
	}
	return b
}

func (b *browser) send(text string) {
	b.t.Helper()
	if err := b.conn.Write(b.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) next() message {
	b.t.Helper()
	_, data, err := b.conn.Read(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		b.t.Fatalf("%v in %.200s", err, data)
	}
	return m
}

func TestCookieOrSecretAloneOpensNothing(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	_, cookie, secret := s.exchange(s.g.Code())
	_, _, otherSecret := s.exchange(s.g.Code())
	s.wantOut(s.upgrade(nil), "without the cookie")
	for name, value := range map[string]string{cookie.Name: secret, "oxios_1": cookie.Value, cookie.Name + "x": cookie.Value} {
		conn := s.upgrade(&http.Cookie{Name: name, Value: value})
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"auth":"`+secret+`"}`)); err == nil {
			s.wantOut(conn, "with the cookie "+name)
		}
	}
	for why, first := range map[string]string{
		"nothing": `{}`, "no JSON": `x`, "the cookie again": `{"auth":"` + cookie.Value + `"}`, "another browser's secret": `{"auth":"` + otherSecret + `"}`,
		"a call": `{"id":1,"method":"state.session","args":["1"]}`, "null": `{"auth":null}`, "too much": `{"auth":"` + strings.Repeat("x", 8<<10) + `"}`,
	} {
		conn := s.upgrade(cookie)
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(first)); err != nil {
			t.Fatal(err)
		}
		s.wantOut(conn, why)
	}
	if s.fake.via.Load() != nil {
		t.Error("the kernel was asked for a Handle")
	}
	b := &browser{t, s.upgrade(cookie)}
	b.send(`{"auth":"` + secret + `"}`)
	if m := b.next(); !m.Ready || s.fake.via.Load() != "page" {
		t.Errorf("with both: got %+v as %v, want ready as page", m, s.fake.via.Load())
	}
}

func TestSilentPageIsClosedAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	_, cookie, _ := s.exchange(s.g.Code())
	conn := s.upgrade(cookie)
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, data, err := conn.Read(ctx); err == nil {
		t.Errorf("got %s, want the end", data)
	}
	if took := time.Since(begun); took < 4*time.Second || took > 15*time.Second {
		t.Errorf("closed after %v, want about 5 s", took)
	}
}

func TestPageCallsTheKernel(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	b := s.letIn()
	b.send(`{"id":1,"method":"state.session","args":["<한글>"]}`)
	if m := b.next(); m.ID != 1 || m.Error != nil || !strings.Contains(string(m.Result), `"<한글>"`) || strings.Contains(string(m.Result), "null") {
		t.Errorf("got %d %s %v, want the session, and no list that is null", m.ID, m.Result, m.Error)
	}
	for text, want := range map[string]sys.Code{
		`{"id":2,"method":"state.session","args":["missing"]}`:      sys.CodeNotFound,
		`{"id":2,"method":"state.session","args":["panic"]}`:        sys.CodeInternal,
		`{"id":2,"method":"state.session","args":[]}`:               sys.CodeInvalid,
		`{"id":2,"method":"state.nothing","args":[]}`:               sys.CodeInvalid,
		`{"id":2,"method":"state.exportSession","args":["x","md"]}`: sys.CodeTooLarge,
		`{"id":2}`: sys.CodeInvalid,
	} {
		b.send(text)
		if m := b.next(); m.ID != 2 || m.Error == nil || m.Error.Code != want || m.Error.Message == "" {
			t.Errorf("%s: got %d %v, want %s", text, m.ID, m.Error, want)
		}
	}
	b.send(`{"id":3,"method":"agents.wait","args":["run"]}`)
	<-s.fake.waiting
	b.send(`{"id":3,"method":"state.session","args":["1"]}`)
	if m := b.next(); m.ID != 3 || m.Error == nil || m.Error.Code != sys.CodeBusy {
		t.Errorf("a number that is in use: got %v, want busy", m.Error)
	}
	b.send(`{"id":3,"cancel":true}`)
	if m := b.next(); m.ID != 3 || m.Error == nil || m.Error.Code != sys.CodeCanceled {
		t.Errorf("got %v, want canceled", m.Error)
	}
	<-s.fake.ended
}

func TestCallsEndWithTheirPage(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	b := s.letIn()
	b.send(`{"id":1,"method":"agents.wait","args":["run"]}`)
	<-s.fake.waiting
	b.conn.CloseNow()
	<-s.fake.ended
}

func TestStopTellsThePage(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	b := s.letIn()
	b.send(`{"id":1,"method":"agents.wait","args":["run"]}`)
	<-s.fake.waiting
	b.send(`{"id":2,"method":"infra.events","args":[0]}`)
	b.next()
	closed := make(chan error, 1)
	go func() {
		for {
			if _, _, err := b.conn.Read(context.Background()); err != nil {
				closed <- err
				return
			}
		}
	}()
	s.stop()
	if err := <-closed; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("got %v, want status 1001", err)
	}
	<-s.fake.ended
}

func TestPageFollowsEventsInOrder(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	b := s.letIn()
	b.send(`{"id":1,"method":"infra.events","args":[0]}`)
	if m := b.next(); m.ID != 1 || m.Error != nil {
		t.Fatalf("got %+v, want the start of the events", m)
	}
	const n = 1000
	var last uint64
	for range n {
		s.fake.bus.Publish(kernel.Event{Kind: event.RunEnded})
	}
	for range n {
		m := b.next()
		if m.Event == nil || m.Event.Kind != event.RunEnded || m.Event.Seq <= last {
			t.Fatalf("got %+v after event %d, want the next one", m, last)
		}
		last = m.Event.Seq
	}
	// A page that comes back names what it saw last and gets what it missed.
	b.send(`{"id":2,"method":"infra.events","args":[` + string(mustJSON(t, last-10)) + `]}`)
	if m := b.next(); m.ID != 2 || m.Error != nil {
		t.Fatalf("got %+v, want the start of the events", m)
	}
	for i := range uint64(10) {
		if m := b.next(); m.Event == nil || m.Event.Seq != last-9+i {
			t.Fatalf("got %+v, want event %d again", m, last-9+i)
		}
	}
}

func TestSlowPageGetsAGapAndHoldsBackNobody(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	slow, quick := s.letIn(), s.letIn()
	slow.send(`{"id":1,"method":"infra.events","args":[0]}`)
	slow.next()
	const n = 100_000
	data := event.Text{Text: strings.Repeat("x", 300)}
	begun := time.Now()
	for range n {
		s.fake.bus.Publish(kernel.Event{Kind: event.RunText, Data: data})
	}
	s.fake.bus.Publish(kernel.Event{Kind: event.RunEnded})
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("publishing took %v: the page held it back", took)
	}
	quick.send(`{"id":1,"method":"state.session","args":["1"]}`)
	if m := quick.next(); m.ID != 1 || m.Error != nil {
		t.Errorf("another page: got %+v, want its answer", m)
	}
	var seen, missed uint64
	for {
		e := slow.next().Event
		if e.Kind == event.Gap {
			m, _ := event.As[event.Missed](*e)
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

func TestMalformedMessagesHarmNobody(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	b := s.letIn()
	good := []string{`{"id":1,"method":"state.session","args":["1"]}`, `{"id":2,"cancel":true}`, `{"id":4,"method":"infra.events","args":[0]}`, `[]`, `null`, `{"id":-1}`, `{"id":1e99}`}
	rnd := rand.New(rand.NewPCG(3, 4))
	read := make(chan error, 1)
	go func() {
		for {
			_, data, err := b.conn.Read(context.Background())
			if err != nil || strings.HasPrefix(string(data), `{"id":424242,`) {
				read <- err
				return
			}
		}
	}()
	for i := range 10_000 {
		text := []byte(good[rnd.IntN(len(good))])
		for range rnd.IntN(4) {
			text[rnd.IntN(len(text))] = byte(rnd.IntN(256))
		}
		kind := websocket.MessageText
		if i%10 == 0 {
			kind = websocket.MessageBinary
		}
		if err := b.conn.Write(t.Context(), kind, text); err != nil {
			t.Fatal(err)
		}
	}
	b.send(`{"id":424242,"method":"state.session","args":["1"]}`)
	if err := <-read; err != nil {
		t.Errorf("got %v, want the answer after all of it", err)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPageThatIsGoneIsNotInFront(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	silent, b := s.letIn(), s.letIn()
	silent.conn.CloseNow() // it said nothing, so nothing is said for it
	b.send(`{"id":1,"method":"infra.reportFocus","args":[true]}`)
	if m := b.next(); m.ID != 1 || m.Error != nil {
		t.Fatalf("got %+v", m)
	}
	b.conn.CloseNow()
	if first, second := <-s.fake.front, <-s.fake.front; !first || second {
		t.Errorf("got %v, then %v; want in front, and not any more", first, second)
	}
}
