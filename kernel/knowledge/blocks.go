package knowledge

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// Block is a paragraph, an item of a list, a quote, a table or a piece of code:
// what a link can name by ^id.
type Block struct {
	Line  int    `json:"line"`            // from 1
	End   int    `json:"end"`             // its last line
	Text  string `json:"text"`            // how it begins, at most about 120 bytes
	ID    string `json:"id,omitempty"`    // without ^; "" for none yet
	Apart bool   `json:"apart,omitempty"` // its id stands on a line of its own below it

	idLine int // where the id stands
	whole  int // the last line of what is below an item, too
	indent int
	item   bool
}

// blocksOf returns the blocks of a text in order.
func blocksOf(text string) []Block {
	var out []Block
	lines := strings.Split(text, "\n")
	at := 0
	if _, rest := frontmatterOf(text); rest > 0 {
		at = strings.Count(text[:rest], "\n")
	}
	for at < len(lines) {
		line := strings.TrimRight(lines[at], " \t\r")
		begin, quotes, indent := prefix(line, 0, len(line))
		rest := line[begin:]
		switch {
		case line == "":
			at++
			continue
		case quotes == 0 && idLine(rest) != "":
			if n := len(out) - 1; n >= 0 && out[n].ID == "" {
				out[n].ID, out[n].idLine = idLine(rest), at+1
			}
			at++
			continue
		case quotes == 0 && headingLevel(rest) > 0:
			// A heading is named by its words; one with an id by that, too.
			if _, id := cutID(line); id != "" {
				out = append(out, blockOf(lines, at, at+1, indent))
			}
			at++
			continue
		}
		b := Block{}
		switch run := fenceRun(rest); {
		case quotes > 0:
			b = blockApart(lines, at, until(lines, at+1, func(l string, _, quotes int) bool { return quotes == 0 }))
		case run != "":
			end := at + 1
			for end < len(lines) {
				closing := strings.TrimSpace(lines[end])
				end++
				if len(closing) >= len(run) && strings.Trim(closing, run[:1]) == "" {
					break
				}
			}
			b = blockApart(lines, at, end)
		case indent >= 4 && (len(out) == 0 || !out[len(out)-1].item): // code
			b = blockApart(lines, at, until(lines, at+1, func(_ string, indent, _ int) bool { return indent < 4 }))
		case isTable(lines, at):
			b = blockApart(lines, at, until(lines, at+1, func(string, int, int) bool { return false }))
		default:
			item := listMarker(rest) > 0
			b = blockOf(lines, at, until(lines, at+1, func(l string, indent, quotes int) bool {
				return quotes > 0 || fenceRun(l) != "" || headingLevel(l) > 0 || listMarker(l) > 0
			}), indent)
			b.item = item
		}
		at = b.End
		out = append(out, b)
	}
	for i := range out {
		out[i].whole = out[i].End
		for j := i + 1; out[i].item && j < len(out) && out[j].indent > out[i].indent; j++ {
			out[i].whole = max(out[j].End, out[j].idLine)
		}
	}
	return out
}

// until is where the lines end that go on a block: at an empty one, or where ends
// says so.
func until(lines []string, at int, ends func(rest string, indent, quotes int) bool) int {
	for ; at < len(lines); at++ {
		line := strings.TrimRight(lines[at], " \t\r")
		begin, quotes, indent := prefix(line, 0, len(line))
		if line == "" || ends(line[begin:], indent, quotes) {
			break
		}
	}
	return at
}

// blockOf is that of the lines from, inclusive, to to; its id ends its last line.
func blockOf(lines []string, from, to, indent int) Block {
	b := Block{Line: from + 1, End: to, indent: indent}
	text, id := cutID(lines[to-1])
	if id != "" {
		b.ID, b.idLine = id, to
	}
	if to-1 == from {
		b.Text = beginning(text)
	} else {
		b.Text = beginning(lines[from])
	}
	return b
}

// blockApart is a block that cannot hold its id.
func blockApart(lines []string, from, to int) Block {
	return Block{Line: from + 1, End: to, Apart: true, Text: beginning(lines[from])}
}

func beginning(line string) string { return sys.Shorten(strings.TrimSpace(line), 120) }

