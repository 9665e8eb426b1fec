// Package document turns files that people attach into what a model reads:
// pictures into pictures of a size that models take, PDF and Word files into
// text that names its pages or sections.
//
// It promises, for any bytes:
//
//   - A file is known by its content, never by its name.
//   - What it takes is bounded: see the limits below. A file that passes one of
//     them, or that is damaged or locked, is a [sys.Error] that names the file,
//     says what is wrong and what to do.
//   - Nothing but the picture or the text comes out: no metadata, no scripts.
//
// The formats have a history of hostile files, so that the kernel does not read
// them itself: it starts this program again, contained, as a reader ([Main]),
// and takes up what that one says ([Parse]). PDF is read by PDFium, which runs
// as WebAssembly inside the reader.
package document

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// The limits of a reader.
const (
	MaxFile = 50 << 20 // bytes of a file
	MaxText = 1 << 20  // bytes of the text that is taken from a document
	MaxEdge = 2048     // pixels of a picture's longer side, as models get it
	maxPage = 5000     // pages of a PDF that are read
	maxArea = 64e6     // pixels of a picture as it comes
	maxData = 7 << 19  // bytes of a picture as models get it: 5 MB in base64 is what the strictest provider takes
	maxXML  = 64 << 20 // bytes of a Word document, unpacked
)

// Kind is what a file holds.
type Kind string

// The kinds.
const (
	Image Kind = "image"
	PDF   Kind = "pdf"
	Word  Kind = "docx"
	Other Kind = "other" // text, or something that is not read here
)

// Result is what a reader made of a file.
type Result struct {
	Kind    Kind      `json:"kind"`
	Content []byte    `json:"content"` // the picture, or text in UTF-8
	MIME    string    `json:"mime,omitempty"`
	Width   int       `json:"width,omitempty"` // of the picture, pixels
	Height  int       `json:"height,omitempty"`
	Pages   int       `json:"pages,omitempty"` // of the document, also of those that were left out; 0 when it has none
	Note    sys.Words `json:"note,omitzero"`   // what a person should know of it
}

// Sniff tells what a file holds, by its content.
func Sniff(f io.ReaderAt, size int64) (Kind, error) {
	head := make([]byte, min(size, 4096))
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return Other, err
	}
	switch mime := http.DetectContentType(head); {
	case slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime) && !sys.PlainText(head):
		return Image, nil
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return PDF, nil
	case bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")) && (!sys.PlainText(head) || endsPDF(f, size)): // some programs write a line in front
		return PDF, nil
	case mime == "application/zip" && listsWord(f, size):
		return Word, nil
	}
	return Other, nil
}

// mainPart is where a Word document keeps its text.
const mainPart = "word/document.xml"

// listsWord reports whether a zip file's table of contents, which stands at its
// end, names the text of a Word document. It is not unpacked: a hostile table
// has millions of entries.
func listsWord(f io.ReaderAt, size int64) bool {
	end := make([]byte, min(size, 256<<10))
	n, _ := f.ReadAt(end, size-int64(len(end)))
	return bytes.Contains(end[:n], []byte(mainPart))
}

// endsPDF reports whether a file ends as a PDF does. A text may name the
// mark of its beginning.
func endsPDF(f io.ReaderAt, size int64) bool {
	end := make([]byte, min(size, 1024))
	n, _ := f.ReadAt(end, size-int64(len(end)))
	return bytes.Contains(end[:n], []byte("%%EOF"))
}

// Describe names a file that is none of the kinds, in words of a person, with
// what to do where more than the usual can be done. head is its beginning.
func Describe(head []byte) (what, hint sys.Words) {
	switch mime := http.DetectContentType(head); {
	case len(head) >= 12 && string(head[4:8]) == "ftyp" && strings.Contains("heic heix heif mif1 msf1 avif", string(head[8:12])):
		return sys.Say("a HEIC or AVIF picture"), sys.Say("Save it as JPEG or PNG, and attach that.")
	case bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0")):
		return sys.Say("an Office file of the old kind, or one with a password"), sys.Say("Save it as .docx without a password, or as PDF, and attach that.")
	case mime == "application/zip", strings.Contains(mime, "gzip"), strings.Contains(mime, "rar"):
		return sys.Say("an archive or an Office file that is not read here"), sys.Words{}
	case strings.HasPrefix(mime, "video/"), strings.HasPrefix(mime, "audio/"), len(head) >= 8 && string(head[4:8]) == "ftyp":
		return sys.Say("a video or a sound"), sys.Words{}
	case strings.HasPrefix(mime, "image/"):
		return sys.Say("a picture of a kind that models do not take"), sys.Say("Save it as JPEG or PNG, and attach that.")
	}
	return sys.Say("a file that models cannot read"), sys.Words{}
}

// clean makes text of a document fit to be read: valid UTF-8, without control
// characters, with LF at the ends of lines.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r', r == '\f', r == '\v':
			return '\n'
		case r == '\uFFFE': // how PDFium marks a hyphen at the end of a line
			return '-'
		case r < ' ' && r != '\n' && r != '\t', r == 0x7F:
			return -1
		}
		return r
	}, text)
}
