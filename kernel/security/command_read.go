package security

import (
	"slices"
	"strings"
	"sync"

	"oxios/kernel/sys"
)

// cmdReader describes a program that only looks, and what it may be given so
// that this stays true.
type cmdReader struct {
	files fileUse
	any   bool   // every option is harmless but those of deny
	deny  string // letters, and after a space long options, that are not
	short string // letters that are harmless; a colon after those that take a value
	long  string // long options that are harmless; = after those that take a value
	most  int    // how many operands it may have; 0 is any, -1 none
	skip  int    // operands that are not files (a pattern)
	check func(w *cmdWalker, args []cmdWord) bool
}

func anyOption(files fileUse) cmdReader { return cmdReader{files: files, any: true} }

// cmdReaders are the programs that only look.
var cmdReaders func() map[string]cmdReader

// Not where it is declared: some checks of the programs lead back to it.
func init() { cmdReaders = sync.OnceValue(makeCmdReaders) }

func makeCmdReaders() map[string]cmdReader {
	readers := map[string]cmdReader{}
	for use, names := range map[fileUse]string{
		fileNone: `echo true false : expr seq factor numfmt uname arch nproc whoami groups users uptime tty logname hostid locale
			getconf free lscpu lsusb lspci lsmod lsblk pgrep pstree cal ncal sleep which whereis basename dirname pwd exit return
			break continue id who w tr`,
		fileName: "stat test [ df readlink realpath",
		fileList: "ls dir vdir",
		fileRead: `cat head cut tac nl fold expand unexpand paste comm join column rev tsort cmp cksum sum md5sum sha1sum sha224sum
			sha256sum sha384sum sha512sum b2sum od hexdump hd zcat bzcat xzcat`,
	} {
		for _, name := range strings.Fields(names) {
			readers[name] = anyOption(use)
		}
	}
	grep := cmdReader{
		files: fileRead, skip: 1,
		short: "EFGPivwxclLnoqshHrRUzabTIuye:m:A:B:C:0123456789",
		long: `extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp
			count files-with-matches files-without-match line-number only-matching quiet silent no-messages with-filename no-filename
			recursive binary text null null-data byte-offset initial-tab color color= colour= regexp= max-count=
			after-context= before-context= context= include= exclude= exclude-dir= binary-files= line-buffered
			label=`,
	}
	for name, spec := range map[string]cmdReader{
		"grep": grep, "egrep": grep, "fgrep": grep,
		"wc": {files: fileRead, any: true, deny: " files0-from"}, "du": {files: fileList, any: true, deny: " files0-from"},
		"diff": {files: fileRead, any: true, deny: "l paginate output"},
		"nm":   {files: fileRead, any: true, deny: " plugin", check: noArgumentFiles}, "size": {files: fileRead, any: true, check: noArgumentFiles},
		"readelf": {files: fileRead, any: true, check: noArgumentFiles}, "strings": {files: fileRead, any: true, check: noArgumentFiles},
		"objdump": {files: fileRead, any: true, deny: " plugin", check: noArgumentFiles},
		"ulimit":  {files: fileNone, most: -1, short: "SHacdefilmnpqrstuvxPRT"}, "umask": {files: fileNone, most: -1, short: "S"},
		"vmstat": {files: fileNone, most: 2, short: "aSwfmstdDn:"}, "iostat": {files: fileNone, most: 2, short: "cdhkmxyztp"},
		"top": {files: fileNone, short: "bcHin:o:w"}, "tput": {files: fileNone, most: 1, check: tputOnlyAsks}, "tar": {}, "unzip": {},
		"tail": {files: fileRead, short: "n:c:qvzr0123456789", long: "lines= bytes= quiet silent verbose zero-terminated"},
		"sort": {
			files: fileRead, short: "bdfghiMnRrVcCmsuzk:t:S:",
			long: `ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort
				numeric-sort random-sort reverse version-sort check check= merge stable unique zero-terminated key= field-separator=`,
		},
		"uniq":     {files: fileRead, most: 1, short: "cdDiuzf:s:w:", long: "count repeated ignore-case unique zero-terminated skip-fields= skip-chars= check-chars="},
		"date":     {files: fileNone, short: "uRd:I", long: "utc universal rfc-email date= iso-8601 iso-8601= rfc-3339=", check: dateOnlyShows},
		"file":     {files: fileRead, short: "bhiLkNprsvz0", long: "brief mime mime-type mime-encoding dereference keep-going no-pad raw special-files version extension"},
		"tree":     {files: fileList, short: "adfilpsughDFNqrtUvxACnJXL:P:I:", long: "noreport dirsfirst filelimit= prune gitignore du si inodes device sort= matchdirs ignore-case charset="},
		"xxd":      {files: fileRead, most: 1, short: "abCeEipuc:g:l:o:s:n:"},
		"base64":   {files: fileRead, most: 1, short: "dDiw:", long: "decode ignore-garbage wrap=", check: noteDecoding},
		"base32":   {files: fileRead, most: 1, short: "diw:", long: "decode ignore-garbage wrap=", check: noteDecoding},
		"hostname": {files: fileNone, most: -1, short: "fsdaAIyi", long: "fqdn short domain alias ip-address all-ip-addresses all-fqdns"},
		"printf":   {files: fileNone, any: true, deny: "v", check: noteEscapes}, "type": anyOption(fileNone),
		"ps": {files: fileNone, any: true, check: psHidesEnvironment},
		"rg": {
			files: fileRead, skip: 1, short: "nSisvwxclLoHhIFPUaNpqug:t:T:e:A:B:C:m:M:d:j:r:0",
			long: `line-number smart-case ignore-case case-sensitive invert-match word-regexp line-regexp count count-matches
				files-with-matches files-without-match only-matching with-filename no-filename fixed-strings pcre2 multiline
				multiline-dotall text no-line-number pretty quiet glob= iglob= type= type-not= type-list files regexp= after-context=
				before-context= context= max-count= max-columns= max-depth= max-filesize= threads= hidden no-ignore no-ignore-vcs
				no-heading heading color= colors= json vimgrep stats sort= sortr= trim null column no-messages no-config crlf
				passthru replace= unrestricted follow no-follow one-file-system encoding= engine= byte-offset version help`,
			check: rgFiles,
		},
		"fd": {
			files: fileList, skip: 1, short: "HIusigFaLpdtet:e:E:d:c:j:0", long: `hidden no-ignore unrestricted case-sensitive ignore-case glob regex
				fixed-strings absolute-path follow full-path max-depth= min-depth= exact-depth= type= extension= exclude= size= changed-within=
				changed-before= color= threads= max-results= print0`,
		},
		"yq":   {files: fileRead, skip: 1, short: "rPMCNjeo:p:I:", long: "unwrapScalar prettyPrint no-colors colors no-doc exit-status output-format= input-format= indent= raw-output tojson", check: jqOnlyFilters},
		"jq":   {files: fileRead, skip: 1, short: "rcnesSaMCj", long: "raw-output compact-output null-input exit-status slurp sort-keys ascii-output monochrome-output color-output join-output tab indent=", check: jqOnlyFilters},
		"find": {files: fileList, check: findOnlyLooks}, "git": {check: gitOnlyLooks}, "cd": {files: fileList, check: changeFolder}, "set": {check: setsOptions},
		"command": {files: fileNone, any: true},
	} {
		readers[name] = spec
	}
	return readers
}