func isTable(lines []string, at int) bool {
	if at+1 >= len(lines) || !strings.Contains(lines[at], "|") {
		return false
	}
	rule := strings.TrimSpace(lines[at+1])
	return strings.Contains(rule, "-") && strings.Trim(rule, "|-: \t") == ""
}

// cutID cuts the ^id off the end of a line.
func cutID(line string) (rest, id string) {
	line = strings.TrimRight(line, " \t\r")
	i := strings.LastIndexAny(line, " \t")
	if id := idLine(line[i+1:]); id != "" && i >= 0 {
		return strings.TrimRight(line[:i], " \t"), id
	}
	return line, ""
}

// idLine is the id that a line consists of, "" for another line.
func idLine(line string) string {
	id, ok := strings.CutPrefix(line, "^")
	if !ok || id == "" || strings.Trim(strings.ToLower(id), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return ""
	}
	return id
}

// withoutIDs is lines from to to, from 1 and inclusive, as a reader sees them.
func withoutIDs(lines []string, blocks []Block, from, to int) string {
	part := slices.Clone(lines[from-1 : to])
	for _, b := range blocks {
		if b.ID == "" || b.idLine < from || b.idLine > to {
			continue
		}
		if rest, id := cutID(part[b.idLine-from]); id != "" {
			part[b.idLine-from] = rest
		} else {
			part[b.idLine-from] = ""
		}
	}
	return strings.Join(part, "\n")
}

// Places are what a link can name of a note.
type Places struct {
	Path     string    `json:"path"` // "" for a text that was given
	Hash     string    `json:"hash"`
	Headings []Heading `json:"headings"`
	Blocks   []Block   `json:"blocks"`
	Free     string    `json:"free"` // an id that no block has
}

// Places returns the headings and the blocks of the note that a link [[name]] in
// the note at from leads to, or, with name "", of text.
func (v *Vault) Places(ctx context.Context, from, name, text string) (Places, error) {
	var out Places
	if name != "" {
		p, err := v.Resolve(ctx, from, name)
		if err != nil {
			return out, err
		}
		n, err := v.Read(ctx, p)
		if err != nil {
			return out, err
		}
		out.Path, out.Hash, text = n.Path, n.Hash, n.Text
	}
	out.Headings, out.Blocks = slices.Concat([]Heading{}, scan(text).headings), slices.Concat([]Block{}, blocksOf(text))
	out.Free = freeID(out.Blocks)
	return out, nil
}

func freeID(blocks []Block) string {
	for {
		id := strings.ToLower(rand.Text()[:6])
		if !slices.ContainsFunc(blocks, func(b Block) bool { return strings.EqualFold(b.ID, id) }) {
			return id
		}
	}
}

// PlanAnchor plans to give the block that begins at a line an id, and returns it;
// one that is there stays. line counts from 1; base is the hash of the note in
// which it was seen, or "".
func (v *Vault) PlanAnchor(ctx context.Context, name string, line int, base string) (plan Plan, id string, err error) {
	plan, err = v.edit(ctx, name, base, false, func(text string) (string, error) {
		blocks := blocksOf(text)
		i := slices.IndexFunc(blocks, func(b Block) bool { return b.Line == line })
		if i < 0 {
			return "", errBlock(name, line)
		}
		b := blocks[i]
		if id = b.ID; id != "" {
			return text, nil
		}
		id = freeID(blocks)
		return anchored(text, b, id), nil
	})
	return plan, id, err
}

// anchored is a text in which a block has an id.
func anchored(text string, b Block, id string) string {
	lines := strings.Split(text, "\n")
	if !b.Apart {
		lines[b.End-1] = strings.TrimRight(lines[b.End-1], " \t") + " ^" + id
		return strings.Join(lines, "\n")
	}
	below := []string{"", "^" + id}
	if b.End == len(lines) || strings.TrimSpace(lines[b.End]) != "" {
		below = append(below, "")
	}
	return strings.Join(slices.Insert(lines, b.End, below...), "\n")
}

func errBlock(path string, line int) error {
	return sys.Errorf(sys.CodeConflict, "No block begins at line %d of %s any more. Nothing was changed.", line, path).
		WithHint("Choose the block again: the lines may have moved.")
}
