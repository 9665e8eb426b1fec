//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"os"
	"time"

	"oxios/app/notify"
)

// How long the page may take, on the screen, to be there, and then to draw
// something.
const (
	loadPatience  = 30 * time.Second
	paintPatience = 5 * time.Second
)

// watchPaint starts Oxios again with plainer drawing when the window stays
// empty, once; when it still does, it says that a browser shows the same page.
// A window that is hidden draws nothing, so only its time on the screen counts.
func (a *app) watchPaint(ctx context.Context) {
	const step = 250 * time.Millisecond
	var loading, drawing time.Duration
	for loading < loadPatience && drawing < paintPatience {
		select {
		case <-a.painted:
			return
		case <-ctx.Done():
			return
		case <-time.After(step):
		}
		switch {
		case !a.onScreen.Load():
		case a.loaded.Load():
			drawing += step
		default:
			loading += step
		}
	}
	if os.Getenv(plainDrawing) == "" {
		a.log.WarnContext(ctx, "The window stays empty; starting again with plainer drawing")
		a.again.Store(true)
		a.quit()
		return
	}
	a.log.ErrorContext(ctx, "The window stays empty. Quit, and use `oxios serve`, which shows the same page in a browser.")
	title, body := "Oxios cannot draw its window", "Quit it and run oxios serve: it shows the same page in a browser."
	if a.korean() {
		title, body = "Oxios 창을 그릴 수 없습니다", "종료한 뒤 oxios serve를 실행하면 브라우저에서 같은 화면을 볼 수 있습니다."
	}
	if err := notify.Tell(ctx, title, body); err != nil {
		a.log.DebugContext(ctx, "It could not be told by a notification", "error", err)
	}
}
