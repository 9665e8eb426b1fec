package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"oxios/kernel/sys"
)

func TestARunnerLeavesNoTemporaryFolder(t *testing.T) {
	t.Parallel()
	for _, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial, sys.IsolationNone} {
		temp := t.TempDir()
		r, dir := setup(t, Config{TempDir: temp})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if _, err := r.Run(ctx, Spec{Argv: []string{"true"}, Dir: dir, Level: level}); err != nil {
				t.Fatal(err)
			}
			cancel()
			ready(t, r) // with walls of its own, and their folder
		}
		ready(t, r)
		r.Close()
		if left, _ := os.ReadDir(temp); len(left) != 0 {
			t.Errorf("level %d: %v are left", level, left)
		}
	}
}

func TestWhatEarlierProcessesLeftIsRemovedWhenItIsNobodys(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	folder := func(name string) string {
		t.Helper()
		path := filepath.Join(temp, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	left, old := folder(tempLocked+"1"), folder(tempPrefix+"123")
	write(t, filepath.Join(left, "file"), "x")
	full, other := folder(tempPrefix+"456"), folder(tempPrefix+"mine")
	write(t, filepath.Join(full, "file"), "x")
	var used temps
	held, err := used.make(temp)
	if err != nil {
		t.Fatal(err)
	}
	r, dir := setup(t, Config{})
	j, err := r.Start(t.Context(), Spec{Argv: []string{"sleep", "60"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "ELSEWHERE=" + filepath.Join(temp, tempPrefix+"789")}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Kill()
	running := folder(tempPrefix + "789")
	sweepTemps(temp)
	for _, path := range []string{left, old} {
		if exists(path) {
			t.Errorf("%s is left", path)
		}
	}
	for _, path := range []string{full, other, held, running} {
		if !exists(path) {
			t.Errorf("%s is gone, which somebody may use", path)
		}
	}
	used.remove(held)
	if exists(held) {
		t.Error("a folder that was given back is left")
	}
}

func TestAFolderIsMadeWhileAnotherStartSweeps(t *testing.T) {
	t.Parallel()
	temp := canonical(t.TempDir())
	done := make(chan struct{})
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				sweepTemps(temp)
			}
		}
	})
	var used temps
	for range 300 {
		path, err := used.make(temp)
		if err != nil {
			t.Error(err)
			break
		}
		if !exists(path) {
			t.Errorf("%s is gone", path)
			break
		}
		used.remove(path)
	}
	close(done)
	sweeping.Wait()
}
