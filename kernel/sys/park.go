package sys

import "context"

type parkKey struct{}

// WithPark returns a context in which [Park] calls leave; leave gives up the
// slot that the caller runs in and returns a function that takes it back.
func WithPark(ctx context.Context, leave func() (back func())) context.Context {
	return context.WithValue(ctx, parkKey{}, leave)
}

// Park says that the caller now waits for a person, a child or a message and
// needs no slot meanwhile. The caller calls the result when it goes on.
func Park(ctx context.Context) (back func()) {
	if leave, ok := ctx.Value(parkKey{}).(func() func()); ok {
		return leave()
	}
	return func() {}
}

type beatKey struct{}

// WithBeat returns a context in which [Beat] calls beat.
func WithBeat(ctx context.Context, beat func()) context.Context {
	return context.WithValue(ctx, beatKey{}, beat)
}

// Beat says that the caller's run got on: one that never does is ended.
func Beat(ctx context.Context) {
	if beat, ok := ctx.Value(beatKey{}).(func()); ok {
		beat()
	}
}
