package security

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"oxios/kernel/sys"
)

// Root is the folder of a run. Every file tool goes through it: no path, link
// or race leads out of the folder, because each step of a path is resolved by
// [os.Root] below an open folder. Names that it takes are those of [Root.Rel].
// It is safe for concurrent use.
type Root struct {
	root *os.Root
	dir  string // absolute, as given
	real string // absolute, without links
	home string
}

// The longest path and the longest name in it that a Root takes, in bytes.
const (
	maxPath = 4096
	maxName = 255
)

// OpenRoot opens a folder. It must exist. The caller closes the Root.
func OpenRoot(dir string) (*Root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder %q: %w", dir, err)
	}
	r, err := os.OpenRoot(abs)
	if err != nil {
		return nil, pathError("open", abs, abs, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		r.Close()
		return nil, pathError("open", abs, abs, err)
	}
	home, _ := os.UserHomeDir() // without a home, ~ is an ordinary name
	return &Root{root: r, dir: abs, real: real, home: home}, nil
}

// FS is the open folder, for what Root has no method for. Its methods hold the
// same border, but open pipes and devices as well.
func (r *Root) FS() *os.Root { return r.root }

// Dir is the folder's absolute path.
func (r *Root) Dir() string { return r.dir }

// Close closes the folder. Files that were opened through it stay open.
func (r *Root) Close() error { return r.root.Close() }

// Rel turns a path as a model writes it, absolute, relative or starting with
// ~/, into one relative to the folder, with slashes. It refuses what lies
// outside by its text. A ".." inside is kept: only the file system knows what
// it means after a link.
func (r *Root) Rel(p string) (string, error) {
	switch {
	case strings.ContainsRune(p, 0):
		return "", sys.Errorf(sys.CodeInvalid, "The path contains a NUL character.").WithHint("Leave it out.")
	case len(p) > maxPath:
		return "", sys.Errorf(sys.CodeInvalid, "The path is longer than %d bytes.", maxPath).WithHint("Use a shorter one.")
	case p == "":
		return ".", nil
	}
	name := filepath.ToSlash(p)
	if r.home != "" && (name == "~" || strings.HasPrefix(name, "~/")) {
		name = filepath.ToSlash(r.home) + name[1:]
	}
	if path.IsAbs(name) || filepath.IsAbs(p) || filepath.VolumeName(p) != "" {
		inside, ok := under(name, filepath.ToSlash(r.dir))
		if !ok {
			if inside, ok = under(name, filepath.ToSlash(r.real)); !ok {
				return "", r.outside(p)
			}
		}
		name = inside
	}
	var parts []string
	depth := 0
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
			continue
		case "..":
			depth--
		default:
			depth++
		}
		if depth < 0 {
			return "", r.outside(p)
		}
		if err := checkName(part); err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ".", nil
	}
	return strings.Join(parts, "/"), nil
}

// under returns the part of name below root. Names are compared whole, and
// without case where the file system does so.
func under(name, root string) (string, bool) {
	root = strings.TrimSuffix(root, "/")
	if len(name) < len(root) {
		return "", false
	}
	head, rest := name[:len(root)], name[len(root):]
	same := head == root
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		same = strings.EqualFold(head, root)
	}
	if !same || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimLeft(rest, "/"), true
}

func checkName(name string) error {
	if len(name) > maxName {
		return sys.Errorf(sys.CodeInvalid, "A name in the path is longer than %d bytes.", maxName).WithHint("Use a shorter one.")
	}
	if runtime.GOOS == "windows" && !windowsName(name) {
		return sys.Errorf(sys.CodeInvalid, "Windows gives the name %q another meaning.", name).WithHint("Use another name.")
	}
	return nil
}

// windowsName reports whether Windows takes a name as it is written: no
// device, no stream, no ending that it drops.
func windowsName(name string) bool {
	if name == ".." {
		return true
	}
	if strings.ContainsAny(name, `:<>"|?*`) || strings.TrimRight(name, ". ") != name {
		return false
	}
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return false
	}
	if strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT") {
		switch base[3:] {
		case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
			return false
		}
	}
	return true
}

func (r *Root) outside(p string) error {
	return sys.Errorf(sys.CodeRefused, "%q lies outside the folder of this run. Nothing was done.", shortPart(p)).
		WithHint("Use a path inside %s.", r.dir)
}

// Resolve follows the links in rel and returns where it leads, still relative
// to the folder. The last part need not exist. Policy about names ([Classify])
// belongs on the result too: a link may give a guarded file another name.
func (r *Root) Resolve(rel string) (string, error) {
	rest := strings.Split(rel, "/")
	var done []string
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", r.outside(rel)
			}
			done = done[:len(done)-1]
			continue
		}
		at := path.Join(append(done[:len(done):len(done)], part)...)
		info, err := r.root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			for _, p := range rest {
				if p == ".." {
					return "", pathError("open", rel, r.dir, err)
				}
			}
			return path.Join(append([]string{at}, rest...)...), nil
		case err != nil:
			return "", pathError("open", rel, r.dir, err)
		case info.Mode()&fs.ModeSymlink == 0:
			done = append(done, part)
			continue
		}
		if links++; links > 40 {
			return "", pathError("open", rel, r.dir, syscall.ELOOP)
		}
		target, err := r.root.Readlink(at)
		if err != nil {
			return "", pathError("open", rel, r.dir, err)
		}
		target = filepath.ToSlash(target)
		if path.IsAbs(target) || filepath.IsAbs(target) {
			inside, ok := under(path.Clean(target), filepath.ToSlash(r.real))
			if !ok {
				if inside, ok = under(path.Clean(target), filepath.ToSlash(r.dir)); !ok {
					return "", r.outside(rel)
				}
			}
			done, target = nil, inside
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if len(done) == 0 {
		return ".", nil
	}
	return strings.Join(done, "/"), nil
}

// pathError turns an error of the file system into one that a model can act
// on.
func pathError(op, name, dir string, err error) error {
	var e *sys.Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.Is(err, fs.ErrNotExist):
		e = sys.Errorf(sys.CodeNotFound, "There is no %q.", shortPart(name)).WithHint("List the folder to see what is there.")
	case errors.Is(err, fs.ErrExist):
		e = sys.Errorf(sys.CodeConflict, "%q exists already.", shortPart(name))
	case errors.Is(err, fs.ErrPermission):
		e = sys.Errorf(sys.CodeForbidden, "The system does not allow to %s %q.", sys.Words{EN: op, KO: sys.Korean(op)}, shortPart(name))
	case errors.Is(err, syscall.ENOSPC):
		e = sys.Errorf(sys.CodeDiskFull, "The disk is full: %q was not written.", shortPart(name)).WithHint("Free some space and try again.")
	case errors.Is(err, syscall.ELOOP):
		e = sys.Errorf(sys.CodeInvalid, "%q is a link that leads in a circle.", shortPart(name))
	case errors.Is(err, syscall.ENOTDIR):
		e = sys.Errorf(sys.CodeInvalid, "A part of %q is not a folder.", shortPart(name))
	case strings.Contains(err.Error(), "escapes"):
		e = sys.Errorf(sys.CodeRefused, "%q leads out of the folder of this run. Nothing was done.", shortPart(name)).WithHint("Use a path inside %s.", dir)
	default:
		e = sys.Errorf(sys.CodeInvalid, "Could not %s %q: %v.", sys.Words{EN: op, KO: sys.Korean(op)}, shortPart(name), err)
	}
	e.Err = err
	return e
}