// readOnly judges a program that is known to look and nothing more. It returns
// false for any other.
func (w *cmdWalker) readOnly(name string, args []cmdWord) bool {
	spec, ok := cmdReaders()[name]
	if !ok || w.onlyVersion(name, args) {
		return ok
	}
	switch name {
	case "find", "git", "set", "cd":
		return spec.check(w, args)
	case "tar", "unzip":
		return w.listsArchive(name, args)
	case "top":
		if !hasFlag(args, "b") || !hasFlag(args, "n") {
			return false // it would wait for keys
		}
	}
	if name == "test" || name == "[" || name == "printf" {
		for _, a := range args {
			if strings.Contains(a.text, "$(") || strings.Contains(a.text, "`") || strings.Contains(a.text, "[$") {
				w.changes(TierAsk, EffectUnknown, cmdRunsHidden) // the shell evaluates an index in it
			}
		}
	}
	files, harmless := spec.parse(args)
	if spec.check != nil && !spec.check(w, args) {
		harmless = false
	}
	if !harmless {
		w.headWords(args)
		w.changes(TierAsk, EffectExecute, cmdUnknownOption)
		w.mentions(args)
	}
	if spec.files == fileNone {
		if containsWord(takesFiles, name) {
			w.readsNamed(args)
		}
		for _, a := range args {
			if a.glob && (strings.Contains(a.text, "/") || !w.where.known()) {
				w.reads(a, fileList) // the shell completes it to the names in a folder
			}
		}
		return true
	}
	w.searches(name, args, files)
	for _, f := range files {
		if !spec.any && !strings.HasSuffix(name, "grep") && f.glob && strings.IndexAny(f.text, "*?[") == 0 {
			w.changes(TierAsk, EffectExecute, cmdGlobOption)
		}
		w.reads(f, spec.files)
	}
	if len(files) == 0 && (w.where.dir != w.folder() || len(w.where.also) > 0) && spec.files != fileName {
		w.reads(cmdWord{text: "."}, spec.files)
	}
	return true
}

