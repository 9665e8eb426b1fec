package security

import "fmt"

// makeSpecial says that Windows has neither pipes nor sockets in folders.
func makeSpecial(kind, _ string) error {
	return fmt.Errorf("%w: %s", errTrial, kind)
}
