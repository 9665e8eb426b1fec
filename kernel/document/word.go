package document

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// readWord takes the text of a Word document. Where Word has noted its page
// breaks, each page begins with a line "[page N]". Otherwise a document has no
// pages until somebody prints it: its headings are numbered as "[section N]",
// and one without headings has "[paragraph N]".
func readWord(f io.ReaderAt, size int64, name string) (Result, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return Result{}, badWord(name, err)
	}
	w := &word{left: maxXML, headings: map[string]bool{}}
	for _, part := range []struct {
		name string
		read func(*xml.Decoder) error
	}{{"word/styles.xml", w.styles}, {mainPart, w.read}, {"word/footnotes.xml", w.read}, {"word/endnotes.xml", w.read}} {
		err := w.part(z, part.name, part.read)
		switch {
		case errors.Is(err, errBomb):
			return Result{}, sys.Errorf(sys.CodeTooLarge, "%s unpacks to more than %d MB. It was not attached.", name, maxXML>>20).
				WithHint("Save its text as a new document, and attach that.")
		case err != nil && part.name == mainPart && !errors.Is(err, errLong):
			return Result{}, badWord(name, err)
		}
	}
	if len(w.paragraphs) == 0 {
		return Result{}, sys.Errorf(sys.CodeInvalid, "%s holds no text. It was not attached.", name).WithHint("If it holds pictures, attach them by themselves.")
	}
	return w.result(), nil
}

func badWord(name string, err error) error {
	return sys.Errorf(sys.CodeInvalid, "%s cannot be read as a Word document: it is damaged or cut off. It was not attached.", name).
		WithHint("Open it in Word or LibreOffice, save it again, and attach that.").WithCause(err)
}

var (
	errBomb = errors.New("unpacks to too much")
	errLong = errors.New("more text than is taken")
	errDeep = errors.New("too deeply nested")
)

// paragraph is one of the document, or a row of a table.
type paragraph struct {
	text    string
	heading bool
}

// word gathers the paragraphs of a document.
type word struct {
	left       int64           // bytes that may still be unpacked
	headings   map[string]bool // the ids of the styles that headings have
	size       int             // of the text so far
	cut        bool
	paragraphs []paragraph

	page    int // breaks so far that Word has noted
	text    strings.Builder
	heading bool
	cells   []string // of the table's row
	depth   int      // of tables
}

// part reads one file of the package.
func (w *word) part(z *zip.Reader, name string, read func(*xml.Decoder) error) error {
	if w.cut {
		return errLong
	}
	i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return fs.ErrNotExist
	}
	if z.File[i].UncompressedSize64 > uint64(w.left) { // as it says itself; it may lie
		return errBomb
	}
	r, err := z.File[i].Open()
	if err != nil {
		return err
	}
	defer r.Close()
	limited := &io.LimitedReader{R: r, N: w.left + 1}
	err = read(xml.NewDecoder(limited))
	w.left = limited.N - 1
	if w.left < 0 {
		return errBomb
	}
	return err
}

// styles finds out which styles are headings. Their ids depend on the language
// of the program that wrote them, their names do not.
func (w *word) styles(d *xml.Decoder) error {
	id := ""
	return walk(d, func(t xml.StartElement) error {
		switch name := strings.ToLower(attribute(t, "val")); {
		case t.Name.Local == "style":
			id = attribute(t, "styleId")
		case t.Name.Local == "name" && (name == "title" || strings.HasPrefix(name, "heading ")):
			w.headings[id] = true
		}
		return nil
	}, nil, nil)
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// maxDepth is how deeply elements may be nested. Word stays below a hundred.
const maxDepth = 1000

// walk calls begin, end and text for what it meets; those that are nil are
// left out.
func walk(d *xml.Decoder, begin func(xml.StartElement) error, end func(name string) error, text func([]byte)) error {
	for depth := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return errDeep
			}
			err = begin(t)
		case xml.EndElement:
			depth--
			if end != nil {
				err = end(t.Name.Local)
			}
		case xml.CharData:
			if text != nil {
				text(t)
			}
		}
		if err != nil {
			return err
		}
	}
}

