package security

import (
	"strings"
	"sync"
)

// startsBy are the options by which programs that otherwise handle data start or
// load something. operands says that their operands are program text too, and so is
// what they read from a pipe.
var startsBy = sync.OnceValue(func() map[string]startRule {
	out := map[string]startRule{}
	for names, rule := range map[string]startRule{
		"tar gtar bsdtar": {options: "-I -T --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command --files-from"},
		"cpio":            {options: "--rsh-command"},
		"zip":             {options: "-TT --unzip-command"},
		"rsync":           {options: "-e --rsh --rsync-path"},
		"ssh scp sftp sshfs mosh autossh ssh-copy-id": {options: "-o -F -S -D -b -I --ssh --server", stdin: true},
		"ftp lftp mongosh mongo cqlsh":                {options: "-e -f --file --eval", operands: true, stdin: true},
		"redis-cli":                                   {options: "--eval", stdin: true},
		"wget":                                        {options: "-e --execute --use-askpass --config"},
		"kubectl oc docker podman nerdctl docker-compose podman-compose": {options: "-k --filename --kustomize --kubeconfig", stdin: true},
		"pandoc":      {options: "-L -d -t -r -w -H --lua-filter --defaults --to --from --read --write --pdf-engine --syntax-definition --abbreviations --include-in-header"},
		"tmux screen": {options: "-f -c", operands: true},
		"sort":        {options: "--compress-program"},
		"split":       {options: "--filter"},
		"rg":          {options: "--pre --hostname-bin"},
		"man":         {options: "-P -C -H --pager --config-file --html"},
		"openssl":     {options: "-config -engine -provider -provider-path -rand"},
		"apt apt-get dpkg dnf yum rpm zypper pacman apk snap flatpak brew installer": {operands: true},
		"npm pnpm yarn pip pip3 pipx uv gem composer luarocks cpan cpanm":            {operands: true},
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = rule
		}
	}
	return out
})

type startRule struct {
	options         string
	operands, stdin bool
}

// startText notes the program text that the options of such a program name: a file,
// or a command line with files in it.
func (w *cmdWalker) startText(name string, args []cmdWord) {
	rule, ok := startsBy()[name]
	if !ok {
		return
	}
	w.hiddenText(rule.stdin && w.piped)
	words := func(a cmdWord, text string) {
		for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" =,'\"", r) }) {
			a.text = f
			w.isText(a)
		}
	}
	next := false
	for _, a := range args {
		flag, value, has := strings.Cut(a.text, "=")
		isOption := len(a.text) > 1 && a.text[0] == '-'
		switch {
		case next, !isOption && rule.operands:
			words(a, a.text)
		case isOption && a.text[1] != '-' && !containsWord(rule.options, flag):
			for i := 2; i < len(a.text); i++ { // -I./packer, and -xI ./packer below
				if containsWord(rule.options, "-"+a.text[i-1:i]) {
					words(a, a.text[i:])
				}
			}
		case isOption && has && startsOption(rule.options, flag):
			words(a, value)
		}
		next = isOption && !has && (startsOption(rule.options, flag) || a.text[1] != '-' && containsWord(rule.options, "-"+a.text[len(a.text)-1:]))
	}
}

// startsOption reports whether a flag is one of the options, or a long one put shorter.
func startsOption(options, flag string) bool {
	for o := range strings.FieldsSeq(options) {
		if o == flag || len(flag) > 4 && strings.HasPrefix(flag, "--") && strings.HasPrefix(o, flag) {
			return true
		}
	}
	return false
}
