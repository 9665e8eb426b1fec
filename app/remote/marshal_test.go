package remote_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net"
	"testing"

	"oxios/app/remote"
	"oxios/kernel/sys"
)

func TestMarshalWritesListsNeverNull(t *testing.T) {
	t.Parallel()
	type inner struct {
		Names []string       `json:"names"`
		Notes map[string]int `json:"notes"`
		Next  *inner         `json:"next,omitempty"`
	}
	type outer struct {
		inner
		All   []inner          `json:"all"`
		ByKey map[string]inner `json:"by_key"`
		Any   any              `json:"any"`
		Raw   json.RawMessage  `json:"raw"`
		Bytes []byte           `json:"bytes"`
		Gone  []string         `json:"gone,omitempty"`
		kept  []string
	}
	shared := []inner{{Names: []string{"a"}, Notes: map[string]int{}}, {}}
	v := outer{All: shared, ByKey: map[string]inner{"k": {}}, Any: []inner{{Next: &inner{}}}, kept: nil}
	const empty = `{"names":[],"notes":{}}`
	for in, want := range map[any]string{
		&v:                  `{"names":null,"notes":null,"all":[{"names":["a"],"notes":{}},` + empty + `],"by_key":{"k":` + empty + `},"any":[{"names":[],"notes":{},"next":` + empty + `}],"raw":null,"bytes":null}`,
		&[]string{"<b>&\n"}: `["<b>&\n"]`,
		nil:                 `null`,
		"text":              `"text"`,
		new([]string):       `[]`,
	} {
		got, err := remote.Marshal(in)
		if err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
	if shared[1].Names != nil || v.ByKey["k"].Names != nil {
		t.Error("the kernel's own values were changed")
	}
	for _, bad := range []any{math.NaN(), func() {}, map[string]any{"x": math.Inf(1)}} {
		_, err := remote.Marshal(bad)
		wantCode(t, err, sys.CodeInternal)
	}
}

func BenchmarkCallOverTheSocket(b *testing.B) {
	f := newFake()
	home := b.TempDir()
	ln, err := remote.Listen(home)
	if err != nil {
		b.Fatal(err)
	}
	benchServe(b, ln, f)
	c, err := remote.Dial(b.Context(), home)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	h := c.Handle()
	for b.Loop() {
		if _, err := h.State.ExportSession(b.Context(), "a", "md"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarshalEvent(b *testing.B) {
	e := map[string]any{"seq": 1, "data": map[string]any{"text": "token", "list": []string(nil)}}
	for b.Loop() {
		if _, err := remote.Marshal(e); err != nil {
			b.Fatal(err)
		}
	}
}

func benchServe(b *testing.B, ln net.Listener, f *fake) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- remote.Serve(ctx, ln, func(remote.Peer) (*remote.Handle, error) { return f.handle(), nil }, slog.New(slog.DiscardHandler))
	}()
	b.Cleanup(func() { cancel(); <-done })
}
