package remote

import (
	"context"
	"sync/atomic"
)

// reportFocus is the call with which a client says whether it is in front.
const reportFocus = "infra.reportFocus"

// Front notes whether a client of a connection spoke of its window. A client
// that is gone is not in front: whoever serves the connection calls Leave when
// its calls have ended.
type Front struct{ spoke atomic.Bool }

// Saw notes a call.
func (f *Front) Saw(method string) {
	if method == reportFocus {
		f.spoke.Store(true)
	}
}

// Leave says for a client that is gone that it is not in front. h is the Handle
// with which it called.
func (f *Front) Leave(ctx context.Context, h *Handle) error {
	if !f.spoke.Load() {
		return nil
	}
	return h.Infra.ReportFocus(context.WithoutCancel(ctx), false)
}
