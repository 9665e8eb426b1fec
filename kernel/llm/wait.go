package llm

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// retryAfter is how long a server asks to wait in its headers; 0 for nothing.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.Atoi(h.Get("Retry-After-Ms")); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e7 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && time.Until(t) > 0 {
		return time.Until(t)
	}
	return 0
}

var (
	waitInWords = sys.Pattern(`(?:again|retry|retries|wait|resets?|available)\b[^\d]{0,40}?((?:\d+h\s*)?(?:\d+m\s*)?\d+(?:\.\d+)?\s*(?:more )?(?:ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)\b(?:[\s,]*(?:and\s+)?\d+(?:\.\d+)?\s*(?:ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)\b)*)|(\d+(?:\.\d+)?\s*(?:秒|分钟|초|분))\s*(?:后|後|之后|후|뒤)`)
	waitInField = sys.Pattern(`(?:retry[-_ ]?after|retry[-_]?delay|estimated_time)(?:_s|_secs|_seconds)?"?\s*[:=]\s*"?(\d+(?:\.\d+)?)s?\b`)
	waitInHan   = sys.Pattern(`等待\s*(\d+(?:\.\d+)?)\s*秒`)
	onePart     = sys.Pattern(`(\d+(?:\.\d+)?)\s*(?:more )?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|秒|分钟|초|분)`)
)

// askedWait is how long a server asks to wait in its words, in lower case; 0 for
// nothing. "please try again in 1m4.2s" is 64.2 s.
func askedWait(low string) time.Duration {
	m := waitInWords().FindStringSubmatch(low)
	if m == nil {
		for _, p := range []*regexp.Regexp{waitInField(), waitInHan()} {
			if m := p.FindStringSubmatch(low); m != nil {
				return retryAfter(http.Header{"Retry-After": {m[1]}})
			}
		}
		return 0
	}
	var sum time.Duration
	for _, part := range onePart().FindAllStringSubmatch(m[1]+m[2], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil || n > 1e7 {
			return 0
		}
		unit := time.Second
		switch u := part[2]; {
		case strings.HasPrefix(u, "ms"), strings.HasPrefix(u, "milli"):
			unit = time.Millisecond
		case strings.HasPrefix(u, "m"), u == "分钟", u == "분":
			unit = time.Minute
		case strings.HasPrefix(u, "h"):
			unit = time.Hour
		}
		sum += time.Duration(n * float64(unit))
	}
	return sum
}

// loads reports whether a server says that it is just loading the model.
func loads(status int, low string) bool {
	return (status == 0 || status >= 500 || status == http.StatusTooManyRequests) &&
		containsAny(low, "loading model", "loading the model", "model is loading", "model loading", "currently loading", "still loading", "is being loaded", "warming up", "model is not ready", "model not ready", "model is starting")
}
