package document_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"oxios/kernel/document"
	"oxios/kernel/sys"
)

func TestPDFBecomesTextWithPageNumbers(t *testing.T) {
	t.Parallel()
	r, err := read(t, "report", newPDF().pages(helvetica, show("Budget 2026", "The sum is 42."), show(), show("Third page.")))
	if err != nil {
		t.Fatal(err)
	}
	want := "[page 1]\nBudget 2026\nThe sum is 42.\n\n[page 2]\n(No text. It may be a picture.)\n\n[page 3]\nThird page.\n"
	if string(r.Content) != want || r.Kind != document.PDF || r.Pages != 3 || r.Note.EN != "" {
		t.Errorf("got %s, %d pages, note %q:\n%s\nwant:\n%s", r.Kind, r.Pages, r.Note, r.Content, want)
	}
}

func TestKoreanPDFIsRead(t *testing.T) {
	t.Parallel()
	r, err := read(t, "보고서.pdf", koreanPDF(t, "예산은 삼백만 원입니다"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(string(r.Content)), ""); got != "[page1]예산은삼백만원입니다" {
		t.Errorf("got %q", r.Content)
	}
}

func TestLongPDFIsCutAtAPageAndSaysSo(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("word ", 100)
	pages := make([]string, 60)
	for i := range pages {
		lines := make([]string, 60)
		for j := range lines {
			lines[j] = line
		}
		pages[i] = show(lines...)
	}
	r, err := read(t, "long.pdf", newPDF().pages(helvetica, pages...))
	if err != nil {
		t.Fatal(err)
	}
	last := strings.Count(string(r.Content), "[page ")
	if len(r.Content) > document.MaxText || r.Pages != 60 || last >= 60 || last < 10 {
		t.Errorf("got %d bytes, %d of %d pages", len(r.Content), last, r.Pages)
	}
	if want := fmt.Sprintf("Only pages 1 to %d of 60 are attached", last); !strings.Contains(r.Note.EN, want) || r.Note.KO == "" {
		t.Errorf("got note %q, want %q and its Korean", r.Note.EN, want)
	}
}

func TestBadPDFsAreRefusedByName(t *testing.T) {
	t.Parallel()
	refused(t, "locked.pdf", lockedPDF("sesame"), sys.CodeInvalid, "locked with a password")
	refused(t, "scan.pdf", newPDF().pages(helvetica, show(), show()), sys.CodeInvalid, "holds no text")
	refused(t, "broken.pdf", []byte("%PDF-1.7\nnothing of a document"), sys.CodeInvalid, "damaged")
	whole := newPDF().pages(helvetica, show("text"))
	refused(t, "cut.pdf", whole[:60], sys.CodeInvalid, "damaged")
	refused(t, "empty.pdf", newPDF().end(1), sys.CodeInvalid, "damaged")
}

// A page tree that is its own child, and a page that is drawn by itself.
func TestPDFThatTurnsInCirclesEnds(t *testing.T) {
	t.Parallel()
	p := newPDF()
	p.add("<< /Type /Catalog /Pages 2 0 R >>")
	p.add("<< /Type /Pages /Count 99999999 /Kids [2 0 R 2 0 R 3 0 R] /Parent 2 0 R >>")
	p.add("<< /Type /Page /Parent 2 0 R /Contents 3 0 R >>")
	_, err := read(t, "circle.pdf", p.end(1))
	if code := sys.CodeOf(err); code != sys.CodeInvalid && code != sys.CodeTimeout {
		t.Errorf("got %v, want invalid, or timeout on a slow machine", err)
	}
}

const heading1 = `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>%s</w:t></w:r></w:p>`

var styles = map[string]string{"word/styles.xml": `<w:styles xmlns:w="x"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`}

func TestWordDocumentBecomesTextWithItsPlaces(t *testing.T) {
	t.Parallel()
	table := `<w:tbl><w:tr><w:tc>` + para("Rent") + `</w:tc><w:tc>` + para("900") + para("monthly") + `</w:tc></w:tr></w:tbl>`
	for name, tc := range map[string]struct {
		data  []byte
		want  string
		note  string
		pages int
	}{
		"sections": {
			docx(t, fmt.Sprintf(heading1, "예산")+para("Money.")+table+fmt.Sprintf(heading1, "Risks")+para("Rain."), styles),
			"[section 1] 예산\nMoney.\nRent | 900 monthly\n[section 2] Risks\nRain.\n", "named by section", 0,
		},
		"paragraphs": {
			docx(t, para("One")+para("")+para("Two &amp; a half"), nil),
			"[paragraph 1] One\n[paragraph 2] Two & a half\n", "named by paragraph", 0,
		},
		"pages": {
			docx(t, para("First.")+`<w:p><w:r><w:lastRenderedPageBreak/><w:t>Second</w:t></w:r><w:r><w:tab/><w:t>page.</w:t></w:r></w:p>`, nil),
			"[page 1]\nFirst.\n[page 2]\nSecond\tpage.\n", "", 2,
		},
		"what was taken out": {
			docx(t, `<w:p><w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del><w:r><w:instrText>PAGE</w:instrText><w:br/><w:t>line</w:t></w:r></w:p>`, nil),
			"[paragraph 1] Kept\nline\n", "named by paragraph", 0,
		},
		"footnotes": {
			docx(t, para("Text"), map[string]string{"word/footnotes.xml": `<w:footnotes xmlns:w="x"><w:footnote>` + para("Source: a book") + `</w:footnote></w:footnotes>`}),
			"[paragraph 1] Text\n[paragraph 2] Source: a book\n", "named by paragraph", 0,
		},
	} {
		r, err := read(t, name, tc.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(r.Content) != tc.want || r.Pages != tc.pages || !strings.Contains(r.Note.EN, tc.note) || (tc.note == "") != (r.Note.EN == "") {
			t.Errorf("%s: got %d pages, note %q:\n%s\nwant %d, %q:\n%s", name, r.Pages, r.Note.EN, r.Content, tc.pages, tc.note, tc.want)
		}
	}
}

func TestBadWordDocumentsAreRefusedByName(t *testing.T) {
	t.Parallel()
	refused(t, "empty.docx", docx(t, "", nil), sys.CodeInvalid, "holds no text")
	refused(t, "broken.docx", docx(t, "<w:p><w:r>", nil), sys.CodeInvalid, "damaged")
	refused(t, "deep.docx", docx(t, strings.Repeat("<w:sdt>", 5000), nil), sys.CodeInvalid, "damaged")
	whole := docx(t, para("text"), nil)
	refused(t, "cut.docx", append(bytes.Clone(whole[:len(whole)-30]), mainPartName...), sys.CodeInvalid, "damaged")

	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create(mainPartName)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `<w:document xmlns:w="x">`)
	blank := bytes.Repeat([]byte(" "), 1<<20)
	for range 80 {
		if _, err := f.Write(blank); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 1<<20 {
		t.Fatalf("the bomb itself has %d bytes", b.Len())
	}
	refused(t, "bomb.docx", b.Bytes(), sys.CodeTooLarge, "unpacks to more than 64 MB")
}

const mainPartName = "word/document.xml"

func TestLongWordDocumentIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"many": strings.Repeat(para(strings.Repeat("word ", 200)), 1100),
		"one":  para(strings.Repeat("한글 ", 160_000)),
	} {
		r, err := read(t, name, docx(t, body, nil))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Content) > document.MaxText || len(r.Content) < document.MaxText*9/10 || !strings.Contains(r.Note.EN, "Only the beginning") {
			t.Errorf("%s: got %d bytes, note %q", name, len(r.Content), r.Note.EN)
		}
	}
}

