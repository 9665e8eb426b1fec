package security

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"oxios/kernel/sys"
)

// grantRule says how a program is read when a kind is made of a command.
type grantRule struct {
	words    int                   // how many words choose what it does
	flags    string                // options without a value that reach nothing more: a kind may carry them unseen
	texts    string                // options whose value is only text, whatever it says
	whole    bool                  // a single dash begins a whole name: go test -run
	exact    bool                  // its operands name no files, so they must be the same
	project  bool                  // it runs what stands in the folder
	network  bool                  // it may be allowed with the network: it sends what it is for, to where the folder's settings say
	settings func(*Kind) sys.Words // binds the kind to the files that say what is run
}

// grantRules are the programs, with the words that choose what they do, of
// which more is known than that they exist. Every other one is taken for a
// program that may run what stands in the folder.
var grantRules = sync.OnceValue(func() map[string]grantRule {
	scripts := grantRule{words: 1, flags: "s silent q quiet", exact: true, project: true, settings: projectSettings("npm")}
	named := scripts
	named.words = 2
	goes := grantRule{words: 1, flags: "v race short json x", texts: "run count timeout", whole: true, project: true, settings: projectSettings("go")}
	cargo := grantRule{words: 1, flags: "v q verbose quiet release locked offline", project: true, settings: projectSettings("cargo")}
	makes := grantRule{flags: "s silent k keep-going", exact: true, project: true, settings: projectSettings("make")}
	remote := grantRule{words: 1, flags: "v q n verbose quiet dry-run progress no-progress porcelain", exact: true, network: true, settings: gitSettings}
	files := grantRule{flags: "n v no-clobber verbose"}
	return map[string]grantRule{
		"git add":    {words: 1, flags: "v n verbose dry-run", settings: gitSettings},
		"git commit": {words: 1, flags: "v q verbose quiet", texts: "m message", settings: gitSettings},
		"git push":   remote, "git fetch": remote, "git pull": remote,
		"npm test": scripts, "yarn test": scripts, "pnpm test": scripts,
		"npm run": named, "yarn run": named, "pnpm run": named,
		"go test": goes, "go build": goes, "go vet": goes,
		"cargo test": cargo, "cargo build": cargo, "cargo check": cargo, "cargo clippy": cargo, "cargo fmt": cargo,
		"make": makes, "gmake": makes,
		"cp": files, "mv": files, "mkdir": {flags: "p v parents verbose"}, "touch": {flags: "c no-create"},
	}
})

// startOthers are programs that can start another one through an option, a
// file that they read or a key: besides shells, wrappers and interpreters,
// which are known as such.
var startOthers = strings.Fields(`aa-exec ab agetty alpine ansible-playbook ansible-test aoss apt apt-get aptitude ar aria2c arj as ascii-xfr asterisk at atobm
	aws base58 batch bconsole bpftrace bridge bundler busctl byebug bzip2 c89 c99 cabal capsh certbot check_by_ssh check_statusfile
	cmake cobc composer cowsay cowthink cpan cpio cpulimit crash crontab csplit csvtool ctr cupsfilter curl dc debugfs dialog dig distcc dmesg
	dmidecode dmsetup dnf docker docker-compose podman nerdctl dpkg dvips easy_install eb emacs emacsclient enscript eqn espeak exiftool
	facter fping find fish fmt ftp g++ gcc gcloud gcore gem genie genisoimage ghci gh gimp ginsh git glab gnuplot go grc gtester gzip helm hping3
	iconv iftop install ionice ip ispell java jjs joe journalctl jq jrunscript just knife ksshell kubectl latex latexmk ld.so ldconfig lftp ln loginctl
	logrotate logsave ltrace lua lualatex luatex lwp-download mail make mail.mailutils meson msfconsole msgattrib msgcat msgconv msgfilter msgmerge
	msguniq mtr multitime mvn mysql nano nasm nawk ncdu ncftp ninja nmap node nohup npm npx pnpm yarn bun bunx deno cargo gradle sbt nroff octave openssl
	openvpn opkg pandoc pdb pdflatex pdftex perlbug pexec pg pic pico pidstat pip pip3 pipx pkexec pkg posh pr pry psftp psql ptx puppet pytest
	tox nox rake rake2 rc readelf red redcarpet redis-cli restic rpm rpmdb rpmquery rpmverify rsync rsync-ssl rtorrent run-mailcap run-parts runscript rustc rview
	rvim scanmem scons scp screen script scrot sftp sg shuf slsh smbclient snap socat sort split sqlite3 sqlmap ssh ssh-agent ssh-keygen ssh-keyscan
	sshfs start-stop-daemon strace systemctl sysctl tar tasksh tcpdump tdbtool tclsh tee telnet terraform tex tftp tic timedatectl tmate tmux top torify
	torsocks troff tshark uv uvx vagrant valgrind varnishncsa vigr vimdiff vipw virsh volatility w3m wall watch watchexec wc wget wish
	xargs xdg-open xdg-user-dir xdotool xelatex xetex xmodmap xmore yelp yum zathura zip unzip zsoelim 7z 7za bazel task doit invoke fab parallel
	eslint prettier jest vitest mocha webpack vite rollup gulp grunt ant msbuild dotnet mix rebar3 stack ghc swiftc zig protoc magick convert
	ffmpeg pre-commit husky lefthook act entr nodemon osascript open xcodebuild swift rustup conda mamba nix nix-build guix brew port`)

