package security

import (
	"slices"
	"strings"
	"sync"

	"oxios/kernel/sys"
)

// cmdOther says what a program does that is neither harmless nor refused.
type cmdOther struct {
	effect Effect
	why    *cmdReason
}

// cmdOthers are programs whose effect can be told to the person. One that is
// not here is "a program that is not known to only look".
var cmdOthers = sync.OnceValue(func() map[string]cmdOther {
	others := map[string]cmdOther{}
	for _, group := range []struct {
		effect Effect
		why    *cmdReason
		names  string
	}{
		{EffectNetwork, &cmdNetwork, `curl wget http https xh httpie ftp sftp lftp scp ssh sshfs ssh-copy-id mosh ping ping6 fping arping traceroute tracepath
			mtr whois nmap zmap gsutil s3cmd rclone kubectl helm oc flyctl fly heroku vercel netlify firebase terraform tofu ansible ansible-playbook
			pulumi aria2c axel lynx w3m links elinks mail mailx sendmail msmtp mutt swaks ngrok cloudflared tailscale wg yt-dlp youtube-dl wscat websocat
			grpcurl redis-cli mongo mongosh cqlsh influx ipfs hub glab jira slackcat telegram-send rdesktop xfreerdp vncviewer tcpdump tshark nsupdate
			openssl resolvectl avahi-browse smbclient mysqladmin pg_dump pg_restore mysqldump az aws gcloud doctl linode-cli hcloud gh adb`},
		{EffectNetwork, &cmdInstalls, `apt apt-get aptitude dpkg dnf yum rpm zypper pacman yay paru apk emerge snap flatpak brew port choco scoop winget npm npx pnpm
			pnpx yarn bun bunx pip pip3 pipx uvx easy_install gem cargo rustup composer cpan cpanm luarocks cabal stack opam nuget dotnet mvn gradle sbt
			nvm asdf mise volta go helmfile pre-commit corepack`},
		{EffectExecute, &cmdRunsBuild, `make gmake cmake ninja meson bazel buck2 scons rake just task tox nox pytest jest vitest mocha tsc eslint webpack vite rollup
			gulp grunt ant msbuild gcc g++ cc c++ clang clang++ ld as rustc javac ghc swiftc zig protoc mypy ruff black prettier`},
		{EffectOutside, &cmdOpens, "xdg-open open gnome-open kde-open gio start explorer xdotool ydotool wtype osascript notify-send zenity kdialog code subl firefox chromium google-chrome"},
		{EffectOutside, &cmdReadsPrivate, "xclip xsel wl-paste wl-copy pbpaste pbcopy scrot import screencapture grim gnome-screenshot arecord"},
		{EffectOutside, &cmdLooksAround, "last lastlog lastb dmesg lsof ss netstat ip ifconfig getent loginctl busctl dbus-send gdbus"},
		{EffectOutside, &cmdSettings, "gsettings dconf defaults xrandr nmcli timedatectl hostnamectl localectl update-alternatives ldconfig locale-gen setxkbmap amixer pactl crudini mount umount hwclock"},
		{EffectExecute, &cmdWritesFile, `touch mkdir split csplit patch unzip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z 7za zip tar cpio ar rename mktemp mkfile fallocate
			sponge convert magick ffmpeg pandoc dos2unix unix2dos iconv ssh-keygen age age-keygen keytool xattr touch`},
		{EffectExecute, &cmdNeverEnds, "yes"},
	} {
		for _, name := range strings.Fields(group.names) {
			others[name] = cmdOther{group.effect, group.why}
		}
	}
	return others
})

