package security

import (
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// gitReaders are the commands of git that only look, with the options that
// they may carry besides those of gitCommon.
var gitReaders = map[string]string{
	"status": "s b short branch porcelain porcelain= long v verbose u u= untracked-files untracked-files= ignored ignored= z column renames no-renames ahead-behind no-ahead-behind show-stash",
	"log":    "", "show": "", "diff": "cached staged merge-base", "shortlog": "s n e sne sn ne numbered summary email group=",
	"blame": "L w M C s e l t p porcelain line-porcelain date= since= show-email root abbrev=", "rev-parse": "*", "rev-list": "count all objects max-count=",
	"describe": "tags all always long dirty abbrev= match= exact-match contains candidates=", "ls-files": "c d m o s z cached deleted modified others stage exclude-standard error-unmatch full-name ignored eol",
	"ls-tree": "r t d l z name-only long full-tree full-name", "cat-file": "p t s e", "show-ref": "heads tags head d dereference s hash verify q quiet",
	"for-each-ref": "format= sort= count= contains merged", "name-rev": "name-only tags always", "merge-base": "all is-ancestor octopus fork-point",
	"count-objects": "v H human-readable vH", "diff-tree": "no-commit-id r root", "diff-files": "", "diff-index": "cached", "whatchanged": "", "range-diff": "no-dual-color",
	"cherry": "v", "version": "build-options", "check-ignore": "v n q no-index verbose", "check-attr": "a all", "grep": "n i w l L c E F P h H p e: and or not untracked cached line-number count name-only files-with-matches ignore-case word-regexp heading break show-function",
}

const gitCommon = `oneline graph decorate decorate= all branches tags remotes n: max-count= skip= since= after= until= before= author= committer= grep= i p patch
	no-patch s stat stat= numstat shortstat dirstat summary name-only name-status pretty= pretty format= abbrev-commit no-abbrev-commit abbrev= date= relative-date
	reverse follow first-parent merges no-merges cherry-pick left-right topo-order date-order color color= no-color word-diff word-diff= color-words
	U unified= w b ignore-space-change ignore-all-space ignore-blank-lines M C find-renames diff-filter= S G pickaxe-all L raw no-ext-diff no-textconv no-renames minimal patience
	histogram function-context W z quiet exit-code check c cc m no-prefix full-index a text R h help source simplify-by-decoration no-walk
	no-color-moved q relative compact-summary no-notes invert-grep regexp-ignore-case no-pager 1 2 3 4 5 6 7 8 9`

// gitOnlyLooks judges git: looking is free, everything else asks.
func gitOnlyLooks(w *cmdWalker, args []cmdWord) bool {
	w.inRepository()
	i := 0
	for ; i < len(args); i++ {
		t := args[i].text
		if t == "-c" && i+1 < len(args) && harmlessSetting().MatchString(args[i+1].text) && !args[i+1].expands {
			i++
			continue
		}
		if t == "--no-pager" || t == "--no-optional-locks" || t == "--literal-pathspecs" {
			continue
		}
		if !strings.HasPrefix(t, "-") {
			break
		}
		w.changes(TierAsk, EffectExecute, cmdGitSettings)
		switch {
		case t == "-c" || t == "--config-env" || t == "-C" || t == "--git-dir" || t == "--work-tree" || t == "--exec-path" || t == "--namespace" || t == "--super-prefix":
			if i++; i < len(args) {
				w.gitSetting(args[i].text)
				w.mentions(args[i : i+1])
			}
		case strings.HasPrefix(t, "-c"):
			w.gitSetting(t[2:])
		default:
			w.mentions(args[i : i+1])
		}
	}
	if i == len(args) {
		if i == 0 || firstText(args) != "--version" && firstText(args) != "--help" {
			w.changes(TierAsk, EffectExecute, cmdUnknownOption)
		}
		return true
	}
	verb, rest := args[i].text, args[i+1:]
	for _, a := range rest {
		if a.glob && strings.IndexAny(a.text, "*?[") == 0 {
			w.changes(TierAsk, EffectExecute, cmdGlobOption)
		}
	}
	allowed, reads := gitReaders[verb]
	switch {
	case verb == "branch" && onlyOptions(rest, "a r v vv avv a v list all remotes verbose show-current sort= format= color= no-color column contains merged no-merged"),
		verb == "tag" && (len(rest) == 0 || hasFlag(rest, "l", "list")) && gitOptions(rest, "l n list sort= format= contains= points-at= merged no-merged"),
		verb == "remote" && (onlyOptions(rest, "v verbose") || first(rest) == "get-url" && gitOptions(rest, "all push") || len(rest) == 1 && rest[0].text == "show"),
		verb == "stash" && (first(rest) == "list" || first(rest) == "show") && gitOptions(rest, "u include-untracked only-untracked"),
		verb == "worktree" && first(rest) == "list" && gitOptions(rest, "porcelain v verbose z"), verb == "submodule" && first(rest) == "status" && gitOptions(rest, "cached recursive"),
		verb == "reflog" && (len(rest) == 0 || first(rest) == "show" && gitOptions(rest, "n:") || onlyOptions(rest, "n:")),
		verb == "config" && gitShowsSetting(rest),
		verb == "var" && len(rest) == 1 && containsWord("GIT_AUTHOR_IDENT GIT_COMMITTER_IDENT GIT_EDITOR GIT_PAGER GIT_DEFAULT_BRANCH", rest[0].text),
		reads && gitOptions(rest, allowed):
		w.gitReads(verb, rest)
		return true
	}
	w.gitChanges(verb, rest)
	return true
}

// harmlessSetting are settings that change how git writes, and nothing else.
var harmlessSetting = sys.Pattern(`^(?i:color\.[a-z.]+|core\.(quotepath|abbrev|precomposeunicode|whitespace)|log\.(date|decorate|abbrevcommit)|status\.[a-z]+|column\.[a-z]+|diff\.(renames|algorithm|context|noprefix|mnemonicprefix)|advice\.[a-z]+)=[A-Za-z0-9 ,#-]*$`)

// gitReads judges the files that git is asked about, as they are now or were in
// a commit.
func (w *cmdWalker) gitReads(verb string, rest []cmdWord) {
	for _, a := range rest {
		if signs().MatchString(a.text) {
			w.changes(TierAsk, EffectExecute, cmdStartsOther) // git starts the program that checks signatures
		}
	}
	paths, ended := 0, false
	for i, a := range rest {
		t := a.text
		switch {
		case ended:
			w.gitFile(a)
			paths++
			continue
		case t == "--":
			ended = true
			continue
		case strings.HasPrefix(t, "-L"):
			if t == "-L" && i+1 < len(rest) {
				t = rest[i+1].text
			}
			if at := strings.LastIndexByte(t, ':'); at >= 0 && verb != "blame" {
				a.text = t[at+1:]
				w.gitFile(a)
				paths++
			}
			continue
		case len(t) > 1 && t[0] == '-':
			continue
		}
		if rev, file, ok := strings.Cut(t, ":"); ok { // as it was in a commit
			a.text = file
			if rev == "" { // of the index: :2:path, or a pattern: :(glob)*.env, :/x, :^x
				for _, sign := range []string{"0:", "1:", "2:", "3:"} {
					a.text = strings.TrimPrefix(a.text, sign)
				}
				if magic, rest, found := strings.Cut(a.text, ")"); found && strings.HasPrefix(magic, "(") {
					a.text = rest
				}
				a.text = strings.TrimLeft(a.text, "/!^")
			}
			w.gitFile(a)
			paths++
			continue
		}
		if verb != "diff" && verb != "grep" && verb != "blame" && strings.ContainsAny(t, "/~") && pathSecrecy("/"+pathFold(t), "") == TierFree {
			if a.quoted && strings.ContainsAny(t, "*?[") {
				w.gitFile(a)
			}
			continue // a branch, or a range of commits
		}
		if verb != "rev-parse" && verb != "describe" {
			w.gitFile(a)
		}
	}
	if verb == "grep" && paths == 0 {
		w.recursesInto(nil)
	}
}

// gitFile judges one pathspec. git completes patterns by itself, in folders too.
func (w *cmdWalker) gitFile(a cmdWord) {
	if strings.ContainsAny(a.text, "*?[") {
		w.picks(a.text)
		return
	}
	if namesFile(a.text) {
		w.reads(a, fileRead)
	}
}

// signs finds the places of a format for which git checks a signature.
var signs = sys.Pattern(`%[-+ ]?G|%\(\*?signature|%\x00`)

// inRepository notes where git looks for a repository.
func (w *cmdWalker) inRepository() {
	if w.unknownFolder() {
		return
	}
	for _, dir := range w.where.all() {
		if !slices.Contains(w.v.Repositories, dir) {
			w.v.Repositories = append(w.v.Repositories, dir)
		}
	}
}

// onlyOptions reports whether args are nothing but these options.
func onlyOptions(args []cmdWord, allowed string) bool {
	return len(operands(args)) == 0 && gitOptions(args, allowed)
}

func gitOptions(args []cmdWord, allowed string) bool {
	if allowed == "*" {
		return true
	}
	fits := func(flag string) bool { return containsWord(allowed, flag) || gitCommonOptions[flag] }
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case t == "--":
			return true
		case strings.HasPrefix(t, "--"):
			flag, _, attached := strings.Cut(t[2:], "=")
			if attached {
				flag += "="
			}
			if !fits(flag) && (attached || !fits(flag+"=")) {
				return false
			}
		case len(t) > 1 && t[0] == '-':
			if strings.Trim(t[1:], "0123456789") == "" || fits(t[1:]) {
				continue
			}
			for j := 1; j < len(t); j++ {
				if strings.IndexByte("nULSGMC", t[j]) >= 0 {
					break // the rest is its value
				}
				if !fits(t[j:j+1]) && !fits(t[j:j+1]+":") {
					return false
				}
			}
		}
	}
	return true
}

