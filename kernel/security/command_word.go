package security

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// cmdWord is one word of a command after quotes and known values are resolved.
// A part that is only known when the command runs stands in text as cmdUnseen.
type cmdWord struct {
	text    string
	quoted  bool // wholly in quotes, or an argument that no shell saw
	glob    bool // a pattern that the shell completes
	expands bool // holds a variable, a substitution or a brace list
	odd     bool // pieced together: r""m, r\m
	output  bool // holds what another command puts out
	decoded bool // written as numbers: $'\x72m'
	facts   cmdFacts
}

const (
	cmdUnseen     = "\x00"
	maxBraceWords = 64
	maxBraces     = 16
)

// seen reports whether the whole text of the word is known.
func (c cmdWord) seen() bool { return !strings.Contains(c.text, cmdUnseen) && !c.glob }

// words resolves words as the shell would: braces, variables, quotes and word
// splitting. Commands in substitutions are walked.
func (w *cmdWalker) words(list []*syntax.Word) []cmdWord {
	var out []cmdWord
	for _, word := range list {
		for _, parts := range braceWords(word) {
			out = append(out, w.word(parts.parts, parts.braces)...)
		}
	}
	return out
}

// single resolves a word where the shell does not split it.
func (w *cmdWalker) single(word *syntax.Word) cmdWord {
	if word == nil {
		return cmdWord{}
	}
	b := wordBuilder{w: w, whole: true}
	b.parts(word.Parts, false)
	b.flush()
	if len(b.out) == 0 {
		return cmdWord{}
	}
	return b.out[0]
}

type braceWord struct {
	parts  []syntax.WordPart
	braces bool
}

// braceWords returns the words that the braces of word make. A list that is
// too long, or a sequence, becomes one word with an unseen part.
func braceWords(word *syntax.Word) []braceWord {
	open := 0
	for _, p := range word.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			open += strings.Count(lit.Value, "{")
		}
	}
	switch {
	case open == 0:
		return []braceWord{{parts: word.Parts}}
	case open > maxBraces:
		return []braceWord{{[]syntax.WordPart{&syntax.Lit{Value: cmdUnseen}}, true}}
	case !syntax.SplitBraces(word):
		return []braceWord{{parts: word.Parts}}
	}
	lists := expandBraces(word.Parts)
	out := make([]braceWord, 0, len(lists))
	for _, parts := range lists {
		out = append(out, braceWord{parts, true})
	}
	return out
}

func expandBraces(parts []syntax.WordPart) [][]syntax.WordPart {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		brace, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				out[i] = append(out[i][:len(out[i]):len(out[i])], p)
			}
			continue
		}
		var elems [][]syntax.WordPart
		if !brace.Sequence {
			for _, e := range brace.Elems {
				elems = append(elems, expandBraces(e.Parts)...)
			}
		}
		if brace.Sequence || len(elems)*len(out) > maxBraceWords {
			elems = [][]syntax.WordPart{{&syntax.Lit{Value: cmdUnseen}}}
		}
		next := make([][]syntax.WordPart, 0, len(out)*len(elems))
		for _, head := range out {
			for _, tail := range elems {
				next = append(next, append(head[:len(head):len(head)], tail...))
			}
		}
		out = next
	}
	return out
}

func (w *cmdWalker) word(parts []syntax.WordPart, braces bool) []cmdWord {
	b := wordBuilder{w: w}
	b.parts(parts, false)
	b.flush()
	for i := range b.out {
		if braces {
			b.out[i].expands, b.out[i].odd = true, true
		}
	}
	return b.out
}

// wordBuilder puts the fields together that one word of the source becomes.
type wordBuilder struct {
	w     *cmdWalker
	whole bool // do not split
	out   []cmdWord
	cur   cmdWord
	text  strings.Builder
	any   bool // the current field exists, though it may be empty
	bare  bool // the current field has an unquoted part
	mixed int  // how many parts the current field was made of
}

func (b *wordBuilder) flush() {
	if !b.any {
		return
	}
	b.cur.text = b.text.String()
	b.cur.quoted = !b.bare
	b.out = append(b.out, b.cur)
	facts := b.cur.facts
	b.cur, b.any, b.bare, b.mixed = cmdWord{facts: facts}, false, false, 0
	b.text.Reset()
}

func (b *wordBuilder) add(s string) {
	b.text.WriteString(s)
	b.any = true
}

// value adds the value of an expansion. Outside quotes it is split.
func (b *wordBuilder) value(s string, quoted bool) {
	b.cur.expands = true
	if quoted || b.whole {
		b.add(s)
		return
	}
	b.bare = true
	ifs := b.w.vars["IFS"]
	if ifs == cmdUnseen {
		ifs = ""
	}
	fields := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(ifs, r) })
	if s == "" {
		b.cur.odd = true // who$@ami
		return
	}
	if strings.IndexByte(ifs, s[0]) >= 0 {
		b.split()
	}
	for i, f := range fields {
		if i > 0 {
			b.split()
		}
		b.cur.glob = b.cur.glob || strings.ContainsAny(f, "*?[")
		b.add(f)
	}
	if strings.IndexByte(ifs, s[len(s)-1]) >= 0 {
		b.split()
	}
}

// split ends a field inside a word: what follows is hidden by the same trick.
func (b *wordBuilder) split() {
	expands := b.cur.expands
	b.cur.odd = true
	b.flush()
	b.cur.expands, b.cur.odd = expands, true
}

