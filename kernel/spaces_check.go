package kernel

import (
	"slices"
	"strings"
	"unicode/utf8"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// What a space may have at most.
const (
	maxSpaceName  = 200  // bytes
	maxSpaceTexts = 64   // words, and paths
	maxSpaceRules = 8000 // characters of its instructions
)

// checkSpace makes what somebody said of a space whole, or says what is wrong.
func (k *Kernel) checkSpace(s *SpaceInfo) (err error) {
	s.Name, s.Emoji, s.Instructions = strings.Join(strings.Fields(s.Name), " "), strings.TrimSpace(s.Emoji), strings.TrimSpace(s.Instructions)
	switch {
	case s.Name == "":
		return sys.Errorf(sys.CodeInvalid, "A space needs a name. Nothing was changed.")
	case len(s.Name) > maxSpaceName:
		return sys.Errorf(sys.CodeInvalid, "The name of a space has at most 200 bytes. Nothing was changed.")
	case isDefault(s.Name):
		return sys.Errorf(sys.CodeInvalid, "%q is the name of the default space. Nothing was changed.", s.Name).WithHint("Choose another name.")
	case len(s.Emoji) > 40 || strings.ContainsAny(s.Emoji, "\n\r"):
		return sys.Errorf(sys.CodeInvalid, "The emoji of a space is one character, not a text. Nothing was changed.")
	case utf8.RuneCountInString(s.Instructions) > maxSpaceRules:
		return sys.Errorf(sys.CodeTooLarge, "The instructions of a space have at most %d characters. Nothing was changed.", maxSpaceRules)
	case len(s.Words) > maxSpaceTexts || len(s.Paths) > maxSpaceTexts:
		return sys.Errorf(sys.CodeInvalid, "A space has at most %d words and %d paths. Nothing was changed.", maxSpaceTexts, maxSpaceTexts)
	}
	s.Words = tidy(s.Words)
	paths := tidy(s.Paths)
	for i, p := range paths {
		if paths[i], err = absolute(p); err != nil {
			return err
		}
	}
	s.Paths = tidy(paths)
	if s.Folder != "" {
		if s.Folder, err = k.checkFolder(s.Folder); err != nil {
			return err
		}
	}
	if s.Mode != "" {
		m, err := security.ParseMode(s.Mode)
		if err != nil {
			return err
		}
		s.Mode = string(m)
	}
	if s.Role != "" {
		_, err = k.roleOf(s.Role)
	}
	return err
}

// tidy returns texts of one line, each once, without those that are empty.
func tidy(all []string) []string {
	out := []string{}
	for _, t := range all {
		if t = strings.Join(strings.Fields(t), " "); t != "" && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, t) }) {
			out = append(out, sys.Shorten(t, 400))
		}
	}
	return out
}
