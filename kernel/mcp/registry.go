package mcp

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Where packages come from that the person's settings say nothing of.
const (
	npmRegistry = "https://registry.npmjs.org/"
	uvIndex     = "https://pypi.org/simple"
	uvFiles     = "https://files.pythonhosted.org/"
)

// maxNPMRC is how many bytes of a file of npm's settings are read.
const maxNPMRC = 64 << 10

// registry is where a package is downloaded from.
type registry struct {
	url   string   // its address
	lines []string // of npm's settings that name it, and those of scopes: no keys
	from  []security.Address
}

// hosts are the machines.
func (r registry) hosts() (list []string) {
	for _, a := range r.from {
		list = append(list, a.Host)
	}
	return list
}

// registryOf reads from the environment, and from npm's own settings, where a package comes from. npm is where that program is.
func (s *Service) registryOf(p Package, npm string) (r registry, err error) {
	if p.Kind == kindUV {
		r.url = s.variable("UV_DEFAULT_INDEX", "UV_INDEX_URL")
		addresses := []string{r.url}
		if r.url == "" {
			r.url = uvIndex
			addresses = []string{uvIndex, uvFiles}
		}
		return r.open(addresses)
	}
	set := map[string]string{"registry": npmRegistry}
	files := []string{filepath.Join(s.c.Expand("~"), ".npmrc")}
	if f := s.variable("npm_config_userconfig", "NPM_CONFIG_USERCONFIG"); filepath.IsAbs(f) {
		files[0] = f
	}
	if npm != "" { // the settings of the whole computer lie beside npm
		files = append([]string{filepath.Join(filepath.Dir(filepath.Dir(npm)), "etc", "npmrc")}, files...)
	}
	for _, f := range append([]string{"/etc/npmrc"}, files...) {
		readNPMRC(f, set)
	}
	if v := s.variable("npm_config_registry", "NPM_CONFIG_REGISTRY"); v != "" {
		set["registry"] = v
	}
	r.url = set["registry"]
	scope, _, scoped := strings.Cut(p.Name, "/")
	if own := set[scope+":registry"]; scoped && own != "" {
		r.url = own
	}
	for key, v := range set {
		r.lines = append(r.lines, key+"="+v)
	}
	slices.Sort(r.lines)
	// What it needs may lie in the registry for all, and in those of other scopes.
	addresses := []string{r.url, set["registry"]}
	for key, v := range set {
		if strings.HasSuffix(key, ":registry") {
			addresses = append(addresses, v)
		}
	}
	slices.Sort(addresses[2:])
	return r.open(addresses)
}

// found is where a package comes from, as it was found out a moment ago.
type found struct {
	r   registry
	err error
	at  time.Time
}

// lately is registryOf for those who only show it, and ask for many servers one after the other.
func (s *Service) lately(p Package) (registry, error) {
	scope, _, scoped := strings.Cut(p.Name, "/")
	if !scoped {
		scope = ""
	}
	key := p.Kind + " " + scope
	now := s.c.Clock.Now()
	s.mu.Lock()
	f, ok := s.found[key]
	s.mu.Unlock()
	if !ok || now.Sub(f.at) > 5*time.Second || now.Before(f.at) {
		f.at = now
		f.r, f.err = s.registryOf(p, s.npmPlace())
		s.mu.Lock()
		s.found[key] = f
		s.mu.Unlock()
	}
	return f.r, f.err
}

// open reads the addresses.
func (r registry) open(addresses []string) (registry, error) {
	for _, one := range addresses {
		a, err := security.ReadAddress(one)
		if err != nil {
			return r, sys.Errorf(sys.CodeRefused, "The registry %s cannot be used. %s", sys.Shorten(one, 200), refusalOf(err))
		}
		if !a.TLS && !a.Own {
			return r, sys.Errorf(sys.CodeRefused, "The registry %s must begin with https, because what comes from it could be changed on the way.", sys.Shorten(one, 200))
		}
		if !slices.ContainsFunc(r.from, func(b security.Address) bool { return b.Host == a.Host && b.TLS == a.TLS }) {
			r.from = append(r.from, a)
		}
	}
	return r, nil
}

// readNPMRC takes the registries out of a file of npm's settings, and nothing else: keys stay there.
func readNPMRC(path string, into map[string]string) {
	f, _, err := sys.OpenRegular(path)
	if err != nil {
		return // most people have none
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 0; n < maxNPMRC && lines.Scan(); n += len(lines.Text()) + 1 {
		key, value, ok := strings.Cut(lines.Text(), "=")
		key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`)
		if ok && !strings.Contains(value, "${") && value != "" && (key == "registry" || strings.HasPrefix(key, "@") && strings.HasSuffix(key, ":registry")) {
			into[key] = value
		}
	}
}

// variable is the first of these variables that Oxios' own environment has.
func (s *Service) variable(names ...string) string {
	for _, name := range names {
		if s.c.Env == nil {
			break
		}
		if v := strings.TrimSpace(s.c.Env(name)); v != "" {
			return v
		}
	}
	return ""
}

// firstOf is the first of these variables that an environment has, whatever their case.
func firstOf(env []string, names ...string) string {
	for _, name := range names {
		for _, line := range env {
			if key, value, _ := strings.Cut(line, "="); strings.EqualFold(key, name) && value != "" {
				return value
			}
		}
	}
	return ""
}

// programIn finds a program by the PATH of an environment; "" where it is not.
func programIn(env []string, name string) string {
	for _, dir := range filepath.SplitList(firstOf(env, "PATH")) {
		for _, end := range []string{"", ".exe", ".cmd"} {
			p := filepath.Join(dir, name+end)
			if info, err := os.Stat(p); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && (end != "" || filepath.Separator == '\\' || info.Mode()&0o111 != 0) {
				return p
			}
		}
	}
	return ""
}
