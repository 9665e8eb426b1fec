//go:build !desktop && !dev && !bindings

package desktop

import (
	"fmt"
	"os"
)

// Built reports whether this build has the window.
const Built = false

// Main says that this build has no window, and returns 1.
func Main([]string, Deps) int {
	fmt.Fprintln(os.Stderr, "This Oxios was built without a window. Use `oxios serve`, or build with -tags desktop,production.")
	return 1
}
