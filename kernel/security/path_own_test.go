package security

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWithinComparesWholeNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p, dir string
		want   bool
	}{
		{"/a/b", "/a/b", true},
		{"/a/b/c", "/a/b", true},
		{"/a/b/c", "/a/b/", true},
		{"/a/bc", "/a/b", false},
		{"/a", "/a/b", false},
		{"/a/B", "/a/b", false},
		{"/a", "/", true},
		{"/", "/", true},
		{".ssh/id", ".ssh", true},
		{"/a", "", false},
	} {
		if got := Within(tt.p, tt.dir); got != tt.want {
			t.Errorf("Within(%q, %q): got %v, want %v", tt.p, tt.dir, got, tt.want)
		}
	}
}

// ownHome is a home of a person with the Oxios home "oxios" in it. alike makes
// a folder that is spelled like it.
func ownHome(t *testing.T) (home, own string, alike func(name string)) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own = filepath.Join(home, "oxios")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(home, "Oxios")); err == nil {
		t.Skip("to this file system Oxios and oxios are one name")
	}
	return home, own, func(name string) {
		if err := os.Mkdir(filepath.Join(home, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolderSpelledLikeTheOxiosHomeIsAnotherOneWhereTheDiskSaysSo(t *testing.T) {
	t.Parallel()
	home, own, alike := ownHome(t)
	folder := filepath.Join(home, "Oxios")
	for _, when := range []string{"before it exists", "once it exists"} {
		for _, p := range []string{folder, filepath.Join(folder, "notes.md"), "notes.md"} {
			if v := Classify(p, folder, home, own); v.Protected || v.Write != TierFree {
				t.Errorf("%s, %s: got %+v, want it free", when, p, v)
			}
			if v := ClassifyFile(p, home, home, own); filepath.IsAbs(p) && v.Protected {
				t.Errorf("%s, %s from the home: got %+v, want it open", when, p, v)
			}
		}
		for _, p := range []string{own, filepath.Join(own, "config.toml"), "../oxios/oxios.db", "~/oxios/keys"} {
			if v := Classify(p, folder, home, own); !v.Protected || v.Read != TierRefuse || v.Write != TierRefuse {
				t.Errorf("%s, %s: got %+v, want it protected", when, p, v)
			}
		}
		if v := ClassifyCommand("cat ../oxios/config.toml", CommandOptions{Dir: folder, Home: home, OxiosHome: own}); v.Tier != TierRefuse {
			t.Errorf("%s: got tier %d for a command on the home, want it refused", when, v.Tier)
		}
		if v := ClassifyCommand("cat "+folder+"/notes.md", CommandOptions{Dir: folder, Home: home, OxiosHome: own}); v.Tier != TierFree {
			t.Errorf("%s: got tier %d (%s) for a command in the folder, want it free", when, v.Tier, v.Reason)
		}
		if when == "before it exists" {
			alike("Oxios")
		}
	}
}

func TestOtherSpellingOfTheOxiosHomeIsProtectedWhereItLeadsThere(t *testing.T) {
	t.Parallel()
	home, own, _ := ownHome(t)
	// A link is to os.Stat what a second spelling is on a file system that
	// passes over letter case.
	if err := os.Symlink("oxios", filepath.Join(home, "OXIOS")); err != nil {
		t.Skip("this system has no links")
	}
	for _, p := range []string{"~/OXIOS", "~/OXIOS/config.toml", "~/OXIOS/not/yet/there"} {
		if v := Classify(p, filepath.Join(home, "work"), home, own); !v.Protected {
			t.Errorf("%s: got %+v, want it protected", p, v)
		}
	}
	if v := Classify("config.toml", filepath.Join(home, "OXIOS"), home, own); !v.Protected {
		t.Errorf("got %+v, want the home protected as a folder too", v)
	}
}

func TestOxiosHomeThatCannotBeLookedUpIsProtectedInEverySpelling(t *testing.T) {
	t.Parallel()
	home, _, _ := ownHome(t)
	own := filepath.Join(home, "data")
	for _, p := range []string{own, filepath.Join(home, "DATA", "x"), filepath.Join(home, "Data. ", "x")} {
		if v := Classify(p, filepath.Join(home, "work"), home, own); !v.Protected {
			t.Errorf("%s: got %+v, want it protected while nobody knows", p, v)
		}
	}
	// A character that folds to a slash makes the path shorter than the home.
	if v := Classify(home+"\uFF0Foxios", "", home, filepath.Join(home, "oxios")); v.Protected {
		t.Errorf("got %+v, want a file with an odd name", v)
	}
}

func TestFileIsKnownByWhereItLeads(t *testing.T) {
	t.Parallel()
	home, own, alike := ownHome(t)
	alike("work")
	folder := filepath.Join(home, "work")
	for name, target := range map[string]string{"door": own, "beside": home} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Skip("this system has no links")
		}
	}
	for p, want := range map[string]bool{
		"door": true, "door/config.toml": true, "door/not/yet": true, "beside/oxios": true, "beside/work": false, "beside": false, "notes.md": false, "not/yet": false,
	} {
		if v := ClassifyFile(p, folder, home, own); v.Protected != want || want && v.Read != TierRefuse {
			t.Errorf("%s: got %+v, want protected %v", p, v, want)
		}
	}
	if v := ClassifyFile("x", folder, home, ""); v.Protected {
		t.Errorf("got %+v without an Oxios home, want it free", v)
	}
}
