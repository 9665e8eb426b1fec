package undo

import (
	"golang.org/x/sys/unix"

	"oxios/kernel/security"
)

// CanFlush says that [Flush] makes a whole disk durable at once.
const CanFlush = true

// Flush makes all that was written to the disk of a folder durable.
func Flush(root *security.Root) error {
	d, err := root.FS().Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Syncfs(int(d.Fd()))
}