// gitShowsSetting reports whether git is asked for one setting that holds no
// password.
func gitShowsSetting(args []cmdWord) bool {
	ops := operands(args)
	if len(ops) == 2 && ops[0].text == "get" {
		ops = ops[1:]
	}
	if len(ops) != 1 || !gitOptions(args, "get local global show-origin show-scope type= default=") {
		return false
	}
	key := strings.ToLower(ops[0].text)
	for _, private := range []string{"credential", "token", "password", "extraheader", "cookie", "proxy", "sendemail"} {
		if strings.Contains(key, private) {
			return false
		}
	}
	return strings.Contains(key, ".")
}

var gitCommonOptions = func() map[string]bool {
	m := map[string]bool{}
	for _, o := range strings.Fields(gitCommon) {
		m[strings.TrimSuffix(o, ":")] = true
	}
	return m
}()

// gitSetting judges a setting of git: some name programs that git runs.
func (w *cmdWalker) gitSetting(setting string) {
	key, value, _ := strings.Cut(setting, "=")
	if strings.HasPrefix(strings.ToLower(key), "alias.") || strings.HasPrefix(strings.ToLower(key), "gc.") {
		w.beyondUndo() // another name for any of its commands
	}
	if strings.HasPrefix(value, "!") || strings.ContainsAny(value, " ;|&$`") {
		w.probe(strings.TrimPrefix(value, "!"))
	}
}

