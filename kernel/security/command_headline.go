package security

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// headKind is a kind of effect as a person would name it in a headline. A
// greater one is worse: what is lost for good first, then what leaves or cannot
// be seen, then what reaches beyond the folder, then what changes in it.
type headKind int

const (
	headNone headKind = iota
	headRuns          // starts something; the line itself says the most
	headCode          // runs code: a script, a build, a program of the folder
	headWrites
	headGit
	headRights
	headOutside
	headControls // services, settings, databases, applications
	headMoves
	headEdits
	headOverwrites
	headWritesOutside
	headMovesOutside
	headOverwritesOutside
	headInstalls
	headNetwork
	headStops
	headPrivate
	headHidden
	headDiscards
	headDeletesElsewhere // on a server, in a container or in a database
	headDeletes
	headDeletesSomewhere // in a folder that is only known when it runs
	headDeletesOutside
)

// headline is the first part of a line that has an effect of its kind.
type headline struct {
	kind headKind
	why  cmdReason
	part string
	// risks are the paths that lose their content if there is a file. The
	// effect is there in any case where it is empty.
	risks []string
}

// headKinds says what each reason means in a headline. A reason that is not
// here is told by its effect.
var headKinds = map[string]headKind{}

func init() {
	for kind, reasons := range map[headKind][]cmdReason{
		headRuns: {
			cmdOnlyReads, cmdToolReports, cmdManyLines, cmdShellLogic, cmdBackground, cmdExpansion, cmdSetsVariable, cmdHereText,
			cmdGlobOption, cmdUnknownOption, cmdUnknownProgram, cmdStartsOther, cmdNeverEnds, cmdOpensEditor, cmdWindowsShell,
		},
		headCode:     {cmdLocalProgram, cmdRunsScript, cmdInlineCode, cmdRunsBuild},
		headWrites:   {cmdWritesFile},
		headGit:      {cmdChangesGit, cmdGitSettings},
		headRights:   {cmdChangesRights},
		headControls: {cmdServices, cmdDatabase, cmdSettings, cmdOpens, cmdLooksAround, cmdReadsDevice},
		headOutside:  {cmdReadsOutside, cmdUsesOutside},
		headInstalls: {cmdInstalls},
		headNetwork:  {cmdNetwork, cmdListens},
		headStops:    {cmdStops, cmdKillsAll},
		headPrivate:  {cmdReadsPrivate, cmdReadsEnv, cmdReadsSecret},
		headHidden: {
			cmdOddText, cmdTooLong, cmdTooDeep, cmdUnparsable, cmdObscured, cmdHiddenProgram, cmdSteersProgram, cmdRunsHidden, cmdDisguised, cmdRunsInput, cmdUnknownFolder,
		},
		headDiscards:       {cmdRewritesGit},
		headDeletes:        {cmdDeletes, cmdDeletesFolder, cmdDeletesTree},
		headDeletesOutside: {cmdDeletesHome, cmdDeletesBeyond},
	} {
		for _, r := range reasons {
			headKinds[r.en] = kind
		}
	}
}

func headOf(effect Effect, why cmdReason) headKind {
	if kind, ok := headKinds[why.en]; ok {
		return kind
	}
	switch effect {
	case EffectUnknown:
		return headHidden
	case EffectOutside:
		return headOutside
	case EffectNetwork:
		return headNetwork
	case EffectExecute, EffectWrite:
		return headControls
	case EffectRead:
	}
	return headRuns
}

// head notes an effect for the headline. With risks it is there only if one of
// them exists.
func (w *cmdWalker) head(kind headKind, why cmdReason, part string, risks ...string) {
	at := slices.IndexFunc(w.v.heads, func(h headline) bool { return h.kind == kind })
	if at < 0 {
		w.v.heads = append(w.v.heads, headline{kind, why, shortPart(part), risks})
		return
	}
	switch h := &w.v.heads[at]; {
	case len(h.risks) == 0:
	case len(risks) == 0:
		*h = headline{kind, why, shortPart(part), nil}
	case len(h.risks) < 200:
		h.risks = append(h.risks, risks...)
	}
}

// headsOf takes over the effects of text that some program may run.
func (w *cmdWalker) headsOf(p *cmdWalker) {
	for _, h := range p.v.heads {
		w.head(h.kind, h.why, h.part, h.risks...)
	}
}

// headBeyond notes a change of a file outside the folder.
func (w *cmdWalker) headBeyond(why cmdReason) {
	switch why.en {
	case cmdDeletes.en:
		w.head(headDeletesOutside, why, w.part)
	case cmdWritesFile.en:
		w.head(headWritesOutside, why, w.part)
	}
}

