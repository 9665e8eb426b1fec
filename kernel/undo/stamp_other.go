//go:build !linux

package undo

import (
	"io/fs"
	"os"
	"path/filepath"
)

func stampOf(info fs.FileInfo) Stamp {
	return Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
}

// StampIn is the stamp of what stands under a name in an open folder, links not followed.
func StampIn(dir *os.File, name string) (Stamp, error) {
	info, err := os.Lstat(filepath.Join(dir.Name(), name))
	if err != nil {
		return Stamp{}, err
	}
	return stampOf(info), nil
}