func (b *wordBuilder) parts(parts []syntax.WordPart, quoted bool) {
	for i, part := range parts {
		if !quoted {
			b.mixed++
		}
		switch p := part.(type) {
		case *syntax.Lit:
			b.lit(p, quoted, i == 0 && b.mixed <= 1)
		case *syntax.SglQuoted:
			b.cur.odd = b.cur.odd || len(parts) > 1
			if !p.Dollar {
				b.add(p.Value)
				break
			}
			text, numeric := unquoteANSI(p.Value)
			b.cur.decoded = b.cur.decoded || numeric
			b.cur.expands = true
			b.add(text)
		case *syntax.DblQuoted:
			b.cur.odd = b.cur.odd || len(parts) > 1
			b.cur.expands = b.cur.expands || p.Dollar
			if !b.allParameters(p) {
				b.any = true
				b.parts(p.Parts, true)
			}
		case *syntax.ParamExp:
			b.param(p, quoted)
		case *syntax.CmdSubst:
			b.substitution(p.Stmts, cmdUnseen, quoted)
		case *syntax.ProcSubst:
			b.substitution(p.Stmts, "/dev/fd/"+cmdUnseen, true)
		case *syntax.ArithmExp:
			b.w.nested(p.X)
			b.value(cmdUnseen, true)
		default: // an extended pattern
			b.cur.glob, b.cur.expands, b.bare = true, true, true
			b.add(cmdUnseen)
		}
	}
}

// allParameters handles "$@", which makes one field of each parameter.
func (b *wordBuilder) allParameters(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 || b.whole {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok {
		return false
	}
	list, ok := b.w.list(p)
	if !ok {
		return false
	}
	b.cur.expands = true
	for i, a := range list {
		if i > 0 {
			b.flush()
		}
		b.cur.expands, b.cur.facts = true, a.facts
		b.add(a.text)
	}
	return true
}

func (b *wordBuilder) substitution(stmts []*syntax.Stmt, text string, quoted bool) {
	outer := b.w.facts
	b.w.facts = cmdFacts{}
	b.w.changes(TierAsk, EffectExecute, cmdExpansion)
	b.w.elsewhere(func() { b.w.inside(func() { b.w.stmts(stmts) }) })
	b.w.facts.outside = b.w.facts.outside || b.w.facts.beyond
	b.cur.facts = b.cur.facts.and(b.w.facts)
	b.w.facts = outer.and(b.cur.facts)
	if said, ok := b.w.saidBy(stmts); ok && text == cmdUnseen {
		b.value(said, quoted)
		b.cur.odd = true
		return
	}
	b.cur.output = true
	b.value(text, true)
	b.bare = b.bare || !quoted
}

func (b *wordBuilder) lit(p *syntax.Lit, quoted, first bool) {
	s := p.Value
	if p.ValueEnd.IsValid() && int(p.ValueEnd.Offset())-int(p.ValuePos.Offset()) != len(s) && !quoted {
		b.cur.odd = true // a line break inside the word
	}
	if quoted {
		b.add(unescape(s, "$`\"\\", nil))
		return
	}
	b.bare = true
	if first && strings.HasPrefix(s, "~") {
		name, rest, _ := strings.Cut(s[1:], "/")
		if name != "" { // ~user, ~+, ~-
			b.cur.expands = true
			s = "/" + cmdUnseen + "/" + rest
		} else {
			s = b.w.home() + strings.TrimPrefix(s, "~")
		}
	}
	b.add(unescape(s, "", func(c byte, escaped bool) {
		switch {
		case escaped && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'):
			b.cur.odd = true
		case !escaped && (c == '*' || c == '?' || c == '[' && strings.Contains(s, "]")):
			b.cur.glob = true
		}
	}))
}

// unescape removes backslashes: those before a character of only, or before
// any character when only is empty. each, if set, sees every character.
func unescape(s, only string, each func(c byte, escaped bool)) string {
	if !strings.Contains(s, `\`) && each == nil {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		escaped := false
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
			escaped = true
		}
		if each != nil {
			each(s[i], escaped)
		}
		out = append(out, s[i])
	}
	return string(out)
}

// home is the person's home, or a path that lies outside every folder.
func (w *cmdWalker) home() string {
	if h := w.vars["HOME"]; h != "" {
		return h
	}
	return "/~"
}

// unquoteANSI decodes the inside of $'…'. numeric says that characters were
// written as numbers.
func unquoteANSI(s string) (text string, numeric bool) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		base, most := 0, 0
		switch c := s[i]; c {
		case 'n', 't', 'r', 'a', 'b', 'f', 'v', 'e', 'E':
			out.WriteByte("\n\t\r\a\b\f\v\x1b\x1b"[strings.IndexByte("ntrabfveE", c)])
			continue
		case 'x':
			base, most = 16, 2
		case 'u':
			base, most = 16, 4
		case 'U':
			base, most = 16, 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base, most = 8, 3
			i--
		case 'c':
			numeric = true
			if i+1 < len(s) {
				i++
				out.WriteByte(s[i] & 0x1f)
			}
			continue
		default:
			out.WriteByte(c)
			continue
		}
		end := i + 1
		for end < len(s) && end-i-1 < most && strings.IndexByte("0123456789abcdefABCDEF"[:base+max(0, base-10)], s[end]) >= 0 {
			end++
		}
		n, err := strconv.ParseUint(s[i+1:end], base, 32)
		if err != nil {
			out.WriteByte(s[i])
			continue
		}
		numeric = true
		if most <= 3 {
			out.WriteByte(byte(n))
		} else {
			out.WriteRune(rune(n))
		}
		i = end - 1
	}
	return out.String(), numeric
}
