package memory

import (
	"math"
	"testing"
	"time"
)

func TestAfterNinetyDaysHalfOfWhatAgeTakesIsGone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	boost := func(days int) float64 { return ranked{said: now.AddDate(0, 0, -days)}.boost(now) }
	whole := boost(0) - boost(100*365)
	if gone := (boost(0) - boost(90)) / whole; math.Abs(gone-0.5) > 0.001 {
		t.Errorf("got %.3f of it gone, want half", gone)
	}
	if gone := (boost(0) - boost(180)) / whole; math.Abs(gone-0.75) > 0.001 {
		t.Errorf("got %.3f of it gone after twice the time, want three quarters", gone)
	}
	if ahead := boost(-10); ahead != boost(0) {
		t.Errorf("got %v for what is dated ahead, want it as new", ahead)
	}
}
