package sys

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrSpecial says that a path is no regular file, but a pipe, a socket, a device
// or a folder.
var ErrSpecial = fmt.Errorf("it is no regular file: %w", fs.ErrInvalid)

// OpenRegular opens a regular file for reading, links followed. Anything else is
// [ErrSpecial] at once: to open a pipe waits for its other end, and to open a
// device may already do something. It is for paths that agents or others can
// write to, which may be anything.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: ErrSpecial}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() { // it was replaced meanwhile
		err = &fs.PathError{Op: "open", Path: path, Err: ErrSpecial}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadRegular reads a whole regular file, see [OpenRegular].
func ReadRegular(path string) ([]byte, error) {
	f, _, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
