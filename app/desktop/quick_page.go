//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"oxios/kernel/sys"
)

// Quick is what the quick prompt's page asks of its window. As in the generated
// bindings, arguments are a JSON array, results JSON, and the text of an error
// is {"code","message","hint"}.
type Quick struct{ q *quick }

// Ready takes []. The page can be seen: it is shown if it is wanted. It returns
// whether the screen blends windows, so that corners and shadow can be drawn.
func (b *Quick) Ready(string) (answer string, err error) {
	defer caught(&err)
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	b.q.page = true
	b.q.present()
	raw, err := json.Marshal(blends())
	return string(raw), err
}

// Resize takes [pixels], the height that the page wants, margins included.
func (b *Quick) Resize(args string) (answer string, err error) {
	defer caught(&err)
	var list []int
	if err := json.Unmarshal([]byte(args), &list); err != nil || len(list) != 1 || list[0] < 1 || list[0] > 4096 {
		return "", sys.Errorf(sys.CodeInvalid, "The call takes a height in pixels.")
	}
	width := quickWidth
	if blends() {
		width += 2 * quickMargin
	}
	resizePrompt(b.q.wctx, width, list[0])
	return "", nil
}

// Hide takes [].
func (b *Quick) Hide(string) (answer string, err error) {
	defer caught(&err)
	b.q.hide()
	return "", nil
}

// Open takes [conversation] and shows it in the main window; "" shows the
// window as it is. The quick prompt hides.
func (b *Quick) Open(args string) (answer string, err error) {
	defer caught(&err)
	session, err := one(args)
	if err != nil {
		return "", err
	}
	var want handover
	if session != "" {
		want.Open = "oxios://session/" + session
		if _, ok := linked(want.Open); !ok {
			return "", sys.Errorf(sys.CodeInvalid, "%q is not the id of a conversation.", session)
		}
	}
	if err := b.q.open(want); err != nil {
		return "", err
	}
	b.q.hide()
	return "", nil
}

// open hands over to the main window, or opens one.
func (q *quick) open(want handover) error {
	ctx, cancel := context.WithTimeout(q.life, 3*time.Second)
	defer cancel()
	if handOver(ctx, filepath.Join(q.home, "run", "desktop.sock"), want) == nil {
		return nil
	}
	if want.Open == "" {
		return spawn()
	}
	return spawn(want.Open)
}

// openQuick shows the quick prompt of this home: the one that lives, or a new
// one. Keys that are held down ask again and again; while one starts that is
// enough.
func (a *app) openQuick() error {
	if !a.opening.TryLock() {
		return nil
	}
	defer a.opening.Unlock()
	if a.askQuick(handover{}) == nil {
		return nil
	}
	if err := spawn(quickCommand); err != nil {
		return err
	}
	for end := time.Now().Add(startPatience); time.Now().Before(end); {
		select {
		case <-a.life.Done():
			return nil
		case <-time.After(50 * time.Millisecond):
		}
		if a.askQuick(handover{}) == nil {
			return nil
		}
	}
	return sys.Errorf(sys.CodeTimeout, "The quick prompt did not start.").WithHint("logs/quick.log in the Oxios folder says more.")
}

// askQuick hands over to the quick prompt that lives.
func (a *app) askQuick(h handover) error {
	return handOver(a.life, filepath.Join(a.home, "run", quickCommand+".sock"), h)
}
