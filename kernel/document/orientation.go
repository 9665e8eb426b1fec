package document

import (
	"bytes"
	"encoding/binary"
	"io"
)

// maxExif bounds the metadata of a picture that is looked at, in bytes.
const maxExif = 256 << 10

// orientation reads from the metadata of a JPEG, PNG or WebP how the picture
// is to be turned: 1 to 8 as in Exif 2.3, 1 where nothing is said.
func orientation(f io.ReaderAt, size int64) int {
	head := make([]byte, 16)
	if n, _ := f.ReadAt(head, 0); n < len(head) {
		return 1
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xFF\xD8")):
		return ofTIFF(jpegExif(f, size))
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1A\n")):
		return ofTIFF(chunk(f, 8, size, "eXIf", binary.BigEndian, 4))
	case string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return ofTIFF(bytes.TrimPrefix(chunk(f, 12, size, "EXIF", binary.LittleEndian, 0), []byte("Exif\x00\x00")))
	}
	return 1
}

// jpegExif returns the TIFF block of a JPEG's first Exif segment.
func jpegExif(f io.ReaderAt, size int64) []byte {
	var m [4]byte
	for at := int64(2); at+4 <= size; {
		if _, err := f.ReadAt(m[:], at); err != nil || m[0] != 0xFF {
			return nil
		}
		if m[1] == 0xFF { // fill bytes may stand before a marker
			at++
			continue
		}
		length := int64(binary.BigEndian.Uint16(m[2:]))
		if m[1] == 0xDA || length < 2 { // the picture itself begins
			return nil
		}
		if m[1] == 0xE1 {
			block := read(f, at+4, min(length-2, size-at-4))
			if tiff, ok := bytes.CutPrefix(block, []byte("Exif\x00\x00")); ok {
				return tiff
			}
		}
		at += 2 + length
	}
	return nil
}

// chunk returns the first chunk called name of a PNG or a RIFF file, whose
// chunks begin at from. A PNG writes the length before the name and trailing
// bytes of checksum, a RIFF file the name first and pads to even lengths.
func chunk(f io.ReaderAt, from, size int64, name string, order binary.ByteOrder, trailing int64) []byte {
	var h [8]byte
	for at := from; at+8 <= size; {
		if _, err := f.ReadAt(h[:], at); err != nil {
			return nil
		}
		kind, length := string(h[4:]), int64(order.Uint32(h[:4]))
		if trailing == 0 {
			kind, length = string(h[:4]), int64(order.Uint32(h[4:]))
		}
		if kind == name {
			return read(f, at+8, min(length, size-at-8))
		}
		if trailing == 0 {
			length += length % 2
		}
		at += 8 + length + trailing
	}
	return nil
}

func read(f io.ReaderAt, at, n int64) []byte {
	b := make([]byte, max(0, min(n, maxExif)))
	k, _ := f.ReadAt(b, at)
	return b[:k]
}

// ofTIFF finds tag 0x0112 in the first directory of a TIFF block.
func ofTIFF(b []byte) int {
	if len(b) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return 1
	}
	entries := b[at+2:]
	for range order.Uint16(b[at:]) {
		if len(entries) < 12 {
			return 1
		}
		if order.Uint16(entries) == 0x0112 {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}
