package knowledge

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/korean"

	"oxios/kernel/sys"
)

const bom = "\uFEFF"

// The encodings by their names in [Note.Encoding]. Only the first is written.
const (
	encUTF8    = "UTF-8"
	encUTF16LE = "UTF-16LE"
	encUTF16BE = "UTF-16BE"
	encEUCKR   = "EUC-KR"
	encUnknown = "an unknown encoding"
)

// decode returns the text of a file, without a BOM and with its line ends as
// they are, and the encoding it is in.
func decode(raw []byte) (text []byte, encoding string, hasBOM bool) {
	switch {
	case bytes.HasPrefix(raw, []byte(bom)):
		if rest := raw[len(bom):]; utf8.Valid(rest) {
			return rest, encUTF8, true
		}
	case bytes.HasPrefix(raw, []byte{0xFF, 0xFE}):
		return fromUTF16(raw[2:], binary.LittleEndian), encUTF16LE, true
	case bytes.HasPrefix(raw, []byte{0xFE, 0xFF}):
		return fromUTF16(raw[2:], binary.BigEndian), encUTF16BE, true
	}
	if order, name := bareUTF16(raw); order != nil {
		return fromUTF16(raw, order), name, false
	}
	if utf8.Valid(raw) {
		return raw, encUTF8, false
	}
	if got, err := korean.EUCKR.NewDecoder().Bytes(raw); err == nil && sys.KoreanBytes(string(got)) {
		return got, encEUCKR, false
	}
	return bytes.ToValidUTF8(raw, []byte("\uFFFD")), encUnknown, false
}

func fromUTF16(raw []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// bareUTF16 recognizes UTF-16 without a BOM by the zero bytes that the line
// ends and spaces of every text have in it: none in UTF-8, half of them here.
func bareUTF16(raw []byte) (binary.ByteOrder, string) {
	head := raw[:min(len(raw), 512)&^1]
	var zero [2]int
	for i, b := range head {
		if b == 0 {
			zero[i&1]++
		}
	}
	switch enough := max(len(head)/16, 1); {
	case zero[1] >= enough && zero[0] == 0:
		return binary.LittleEndian, encUTF16LE
	case zero[0] >= enough && zero[1] == 0:
		return binary.BigEndian, encUTF16BE
	}
	return nil, ""
}

// onlyCRLF reports whether every line of the text ends as on Windows.
func onlyCRLF(text []byte) bool {
	n := bytes.Count(text, []byte("\r\n"))
	return n > 0 && n == bytes.Count(text, []byte("\n"))
}

// dress puts a text of the editor into the clothes of the file that it
// replaces: its BOM, its line ends.
func dress(text string, crlf, hasBOM bool) []byte {
	text = strings.TrimPrefix(text, bom)
	if crlf {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	if hasBOM {
		text = bom + text
	}
	return []byte(text)
}
