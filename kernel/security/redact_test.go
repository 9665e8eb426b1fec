package security

import (
	"strings"
	"sync"
	"testing"
	"time"
)

type secretRow struct {
	ID, Text, Kind, Note string
	Secrets              []string
	MustRedact           bool `json:"must_redact"`
}

func TestSecretCorpus(t *testing.T) {
	t.Parallel()
	var must, masked, harmless, touched int
	for _, row := range append(readCorpus[secretRow](t, "secrets.jsonl"), readCorpus[secretRow](t, "red-secrets.jsonl")...) {
		out, n := Redact(row.Text)
		if again, _ := Redact(out); again != out {
			t.Errorf("%s: not stable:\n%q\n%q", row.ID, out, again)
		}
		if (n > 0) != (out != row.Text) {
			t.Errorf("%s: got %d masked, text changed: %v", row.ID, n, out != row.Text)
		}
		if !row.MustRedact {
			harmless++
			if out != row.Text {
				touched++
				t.Logf("touched: %s %q -> %q", row.Kind, row.Text, out)
			}
			continue
		}
		must++
		kept := false
		for _, s := range row.Secrets {
			kept = kept || strings.Contains(out, s)
		}
		if kept {
			t.Errorf("%s %s: %q -> %q", row.ID, row.Kind, row.Text, out)
			continue
		}
		masked++
	}
	t.Logf("masked %d of %d; touched %d of %d harmless rows (%.1f %%)", masked, must, touched, harmless, 100*float64(touched)/float64(harmless))
	if touched*100 > harmless*5 {
		t.Errorf("got %d of %d harmless rows touched, want at most 5 %%", touched, harmless)
	}
}

func TestRedactKeepsWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "db_password = get_password()", "const token = parser.next()", "apiKey: process.env.API_KEY", "max_tokens = 200000", "tokens: 128000",
		"secretName: my-app-secret", "The password is required for login.", "commit 3f786850e387550fdab836ed7e6dc881de23001b", "case token.EOF:",
		"git@github.com:foo/bar.git", "password: ${DB_PASSWORD}", "Authorization: Bearer <token>", "비밀번호를 입력하세요", "X-Api-Key: <key>", "X-Api-Key: $KEY", "Private-Token: ${TOKEN}", "The X-Api-Key header is required.", "https://example.com/a?b=c",
		"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
	} {
		if out, n := Redact(s); out != s || n != 0 {
			t.Errorf("got %q (%d), want %q as it is", out, n, s)
		}
	}
}

func TestRedactMasksOnlyTheSecret(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"export API_KEY=ab12cd34ef56gh78 # mine":                                  "export API_KEY=[secret:API_KEY] # mine",
		"postgres://u:s3cr3tP@ss@db.example/x":                                    "postgres://u:[secret:password]@db.example/x",
		`{"password":"hunter2!","user":"me"}`:                                     `{"password":"[secret:password]","user":"me"}`,
		"mysql --password hunter2x -h db":                                         "mysql --password [secret:password] -h db",
		"curl -u me:hunter2x https://x.example":                                   "curl -u me:[secret:password] https://x.example",
		"X-Api-Key: 48213344":                                                     "X-Api-Key: [secret:X-Api-Key]",
		"< x-auth-token: hunterx":                                                 "< x-auth-token: [secret:x-auth-token]",
		`curl -H "X-Api-Key: abcd" x.example`:                                     `curl -H "X-Api-Key: [secret:X-Api-Key]" x.example`,
		"GET / HTTP/1.1\nPrivate-Token: plain\n":                                  "GET / HTTP/1.1\nPrivate-Token: [secret:Private-Token]\n",
		"비밀번호: 비밀12345":                                                           "비밀번호: [secret:비밀번호]",
		"log AKIAIOSFODNN7EXAMPLE end":                                            "log [secret:key] end",
		"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkq\n", 5): "[secret:private-key]",
	} {
		if out, n := Redact(in); out != want || n != 1 {
			t.Errorf("%q: got %q (%d), want %q", in, out, n, want)
		}
	}
}

func TestRedactorMasksKnownValues(t *testing.T) {
	t.Parallel()
	r := NewRedactor("plain words here", "dev", "")
	r.AddSecret("pass/word+1 ")
	out, n := r.Redact("a plain words here b dev pass/word+1 c pass%2Fword%2B1 cGFzcy93b3JkKzE=")
	if want := "a [secret:known] b dev [secret:known] c [secret:known] [secret:known]"; out != want || n != 4 {
		t.Errorf("got %q (%d), want %q (4)", out, n, want)
	}
	if again, n := r.Redact(out); again != out || n != 0 {
		t.Errorf("got %q (%d), want its own output unchanged", again, n)
	}
}

func TestRedactorIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var r Redactor
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			value := "secret-value-" + string(rune('a'+i))
			for range 50 {
				r.AddSecret(value)
				if out, _ := r.Redact("x " + value); strings.Contains(out, value) {
					t.Errorf("got %q, want %q masked", out, value)
				}
			}
		})
	}
	wg.Wait()
}

// A megabyte of the worst for each finder takes about a tenth of a second;
// anything that grows faster than its text would take minutes.
func TestRedactTakesTimeInProportion(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"token=", "sk-", "eyJ", "://", "://a:b@", "-----BEGIN PRIVATE KEY-----", "password=\"", "x", "password: \"a\" ", "ghp_aaaa1", "authorization: ", "a.b-c_", "cookie: a="} {
		start := time.Now()
		Redact(strings.Repeat(unit, (1<<20)/len(unit)))
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%q: a megabyte took %v", unit, d)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("password=\"x\" token: ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789 https://a:b1c2d3@h Cookie: a=bcdefghij1")
	f.Add("pAssword=0\x8000 ,0011")
	f.Fuzz(func(t *testing.T, s string) {
		once, n := Redact(s)
		if twice, more := Redact(once); twice != once || more != 0 {
			t.Errorf("%q: got %q, then %q", s, once, twice)
		}
		if n == 0 && once != s {
			t.Errorf("%q changed without a mask: %q", s, once)
		}
	})
}
