package web

import (
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"oxios/kernel/sys"
)

// maxMatches bounds how often a selector is held against an element of a page.
// Past it the remaining rules are not looked at, as those in other files.
const maxMatches = 20_000_000

// weight orders what several rules say of one element, as the cascade does.
type weight struct {
	important, inline bool
	specificity       cascadia.Specificity
	order             int
}

func (w weight) below(o weight) bool {
	switch {
	case w.important != o.important:
		return o.important
	case w.inline != o.inline:
		return o.inline
	case w.specificity != o.specificity:
		return w.specificity.Less(o.specificity)
	}
	return w.order <= o.order
}

// said is what the weightiest rule so far says of one way to hide an element.
type said struct {
	weight
	hides bool
}

// rule is a selector with what it says; way → whether it hides.
type rule struct {
	sel   cascadia.Sel
	ways  map[string]declared
	order int
}

type declared struct{ hides, important bool }

// hiddenByStyle finds the elements that the styles written in the page hide.
func hiddenByStyle(doc *html.Node) map[*html.Node]bool {
	var rules []rule
	var all []*html.Node
	elements(doc, func(n *html.Node) {
		if n.DataAtom == atom.Style && n.FirstChild != nil && n.FirstChild.Type == html.TextNode {
			if media := strings.ToLower(attr(n, "media")); media == "" || onScreen(media) {
				rules = append(rules, readSheet(n.FirstChild.Data, len(rules), 0)...)
			}
		}
		all = append(all, n)
	})
	state := map[*html.Node]map[string]said{}
	say := func(n *html.Node, way string, s said) {
		if state[n] == nil {
			state[n] = map[string]said{}
		}
		if old, ok := state[n][way]; !ok || old.below(s.weight) {
			state[n][way] = s
		}
	}
	for _, n := range all {
		if style := attr(n, "style"); style != "" {
			for way, d := range readDeclarations(style) {
				say(n, way, said{weight{important: d.important, inline: true}, d.hides})
			}
		}
	}
	left := maxMatches
	// What shows an element counts only for those that something hides, so that
	// the rules that hide are held against the page first.
	for _, hiding := range []bool{true, false} {
		for _, r := range rules {
			if hides(r.ways) != hiding {
				continue
			}
			for _, n := range all {
				if !hiding && state[n] == nil {
					continue
				}
				if left--; left < 0 {
					break
				}
				if !r.sel.Match(n) {
					continue
				}
				for way, d := range r.ways {
					say(n, way, said{weight{important: d.important, specificity: r.sel.Specificity(), order: r.order}, d.hides})
				}
			}
		}
	}
	hidden := map[*html.Node]bool{}
	for n, ways := range state {
		for _, s := range ways {
			if s.hides && n.DataAtom != atom.Html && n.DataAtom != atom.Body && n.DataAtom != atom.Main {
				hidden[n] = true
			}
		}
	}
	return hidden
}

func hides(ways map[string]declared) bool {
	for _, d := range ways {
		if d.hides {
			return true
		}
	}
	return false
}

// maxNested is how deep rules under a condition stand in each other.
const maxNested = 8

// screenWidth is the width of the window that a page is taken to be seen in, pixels.
const screenWidth = 1280

var condition = sys.Pattern(`\(\s*(min|max)-width\s*:\s*([0-9.]+)\s*(px|r?em)\s*\)`)

// holds reports whether a person at a usual screen sees by the rules that stand
// under this head: @media, @supports, @layer. A condition that is not known here
// is taken to hold, since hidden text would be put under it.
func holds(head string) bool {
	switch {
	case strings.HasPrefix(head, "@layer"), strings.HasPrefix(head, "@supports"), strings.HasPrefix(head, "@scope"), strings.HasPrefix(head, "@container"):
		return true
	case strings.HasPrefix(head, "@media"):
		return onScreen(strings.TrimPrefix(head, "@media"))
	}
	return false // @font-face, @keyframes
}

// onScreen reports whether one of the media queries in list holds.
func onScreen(list string) bool {
	for query := range strings.SplitSeq(list, ",") {
		no := strings.Contains(query, "print") || strings.Contains(query, "speech") || strings.Contains(query, "dark") || strings.Contains(query, "portrait") ||
			strings.Contains(query, "forced-colors") || strings.Contains(query, "prefers-") && !strings.Contains(query, "light")
		if no = no != strings.HasPrefix(strings.TrimSpace(query), "not "); no {
			continue
		}
		for _, m := range condition().FindAllStringSubmatch(query, -1) {
			width, err := strconv.ParseFloat(m[2], 64)
			if m[3] != "px" {
				width *= 16
			}
			no = no || err == nil && (m[1] == "min" && width > screenWidth || m[1] == "max" && width < screenWidth)
		}
		if !no {
			return true
		}
	}
	return false
}

// readSheet reads the rules of a style sheet that hide or show, as they hold on
// a screen.
func readSheet(css string, order, deep int) []rule {
	css = uncommented(css)
	var rules []rule
	for css != "" {
		open := strings.IndexAny(css, "{;")
		if open < 0 {
			break
		}
		head := strings.TrimSpace(css[:open])
		if css[open] == ';' { // @import, @charset
			css = css[open+1:]
			continue
		}
		depth, end := 1, open+1
		for ; end < len(css) && depth > 0; end++ {
			switch css[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
		}
		body := strings.TrimSuffix(css[open+1:end], "}")
		css = css[end:]
		if strings.HasPrefix(head, "@") {
			if deep < maxNested && holds(strings.ToLower(head)) {
				rules = append(rules, readSheet(body, order+len(rules), deep+1)...)
			}
			continue
		}
		ways := readDeclarations(body)
		if len(ways) == 0 || len(head) > 10_000 {
			continue
		}
		group, err := cascadia.ParseGroup(head)
		if err != nil {
			continue // :hover and others that hold at times only
		}
		for _, sel := range group {
			if sel.PseudoElement() == "" {
				rules = append(rules, rule{sel, ways, order + len(rules) + 1})
			}
		}
	}
	return rules
}
