package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"

	"oxios/kernel/sys"
)

// maxBroken is after how many damaged pages without a good one a PDF is given up.
const maxBroken = 20

// wasmPages is how much memory PDFium may take, in pages of 64 KiB: 384 MiB.
const wasmPages = 6144

// readPDF takes the text of a PDF, each page under a line "[page N]". PDFium
// has no file system, no network and a memory of its own. cache is a folder for
// its machine code, which takes seconds to make; "" makes it each time.
func readPDF(ctx context.Context, f io.Reader, name, cache string) (Result, error) {
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return Result{}, err
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(wasmPages)
	if cache != "" {
		c, err := wazero.NewCompilationCacheWithDir(cache)
		if err != nil {
			return Result{}, fmt.Errorf("open the cache of the PDF reader: %w", err)
		}
		config = config.WithCompilationCache(c)
	}
	pool, err := webassembly.Init(webassembly.Config{
		MaxTotal: 1, RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return Result{}, fmt.Errorf("start the PDF reader: %w", err)
	}
	defer pool.Close()
	reader, err := pool.GetInstance(time.Minute)
	if err != nil {
		return Result{}, fmt.Errorf("start the PDF reader: %w", err)
	}
	defer reader.Close()
	doc, err := reader.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdfium_errors.ErrPassword), errors.Is(err, pdfium_errors.ErrSecurity):
		return Result{}, sys.Errorf(sys.CodeInvalid, "%s is locked with a password. It was not attached.", name).
			WithHint("Save a copy without the password, and attach that.").WithCause(err)
	case err != nil:
		return Result{}, badPDF(name, err)
	}
	count, err := reader.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil || count.PageCount == 0 {
		return Result{}, badPDF(name, err)
	}
	return pagesOf(ctx, reader, doc.Document, count.PageCount, name)
}

func badPDF(name string, err error) error {
	return sys.Errorf(sys.CodeInvalid, "%s cannot be read as a PDF: it is damaged or cut off. It was not attached.", name).
		WithHint("Open it in a viewer, print it into a new PDF, and attach that.").WithCause(err)
}

func pagesOf(ctx context.Context, reader pdfium.Pdfium, doc references.FPDF_DOCUMENT, count int, name string) (Result, error) {
	var text strings.Builder
	found, failed, read := false, 0, 0
	for read < min(count, maxPage) && ctx.Err() == nil && (found || failed < maxBroken) {
		page, err := reader.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc, Index: read}}})
		body := ""
		switch {
		case err != nil:
			failed++
			body = "(This page is damaged.)"
		case strings.TrimSpace(page.Text) == "":
			body = "(No text. It may be a picture.)"
		default:
			found = true
			body = strings.TrimSpace(clean(page.Text))
		}
		part := fmt.Sprintf("[page %d]\n%s\n\n", read+1, body)
		if text.Len()+len(part) > MaxText {
			break
		}
		text.WriteString(part)
		read++
	}
	switch {
	case !found && failed > 0:
		return Result{}, badPDF(name, nil)
	case !found && ctx.Err() != nil:
		return Result{}, TooSlow(name, pagesTime)
	case !found && read > 0:
		return Result{}, sys.Errorf(sys.CodeInvalid, "%s holds no text: its pages are pictures, as a scanner makes them. It was not attached.", name).
			WithHint("Attach pictures of the pages that matter, and choose a model that sees.")
	case read == 0:
		return Result{}, sys.Errorf(sys.CodeTooLarge, "The first page of %s has more text than a model takes. It was not attached.", name).
			WithHint("Attach a part of it.")
	}
	r := Result{Kind: PDF, Pages: count, Content: []byte(strings.TrimSpace(text.String()) + "\n")}
	if read < count {
		r.Note = sys.Say("Only pages 1 to %d of %d are attached: the rest is too long.", read, count)
	}
	return r, nil
}
