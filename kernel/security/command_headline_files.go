package security

import "strings"

// outputOptions are how programs are told the file that they write.
var outputOptions = map[string]string{
	"curl": "-o --output", "wget": "-O --output-document", "pandoc": "-o --output", "gcc cc clang g++ clang++ rustc": "-o", "openssl": "-out", "gpg gpg2": "-o --output",
	"xsltproc xmllint": "-o --output", "dot neato": "-o", "jq yq": "--output", "pdftk": "output", "age": "-o --output", "shuf sort": "-o --output",
}

// headFiles notes what programs that are known for something else do to files that are
// there: an archive that lets go of some, an editor of pictures, a converter.
func (w *cmdWalker) headFiles(name string, args []cmdWord) {
	ops, verb := operands(args), first(args)
	has := func(words string) bool {
		for _, a := range args {
			if containsWord(words, a.text) {
				return true
			}
		}
		return false
	}
	switch {
	case containsWord("trash trash-put rmtrash gvfs-trash", name), name == "gio" && containsWord("trash remove", verb), name == "zip" && hasFlag(args, "dm", "delete", "move"), has("-sdel"), containsWord("zstd lz4", name) && has("--rm"),
		containsWord("tar gtar bsdtar", name) && hasFlag(args, "", "delete"), name == "ar" && (strings.HasPrefix(verb, "d") || hasFlag(args, "d")),
		containsWord("7z 7za 7zr rar", name) && verb == "d", name == "hg" && containsWord("purge clean remove rm", verb), name == "svn" && containsWord("delete del remove rm cleanup", verb):
		w.head(headDeletes, cmdDeletes, w.part)
	case containsWord("rename prename file-rename", name):
		w.head(headMoves, cmdWritesFile, w.part)
	case containsWord("svn hg jj", name) && containsWord("revert restore abandon undo strip", verb), name == "hg" && verb == "update" && hasFlag(args, "C", "clean"):
		w.head(headDiscards, cmdRewritesGit, w.part)
	case name == "unzip" && hasFlag(args, "o"), containsWord("7z 7za 7zr", name) && has("-aoa -y"):
		w.head(headOverwrites, cmdWritesFile, w.part) // whatever the archive holds
	case name == "yq" && hasFlag(args, "i", "inplace"), containsWord("mogrify dos2unix unix2dos mac2unix", name), name == "exiftool" && strings.Contains(joinWords(args), "="):
		w.head(headEdits, cmdWritesFile, w.part)
	}
	switch {
	case name == "ffmpeg" && has("-y") && len(ops) > 1, containsWord("convert magick pdftoppm pdfunite gs cwebp dwebp cjpeg", name) && len(ops) > 1, name == "uniq" && len(ops) == 2:
		w.overwrites(ops[len(ops)-1])
	case containsWord("tar gtar bsdtar", name) && len(args) > 1 && strings.ContainsAny(strings.TrimPrefix(args[0].text, "-"), "c") && strings.HasSuffix(args[0].text, "f") && !strings.HasPrefix(args[0].text, "--"):
		w.overwrites(args[1])
	}
	for names, options := range outputOptions {
		if !containsWord(names, name) {
			continue
		}
		for i, a := range args {
			flag, value, has := strings.Cut(a.text, "=")
			switch {
			case has && containsWord(options, flag):
				w.overwrites(cmdWord{text: value})
			case i > 0 && containsWord(options, args[i-1].text):
				w.overwrites(a)
			case len(flag) > 2 && flag[1] != '-' && containsWord(options, flag[:2]):
				w.overwrites(cmdWord{text: a.text[2:]})
			}
		}
	}
}
