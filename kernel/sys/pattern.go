package sys

import (
	"regexp"
	"sync"
)

// Pattern returns a function that gives expr, a literal, compiled. It is
// compiled at the first call: all expressions of the program together take
// longer than the rest of its start, and each contained command starts the
// program again as its helper. A test of the repository compiles them all.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