var gitRunsLater = []string{
	"core.hookspath", "core.fsmonitor", "core.sshcommand", "core.pager", "core.editor", "core.gitproxy", "core.askpass", "credential.helper",
	"gpg.program", "diff.external", "sequence.editor", "init.templatedir", "uploadpack.", "protocol.ext", "include.path", "alias.", "pager.", ".textconv",
	".clean", ".smudge", ".process", ".cmd", ".command", ".insteadof", "core.worktree", "core.attributesfile",
}

// gitLoses reports whether git throws away what lies in its own folder alone,
// which undo leaves out: commits, stashes, branches, tags.
func gitLoses(verb string, rest []cmdWord) bool {
	does := first(rest)
	switch verb {
	case "gc", "repack", "prune", "prune-packed", "pack-redundant", "filter-branch", "filter-repo", "maintenance", "lfs", "replace", "fast-import":
		return !hasFlag(rest, "", "no-prune")
	case "reflog":
		return does != "show" && does != "exists" && does != "list"
	case "stash":
		return does == "clear" || does == "drop"
	case "worktree", "submodule":
		return does == "remove" || does == "prune" || does == "deinit"
	case "branch":
		return hasFlag(rest, "DMCf", "force")
	case "tag":
		return hasFlag(rest, "df", "delete", "force")
	case "update-ref", "symbolic-ref":
		return hasFlag(rest, "dz", "delete", "stdin")
	case "notes":
		return does == "remove" || does == "prune" || hasFlag(rest, "f", "force")
	case "checkout", "switch":
		return hasFlag(rest, "BC", "force-create")
	case "rerere":
		return does == "clear" || does == "forget"
	case "remote":
		return does == "remove" || does == "rm" || does == "prune"
	}
	return false
}

