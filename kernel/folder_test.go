package kernel_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestFolderThatIsSpelledLikeTheOxiosHomeIsWorkedIn(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	home, folder := filepath.Join(base, "oxios"), filepath.Join(base, "Oxios")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Skip("to this file system Oxios and oxios are one name")
	}
	k := kerneltest.Open(t, kerneltest.At(home, folder))
	person := k.Person().Exec
	for _, when := range []string{"before it exists", "once it exists"} {
		f, err := person.Folder(t.Context(), "")
		if err != nil || f.Path != folder || f.Refused {
			t.Errorf("%s: got %+v, %v, want the configured folder usable", when, f, err)
		}
		h := k.Agent("guarded") // makes the folder
		if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "notes.md", Content: "hello\n"}); err != nil {
			t.Errorf("%s: write: %v", when, err)
		}
		if r, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "hello"}); err != nil || len(r.Matches) != 1 {
			t.Errorf("%s: grep: got %+v, %v", when, r, err)
		}
		for _, p := range []string{home + "/config.toml", "../oxios/config.toml"} {
			_, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: p})
			wantCode(t, when+": "+p, err, sys.CodeRefused)
		}
	}
	if f, err := person.Folder(t.Context(), home); err != nil || !f.Refused || len(f.Entries) > 0 {
		t.Errorf("got %+v, %v, want the Oxios home refused and closed", f, err)
	}
}

func TestFolderIsWorkedInWhateverSpacesItsNameHas(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir := t.TempDir()
	for _, name := range []string{"trail ", " lead", " both "} {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if f, err := k.Person().Security.TrustFolder(t.Context(), at, kernel.FolderTrusted); err != nil || f.Path != at {
			t.Errorf("%q: got %+v, %v", name, f, err)
		}
	}
	if f, err := k.Person().Security.TrustFolder(t.Context(), " "+filepath.Join(dir, " lead")+" ", kernel.FolderTrusted); err != nil || f.Path != filepath.Join(dir, " lead") {
		t.Errorf("spaces around a path: got %+v, %v", f, err)
	}
}

func TestOxiosHomeUnderAnotherNameIsNoPlaceToWork(t *testing.T) {
	t.Parallel()
	k := open(t)
	door := filepath.Join(t.TempDir(), "door")
	if err := os.Symlink(k.Home, door); err != nil {
		t.Skip("this system has no links")
	}
	h := k.Agent("guarded")
	for _, folder := range []string{door, filepath.Join(door, "keys"), filepath.Join(door, "not", "yet")} {
		if f, err := k.Person().Exec.Folder(t.Context(), folder); err != nil || !f.Refused || len(f.Entries) > 0 {
			t.Errorf("%s: got %+v, %v, want it refused and closed", folder, f, err)
		}
		_, err := h.Exec.Ls(t.Context(), kernel.LsArgs{Path: folder})
		wantCode(t, "ls "+folder, err, sys.CodeRefused, "Oxios")
	}
}

func TestFolderTellsWhatStartersNeed(t *testing.T) {
	t.Parallel()
	k := open(t)
	write(t, filepath.Join(k.Folder, "a.txt"), "a")
	write(t, filepath.Join(k.Folder, ".hidden"), "b")
	write(t, filepath.Join(k.Folder, ".git", "HEAD"), "ref: refs/heads/main\n")
	f, err := k.Person().Exec.Folder(t.Context(), "")
	if err != nil || f.Files != 1 || !f.Git {
		t.Errorf("got %d files, git %v, %v, want one file and git", f.Files, f.Git, err)
	}
	f, err = k.Person().Exec.Folder(t.Context(), filepath.Join(k.Folder, "not", "yet"))
	if err != nil || f.Files != 0 || f.Git {
		t.Errorf("got %+v, %v, want nothing", f, err)
	}
}

func TestPersonLooksIntoTheHomeThatNobodyWorksIn(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("there is no home")
	}
	k := open(t)
	made, err := os.MkdirTemp(home, "oxios-test-")
	if err != nil {
		t.Skip("the home cannot be written to")
	}
	t.Cleanup(func() { _ = os.Remove(made) })
	f, err := k.Person().Exec.Folder(t.Context(), "~")
	if err != nil || !f.Refused || !slices.ContainsFunc(f.Entries, func(e kernel.FolderEntry) bool { return e.Path == made }) {
		t.Errorf("got refused %v, %d entries, %v, want the home refused, with %s in it", f.Refused, len(f.Entries), err, made)
	}
}
