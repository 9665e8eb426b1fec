package mcp

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// Package is what the command of a server downloads and runs: npx and uvx do. Oxios installs it once, and starts what was
// installed.
type Package struct {
	Kind  string `json:"kind"`            // npm or uv
	Name  string `json:"name"`            // in the registry
	Asked string `json:"asked,omitempty"` // version, tag or range that the command names; "" is the newest
	Bin   string `json:"bin,omitempty"`   // program of it that runs; "" is its own
	Exact bool   `json:"exact,omitempty"` // Asked is one version

	From []string  `json:"from"` // the machines that it is downloaded from
	Says sys.Words `json:"says"` // what the person should know before it is

	Installed  *Installed `json:"installed,omitempty"`
	Installing bool       `json:"installing,omitempty"`
	Loaded     int64      `json:"loaded,omitempty"` // bytes that are there already, while it is installed

	args []string // for the server
}

// The kinds of packages.
const (
	kindNPM = "npm"
	kindUV  = "uv"
)

// Installed is a package as it lies in the server's folder, which is pinned by its hash.
type Installed struct {
	Version string    `json:"version"`
	At      time.Time `json:"at"`   // UTC
	From    string    `json:"from"` // the registry
	Size    int64     `json:"size"` // bytes
	Files   int       `json:"files"`
	Hash    string    `json:"hash"`              // blake3 of all of it
	Scripts []string  `json:"scripts,omitempty"` // packages with scripts of their own for the installation: none was run
	Altered bool      `json:"altered,omitempty"` // what lies there is not what was installed: it is not started
}

// packageOf is what a command downloads; ok is false for any other command. err says what of it cannot be meant.
func packageOf(def Server) (p Package, ok bool, err error) {
	word := strings.ToLower(filepath.Base(filepath.ToSlash(def.Command)))
	switch word = strings.TrimSuffix(strings.TrimSuffix(word, ".cmd"), ".exe"); {
	case def.remote():
		return p, false, nil
	case word == "npx":
		p.Kind, err = kindNPM, p.readNPX(def.Args)
	case word == "uvx":
		p.Kind, err = kindUV, p.readUVX(def.Args)
	default:
		return p, false, nil
	}
	p.Exact = exact().MatchString(p.Asked)
	return p, true, err
}

var (
	exact   = sys.Pattern(`^v?[0-9]+(\.[0-9]+)+([.+a-z-][0-9A-Za-z.+-]*)?$`)
	npmName = sys.Pattern(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)
	pyName  = sys.Pattern(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	wanted  = sys.Pattern(`^[0-9A-Za-z.^~<>=*+_-]+$`)
	binName = sys.Pattern(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
)

// readNPX reads the arguments of npx: npx -y NAME@VERSION ARG…, or npx -p NAME PROGRAM ARG….
func (p *Package) readNPX(args []string) error {
	spec := ""
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case slices.Contains([]string{"-y", "--yes", "-q", "--quiet", "--"}, word):
		case (word == "-p" || word == "--package") && i+1 < len(args):
			i++
			spec = args[i]
		case strings.HasPrefix(word, "--package="):
			spec = strings.TrimPrefix(word, "--package=")
		case strings.HasPrefix(word, "-"):
			return sys.Errorf(sys.CodeInvalid, "Oxios does not know the option %s of npx.", sys.Shorten(word, 60))
		case spec != "":
			p.Bin, p.args = word, args[i+1:]
			return p.named(spec, npmName().MatchString, "@")
		default:
			p.args = args[i+1:]
			return p.named(word, npmName().MatchString, "@")
		}
	}
	if spec == "" {
		return sys.Errorf(sys.CodeInvalid, "npx is given no package.")
	}
	return p.named(spec, npmName().MatchString, "@")
}

// readUVX reads the arguments of uvx: uvx NAME@VERSION ARG…, or uvx --from NAME==VERSION PROGRAM ARG….
func (p *Package) readUVX(args []string) error {
	spec := ""
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case slices.Contains([]string{"-q", "--quiet", "--"}, word):
		case word == "--from" && i+1 < len(args):
			i++
			spec = args[i]
		case strings.HasPrefix(word, "--from="):
			spec = strings.TrimPrefix(word, "--from=")
		case strings.HasPrefix(word, "-"):
			return sys.Errorf(sys.CodeInvalid, "Oxios does not know the option %s of uvx.", sys.Shorten(word, 60))
		default:
			if p.args = args[i+1:]; spec != "" {
				p.Bin = word
			} else {
				spec = word
			}
			by := "=="
			if !strings.Contains(spec, by) {
				by = "@"
			}
			return p.named(spec, pyName().MatchString, by)
		}
	}
	return sys.Errorf(sys.CodeInvalid, "uvx is given no package.")
}

// named takes a name with its version apart.
func (p *Package) named(spec string, is func(string) bool, by string) error {
	p.Name = spec
	if at := strings.LastIndex(spec, by); at > 0 {
		p.Name, p.Asked = spec[:at], spec[at+len(by):]
	}
	if p.Asked == "latest" {
		p.Asked = ""
	}
	if !is(p.Name) || len(p.Name) > 214 || p.Asked != "" && !wanted().MatchString(p.Asked) || p.Bin != "" && !binName().MatchString(p.Bin) {
		return sys.Errorf(sys.CodeInvalid, "%q is no package of a registry. Oxios installs packages by their name alone, with a version behind it or not.", sys.Shorten(spec, 100))
	}
	return nil
}

// spec is how a version of the package is asked for.
func (p Package) spec(version string) string {
	by := "@"
	if p.Kind == kindUV {
		by = "=="
	}
	if version == "" {
		if p.Kind == kindUV {
			return p.Name
		}
		version = "latest"
	}
	return p.Name + by + version
}

// said is the package as people read it.
func (p Package) said() string {
	if p.Asked == "" {
		return p.Name
	}
	return p.Name + " " + p.Asked
}
