package sys

import "time"

// Clock tells the time. Tests put their own in its place.
type Clock func() time.Time

// Now returns the clock's time in UTC, and the real time for a nil Clock.
func (c Clock) Now() time.Time {
	if c == nil {
		return time.Now().UTC()
	}
	return c().UTC()
}
