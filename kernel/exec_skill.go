package kernel

import (
	"context"
	"path/filepath"
	"slices"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/skill"
	"oxios/kernel/sys"
)

// ScriptArgs is a script that a skill brings, with its arguments. It runs in the caller's folder and reads the skill's own.
type ScriptArgs struct {
	Skill    string   `json:"skill"`
	Script   string   `json:"script"` // its path in the skill
	Args     []string `json:"args,omitempty"`
	Cwd      string   `json:"cwd,omitempty"`
	TimeoutS int      `json:"timeout_s,omitempty"`
	Reason   string   `json:"reason,omitempty"`
}

// Script runs a script of a skill. It is judged as an unknown program of the folder would be. It has the network and variables
// with keys only where the person gave them to this skill by name. What runs is a copy of the skill as it was reviewed, which
// nobody else can write: its own folder may be one that commands write.
func (a *ExecAPI) Script(ctx context.Context, in ScriptArgs) (ExecResult, error) {
	c := &command{caller: a.caller, stood: &basis{}, call: "exec.script", timeoutS: in.TimeoutS, claim: in.Reason}
	c.prepare(in.Cwd)
	s, err := a.k.skills.Script(ctx, a.scope.folder, in.Skill, in.Script)
	if err != nil {
		c.fail(err)
		s = skill.Script{Skill: in.Skill, Path: in.Script}
	}
	c.script = &s
	c.argv = append(append(slices.Clone(s.Program), s.Path), in.Args...)
	c.line = quoteArgv(c.argv)
	if err := a.noMark(c.line); err != nil {
		c.fail(err)
	}
	// The words of the call say nothing of what the script does: as little as those of a program beside them would.
	v := security.ClassifyArgv(append([]string{"./" + filepath.Base(s.Path)}, in.Args...), c.options(""))
	v.ReadOnly, v.Texts = false, []string{filepath.ToSlash(s.Path)}
	c.wantsNet = s.Rights.Network
	c.judge(c.findRepositories(ctx, v))
	c.executable = s.Path
	return guard(ctx, a.caller, c.action(), func(ctx context.Context) (ExecResult, error) {
		if c.err != nil {
			return ExecResult{}, c.err
		}
		now, err := a.k.skills.Script(ctx, a.scope.folder, in.Skill, in.Script) // it may have waited for the person
		if err != nil {
			return ExecResult{}, err
		}
		dir, remove, err := a.k.scratch()
		if err != nil {
			return ExecResult{}, err
		}
		defer remove()
		ran, err := s.Copy(ctx, dir)
		if err != nil {
			return ExecResult{}, err
		}
		ran.Rights = now.Rights
		c.ran = &ran
		if err := a.take(ctx, a.k.skillBrings(in.Skill)); err != nil {
			return ExecResult{}, err
		}
		return c.run(ctx)
	})
}

// giveScript gives a script of a skill what it may see and use.
func (c *command) giveScript(s *sandbox.Spec) {
	if c.ran == nil {
		return
	}
	s.Argv = slices.Clone(s.Argv)
	s.Argv[len(c.ran.Program)] = c.ran.Path
	s.Readable = append(s.Readable, c.ran.Dir)
	s.Hidden = append(c.caller.k.hiddenFrom(c.caller.scope.folder, c.ran.Dir), c.caller.k.witnessPlace()...)
	s.Network = s.Network && c.ran.Rights.Network
	s.Env = slices.Clone(s.Env)
	for _, name := range c.ran.Rights.Env {
		if v := c.caller.k.opts.Env(name); v != "" {
			s.Env = append(s.Env, name+"="+v)
		}
	}
}

func (c *command) scriptTitle() sys.Words {
	return sys.Say("Runs the script %s of the skill %s", filepath.Base(c.script.Path), c.script.Skill)
}
