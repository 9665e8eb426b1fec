package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Temporary folders of commands are named by this. Each is locked by the process
// whose command it is for, so that what a crash left is known by nobody's holding
// it. Those of earlier versions have digits alone behind their prefix, and no lock.
const (
	tempPrefix    = "oxios-run-"
	tempLocked    = tempPrefix + "own-"
	tempSweepSome = 10000 // how many a start looks at
)

// temps are the temporary folders that a runner has in use.
type temps struct {
	mu   sync.Mutex
	held map[string]*os.File // the open folder holds the lock
}

// make makes a folder in dir, and holds it until it is removed.
func (t *temps) make(dir string) (string, error) {
	for {
		path, err := os.MkdirTemp(dir, tempLocked)
		if err != nil {
			return "", err
		}
		path = canonical(path)
		// Another start may have taken it for left over before it was locked.
		f, err := hold(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EWOULDBLOCK) {
			continue
		}
		if err != nil {
			os.Remove(path)
			return "", err
		}
		if is, err := os.Lstat(path); err == nil {
			if own, err := f.Stat(); err == nil && os.SameFile(is, own) {
				t.mu.Lock()
				defer t.mu.Unlock()
				if t.held == nil {
					t.held = map[string]*os.File{}
				}
				t.held[path] = f
				return path, nil
			}
		}
		f.Close()
	}
}

// remove removes a folder with all that a command left in it.
func (t *temps) remove(path string) {
	removeAll(path)
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.held[path]; f != nil {
		f.Close()
		delete(t.held, path)
	}
}

// sweepTemps removes what earlier processes of this account left in dir: folders
// that nobody holds, and of earlier versions those that are empty and in which no
// process of the account has its temporary files.
func sweepTemps(dir string) {
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	inUse := sync.OnceValue(tempsInUse)
	for range tempSweepSome / 500 {
		entries, err := f.ReadDir(500)
		if err != nil {
			return
		}
		for _, e := range entries {
			name := e.Name()
			path := filepath.Join(dir, name)
			if !strings.HasPrefix(name, tempPrefix) || !e.IsDir() || !isOurs(path) {
				continue
			}
			if !strings.HasPrefix(name, tempLocked) {
				if strings.Trim(name[len(tempPrefix):], "0123456789") == "" && !strings.Contains(inUse(), name) {
					os.Remove(path) // goes only if it is empty
				}
				continue
			}
			if lock, err := hold(path); err == nil {
				removeAll(path)
				lock.Close()
			}
		}
	}
}

// RemoveAll removes a folder in which commands have written.
func RemoveAll(dir string) { removeAll(dir) }

// removeAll removes a command's temporary folder, also where the command took
// the right to enter a folder away.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	openFolders(root, ".")
	os.RemoveAll(dir)
}

func openFolders(root *os.Root, name string) {
	root.Chmod(name, 0o700)
	f, err := root.Open(name)
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1)
	f.Close()
	for _, e := range entries {
		if e.IsDir() {
			openFolders(root, filepath.Join(name, e.Name()))
		}
	}
}
