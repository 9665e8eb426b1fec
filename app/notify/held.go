package notify

import (
	"slices"
	"time"

	"oxios/kernel"
)

// setHeld notes what keeps runs from going on. What has gone may be told again
// when it comes back.
func (d *desk) setHeld(list []kernel.Held) {
	for _, h := range d.held {
		if !slices.ContainsFunc(list, func(n kernel.Held) bool { return n.ID == h.ID }) {
			delete(d.left, h.ID)
		}
	}
	d.held = list
}

// setFindings notes what the guardian found. What was mended may be told again.
func (d *desk) setFindings(list []kernel.Finding) {
	for _, f := range d.findings {
		if !slices.ContainsFunc(list, func(n kernel.Finding) bool { return n.Kind == f.Kind }) {
			delete(d.left, findingKey(f))
		}
	}
	d.findings = list
}

func findingKey(f kernel.Finding) string { return "finding:" + f.Kind }

// wantFindings adds what the guardian found and the person should see to. It is
// told in quiet hours too: each hour in which a record is damaged counts.
func (d *desk) wantFindings(want map[string]shown) {
	w := wordsFor(d.Korean())
	for _, f := range d.findings {
		if f.Bad && !d.left[findingKey(f)] {
			want[findingKey(f)] = shown{notice: w.found(f, d.Open != nil), place: Inbox}
		}
	}
}

// wantHeld adds what keeps runs from going on. A limit waits for the person, as
// a request does; a provider that is away is news, and quiet in quiet hours.
func (d *desk) wantHeld(want map[string]shown) {
	now := time.Now()
	w := wordsFor(d.Korean())
	for _, h := range d.held {
		if d.left[h.ID] || len(h.Runs) == 0 || h.Kind != kernel.HeldByLimit && d.config.Quiet(now) {
			continue
		}
		place := Inbox
		if h.Count == 1 {
			place = h.Runs[0].SessionID
		}
		want[h.ID] = shown{notice: w.heldUp(h, d.Open != nil), place: place}
	}
}
