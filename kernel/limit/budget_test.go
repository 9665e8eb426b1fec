package limit

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oxios/kernel/store"
)

// shelf are books in memory.
type shelf struct {
	day  store.Limits
	runs map[string]store.Limits
	cost store.Cost // of the day, before
	span time.Duration
}

func (s shelf) DayLimits() store.Limits { return s.day }
func (s shelf) RunLimits(_ context.Context, run string) (store.Limits, error) {
	return s.runs[run], nil
}
func (s shelf) DayCost(context.Context, time.Time) (store.Cost, error) { return s.cost, nil }
func (s shelf) TreeCost(context.Context, string) (store.Cost, error)   { return store.Cost{}, nil }

func num(n int64) *int64 { return &n }

func newBudgets(s shelf) *Budgets {
	return NewBudgets(&s, nil, func() *time.Location { return time.UTC }, func() time.Duration { return s.span })
}

// Whatever calls reserve and use, what is spent and held together stays within
// every limit at every moment, and in the end it is the sum of what was used.
func TestSpentAndHeldNeverExceedAnyLimit(t *testing.T) {
	t.Parallel()
	tree := map[string]store.Limits{"root": {Tokens: num(400_000)}, "child": {Tokens: num(150_000)}}
	b := newBudgets(shelf{day: store.Limits{Tokens: num(500_000), Calls: num(60)}, runs: tree})
	check := func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for name, a := range map[string]*account{"day": &b.day, "root": b.runs["root"], "child": b.runs["child"]} {
			most := map[string]int64{"day": 500_000, "root": 400_000, "child": 150_000}[name]
			if a != nil && a.spent.Tokens+a.held.Tokens > most {
				t.Errorf("%s: %d spent and %d held of %d", name, a.spent.Tokens, a.held.Tokens, most)
			}
		}
	}
	var used Amount
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 50 {
		runs := [][]string{{"root"}, {"child", "root"}, {"other"}}[i%3]
		wg.Go(func() {
			for range 4 {
				input := rand.Int64N(8000)
				hold, err := b.Reserve(t.Context(), Claim{Runs: runs, Input: input, Output: 8192})
				if short, ok := errors.AsType[*Short](err); ok {
					if short.Limit == 0 || short.Used+short.Needs <= short.Limit {
						t.Errorf("got %+v, which is not short", short)
					}
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				check()
				c := store.Cost{Calls: 1, Input: int(rand.Int64N(input + 1)), Output: int(rand.Int64N(hold.Output + 1))}
				hold.Settle(c)
				hold.Release() // does nothing any more
				mu.Lock()
				used = used.plus(AmountOf(c))
				mu.Unlock()
				check()
			}
		})
	}
	wg.Wait()
	if b.day.spent != used || b.Held() != (Amount{}) {
		t.Errorf("got %+v spent and %+v held, want %+v and nothing", b.day.spent, b.Held(), used)
	}
}

func TestCallWaitsForWhatOthersHoldAndGoesOnWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudgets(shelf{day: store.Limits{Tokens: num(10_000)}})
		first, err := b.Reserve(t.Context(), Claim{Runs: []string{"a"}, Input: 1000, Output: 8192})
		if err != nil {
			t.Fatal(err)
		}
		var second *Hold
		go func() {
			second, err = b.Reserve(t.Context(), Claim{Runs: []string{"b"}, Input: 1000, Output: 8192})
		}()
		synctest.Wait()
		if second != nil || err != nil {
			t.Fatalf("got %+v, %v while the first holds nearly all", second, err)
		}
		first.Release()
		synctest.Wait()
		if second == nil || err != nil || second.Output != 8192 || second.Scarce {
			t.Errorf("got %+v, %v, want all that it asked for", second, err)
		}
	})
}

func TestLittleIsLeftMakesAShorterAnswerOrNone(t *testing.T) {
	t.Parallel()
	b := newBudgets(shelf{day: store.Limits{Tokens: num(10_000)}, cost: store.Cost{Calls: 1, Input: 5000}})
	hold, err := b.Reserve(t.Context(), Claim{Input: 2000, Output: 8192})
	if err != nil || hold.Output != 3000 || !hold.Scarce {
		t.Fatalf("got %+v, %v, want the 3000 that are left", hold, err)
	}
	hold.Settle(store.Cost{Calls: 1, Input: 2000, Output: 2500})
	if _, err := b.Reserve(t.Context(), Claim{Input: 100, Output: 8192}); err == nil {
		t.Error("a call was let through that has no room for an answer")
	}
}

func TestShorterWindowHoldsUntilItsEndAndNoLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudgets(shelf{day: store.Limits{Calls: num(1)}, span: time.Hour})
		claim := Claim{Runs: []string{"a"}, Input: 10, Output: 8192}
		for range 3 {
			from, until := b.Window()
			if until.Sub(from) != time.Hour || time.Now().Before(from) || !time.Now().Before(until) {
				t.Fatalf("got a window from %s to %s", from, until)
			}
			hold, err := b.Reserve(t.Context(), claim)
			if err != nil {
				t.Fatal(err)
			}
			hold.Settle(store.Cost{Calls: 1})
			time.Sleep(time.Until(until) - time.Second)
			if _, err := b.Reserve(t.Context(), claim); err == nil {
				t.Fatal("a second call of the window was let through")
			}
			time.Sleep(time.Second)
		}
	})
}

func TestNewDayBeginsWithItsOwnAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudgets(shelf{day: store.Limits{Calls: num(1)}})
		claim := Claim{Runs: []string{"a"}, Input: 10, Output: 8192}
		hold, err := b.Reserve(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		hold.Settle(store.Cost{Calls: 1})
		if _, err := b.Reserve(t.Context(), claim); err == nil {
			t.Fatal("a second call of the day was let through")
		}
		_, until := b.Window()
		time.Sleep(time.Until(until))
		if _, err := b.Reserve(t.Context(), claim); err != nil {
			t.Errorf("on the next day: %v", err)
		}
	})
}
