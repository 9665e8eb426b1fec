// Package parttest is what holds for each part of the kernel.
//
// It owns one test, [Run], which a part calls from its own tests with what makes it. It must never know a part.
package parttest

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Part is what every part can do.
type Part interface {
	Run(ctx context.Context) error
	Close() error
}

// Run proves that a part ends with its context and without an error, that it cannot run twice, that one which never ran can be
// closed, and that nothing of it is left. Its test does not run beside others: goroutines of those would be taken for its own.
func Run(t *testing.T, makePart func(t *testing.T) Part) {
	t.Helper()
	t.Run("it ends with its context", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		p := makePart(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := begin(ctx, p)
		cancel()
		if err := ended(t, done); err != nil {
			t.Errorf("it ended with %v", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("closed after it ended: %v", err)
		}
	})
	t.Run("it does not run twice", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		p := makePart(t)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := begin(ctx, p), begin(ctx, p)
		select {
		case err := <-first:
			if err == nil {
				t.Error("one of two ended without an error while its context lasted")
			}
			first = second
		case err := <-second:
			if err == nil {
				t.Error("one of two ended without an error while its context lasted")
			}
		case <-time.After(time.Minute):
			t.Error("two run at a time")
		}
		cancel()
		if err := ended(t, first); err != nil {
			t.Errorf("the other one ended with %v", err)
		}
	})
	t.Run("it can be closed without having run", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		if err := makePart(t).Close(); err != nil {
			t.Error(err)
		}
	})
}

func begin(ctx context.Context, p Part) <-chan error {
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return done
}

func ended(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Error("it did not end")
		return nil
	}
}
