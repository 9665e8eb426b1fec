// Package awake keeps the computer from going to sleep by itself: what a person
// does, as closing the lid, still puts it to sleep.
//
// It promises that a hold ends when it is given back, and with the process at
// the latest: the system keeps it, and looks who has it.
package awake

// System is the sleep of this computer.
type System struct {
	// Address is that of the system bus on Linux; "" is the usual one.
	Address string
}

// Hold keeps the computer awake until release is called. why is shown by the
// system to whoever asks what keeps it awake.
func (s System) Hold(why string) (release func(), err error) { return s.hold(why) }

// Check says why the computer cannot be kept awake; nil when it can be.
func (s System) Check() error { return s.check() }
