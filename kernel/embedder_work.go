package kernel

import (
	"context"
	"math"
	"slices"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/memory"
	"oxios/kernel/sys"
)

// How long the worker waits before it tries again what failed, and before it
// looks for memories of which nobody told it. The pause doubles each time.
const (
	firstEmbedPause = 5 * time.Second
	maxEmbedPause   = 10 * time.Minute
	embedPoll       = 5 * time.Minute
)

// keepEmbedded makes the vectors that are missing: of new memories soon after
// they came, and of all when the embedder changed. It works one batch after
// another, so that whoever waits for the provider gets their turn between them.
func (k *Kernel) keepEmbedded(ctx context.Context) error {
	e := k.embeddings
	events := k.bus.Read(0, func(ev event.Event) bool {
		switch ev.Kind {
		case event.MemoryChanged, event.ConfigChanged, event.ProviderChange, event.Restored:
			return true
		}
		return false
	}).Chan(ctx)
	pause := firstEmbedPause
	for {
		ref := e.configured()
		err := e.pass(ctx, ref)
		if ctx.Err() != nil {
			return nil
		}
		e.ended(ctx, err)
		wait := embedPoll
		if err != nil {
			k.log.InfoContext(ctx, "Memories could not be embedded", "embedder", ref, "error", err)
			wait, pause = pause, min(2*pause, maxEmbedPause)
		} else {
			pause = firstEmbedPause
		}
		if !e.rest(ctx, events, wait, err != nil) {
			pause = firstEmbedPause
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// rest waits until there may be something to do, or to try again, and reports
// whether the time alone has passed. What failed is not tried again for each
// memory that comes.
func (e *embeddings) rest(ctx context.Context, events <-chan event.Event, wait time.Duration, failed bool) (passed bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	e.k.network.mu.Lock()
	again := e.k.network.again
	e.k.network.mu.Unlock()
	budget := e.k.budgets.Changed()
	if !failed {
		again, budget = nil, nil
	}
	for {
		select {
		case <-ctx.Done():
			return true
		case <-timer.C:
			return true
		case <-e.due:
			return false
		case <-again: // the network is back, or the person wants it tried
			return true
		case <-budget:
			if e.short() {
				return true
			}
			budget = e.k.budgets.Changed()
		case ev, ok := <-events:
			switch {
			case !ok:
				return true // the bus is closed, and ctx about to end
			case !failed, ev.Kind != event.MemoryChanged:
				return false
			}
		}
	}
}

// short reports whether a limit is what it stands still for.
func (e *embeddings) short() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed != nil && e.failed.Code == sys.CodeBudget
}

// pass makes all vectors that an embedder has not made yet. Those of others go
// when it has.
func (e *embeddings) pass(ctx context.Context, ref string) error {
	if ref == "" {
		_, err := e.k.memories.DropOthers(ctx, "")
		return err
	}
	for e.configured() == ref {
		by, known := e.Learned(ctx)
		if !known {
			e.begun(ctx)
			l, err := e.meet(ctx, ref)
			if err != nil {
				return err
			}
			by = l
		}
		left, err := e.k.memories.Unembedded(ctx, ref, embedBatch)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			_, err := e.k.memories.DropOthers(ctx, ref)
			return err
		}
		e.begun(ctx)
		if err := e.sent(ctx, ref, len(left)); err != nil {
			return err
		}
		made, err := e.ofMemories(ctx, by, left)
		if err != nil {
			return err
		}
		if e.configured() != ref || e.gone(by) {
			continue
		}
		if err := e.k.memories.KeepVectors(ctx, by, made); err != nil {
			return err
		}
		e.tell(ctx, false)
	}
	return nil
}

// gone reports whether the vectors of an embedder were deleted meanwhile, to be
// made anew.
func (e *embeddings) gone(by memory.Learned) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known != by
}

// begun notes that vectors are made now.
func (e *embeddings) begun(ctx context.Context) {
	e.mu.Lock()
	fresh := !e.running
	if e.running = true; fresh {
		e.since = e.k.clock.Now()
	}
	e.mu.Unlock()
	if fresh {
		e.tell(ctx, true)
	}
}

// ended notes how a pass ended.
func (e *embeddings) ended(ctx context.Context, err error) {
	e.mu.Lock()
	changed := e.running || (e.failed == nil) != (err == nil)
	e.running = false
	switch {
	case err == nil:
		e.failed = nil
	default:
		if e.failed == nil {
			e.since = e.k.clock.Now()
		}
		e.failed = sys.AsError(err)
	}
	e.mu.Unlock()
	if changed {
		e.tell(ctx, true)
	}
}

