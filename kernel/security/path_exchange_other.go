//go:build !linux

package security

import "errors"

// Exchange fails with [errors.ErrUnsupported]: this system has no such call that
// was tried.
func (r *Root) Exchange(_, _ string) error { return errors.ErrUnsupported }

// RenameNew fails with [errors.ErrUnsupported], as Exchange does.
func (r *Root) RenameNew(_, _ string) error { return errors.ErrUnsupported }
