package kernel

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"oxios/kernel/sys"
)

func TestTimeAtWorkIsBoundedAndWaitingDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late := errors.New("late")
		parks := 0
		outer := sys.WithPark(t.Context(), func() func() { parks++; return func() { parks-- } })
		ctx, stop := atWorkFor(outer, time.Minute, late)
		defer stop()
		time.Sleep(30 * time.Second)
		first, second := sys.Park(ctx), sys.Park(ctx)
		if parks != 2 {
			t.Errorf("got %d places given back, want 2", parks)
		}
		time.Sleep(time.Hour)
		first()
		time.Sleep(time.Hour)
		second()
		time.Sleep(29 * time.Second)
		if ctx.Err() != nil {
			t.Fatal("it ended although it only waited")
		}
		time.Sleep(2 * time.Second)
		if !errors.Is(context.Cause(ctx), late) || parks != 0 {
			t.Errorf("got %v, want it ended after a minute of work", context.Cause(ctx))
		}
	})
}
