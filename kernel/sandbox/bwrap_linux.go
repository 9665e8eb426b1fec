package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// bwrapPlaces are where bubblewrap is looked for. PATH is not asked: a program
// that an agent put there would build the walls that hold the agent.
var bwrapPlaces = []string{"/usr/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

var (
	errNoBwrap       = errors.New("bubblewrap is not installed; `sudo apt install bubblewrap` brings it")
	errOpenBwrap     = errors.New("bubblewrap could be replaced by somebody who is not root, so it is not used")
	errNoNamespaces  = errors.New("this system lets ordinary programs make no namespaces of their own; troubleshooting.md says how to allow it to bubblewrap")
	noNamespaceWords = []string{"No permissions to creat", "setting up uid map", "Creating new namespace failed", "user namespaces are not allowed", "Operation not permitted"}
)

// findBwrap returns the path of bubblewrap. It, and every folder above it,
// belongs to root and to nobody else's pen.
func findBwrap() (string, error) {
	for _, p := range bwrapPlaces {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			continue
		}
		if !rootsOwn(real) {
			return "", errOpenBwrap
		}
		return real, nil
	}
	return "", errNoBwrap
}

// rootsOwn reports whether only root could change the program at path.
func rootsOwn(path string) bool {
	for p := path; ; p = filepath.Dir(p) {
		info, err := os.Lstat(p)
		if err != nil {
			return false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || st.Uid != 0 || info.Mode().Perm()&0o022 != 0 || p == path && !info.Mode().IsRegular() {
			return false
		}
		if p == "/" {
			return true
		}
	}
}

// bwrapProblem makes a sentence of what bubblewrap said when it failed.
func bwrapProblem(said string) error {
	for _, w := range noNamespaceWords {
		if strings.Contains(said, w) {
			return errNoNamespaces
		}
	}
	if said = strings.TrimSpace(said); said == "" {
		said = "bubblewrap ended without a word"
	}
	return errors.New(said)
}
