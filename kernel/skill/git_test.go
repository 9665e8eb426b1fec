package skill

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"oxios/kernel/sys"
)

// packOf is a pack with one blob and a delta of it: declared bytes long, of which so many zeros come.
func packOf(t *testing.T, declared, zeros int) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	entry := func(kind byte, length int, between, content []byte) {
		b := kind<<4 | byte(length&0xF)
		for length >>= 4; length > 0; length >>= 7 {
			out.WriteByte(b | 0x80)
			b = byte(length & 0x7F)
		}
		out.WriteByte(b)
		out.Write(between)
		z := zlib.NewWriter(&out)
		_, err := z.Write(content)
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
	}
	out.WriteString("PACK")
	for _, n := range []uint32{2, 2} {
		if err := binary.Write(&out, binary.BigEndian, n); err != nil {
			t.Fatal(err)
		}
	}
	at := out.Len()
	entry(3, 10, nil, []byte("0123456789"))
	entry(6, declared, []byte{byte(out.Len() - at)}, append([]byte{10, 10}, make([]byte, zeros)...)) // from 10 bytes to 10
	return bytes.NewReader(out.Bytes())
}

func TestADeltaIsNoLargerThanAFileMayBe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		declared, zeros int
		code            sys.Code
	}{
		"a small one":            {12, 10, ""},
		"a long one":             {65 << 20, 65<<20 - 2, sys.CodeTooLarge},
		"more than it was to be": {12, 11, sys.CodeInvalid},
	} {
		err := boundPack(t.Context(), packOf(t, tc.declared, tc.zeros))
		if (err == nil) != (tc.code == "") || err != nil && sys.CodeOf(err) != tc.code {
			t.Errorf("%s: got %v, want the code %q", name, err, tc.code)
		}
	}
}

func TestThePackOfAStoppedInstallationIsReadNoFurther(t *testing.T) {
	t.Parallel()
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	f := first{ctx: ctx}
	if _, err := f.Write(make([]byte, 10)); !errors.Is(err, stop) {
		t.Errorf("got %v, want %v", err, stop)
	}
}
