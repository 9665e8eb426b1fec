//go:build !linux

package undo

import (
	"io/fs"

	"oxios/kernel/security"
)

func accessedAt(fs.FileInfo) int64 { return 0 }

// dateLink leaves a link its new times.
func dateLink(*security.Root, string, int64, int64) error { return nil }
