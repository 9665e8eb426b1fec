package kernel

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"oxios/kernel/security"
)

// activated are the variables that name the folder of an environment of
// programs. One means nothing without that folder in PATH.
var activated = []string{"VIRTUAL_ENV", "CONDA_PREFIX"}

// TerminalEnv is what commands get of the environment of a terminal: where its
// programs are, as an active virtual environment, nvm or a container sets it.
func TerminalEnv(getenv func(string) string) (env []string) {
	for _, name := range append([]string{"PATH"}, activated...) {
		if v := getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// atTerminal notes from which terminal a conversation was last spoken in. It
// holds as long as the process.
func (k *Kernel) atTerminal(session string, env []string) {
	if len(env) > 0 {
		k.terminals.Store(session, TerminalEnv(func(name string) string { return envValue(env, name) }))
	}
}

// envFor is the environment of commands of a conversation in a folder. Behind
// the PATH of the login shell comes that of the terminal: first what lies outside
// the folder, then what lies inside, which a run may have written itself.
func (k *Kernel) envFor(session, folder string) []string {
	env := k.commandEnv()
	var terminal []string
	if v, ok := k.terminals.Load(session); ok {
		terminal, _ = v.([]string)
	}
	if len(terminal) == 0 && !slices.ContainsFunc(activated, func(name string) bool { return envValue(env, name) != "" }) {
		return env
	}
	env = slices.Clone(env)
	path := filepath.SplitList(envValue(env, "PATH"))
	var inside []string
	for _, d := range filepath.SplitList(envValue(terminal, "PATH")) {
		switch {
		case !filepath.IsAbs(d) || slices.Contains(path, d) || slices.Contains(inside, d):
		case liesIn(d, folder):
			inside = append(inside, d)
		default:
			path = append(path, d)
		}
	}
	path = append(path, inside...)
	env = withVariable(env, "PATH", strings.Join(path, string(os.PathListSeparator)))
	for _, name := range activated {
		for _, value := range []string{envValue(terminal, name), envValue(env, name)} {
			if value != "" && slices.ContainsFunc(path, func(d string) bool { return security.Within(d, value) }) {
				env = withVariable(env, name, value)
				break
			}
			env = withVariable(env, name, "")
		}
	}
	return env
}

// liesIn reports whether a path is the folder or inside it, as it is written or
// where it leads.
func liesIn(path, folder string) bool {
	return security.Within(path, folder) || security.Within(realPath(path), realPath(folder))
}

// withVariable sets a variable, or takes it out for "".
func withVariable(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	if value == "" {
		return env
	}
	return append(env, name+"="+value)
}

// ofTheFolder judges a line once more where a program of it is found only in a
// folder of PATH inside the folder of the run: such a program is a script of that
// folder, whatever its name says.
func (c *command) ofTheFolder(v security.Verdict, shell string) security.Verdict {
	if runtime.GOOS == "windows" {
		return v
	}
	written := append(slices.Clone(v.Paths), c.argv[0])
	var scripts []string
	for _, name := range v.Programs {
		if slices.ContainsFunc(written, func(w string) bool { return strings.ContainsRune(w, '/') && filepath.Base(w) == name }) {
			continue // it is judged by its path
		}
		if p := findProgram(name, nil, c.dir, c.env); p != "" && liesIn(p, c.caller.scope.folder) {
			scripts = append(scripts, quoteArgv([]string{p}))
		}
	}
	if len(scripts) == 0 {
		return v
	}
	whole := security.ClassifyCommand(strings.Join(append(scripts, c.line), "\n"), c.options(shell))
	whole.Programs = v.Programs
	return whole
}
