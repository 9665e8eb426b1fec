package document_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"oxios/kernel/document"
	"oxios/kernel/sys"
)

// exif is a TIFF block that says how the picture is turned, and where it was
// taken.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	entry := func(tag, kind uint16, value []byte) {
		b = order.AppendUint16(order.AppendUint16(b, tag), kind)
		b = append(order.AppendUint32(b, 1), value...)
	}
	entry(0x010F, 2, []byte("GPS\x00"))
	entry(0x0112, 3, append(order.AppendUint16(nil, orientation), 0, 0))
	return append(b, "Busan 35.1796N 129.0756E"...)
}

func jpegWith(t *testing.T, img image.Image, tiff []byte) []byte {
	t.Helper()
	raw := jpegOf(t, img)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{0xFF, 0xD8, 0xFF, 0xE1}, binary.BigEndian.AppendUint16(nil, uint16(len(segment)+2))...)
	return append(append(out, segment...), raw[2:]...)
}

func pngWith(t *testing.T, img image.Image, tiff []byte) []byte {
	t.Helper()
	raw := pngOf(t, img)
	chunk := append([]byte("eXIf"), tiff...)
	out := binary.BigEndian.AppendUint32(bytes.Clone(raw[:33]), uint32(len(tiff))) // behind the header
	out = binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
	return append(out, raw[33:]...)
}

func decode(t *testing.T, r document.Result) image.Image {
	t.Helper()
	img, kind, err := image.Decode(bytes.NewReader(r.Content))
	if err != nil {
		t.Fatalf("what comes out is no picture: %v", err)
	}
	if r.Kind != document.Image || r.MIME != "image/"+kind || img.Bounds().Dx() != r.Width || img.Bounds().Dy() != r.Height {
		t.Errorf("told as %s %s %d×%d, is %s %v", r.Kind, r.MIME, r.Width, r.Height, kind, img.Bounds())
	}
	return img
}

func red(c color.Color) bool {
	r, _, b, _ := c.RGBA()
	return r > 0xC000 && b < 0x4000
}

func TestPictureIsTurnedUprightAndLosesItsMetadata(t *testing.T) {
	t.Parallel()
	// Where the red quarter of the file stands once the picture is upright.
	corners := map[uint16]string{1: "left top", 2: "right top", 3: "right bottom", 4: "left bottom", 5: "left top", 6: "right top", 7: "right bottom", 8: "left bottom"}
	for orientation, want := range corners {
		for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
			for kind, data := range map[string][]byte{
				"jpeg": jpegWith(t, quarters(80, 40), exif(order, orientation)),
				"png":  pngWith(t, quarters(80, 40), exif(order, orientation)),
			} {
				r, err := read(t, "p", data)
				if err != nil {
					t.Fatal(err)
				}
				img := decode(t, r)
				w, h := 80, 40
				if orientation >= 5 {
					w, h = h, w
				}
				at := map[string]image.Point{"left top": {w / 4, h / 4}, "right top": {3 * w / 4, h / 4}, "left bottom": {w / 4, 3 * h / 4}, "right bottom": {3 * w / 4, 3 * h / 4}}
				if r.Width != w || r.Height != h {
					t.Errorf("%s %s %d: got %d×%d, want %d×%d", kind, name, orientation, r.Width, r.Height, w, h)
				}
				for corner, p := range at {
					if red(img.At(p.X, p.Y)) != (corner == want) {
						t.Errorf("%s %s orientation %d: %s is %v, red stands %s", kind, name, orientation, corner, img.At(p.X, p.Y), want)
					}
				}
				for _, secret := range []string{"Exif", "Busan", "eXIf"} {
					if bytes.Contains(r.Content, []byte(secret)) {
						t.Errorf("%s: %q is still in it", kind, secret)
					}
				}
			}
		}
	}
}

func TestLargePictureIsScaledDown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ w, h, wantW, wantH int }{
		{4096, 1024, 2048, 512}, {1500, 3001, 1023, 2048}, {2049, 3, 2048, 2}, {5000, 1, 2048, 1}, {2048, 2048, 2048, 2048}, {7, 5, 7, 5},
	} {
		t.Run(fmt.Sprintf("%dx%d", tc.w, tc.h), func(t *testing.T) {
			t.Parallel()
			r, err := read(t, "p", pngOf(t, quarters(tc.w, tc.h)))
			if err != nil {
				t.Fatal(err)
			}
			img := decode(t, r)
			if r.Width != tc.wantW || r.Height != tc.wantH {
				t.Fatalf("got %d×%d, want %d×%d", r.Width, r.Height, tc.wantW, tc.wantH)
			}
			if tc.h >= 8 && (!red(img.At(r.Width/4, r.Height/4)) || red(img.At(3*r.Width/4, r.Height/4)) || red(img.At(r.Width/4, 3*r.Height/4))) {
				t.Error("the red quarter is not where it was")
			}
		})
	}
}

