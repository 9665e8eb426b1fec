//go:build !linux

package security

import "errors"

// Exchange fails with [errors.ErrUnsupported]: this system has no such call that
// was tried.
func (r *Root) Exchange(_, _ string) error { return errors.ErrUnsupported }
