package sys

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Pattern returns a function that gives expr compiled. It is compiled at the
// first call: all expressions of the program together take longer than the
// rest of its start, and each contained command starts the program again as
// its helper. In a test binary it is compiled at once, so that one which does
// not compile fails every test of its package.
func Pattern(expr string) func() *regexp.Regexp {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	if strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		compiled()
	}
	return compiled
}
