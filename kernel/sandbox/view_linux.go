package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemFolders are readable for every command.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/proc", "/sys", "/nix/store"}

// devices may be opened, and devicesRead only be read.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// private are the places below the home, inside folders that PATH makes
// readable, where programs keep secrets.
var private = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".password-store", ".mozilla",
	".cargo/credentials", ".cargo/credentials.toml", ".config/git/credentials", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
}

// prefixParts are the folders beside a bin folder that its programs need.
var prefixParts = []string{"lib", "lib64", "libexec", "include", "pkg", "pkgs", "etc", "conda-meta", "share/pipx", "share/uv", "share/mise", "share/pnpm", "pipx"}

// caFiles are the variables that name certificates, without which no TLS
// connection works behind some proxies.
var caFiles = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT"}

// rules says what a command at level 2 may reach. The spec is resolved. What
// is implied comes from the person's environment, never from the command's,
// which an agent may have written.
func (r *Runner) rules(spec Spec, path, tmp string) []rule {
	env := r.cfg.Env()
	var out []rule
	grant := func(a access, strict bool, paths ...string) {
		for _, p := range paths {
			out = append(out, rule{Path: p, Access: a, Strict: strict})
		}
	}
	home := canonical(envValue(env, "HOME"))
	grant(accessRead, false, systemFolders...)
	grant(accessDevice, false, devices...)
	grant(accessWrite, false, "/dev/shm")
	// Where the name servers are listed; often a link out of /etc.
	grant(accessRead, false, "/etc/resolv.conf")

	// What the person's programs need. Nothing of it was asked for by name,
	// so that secrets in it stay out.
	shut := slices.Clone(spec.Hidden)
	if filepath.IsAbs(home) && home != "/" {
		for _, p := range private {
			shut = append(shut, filepath.Join(home, p))
		}
	}
	for _, p := range impliedPaths(env, home) {
		grant(accessRead, false, without(canonical(p), shut)...)
	}
	grant(accessRead, false, without(canonical(path), spec.Hidden)...)

	for _, p := range spec.Readable {
		grant(accessRead, true, without(p, spec.Hidden)...)
	}
	for _, p := range append([]string{spec.Dir}, spec.Writable...) {
		grant(accessWrite, true, without(p, spec.Hidden)...)
	}
	// Oxios made these itself; the cache may lie in its own, hidden home.
	grant(accessWrite, true, tmp)
	if spec.cache.at != "" {
		grant(accessWrite, true, spec.cache.at)
	}
	return out
}

// impliedPaths are what the person's programs need besides the system's folders.
func impliedPaths(env []string, home string) []string {
	out := pathFolders(env, home)
	if filepath.IsAbs(home) {
		out = append(out, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git"), filepath.Join(home, "go/pkg"))
	}
	for _, name := range caFiles {
		if p := envValue(env, name); filepath.IsAbs(p) && !tooWide(canonical(p), home) {
			out = append(out, p)
		}
	}
	return out
}

// pathFolders returns the folders of PATH and what lies beside them.
func pathFolders(env []string, home string) []string {
	var out []string
	for _, p := range filepath.SplitList(envValue(env, "PATH")) {
		if !filepath.IsAbs(p) {
			continue
		}
		p = canonical(p)
		if !tooWide(p, home) {
			out = append(out, p)
		}
		parent := filepath.Dir(p)
		switch {
		case tooWide(parent, home):
		case filepath.Dir(parent) == home && !ownPrefix(filepath.Base(parent)):
			for _, part := range prefixParts {
				out = append(out, filepath.Join(parent, part))
			}
		default:
			out = append(out, parent)
		}
		if p == filepath.Join(home, ".cargo/bin") {
			out = append(out, filepath.Join(home, ".rustup"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tooWide reports whether a folder holds more than programs: the root, the
// home and what lies above it, and the top-level folders for data.
func tooWide(p, home string) bool {
	switch p {
	case "/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/var/lib", "/mnt", "/media", "/srv", "/run", "/dev":
		return true
	}
	return home != "" && within(home, p) || filepath.Dir(p) == "/home"
}

// ownPrefix reports whether a folder directly in the home belongs to one tool
// (~/.pyenv, ~/.cargo, ~/go), so that it may be read whole. ~/.local and
// folders like ~/work hold the person's data too.
func ownPrefix(name string) bool {
	switch name {
	case ".local", ".config", ".cache", ".var":
		return false
	}
	return strings.HasPrefix(name, ".") || name == "go"
}

// without returns what to grant so that dir is granted but nothing in hidden.
// If dir holds none of it, that is dir; if dir lies in it, nothing; otherwise
// the children of dir, one by one. Symlinks are left out: a rule on one would
// count for what it points to.
func without(dir string, hidden []string) []string {
	var inside []string
	for _, h := range hidden {
		if within(dir, h) {
			return nil
		}
		if within(h, dir) {
			inside = append(inside, h)
		}
	}
	if len(inside) == 0 {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			out = append(out, without(filepath.Join(dir, e.Name()), inside)...)
		}
	}
	return out
}
