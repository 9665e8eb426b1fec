//go:build unix

package remote_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

// raw speaks to the socket without the client.
type raw struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func dialRaw(t *testing.T, home string) raw {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join(home, "run", "oxios.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return raw{t, conn, bufio.NewReader(conn)}
}

func (r raw) send(frame string) {
	r.t.Helper()
	if _, err := r.conn.Write([]byte(frame + "\n")); err != nil {
		r.t.Fatal(err)
	}
}

type frame struct {
	Oxios  int             `json:"oxios"`
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *sys.Error      `json:"error"`
}

func (r raw) next() frame {
	r.t.Helper()
	line, err := r.r.ReadBytes('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		r.t.Fatalf("%v in %s", err, line)
	}
	return f
}

func TestOtherProtocolVersionIsRefusedWithASentence(t *testing.T) {
	t.Parallel()
	s := setup(t)
	r := dialRaw(t, s.home)
	r.send(`{"oxios":2}`)
	f := r.next()
	if f.Error == nil || f.Error.Code != sys.CodeUnavailable || !strings.Contains(f.Error.Message, "version 2") || f.Error.Hint == "" {
		t.Errorf("got %+v, want a sentence about the versions", f.Error)
	}
	if _, err := r.r.ReadByte(); err == nil {
		t.Error("the connection is still open")
	}
}

func TestWrongTokenIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t)
	r := dialRaw(t, s.home)
	r.send(`{"oxios":1,"token":"guess"}`)
	if f := r.next(); f.Error == nil || f.Error.Code != sys.CodeForbidden {
		t.Errorf("got %+v, want forbidden", f.Error)
	}
}

func TestOversizedFrameIsAnsweredAndTheConnectionGoesOn(t *testing.T) {
	t.Parallel()
	s := setup(t)
	r := dialRaw(t, s.home)
	r.send(`{"oxios":1}`)
	r.next()
	r.send(`{"id":5,"method":"state.session","args":["` + strings.Repeat("x", 17<<20) + `"]}`)
	if f := r.next(); f.ID != 5 || f.Error == nil || f.Error.Code != sys.CodeTooLarge {
		t.Errorf("got %d %+v, want too_large for call 5", f.ID, f.Error)
	}
	r.send(`{"id":6,"method":"state.session","args":["1"]}`)
	if f := r.next(); f.ID != 6 || f.Error != nil {
		t.Errorf("got %d %+v, want the answer to call 6", f.ID, f.Error)
	}
}

func TestMalformedFramesHarmNobody(t *testing.T) {
	t.Parallel()
	s := setup(t)
	r := dialRaw(t, s.home)
	r.send(`{"oxios":1}`)
	r.next()
	good := []string{`{"id":1,"method":"state.session","args":["1"]}`, `{"id":2,"cancel":true}`, `{"id":3,"more":9999999999}`, `{"id":4,"method":"infra.events","args":[0]}`, `{"id":-1}`, `[]`, `null`, `{"id":9,"more":-5}`}
	rnd := rand.New(rand.NewPCG(1, 2))
	read := make(chan struct{})
	go func() {
		defer close(read)
		for {
			line, err := r.r.ReadString('\n')
			if err != nil || strings.HasPrefix(line, `{"id":424242,`) {
				return
			}
		}
	}()
	for range 10_000 {
		b := []byte(good[rnd.IntN(len(good))])
		for range rnd.IntN(4) {
			b[rnd.IntN(len(b))] = byte(rnd.IntN(256))
		}
		r.send(strings.ReplaceAll(string(b), "\n", " "))
	}
	r.send(`{"id":424242,"method":"state.session","args":["1"]}`)
	<-read
	if _, err := s.remote.State.Session(t.Context(), "1"); err != nil {
		t.Errorf("another connection: got %v, want none", err)
	}
}
