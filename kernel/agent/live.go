package agent

import (
	"strings"
	"sync"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/llm"
	"oxios/kernel/sys"
)

// frame is how often text is published at most: what a window can draw.
const frame = 16 * time.Millisecond

// live turns the deltas of a model call into events: the first at once, then at
// most one a frame for each kind, and never later than a frame.
type live struct {
	bus              *event.Bus
	runID, sessionID string
	beat             func()

	mu              sync.Mutex
	text, reasoning strings.Builder
	last            time.Time
	timer           *time.Timer
	thinkingSince   time.Time
	thought         time.Duration
}

func (l *live) delta(d llm.Delta) {
	l.beat()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case d.Retry.EN != "":
		l.text.Reset()
		l.reasoning.Reset()
		l.send(event.RunRetry, d.Retry)
		return
	case d.Stand.EN != "":
		l.flush()
		l.send(event.RunModel, d.Stand)
		return
	case d.Tool != "":
		l.flush()
		l.send(event.RunTool, sys.Words{EN: d.Tool})
		return
	}
	now := time.Now()
	if d.Reasoning != "" && l.thinkingSince.IsZero() {
		l.thinkingSince = now
	}
	if d.Text != "" && !l.thinkingSince.IsZero() && l.thought == 0 {
		l.thought = now.Sub(l.thinkingSince)
	}
	l.text.WriteString(d.Text)
	l.reasoning.WriteString(d.Reasoning)
	if rest := frame - now.Sub(l.last); rest > 0 {
		if l.timer == nil {
			l.timer = time.AfterFunc(rest, l.late)
		}
		return
	}
	l.flush()
}

func (l *live) late() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.flush()
	}
}

// end flushes what is left and returns how long the model thought before it
// spoke.
func (l *live) end() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	thought := l.thought
	if thought == 0 && !l.thinkingSince.IsZero() {
		thought = time.Since(l.thinkingSince)
	}
	l.last, l.thinkingSince, l.thought = time.Time{}, time.Time{}, 0
	return thought
}

// flush publishes what has gathered. The caller holds the lock.
func (l *live) flush() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.last = time.Now()
	if l.reasoning.Len() > 0 {
		l.send(event.RunReasoning, sys.Words{EN: l.reasoning.String()})
		l.reasoning.Reset()
	}
	if l.text.Len() > 0 {
		l.send(event.RunText, sys.Words{EN: l.text.String()})
		l.text.Reset()
	}
}

func (l *live) send(kind string, text sys.Words) {
	l.bus.Publish(event.Event{Kind: kind, RunID: l.runID, SessionID: l.sessionID, Data: event.Text{Text: text.EN, TextKO: text.KO}})
}
