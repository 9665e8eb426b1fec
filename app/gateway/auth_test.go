package gateway_test

import (
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestCodeWorksOnceAndNeverAgain(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	code := s.g.Code()
	status, cookie, secret := s.exchange(code)
	if status != 200 || secret == "" || cookie == nil {
		t.Fatalf("got %d, secret %q, cookie %v, want to be let in", status, secret, cookie)
	}
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Name != "oxios_"+s.port || cookie.Path != "/" {
		t.Errorf("got cookie %v, want HttpOnly, SameSite=Strict and the port in its name", cookie)
	}
	passed := 0
	for range 10_000 {
		if status, _, _ := s.exchange(code); status == 200 {
			passed++
		}
	}
	if passed != 0 {
		t.Errorf("%d of 10,000 replays passed, want none", passed)
	}
}

func TestCodesThatAreOldOrManyDoNotWork(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	old := s.g.Code()
	s.now.Store(int64(10*time.Minute + time.Second))
	if status, _, _ := s.exchange(old); status != http.StatusUnauthorized {
		t.Errorf("a code of 10 minutes: got %d, want 401", status)
	}
	first := s.g.Code()
	var last string
	for range 8 {
		last = s.g.Code()
	}
	if status, _, _ := s.exchange(first); status != http.StatusUnauthorized {
		t.Errorf("the ninth youngest code: got %d, want 401", status)
	}
	if status, _, _ := s.exchange(last); status != 200 {
		t.Errorf("the youngest code: got %d, want 200", status)
	}
}

func TestOneCodeLetsOneOfManyIn(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	code := s.g.Code()
	var in atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if status, _, _ := s.exchange(code); status == 200 {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d were let in, want 1", in.Load())
	}
}

func TestGuessingIsSlowedDown(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	slowed := false
	for range 50 {
		status, _, _ := s.exchange("guess")
		slowed = slowed || status == http.StatusTooManyRequests
	}
	if !slowed {
		t.Error("50 guesses in a row, and none was turned away")
	}
	// Whoever has the right one comes in all the same, and their page connects.
	status, cookie, secret := s.exchange(s.g.Code())
	if status != 200 || secret == "" {
		t.Fatalf("the right code after 50 wrong ones: got %d, want 200", status)
	}
	for range 50 {
		resp, _ := s.do("GET", "/ws", s.host, "", "Origin", "http://"+s.host)
		slowed = slowed && resp.StatusCode != 200
	}
	s.upgrade(cookie)
}

func TestExchangeRefusesWhatIsNoCode(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	for body, want := range map[string]int{`{"code":""}`: 401, `{}`: 401, `{`: 400, `[]`: 400, `{"code":"` + strings.Repeat("x", 8<<10) + `"}`: 400} {
		if resp, _ := s.do("POST", "/auth", s.host, body, "Origin", "http://"+s.host, "Content-Type", "application/json"); resp.StatusCode != want {
			t.Errorf("%.40s: got %d, want %d", body, resp.StatusCode, want)
		}
	}
	if resp, _ := s.do("POST", "/auth", s.host, `{"code":"x"}`, "Origin", "http://"+s.host, "Content-Type", "text/plain"); resp.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("as text: got %d, want 415", resp.StatusCode)
	}
}

func TestAddressOpensThePage(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	url, code, ok := strings.Cut(s.g.URL(s.addr), "#code=")
	if !ok || url != "http://"+s.host+"/" || len(code) < 43 {
		t.Fatalf("got %q and code %q, want the address and 32 random bytes", url, code)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.http.Jar = jar
	if status, _, _ := s.exchange(code); status != 200 {
		t.Errorf("got %d, want the code of the address to work", status)
	}
}
