//go:build desktop || dev

package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

func TestOnlySessionLinksAreOpened(t *testing.T) {
	t.Parallel()

	const id = "0199c0de-0000-7000-8000-00000000000a"
	for link, want := range map[string]string{
		"oxios://session/" + id:                   id,
		"oxios://session/" + id + "/":             id,
		"oxios://session/" + strings.ToUpper(id):  id,
		"oxios://session/" + id + "?x=1":          "",
		"oxios://session/" + id + "/../..":        "",
		"oxios://session/../../etc/passwd":        "",
		"oxios://run/" + id:                       "",
		"https://session/" + id:                   "",
		"oxios://session/" + id + "\noxios://x/y": "",
		"": "",
	} {
		if got, ok := linked(link); got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v, want %q", link, got, ok, want)
		}
	}
	if _, err := wanted([]string{"--flag", "oxios://evil"}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want a sentence about the link", err)
	}
}

func TestSecondStartHandsOverToTheFirst(t *testing.T) {
	t.Parallel()

	home := filepath.Join(t.TempDir(), strings.Repeat("deep/", 30)) // longer than a socket's name may be
	first, err := claim(t.Context(), home, "desktop", handover{})
	if err != nil || first == nil {
		t.Fatalf("claim: %v, %v", first, err)
	}
	got := make(chan handover, 4)
	done := make(chan struct{})
	go func() {
		defer close(done)
		first.serve(t.Context(), func(h handover) { got <- h }, slog.New(slog.DiscardHandler))
	}()
	for _, link := range []string{"", "oxios://session/x"} {
		second, err := claim(t.Context(), home, "desktop", handover{Open: link})
		if err != nil || second != nil {
			t.Fatalf("got %v, %v for a second start, want that it hands over", second, err)
		}
		if h := <-got; h.Open != link {
			t.Errorf("got %q, want %q", h.Open, link)
		}
	}
	info, err := os.Stat(first.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	first.close()
	<-done
	next, err := claim(t.Context(), home, "desktop", handover{})
	if err != nil || next == nil {
		t.Fatalf("got %v, %v after the first ended, want the window", next, err)
	}
	next.close()
}

func TestMailIsKeptUntilAPageListens(t *testing.T) {
	t.Parallel()

	m := &mailbox{}
	m.keepNotice("closed_to_tray")
	if m.open("old") || m.open("new") {
		t.Error("got a page that listens before it subscribed")
	}
	if got := m.takeNotice(); got != "" {
		t.Errorf("got notice %q without a page", got)
	}
	if got := m.subscribe(); got != "new" {
		t.Errorf("got %q kept, want the last one", got)
	}
	if got := m.takeNotice(); got != "closed_to_tray" {
		t.Errorf("got notice %q", got)
	}
	if got := m.subscribe(); got != "" || m.takeNotice() != "" {
		t.Errorf("got %q a second time", got)
	}
	if !m.open("now") {
		t.Error("want that a page which listens is told at once")
	}
}

// bus is an InfraAPI with events alone.
type bus struct {
	remote.InfraAPI
	mu     sync.Mutex
	events []kernel.Event
	asked  []uint64
}

func (b *bus) Events(ctx context.Context, from uint64) (<-chan kernel.Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, from)
	c := make(chan kernel.Event, len(b.events))
	for _, e := range b.events {
		if e.Seq > from {
			c <- e
		}
	}
	context.AfterFunc(ctx, func() { close(c) })
	return c, nil
}

