package mcp

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"oxios/kernel/sys"
)

// installUV installs a package of the Python index with uv: wheels alone, as what builds itself runs a script.
func (s *Service) installUV(ctx context.Context, at string, p Package, version string, before installation, again bool, i *installation) error {
	uv := programIn(s.c.Spec(s.c.Dir, false).Env, "uv")
	if uv == "" {
		return sys.Errorf(sys.CodeNotFound, "%s needs uv, which is not on this computer. Nothing was installed.", p.said()).WithHint("Install uv, then try again.")
	}
	r, err := s.registryOf(p, "")
	if err != nil {
		return err
	}
	switch {
	case again:
		version = before.Version
	case version == "" || version == newest:
		version = p.Asked
	}
	cache := filepath.Join(at, ".cache")
	env := []string{
		"UV_TOOL_DIR=" + filepath.Join(at, "tools"), "UV_TOOL_BIN_DIR=" + filepath.Join(at, "bin"), "UV_CACHE_DIR=" + cache, "HOME=" + at,
		"UV_PYTHON_DOWNLOADS=never", "UV_LINK_MODE=copy", "UV_NO_CONFIG=1", "UV_NO_PROGRESS=1",
	}
	_, err = s.download(ctx, at, p, r, []string{uv, "tool", "install", "--no-build", "--default-index", r.url, p.spec(version)}, env, seenAs(uv))
	if err == nil {
		err = os.RemoveAll(cache)
	}
	if err != nil {
		return err
	}
	bin := p.Bin
	if bin == "" {
		bin = p.Name
	}
	file := "bin/" + bin
	if _, err := os.Stat(filepath.Join(at, "bin", bin)); err != nil {
		file += ".exe"
		if _, err := os.Stat(filepath.Join(at, "bin", bin+".exe")); err != nil {
			return sys.Errorf(sys.CodeInvalid, "The package %s has no program %s, so it is no server that can be started.", p.Name, bin)
		}
	}
	i.Program, i.From, i.Version = []string{file}, r.from[0].Host, versionOfTool(at, p.Name)
	return nil
}

// versionOfTool reads the version that uv installed from the name of the folder that describes it.
func versionOfTool(at, name string) string {
	plainName := regexp.MustCompile(`[-_.]+`)
	want := strings.ToLower(plainName.ReplaceAllString(name, "_"))
	for _, pattern := range []string{"tools/*/lib/python*/site-packages/*.dist-info", "tools/*/Lib/site-packages/*.dist-info"} {
		all, err := filepath.Glob(filepath.Join(at, filepath.FromSlash(pattern)))
		for _, dir := range all {
			is, version, ok := strings.Cut(strings.TrimSuffix(filepath.Base(dir), ".dist-info"), "-")
			if err == nil && ok && strings.ToLower(plainName.ReplaceAllString(is, "_")) == want {
				return plain(version, 60)
			}
		}
	}
	return ""
}