func FuzzWordDocument(f *testing.F) {
	f.Add(`<w:p><w:r><w:t>text</w:t></w:r></w:p>`)
	f.Add(`<w:tbl><w:tr><w:tc></w:tbl></w:p></w:t></w:del>`)
	f.Add(`<t><del><tbl></del></tbl><p/><tr/></t>`)
	f.Fuzz(func(t *testing.T, body string) {
		r, err := read(t, "fuzz", docx(t, body, nil))
		if err == nil && (len(r.Content) == 0 || len(r.Content) > document.MaxText+100) {
			t.Errorf("got %d bytes of content and no error", len(r.Content))
		}
	})
}

func TestSniffGoesByContent(t *testing.T) {
	t.Parallel()
	archive := func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		if _, err := z.Create("notes.txt"); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}()
	for name, tc := range map[string]struct {
		data []byte
		want document.Kind
	}{
		"pdf behind a line": {append([]byte("\n\n"), newPDF().pages(helvetica, show("x"))...), document.PDF},
		"docx":              {docx(t, para("x"), nil), document.Word},
		"zip":               {archive, document.Other},
		"text":              {[]byte("PNG is a format"), document.Other},
		"text about a PDF":  {[]byte("A PDF begins with %PDF-1.7\n"), document.Other},
		"text of a GIF":     {[]byte("GIF89a is what the first bytes say\n"), document.Other},
		"empty":             {nil, document.Other},
		"program":           {[]byte("\x7FELF\x02\x01\x01\x00"), document.Other},
	} {
		if got, err := document.Sniff(bytes.NewReader(tc.data), int64(len(tc.data))); got != tc.want || err != nil {
			t.Errorf("%s: got %s, %v; want %s", name, got, err, tc.want)
		}
	}
	for head, part := range map[string]string{
		"\x00\x00\x00\x18ftypheic": "HEIC", "\x00\x00\x00\x18ftypisom": "video", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1": "Office",
		"PK\x03\x04": "archive", "BM\x00\x00": "picture", "\x7FELF": "cannot read",
	} {
		if what, _ := document.Describe([]byte(head)); !strings.Contains(what.EN, part) || what.KO == "" {
			t.Errorf("%q: got %q and Korean %q, want %q", head, what.EN, what.KO, part)
		}
	}
}

func TestReaderThatWasKilledIsTold(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"", `{"result":{"kind":"pdf","content":"aGFsZ`} {
		_, err := document.Parse([]byte(said), "killed.pdf")
		if e := sys.AsError(err); err == nil || !strings.Contains(e.Message, "killed.pdf could not be read") || e.Hint == "" || e.MessageKO == "" {
			t.Errorf("after %q: got %v", said, err)
		}
	}
}
