package sys

import (
	"bytes"
	"slices"
)

// PlainText reports whether the beginning of a file can be text, in whatever
// encoding of single bytes or UTF-8: it has no control characters but those of
// lines. What the first letters resemble says nothing: a table of cars begins with
// BM as a bitmap does, and a picture has control characters right behind them.
func PlainText(head []byte) bool {
	return !slices.ContainsFunc(head, func(b byte) bool {
		return b < ' ' && (b < '\b' || b > '\r') && b != 0x1B || b == 0x7F
	})
}

// WithoutMark returns the content of a file of settings or lines without the mark
// of UTF-8 that editors on Windows begin it with.
func WithoutMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\uFEFF")) }
