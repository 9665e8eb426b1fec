package event_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"oxios/kernel/event"
)

// BenchmarkP7Bus: the bus with 1, 8 and 64 readers that hear everything, beside
// a channel for each of them. Goal: at least as many events a second at 1 and 8.
func BenchmarkP7Bus(b *testing.B) {
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("bus/%d", n), func(b *testing.B) {
			bus := event.NewBus(nil)
			var wg sync.WaitGroup
			for range n {
				r := bus.Read(0, nil)
				wg.Go(func() {
					for {
						e, err := r.Next(context.Background())
						if err != nil || e.Kind == event.RunEnded {
							return
						}
					}
				})
			}
			for b.Loop() {
				bus.Publish(event.Event{Kind: event.RunText})
			}
			bus.Publish(event.Event{Kind: event.RunEnded})
			wg.Wait()
			bus.Close()
		})
		b.Run(fmt.Sprintf("channel/%d", n), func(b *testing.B) {
			var wg sync.WaitGroup
			readers := make([]chan event.Event, n)
			for i := range readers {
				readers[i] = make(chan event.Event, 1024)
				wg.Go(func() {
					for range readers[i] { //nolint:revive // it only hears
					}
				})
			}
			for b.Loop() {
				for _, c := range readers {
					c <- event.Event{Kind: event.RunText}
				}
			}
			for _, c := range readers {
				close(c)
			}
			wg.Wait()
		})
	}
}
