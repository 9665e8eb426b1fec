package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"oxios/kernel/sys"
)

// checkEntry says what is wrong with the slash path of a file in a package, empty
// if it can be stored below a folder of any system and nowhere else.
func checkEntry(name string) sys.Words {
	shown := sys.Shorten(visible(name), 120)
	switch {
	case name == "" || len(name) > 1024:
		return sys.Say("a path is empty or longer than %d bytes", 1024)
	case !utf8.ValidString(name):
		return sys.Say("the name %q is not UTF-8", shown)
	case strings.ContainsFunc(name, unseen):
		return sys.Say("the name %q has characters that cannot be seen", shown)
	case strings.Contains(name, `\`):
		return sys.Say("the name %q has a backslash", shown)
	case strings.HasPrefix(name, "/"):
		return sys.Say("the path %q begins at the root of the disk", shown)
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return sys.Say("the path %q has more than %d folders", shown, maxDepth)
	}
	for _, part := range parts {
		base, _, _ := strings.Cut(strings.ToLower(part), ".")
		switch {
		case part == "..":
			return sys.Say("the path %q leads out of the folder", shown)
		case strings.Contains(part, ":"):
			return sys.Say("the name %q has a colon, as drives have", shown)
		case part == "" || part == ".":
			return sys.Say("the path %q is not in its simplest form", shown)
		case len(part) > 255, strings.HasSuffix(part, "."), strings.HasSuffix(part, " "), reserved[base], strings.ContainsAny(part, `<>"|?*`):
			return sys.Say("the name %q cannot be stored on every system", shown)
		}
	}
	return sys.Words{}
}

// reserved are the names that Windows has for devices, with any ending.
var reserved = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true, "conin$": true, "conout$": true,
	"com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}

// unseen reports whether a character in a name is not seen, or changes how others
// are seen.
func unseen(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) || filler(r)
}

// filler are letters that look like nothing.
func filler(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0:
		return true
	}
	return r >= 0x180B && r <= 0x180F || r >= 0xE0100 && r <= 0xE01EF
}

// names notices when two paths would be one file on a disk that does not tell
// case or the forms of Unicode apart.
type names struct {
	seen map[string]string // folded path → as it was written
	file map[string]bool   // folded path → it is a file
}

func newNames() *names { return &names{seen: map[string]string{}, file: map[string]bool{}} }

// add takes in a path and the folders above it.
func (n *names) add(name string, isFile bool) sys.Words {
	for at := 0; at < len(name); {
		end := strings.IndexByte(name[at:], '/')
		whole := end < 0
		part := name
		if !whole {
			part = name[:at+end]
		}
		key := fold(part)
		before, there := n.seen[key]
		switch {
		case there && before != part:
			return sys.Say("the names %q and %q are the same on many disks", sys.Shorten(visible(before), 120), sys.Shorten(visible(part), 120))
		case there && (isFile && whole || n.file[key]):
			return sys.Say("the name %q is there twice", sys.Shorten(visible(part), 120))
		}
		n.seen[key] = part
		if whole {
			n.file[key] = isFile
			break
		}
		at += end + 1
	}
	return sys.Words{}
}
