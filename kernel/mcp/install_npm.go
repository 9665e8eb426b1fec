package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The files that pin what npm installed.
var pinnedFiles = []string{"package.json", "package-lock.json"}

// npmPlace is where npm lies; "" where it does not.
func (s *Service) npmPlace() string {
	if s.c.Spec == nil {
		return ""
	}
	return programIn(s.c.Spec(s.c.Dir, false).Env, "npm")
}

// npm runs npm in a folder. It has none of the person's settings but the addresses of registries, and no key.
func (s *Service) npm(ctx context.Context, at string, p Package, args ...string) ([]byte, error) {
	env := s.c.Spec(s.c.Dir, false).Env
	node, npm := programIn(env, "node"), programIn(env, "npm")
	if node == "" || npm == "" {
		return nil, sys.Errorf(sys.CodeNotFound, "%s needs npm, which is not on this computer. Nothing was installed.", p.said()).WithHint("Install Node.js 18 or newer, then try again.")
	}
	r, err := s.registryOf(p, npm)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(at, ".npmrc"), []byte(strings.Join(r.lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	argv := []string{npm}
	readable := append(seenAs(node), seenAs(npm)...)
	for _, script := range []string{readable[len(readable)-1], filepath.Join(filepath.Dir(npm), "node_modules", "npm", "bin", "npm-cli.js")} {
		if _, err := os.Stat(script); err == nil && strings.HasSuffix(script, ".js") {
			argv = []string{node, script} // npm is a script, and lies in a folder of its own
			readable = append(readable, filepath.Dir(filepath.Dir(script)))
			break
		}
	}
	cache := filepath.Join(at, ".cache")
	defer os.RemoveAll(cache) //nolint:errcheck // it is a part of the tree then
	argv = append(argv, args...)
	argv = append(argv, "--prefix", at, "--cache", cache, "--userconfig", filepath.Join(at, ".none"), "--globalconfig", filepath.Join(at, ".none-global"),
		"--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--omit=dev", "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=60000")
	return s.download(ctx, at, p, r, argv, []string{"npm_config_cache=" + cache, "HOME=" + at}, readable)
}

// installNPM installs a package of npm. Where it was installed before, the lock file of that time says what of everything.
func (s *Service) installNPM(ctx context.Context, name, at string, p Package, version string, again bool, i *installation) error {
	args := []string{"install", "--save-exact", "--package-lock", p.spec(p.Asked)}
	switch {
	case again && s.pinned(name, at):
		args = []string{"ci"}
	case version != "" && version != newest:
		args[3] = p.spec(version)
	}
	if args[0] == "install" {
		if err := os.WriteFile(filepath.Join(at, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
			return err
		}
	}
	if _, err := s.npm(ctx, at, p, args...); err != nil {
		return err
	}
	file, is, err := entry(at, p)
	if err != nil {
		return err
	}
	lock, err := os.ReadFile(filepath.Join(at, "package-lock.json"))
	if err != nil {
		return err
	}
	i.Version, i.Program, i.Scripts = plain(is, 60), []string{"node", file}, scriptsIn(lock)
	if r, err := s.registryOf(p, s.npmPlace()); err == nil && len(r.from) > 0 {
		i.From = r.from[0].Host
	}
	if args[0] == "ci" {
		return nil
	}
	err = os.MkdirAll(s.at(name, lockFolder), 0o700)
	for _, f := range pinnedFiles {
		raw, rerr := os.ReadFile(filepath.Join(at, f))
		if err = errors.Join(err, rerr); err == nil {
			err = security.WriteFileAtomic(s.at(name, lockFolder, f), raw, 0o600)
		}
	}
	return err
}

// pinned puts the lock file of the first installation into a folder, and reports whether there is one.
func (s *Service) pinned(name, at string) bool {
	for _, f := range pinnedFiles {
		raw, err := os.ReadFile(s.at(name, lockFolder, f))
		if err != nil || os.WriteFile(filepath.Join(at, f), raw, 0o600) != nil {
			return false
		}
	}
	return true
}