// read walks through the text. The names are those of WordprocessingML;
// the name spaces differ between its editions and are not looked at.
func (w *word) read(d *xml.Decoder) error {
	inText, skipped := 0, 0
	return walk(d, func(t xml.StartElement) error {
		switch {
		case t.Name.Local == "t":
			inText++
		case left(t.Name.Local):
			skipped++
		case skipped == 0:
			w.mark(t)
		}
		return nil
	}, func(name string) error {
		switch {
		case name == "t":
			inText--
		case left(name):
			skipped--
		case skipped == 0:
			return w.end(name)
		}
		return nil
	}, func(text []byte) {
		if inText > 0 && skipped == 0 && w.text.Len() < MaxText {
			w.text.Write(text)
		}
	})
}

// left reports whether what stands in an element is no text of the document:
// what was taken out, the formula of a field, and what repeats a drawing for
// old programs.
func left(name string) bool {
	switch name {
	case "del", "moveFrom", "instrText", "Fallback":
		return true
	}
	return false
}

// mark takes an element that means a character, a page break or a style.
func (w *word) mark(t xml.StartElement) {
	switch t.Name.Local {
	case "tbl":
		w.depth++
	case "tab":
		w.text.WriteByte('\t')
	case "noBreakHyphen":
		w.text.WriteByte('-')
	case "br", "cr":
		if attribute(t, "type") != "page" {
			w.text.WriteByte('\n')
		}
	case "lastRenderedPageBreak":
		w.page++
		fmt.Fprintf(&w.text, "\n[page %d]\n", w.page+1)
	case "pStyle":
		w.heading = w.headings[attribute(t, "val")]
	case "outlineLvl":
		w.heading = w.heading || attribute(t, "val") < "9"
	}
}

// end takes the end of a paragraph, a cell or a row.
func (w *word) end(name string) error {
	switch {
	case name == "tbl":
		w.depth--
	case name == "p" && w.depth == 0:
		return w.add(w.take())
	case name == "p":
		w.text.WriteByte(' ')
	case name == "tc" && w.depth == 1:
		w.cells = append(w.cells, strings.Join(strings.Fields(w.take()), " "))
	case name == "tr" && w.depth == 1:
		row := strings.Join(w.cells, " | ")
		w.cells, w.heading = nil, false
		return w.add(row)
	}
	return nil
}

func (w *word) take() string {
	text := w.text.String()
	w.text.Reset()
	return text
}

func (w *word) add(text string) error {
	heading := w.heading
	w.heading = false
	text = strings.TrimSpace(clean(text))
	if text == "" {
		return nil
	}
	const marker = 24 // bytes of the name of its place, at most
	if room := MaxText - w.size - marker; len(text) > room {
		w.cut = true
		text = strings.ToValidUTF8(text[:max(0, room)], "")
	}
	w.size += len(text) + marker
	if text != "" {
		w.paragraphs = append(w.paragraphs, paragraph{text, heading})
	}
	if w.cut {
		return errLong
	}
	return nil
}

// result writes the text with the names of its places.
func (w *word) result() Result {
	var text strings.Builder
	r := Result{Kind: Word}
	headings := slices.ContainsFunc(w.paragraphs, func(p paragraph) bool { return p.heading })
	if w.page > 0 {
		text.WriteString("[page 1]\n")
		if !w.cut {
			r.Pages = w.page + 1
		}
	}
	sections := 0
	for i, p := range w.paragraphs {
		switch {
		case w.page > 0:
		case !headings:
			fmt.Fprintf(&text, "[paragraph %d] ", i+1)
		case p.heading:
			sections++
			fmt.Fprintf(&text, "[section %d] ", sections)
		}
		text.WriteString(p.text + "\n")
	}
	r.Content = []byte(text.String())
	switch {
	case w.cut:
		r.Note = sys.Say("Only the beginning is attached: the rest is too long.")
	case w.page > 0:
	case headings:
		r.Note = sys.Say("It has no pages of its own: its places are named by section.")
	default:
		r.Note = sys.Say("It has no pages of its own: its places are named by paragraph.")
	}
	return r
}
