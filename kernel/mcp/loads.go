package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packageDepth is how many folders above a script its package may begin.
const packageDepth = 4

// loads are what a script of Node loads besides what lies beside it: the folder node_modules that it lies in, or the
// package.json above it with the node_modules beside that. What is none of Oxios' and holds no keys is left to the caller.
func loads(script string) []string {
	if real, err := filepath.EvalSymlinks(script); err == nil {
		script = real
	}
	if !slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".mts"}, filepath.Ext(script)) {
		return nil
	}
	const modules = "node_modules"
	names := strings.Split(script, string(filepath.Separator))
	if i := slices.Index(names, modules); i >= 0 {
		return []string{strings.Join(names[:i+1], string(filepath.Separator))}
	}
	dir := filepath.Dir(script)
	for range packageDepth {
		if info, err := os.Lstat(filepath.Join(dir, "package.json")); err == nil && info.Mode().IsRegular() {
			found := []string{filepath.Join(dir, "package.json")}
			if info, err := os.Lstat(filepath.Join(dir, modules)); err == nil && info.IsDir() {
				found = append(found, filepath.Join(dir, modules))
			}
			return found
		}
		dir = filepath.Dir(dir)
	}
	return nil
}
