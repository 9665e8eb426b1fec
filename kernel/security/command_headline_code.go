package security

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// What code of other languages does to files, as far as the usual names of it
// show. It raises the headline only: code asks in any case.
var headCodes = []struct {
	kind    headKind
	why     *cmdReason
	pattern func() *regexp.Regexp
}{
	{headDeletes, &cmdDeletes, sys.Pattern(`(?i)\b(os\.)?(remove|removedirs|unlink|unlinkSync|removeSync|rmtree|rmdir|rmdirSync|rmSync|rm_rf|rm_r|rm_f|remove_file|remove_dir|remove_dir_all|removeall|remove_tree|rimraf|send2trash|delete_file)\b\s*[!(]|\bunlink\b\s*[$"'(<@\w]|\b(File|Dir|FileUtils|Files|Path)\.(delete|rm|rm_f|rm_rf|unlink|rmdir|remove|deleteIfExists)\b|\bfs(\.promises)?\.rm\b`)},
	{headOverwrites, &cmdWritesFile, sys.Pattern(`(?i)\btruncate(Sync)?\s*\(|\bftruncate\b`)},
	{headMoves, &cmdWritesFile, sys.Pattern(`(?i)\b(os\.(rename|renames|replace)|shutil\.move|rename(Sync)?\s*\(|File\.rename|FileUtils\.mv|Files\.move|move_uploaded_file)|\brename\b\s*[$"'<]`)},
	{headNetwork, &cmdNetwork, sys.Pattern(`(?i)\b(urlopen|urlretrieve|requests\.(get|post|put|delete|patch|head|request)|httpx\.|aiohttp|http\.client|smtplib|ftplib|paramiko|socket\.(socket|create_connection)|LWP::|Net::HTTP|URI\.open|open-uri|curl_exec|fsockopen|XMLHttpRequest|axios|https?\.(get|request)\s*\(|net\.(connect|Socket))|\bfetch\s*\(`)},
	{headWrites, &cmdWritesFile, sys.Pattern(`(?i)\b(write_text|write_bytes|writeFile(Sync)?|appendFile(Sync)?|File\.write|IO\.write|file_put_contents|makedirs|mkdir(Sync)?|shutil\.copy\w*|copyFile(Sync)?)\b|\bopen\s*\([^)]*,\s*["'][rwabx+]*[wax+][rwabx+t]*["']|\bopen\s*\(?[^)]*["']\s*>`)},
}

// headsInCode notes what code of another language does by what it names.
func (w *cmdWalker) headsInCode(text string) {
	for _, c := range headCodes {
		if c.pattern().MatchString(text) {
			w.head(c.kind, *c.why, w.part)
		}
	}
}

// WithScript adds to the headline what a file does that the line may run: the
// worst that is known of it. text is what is in the file.
func (v Verdict) WithScript(name, text string, o CommandOptions) Verdict {
	runs := slices.ContainsFunc(v.heads, func(h headline) bool { return h.why == cmdRunsScript || h.why == cmdLocalProgram })
	if !runs || len(text) > maxParsed {
		return v
	}
	w := newCmdWalker(o)
	w.v.heads = slices.Clone(v.heads)
	first, _, _ := strings.Cut(text, "\n")
	switch _, program, _ := strings.Cut(first, "#!"); {
	case shellEnds[path.Ext(name)], path.Ext(name) == "" && shellNamed().MatchString(program):
		for _, h := range ClassifyCommand(text, o).heads {
			if h.kind > headCode && h.kind != headHidden {
				w.head(h.kind, h.why, h.part, h.risks...)
			}
		}
	default:
		w.part = name
		w.headsInCode(text)
	}
	v.heads = w.v.heads
	return v
}

var (
	shellEnds  = map[string]bool{".sh": true, ".bash": true, ".zsh": true, ".ksh": true}
	shellNamed = sys.Pattern(`\b(ba|da|z|k|a)?sh\b`)
)

// What the commands of PowerShell and cmd do, as far as their names show.
var headWindows = []struct {
	kind    headKind
	why     *cmdReason
	pattern func() *regexp.Regexp
}{
	{headDeletes, &cmdDeletes, sys.Pattern(`(?i)(^|[;|&({\s])(remove-item|ri|rm|del|erase|rd|rmdir|clear-recyclebin)\b|\.delete\(`)},
	{headOverwrites, &cmdWritesFile, sys.Pattern(`(?i)(^|[;|&({\s])(clear-content|clc|set-content|out-file)\b|[^>0-9*]>[^>&]`)},
	{headMoves, &cmdWritesFile, sys.Pattern(`(?i)(^|[;|&({\s])(move-item|mi|mv|move|rename-item|rni|ren|rename)\b`)},
	{headStops, &cmdStops, sys.Pattern(`(?i)(^|[;|&({\s])(stop-process|spps|kill|taskkill)\b`)},
	{headInstalls, &cmdInstalls, sys.Pattern(`(?i)(^|[;|&({\s])(install-(module|package|script)|winget|choco|scoop|msiexec)\b`)},
	{headNetwork, &cmdNetwork, sys.Pattern(`(?i)(^|[;|&({\s])(invoke-webrequest|invoke-restmethod|iwr|irm|curl|wget|start-bitstransfer|ssh|ftp)\b`)},
}

// headsInWindows notes what a line for PowerShell or cmd does. Such a line is
// not parsed, so that it stays one that is not understood, unless what it does
// is worse.
func (w *cmdWalker) headsInWindows(line string) {
	for _, c := range headWindows {
		if c.pattern().MatchString(line) {
			w.head(c.kind, *c.why, line)
		}
	}
}
