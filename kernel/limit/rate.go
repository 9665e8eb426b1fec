package limit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"oxios/kernel/sys"
)

// Rates holds one limit on requests per minute for each provider. The zero
// value limits nothing.
type Rates struct {
	mu   sync.Mutex
	byID map[string]*limiter
}

type limiter struct {
	*rate.Limiter
	perMinute int
}

// Set limits a provider to perMinute requests in any minute; 0 or less lifts
// the limit. Setting the same limit again keeps what was used of it.
func (r *Rates) Set(provider string, perMinute int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[string]*limiter{}
	}
	if perMinute <= 0 {
		delete(r.byID, provider)
		return
	}
	if old := r.byID[provider]; old != nil && old.perMinute == perMinute {
		return
	}
	// A quarter may come at once; the rest is spread, so that burst and refill
	// together never exceed the limit in a minute.
	burst := max(perMinute/4, 1)
	refill := float64(max(perMinute-burst, 1))
	r.byID[provider] = &limiter{rate.NewLimiter(rate.Limit(refill/60), burst), perMinute}
}

// Wait blocks until the provider may be asked. It returns a [sys.Error] when
// ctx ends, or would end, first.
func (r *Rates) Wait(ctx context.Context, provider string) error {
	r.mu.Lock()
	l := r.byID[provider]
	r.mu.Unlock()
	if l == nil {
		return nil
	}
	if err := l.Limiter.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return sys.AsError(ctx.Err())
		}
		return sys.Errorf(sys.CodeRateLimit, "The limit of %d requests per minute for %s leaves no place before the time is over.", l.perMinute, provider).
			WithHint("Wait a moment, or raise the limit in Settings, Models.")
	}
	return nil
}

// Delay is how long a request would wait now.
func (r *Rates) Delay(provider string) time.Duration {
	r.mu.Lock()
	l := r.byID[provider]
	r.mu.Unlock()
	if l == nil {
		return 0
	}
	missing := 1 - l.Tokens()
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(l.Limit()) * float64(time.Second))
}
