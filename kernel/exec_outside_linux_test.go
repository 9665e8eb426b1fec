package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// beside returns a kernel and a folder outside of that of its agents.
func beside(t *testing.T) (*kerneltest.Kernel, string) {
	t.Helper()
	k := open(t)
	contained(t, k)
	out := filepath.Join(t.TempDir(), "documents")
	write(t, filepath.Join(out, "thesis.txt"), "mine\n")
	return k, out
}

func TestANewFileOutsideOpensThatFileAlone(t *testing.T) {
	t.Parallel()
	k, out := beside(t)
	write(t, filepath.Join(k.Folder, "gen.py"), `import os, sys
open(sys.argv[1], "w").write("report\n")
for name in ("thesis.txt", "x.txt", "sub/y.txt"):
    path = os.path.join(os.path.dirname(sys.argv[1]), name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "a").write("EVIL")
    except OSError as e:
        print(e)
`)
	path := filepath.Join(out, "report.txt")
	ap, done := shellAsks(t, k, k.Agent("guarded"), kernel.ShellArgs{Command: "python3 gen.py " + path})
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file was made before the yes")
	}
	approveOnce(t, k, ap, "once")
	if end := shellEnded(t, done); end.err != nil {
		t.Fatal(end.err)
	}
	if got := read(t, path); got != "report\n" {
		t.Errorf("the report says %q", got)
	}
	if got := read(t, filepath.Join(out, "thesis.txt")); got != "mine\n" {
		t.Errorf("the file beside it says %q", got)
	}
	for _, name := range []string{"x.txt", "sub"} {
		if _, err := os.Lstat(filepath.Join(out, name)); err == nil {
			t.Errorf("%s was made beside it", name)
		}
	}
}

func TestWhatWasMadeForACommandAndNotUsedIsRemoved(t *testing.T) {
	t.Parallel()
	k, out := beside(t)
	h := k.Agent("guarded")
	for _, c := range []struct {
		line, made string
		stays      bool
	}{
		{"bash none.sh " + out + "/left.txt", "left.txt", false},
		{"bash none.sh " + out + "/deep/er/left.txt", "deep", false},
		{"touch " + out + "/wanted.txt", "wanted.txt", true},
		{": > " + out + "/empty.txt", "empty.txt", true},
		{"mkdir -p " + out + "/folder", "folder", true},
		{"cp thesis.txt " + out + "/copy.txt", "copy.txt", true},
		{"cp " + out + "/nothing.txt .", "nothing.txt", false},
		{"cat " + out + "/nothing2.txt", "nothing2.txt", false},
	} {
		write(t, filepath.Join(k.Folder, "thesis.txt"), "x\n")
		ap, done := shellAsks(t, k, h, kernel.ShellArgs{Command: c.line})
		approveOnce(t, k, ap, "once")
		if end := shellEnded(t, done); end.err != nil || c.stays && end.r.ExitCode != 0 {
			t.Errorf("%s: got %+v, %v", c.line, end.r, end.err)
		}
		if _, err := os.Lstat(filepath.Join(out, c.made)); (err == nil) != c.stays {
			t.Errorf("%s: %v, want that it stays: %v", c.line, err, c.stays)
		}
	}
}

func TestAProgramThatReplacesAFileOutsideIsToldHowToWriteIt(t *testing.T) {
	t.Parallel()
	k, out := beside(t)
	write(t, filepath.Join(k.Folder, "a.txt"), "new\n")
	for _, line := range []string{"mv a.txt " + out + "/report.txt", "sed -i s/mine/EVIL/ " + out + "/thesis.txt"} {
		ap, done := shellAsks(t, k, k.Agent("guarded"), kernel.ShellArgs{Command: line})
		approveOnce(t, k, ap, "once")
		if end := shellEnded(t, done); end.err != nil || end.r.ExitCode == 0 || !strings.Contains(end.r.Note, "ask for one cp") {
			t.Errorf("%s: got %+v, %v", line, end.r, end.err)
		}
	}
}

func TestALinkIsNotFollowedWhereANewFileIsMade(t *testing.T) {
	t.Parallel()
	k, out := beside(t)
	target := filepath.Join(t.TempDir(), "elsewhere.txt")
	if err := os.Symlink(target, filepath.Join(out, "report.txt")); err != nil {
		t.Fatal(err)
	}
	ap, done := shellAsks(t, k, k.Agent("guarded"), kernel.ShellArgs{Command: "echo x > " + out + "/report.txt"})
	approveOnce(t, k, ap, "once")
	wantCode(t, "a link", shellEnded(t, done).err, sys.CodeRefused, "Nothing was run")
	if _, err := os.Lstat(target); err == nil {
		t.Error("the link was followed")
	}
}

func TestPlacesThatStartProgramsStayClosed(t *testing.T) {
	kerneltest.Helper(t) // it is built with the caches of the real home
	home := t.TempDir()
	t.Setenv("HOME", home)
	k := open(t)
	h := k.Agent("guarded")
	for _, line := range []string{
		"python3 gen.py ~/.config/autostart/x.desktop", "python3 gen.py ~/.config/systemd/user/x.service", "cp x ~/.local/bin/tool", "cp x ~/bin/tool",
		"python3 gen.py ~/.config", "python3 gen.py ~/.local", "python3 gen.py ~", "mkdir -p ~/.config/autostart", "python3 gen.py ~/.profile",
		"python3 gen.py ~/Library/LaunchAgents/x.plist", "touch ~/.local/share/systemd/x", "cp x ~/.zshrc", "mkdir ~/.config", "cp x ~",
	} {
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := h.Exec.Shell(ctx, kernel.ShellArgs{Command: line})
		stop()
		wantCode(t, line, err, sys.CodeRefused, "nobody can approve it")
	}
	for _, line := range []string{"python3 gen.py ~/.config/myapp/settings.json", "python3 gen.py ~/Documents/report.txt", "ls ~/.config"} {
		_, err, _ := answered(t, k, h, false, shell(h, kernel.ShellArgs{Command: line}))
		wantCode(t, line, err, sys.CodeDenied)
	}
}
