package kernel

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"oxios/kernel/event"
)

const (
	// configSettle is how long config.toml must be left alone before it is
	// read: an editor may empty a file before it writes it.
	configSettle = 100 * time.Millisecond

	// configPoll is how often it is looked at anyway, for folders whose
	// system tells of no change, as one on the network.
	configPoll = time.Minute
)

// watchConfig reads config.toml again when it changed.
func (k *Kernel) watchConfig(ctx context.Context) error {
	var changes chan fsnotify.Event
	var failures chan error
	w, err := fsnotify.NewWatcher()
	if err != nil {
		k.log.Warn("Changes of config.toml will be noticed once a minute", "error", err)
	} else {
		defer w.Close()
		changes, failures = w.Events, w.Errors
	}
	settle := time.NewTimer(0) // it may have changed since Open
	defer settle.Stop()
	poll := time.NewTicker(configPoll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-changes:
			if c.Name == k.config.path {
				settle.Reset(configSettle)
			}
			continue
		case err := <-failures:
			k.log.Debug("Some changes of config.toml may have been missed; it is read now", "error", err)
		case <-settle.C:
		case <-poll.C:
		}
		if w != nil {
			follow(w, k.config.path)
		}
		if err := k.readConfig(); err != nil {
			k.log.Warn("Could not read config.toml", "error", err)
		}
		k.followVault(ctx) // it may be there now
	}
}

// readConfig reads config.toml again if it changed, and tells what is now in
// force, and what is wrong with the file.
func (k *Kernel) readConfig() error {
	changed, err := k.config.refresh()
	if changed {
		k.budgets.Wake()
		k.names.drop() // a path may be denied now
		k.publish(event.ConfigChanged, scope{}, k.config.view())
		k.publishStatus()
	}
	return err
}

// follow watches the file at path, and its folder while the file is a link or
// is not there. The folder is not watched all the time, as it holds the
// database: each commit would wake the watcher. The watch is set anew each time,
// because an editor that saves by renaming leaves it on the file that was.
func follow(w *fsnotify.Watcher, path string) {
	folder := filepath.Dir(path)
	_ = w.Remove(path) // it may be gone already
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && w.Add(path) == nil {
		_ = w.Remove(folder)
		return
	}
	_ = w.Add(path)
	_ = w.Add(folder) // without either the poll remains
}

// refresh loads the file again when it changed on disk, and reports whether it
// did.
func (f *configFile) refresh() (bool, error) {
	info, err := os.Stat(f.path)
	f.mu.Lock()
	same := err != nil && f.read.IsZero() || err == nil && info.ModTime().Equal(f.read) && info.Size() == f.size
	f.mu.Unlock()
	if same {
		return false, nil
	}
	return true, f.load()
}
