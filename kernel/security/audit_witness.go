package security

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"oxios/kernel/sys"
)

// Checkpoints are kept in files to which lines are only added, each flushed to
// the disk: the one beside the database outlives a database that is put back to
// an older copy, and one outside the home outlives the home.

// maxCheckpointLine is more than a checkpoint needs.
const maxCheckpointLine = 4 << 10

// newestCheckpoints is how much of the end of a file is read where only the
// newest are asked for: some hundred lines.
const newestCheckpoints = 64 << 10

// appendDurable adds a line to a file and returns once that is on the disk. A
// line that was cut off, as by a power failure, is taken away first, and one that
// could not be written whole does not stay. With folder the folder is made too.
func appendDurable(path string, line []byte, folder bool) error {
	if err := makeFolder(filepath.Dir(path), folder); err != nil {
		return err
	}
	_, err := os.Lstat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	end, err := wholeLines(f)
	if err == nil {
		_, err = f.WriteAt(line, end)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		_ = f.Truncate(end)
	}
	if err = errors.Join(err, f.Close()); err != nil || !fresh {
		return err
	}
	return flushFolder(filepath.Dir(path))
}

// makeFolder makes a folder, with all those above it, that a power failure does
// not take away again: what was kept in it is missed from then on.
func makeFolder(path string, all bool) error {
	err := os.Mkdir(path, 0o700)
	switch above := filepath.Dir(path); {
	case err == nil:
		return flushFolder(above)
	case errors.Is(err, fs.ErrExist):
		return nil
	case all && errors.Is(err, fs.ErrNotExist) && above != path:
		if err := makeFolder(above, true); err != nil {
			return err
		}
		return makeFolder(path, false)
	}
	return err
}

func flushFolder(path string) error {
	dir, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(dir, "."), dir.Close())
}

// wholeLines cuts off what stands behind the last newline, and returns where
// that is.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("it is not a plain file")
	}
	size := info.Size()
	tail := make([]byte, min(size, maxCheckpointLine))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return 0, err
	}
	if len(tail) == 0 || tail[len(tail)-1] == '\n' {
		return size, nil
	}
	end := size - int64(len(tail)) + int64(bytes.LastIndexByte(tail, '\n')) + 1
	if bytes.IndexByte(tail, '\n') < 0 && int64(len(tail)) < size {
		return 0, errors.New("its last line is not one of Oxios")
	}
	return end, f.Truncate(end)
}

// readCheckpoints reads a file of checkpoints, or only its newest ones. A file
// that is not there has none, and what stands behind the last newline does not
// count. bad is the first line that Oxios did not write, from 1 on; what stands
// before it is returned.
func readCheckpoints(path string, whole bool) (list []Checkpoint, bad int, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe would wait for somebody who writes
		return nil, 0, errors.New("it is not a plain file")
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if !whole {
		info, err := f.Stat()
		if err != nil {
			return nil, 0, err
		}
		if at := info.Size() - newestCheckpoints; at > 0 {
			if _, err := f.Seek(at, io.SeekStart); err != nil {
				return nil, 0, err
			}
			in := bufio.NewReader(f)
			if _, err := in.ReadSlice('\n'); err != nil { // it begins in the middle of a line
				return nil, 0, nil
			}
			return checkpointsIn(in)
		}
	}
	return checkpointsIn(f)
}

// checkpointsIn reads lines of checkpoints.
func checkpointsIn(r io.Reader) (list []Checkpoint, bad int, err error) {
	in := bufio.NewReaderSize(r, maxCheckpointLine)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return list, 0, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return list, n, nil
		case err != nil:
			return list, 0, err
		}
		c, ok := parseCheckpoint(line)
		if !ok {
			return list, n, nil
		}
		list = append(list, c)
	}
}

// lastCheckpoint returns the newest checkpoint of a file; the zero value when it
// has none.
func lastCheckpoint(path string) (last Checkpoint, bad int, err error) {
	list, bad, err := readCheckpoints(path, false)
	if len(list) > 0 {
		last = list[len(list)-1]
	}
	return last, bad, err
}

// ReadWitness reads what a witness wrote, to compare an export with it.
func ReadWitness(r io.Reader) ([]Checkpoint, error) {
	list, bad, err := checkpointsIn(r)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the witness: %w", err)
	case bad != 0:
		return nil, sys.Errorf(sys.CodeInvalid, "Line %d of the witness is not as Oxios wrote it: it was altered, or is no witness file.", bad)
	}
	return list, nil
}
