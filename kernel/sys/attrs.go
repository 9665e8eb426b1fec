package sys

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// maxAttrs is the most of a file's attributes that is taken along. What has more
// keeps none in a copy.
const maxAttrs = 16 << 10

// Attr is one extended attribute of a file: one of the person's, or an access
// control list.
type Attr struct {
	Name  string
	Value []byte
}

// EncodeAttrs makes one word of attributes, "" of none.
func EncodeAttrs(attrs []Attr) string {
	var raw []byte
	for _, a := range attrs {
		raw = append(binary.AppendUvarint(raw, uint64(len(a.Name))), a.Name...)
		raw = append(binary.AppendUvarint(raw, uint64(len(a.Value))), a.Value...)
	}
	if len(raw) > maxAttrs {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// DecodeAttrs reads what [EncodeAttrs] wrote; as far as it can be read.
func DecodeAttrs(word string) (attrs []Attr) {
	raw, err := base64.RawURLEncoding.DecodeString(word)
	if err != nil {
		return nil
	}
	part := func() []byte {
		n, size := binary.Uvarint(raw)
		if size <= 0 || n > uint64(len(raw)-size) {
			raw = nil
			return nil
		}
		out := raw[size : size+int(n)]
		raw = raw[size+int(n):]
		return out
	}
	for len(raw) > 0 {
		name := string(part())
		attrs = append(attrs, Attr{name, slices.Clone(part())})
	}
	return attrs
}
