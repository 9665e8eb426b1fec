package skill

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"oxios/kernel/sys"
)

// settle is how long a folder must be left alone before its change is told.
const settle = 200 * time.Millisecond

// Run tells when a skill of the home or of ~/.agents changed, until ctx ends. What agents are given does not wait for it: each
// call looks at the times of the files.
func (s *Service) Run(ctx context.Context) error {
	s.mu.Lock()
	twice := s.running
	s.running = true
	s.mu.Unlock()
	if twice {
		return sys.Errorf(sys.CodeConflict, "The skills are looked after already.")
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.c.Log.Warn("Changes of skills are seen only when somebody looks", "error", err)
		<-ctx.Done()
		return nil
	}
	defer w.Close()
	s.watch(w)
	timer := time.NewTimer(0)
	<-timer.C
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.Events:
			if filepath.Base(e.Name) != stateFile {
				timer.Reset(settle)
			}
		case err := <-w.Errors:
			s.c.Log.Debug("Some changes of skills may have been missed", "error", err)
		case <-s.came:
			s.watch(w)
		case <-timer.C:
			s.watch(w)
			s.c.Told("")
		}
	}
}

// watch follows the folders of installed skills that are there. What Oxios installs is told to Run.
func (s *Service) watch(w *fsnotify.Watcher) {
	for _, dir := range []string{s.c.Dir, s.c.Shared} {
		if dir == "" || w.Add(dir) != nil {
			continue
		}
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for i, e := range list {
			if e.IsDir() && i < maxWatched {
				_ = w.Add(filepath.Join(dir, e.Name())) // it may be gone already
			}
		}
	}
}

// maxWatched is how many folders of skills are followed: each takes a watch of the system.
const maxWatched = 500