func TestEventsComeAgainForAPageThatAsksForOlderOnes(t *testing.T) {
	t.Parallel()

	b := &bus{events: []kernel.Event{{Seq: 7, Kind: "a"}, {Seq: 8, Kind: "b"}, {Seq: 9, Kind: "c", Data: func() {}}, {Seq: 10, Kind: "d"}}}
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan uint64, 32)
	e := &Events{
		kernel: func() (*remote.Handle, <-chan struct{}) { return &remote.Handle{Infra: b}, nil },
		ready:  func() {},
		emit: func(name string, data ...any) {
			var ev kernel.Event
			if err := json.Unmarshal([]byte(data[0].(string)), &ev); err != nil || name != "oxios:event" {
				t.Errorf("got %s %v: %v", name, data, err)
			}
			seen <- ev.Seq
		},
	}
	if _, err := e.Subscribe("0"); err == nil || !strings.Contains(err.Error(), `"code":"unavailable"`) {
		t.Errorf("got %v before the start, want a coded error", err)
	}
	e.start(ctx)
	next := func(want ...uint64) {
		t.Helper()
		for _, w := range want {
			select {
			case got := <-seen:
				if got != w {
					t.Errorf("got event %d, want %d", got, w)
				}
			case <-time.After(5 * time.Second):
				t.Fatalf("event %d did not come", w)
			}
		}
	}
	for _, from := range []string{"0", "0"} { // a second page from now on is served by the same stream
		if _, err := e.Subscribe(from); err != nil {
			t.Fatal(err)
		}
	}
	next(7, 8, 10) // 9 cannot be written
	if _, err := e.Subscribe("8"); err != nil {
		t.Fatal(err)
	}
	next(10)
	if _, err := e.Subscribe("-1"); err == nil || !strings.Contains(err.Error(), `"code":"invalid"`) {
		t.Errorf("got %v for no number", err)
	}
	cancel()
	<-e.done
	if len(b.asked) != 2 || b.asked[1] != 8 {
		t.Errorf("got streams from %v, want 0 and 8", b.asked)
	}
}

func TestPanicOfAWindowCallIsACodedError(t *testing.T) {
	t.Parallel()

	w := &Window{painted: func() { panic("boom") }}
	if _, err := w.Painted("[]"); err == nil || !strings.Contains(err.Error(), `"code":"internal"`) {
		t.Errorf("got %v, want a coded error", err)
	}
	_, err := (&Window{}).OpenURL(`["http://"]`)
	var text textError
	if !errors.As(err, &text) || !strings.Contains(text.Error(), `"code":"forbidden"`) {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestOnlyFilesOfTheHomeAreOpenedAndNoPrograms(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	outside := filepath.Join(t.TempDir(), "secret.txt")
	write := func(path string, mode os.FileMode) string {
		t.Helper()
		if err := os.WriteFile(path, []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(outside, 0o600)
	link := filepath.Join(home, "link.txt")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]sys.Code{
		write(filepath.Join(home, "a.txt"), 0o600): "",
		home:    "",
		outside: sys.CodeForbidden,
		link:    sys.CodeForbidden,
		write(filepath.Join(home, "run.sh"), 0o700):         sys.CodeForbidden,
		write(filepath.Join(home, "x.desktop"), 0o600):      sys.CodeForbidden,
		write(filepath.Join(home, "page.HTML"), 0o600):      sys.CodeForbidden,
		write(filepath.Join(home, "drawing.svg"), 0o600):    sys.CodeForbidden,
		filepath.Join(home, "..", filepath.Base(home), "b"): sys.CodeNotFound,
		"a.txt": sys.CodeInvalid,
	} {
		if _, err := ownPath(path); (want == "" && err != nil) || (want != "" && sys.CodeOf(err) != want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

func TestLanguageFollowsTheSettingThenTheSystem(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		setting string
		env     map[string]string
		want    bool
	}{
		{"ko", map[string]string{"LANG": "en_US.UTF-8"}, true},
		{"en", map[string]string{"LANG": "ko_KR.UTF-8"}, false},
		{"auto", map[string]string{"LANG": "ko_KR.UTF-8"}, true},
		{"auto", map[string]string{"LC_ALL": "C", "LANG": "ko_KR.UTF-8"}, false},
		{"auto", nil, false},
	} {
		if got := speaksKorean(tc.setting, func(n string) string { return tc.env[n] }); got != tc.want {
			t.Errorf("%s %v: got %v", tc.setting, tc.env, got)
		}
	}
	for _, key := range []string{"closed_to_tray", "minimised"} {
		for _, korean := range []bool{true, false} {
			if title, body := closing(key, korean); title == "" || body == "" {
				t.Errorf("%s: got nothing to say", key)
			}
		}
	}
}
