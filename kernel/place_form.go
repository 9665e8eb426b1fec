package kernel

import (
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/security"
)

// onDisk returns a path below a folder as the disk writes it. A Mac, or a copy
// from one, writes 한 as three letters and é as two (NFD), where keyboards and
// models write one: it is the same name. A name that is there in just the form
// that was given comes first, and what is missing stays as it was given.
func onDisk(root *security.Root, rel string) string {
	if isASCII(rel) || strings.Contains(rel, "..") {
		return rel
	}
	if _, err := root.FS().Lstat(rel); err == nil {
		return rel
	}
	parts := strings.Split(rel, "/")
	at := ""
	for i, part := range parts {
		if _, err := root.FS().Lstat(path.Join(at, part)); err != nil {
			form, ok := otherForm(root, at, part)
			if !ok {
				return path.Join(at, path.Join(parts[i:]...))
			}
			part = form
		}
		at = path.Join(at, part)
	}
	return at
}

// otherForm finds a name in a folder that is written in another form.
func otherForm(root *security.Root, dir, name string) (string, bool) {
	if isASCII(name) {
		return "", false
	}
	entries, err := root.ReadDir(path.Clean(dir))
	if err != nil {
		return "", false
	}
	want := norm.NFC.String(name)
	for _, e := range entries {
		if norm.NFC.String(e.Name()) == want {
			return e.Name(), true
		}
	}
	return "", false
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
