package kernel

import (
	"time"

	"oxios/kernel/sys"
)

// quietPattern is a time of the clock on the wall, and another one.
var quietPattern = sys.Pattern(`^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$`)

// Quiet reports whether the person wants no notices at now: in quiet_hours, by
// the clock on the wall where now is, or before quiet_until. The first minute
// belongs to the quiet hours, the last one does not; they may go over midnight.
func (v ConfigView) Quiet(now time.Time) bool {
	if until, err := time.Parse(time.RFC3339, v.Values["quiet_until"]); err == nil && now.Before(until) {
		return true
	}
	hours := v.Values["quiet_hours"]
	if !quietPattern().MatchString(hours) {
		return false
	}
	from, to, at := hours[:5], hours[6:], now.Format("15:04")
	if from < to {
		return from <= at && at < to
	}
	return from <= at || at < to
}

func (c *Config) validateQuiet() error {
	if h := c.QuietHours; h != "" && (!quietPattern().MatchString(h) || h[:5] == h[6:]) {
		return sys.Errorf(sys.CodeInvalid, "quiet_hours is %q, but must be two different times like 22:00-07:00, or empty", h)
	}
	if u := c.QuietUntil; u != "" {
		if _, err := time.Parse(time.RFC3339, u); err != nil {
			return sys.Errorf(sys.CodeInvalid, "quiet_until is %q, but must be a time like 2026-01-31T08:00:00+09:00, or empty", u)
		}
	}
	return nil
}
