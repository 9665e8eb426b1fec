package security

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// showsPlainly judges programs that ask for nothing but what a manual, the
// environment of the command or a table of the system says.
func (w *cmdWalker) showsPlainly(name string, args []cmdWord) bool {
	if slices.ContainsFunc(args, func(a cmdWord) bool { return a.expands || a.glob || !a.seen() }) {
		return false
	}
	switch name {
	case "man":
		return len(args) > 0 && !slices.ContainsFunc(args, func(a cmdWord) bool { return !manualName().MatchString(a.text) })
	case "git":
		if len(args) != 2 || args[1].text != "--help" || !containsWord(strings.Join(strings.Fields(gitVerbs), " "), args[0].text) {
			return false
		}
		w.inRepository()
		return true
	case "env", "printenv":
		if w.assigned || name == "env" && len(args) > 0 || slices.ContainsFunc(args, func(a cmdWord) bool { return !variableName().MatchString(a.text) }) {
			return false
		}
		w.facts.secret = true // it is not sent anywhere all the same
		return true
	case "lsof":
		return w.listsPorts(args)
	case "ss", "netstat":
		return listsServers(args)
	case "cargo":
		if len(args) < 2 || args[0].text != "metadata" || !hasFlag(args, "", "no-deps") || len(operands(args)) > 1+boolInt(args[len(args)-1].text == "1") ||
			slices.ContainsFunc(args[1:], func(a cmdWord) bool {
				return !containsWord("--no-deps --format-version --format-version=1 1 --offline --locked --frozen -q", a.text)
			}) || w.choosesToolchain() {
			return false
		}
		w.note(TierTell, EffectRead, cmdToolReports, w.part)
		return true
	}
	return false
}

// listsServers reports whether ss or netstat is asked which ports are served.
func listsServers(args []cmdWord) bool {
	listens := false
	for _, a := range args {
		letters, ok := strings.CutPrefix(a.text, "-")
		if !ok || letters == "" || strings.Trim(letters, "tulnp46") != "" {
			return false
		}
		listens = listens || strings.Contains(letters, "l")
	}
	return listens
}

// choosesToolchain reports whether a file of the folder, or of one around it,
// may choose the programs that are run under the names of cargo and rustc.
func (w *cmdWalker) choosesToolchain() bool {
	if !w.where.known() {
		return true
	}
	for _, dir := range w.where.all() {
		for ; ; dir = path.Dir(dir) {
			for _, name := range []string{"rust-toolchain", "rust-toolchain.toml"} {
				if _, err := os.Lstat(filepath.FromSlash(path.Join(dir, name))); !os.IsNotExist(err) {
					return true
				}
			}
			if dir == path.Dir(dir) {
				break
			}
		}
	}
	return false
}

// manualName is the name of a page, or of a section before it: no option and no file.
var (
	manualName   = sys.Pattern(`^[A-Za-z0-9][A-Za-z0-9._+:-]*$`)
	variableName = sys.Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
	onePort      = sys.Pattern(`^(?i:tcp|udp)?:[0-9]{1,5}(-[0-9]{1,5})?$`)
)

// listsPorts reports whether lsof is asked who uses a port.
func (w *cmdWalker) listsPorts(args []cmdWord) bool {
	port := false
	for i := 0; i < len(args); i++ {
		t := args[i].text
		value, attached := strings.CutPrefix(t, "-i")
		switch {
		case t == "-i" && i+1 < len(args) && onePort().MatchString(args[i+1].text):
			i++
			port = true
		case attached && onePort().MatchString(value):
			port = true
		case containsWord("-n -P -nP -Pn -t -a -sTCP:LISTEN", t):
		default:
			return false
		}
	}
	return port
}

const gitVerbs = `add am annotate apply archive bisect blame branch bundle cat-file checkout cherry-pick clean clone commit config describe diff fetch format-patch
 gc grep init log ls-files merge mv notes pull push range-diff rebase reflog remote reset restore revert rm shortlog show sparse-checkout stash status submodule switch tag worktree`

// plainSetting reports whether a setting of npm holds no password.
func plainSetting(key string) bool {
	low := strings.ToLower(key)
	return manualName().MatchString(key) && !strings.ContainsAny(key, ":_+") &&
		!slices.ContainsFunc([]string{"auth", "token", "pass", "key", "cert", "otp", "user", "email", "proxy", "secret"}, func(s string) bool { return strings.Contains(low, s) })
}

// goOnlyTells reports whether go is asked for its documentation, which it reads
// from the source of a package.
func goOnlyTells(words []string) bool {
	for _, t := range words[1:] {
		if strings.HasPrefix(t, "-") && !containsWord("-all -short -src -u -c", t) || strings.HasPrefix(t, "/") || strings.HasPrefix(t, "~") || hasDotDot(t) || strings.Contains(t, "@") {
			return false
		}
	}
	return true
}
