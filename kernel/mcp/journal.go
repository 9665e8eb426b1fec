package mcp

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// maxLog is how many bytes of what a server said are kept at most: two files of half of it.
const maxLog = 1 << 20

// journal is the log of one server: its stderr, and when it began and ended.
type journal struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

func openJournal(path string) (*journal, error) {
	j := &journal{path: path}
	return j, j.open()
}

func (j *journal) open() error {
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	j.file, j.size = f, info.Size()
	return nil
}

// write adds to the log. What cannot be written is lost: a log holds nobody up.
func (j *journal) write(p []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return
	}
	if j.size+int64(len(p)) > maxLog/2 {
		j.file.Close()
		j.file = nil
		if os.Rename(j.path, j.path+".old") != nil || j.open() != nil {
			return
		}
	}
	n, _ := j.file.Write(p[max(0, len(p)-maxLog/2):])
	j.size += int64(n)
}

func (j *journal) line(text string) {
	j.write([]byte(time.Now().UTC().Format(time.RFC3339) + " " + text + "\n"))
}

func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}

// readLog returns the end of a server's log, at most n bytes of it.
func readLog(path string, n int) (string, error) {
	var all []byte
	for _, p := range []string{path + ".old", path} {
		raw, err := os.ReadFile(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		all = append(all, raw...)
	}
	return string(all[max(0, len(all)-n):]), nil
}
