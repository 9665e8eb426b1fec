// Package health is what a part says about how it stands.
//
// It owns the form of a check. It promises nothing about how often one is made: the doctor asks every part when a person
// does, the guardian every few minutes. Parts return checks; the kernel collects them. It must never mend anything.
package health

import "oxios/kernel/sys"

// The states of a [Check].
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// Check is one thing that was looked at.
type Check struct {
	Name   string    `json:"name"`
	State  string    `json:"state"` // ok, warn or fail
	Detail sys.Words `json:"detail"`
	Hint   sys.Words `json:"hint,omitzero"` // what to do about it
}