// otherProgram judges a program that is neither known to be harmless nor
// refused as such: it asks, and what its words name is looked at.
func (w *cmdWalker) otherProgram(name string, args []cmdWord) {
	if w.onlyVersion(name, args) {
		return
	}
	other, ok := cmdOthers()[name]
	if runsProject(name, first(args)) {
		other.effect, other.why = EffectExecute, &cmdRunsBuild
	}
	if !ok {
		w.changes(TierAsk, EffectExecute, cmdUnknownProgram)
	} else {
		w.changes(TierAsk, other.effect, *other.why)
	}
	switch name {
	case "curl", "wget", "http", "https", "xh", "aria2c", "axel":
		w.transfers(args)
		w.downloads(name, args)
	case "ssh", "mosh", "autossh":
		w.remoteShell(args)
	case "tar", "zip", "cpio", "7z", "unzip":
		w.archives(args)
		if name != "tar" || strings.Contains(firstText(args), "c") || firstText(args) == "--create" {
			w.takesHome(args)
			w.recursesInto(w.folders(operands(args)))
		}
	case "sort", "split":
		w.optionCommand(args, "--compress-program", "--filter")
	case "openssl":
		if firstText(args) == "rand" || firstText(args) == "dgst" || firstText(args) == "version" {
			break
		}
		w.facts.decodes = hasFlag(args, "d") || w.facts.decodes
		w.facts.listener = firstText(args) == "s_client" || w.facts.listener
	case "xxd", "gunzip", "gzip", "uudecode", "base58", "rev", "zstd":
		w.facts.decodes = w.facts.decodes || hasFlag(args, "drp", "decompress") || name == "gunzip" || name == "uudecode"
	case "scp", "sftp", "ftp":
		w.optionCommand(args, "-o", "-S")
		if ops := operands(args); len(ops) > 1 {
			w.takesHome(ops[:len(ops)-1])
		}
	case "touch", "mkdir":
		for _, op := range operands(args) {
			w.writes(op)
			w.opensFolder(op, name == "mkdir")
		}
	case "ssh-keygen":
		w.facts.secret = false
	case "xclip", "xsel", "wl-paste", "pbpaste", "scrot", "import", "grim", "screencapture", "arecord":
		w.facts.secret = true // what the person copied, sees or says
	case "make", "gmake", "ninja", "just":
		w.makes(args)
	case "xterm", "uxterm", "rxvt", "urxvt", "konsole", "gnome-terminal", "xfce4-terminal", "alacritty", "kitty":
		w.terminals(args)
	case "mount", "umount":
		if strings.Contains(joinWords(args), "remount") || hasFlag(args, "a") {
			w.refuse(cmdSystemFiles)
		}
	case "npm", "pnpm", "yarn", "bun", "npx", "uvx", "go", "cargo":
		w.packageRuns(args)
	case "kubectl", "oc", "helm", "lxc", "incus", "nomad", "heroku", "flyctl", "fly":
		for i, a := range args {
			if a.text == "--" && i+1 < len(args) {
				w.probeWords(args[i+1:])
			}
		}
	case "ip":
		if strings.Contains(joinWords(args), "netns exec") {
			w.probeWords(args[min(3, len(args)):])
		}
	}
	w.handsOver(args)
	if !ok { // it may start what its words name
		w.headWords(args)
		for i, a := range args {
			if i < 12 && (a.text == "rm" || a.text == "dd" || cmdShells[a.text]) && i+1 < len(args) {
				w.probeWords(args[i:])
			}
		}
	}
	if name == "ssh" || name == "ssh-copy-id" || name == "ssh-keygen" {
		return
	}
	w.mentions(args)
}

var startsWhatFollows = sys.Pattern(`(?i)^-+[a-z-]*(exec|command|cmd|eval|pager|preview|shell|program|hook|bind|script|askpass|wrapper|invoke|launch|opener|editor|browser|config-option|config)$|^-[ecExo]$|^--?(up|down|run|call)$`)

// handsOver looks at the values of options that, in most programs, name a
// command to start or code to run. Only the worst counts.
func (w *cmdWalker) handsOver(args []cmdWord) {
	for i, a := range args {
		flag, value, attached := strings.Cut(a.text, "=")
		if !attached && i+1 < len(args) {
			value = args[i+1].text
		}
		if len(flag) < 2 || flag[0] != '-' || !startsWhatFollows().MatchString(flag) || !strings.ContainsAny(value, " ,(") {
			continue
		}
		w.code(value)
		w.probe(strings.ReplaceAll(value, ",", " "))
		for _, cut := range []string{"!", "=", "::", ":", "("} { // hooks.pre=x, alias.x=!x, enter:execute(x)
			if _, command, ok := strings.Cut(value, cut); ok {
				w.probe(strings.TrimSuffix(strings.TrimLeft(command, "=:!("), ")"))
			}
		}
	}
}

