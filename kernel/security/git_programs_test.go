package security

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRepositoryThatNamesProgramsIsSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		in    string
		want  bool
	}{
		"plain":              {map[string]string{".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://x/y\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n"}, ".", false},
		"no repository":      {map[string]string{"a": ""}, ".", false},
		"fsmonitor":          {map[string]string{".git/config": "[core]\n\tfsmonitor = ./x\n"}, "sub", true},
		"on the head's line": {map[string]string{".git/config": "[core] fsmonitor = ./x\n"}, ".", true},
		"in any case":        {map[string]string{".git/config": "[CORE]\nFsMonitor=x\n"}, ".", true},
		"filter":             {map[string]string{".git/config": "[filter \"x\"]\n\tclean = ./x\n"}, ".", true},
		"textconv":           {map[string]string{".git/config": "[diff \"x\"]\n\ttextconv = ./x\n"}, ".", true},
		"external diff":      {map[string]string{".git/config": "[diff]\n\texternal = ./x\n"}, ".", true},
		"signatures":         {map[string]string{".git/config": "[log]\n\tshowSignature\n[gpg]\n\tprogram = ./x\n"}, ".", true},
		"a promised object":  {map[string]string{".git/config": "[remote \"o\"]\n\tpromisor = true\n\tuploadpack = ./x\n"}, ".", true},
		"worktree settings":  {map[string]string{".git/config": "[extensions]\n\tworktreeConfig = true\n", ".git/config.worktree": "[core]\n\tfsmonitor = x\n"}, ".", true},
		"included":           {map[string]string{".git/config": "[include]\n\tpath = ../more\n", "more": "[core]\n\tfsmonitor = x\n"}, ".", true},
		"included, plain":    {map[string]string{".git/config": "[include]\n\tpath = ../more\n", "more": "[user]\n\tname = x\n"}, ".", false},
		"included on terms":  {map[string]string{".git/config": "[includeIf \"gitdir:/\"]\n\tpath = more\n", ".git/more": "[core]\n\tpager = x\n"}, ".", true},
		"included from home": {map[string]string{".git/config": "[include]\n\tpath = ~/more\n"}, ".", true},
		"unknown":            {map[string]string{".git/config": "[new]\n\tthing = x\n"}, ".", true},
		"a split value":      {map[string]string{".git/config": "[core]\n\tfsmon\\\nitor = x\n"}, ".", true},
		"attributes":         {map[string]string{".git/config": "", ".gitattributes": "*.x filter=x\n"}, ".", true},
		"own attributes":     {map[string]string{".git/config": "", ".git/info/attributes": "*.x diff=x\n"}, ".", true},
		"plain attributes":   {map[string]string{".git/config": "", ".gitattributes": "*.go text eol=lf diff=golang\n"}, ".", false},
		"a hook":             {map[string]string{".git/config": "", ".git/hooks/post-index-change": "x"}, ".", true},
		"a sample":           {map[string]string{".git/config": "", ".git/hooks/pre-commit.sample": "x"}, ".", false},
		"a submodule":        {map[string]string{".git/config": "", ".git/modules/x/config": ""}, ".", true},
		"a gitlink":          {map[string]string{".git/config": "", ".git/index": "DIRC\x00\x00\xe0\x00"}, ".", true},
		"a file":             {map[string]string{".git": "gitdir: other\n", "other/config": "[core]\n\tfsmonitor = x\n"}, ".", true},
		"a worktree":         {map[string]string{".git": "gitdir: main/.git/worktrees/w\n", "main/.git/worktrees/w/commondir": "../..\n", "main/.git/config": "[core]\n\tfsmonitor = x\n"}, ".", true},
		"a bare one":         {map[string]string{"HEAD": "", "objects/x": "", "refs/x": "", "config": "[core]\n\tfsmonitor = x\n"}, ".", true},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			file = filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, c.in), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := GitRunsPrograms(filepath.Join(dir, c.in)); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
