package knowledge

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

// A canvas is a JSON file of cards: some show a file by its path from the top of
// the vault, some hold a markdown text. See jsoncanvas.org.

func isCanvas(p string) bool { return strings.EqualFold(path.Ext(p), ".canvas") }

// canvasValue finds the members of a canvas that name a file or hold a text.
var canvasValue = sys.Pattern(`"(file|background|text)"(\s*:\s*)("(?:[^"\\]|\\.)*")`)

// rewriteCanvas plans the new text of a canvas. Of its bytes only the names and
// texts change that have to.
func (v *Vault) rewriteCanvas(m *moving, f *file) (step Step, links int, note *sys.Words, err error) {
	raw, _, err := v.bytes(f.path, maxNote)
	if err != nil || !json.Valid(bytes.TrimPrefix(raw, []byte(bom))) {
		w := sys.Say("Names in %s stay as they are: it cannot be read as a canvas.", f.path)
		return Step{}, 0, &w, nil
	}
	var out []byte
	last := 0
	v.mu.RLock()
	for _, at := range canvasValue().FindAllSubmatchIndex(raw, -1) {
		var said string
		if json.Unmarshal(raw[at[6]:at[7]], &said) != nil {
			continue
		}
		var now string
		n := 1
		if string(raw[at[2]:at[3]]) == "text" {
			now, n = m.relinked(f.path, said)
		} else {
			now, _ = m.renamed(norm.NFC.String(said))
		}
		if n == 0 || now == norm.NFC.String(said) {
			continue
		}
		out = slices.Concat(out, raw[last:at[6]], quoteJSON(now))
		last = at[7]
		links += n
	}
	v.mu.RUnlock()
	if links == 0 {
		return Step{}, 0, nil, nil
	}
	to, _ := m.renamed(f.path)
	return Step{Kind: StepWrite, Path: to, Before: raw, After: append(out, raw[last:]...), BaseHash: hashOf(raw), Links: links}, links, nil, nil
}

// quoteJSON writes a text as programs for canvases do, with < and & as they are.
func quoteJSON(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text cannot fail
	return bytes.TrimRight(b.Bytes(), "\n")
}