// parse returns the operands that are files, and whether every option is known
// to be harmless.
func (s cmdReader) parse(args []cmdWord) (files []cmdWord, harmless bool) {
	harmless = true
	skip, ended := s.skip, false
	letters, denied, _ := strings.Cut(s.deny, " ")
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case ended || len(t) < 2 || t[0] != '-' && (t[0] != '+' || !s.any):
			if skip > 0 {
				skip--
				continue
			}
			files = append(files, args[i])
		case t == "--":
			ended = true
		case s.any && strings.HasPrefix(t, "--"):
			flag, value, _ := strings.Cut(t[2:], "=")
			for _, d := range strings.Fields(denied) {
				harmless = harmless && (len(flag) < 3 || !strings.HasPrefix(d, flag))
			}
			if namesFile(value) && s.files != fileNone {
				files = append(files, cmdWord{text: value})
			}
		case s.any:
			if s.files != fileNone {
				files = append(files, attachedFiles(t)...)
			}
			harmless = harmless && (letters == "" || !strings.ContainsAny(t[1:], letters))
		case strings.HasPrefix(t, "--"):
			flag, _, attached := strings.Cut(t[2:], "=")
			takes := containsWord(strings.Join(strings.Fields(s.long), " "), flag+"=")
			plain := containsWord(strings.Join(strings.Fields(s.long), " "), flag)
			switch {
			case attached && takes, !attached && plain:
			case takes:
				i++
			default:
				harmless = false
			}
			if flag == "regexp" || flag == "files" || flag == "type-list" {
				skip = 0
			}
		default:
			for j := 1; j < len(t); j++ {
				at := strings.IndexByte(s.short, t[j])
				if at < 0 || t[j] == ':' {
					harmless = false
					break
				}
				if t[j] == 'e' && s.skip > 0 && at+1 < len(s.short) && s.short[at+1] == ':' {
					skip = 0
				}
				if at+1 < len(s.short) && s.short[at+1] == ':' {
					if j == len(t)-1 {
						i++
					}
					break
				}
			}
		}
	}
	if s.most < 0 && len(files) > 0 || s.most > 0 && len(files) > s.most {
		harmless = false
	}
	return files, harmless
}

// attachedFiles returns what may be the name of a file in a cluster of short
// options: -f/etc/x, -X.env.
func attachedFiles(cluster string) (files []cmdWord) {
	for j := 2; j < len(cluster); j++ {
		if value := strings.TrimPrefix(cluster[j:], "="); value != "/" && namesFile(value) {
			files = append(files, cmdWord{text: value})
			if value[0] == '/' || value[0] == '~' {
				break
			}
		}
	}
	return files
}

// takesFiles are programs that say something about the machine, and that are
// told by some options to look for it in a file.
const takesFiles = "lscpu lsusb lspci lsmod lsblk pgrep pstree who w users uptime locale free ps"

// readsNamed judges the words of such a program that may name a file.
func (w *cmdWalker) readsNamed(args []cmdWord) {
	for _, a := range args {
		files := []cmdWord{a}
		if strings.HasPrefix(a.text, "--") {
			_, value, _ := strings.Cut(a.text, "=")
			files = []cmdWord{{text: value}}
		} else if strings.HasPrefix(a.text, "-") {
			files = attachedFiles(a.text)
		}
		for _, f := range files {
			if namesFile(f.text) {
				w.reads(f, fileRead)
			} else if f.text != "" {
				w.unknownFolder()
			}
		}
	}
}

func dateOnlyShows(_ *cmdWalker, args []cmdWord) bool {
	for i, a := range args {
		if a.text != "" && a.text[0] != '-' && a.text[0] != '+' && (i == 0 || args[i-1].text != "-d" && args[i-1].text != "--date") {
			return false // it would set the clock
		}
	}
	return true
}

