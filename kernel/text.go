package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"oxios/kernel/sys"
)

// textEncoding is how a file writes its characters. A file keeps it when it is
// changed.
type textEncoding string

// The encodings that are read and written back.
const (
	encUTF8    textEncoding = "utf-8"
	encUTF8BOM textEncoding = "utf-8 with BOM"
	encUTF16LE textEncoding = "utf-16le"
	encUTF16BE textEncoding = "utf-16be"
	encCP949   textEncoding = "cp949" // what Korean Windows writes; it contains EUC-KR
)

var boms = []struct {
	enc  textEncoding
	mark string
}{{encUTF8BOM, "\xEF\xBB\xBF"}, {encUTF16LE, "\xFF\xFE"}, {encUTF16BE, "\xFE\xFF"}}

// sniffed is how many bytes at the start of a file tell binary from text.
const sniffed = 8 << 10

// errBinary says that a file holds no text, and what it seems to be.
type errBinary struct{ kind sys.Words }

func (e *errBinary) Error() string { return "not text: " + e.kind.EN }

// sniff finds out how a file is written. It reads all of it, as the first
// Korean character may be the last one, and leaves f at the start.
func sniff(f io.ReadSeeker) (textEncoding, error) {
	head := make([]byte, sniffed)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	head = head[:n]
	defer f.Seek(0, io.SeekStart) //nolint:errcheck // the read after it fails as well
	for _, b := range boms {
		if rest, ok := bytes.CutPrefix(head, []byte(b.mark)); ok && (b.enc == encUTF8BOM || isUTF16(rest)) {
			return b.enc, nil
		}
	}
	kind := http.DetectContentType(head)
	media := !strings.HasPrefix(kind, "text/") && kind != "application/octet-stream"
	if bytes.IndexByte(head, 0) >= 0 || n > 0 && media && !sys.PlainText(head) {
		return "", &errBinary{sys.Words{EN: kind}}
	}
	var letters sys.Hangul
	for _, try := range []struct {
		enc   textEncoding
		check transform.Transformer
	}{{encUTF8, encoding.UTF8Validator}, {encCP949, strict{korean.EUCKR.NewDecoder(), &letters}}} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return "", err
		}
		_, err := io.Copy(io.Discard, transform.NewReader(f, try.check))
		if err == nil && (try.enc == encUTF8 || letters.Certain()) {
			return try.enc, nil
		}
		if err != nil && !errors.Is(err, encoding.ErrInvalidUTF8) && !errors.Is(err, errNotThis) {
			return "", err
		}
	}
	if media {
		return "", &errBinary{sys.Words{EN: kind}}
	}
	return "", &errBinary{sys.Say("text in an encoding that is not known for certain (UTF-8, UTF-16 and Korean CP949 are), or no text")}
}

// isUTF16 reports whether what follows a mark of UTF-16 is that: a line end of it
// has a zero beside it, so that bytes with line ends and no zero are something else.
func isUTF16(rest []byte) bool {
	return bytes.IndexByte(rest, '\n') < 0 || bytes.IndexByte(rest, 0) >= 0
}

var errNotThis = errors.New("not in this encoding")

// strict makes a decoder fail where it would put a replacement character, and
// counts the letters.
type strict struct {
	transform.Transformer
	letters *sys.Hangul
}

func (s strict) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = s.Transformer.Transform(dst, src, atEOF)
	if bytes.Contains(dst[:nDst], []byte("\uFFFD")) {
		return nDst, nSrc, errNotThis
	}
	s.letters.Add(string(dst[:nDst]))
	return nDst, nSrc, err
}

func (e textEncoding) codec() encoding.Encoding {
	switch e {
	case encUTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	case encUTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)
	case encCP949:
		return korean.EUCKR
	case encUTF8BOM:
		return unicode.UTF8BOM
	}
	return encoding.Nop
}

// reader reads f as UTF-8 without a mark.
func (e textEncoding) reader(f io.Reader) io.Reader {
	return transform.NewReader(f, e.codec().NewDecoder())
}

// decodeText returns what raw says as UTF-8, and how it was written. The text
// of an unknown encoding is an [errBinary].
func decodeText(raw []byte) (string, textEncoding, error) {
	enc, err := sniff(bytes.NewReader(raw))
	if err != nil {
		return "", "", err
	}
	if enc == encUTF8 {
		return string(raw), enc, nil
	}
	text, err := io.ReadAll(enc.reader(bytes.NewReader(raw)))
	return string(text), enc, err
}

// encode writes text the way of e. A character that e does not have is an
// error that names it.
func (e textEncoding) encode(text string) ([]byte, error) {
	switch e {
	case encUTF8, "":
		return []byte(text), nil
	case encUTF8BOM:
		return append([]byte(boms[0].mark), strings.TrimPrefix(text, "\uFEFF")...), nil
	case encUTF16LE, encUTF16BE, encCP949:
	}
	text = strings.TrimPrefix(text, "\uFEFF") // the encoder writes it
	raw, err := e.codec().NewEncoder().Bytes([]byte(text))
	if err == nil {
		return raw, nil
	}
	line := 1
	for _, r := range text {
		if r == '\n' {
			line++
		}
		if _, err := e.codec().NewEncoder().String(string(r)); err != nil {
			return nil, sys.Errorf(sys.CodeInvalid, "The file is written in %s, which has no %q (line %d). Nothing was written.", e, r, line).
				WithHint("Use other characters, or write a new file, which is UTF-8.")
		}
	}
	return nil, fmt.Errorf("encode as %s: %w", e, err)
}

// keepsText reports whether text, read from raw, is written back as the same
// bytes. Otherwise changing one line would change others too.
func (e textEncoding) keepsText(raw []byte, text string) bool {
	back, err := e.encode(text)
	return err == nil && bytes.Equal(raw, back)
}

// Line endings.
const (
	lf   = "\n"
	crlf = "\r\n"
)

// lineEnding is the one that most lines of text have.
func lineEnding(text string) string {
	if n := strings.Count(text, crlf); n > 0 && 2*n >= strings.Count(text, lf) {
		return crlf
	}
	return lf
}

// withEnding returns text with all its lines ended in one way.
func withEnding(text, ending string) string {
	text = strings.ReplaceAll(text, crlf, lf)
	if ending == lf {
		return text
	}
	return strings.ReplaceAll(text, lf, ending)
}

// cutText cuts s to at most n bytes at a character's border.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// countLines counts the lines of text; one without an end counts too.
func countLines(text string) int {
	n := strings.Count(text, lf)
	if text != "" && !strings.HasSuffix(text, lf) {
		n++
	}
	return n
}

// sizeText is a size as people write it.
func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
