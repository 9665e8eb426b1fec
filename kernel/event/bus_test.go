package event_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"oxios/kernel/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadersSeeEventsInOrder(t *testing.T) {
	t.Parallel()
	b := event.NewBus(nil)
	r := b.Read(0, nil)
	for i := range 100 {
		kind := event.RunText
		if i%3 == 0 {
			kind = event.StepChanged
		}
		b.Publish(event.Event{Kind: kind, Data: i})
	}
	for i := range 100 {
		e, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Data != i {
			t.Fatalf("got event %v, want %d", e.Data, i)
		}
	}
}

func TestSlowReaderIsToldWhatItMissedAndNeverBlocksThePublisher(t *testing.T) {
	t.Parallel()
	b := event.NewBus(nil)
	r := b.Read(0, nil)
	b.Publish(event.Event{Kind: event.ApprovalChange, Data: "approval"})
	const tokens = 10_000
	for range tokens {
		b.Publish(event.Event{Kind: event.RunText})
	}
	b.Publish(event.Event{Kind: event.RunEnded, Data: "end"})
	var seen, missed uint64
	var kinds []string
	for {
		e, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case event.Gap:
			m, _ := event.As[event.Missed](e)
			missed += m.Missed
		default:
			seen++
		}
		if e.Kind != event.RunText {
			kinds = append(kinds, e.Kind)
		}
		if e.Data == "end" {
			break
		}
	}
	if seen+missed != tokens+2 {
		t.Errorf("got %d seen and %d missed, want %d together", seen, missed, tokens+2)
	}
	if missed == 0 || kinds[0] != event.ApprovalChange {
		t.Errorf("got %v with %d missed: a flood of tokens must not push an approval out", kinds, missed)
	}
}

func TestReaderComesBackWhereItStopped(t *testing.T) {
	t.Parallel()
	b := event.NewBus(nil)
	r := b.Read(0, nil)
	b.Publish(event.Event{Kind: event.StepChanged, Data: "a"})
	b.Publish(event.Event{Kind: event.StepChanged, Data: "b"})
	first, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Read(first.Seq, nil).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if second.Data != "b" {
		t.Errorf("got %v, want b", second.Data)
	}
}

func TestFilterHidesOtherEvents(t *testing.T) {
	t.Parallel()
	b := event.NewBus(nil)
	r := b.Read(0, func(e event.Event) bool { return e.RunID == "mine" })
	b.Publish(event.Event{Kind: event.StepChanged, RunID: "other"})
	b.Publish(event.Event{Kind: event.StepChanged, RunID: "mine"})
	e, err := r.Next(t.Context())
	if err != nil || e.RunID != "mine" {
		t.Errorf("got %v, %v, want the event of run mine", e.RunID, err)
	}
}

func TestManyReadersAndPublishersUnderRace(t *testing.T) {
	t.Parallel()
	b := event.NewBus(nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var readers, writers sync.WaitGroup
	for range 8 {
		r := b.Read(0, nil)
		readers.Go(func() {
			var last uint64
			for {
				e, err := r.Next(ctx)
				if err != nil {
					return
				}
				if e.Seq <= last {
					t.Errorf("got sequence %d after %d", e.Seq, last)
				}
				last = e.Seq
			}
		})
	}
	for range 4 {
		writers.Go(func() {
			for range 2000 {
				b.Publish(event.Event{Kind: event.RunText})
			}
		})
	}
	writers.Wait()
	b.Close()
	readers.Wait()
}

func TestDataReadsAlikeAfterTheWire(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(event.Event{Seq: 7, Kind: event.RunText, Data: event.Text{Text: "안녕"}})
	if err != nil {
		t.Fatal(err)
	}
	var e event.Event
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if got, ok := event.As[event.Text](e); !ok || got.Text != "안녕" {
		t.Errorf("got %v, %v, want 안녕", got, ok)
	}
}

func BenchmarkPublish(b *testing.B) {
	bus := event.NewBus(nil)
	for b.Loop() {
		bus.Publish(event.Event{Kind: event.RunText})
	}
}
