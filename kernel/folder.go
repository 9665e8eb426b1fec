package kernel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// FolderEntry is a folder in a [Folder].
type FolderEntry struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Folder is a folder as somebody who chooses one sees it.
type Folder struct {
	Path     string        `json:"path"`    // absolute
	Display  string        `json:"display"` // with ~ for the home
	Exists   bool          `json:"exists"`
	Refused  bool          `json:"refused"` // runs cannot work in it
	Reason   string        `json:"reason"`  // why not
	ReasonKO string        `json:"reason_ko,omitempty"`
	Entries  []FolderEntry `json:"entries"` // the folders in it, hidden ones left out
	Files    int           `json:"files"`   // how many files are in it, hidden ones left out
	Git      bool          `json:"git"`     // it is the top of a git repository
	Parent   string        `json:"parent"`  // "" at the top

	Trust        string        `json:"trust"`                  // trusted, declined, or "" when the person was not asked
	Instructions *Instructions `json:"instructions,omitempty"` // what it tells agents, without the text
}

// Folder shows a folder and whether runs may work in it. "" is the configured
// one.
func (a *ExecAPI) Folder(ctx context.Context, path string) (Folder, error) {
	return guard(ctx, a.caller, action{call: "exec.folder", resource: "file:" + path, paths: namedPaths(path)}, func(ctx context.Context) (Folder, error) {
		if path == "" {
			path = a.k.config.get().workFolder()
		}
		return a.k.folder(ctx, path)
	})
}

func (k *Kernel) folder(ctx context.Context, path string) (Folder, error) {
	path, err := absolute(path)
	if err != nil {
		return Folder{}, err
	}
	f := Folder{Path: path, Display: shortenHome(path), Entries: []FolderEntry{}}
	if parent := filepath.Dir(path); parent != path {
		f.Parent = parent
	}
	info, err := os.Stat(path)
	f.Exists = err == nil && info.IsDir()
	if _, err := k.usable(path); err != nil {
		e := sys.AsError(err)
		f.Refused, f.Reason, f.ReasonKO = true, e.Message, e.MessageKO
	} else if f.Exists {
		if f.Trust, err = k.trust(ctx, path); err != nil {
			return f, err
		}
		if in := k.instructions(path); in.Name != "" {
			if err := k.withhold(ctx, &in); err != nil {
				return f, err
			}
			if f.Trust == FolderTrusted && !in.Withheld {
				if _, err := k.heldByTrusted(ctx, path, &in); err != nil {
					return f, err
				}
			}
			in.Text = ""
			f.Instructions = &in
		}
	}
	if !f.Exists {
		return f, nil
	}
	if k.private(path) != nil && tooWide(path) == nil {
		return f, nil // what is in it is nobody's business
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return f, sys.Errorf(sys.CodeForbidden, "%s cannot be listed: %w.", f.Display, err)
	}
	for _, e := range entries {
		at := filepath.Join(path, e.Name())
		f.Git = f.Git || e.Name() == ".git"
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if e.Type().IsRegular() {
			f.Files++
		}
		if len(f.Entries) == maxEntries {
			continue
		}
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 && isFolder(at) {
			f.Entries = append(f.Entries, FolderEntry{e.Name(), at})
		}
	}
	slices.SortFunc(f.Entries, func(a, b FolderEntry) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return f, nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkFolder returns the folder that path names, absolute, if a run may work
// in it. The configured folder is made when it is missing.
func (k *Kernel) checkFolder(path string) (string, error) {
	path, err := k.usable(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return "", sys.Errorf(sys.CodeInvalid, "%s is a file, not a folder.", shortenHome(path)).WithHint("Choose the folder that it is in.")
	case err == nil:
		return path, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", sys.Errorf(sys.CodeForbidden, "%s cannot be used: %w.", shortenHome(path), err).WithHint("Choose another folder.")
	case path != k.config.get().workFolder():
		return "", sys.Errorf(sys.CodeNotFound, "There is no folder %s.", shortenHome(path)).WithHint("Make it first, or choose another one.")
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", sys.Errorf(sys.CodeUnavailable, "The folder %s cannot be made: %w.", shortenHome(path), err).
			WithHint("Choose another one with `oxios config set folder`.")
	}
	return path, nil
}

// usable returns path absolute if a run may work there, whether it exists or
// not.
func (k *Kernel) usable(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", sys.Errorf(sys.CodeInvalid, "A folder's name cannot contain a NUL character.")
	}
	abs, err := absolute(path)
	if err != nil {
		return "", err
	}
	if err := k.private(abs); err != nil {
		return abs, err
	}
	return abs, k.deniedFolder(abs)
}

// absolute returns the path that somebody wrote, absolute and without ~. Spaces
// around it are taken for slips, unless there is something whose name has them.
func absolute(path string) (string, error) {
	if trimmed := strings.TrimSpace(path); trimmed != path {
		if _, err := os.Lstat(expandHome(path)); err != nil {
			path = trimmed
		}
	}
	abs, err := filepath.Abs(expandHome(path))
	if err != nil {
		return "", sys.Errorf(sys.CodeInvalid, "%q is not a path: %w.", path, err)
	}
	return abs, nil
}

// private says why a run cannot work in a folder; nil if it can. A link is
// judged by where it leads, too, and the home by which folder it is, not by how
// it is spelled.
func (k *Kernel) private(abs string) error {
	home, own := homeFolder(), k.opts.Home
	for _, at := range []string{abs, realPath(abs)} {
		if err := tooWide(at); err != nil {
			return err
		}
		folder := ""
		if security.Within(at, home) {
			folder = home // which may lie among the system's folders, as that of root does
		}
		if w := workspaceAround(at, own); w != "" {
			folder = w // the rest of the home stays closed
		}
		v := security.ClassifyFile(at, folder, home, own)
		switch {
		case v.Protected || k.isWitness(at):
			return sys.Errorf(sys.CodeRefused, "Agents do not work in %s: it belongs to Oxios itself.", shortenHome(at)).WithHint("Choose another folder.")
		case v.Read >= security.TierRefuse:
			return sys.Errorf(sys.CodeRefused, "Agents do not work in %s: it holds passwords or keys.", shortenHome(at)).WithHint("Choose another folder.")
		case v.Write >= security.TierRefuse:
			return sys.Errorf(sys.CodeRefused, "Agents do not work in %s: it belongs to the system, or makes programs run later.", shortenHome(at)).
				WithHint("Choose a folder in your home, as ~/Oxios.")
		}
	}
	return nil
}

// tooWide says why nobody works in a folder that holds everything. A person may
// look into it all the same: what they look for lies there.
func tooWide(at string) error {
	if home := homeFolder(); at == home || home != "" && sameFolder(at, home) {
		return sys.Errorf(sys.CodeRefused, "Agents do not work in the home folder itself: it holds your keys and everything else.").
			WithHint("Choose a folder in it, as ~/Oxios.")
	}
	if at == filepath.Dir(at) {
		return sys.Errorf(sys.CodeRefused, "Agents do not work in %s: it is the whole computer.", at).WithHint("Choose a folder in your home, as ~/Oxios.")
	}
	return nil
}

// sameFolder reports whether two paths lead to one folder.
func sameFolder(a, b string) bool {
	at, err := os.Stat(a)
	if err != nil {
		return false
	}
	to, err := os.Stat(b)
	return err == nil && os.SameFile(at, to)
}