// ofMemories embeds memories, each by its passages.
func (e *embeddings) ofMemories(ctx context.Context, by memory.Learned, all []memory.Unembedded) ([]memory.Embedded, error) {
	var passages []string
	var of []int
	out := make([]memory.Embedded, len(all))
	for i, u := range all {
		out[i].Unembedded = u
		for _, p := range memory.Passages(u.Text) {
			passages, of = append(passages, p), append(of, i)
		}
	}
	for batch := range slices.Chunk(passages, embedBatch) {
		if e.configured() != by.ID {
			return nil, nil // the rest goes to nobody
		}
		made, err := e.vectors(ctx, by, batch, math.MaxInt)
		if err != nil {
			return nil, err
		}
		for i, v := range made {
			m := &out[of[i]]
			m.Vectors, m.Cut = append(m.Vectors, v.numbers), m.Cut || v.cut
		}
		of = of[len(made):]
	}
	return out, nil
}

// vector is one that was made.
type vector struct {
	numbers []float32
	cut     bool // of the beginning of its text alone
}

// vectors embeds texts. A batch that is too long for the model is halved, and a
// text that is too long cut, until it fits.
func (e *embeddings) vectors(ctx context.Context, by memory.Learned, all []string, most int) ([]vector, error) {
	texts := make([]string, len(all))
	for i, t := range all {
		texts[i] = firstRunes(t, most)
	}
	batch, cancel := context.WithTimeout(ctx, batchTime)
	found, err := e.k.embed(batch, by.ID, texts)
	cancel()
	switch code := sys.CodeOf(err); {
	case code != sys.CodeContextLength && code != sys.CodeTooLarge:
	case len(all) > 1:
		half := len(all) / 2
		one, err := e.vectors(ctx, by, all[:half], most)
		if err != nil {
			return nil, err
		}
		two, err := e.vectors(ctx, by, all[half:], most)
		return append(one, two...), err
	case most > embedLeast:
		return e.vectors(ctx, by, all, max(min(most, len(texts[0]))/2, embedLeast))
	}
	if err != nil {
		return nil, err
	}
	out := make([]vector, len(all))
	for i, t := range all {
		if len(found[i]) != by.Dim {
			return nil, errOtherDim(by, len(found[i]))
		}
		out[i] = vector{found[i], len(texts[i]) < len(t)}
	}
	return out, nil
}

// meet asks an embedder for its first vectors: how many numbers they have, and
// how alike it finds sentences that have nothing in common. Every embedder has
// its own idea of that, and what is not above it is chance.
func (e *embeddings) meet(ctx context.Context, ref string) (memory.Learned, error) {
	l := memory.Learned{ID: ref}
	asking, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	all, err := e.k.embed(asking, ref, unrelated())
	if err != nil {
		return l, err
	}
	l.Dim, l.Chance = len(all[0]), chanceOf(all)
	if err := e.k.memories.KeepEmbedder(ctx, l); err != nil {
		return l, err
	}
	e.know(l)
	return l, nil
}

// unrelated are sentences that have nothing to do with each other.
func unrelated() []string {
	return []string{
		"The printer stands in the cellar.",
		"Photosynthesis turns light into sugar.",
		"She plays the violin on Thursdays.",
		"The contract ends in March.",
		"Goats climb surprisingly steep cliffs.",
		"Add two spoons of soy sauce.",
		"The parser fails on empty input.",
		"Snow closed the mountain pass.",
		"내일 치과 예약이 있다.",
		"고양이가 창가에서 잔다.",
		"서버 인증서가 만료되었다.",
		"주말에 바다로 여행을 간다.",
	}
}

// chanceOf is how alike vectors of unrelated texts are at most, but for one pair
// in forty: the mean of their cosines and two standard deviations.
func chanceOf(all [][]float32) float32 {
	var sum, squares, n float64
	for i, a := range all {
		for _, b := range all[:i] {
			var dot float64
			for d := range a {
				dot += float64(a[d]) * float64(b[d])
			}
			sum, squares, n = sum+dot, squares+dot*dot, n+1
		}
	}
	mean := sum / n
	return float32(min(0.95, max(0, mean+2*math.Sqrt(max(0, squares/n-mean*mean)))))
}
