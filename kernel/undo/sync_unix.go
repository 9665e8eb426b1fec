//go:build !windows

package undo

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder makes the names in a folder durable. Some file systems have no such
// operation.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