// makes looks at what a build is given on the command line.
func (w *cmdWalker) makes(args []cmdWord) {
	for _, a := range args {
		name, value, ok := strings.Cut(a.text, "=")
		if ok && (name == "--eval" || name == "SHELL" || name == ".SHELLFLAGS" || strings.Contains(value, " ")) {
			w.probe(value)
		}
		if a.facts.network || a.facts.decodes {
			w.refuse(cmdRunsDownload)
		}
		w.runsFile(a.text, false)
	}
	if w.stdinText != "" {
		w.probe(w.stdinText)
	}
	if w.stdin.network || w.stdin.decodes {
		w.refuse(cmdRunsDownload)
	}
}

// terminals judges a window that shows a shell, which another machine may be
// given, and the command after -e.
func (w *cmdWalker) terminals(args []cmdWord) {
	for i, a := range args {
		if i+1 == len(args) {
			return
		}
		switch a.text {
		case "-display", "--display":
			if host, _, ok := strings.Cut(args[i+1].text, ":"); ok && host != "" && host != "localhost" && host != "unix" {
				w.refuse(cmdReverseShell)
			}
		case "-e", "-x", "--command", "--":
			w.probeWords(args[i+1:])
			w.probe(joinWords(args[i+1:]))
		}
	}
}

// transfers judges what a program for transfers sends, and where it writes.
func (w *cmdWalker) transfers(args []cmdWord) {
	for i, a := range args {
		t := a.text
		w.address(t)
		low := strings.ToLower(t)
		if strings.HasPrefix(low, "file:") {
			w.reads(cmdWord{text: strings.TrimPrefix(t[5:], "//")}, fileRead)
		}
		if at := strings.IndexAny(t, "@<"); at >= 0 && !strings.Contains(t[:at], "://") && (at == 0 || t[at-1] == '=' || strings.HasPrefix(t, "-d")) {
			if file := t[at+1:]; file != "" && file != "-" {
				word := cmdWord{text: file}
				w.reads(word, fileRead)
			}
		}
		if t == "-T" || t == "--upload-file" || t == "--post-file" || t == "--body-file" {
			if i+1 < len(args) {
				w.reads(args[i+1], fileRead)
			}
		}
		if value, ok := strings.CutPrefix(t, "--post-file="); ok {
			w.reads(cmdWord{text: value}, fileRead)
		}
		if (t == "-o" || t == "-O" || t == "--output" || t == "-P" || t == "--output-document" || t == "-c" || t == "--cookie-jar" || t == "--create-dirs") && i+1 < len(args) &&
			!strings.Contains(args[i+1].text, "://") && !strings.HasPrefix(args[i+1].text, "-") {
			w.writes(args[i+1])
		}
		if t == "--use-askpass" || strings.HasPrefix(t, "--use-askpass=") {
			w.changes(TierAsk, EffectUnknown, cmdStartsOther)
		}
	}
}

// remoteShell judges ssh: options that run something here, and the command
// that runs there.
func (w *cmdWalker) remoteShell(args []cmdWord) {
	const values = "BbcDEeFIiJLlmOopQRSWw"
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case len(t) > 1 && t[0] == '-':
			value := t[2:]
			if len(t) == 2 && strings.IndexByte(values, t[1]) >= 0 && i+1 < len(args) {
				i++
				value = args[i].text
			}
			key, command, ok := strings.Cut(strings.TrimSpace(value), "=")
			if !ok || strings.Contains(key, " ") {
				key, command, ok = strings.Cut(strings.TrimSpace(value), " ")
			}
			if low := strings.ToLower(key); t[1] == 'o' && ok && (strings.Contains(low, "command") || strings.Contains(low, "provider") || strings.Contains(low, "helper") || strings.Contains(low, "include") || strings.Contains(low, "xauthlocation")) {
				w.changes(TierAsk, EffectUnknown, cmdStartsOther)
				w.probe(strings.Trim(command, `"'`))
			}
		default:
			w.address(t)
			if i+1 < len(args) {
				heads := slices.Clip(w.v.heads)
				w.probe(joinWords(args[i+1:]))
				w.v.heads = heads // what it does happens on the other machine
			}
			return
		}
	}
}

