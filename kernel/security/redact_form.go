package security

import (
	"path"
	"slices"
	"strings"
)

// TextForm says what kind of text secrets are looked for in. It decides what
// counts as a value that is given to the name of a secret.
type TextForm int

const (
	// TextPlain is a text of no known kind: the output of a command, a page, a
	// log. Each line tells whether it is a setting, a command or program text.
	TextPlain TextForm = iota
	// TextSource is a program: only what is written out in it as a literal can
	// be a secret.
	TextSource
	// TextSettings is a file of settings: every value of a sensitive name counts.
	TextSettings
)

var (
	sourceEnds = strings.Fields(`.go .c .h .s .S .cc .cpp .cxx .hpp .hh .m .mm .py .pyi .js .mjs .cjs .jsx .ts .mts .cts .tsx .svelte .vue .java .kt .kts
		.scala .groovy .rs .rb .php .cs .fs .vb .swift .dart .lua .pl .pm .r .jl .ex .exs .erl .hs .ml .clj .zig .nim .sql .proto .css .scss .less .asm .v .d .pas .f90 .tcl`)
	settingsEnds = strings.Fields(`.env .ini .cfg .conf .cnf .config .yaml .yml .json .jsonc .json5 .toml .properties .tfvars .envrc .netrc .npmrc .yarnrc
		.pypirc .dockercfg .dockerconfigjson .credentials .secrets .secret .prefs .desktop .service .hcl .pgpass .s3cfg .boto .my.cnf .gitconfig .http .rest`)
	settingsNames = strings.Fields("credentials config secrets netrc _netrc hgrc wp-config.txt")
)

// TextFormOf says what kind of text a file holds, by its name and, where that says
// nothing, by its text.
func TextFormOf(name, text string) TextForm {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	end := path.Ext(base)
	switch {
	case base == ".env" || strings.HasPrefix(base, ".env.") || strings.Contains(base, ".env.") || slices.Contains(settingsNames, base) || slices.Contains(settingsEnds, end):
		return TextSettings
	case slices.Contains(sourceEnds, end):
		return TextSource
	case looksLikeProgram(text):
		return TextSource
	}
	return TextPlain
}

// looksLikeProgram reports whether a text of no known kind is a program. Short
// ones are not taken for one: what holds for settings masks more.
func looksLikeProgram(s string) bool {
	if len(s) < 200 {
		return false
	}
	lines, program := 0, 0
	for line := range strings.Lines(s[:min(len(s), 16<<10)]) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		lines++
		if isProgramLine(line) {
			program++
		}
	}
	return lines >= 5 && 3*program >= lines
}

var programStarts = strings.Fields(`// /* * */ #include #define #ifdef #ifndef #endif #undef package import func func( return if else for while case type var const let def class from
	public private protected static struct enum switch using namespace TEXT DATA GLOBL typedef extern`)

func isProgramLine(line string) bool {
	switch line[len(line)-1] {
	case '{', ';', '(', '}', ')':
		return true
	}
	word, _, _ := strings.Cut(line, " ")
	return slices.Contains(programStarts, word) || strings.HasPrefix(line, "//") || strings.Contains(line, " := ") || len(line) > 2 && strings.HasSuffix(line, "):")
}