// A mean of what was there, not one pixel of many: stripes of one pixel become grey.
func TestScaledPictureShowsAllOfTheOldOne(t *testing.T) {
	t.Parallel()
	img := image.NewGray(image.Rect(0, 0, 3*document.MaxEdge, 60))
	for i := range img.Pix {
		img.Pix[i] = uint8(255 * (i % 2))
	}
	r, err := read(t, "p", pngOf(t, img))
	if err != nil {
		t.Fatal(err)
	}
	out := decode(t, r)
	for x := range r.Width {
		if g := color.GrayModel.Convert(out.At(x, r.Height/2)).(color.Gray).Y; g < 80 || g > 175 {
			t.Fatalf("pixel %d is %d, want grey", x, g)
		}
	}
}

func TestPhotographsBecomeJPEGAndDrawingsStayPNG(t *testing.T) {
	t.Parallel()
	noise := image.NewRGBA(image.Rect(0, 0, 800, 800))
	state := uint32(1)
	for i := range noise.Pix {
		state = state*1664525 + 1013904223
		noise.Pix[i] = uint8(state >> 24)
	}
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"a drawing":              {pngOf(t, quarters(300, 300)), "image/png"},
		"a photograph":           {jpegOf(t, quarters(300, 300)), "image/jpeg"},
		"a photograph as PNG":    {pngOf(t, noise), "image/jpeg"},
		"a transparent drawing":  {pngOf(t, image.NewNRGBA(image.Rect(0, 0, 9, 9))), "image/png"},
		"one colour to an index": {pngOf(t, image.NewPaletted(image.Rect(0, 0, 9, 9), color.Palette{color.Black, color.White})), "image/png"},
	} {
		r, err := read(t, name, tc.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if decode(t, r); r.MIME != tc.want || len(r.Content) > 4<<20 {
			t.Errorf("%s: got %s with %d bytes, want %s", name, r.MIME, len(r.Content), tc.want)
		}
	}
}

func TestEachKindOfPictureIsReadByItsContent(t *testing.T) {
	t.Parallel()
	var moving bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.White, color.RGBA{R: 255, A: 255}})
	if err := gif.EncodeAll(&moving, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	webp, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"photo.txt": jpegOf(t, quarters(20, 10)), "screen.pdf": pngOf(t, quarters(20, 10)), "moving": moving.Bytes(), "small.png": webp} {
		r, err := read(t, name, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		decode(t, r)
	}
}

// bomb is a PNG of a few bytes that claims to be enormous.
func bomb(t *testing.T, w, h uint32) []byte {
	t.Helper()
	raw := pngOf(t, quarters(2, 2))
	binary.BigEndian.PutUint32(raw[16:], w)
	binary.BigEndian.PutUint32(raw[20:], h)
	binary.BigEndian.PutUint32(raw[29:], crc32.ChecksumIEEE(raw[12:29]))
	return raw
}

func TestHostilePicturesAreRefusedByName(t *testing.T) {
	t.Parallel()
	refused(t, "bomb.png", bomb(t, 100_000, 100_000), sys.CodeTooLarge, "100000 × 100000 pixels")
	refused(t, "overflow.png", bomb(t, 0x7FFFFFFF, 0x7FFFFFFF), sys.CodeInvalid, "cannot be read as a picture")
	refused(t, "claims.png", bomb(t, 7000, 7000), sys.CodeInvalid, "cannot be read as a picture")
	whole := jpegOf(t, quarters(200, 200))
	refused(t, "cut.jpg", whole[:len(whole)/2], sys.CodeInvalid, "cannot be read as a picture")
	refused(t, "head.jpg", whole[:12], sys.CodeInvalid, "cannot be read as a picture")
	refused(t, "webp", []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), sys.CodeInvalid, "cannot be read as a picture")
}

// The metadata of a picture is written by whoever made it.
func FuzzPicture(f *testing.F) {
	var small bytes.Buffer
	if err := png.Encode(&small, quarters(4, 4)); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes())
	small.Reset()
	if err := jpeg.Encode(&small, quarters(4, 4), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes())
	f.Add([]byte("\xFF\xD8\xFF\xE1\x00\x10Exif\x00\x00II*\x00\x08\x00\x00\x00\xFF\xFF"))
	f.Add([]byte("\x89PNG\r\n\x1A\n\xFF\xFF\xFF\xFFeXIf"))
	f.Add([]byte("RIFF\xFF\xFF\xFF\xFFWEBPEXIF\xFF\xFF\xFF\xFF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if kind, err := document.Sniff(bytes.NewReader(data), int64(len(data))); err != nil || kind != document.Image {
			return
		}
		if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err != nil || config.Width > 500 || config.Height > 500 {
			return
		}
		if r, err := read(t, "p", data); err == nil {
			if o := r.Width; o <= 0 || o > document.MaxEdge {
				t.Errorf("got a width of %d", o)
			}
		}
	})
}
