package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
)

// held is a task that a server works on for a step of a run. It is written down before the server is asked about it, so that
// the next process of Oxios goes on with it instead of calling once more.
type held struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Task   string `json:"task"`
	For    string `json:"for"` // the command or address that was called
}

const (
	tasksFolder = "tasks"
	heldFor     = 7 * 24 * time.Hour // of a task whose step never came back for it
)

// hold writes a task down. A call that belongs to no run has nobody who would come back for it.
func (s *Service) hold(ctx context.Context, server string, h held) {
	step := store.StepFrom(ctx)
	if step == nil {
		return
	}
	s.release(ctx, server)
	raw, err := json.Marshal(h)
	dir := s.at(server, tasksFolder)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		forgetOld(dir, s.c.Clock.Now())
		err = security.WriteFileAtomic(filepath.Join(dir, step.Step().ID), raw, 0o600)
	}
	if err != nil {
		s.c.Log.WarnContext(ctx, "A task could not be written down, so it would not outlive Oxios", "server", server, "error", err)
	}
}

// release forgets a task with the end of its step.
func (s *Service) release(ctx context.Context, server string) {
	step := store.StepFrom(ctx)
	path := s.at(server, tasksFolder, step.Step().ID)
	step.OnClose(func(*store.Tx) error {
		_ = os.Remove(path) // what stays is forgotten after a while
		return nil
	})
}

// forgetOld removes what nobody came back for.
func forgetOld(dir string, now time.Time) {
	all, _ := os.ReadDir(dir) // a folder that cannot be read has nothing to forget
	for _, e := range all {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > heldFor {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the same is tried again with the next task
		}
	}
}

// Holds reports whether a server works on a task for a step: it is gone on with, and not made again.
func (s *Service) Holds(step string) bool {
	found, err := filepath.Glob(filepath.Join(s.c.Dir, "*", tasksFolder, step))
	return err == nil && len(found) > 0
}

// heldBy is the task of the step to which ctx belongs.
func (s *Service) heldBy(ctx context.Context, in Call) (h held, ok bool) {
	step := store.StepFrom(ctx)
	if step == nil {
		return h, false
	}
	raw, err := os.ReadFile(s.at(in.Server, tasksFolder, step.Step().ID))
	if err != nil || json.Unmarshal(raw, &h) != nil {
		return held{}, false
	}
	return h, h.Server == in.Server && h.Tool == in.Tool
}
