package skill

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// Has answers what there is on this machine. Program looks for a name in the
// search path, Env for a variable with a value, Config for a setting that is
// switched on.
type Has interface {
	Program(name string) bool
	Env(name string) bool
	Config(key string) bool
}

// Missing is one requirement that is not met.
type Missing struct {
	Kind    string    `json:"kind"` // bin, any_bin, env, config or os
	Names   []string  `json:"names"`
	Text    sys.Words `json:"text"`
	Install []Install `json:"install,omitempty"` // ways to get it, of those that the skill names for this system
}

// Missing returns which requirements of the skill are not met on a system (a
// GOOS).
func (s Skill) Missing(has Has, system string) (out []Missing) {
	if len(s.Requires.OS) > 0 && !slices.Contains(s.Requires.OS, system) {
		out = append(out, Missing{Kind: "os", Names: s.Requires.OS, Text: sys.Say("It works only on %s.", strings.Join(s.Requires.OS, ", "))})
	}
	for _, name := range s.Requires.Bins {
		if !has.Program(name) {
			out = append(out, Missing{Kind: "bin", Names: []string{name}, Text: sys.Say("The program %s is not installed.", name), Install: s.brings(system, name)})
		}
	}
	if any := s.Requires.AnyBins; len(any) > 0 && !slices.ContainsFunc(any, has.Program) {
		out = append(out, Missing{Kind: "any_bin", Names: any, Text: sys.Say("None of these programs is installed: %s.", strings.Join(any, ", ")), Install: s.brings(system, any...)})
	}
	for _, name := range s.Requires.Env {
		if !has.Env(name) {
			out = append(out, Missing{Kind: "env", Names: []string{name}, Text: sys.Say("The variable %s is not set.", name)})
		}
	}
	for _, key := range s.Requires.Config {
		if !has.Config(key) {
			out = append(out, Missing{Kind: "config", Names: []string{key}, Text: sys.Say("The setting %s is off.", key)})
		}
	}
	return out
}

// brings returns the installations for a system that bring one of the programs;
// one that names no programs may bring any.
func (s Skill) brings(system string, names ...string) (out []Install) {
	for _, in := range s.Install {
		if len(in.OS) > 0 && !slices.Contains(in.OS, system) {
			continue
		}
		if len(in.Bins) == 0 || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(in.Bins, n) }) {
			if _, err := in.Argv(); err == nil {
				out = append(out, in)
			}
		}
	}
	return out
}

// Argv returns the installation as a command line for a person to see and for an
// approved command to run; nothing here runs it. It is an error for a kind that
// is not known and for a value that a program would take for an option.
func (in Install) Argv() ([]string, error) {
	name := in.Package
	switch in.Kind {
	case "brew", "npm", "go", "uv":
		if !isPackage(name) {
			return nil, sys.Errorf(sys.CodeInvalid, "The installation with %s names no valid package: %q.", in.Kind, sys.Shorten(visible(name), 80))
		}
	}
	switch in.Kind {
	case "brew":
		return []string{"brew", "install", name}, nil
	case "npm":
		return []string{"npm", "install", "--global", "--ignore-scripts", name}, nil
	case "go":
		if !strings.Contains(name, "@") {
			name += "@latest"
		}
		return []string{"go", "install", name}, nil
	case "uv":
		return []string{"uv", "tool", "install", name}, nil
	case "download":
		u, err := url.Parse(in.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || in.URL != visible(in.URL) {
			return nil, sys.Errorf(sys.CodeInvalid, "The download needs an https address: %q.", sys.Shorten(visible(in.URL), 80))
		}
		file := path.Base(u.Path)
		if checkEntry(file) != (sys.Words{}) || strings.HasPrefix(file, "-") || file == "." || file == "/" {
			file = "download"
		}
		return []string{"curl", "--fail", "--location", "--proto", "=https", "--output", file, u.String()}, nil
	}
	return nil, sys.Errorf(sys.CodeInvalid, "Oxios does not know the installation kind %q.", sys.Shorten(visible(in.Kind), 40))
}

// isPackage reports whether a text can be a formula, package or module, and is
// no option, no address, no path and not more than one word.
func isPackage(name string) bool {
	return len(name) <= 214 && !strings.Contains(name, "..") && packagePattern().MatchString(name)
}

var packagePattern = sys.Pattern(`^[@A-Za-z0-9][A-Za-z0-9._/@+\[\]~^=<>,-]*$`)

// systemOf is the GOOS of a name of a system.
func systemOf(name string) string {
	switch name = strings.ToLower(name); name {
	case "macos", "mac", "osx":
		return "darwin"
	case "win32", "win":
		return "windows"
	}
	return name
}