func (w *cmdWalker) archives(args []cmdWord) {
	for i, a := range args {
		t := a.text
		next := ""
		if i+1 < len(args) {
			next = args[i+1].text
		}
		_, value, _ := strings.Cut(t, "=")
		switch {
		case strings.HasPrefix(t, "--checkpoint-a"):
			w.startsIn(strings.TrimPrefix(value+" "+next, "exec="))
		case strings.HasPrefix(t, "--to-c"), strings.HasPrefix(t, "--use-c"), strings.HasPrefix(t, "--info-s"), strings.HasPrefix(t, "--new-v"), strings.HasPrefix(t, "--rsh"), strings.HasPrefix(t, "--unzip-command"):
			w.startsIn(value)
			w.startsIn(next)
		case t == "-I" || t == "-TT" || t == "-F":
			w.startsIn(next)
		}
		if strings.HasPrefix(t, "--remove-files") {
			w.head(headDeletes, cmdDeletes, w.part)
			w.v.Deletes = true
		}
	}
}

func (w *cmdWalker) startsIn(command string) {
	if command == "" {
		return
	}
	w.changes(TierAsk, EffectExecute, cmdStartsOther)
	w.probe(strings.TrimPrefix(command, "exec="))
}

func (w *cmdWalker) optionCommand(args []cmdWord, options ...string) {
	for i, a := range args {
		for _, o := range options {
			value, ok := strings.CutPrefix(a.text, o)
			if !ok {
				continue
			}
			if value == "" && i+1 < len(args) {
				value = args[i+1].text
			}
			if _, command, ok := strings.Cut(value, "="); ok {
				value = command
			}
			w.startsIn(value)
		}
	}
}

// runsProject reports whether a package manager is asked to build or run what
// is there already.
func runsProject(name, verb string) bool {
	verbs := map[string]string{
		"npm": "run test start stop run-script t", "pnpm": "run test start build dev lint", "yarn": "run test start build dev lint",
		"bun": "run test build", "go": "build test run vet fmt generate list doc tool clean env version",
		"cargo": "build test run check clippy fmt doc bench clean tree metadata", "mvn": "compile test package verify clean",
		"gradle": "build test check clean tasks", "dotnet": "build test run clean", "composer": "run test", "bundle": "exec",
	}[name]
	return verb != "" && containsWord(verbs, verb)
}

// takesHome notes that a whole home, with the keys in it, is copied.
func (w *cmdWalker) takesHome(args []cmdWord) {
	for _, op := range operands(args) {
		if abs, ok := w.abs(op.text); ok && Within(slashClean(w.home()), strings.TrimSuffix(abs, "/*")) {
			w.facts.secret = true
		}
	}
}

// packageRuns looks at the words of a package manager that runs programs.
func (w *cmdWalker) packageRuns(args []cmdWord) {
	if first(args) == "run" {
		for _, op := range operands(args)[1:] {
			w.runsFile(op.text, true)
		}
	}
	for i, a := range args {
		flag, value, attached := strings.Cut(a.text, "=")
		if !attached && i+1 < len(args) {
			value = args[i+1].text
		}
		switch strings.TrimLeft(flag, "-") {
		case "c", "call", "exec", "toolexec", "vettool", "script-shell", "config":
			if flag[0] == '-' {
				w.probe(value)
			}
		}
		if a.text == "--" && i+1 < len(args) {
			w.probeWords(args[i+1:])
		}
		if a.text == "rimraf" {
			w.v.Deletes = true
			w.refuse(cmdDeletesTree)
		}
	}
}
