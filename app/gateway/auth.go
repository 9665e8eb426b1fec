package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"oxios/kernel/sys"
)

const (
	codeLife    = 10 * time.Minute
	sessionLife = 30 * 24 * time.Hour
	maxCodes    = 8
	maxSessions = 32
)

// digest is what is kept of a secret.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// is compares in a time that tells nothing.
func (d digest) is(secret string) bool {
	other := digestOf(secret)
	return subtle.ConstantTimeCompare(d[:], other[:]) == 1
}

// doors keeps who may come in: codes that were minted and browsers that used one.
type doors struct {
	clock sys.Clock

	mu       sync.Mutex
	codes    []pass
	sessions []pass
}

// pass is a code (one secret) or a browser (a cookie and a second secret).
type pass struct {
	first, second digest
	ends          time.Time
}

func newSecret() string {
	var b [32]byte
	// It never fails: since Go 1.24 a system without randomness ends the process.
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func (d *doors) mint() string {
	code := newSecret()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.codes = add(d.codes, pass{first: digestOf(code), ends: d.clock.Now().Add(codeLife)}, maxCodes)
	return code
}

// redeem takes a code out of use and returns the two secrets of a new session.
func (d *doors) redeem(code string) (cookie, secret string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := find(d.codes, d.clock.Now(), func(p pass) bool { return p.first.is(code) })
	if i < 0 {
		return "", "", false
	}
	d.codes = append(d.codes[:i], d.codes[i+1:]...)
	cookie, secret = newSecret(), newSecret()
	d.sessions = add(d.sessions, pass{digestOf(cookie), digestOf(secret), d.clock.Now().Add(sessionLife)}, maxSessions)
	return cookie, secret, true
}

// knows reports whether a session has this cookie, which proves little: every
// port of this host is sent it.
func (d *doors) knows(cookie string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return find(d.sessions, d.clock.Now(), func(p pass) bool { return p.first.is(cookie) }) >= 0
}

// opens reports whether both secrets belong to one session.
func (d *doors) opens(cookie, secret string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return find(d.sessions, d.clock.Now(), func(p pass) bool { return p.first.is(cookie) && p.second.is(secret) }) >= 0
}

// add appends p and drops the oldest when there are more than most.
func add(list []pass, p pass, most int) []pass {
	if len(list) >= most {
		list = list[len(list)-most+1:]
	}
	return append(list, p)
}

// find looks at every pass, so that its time does not tell which one fits.
func find(list []pass, now time.Time, fits func(pass) bool) int {
	found := -1
	for i, p := range list {
		if fits(p) && now.Before(p.ends) {
			found = i
		}
	}
	return found
}

// cookieName carries the port, because all ports of a host share their cookies.
func cookieName(port int) string { return "oxios_" + strconv.Itoa(port) }

// exchange turns a code into the two secrets of a browser.
func (g *Gateway) exchange(w http.ResponseWriter, r *http.Request, port int) {
	if r.Header.Get("Content-Type") != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, sys.Errorf(sys.CodeInvalid, "The code must come as JSON."))
		return
	}
	var in struct {
		Code string `json:"code"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, sys.Errorf(sys.CodeInvalid, "The code cannot be read."))
		return
	}
	cookie, secret, ok := g.doors.redeem(in.Code)
	// Only what does not fit is counted: whoever tries wrong ones keeps nobody with the right one out. A code is
	// 256 random bits, so that no number of attempts finds one.
	if !ok && !g.auth.Allow() {
		w.Header().Set("Retry-After", "2")
		refuse(w, http.StatusTooManyRequests, sys.Errorf(sys.CodeRateLimit, "Too many attempts.").WithHint("Wait a moment, then open the address again."))
		return
	}
	if !ok {
		g.cfg.Log.WarnContext(r.Context(), "A code for the page was refused")
		refuse(w, http.StatusUnauthorized, sys.Errorf(sys.CodeForbidden, "This address was used already, or is older than ten minutes.").
			WithHint("`oxios address` prints a new one."))
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(port), Value: cookie, Path: "/", MaxAge: int(sessionLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"secret": secret})
}
