package security

import (
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel/sys"
)

// decisions at the levels 3, 2 and 1, in Guarded and in Autonomous.
func TestWhatOnlyLooksAsksWhereSecretsCannotBeTakenOutOfItsView(t *testing.T) {
	t.Parallel()
	with, without := project(t, "sub/.env", "src/a.go"), project(t, "sub/x", "src/a.go")
	for _, c := range []struct {
		line  string
		o     CommandOptions
		level sys.Isolation
		free  bool
	}{
		{"grep -r x .", with, 3, true},
		{"grep -r x .", with, 2, false},
		{"grep -r x .", with, 1, false},
		{"grep -r x src", with, 2, true},
		{"grep -r x .", without, 2, true},
		{"grep -r x .", without, 1, true},
		{"rg x", with, 2, false},
		{"rg -g '*.go' x", with, 2, true},
		{"cat sub/.[!.]*", with, 3, false},
		{"cat src/*", with, 2, true},
		{"git grep x", with, 2, false},
		{"diff -r src sub", with, 2, false},
		{"ls -R", with, 2, true},
		{"cd src && grep -r x", with, 2, true},
		{"cd sub && grep -r x", with, 2, false},
		{"cat .env", with, 3, false},
		{"git status", with, 2, true},
	} {
		v := ClassifyCommand(c.line, c.o).At(c.level, c.o.Home)
		for _, mode := range []Mode{ModeGuarded, ModeAutonomous} {
			if got := DecideCommand(mode, v, c.level); (got == DecisionFree) != c.free {
				t.Errorf("%q at level %d in %s: got %s (%s), want it free %v", c.line, c.level, mode, got, v.Reason, c.free)
			}
		}
	}
	for line, want := range map[string]Decision{"tar czf x.tgz .": DecisionAsk, "tar czf x.tgz src": DecisionNotice, "cp -r sub y": DecisionAsk} {
		if got := DecideCommand(ModeAutonomous, ClassifyCommand(line, with).At(2, with.Home), 2); got != want {
			t.Errorf("%q at level 2 in Autonomous: got %s, want %s", line, got, want)
		}
	}
}

func TestGitThatOnlyLooksAsksWhereNothingHoldsWhatARepositoryStarts(t *testing.T) {
	t.Parallel()
	o := project(t, "sub/.git/HEAD", ".git/HEAD")
	if err := os.WriteFile(filepath.Join(o.Dir, "sub/.git/config"), []byte("[core]\n\tfsmonitor = ./x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, asks := range map[string]bool{"git status": false, "cd sub && git status": true, "cd sub && git log -p": true, "cd sub && git commit --help": true, "cd sub && ls": false} {
		for level := sys.IsolationLimits; level <= sys.IsolationFull; level++ {
			got := DecideCommand(ModeGuarded, ClassifyCommand(line, o).At(level, o.Home), level)
			if want := asks && level == sys.IsolationLimits; (got == DecisionAsk) != want {
				t.Errorf("%q at level %d: got %s, want it to ask %v", line, level, got, want)
			}
		}
	}
}