// headUnresolved notes a change of a file whose folder is hidden.
func (w *cmdWalker) headUnresolved(why cmdReason) {
	if why.en == cmdDeletes.en && !w.where.known() {
		w.head(headDeletesSomewhere, why, w.part)
	}
}

// overwrites notes that what is in the file that word names would be lost.
func (w *cmdWalker) overwrites(word cmdWord) {
	if isHarmlessDevice(word.text) || strings.HasPrefix(word.text, "/dev/tcp/") || strings.HasPrefix(word.text, "/dev/udp/") || isDescriptor(word.text) {
		return
	}
	abs, ok := w.abs(word.text)
	if !ok || word.glob || word.expands || strings.Contains(abs, cmdUnseen) {
		w.head(headOverwrites, cmdWritesFile, w.part) // it may be any file
		return
	}
	kind := headOverwrites
	if !Within(abs, w.folder()) {
		kind = headOverwritesOutside
	}
	w.head(kind, cmdWritesFile, w.part, abs)
}

// headCopies notes what mv, cp and their like do to the files that are there.
func (w *cmdWalker) headCopies(name string, args []cmdWord) {
	ops := operands(args)
	if name == "mv" {
		kind := headMoves
		for _, op := range ops {
			if abs, ok := w.abs(op.text); ok && !Within(abs, w.folder()) {
				kind = headMovesOutside
			}
		}
		w.head(kind, cmdWritesFile, w.part)
	}
	switch {
	case name == "tee":
		if !hasFlag(args, "a", "append") {
			for _, op := range ops {
				w.overwrites(op)
			}
		}
		return
	case name == "ln" && !hasFlag(args, "f", "force"), name == "mkfifo", hasFlag(args, "n", "no-clobber", "update"), len(ops) < 2:
		return
	}
	target := ops[len(ops)-1]
	if target.glob || target.expands || strings.Contains(target.text, cmdUnseen) || name == "rsync" && isRemote(target.text) {
		return
	}
	if !strings.HasSuffix(target.text, "/") {
		w.overwrites(target)
	}
	for _, op := range ops[:len(ops)-1] { // where the target is a folder
		if base := path.Base(op.text); !op.glob && !op.expands && base != "." && base != ".." && base != "/" {
			w.overwrites(cmdWord{text: strings.TrimSuffix(target.text, "/") + "/" + base})
		}
	}
}

// headGit notes what a change of git does to files and to work that is not
// committed.
func (w *cmdWalker) headGit(verb string, rest []cmdWord) {
	ops := operands(rest)
	has := func(words ...string) bool {
		return slices.ContainsFunc(rest, func(a cmdWord) bool { return slices.Contains(words, a.text) })
	}
	discards := false
	switch verb {
	case "rm":
		if hasFlag(rest, "", "cached") {
			break
		}
		w.head(headDeletes, cmdDeletes, w.part)
	case "mv":
		w.head(headMoves, cmdWritesFile, w.part)
	case "checkout", "switch":
		discards = has("--", ".", "--ours", "--theirs") || hasFlag(rest, "fB", "force", "discard-changes")
		for _, op := range ops {
			if abs, ok := w.abs(op.text); ok && verb == "checkout" && !has("-b") {
				w.head(headDiscards, cmdRewritesGit, w.part, abs)
			}
		}
	case "restore":
		discards = !hasFlag(rest, "S", "staged") || hasFlag(rest, "W", "worktree")
	case "reset":
		discards = hasFlag(rest, "", "hard", "merge", "keep")
	case "stash":
		discards = has("drop", "clear", "pop")
	case "worktree":
		if has("remove") {
			w.head(headDeletes, cmdDeletes, w.part)
		}
	case "branch", "tag", "update-ref":
		discards = hasFlag(rest, "dDfMC", "delete", "force")
	case "rebase", "filter-branch", "filter-repo":
		discards = true
	case "commit":
		discards = hasFlag(rest, "", "amend")
	case "reflog":
		discards = has("expire", "delete")
	case "merge", "cherry-pick", "revert", "am":
		discards = hasFlag(rest, "", "abort")
	case "submodule":
		discards = has("deinit")
	case "read-tree":
		discards = hasFlag(rest, "u", "reset")
	case "checkout-index":
		discards = hasFlag(rest, "f", "force")
	}
	if discards {
		w.head(headDiscards, cmdRewritesGit, w.part)
	}
}

// headWords notes what the programs do that stand in the words of one that is
// not known: it may start them.
func (w *cmdWalker) headWords(args []cmdWord) {
	for i, a := range args {
		if i < 12 && containsWord("rm rmdir unlink shred truncate mv cp dd tee git curl wget", a.text) {
			if p := w.fork(); p != nil {
				p.part = w.part
				p.run(args[i:])
				w.steps = p.steps
				w.headsOf(p)
			}
		}
	}
}

