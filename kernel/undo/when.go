package undo

import "io/fs"

// ChangedAt is when a file last became what it is, in nanoseconds: its inode
// where the system keeps that, else its content.
func ChangedAt(info fs.FileInfo) int64 {
	if s := stampOf(info); s.Changed > 0 {
		return s.Changed
	}
	return info.ModTime().UnixNano()
}