func noteDecoding(w *cmdWalker, args []cmdWord) bool {
	if hasFlag(args, "dD", "decode") {
		w.facts.decodes = true
	}
	return true
}

var numericEscape = sys.Pattern(`\\([0-7]{2,3}|x[0-9a-fA-F]{2})`)

func noteEscapes(w *cmdWalker, args []cmdWord) bool {
	if numericEscape().MatchString(joinWords(args)) {
		w.facts.decodes = true
	}
	return true
}

// psHidesEnvironment refuses the letters that make ps show environments.
func psHidesEnvironment(w *cmdWalker, args []cmdWord) bool {
	for _, a := range args {
		if a.text != "" && a.text[0] != '-' && strings.Contains(a.text, "e") && strings.Trim(a.text, "abcdefghjklmnoprstuvwxyzABCDEFGHIJKLMNOPRSTUVWXYZ") == "" ||
			strings.Contains(a.text, "environ") || strings.HasPrefix(a.text, "-E") {
			w.environment()
		}
	}
	return true
}

func rgFiles(_ *cmdWalker, args []cmdWord) bool {
	for _, a := range args {
		if a.text == "--" {
			return true
		}
		if strings.HasPrefix(a.text, "--pre") && a.text != "--pretty" {
			return false
		}
	}
	return true
}

func jqOnlyFilters(_ *cmdWalker, args []cmdWord) bool {
	for _, a := range args {
		low := strings.ToLower(a.text)
		if strings.Contains(low, "env") || strings.Contains(low, "import") || strings.Contains(low, "include") ||
			strings.Contains(low, "input_filename") || strings.Contains(low, "$__") || strings.Contains(low, "modulemeta") || strings.Contains(low, "load") || strings.Contains(low, "system") {
			return false
		}
	}
	return true
}

// toolVersions are larger programs that may be asked for their version.
var toolVersions = strings.Fields(`node npm npx yarn pnpm bun deno python pip pip3 pipx uv ruby gem perl php composer lua java javac go cargo
	rustc rustup gcc g++ clang cc make cmake ninja docker podman kubectl helm terraform git gh jq rg sed awk gawk grep curl wget tar
	zip unzip sqlite3 psql mysql ffmpeg pandoc tsc eslint prettier pytest mypy ruff black swift dotnet mvn gradle bash zsh tmux vim nvim
	code ssh gpg openssl zig julia Rscript ghc stack elixir erl ocaml nix brew apt dpkg systemctl uname ls cat find sort`)

// onlyVersion handles a program that is asked for its version or for a list of
// what it has installed. It runs, and is told: such a program reads its own
// settings first.
func (w *cmdWalker) onlyVersion(name string, args []cmdWord) bool {
	if len(args) == 0 {
		return false
	}
	words := texts(args)
	if containsWord("cargo rustc rustup", name) && w.choosesToolchain() {
		return false
	}
	for _, a := range args {
		if a.expands || a.glob {
			return false
		}
	}
	switch {
	case len(words) == 1 && containsWord("node -v npm -v pnpm -v yarn -v ruby -v php -v tsc -v java -version javac -version gcc -v clang -v docker -v nvim -v", name+" "+words[0]),
		len(words) == 1 && (words[0] == "--version" || words[0] == "-V" && name != "ssh" && name != "sort") && (slices.Contains(toolVersions, interpreterName(name)) || slices.Contains(toolVersions, name)),
		name == "go" && len(words) == 1 && (words[0] == "version" || words[0] == "env"),
		name == "go" && len(words) == 2 && words[0] == "env" && words[1] == strings.ToUpper(words[1]) && !strings.HasPrefix(words[1], "-"),
		name == "npm" && (words[0] == "ls" || words[0] == "list") && !slices.ContainsFunc(words[1:], func(s string) bool { return s != "--depth=0" && s != "--all" && s != "--json" && s != "-g" }),
		name == "npm" && (len(words) == 1 && containsWord("help --help -h", words[0]) || len(words) == 3 && (words[0] == "config" || words[0] == "c") && words[1] == "get" && plainSetting(words[2])),
		name == "go" && (words[0] == "doc" || words[0] == "help") && goOnlyTells(words),
		(name == "pip" || name == "pip3") && ((words[0] == "list" || words[0] == "freeze") && len(words) == 1 || words[0] == "show" && len(words) == 2 && words[1][0] != '-'):
		w.note(TierTell, EffectRead, cmdToolReports, w.part)
		return true
	}
	return false
}
