//go:build desktoptest

package desktop_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
)

// BenchmarkDays measures the real window as it is after days: what it costs
// while nobody does anything, with the focus in it, in hundredths of a core over
// 30 s; and what 1,000 turns (2,000 messages) cost that come into the open
// conversation as fast as they can: the memory of all its processes before,
// right after and 60 s later, and how long the page keeps a key waiting
// meanwhile, asked once a second.
func BenchmarkDays(b *testing.B) {
	home, _, env := prepare(b, "")
	for b.Loop() {
		d := measured(b, home, env)
		p := &program{t: b, home: home}
		p.onboard()
		first := p.say("good morning")
		d.until("it is on the screen", func() bool {
			return d.run(`!!document.querySelector("aside li .open")?.innerText.includes("good morning")`) == "true"
		})
		d.open("good morning")
		window := xdotool(b, "search", "--sync", "--onlyvisible", "--name", "^Oxios$")
		xdotool(b, "windowactivate", "--sync", window)
		d.run(`document.querySelector("textarea").focus()`)
		time.Sleep(10 * time.Second) // what a start leaves to do
		began := ticks(b, home)
		time.Sleep(30 * time.Second)
		b.ReportMetric(float64(ticks(b, home)-began)/30, "idle_core_%(goal<=0.3)")

		before := memory(b, home)
		const turns = 1000
		done := make(chan error, 1)
		go func() {
			for range turns {
				r, err := p.kernel.Agents.Submit(b.Context(), kernel.Submit{SessionID: first.SessionID, Text: "good morning", Via: "window"})
				if err == nil {
					_, err = p.kernel.Agents.Wait(b.Context(), r.RunID)
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		var keys []float64
		for come := true; come; {
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				come = false
			case <-time.After(time.Second):
			}
			d.run("measure.keys()")
			xdotool(b, "key", "a")
			var key timing
			d.until("the key is drawn", func() bool { d.value("measure.keys()", &key); return key.N > 0 })
			keys = append(keys, key.Max)
		}
		after := memory(b, home)
		time.Sleep(60 * time.Second)
		rest := memory(b, home)
		drawn, err := strconv.ParseFloat(d.run(`document.querySelectorAll("[role=log] .turn").length`), 64)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(before, "before_MB")
		b.ReportMetric(after, "after_1000_turns_MB")
		b.ReportMetric(rest/before, "rest/before(goal<=1.5)")
		b.ReportMetric(middle(keys), "key_p50_ms")
		b.ReportMetric(slices.Max(keys), "key_max_ms(goal<=100)")
		b.ReportMetric(drawn, "turns_drawn")
		leave(b, d, home)
	}
}

// ticks is the processor time of the processes on a home, in hundredths of a
// second: fields 14 and 15 of proc_pid_stat(5), by USER_HZ of 100.
func ticks(b *testing.B, home string) (sum int64) {
	b.Helper()
	for _, dir := range processes(home) {
		raw, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		for _, field := range strings.Fields(rest)[11:13] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				b.Fatal(fmt.Errorf("%s: %w", dir, err))
			}
			sum += n
		}
	}
	return sum
}
