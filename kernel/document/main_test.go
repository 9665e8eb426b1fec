package document_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rc4"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/korean"

	"oxios/kernel/document"
	"oxios/kernel/sys"
)

// reader is the program that reads PDF, and cache a folder for PDFium's machine
// code, which takes it seconds to make; the race detector would make it minutes.
var reader, cache string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oxios-document-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	reader, cache = filepath.Join(dir, "reader"), filepath.Join(dir, "cache")
	build := exec.Command("go", "build", "-o", reader, "./testdata/reader")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the reader: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// read reads data as a file called name: PDF in a process of its own, as the
// kernel does, the others here.
func read(t testing.TB, name string, data []byte) (document.Result, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if kind, err := document.Sniff(bytes.NewReader(data), int64(len(data))); err != nil || kind != document.PDF {
		return document.Read(context.Background(), path, name, cache)
	}
	argv := document.Command(reader, path, name, cache)
	said, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).Output()
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return document.Parse(said, name)
}

// refused reads data, which must fail with code and a sentence that holds part.
func refused(t *testing.T, name string, data []byte, code sys.Code, part string) {
	t.Helper()
	r, err := read(t, name, data)
	if err == nil {
		t.Fatalf("%s: got %d bytes of content, want an error with %q", name, len(r.Content), part)
	}
	e := sys.AsError(err)
	if e.Code != code || !strings.Contains(e.Message, part) || !strings.Contains(e.Message, name) || e.Hint == "" || e.MessageKO == "" {
		t.Errorf("%s: got %s %q, hint %q, Korean %q; want %s with %q, the name, a hint and Korean", name, e.Code, e.Message, e.Hint, e.MessageKO, code, part)
	}
}

// pdf is a file in the making.
type pdf struct {
	bytes.Buffer
	at      []int
	trailer string
}

func newPDF() *pdf {
	p := &pdf{}
	p.WriteString("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	return p
}

// add writes an object and returns its number.
func (p *pdf) add(body string) int {
	p.at = append(p.at, p.Len())
	fmt.Fprintf(p, "%d 0 obj\n%s\nendobj\n", len(p.at), body)
	return len(p.at)
}

func (p *pdf) stream(content string) int {
	return p.add(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content))
}

// end writes the table and returns the whole file. root is the catalogue.
func (p *pdf) end(root int) []byte {
	table := p.Len()
	fmt.Fprintf(p, "xref\n0 %d\n0000000000 65535 f \n", len(p.at)+1)
	for _, at := range p.at {
		fmt.Fprintf(p, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(p, "trailer\n<< /Size %d /Root %d 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(p.at)+1, root, p.trailer, table)
	return p.Bytes()
}

// pages writes pages with these content streams. Objects 1 and 2 are the
// catalogue and the pages, 3 is the font.
func (p *pdf) pages(font string, contents ...string) []byte {
	kids := make([]string, len(contents))
	for i := range contents {
		kids[i] = fmt.Sprintf("%d 0 R", 4+2*i)
	}
	p.add("<< /Type /Catalog /Pages 2 0 R >>")
	p.add(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " ")))
	p.add(font)
	for _, c := range contents {
		p.add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >> /Contents %d 0 R >>", len(p.at)+2))
		p.stream(c)
	}
	return p.end(1)
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"

// show draws lines of ASCII.
func show(lines ...string) string {
	var b strings.Builder
	b.WriteString("BT /F 12 Tf 50 800 Td 14 TL\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "(%s) Tj T*\n", l)
	}
	return b.String() + "ET"
}

// koreanPDF is a page as Korean programs write it: in the encoding of Korean
// Windows, with a font that is not in the file.
func koreanPDF(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := korean.EUCKR.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return newPDF().pages(`<< /Type /Font /Subtype /Type0 /BaseFont /Batang /Encoding /KSCms-UHC-H /DescendantFonts [ << /Type /Font /Subtype /CIDFontType2 /BaseFont /Batang
 /CIDSystemInfo << /Registry (Adobe) /Ordering (Korea1) /Supplement 1 >> /DW 1000 /FontDescriptor << /Type /FontDescriptor /FontName /Batang /Flags 4
 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >> >> ] >>`,
		fmt.Sprintf("BT /F 12 Tf 50 800 Td <%s> Tj ET", hex.EncodeToString([]byte(raw))))
}

// lockedPDF is a PDF that opens with the password alone: the oldest of the
// standard's ways, RC4 with 40 bits.
func lockedPDF(password string) []byte {
	const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"
	pad := func(s string) []byte { return []byte((s + padding)[:32]) }
	cipher := func(key, data []byte) []byte {
		c, err := rc4.NewCipher(key)
		if err != nil {
			panic(err)
		}
		out := make([]byte, len(data))
		c.XORKeyStream(out, data)
		return out
	}
	id := []byte("0123456789abcdef")
	first := md5.Sum(pad(password))
	owner := cipher(first[:5], pad(password))
	sum := md5.Sum(bytes.Join([][]byte{pad(password), owner, {0xFC, 0xFF, 0xFF, 0xFF}, id}, nil))
	user := cipher(sum[:5], []byte(padding))
	p := newPDF()
	p.trailer = fmt.Sprintf("/ID [<%x> <%x>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%x> /U <%x> >>", id, id, owner, user)
	return p.pages(helvetica, show("secret"))
}

// docx packs parts of a Word document; body stands in its main part.
func docx(t testing.TB, body string, parts map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"[Content_Types].xml": `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"word/document.xml":   `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + body + `</w:body></w:document>`,
	}
	for name, text := range parts {
		all[name] = text
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range all {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func para(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }

// quarters is a picture whose upper left quarter is red, the others are blue.
func quarters(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{B: 255, A: 255}
			if x < w/2 && y < h/2 {
				c = color.RGBA{R: 255, A: 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func jpegOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
