package skill

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"oxios/kernel/sys"
)

// Bounds of frontmatter. What is beyond them is refused before the parser, which
// calls itself for each level, gets to see it.
const (
	maxFrontmatter = 64 << 10 // bytes
	maxDepth       = 32       // levels of lists and maps
)

// node is a value of YAML in which a scalar is the text that stands there: 1.0
// stays "1.0". Exactly one of its forms is set; none is an empty value.
type node struct {
	text string
	list []node
	keys []pair // in their order
	kind nodeKind
}

type nodeKind uint8

const (
	empty nodeKind = iota
	scalar
	list
	mapping
)

type pair struct {
	key   string
	value node
}

// get returns the value of a key, an empty one where there is none.
func (n node) get(key string) node {
	for _, p := range n.keys {
		if p.key == key {
			return p.value
		}
	}
	return node{}
}

// strings returns a list of texts, or the one text that stands for a list.
func (n node) strings() (out []string) {
	switch n.kind {
	case scalar:
		if s := strings.TrimSpace(n.text); s != "" {
			out = append(out, s)
		}
	case list:
		for _, item := range n.list {
			if s := strings.TrimSpace(item.text); item.kind == scalar && s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// quirks are what YAML allows and a skill should not need.
type quirks struct {
	flow, tags bool
	twice      []string // keys of the top that stand there twice
	tabs       bool     // one outside of quotation marks and blocks
	trap       bool     // it was made to cost much: quotation marks do not mend it
}

// parseYAML reads a text of at most maxFrontmatter bytes. It refuses what refers
// to itself, what is nested too deeply, and what is no YAML.
func parseYAML(text string) (top node, found quirks, fault sys.Words) {
	if len(text) > maxFrontmatter {
		return node{}, found, sys.Say("it has more than %d KB", maxFrontmatter>>10)
	}
	defer func() {
		if p := recover(); p != nil { // the parser's own fault
			top, fault = node{}, sys.Say("it cannot be read as YAML")
		}
	}()
	tokens := lexer.Tokenize(text)
	if fault = checkTokens(tokens, &found); fault.EN != "" {
		return node{}, found, fault
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var line int
		if first := err.Error(); strings.HasPrefix(first, "[") {
			for _, c := range first[1:] {
				if c < '0' || c > '9' {
					break
				}
				line = line*10 + int(c-'0')
			}
		}
		if line > 0 {
			return node{}, found, sys.Say("line %d cannot be read as YAML", line+1) // the first one is ---
		}
		return node{}, found, sys.Say("it cannot be read as YAML")
	}
	for i, doc := range file.Docs {
		if i > 0 {
			return node{}, found, sys.Say("it has more than one document")
		}
		top = nodeOf(doc.Body, 0)
	}
	seen := map[string]bool{}
	for _, p := range top.keys {
		if seen[p.key] {
			found.twice = append(found.twice, p.key)
		}
		seen[p.key] = true
	}
	return top, found, sys.Words{}
}

// checkTokens walks over the tokens once, in a loop.
func checkTokens(tokens token.Tokens, found *quirks) sys.Words {
	depth, run, line := 0, 0, 0
	refers := false
	for _, t := range tokens {
		switch t.Type {
		case token.StringType:
			if before := t.Prev; before == nil || before.Type != token.LiteralType && before.Type != token.FoldedType {
				found.tabs = found.tabs || strings.Contains(t.Origin, "\t")
			}
		case token.AliasType: // a description that begins with an asterisk looks like one
			refers = true
		case token.AnchorType, token.MergeKeyType:
			refers, found.trap = true, true
		case token.TagType, token.DirectiveType:
			found.tags = true
		case token.SequenceStartType, token.MappingStartType:
			found.flow = true
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType: // - - - a
			if t.Position.Line != line {
				run = 0
			}
			run++
		case token.InvalidType:
			return sys.Say("line %d cannot be read as YAML", t.Position.Line+1)
		}
		line = t.Position.Line
		if depth > maxDepth || run > maxDepth || t.Position.Column > 4*maxDepth && t.Type == token.MappingValueType && indent(t) > 4*maxDepth {
			found.trap = true
			return sys.Say("its values are nested more than %d levels deep", maxDepth)
		}
	}
	if refers {
		return sys.Say("it uses references of YAML (& and *)")
	}
	return sys.Words{}
}

// indent is how far the line of a key begins from the margin, for keys in lines
// of their own.
func indent(colon *token.Token) int {
	key := colon.Prev
	if key == nil || key.Prev != nil && key.Prev.Position.Line == key.Position.Line {
		return 0
	}
	return key.Position.Column - 1
}

func nodeOf(n ast.Node, depth int) node {
	if depth > 3*maxDepth {
		return node{}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		out := node{kind: mapping}
		for _, v := range n.Values {
			out.keys = append(out.keys, pair{keyOf(v.Key), nodeOf(v.Value, depth+1)})
		}
		return out
	case *ast.MappingValueNode:
		return node{kind: mapping, keys: []pair{{keyOf(n.Key), nodeOf(n.Value, depth+1)}}}
	case *ast.SequenceNode:
		out := node{kind: list}
		for _, v := range n.Values {
			out.list = append(out.list, nodeOf(v, depth+1))
		}
		return out
	case *ast.LiteralNode:
		return node{kind: scalar, text: n.Value.Value}
	case *ast.StringNode:
		return node{kind: scalar, text: n.Value}
	case *ast.NullNode:
		if t := n.GetToken(); t.Type == token.NullType && t.Value != "" && strings.TrimSpace(t.Origin) != "" {
			return node{kind: scalar, text: t.Value} // the word null, or ~
		}
		return node{}
	case *ast.TagNode:
		return nodeOf(n.Value, depth+1)
	case ast.ScalarNode:
		return node{kind: scalar, text: n.GetToken().Value}
	}
	return node{}
}

func keyOf(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return strings.TrimSpace(k.GetToken().Value)
}

// quoted is frontmatter with quotes around the plain values that YAML would take
// for something else: "description: Use it: always". Lines of one value are
// joined, as YAML joins them.
func quoted(text string) string {
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		key, value, ok := plainLine(line)
		if !ok {
			out = append(out, line)
			continue
		}
		if key[0] != ' ' { // what is indented below a plain value of the top goes on with it
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ") && strings.TrimSpace(lines[i+1]) != "" {
				i++
				value += " " + strings.TrimSpace(lines[i])
			}
		}
		out = append(out, key+": '"+strings.ReplaceAll(value, "'", "''")+"'")
	}
	return strings.Join(out, "\n")
}

// plainLine takes a line "key: value" apart whose value is neither quoted nor a
// list, a map or a block.
func plainLine(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, ": ")
	value = strings.TrimSpace(value)
	name := strings.TrimPrefix(strings.TrimLeft(key, " "), "- ")
	if !ok || name == "" || value == "" || strings.ContainsAny(name, " \"'{}[]#,\t") || strings.ContainsAny(value[:1], "|>") {
		return "", "", false
	}
	if i := strings.IndexByte("\"'{[", value[0]); i >= 0 { // it is closed at its end, or goes on in the next lines
		closed := strings.LastIndexByte(value[1:], "\"'}]"[i])
		if key[0] == ' ' || closed < 0 || closed == len(value)-2 {
			return "", "", false
		}
	}
	if line[0] == ' ' && !strings.Contains(value, ": ") && !strings.ContainsAny(value[:1], "@`*&%!") {
		return "", "", false
	}
	return key, value, true
}
