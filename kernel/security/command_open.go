package security

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The ways in which a command uses what it names outside its folder.
const (
	UseNone    = iota // it is named: a program, a folder to go to
	UseRead           // it is read
	UsePerhaps        // it may be read or written
	UseWrite          // it is written
)

// Opening is something outside the folder that a command line names.
type Opening struct {
	Path    string // absolute
	Pattern bool   // it stands for what it matches
	Use     int
	Folder  bool // if it is not there, it is to be a folder
}

// opens notes what a word opens outside the folder. The widest use of it counts.
func (w *cmdWalker) opens(abs string, word cmdWord, use int) {
	if Within(abs, slashClean(w.o.Dir)) || isPublicPath(abs) {
		return
	}
	i := slices.IndexFunc(w.v.Opens, func(o Opening) bool { return o.Path == abs })
	if i < 0 {
		if len(w.v.Opens) >= 100 {
			return
		}
		i = len(w.v.Opens)
		w.v.Opens = append(w.v.Opens, Opening{Path: strings.ReplaceAll(abs, cmdUnseen, "*"), Pattern: word.glob || strings.Contains(abs, cmdUnseen)})
	}
	o := &w.v.Opens[i]
	o.Use, o.Folder = max(o.Use, use), o.Folder || strings.HasSuffix(word.text, "/")
}

// opensFolder notes that what a word names is to be a folder.
func (w *cmdWalker) opensFolder(word cmdWord, yes bool) {
	abs, ok := w.abs(word.text)
	for i := range w.v.Opens {
		if ok && yes && w.v.Opens[i].Path == abs {
			w.v.Opens[i].Folder = true
		}
	}
}

// startPlaces are where programs are started from, below the home.
var startPlaces = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".xprofile", ".xsession", ".xsessionrc", ".xinitrc", ".pam_environment",
	".gitconfig", ".ssh", ".gnupg", ".forward", ".config/fish", ".config/git", ".config/autostart", ".config/autostart-scripts", ".config/systemd",
	".config/environment.d", ".config/plasma-workspace", ".config/upstart", ".config/nushell", ".config/zsh", ".kde/Autostart", ".local/bin", "bin", ".bin",
	".local/share/applications", ".local/share/dbus-1", ".local/share/systemd", ".local/share/autostart", "Library/LaunchAgents", "Library/LaunchDaemons",
	"Library/Application Scripts", ".termux/boot", ".cargo/bin", "go/bin",
}

// StartsPrograms reports whether a path is, or lies in, a place from which programs
// are started, there or not; folders are those of PATH. holds reports that such a
// place lies in it.
func StartsPrograms(p, home string, folders []string) (is, holds bool) {
	p = pathFold(filepath.ToSlash(p))
	look := func(place string) {
		place = pathFold(filepath.ToSlash(place))
		is = is || Within(p, place)
		holds = holds || p != place && Within(place, p)
	}
	if home != "" {
		for _, name := range startPlaces {
			look(path.Join(filepath.ToSlash(home), name))
		}
	}
	for _, dir := range append([]string{"/etc/cron.d", "/var/spool/cron", "/etc/systemd", "/etc/profile.d", "/etc/xdg/autostart", "/Library/LaunchAgents"}, folders...) {
		look(dir)
	}
	return is || pathRunsLater(p) == TierRefuse, holds
}
