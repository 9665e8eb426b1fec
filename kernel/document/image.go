package document

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	_ "image/gif" // the first picture of one

	_ "golang.org/x/image/webp" // as browsers save pictures

	"oxios/kernel/sys"
)

// readImage makes a picture that models take: upright, at most [MaxEdge] long,
// without metadata. Photographs come out as JPEG, drawings and screenshots as
// PNG. Of a moving picture it takes the first one.
func readImage(f *os.File, size int64, name string) (Result, error) {
	config, format, err := image.DecodeConfig(io.NewSectionReader(f, 0, size))
	if err != nil {
		return Result{}, badImage(name, err)
	}
	w, h := config.Width, config.Height
	if w <= 0 || h <= 0 || w > maxArea/h {
		return Result{}, sys.Errorf(sys.CodeTooLarge, "%s is a picture of %d × %d pixels; %d million pixels are the most. It was not attached.", name, w, h, int(maxArea/1e6)).
			WithHint("Make it smaller, and attach that.")
	}
	full, _, err := image.Decode(io.NewSectionReader(f, 0, size))
	if err != nil {
		return Result{}, badImage(name, err)
	}
	scaled := turn(shrink(full, MaxEdge), orientation(f, size))
	data, mime, err := encode(scaled, format == "jpeg")
	if err != nil {
		return Result{}, badImage(name, err)
	}
	return Result{Kind: Image, Content: data, MIME: mime, Width: scaled.Rect.Dx(), Height: scaled.Rect.Dy()}, nil
}

func badImage(name string, err error) error {
	return sys.Errorf(sys.CodeInvalid, "%s cannot be read as a picture: it is damaged, cut off, or a moving one. It was not attached.", name).
		WithHint("Open it in another program, save it as PNG or JPEG, and attach that.").WithCause(err)
}

// shrink returns a picture whose longer side is at most edge. Each pixel is the
// mean of those that it covers. The source is looked at row by row, so that
// nothing of its size is made beside it.
func shrink(src image.Image, edge int) *image.RGBA {
	b := src.Bounds()
	sw, sh := b.Dx(), b.Dy()
	dw, dh := sw, sh
	if long := max(sw, sh); long > edge {
		dw, dh = max(1, sw*edge/long), max(1, sh*edge/long)
	}
	dst := image.NewRGBA(image.Rect(0, 0, dw, dh))
	if dw == sw && dh == sh {
		draw.Draw(dst, dst.Rect, src, b.Min, draw.Src)
		return dst
	}
	row := image.NewRGBA(image.Rect(0, 0, sw, 1))
	sum := make([]float64, 4*dw)
	tall := float64(sh) / float64(dh) // rows of the source that make one
	for y, out := 0, 0; y < sh; y++ {
		draw.Draw(row, row.Rect, src, image.Pt(b.Min.X, b.Min.Y+y), draw.Src)
		// A row of the source may end one of the result and begin the next.
		end := float64(out+1) * tall
		part := min(1, end-float64(y))
		addRow(sum, row.Pix, sw, dw, part)
		if float64(y+1) < end-1e-9 {
			continue
		}
		put(dst.Pix[out*dst.Stride:], sum, float64(sw)/float64(dw)*tall)
		clear(sum)
		if out++; part < 1-1e-9 && out < dh {
			addRow(sum, row.Pix, sw, dw, 1-part)
		}
	}
	return dst
}

// addRow adds a row of sw pixels, weighted, to the sums of dw ones.
func addRow(sum []float64, pix []uint8, sw, dw int, weight float64) {
	wide := float64(sw) / float64(dw)
	for x, out := 0, 0; x < sw; x++ {
		end := float64(out+1) * wide
		part := min(1, end-float64(x))
		for c := range 4 {
			sum[4*out+c] += weight * part * float64(pix[4*x+c])
		}
		if float64(x+1) < end-1e-9 {
			continue
		}
		if out++; out == dw {
			return
		}
		for c := range 4 {
			sum[4*out+c] += weight * (1 - part) * float64(pix[4*x+c])
		}
	}
}

func put(pix []uint8, sum []float64, area float64) {
	for i, s := range sum {
		pix[i] = uint8(min(255, s/area+0.5))
	}
}

// turn makes a picture upright. o is its orientation as in Exif.
func turn(src *image.RGBA, o int) *image.RGBA {
	w, h := src.Rect.Dx(), src.Rect.Dy()
	// from says where the pixel (x, y) of the result stands in the source.
	var from func(x, y int) (int, int)
	switch o {
	case 2:
		from = func(x, y int) (int, int) { return w - 1 - x, y }
	case 3:
		from = func(x, y int) (int, int) { return w - 1 - x, h - 1 - y }
	case 4:
		from = func(x, y int) (int, int) { return x, h - 1 - y }
	case 5:
		from = func(x, y int) (int, int) { return y, x }
	case 6:
		from = func(x, y int) (int, int) { return y, h - 1 - x }
	case 7:
		from = func(x, y int) (int, int) { return w - 1 - y, h - 1 - x }
	case 8:
		from = func(x, y int) (int, int) { return w - 1 - y, x }
	default:
		return src
	}
	size := image.Rect(0, 0, w, h)
	if o >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	dst := image.NewRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			sx, sy := from(x, y)
			dst.SetRGBA(x, y, src.RGBAAt(sx, sy))
		}
	}
	return dst
}

// photoBytes is from where on a PNG is taken for a photograph.
const photoBytes = 3 << 19

// encode writes a picture: as JPEG if it is a photograph, which a large PNG
// usually is, else as PNG.
func encode(img *image.RGBA, photo bool) (data []byte, mime string, err error) {
	var b bytes.Buffer
	if !photo {
		if err := (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(&b, img); err != nil {
			return nil, "", err
		}
		if b.Len() <= photoBytes {
			return b.Bytes(), "image/png", nil
		}
	}
	if !img.Opaque() { // JPEG knows no transparency
		paper := image.NewRGBA(img.Rect)
		draw.Draw(paper, paper.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
		draw.Draw(paper, paper.Rect, img, image.Point{}, draw.Over)
		img = paper
	}
	for _, quality := range []int{90, 75, 50} {
		b.Reset()
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
			return nil, "", err
		}
		if b.Len() <= maxData {
			break
		}
	}
	return b.Bytes(), "image/jpeg", nil
}
