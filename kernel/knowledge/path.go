package knowledge

import (
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

// clean returns a path as the vault writes it: relative, with slashes, in NFC.
// It refuses what leads out, and hidden names.
func clean(name string) (string, error) {
	if name == "" || !utf8.ValidString(name) || strings.ContainsAny(name, "\\\x00") || strings.HasPrefix(name, "/") || hasDrive(name) {
		return "", errPath(name)
	}
	p := norm.NFC.String(strings.TrimSuffix(name, "/"))
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return "", errPath(name)
		case part[0] == '.':
			return "", errHidden(name)
		case len(part) > 255:
			return "", errName(sys.Shorten(part, 40), sys.Say("it is longer than 255 bytes"))
		}
	}
	return p, nil
}

func hasDrive(name string) bool {
	return len(name) >= 2 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z'
}

// cleanNote is [clean] for a note: .md is added where it is missing.
func cleanNote(name string) (string, error) {
	p, err := clean(name)
	if err == nil && !isNote(p) {
		p += ".md"
	}
	return p, err
}

func isNote(p string) bool {
	return len(p) > 3 && p[len(p)-3] == '.' && p[len(p)-2]|0x20 == 'm' && p[len(p)-1]|0x20 == 'd'
}

// stem is a path without .md.
func stem(p string) string {
	if isNote(p) {
		return p[:len(p)-3]
	}
	return p
}

// checkName refuses the parts of a new path that some system forbids, or that no
// link could name.
func checkName(p string) error {
	for part := range strings.SplitSeq(p, "/") {
		switch bad := strings.IndexFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`<>:"|?*#^[]`, r) }); {
		case bad >= 0:
			return errName(stem(part), sys.Say("it holds %q", part[bad:bad+1]))
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasSuffix(stem(part), " ") || strings.HasPrefix(part, " "):
			return errName(stem(part), sys.Say("a space or a dot stands at its edge"))
		case isDevice(part):
			return errName(stem(part), sys.Say("Windows keeps it for a device"))
		}
	}
	return nil
}

// forbidden reports whether Windows cannot hold a file of this name. It allows
// more than [checkName]: such a file is there already.
func forbidden(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if strings.ContainsAny(part, `<>:"|?*\`) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || isDevice(part) {
			return true
		}
		for i := range len(part) {
			if part[i] < ' ' {
				return true
			}
		}
	}
	return false
}

func isDevice(part string) bool {
	base, _, _ := strings.Cut(part, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	return len(base) == 4 && (base[:3] == "COM" || base[:3] == "LPT") && base[3] >= '0' && base[3] <= '9'
}

// fold is what names are compared by: NFC, without case.
func fold(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return strings.ToLower(norm.NFC.String(s))
		}
	}
	return strings.ToLower(s)
}

// keyOf is what a link may call a file at least: its name, without .md, folded.
func keyOf(p string) string { return fold(stem(path.Base(p))) }

func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// onDisk returns how the disk writes a path: a Mac, or a copy from one, writes
// 한 as three letters (NFD). Where nothing of that name lies it returns p, below
// the folders as the disk writes them, and found is false.
func onDisk(root *os.Root, p string) (disk string, found bool) {
	if _, err := root.Lstat(p); err == nil {
		return p, true
	}
	ascii := strings.IndexFunc(p, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	if ascii {
		return p, false
	}
	found = true
	for part := range strings.SplitSeq(p, "/") {
		next := join(disk, part)
		if found {
			if _, err := root.Lstat(next); err != nil {
				next, found = otherForm(root, disk, part)
			}
		}
		disk = next
	}
	return disk, found
}

func otherForm(root *os.Root, dir, part string) (string, bool) {
	d, err := root.Open(cmpOr(dir, "."))
	if err != nil {
		return join(dir, part), false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if norm.NFC.String(name) == part {
			return join(dir, name), true
		}
	}
	return join(dir, part), false
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
