package sandbox

import (
	"regexp"
	"sync"
)

// passwordLine are sentences with which programs say that they need a secret
// from a person; passwordPrompt is a prompt that waits at the end of the output.
// They are compiled at first use: the helper starts for every command, and
// would pay for them each time.
var (
	passwordLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\[sudo\] password|passphrase for (key )?\S|(terminal|password) is required( to (read|run|authenticate))?|` +
			`no tty present and no askpass|could not read (username|password) for|terminal prompts disabled|read_passphrase|askpass program`)
	})
	passwordPrompt = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|\n)[^\n]{0,60}(password|passphrase|비밀번호|암호)[^\n]{0,60}: ?$`)
	})
)

// passwordWatch looks for a request for a password in a stream of output.
type passwordWatch struct {
	last  []byte // the end of what came before, so that a split sentence is seen
	total int
	seen  bool
}

func (w *passwordWatch) write(p []byte) {
	if w.seen {
		return
	}
	const keep, whole = 256, 256 << 10
	// Who asks does so early, or as the last thing before it waits. Looking
	// at every byte of a long output would cost more than the command.
	if w.total += len(p); w.total > whole {
		p = p[max(0, len(p)-keep):]
	}
	text := append(w.last, p...)
	end := text[max(0, len(text)-keep):]
	w.seen = passwordLine().Match(text) || passwordPrompt().Match(end)
	w.last = append([]byte(nil), end...)
}
