package mcp

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/guard"
	"oxios/kernel/store"
)

// The times of a call. What a server tells of its progress ends the first of them anew, and never the second; neither passes
// while the person is asked something for the server.
const (
	callTime   = 5 * time.Minute  // of a call, as long as nothing is heard of it
	longestRun = 30 * time.Minute // of a call at all
	tellEvery  = 200 * time.Millisecond
)

// underway is one call that a server works on.
type underway struct {
	c     *guard.Caller
	ctx   context.Context // of the call; it ends with it
	outer context.Context // of who has the call made
	tool  Tool
	token string
	began time.Time

	end context.CancelFunc

	mu           sync.Mutex
	silent, long *time.Timer
	questions    int        // that the server had in this call
	asking       int        // questions for the person that are open
	told         time.Time  // when its progress was passed on last
	cost         store.Cost // of the model that was asked for it
	denied       error
	asked        []string // what the server wanted and did not get, for the model
}

type underwayKey struct{}

// begin notes that a server works on a call, until done is called.
func (l *live) begin(ctx context.Context, c *guard.Caller, tool Tool) (u *underway, done func()) {
	u = &underway{c: c, outer: ctx, tool: tool, began: time.Now()}
	u.ctx, u.end = context.WithCancel(ctx)
	u.silent, u.long = time.AfterFunc(callTime, u.end), time.AfterFunc(longestRun, u.end)
	l.mu.Lock()
	l.tokens++
	u.token = strconv.Itoa(l.tokens)
	l.under = append(l.under, u)
	l.mu.Unlock()
	u.ctx = context.WithValue(u.ctx, underwayKey{}, u)
	return u, func() {
		u.end()
		u.silent.Stop()
		u.long.Stop()
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, other := range l.under {
			if other == u {
				l.under = append(l.under[:i:i], l.under[i+1:]...)
			}
		}
	}
}

// over says after which time a call was ended that did not end by itself.
func (u *underway) over() time.Duration { return time.Since(u.began).Round(time.Second) }

// park stops the times of a call until back is called: its server waits for the person.
func (u *underway) park() (back func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.asking++; u.asking == 1 {
		u.silent.Stop()
		u.long.Stop()
	}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.asking--; u.asking == 0 && u.ctx.Err() == nil {
			u.silent.Reset(callTime)
			u.long.Reset(longestRun)
		}
	}
}

// heard takes note of progress. It reports whether that should be told: not more often than a person can read it.
func (u *underway) heard() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.asking == 0 && u.ctx.Err() == nil {
		u.silent.Reset(callTime)
	}
	if time.Since(u.told) < tellEvery {
		return false
	}
	u.told = time.Now()
	return u.ctx.Err() == nil
}

// refuse notes for the model that the server wanted something and did not get it.
func (u *underway) refuse(why string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.asked) < 3 {
		u.asked = append(u.asked, "(Oxios: "+why+")")
	}
}

// call is the call to which what a server asks belongs. In versions of the protocol that do not say it, it is the one that
// began last; nil where none is under way.
func (l *live) call(ctx context.Context) *underway {
	if u, ok := ctx.Value(underwayKey{}).(*underway); ok {
		return u
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.under) == 0 {
		return nil
	}
	return l.under[len(l.under)-1]
}

// progress passes on what a server says of a call that it works on. What it says of others is nothing.
func (l *live) progress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	l.mu.Lock()
	var of *underway
	for _, u := range l.under {
		if u.token == token {
			of = u
		}
	}
	l.mu.Unlock()
	if of == nil || !of.heard() {
		return
	}
	text := plain(r.Params.Message, 200)
	if total := r.Params.Total; total > 0 {
		share := fmt.Sprintf("%.0f %%", max(0, min(100, 100*r.Params.Progress/total)))
		if text != "" {
			text = share + " · " + text
		} else {
			text = share
		}
	}
	if text != "" {
		l.s.c.Progress(of.ctx, of.c, l.s.c.Mask(text))
	}
}