// startsAny reports whether a program is made to run others: a shell, a
// wrapper or an interpreter.
func startsAny(name string) bool {
	low := strings.TrimSuffix(strings.ToLower(name), ".exe")
	_, wraps := cmdWrappers[low]
	return wraps || cmdShells[low] || isInterpreter(low) || cmdShells[interpreterName(low)] ||
		slices.Contains([]string{"eval", "source", ".", "exec", "trap", "alias", "cmd", "pwsh", "powershell", "coreutils", "busybox"}, low)
}

// ruleFor returns how a command is read, or why no grant is given for it.
func ruleFor(name string, args []string, v Verdict) (grantRule, sys.Words) {
	if startsAny(name) {
		return grantRule{}, sys.Say("%s can run any other program, so it is asked for each time.", name)
	}
	if rule, ok := grantRules()[name]; ok {
		return rule, sys.Words{}
	}
	if len(args) > 0 {
		if rule, ok := grantRules()[name+" "+args[0]]; ok {
			if rule.words == 2 && (len(args) < 2 || !subWord(args[1])) {
				return grantRule{}, sys.Say("%s can start other programs in ways that its words do not show, so it is asked for each time.", name)
			}
			return rule, sys.Words{}
		}
	}
	if v.ReadOnly {
		rule := grantRule{exact: name == "git"}
		if name == "git" {
			rule.words = 1
		}
		return rule, sys.Words{}
	}
	base := interpreterName(name)
	if slices.Contains(startOthers, name) || slices.Contains(startOthers, base) || slices.Contains(dangerousNames(), name) || slices.Contains(dangerousNames(), base) {
		return grantRule{}, sys.Say("%s can start other programs in ways that its words do not show, so it is asked for each time.", name)
	}
	return grantRule{words: 3, project: true}, sys.Words{}
}

// text reports whether an option's value is only text, and whether that stands
// in the same word.
func (r grantRule) text(word string) (text, attached bool) {
	name, _, attached := strings.Cut(strings.TrimLeft(word, "-"), "=")
	switch {
	case r.texts == "":
		return false, false
	case strings.HasPrefix(word, "--"), r.whole:
		return len(name) > 1 && containsWord(r.texts, name), attached
	}
	// -mwords, as git takes it: the rest of the word is the text.
	letter := word[1:2]
	return containsWord(r.texts, letter), len(word) > 2
}

// textName is an option that carries its text, without it.
func textName(word string) string {
	if name, _, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") && len(name) > 2 {
		return name + "="
	}
	return word[:2]
}

// harmless reports whether an option reaches nothing that the kind does not
// reach without it.
func (r grantRule) harmless(word string) bool {
	if r.flags == "" {
		return false
	}
	if long, ok := strings.CutPrefix(word, "--"); ok {
		return len(long) > 1 && containsWord(r.flags, long)
	}
	if r.whole {
		return containsWord(r.flags, word[1:])
	}
	for i := 1; i < len(word); i++ {
		if !containsWord(r.flags, word[i:i+1]) {
			return false
		}
	}
	return true
}

// projectSettings binds a kind to the files that a tool reads first.
func projectSettings(tool string) func(*Kind) sys.Words {
	return func(k *Kind) sys.Words {
		p := projects()[tool]
		digest, _, ok := digestOf(p.files(k.Dir, k.Folder))
		if !ok {
			return sys.Say("The files that say what %s does cannot be read, so it is asked for each time.", k.Program)
		}
		k.Settings = digest
		if p.was > 0 {
			names := strings.Fields(p.reads)
			p.reads = strings.Join(names[:p.was], " ")
			k.before, _, _ = digestOf(p.files(k.Dir, k.Folder))
		}
		return sys.Words{}
	}
}

// upTo returns dir and the folders above it, the last of them top.
func upTo(dir, top string) []string {
	out := []string{dir}
	for dir != top && Within(dir, top) {
		dir = filepath.Dir(dir)
		out = append(out, dir)
	}
	return out
}