// elsewhere are programs that work on what lies elsewhere, and databases those that
// are given their commands in words or on their input.
const (
	elsewhere = "aws az gcloud gsutil s3cmd s5cmd mc rclone kubectl oc helm helmfile terraform tofu terragrunt pulumi cdk gh glab hub heroku fly flyctl vercel netlify " +
		"firebase wrangler supabase railway doctl hcloud linode-cli ibmcloud docker podman nerdctl docker-compose podman-compose vagrant virsh lxc incus minikube " +
		"kind k3d restic borg mysqladmin npm pnpm yarn gem cargo lftp etcdctl consul vault nomad kafka-topics bq"
	databases = "sqlite3 psql mysql mariadb duckdb cqlsh mongosh mongo redis-cli valkey-cli sqlcmd clickhouse-client clickhouse influx bq"
	requests  = "curl wget http https xh gh glab"
	deleting  = "delete del rm rmi rb remove destroy purge prune drop erase wipe uninstall unpublish yank undefine terminate forget mdelete rmdir deletefile cleanup"
)

var (
	deletesData   = sys.Pattern(`(?i)\b(?:delete\s+from|drop\s+(?:table|database|schema|view|index|user|role|column|keyspace|collection|materialized|type|function|owned)|truncate\s+\S|alter\s+table\s[^;]*\sdrop\b|flushall|flushdb|unlink|hdel|dropdatabase|deletemany|deleteone|\.drop\(|\.remove\(|^\s*del\s)`)
	deletesByHTTP = sys.Pattern(`^(?:-X\s*|--request[= ]|--method[= ])?DELETE$`)
	deletesByWord = sys.Pattern(`(?:^|[;&|(\s/])(?:rm|rmdir|unlink|shred|truncate|dropdb)\s`)
)

// headElsewhere notes that a program deletes what does not lie in a folder of this
// computer, as far as its words say so.
func (w *cmdWalker) headElsewhere(name string, args []cmdWord) {
	found := containsWord("dropdb dropuser", name)
	switch {
	case containsWord("ssh mosh autossh", name):
		found = deletesByWord().MatchString(joinWords(args) + " ")
	case containsWord(databases, name):
		for _, text := range append(texts(args), w.stdinText) {
			found = found || deletesData().MatchString(text)
		}
		if name == "redis-cli" || name == "valkey-cli" {
			found = found || slices.ContainsFunc(args, func(a cmdWord) bool { return strings.EqualFold(a.text, "del") })
		}
	}
	if containsWord(requests, name) {
		found = slices.ContainsFunc(args, func(a cmdWord) bool { return deletesByHTTP().MatchString(a.text) })
	}
	if containsWord(elsewhere, name) {
		words := 0
		for i, a := range args {
			t, option := a.text, strings.HasPrefix(a.text, "-")
			switch {
			case t == "--":
				words = 100
			case option && containsWord("-destroy --destroy --delete --delete-branch --volumes --remove-orphans --prune --force-delete --delete-excluded", t),
				option && i > 0 && strings.Contains(t, "v") && t[1] != '-' && containsWord("docker podman docker-compose", name) && slices.ContainsFunc(args[:i], func(b cmdWord) bool { return b.text == "down" }):
				found = true
			case option:
			case words < 4:
				words++
				for _, part := range strings.FieldsFunc(t, func(r rune) bool { return r == ':' || r == '-' || r == '.' }) {
					found = found || containsWord(deleting, strings.ToLower(part)) && !strings.ContainsAny(t, "/@ ")
				}
				found = found || name == "rclone" && containsWord("sync move moveto", t)
			}
		}
		found = found && !(containsWord("npm pnpm yarn gem cargo", name) && !containsWord("unpublish deprecate yank", first(args)))
	}
	if found {
		w.head(headDeletesElsewhere, cmdDeletes, w.part)
	}
}

// worst returns what the headline tells: the worst effect that is there.
func (v Verdict) worst(exists func(path string) bool) headline {
	var worst headline
	for _, h := range v.heads {
		if h.kind > worst.kind && (len(h.risks) == 0 || exists == nil || slices.ContainsFunc(h.risks, exists)) {
			worst = h
		}
	}
	switch {
	case worst.kind == headNone && v.Effect == EffectUnknown:
		worst = headline{kind: headHidden, why: cmdReason{0, v.Reason, v.ReasonKO}, part: v.Part}
	case v.Network && worst.kind < headInstalls:
		worst = headline{kind: headNetwork, why: cmdNetwork}
	case len(v.Outside) > 0 && worst.kind < headOutside:
		worst = headline{kind: headOutside, why: cmdUsesOutside, part: v.Part}
	}
	return worst
}

