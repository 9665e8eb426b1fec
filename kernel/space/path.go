package space

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// byPath finds the spaces that have the longest of the paths that a message
// names or works in, and that path.
func byPath(m Message, spaces []Space) (by []Space, named string, sure float64) {
	text, home, folder := slashes(m.Text), slashes(m.Home), slashes(m.Folder)
	inside := relative(text, folder)
	longest := 0
	for _, s := range spaces {
		own := ""
		for _, p := range append([]string{s.Folder}, s.Paths...) {
			at := clean(p)
			if at == "" || len(at) < longest || len(at) <= len(own) {
				continue
			}
			if names(text, at, home) || within(folder, at) || anyWithin(inside, at) {
				own = at
			}
		}
		switch {
		case own == "" || len(own) < longest:
		case len(own) > longest:
			by, longest, named = []Space{s}, len(own), own
		default:
			by = append(by, s)
		}
	}
	sure = 0.9
	if named != "" && names(text, named, home) {
		sure = 1
	}
	return by, named, sure
}

func slashes(s string) string { return strings.ReplaceAll(s, `\`, "/") }

func clean(p string) string {
	if p = slashes(p); p == "" {
		return ""
	}
	if p = path.Clean(p); p == "/" || p == "." {
		return "" // everything lies there
	}
	return p
}

// within reports whether p is a folder or lies in it.
func within(p, folder string) bool {
	return p != "" && (p == folder || strings.HasPrefix(p, folder+"/"))
}

func anyWithin(all []string, folder string) bool {
	for _, p := range all {
		if within(p, folder) {
			return true
		}
	}
	return false
}

// relative returns where the paths of a message lead that begin in its folder.
func relative(text, folder string) (out []string) {
	if folder == "" {
		return nil
	}
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "\"'`()[]<>,;:!?@")
		if strings.Contains(word, "/") && !strings.Contains(word, "://") && !strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "~") {
			out = append(out, path.Join(folder, word))
		}
	}
	return out
}

// names reports whether a text names a path, or one in it; home is what ~ is.
func names(text, p, home string) bool {
	if stands(text, p) {
		return true
	}
	if rest, ok := strings.CutPrefix(p, home+"/"); ok && home != "" {
		return stands(text, "~/"+rest)
	}
	return false
}

// stands reports whether a path stands in a text, and neither goes on there nor
// is the end of another one.
func stands(text, p string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], p)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		if (i == 0 || !partOf(before) && before != '/' && before != '~' && before != '.' && before != ':') && ends(text[i+len(p):]) {
			return true
		}
		from = i + len(p)
	}
}

// partOf reports whether a character goes on with a name.
func partOf(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '-' || r == '_'
}

// ends reports whether a path is over where this follows. Korean writes
// particles behind it.
func ends(rest string) bool {
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "", r == '/':
		return true
	case r == '.': // of a sentence, not of a name
		next, _ := utf8.DecodeRuneInString(rest[size:])
		return len(rest) == size || !partOf(next) && next != '.'
	case !partOf(r):
		return true
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !partOf(r) })
	if end < 0 {
		end = len(rest)
	}
	return particles(rest[:end], 3)
}

// withoutPaths leaves paths and addresses out of a text: what folders are called
// says nothing of what the text is about.
func withoutPaths(text string) string {
	if !strings.ContainsAny(text, `/\`) {
		return text
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		bare := slashes(strings.TrimLeft(word, "\"'`([<@"))
		if strings.HasPrefix(bare, "/") || strings.HasPrefix(bare, "~/") || strings.HasPrefix(bare, "./") || strings.HasPrefix(bare, "../") || strings.Contains(bare, "://") || strings.Contains(bare, ":/") {
			continue
		}
		b.WriteString(word + " ")
	}
	return b.String()
}
