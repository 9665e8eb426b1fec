package security

import (
	"strings"

	"oxios/kernel/sys"
)

// MarkPattern is what stands in place of a secret, or did in earlier versions.
var MarkPattern = sys.Pattern(`\[(?:secret:[^\]\s\["'=]{1,90}|redacted:(?:password|secret|key|token|cookie|private-key|known))\]`)

// markLength is the length of the mark that s begins with, or 0.
func markLength(s string) int {
	if !strings.HasPrefix(s, redMark) && !strings.HasPrefix(s, oldMark) {
		return 0
	}
	const longest = 120
	for i := 1; i < len(s) && i < longest; i++ {
		switch c := s[i]; {
		case c == ']':
			return i + 1
		case c <= ' ' || c == '[' || c == '=' || c == '"' || c == '\'':
			return 0
		}
	}
	return 0
}
