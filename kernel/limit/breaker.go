package limit

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"oxios/kernel/sys"
)

// BreakerConfig says when a breaker opens. Zero values take the defaults.
type BreakerConfig struct {
	Failures int           // consecutive ones that open it; 5
	Pause    time.Duration // before one request probes whether the provider works again; 30 s

	// OnChange is told every change of state, from the goroutine that caused
	// it, outside every lock. It may be nil.
	OnChange func(State)
}

// State is how a provider's breaker stands.
type State struct {
	Provider string    `json:"provider"`
	Open     bool      `json:"open"`              // requests are refused
	Probing  bool      `json:"probing"`           // the pause is over; the next request, or one under way, decides
	Failures int       `json:"failures"`          // consecutive ones, while closed
	RetryAt  time.Time `json:"retry_at,omitzero"` // while open
	Since    time.Time `json:"since,omitzero"`    // it opened last
}

// Breakers holds one circuit breaker per provider.
type Breakers struct {
	config BreakerConfig

	mu   sync.Mutex
	byID map[string]*breaker
}

type breaker struct {
	cb *gobreaker.TwoStepCircuitBreaker[struct{}]

	mu      sync.Mutex
	retryAt time.Time
	since   time.Time
	changed bool // since the last report
}

// NewBreakers returns breakers that are all closed.
func NewBreakers(config BreakerConfig) *Breakers {
	config.Failures = cmp.Or(config.Failures, 5)
	config.Pause = cmp.Or(config.Pause, 30*time.Second)
	return &Breakers{config: config, byID: map[string]*breaker{}}
}

// Do runs fn unless the breaker of the provider with this id is open. Then it
// returns a [sys.Error] of code unavailable at once, which calls the provider by
// its name and tells when it is tried again. Errors that are the caller's (see
// [Counts]) are no failures.
func (b *Breakers) Do(ctx context.Context, provider, name string, fn func(context.Context) error) error {
	br := b.get(provider)
	done, err := br.cb.Allow()
	if err != nil {
		return br.refusal(name, err)
	}
	b.report(provider, br)
	finished := false
	defer func() {
		if !finished { // fn panicked
			done(errors.New("panic"))
		}
		b.report(provider, br)
	}()
	err = fn(ctx)
	finished = true
	done(err)
	return err
}

func (b *Breakers) get(provider string) *breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	if br := b.byID[provider]; br != nil {
		return br
	}
	br := &breaker{}
	br.cb = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name:        provider,
		MaxRequests: 1,
		Timeout:     b.config.Pause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return int(c.ConsecutiveFailures) >= b.config.Failures },
		IsSuccessful: func(err error) bool {
			return err == nil || !Counts(err)
		},
		// Who stops a request learns nothing about the provider.
		IsExcluded: func(err error) bool { return sys.CodeOf(err) == sys.CodeCanceled },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			br.mu.Lock()
			defer br.mu.Unlock()
			br.changed, br.retryAt = true, time.Time{}
			if to == gobreaker.StateOpen {
				br.since = time.Now()
				br.retryAt = br.since.Add(b.config.Pause)
			}
		},
	})
	b.byID[provider] = br
	return br
}

// report tells a change that happened since the last report.
func (b *Breakers) report(provider string, br *breaker) {
	br.mu.Lock()
	changed := br.changed
	br.changed = false
	br.mu.Unlock()
	if changed && b.config.OnChange != nil {
		b.config.OnChange(br.state(provider))
	}
}

func (br *breaker) refusal(name string, err error) error {
	if errors.Is(err, gobreaker.ErrTooManyRequests) {
		return sys.Errorf(sys.CodeUnavailable, "The provider %s did not work; one request is just trying it again.", name).
			WithHint("Try again in a moment, or choose another provider.")
	}
	br.mu.Lock()
	at := br.retryAt
	br.mu.Unlock()
	wait := max(time.Until(at).Round(time.Second), time.Second)
	return sys.Errorf(sys.CodeUnavailable, "The provider %s failed several times in a row and is left alone until %s (%s from now).",
		name, at.Local().Format(time.TimeOnly), wait).
		WithHint("Wait, or choose another provider.")
}

func (br *breaker) state(provider string) State {
	s := State{Provider: provider}
	switch br.cb.State() {
	case gobreaker.StateOpen:
		s.Open = true
		br.mu.Lock()
		s.RetryAt, s.Since = br.retryAt.UTC(), br.since.UTC()
		br.mu.Unlock()
	case gobreaker.StateHalfOpen:
		s.Probing = true
		br.mu.Lock()
		s.Since = br.since.UTC()
		br.mu.Unlock()
	default:
		s.Failures = int(br.cb.Counts().ConsecutiveFailures)
	}
	return s
}

// State returns how a provider's breaker stands.
func (b *Breakers) State(provider string) State {
	br := b.get(provider)
	s := br.state(provider)
	return s
}

// Rest returns how long to wait until a provider is asked again: the rest of its
// pause, or a second while one request probes it. ok is false while its breaker is
// closed.
func (b *Breakers) Rest(provider string) (d time.Duration, ok bool) {
	switch s := b.State(provider); {
	case s.Open:
		return max(time.Until(s.RetryAt), 0) + time.Millisecond, true
	case s.Probing:
		return min(b.config.Pause, time.Second), true
	}
	return 0, false
}

// Open returns the breakers that are open or probe, by provider.
func (b *Breakers) Open() []State {
	b.mu.Lock()
	all := maps.Clone(b.byID)
	b.mu.Unlock()
	var out []State
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if s := all[id].state(id); s.Open || s.Probing {
			out = append(out, s)
		}
	}
	return out
}

// Reset closes a provider's breaker, for example because its settings changed.
func (b *Breakers) Reset(provider string) {
	b.mu.Lock()
	br := b.byID[provider]
	delete(b.byID, provider)
	b.mu.Unlock()
	if br != nil && br.state(provider) != (State{Provider: provider}) && b.config.OnChange != nil {
		b.config.OnChange(State{Provider: provider})
	}
}

// Counts reports whether an error says that the provider does not work. A
// refused key, an empty account, a conversation that is too long, an unknown
// model or a refusal all come from a provider that works.
func Counts(err error) bool {
	switch sys.CodeOf(err) {
	case sys.CodeNetwork, sys.CodeTimeout, sys.CodeStreamCut, sys.CodeProvider, sys.CodeRateLimit, sys.CodeUnavailable, sys.CodeInternal:
		return true
	}
	return false
}