func (w *cmdWalker) gitChanges(verb string, rest []cmdWord) {
	w.v.ChangesGit = true
	w.headGit(verb, rest)
	text := joinWords(rest)
	if gitLoses(verb, rest) {
		w.beyondUndo()
		w.v.Deletes = true
		w.changes(TierAsk, EffectExecute, cmdRewritesGit)
	}
	switch verb {
	case "submodule":
		w.changes(TierAsk, EffectNetwork, cmdNetwork)
		if len(rest) > 1 && rest[0].text == "foreach" {
			w.probe(joinWords(operands(rest)[1:]))
		}
	case "clone", "fetch", "pull", "push", "ls-remote", "remote", "send-email", "svn", "p4", "lfs", "archive", "request-pull", "upload-pack", "http-push", "daemon", "instaweb":
		w.changes(TierAsk, EffectNetwork, cmdNetwork)
		if verb == "push" && (hasFlag(rest, "fd", "force", "mirror", "delete", "prune", "force-with-lease") || strings.Contains(text, " +") || strings.Contains(text, " :")) {
			w.changes(TierAsk, EffectNetwork, cmdRewritesGit)
		}
	case "clean":
		w.v.Deletes = true
		w.changes(TierAsk, EffectExecute, cmdDeletes)
		if hasFlag(rest, "f", "force") && hasFlag(rest, "dxX") && !hasFlag(rest, "n", "dry-run") {
			w.refuse(cmdDeletesTree)
		}
	case "config":
		w.changes(TierAsk, EffectExecute, cmdGitSettings)
		low := strings.ToLower(text)
		values := len(operands(rest)) > 1 || hasFlag(rest, "", "add", "replace-all")
		for _, key := range gitRunsLater {
			if values && strings.Contains(low, key) && !strings.Contains(low, "--unset") && !strings.Contains(low, "--get") {
				w.refuse(cmdPersists)
			}
		}
		if hasFlag(rest, "", "global", "system") {
			w.changes(TierAsk, EffectOutside, cmdGitSettings)
		}
	case "reset", "rebase", "filter-branch", "filter-repo", "checkout", "restore", "switch", "update-ref", "reflog", "gc", "prune", "rm", "branch", "stash", "tag":
		w.changes(TierAsk, EffectExecute, cmdChangesGit)
		if verb == "rm" || verb == "prune" || verb == "filter-branch" || verb == "filter-repo" || strings.Contains(text, "--hard") || hasFlag(rest, "Df", "delete", "force") {
			w.v.Deletes = true
			w.changes(TierAsk, EffectExecute, cmdRewritesGit)
		}
		if verb == "filter-branch" || verb == "rebase" {
			for _, a := range rest {
				if strings.Contains(a.text, " ") {
					w.probe(a.text)
				}
			}
		}
	case "credential", "credential-store", "credential-cache":
		w.facts.secret = true
		w.changes(TierRefuse, EffectOutside, cmdReadsSecret)
	case "bisect", "submodule--helper", "difftool", "mergetool", "hook", "maintenance":
		w.changes(TierAsk, EffectExecute, cmdStartsOther)
		for i := range rest {
			if i > 0 {
				w.probeWords(rest[i:])
			}
		}
	default:
		w.changes(TierAsk, EffectExecute, cmdChangesGit)
	}
	w.gitPrograms(verb, rest)
	if verb != "commit" {
		w.mentions(rest)
	}
}

// gitPrograms looks at what a command of git is told to start, on this machine
// or on the other one.
func (w *cmdWalker) gitPrograms(verb string, rest []cmdWord) {
	for i, a := range rest {
		flag, value, attached := strings.Cut(a.text, "=")
		if !attached && i+1 < len(rest) {
			value = rest[i+1].text
		}
		starts := len(flag) > 5 && (strings.HasPrefix("--upload-pack", flag) || strings.HasPrefix("--receive-pack", flag) || strings.HasPrefix("--extcmd", flag)) || flag == "--exec" || flag == "--upload-archive" ||
			strings.HasSuffix(flag, "-filter") || strings.HasPrefix(flag, "--open-files-in-pager") || flag == "--ext-diff" || flag == "--cmd" || flag == "--to-cmd" || flag == "--cc-cmd" || flag == "--smtp-server" || flag == "--sendmail-cmd" ||
			(flag == "-u" && (verb == "clone" || verb == "ls-remote")) || flag == "-x" && (verb == "rebase" || verb == "difftool")
		switch {
		case starts:
			w.changes(TierAsk, EffectExecute, cmdStartsOther)
			w.probe(value)
		case flag == "-c" || flag == "--config":
			w.gitSetting(value)
		case verb == "rebase" && strings.HasPrefix(a.text, "-x"):
			w.probe(a.text[2:])
		}
		if command, ok := strings.CutPrefix(a.text, "ext::"); ok {
			w.changes(TierAsk, EffectExecute, cmdStartsOther)
			var words []cmdWord
			for field := range strings.FieldsSeq(strings.NewReplacer("% ", "\x01", "%S", "", "%%", "%").Replace(command)) {
				words = append(words, cmdWord{text: strings.ReplaceAll(field, "\x01", " ")})
			}
			w.probeWords(words)
		}
	}
}
