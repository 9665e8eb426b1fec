package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// envKept are the variables that a command may see. Everything else could be a
// secret, or change what a program loads.
var envKept = sync.OnceValue(func() map[string]bool {
	kept := map[string]bool{}
	for _, name := range strings.Fields(`
		PATH HOME USER LOGNAME LANG LANGUAGE TZ SHELL MANPATH XDG_CONFIG_HOME XDG_DATA_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS
		GOPATH GOROOT GOBIN GOTOOLCHAIN GOFLAGS GOMODCACHE NVM_DIR NODE_PATH VOLTA_HOME FNM_DIR BUN_INSTALL DENO_INSTALL PNPM_HOME
		PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX RBENV_ROOT GEM_HOME GEM_PATH ASDF_DIR ASDF_DATA_DIR CARGO_HOME RUSTUP_HOME
		JAVA_HOME SDKMAN_DIR ANDROID_HOME DOTNET_ROOT HOMEBREW_PREFIX NIX_PATH
		SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT
		HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY
		SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE USERNAME APPDATA LOCALAPPDATA PROGRAMDATA
		PROGRAMFILES PROGRAMFILES(X86) COMMONPROGRAMFILES NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE OS`) {
		kept[name] = true
	}
	return kept
})

// envSet keeps programs from asking, paging and colouring.
var envSet = []string{
	"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat",
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
	"DEBIAN_FRONTEND=noninteractive", "PYTHONUNBUFFERED=1", "NO_COLOR=1",
}

// proxyEnv tells programs their way to the network.
func proxyEnv(url string) []string {
	out := []string{"NODE_USE_ENV_PROXY=1", "no_proxy=", "NO_PROXY="}
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy"} {
		out = append(out, name+"="+url, strings.ToUpper(name)+"="+url)
	}
	return out
}

// holeEnv is the way at level 3. The command's own loopback is reached without it.
var holeEnv = func() []string {
	const near = "localhost,127.0.0.1,::1"
	out := proxyEnv("http://127.0.0.1:" + holePort)
	return append(out, "no_proxy="+near, "NO_PROXY="+near)
}()

// holePort is where, on the loopback of a command at level 3, the way to the
// network begins.
const holePort = "3128"

// withSecret finds a user and password inside a URL, as proxies have them.
var withSecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s@]*:[^/\s@]*@`)
})

// ScrubEnv returns the variables of env that a command may see, with those set
// that keep programs from prompting. What is not on the list is dropped,
// secrets with it; so is a kept one that carries a password in a URL.
func ScrubEnv(env []string) []string {
	kept := envKept()
	out := make([]string, 0, len(kept))
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			continue
		}
		upper := strings.ToUpper(name)
		// Names differ by case on Unix; proxies are written in both ways.
		if runtime.GOOS != "windows" && upper != name && !strings.HasSuffix(upper, "_PROXY") {
			continue
		}
		if !kept[upper] && !strings.HasPrefix(upper, "LC_") || withSecret().MatchString(value) {
			continue
		}
		out = setEnv(out, kv)
	}
	for _, kv := range envSet {
		out = setEnv(out, kv)
	}
	return out
}

// setEnv puts name=value into env, in place of an older one.
func setEnv(env []string, kv string) []string {
	name, _, _ := strings.Cut(kv, "=")
	i := slices.IndexFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
	if i < 0 {
		return append(env, kv)
	}
	env[i] = kv
	return env
}

// envValue returns the last value of name, which is the one that counts.
func envValue(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if n, v, _ := strings.Cut(kv, "="); n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name) {
			return v
		}
	}
	return ""
}

// LoginEnv returns the environment of the person's login shell. A program that
// was started from an icon does not have it, and would not find what nvm or
// pyenv put into PATH. It takes as long as the person's shell takes to start,
// at most 5 seconds; the caller keeps the answer. When the shell cannot be
// asked, the process's own environment comes back together with the error.
func LoginEnv(ctx context.Context) ([]string, error) {
	own := os.Environ()
	shell := envValue(own, "SHELL")
	if runtime.GOOS == "windows" {
		return own, nil // there, the environment does not depend on how one was started
	}
	if !filepath.IsAbs(shell) {
		return own, sys.Errorf(sys.CodeUnavailable, "The login shell is unknown: SHELL is %q.", shell)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	// The mark parts the answer from what the person's start files print.
	mark := "oxios-" + sys.NewID()
	cmd := exec.Command(shell, "-lic", fmt.Sprintf("printf %%s %[1]s; command env -0; printf %%s %[1]s", mark))
	cmd.Env = setEnv(own, "TERM=dumb")
	// Start files may run what lies in the current folder (PATH=./bin:$PATH): the
	// shell starts where a login puts it, never where an agent is to work.
	if cmd.Dir = envValue(own, "HOME"); !filepath.IsAbs(cmd.Dir) {
		cmd.Dir = string(filepath.Separator)
	}
	cmd.Env = setEnv(cmd.Env, "PWD="+cmd.Dir)
	cmd.WaitDelay = 500 * time.Millisecond
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	ownSession(cmd)
	if err := cmd.Start(); err != nil {
		return os.Environ(), sys.Errorf(sys.CodeUnavailable, "The login shell %s could not be asked for its environment: %w", shell, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		// What its start files run may hold a lock that only they can clear
		// away (pyenv's does): they are told first, and ended if they stay. They may
		// outlive the shell, so it is the group that is waited for.
		hangUp(cmd.Process.Pid)
		for end := time.Now().Add(time.Second); groupLives(cmd.Process.Pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				killGroup(cmd.Process.Pid)
				break
			}
		}
		<-ended
		err = context.Cause(ctx)
	}
	parts := strings.Split(stdout.String(), mark)
	if len(parts) < 3 {
		return os.Environ(), sys.Errorf(sys.CodeUnavailable, "The login shell %s did not tell its environment: %w", shell, err)
	}
	var env []string
	for _, kv := range strings.Split(parts[1], "\x00") {
		if name, _, ok := strings.Cut(kv, "="); ok && name != "_" && name != "SHLVL" && name != "TERM" {
			env = append(env, kv)
		}
	}
	if envValue(env, "PATH") == "" {
		return os.Environ(), sys.Errorf(sys.CodeUnavailable, "The login shell %s told no PATH.", shell)
	}
	return env, nil
}
