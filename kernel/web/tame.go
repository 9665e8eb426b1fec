package web

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxCells bounds the cells of one table, as it is drawn: each row gets as many
// as the longest one has.
const maxCells = 50_000

// maxIndent bounds how deep lists, their items and quotes stand in each other:
// each level is written before each line.
const maxIndent = 40

// tame takes apart what would grow when it is written: cells that span many
// others, long rows among many, lists and quotes deep in each other. Their text
// stays. It also marks the bars in cells as text.
func tame(doc *html.Node) {
	flatten(doc, 0, false)
	elements(doc, func(table *html.Node) {
		if table.DataAtom != atom.Table {
			return
		}
		rows, longest, area := 1, 0, 0
		var own []*html.Node
		var walk func(n *html.Node)
		walk = func(n *html.Node) {
			row := 0
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				switch c.DataAtom {
				case atom.Table:
					continue
				case atom.Td, atom.Th:
					across, down := span(c, "colspan"), span(c, "rowspan")
					row += across
					area += across * down
				case atom.Tr:
					rows++
				}
				if c.Type == html.ElementNode {
					own = append(own, c)
					walk(c)
				}
			}
			longest = max(longest, row)
		}
		walk(table)
		if rows*longest <= maxCells && area <= maxCells {
			return
		}
		for _, n := range append(own, table) {
			switch n.DataAtom {
			case atom.Td, atom.Th, atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption, atom.Table:
				n.Data, n.DataAtom, n.Attr = "div", atom.Div, nil
			}
		}
	})
}

func flatten(n *html.Node, depth int, cell bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		deeper, in := depth, cell
		switch c.DataAtom {
		case atom.Ul, atom.Ol, atom.Blockquote, atom.Li, atom.Dl, atom.Dd, atom.Menu, atom.Dir:
			if deeper++; deeper > maxIndent {
				c.Data, c.DataAtom = "div", atom.Div
			}
		case atom.Td, atom.Th:
			in = true
		}
		if c.Type == html.TextNode && in {
			c.Data = strings.ReplaceAll(c.Data, "|", `\|`)
		}
		flatten(c, deeper, in)
	}
}

// span is how many cells one takes up, which is written anew: 1 to 50.
func span(cell *html.Node, key string) int {
	if !has(cell, key) {
		return 1
	}
	n, err := strconv.Atoi(strings.TrimSpace(attr(cell, key)))
	if err != nil {
		n = 1
	}
	n = min(max(n, 1), 50)
	set(cell, key, strconv.Itoa(n))
	return n
}