// Headline says what the line would do at worst, over every command in it, in
// the words of a person: "Deletes files in Downloads". line is the command as
// it would run, dir its folder, and exists reports whether there is a file,
// other than a folder, at a path: only such a file can be overwritten. Without
// it every file may be there.
func (v Verdict) Headline(line, dir string, exists func(path string) bool) sys.Words {
	h, where := v.worst(exists), path.Base(slashClean(dir))
	what := firstWords(line, h.part)
	say := func(en, ko string) sys.Words { return sys.Words{EN: en, KO: ko} }
	in := func(verb, ko string) sys.Words { return say(verb+" files in "+where, where+"에서 파일을 "+ko) }
	outside := func(verb, ko string) sys.Words {
		return say(verb+" files outside "+where, where+" 폴더 밖의 파일을 "+ko)
	}
	switch h.kind {
	case headDeletesOutside:
		return outside("Deletes", "삭제합니다")
	case headDeletesSomewhere:
		return say("Deletes files in a folder that is only known when it runs", "실행할 때 정해지는 폴더에서 파일을 삭제합니다")
	case headDeletes:
		return in("Deletes", "삭제합니다")
	case headDeletesElsewhere:
		return say("Deletes on a server, in a container or in a database: "+what, "서버, 컨테이너 또는 데이터베이스에서 삭제합니다: "+what)
	case headOverwritesOutside:
		return outside("Overwrites", "덮어씁니다")
	case headOverwrites:
		return in("Overwrites", "덮어씁니다")
	case headMovesOutside:
		return say("Moves files into or out of "+where, where+" 폴더 안팎으로 파일을 옮깁니다")
	case headMoves:
		return in("Moves", "옮깁니다")
	case headEdits:
		return in("Changes", "수정합니다")
	case headWritesOutside:
		return say("Writes files outside "+where+": "+what, where+" 폴더 밖에 파일을 씁니다: "+what)
	case headOutside:
		return say("Uses files outside "+where+": "+what, where+" 폴더 밖의 파일을 사용합니다: "+what)
	case headNetwork:
		return say("Reaches the network: "+what, "네트워크를 사용합니다: "+what)
	case headInstalls, headStops, headPrivate, headDiscards:
		return say(capital(h.why.en)+": "+what, h.why.ko+": "+what)
	case headHidden:
		if !startsWithVerb(h.why.en) {
			return say("Runs a command that "+h.why.en, h.why.ko)
		}
		return say(capital(h.why.en)+" in "+where, where+"에서 "+h.why.ko)
	case headGit:
		if v.Repository != "" {
			words := v.repositoryWords()
			return say(capital(words.EN)+": "+what, words.KO+": "+what)
		}
		return say(capital(h.why.en)+" in "+where+": "+what, where+"에서 "+h.why.ko+": "+what)
	case headWrites, headRights, headControls:
		return say(capital(h.why.en)+" in "+where+": "+what, where+"에서 "+h.why.ko+": "+what)
	case headNone, headRuns, headCode:
	}
	if lines := countLines(line); lines > 1 {
		if h.kind == headCode {
			return say(capital(h.why.en)+" in "+where+": "+what, where+"에서 "+h.why.ko+": "+what)
		}
		return say(fmt.Sprintf("Runs a script of %d lines in %s", lines, where), fmt.Sprintf("%s에서 %d줄짜리 스크립트를 실행합니다", where, lines))
	}
	what = firstWords(line, v.Part)
	return say("Runs "+what+" in "+where, where+"에서 실행합니다: "+what)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// startsWithVerb reports whether a reason names an effect, and not how the
// line is written.
func startsWithVerb(reason string) bool {
	verb, _, _ := strings.Cut(reason, " ")
	return slices.Contains([]string{"runs", "changes", "disguises"}, verb)
}

func countLines(line string) int { return strings.Count(strings.TrimSpace(line), "\n") + 1 }

// firstWords is a short name for a command: its part that matters.
func firstWords(line, part string) string {
	const most = 60
	text := strings.TrimSpace(line)
	if part != "" && !strings.ContainsRune(part, '\n') {
		text = part
	}
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimRight(text, "; ")
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && text[cut]&0xC0 == 0x80 { // not within a character
		cut--
	}
	text = text[:cut]
	if i := strings.LastIndexByte(text, ' '); i > 20 {
		text = text[:i]
	}
	return text + " …"
}
