//go:build !linux

package sandbox

import (
	"context"

	"oxios/kernel/sys"
)

// Changes is not there: no command works on a copy on this system.
func (c Copy) Changes(context.Context, int) ([]Change, error) { return nil, CopyOf(c.Folder) }

// CopyOf says why there can be no copy of a folder.
func CopyOf(string) error {
	return sys.Errorf(sys.CodeUnavailable, "Commands cannot be tried on a copy on this system.")
}
