package security

import (
	"path"
	"slices"
	"strings"
)

// StartsAnother reports whether argv runs more than the one program that it
// names: a shell, a program that starts the command in its arguments, or an
// interpreter whose arguments hold code. Programs whose arguments are a language
// of their own, as those of sed and awk, are single programs.
func StartsAnother(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(argv[0], `\`, "/")), ".exe")
	lower := strings.ToLower(name) // where names have no case
	if _, wraps := cmdWrappers[lower]; wraps || cmdShells[lower] || slices.Contains([]string{"cmd", "powershell", "pwsh"}, lower) {
		return true
	}
	kind := interpreterName(name)
	if kind == "deno" {
		return len(argv) > 1 && argv[1] == "eval"
	}
	rule, known := textRules[kind]
	if known && rule.data {
		return false
	}
	codes := strings.Fields(rule.code)
	for _, letter := range interpreterFlags[kind] {
		codes = append(codes, "-"+string(letter))
	}
	return slices.ContainsFunc(ownOptions(argv[1:], rule.flags), func(option string) bool {
		return slices.ContainsFunc(codes, func(code string) bool {
			if long := strings.HasPrefix(code, "--"); long || len(code) > 2 {
				return option == code || strings.HasPrefix(option, code+"=")
			}
			if code == "-m" || len(option) < 2 || option[1] == '-' { // a module is a file
				return false
			}
			flags, _, has := strings.Cut(option[1:], code[1:])
			return has && strings.Trim(flags, rule.flags+"0123456789") == ""
		})
	})
}

// ownOptions are the options before the file that an interpreter runs: what
// follows it belongs to that program. A word after an option that is not known to
// have no value may be one.
func ownOptions(args []string, flags string) []string {
	var out []string
	value := false
	for _, a := range args {
		if len(a) < 2 || a[0] != '-' {
			if !value {
				break
			}
			value = false
			continue
		}
		if a == "--" {
			break
		}
		out = append(out, a)
		value = a[1] == '-' && !strings.Contains(a, "=") || a[1] != '-' && strings.Trim(a[1:], flags) != ""
	}
	return out
}
