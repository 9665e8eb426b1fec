package kernel

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"oxios/kernel/sys"
)

// spacesFolder is the folder of the home with the spaces' own folders.
const spacesFolder = "spaces"

// ownFolder is the folder of a space that has no other.
func (k *Kernel) ownFolder(id string) string {
	return filepath.Join(k.opts.Home, spacesFolder, id, "workspace")
}

// spaceFolder is the folder that new conversations of a space work in.
func (k *Kernel) spaceFolder(s SpaceInfo) string {
	switch {
	case s.ID == "":
		return k.config.get().workFolder()
	case s.Folder == "":
		return k.ownFolder(s.ID)
	}
	return s.Folder
}

// haveFolder makes the own folder of a space, and says clearly when another one
// is gone.
func (k *Kernel) haveFolder(s SpaceInfo, folder string) error {
	if folder == k.ownFolder(s.ID) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return sys.Errorf(sys.CodeUnavailable, "The folder %s cannot be made: %w.", shortenHome(folder), err).WithHint("Give the space another folder: `oxios spaces set`.")
		}
		return nil
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return sys.Errorf(sys.CodeNotFound, "The folder %s of the space %q is not there any more. Nothing was sent, and the space is kept.", shortenHome(folder), s.Name).
			WithHint("Bring the folder back, give the space another one, or choose a folder for this conversation.")
	}
	return nil
}

// workspaceAround returns the own folder of a space that a path lies in, or "".
func workspaceAround(at, home string) string {
	for _, h := range []string{home, realPath(home)} {
		rest, ok := strings.CutPrefix(at, filepath.Join(h, spacesFolder)+string(filepath.Separator))
		if !ok || h == "" {
			continue
		}
		parts := strings.SplitN(rest, string(filepath.Separator), 3)
		if len(parts) >= 2 && parts[0] != "" && parts[1] == "workspace" {
			return filepath.Join(h, spacesFolder, parts[0], parts[1])
		}
	}
	return ""
}

// hiddenFrom are the places of the home that commands in a folder cannot reach: all of it, but for the own folder of a space
// that the commands work in, and for other folders that they are given.
func (k *Kernel) hiddenFrom(folder string, given ...string) []string {
	if around := workspaceAround(folder, k.opts.Home); around != "" {
		given = append(given, around)
	}
	return k.hiddenBut(given...)
}

// hiddenBut hides all of the home but some folders, of which those that lie elsewhere do not count.
func (k *Kernel) hiddenBut(folders ...string) []string {
	home := k.opts.Home
	open := map[string]bool{} // what leads to them, and at false they themselves
	for _, f := range folders {
		for _, h := range []string{home, realPath(home)} {
			rel, err := filepath.Rel(h, f)
			if err != nil || rel == "." || !filepath.IsLocal(rel) {
				continue
			}
			at := filepath.Join(home, rel)
			open[at] = false
			for at = filepath.Dir(at); len(at) >= len(home); at = filepath.Dir(at) {
				open[at] = true
			}
			break
		}
	}
	if !open[home] {
		return []string{home}
	}
	// What is made while the command runs is hidden too, as far as its name is known.
	var hidden []string
	for _, name := range []string{databaseName, databaseName + "-wal", databaseName + "-shm", "keys", "run"} {
		p := filepath.Join(home, name)
		if _, shown := open[p]; !shown {
			hidden = append(hidden, p)
		}
	}
	for at, leads := range open {
		if !leads {
			continue
		}
		entries, err := os.ReadDir(at)
		if err != nil {
			return []string{home} // who cannot look shows nothing
		}
		for _, e := range entries {
			p := filepath.Join(at, e.Name())
			if _, shown := open[p]; !shown {
				hidden = append(hidden, p)
			}
		}
	}
	return hidden
}
