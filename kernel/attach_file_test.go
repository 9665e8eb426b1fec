package kernel_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func picture(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(i)
	}
	img.SetRGBA(0, 0, color.RGBA{A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func wordFile(t *testing.T, text string) []byte {
	t.Helper()
	return zipFile(t, "word/document.xml", `<w:document xmlns:w="x"><w:body><w:p><w:r><w:t>`+text+`</w:t></w:r></w:p></w:body></w:document>`)
}

func zipFile(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pdfFile(pages ...string) []byte {
	var b bytes.Buffer
	var at []int
	add := func(body string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), body)
	}
	b.WriteString("%PDF-1.7\n")
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 4+2*i)
	}
	add("<< /Type /Catalog /Pages 2 0 R >>")
	add(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), kids))
	add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for _, text := range pages {
		add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >> /Contents %d 0 R >>", len(at)+2))
		stream := "BT /F 12 Tf 50 800 Td (" + text + ") Tj ET"
		add(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream))
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}

func saved(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func attach(t *testing.T, k *kerneltest.Kernel, path string) kernel.Attachment {
	t.Helper()
	a, err := k.Person().State.Attach(t.Context(), kernel.AttachInput{Path: path})
	if err != nil {
		t.Fatalf("attach %s: %v", path, err)
	}
	return a
}

func upload(t *testing.T, k *kerneltest.Kernel, name string, data []byte, part int) (kernel.Attachment, error) {
	t.Helper()
	state := k.Person().State
	a, err := state.Attach(t.Context(), kernel.AttachInput{Name: name, Size: int64(len(data))})
	for at := 0; err == nil && at < len(data); at += part {
		a, err = state.AttachPart(t.Context(), a.ID, int64(at), data[at:min(at+part, len(data))])
	}
	return a, err
}

func files(t *testing.T, k *kerneltest.Kernel) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(k.Home, "attachments"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

func TestFileComesInParts(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatScript))
	data := picture(t, 400, 300)
	a, err := upload(t, k, "C:\\Users\\민지\\사진.png", data, 7001)
	if err != nil {
		t.Fatal(err)
	}
	if a.Kind != "image" || a.Name != "사진.png" || a.Size != int64(len(data)) || a.Width != 400 || a.Tokens != 160 {
		t.Errorf("got %+v", a)
	}
	c, err := k.Person().State.AttachmentContent(t.Context(), a.ID)
	if err != nil || c.MIME != "image/png" || int64(len(c.Data)) != a.Stored {
		t.Errorf("got %d bytes of %s, %v", len(c.Data), c.MIME, err)
	}
	state := k.Person().State
	late, err := state.Attach(t.Context(), kernel.AttachInput{Name: "late", Size: 10})
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"a hole":   func() error { _, err := state.AttachPart(t.Context(), late.ID, 5, []byte("12345")); return err },
		"too much": func() error { _, err := state.AttachPart(t.Context(), late.ID, 0, []byte("12345678901")); return err },
		"nobody's": func() error { _, err := state.AttachPart(t.Context(), "none", 0, nil); return err },
		"two at once": func() error {
			_, err := state.Attach(t.Context(), kernel.AttachInput{Path: "/x", Text: "y"})
			return err
		},
		"nothing": func() error { _, err := state.Attach(t.Context(), kernel.AttachInput{Name: "empty.txt"}); return err },
	} {
		if call() == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if err := state.Detach(t.Context(), late.ID); err != nil {
		t.Errorf("stop an upload: %v", err)
	}
}

func TestRefusedAttachmentsAreNamedWithWhatToDo(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatScript))
	state := k.Person().State
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(k.Home, "keys", "k"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "innocent.txt")
	if err := os.Symlink(filepath.Join(k.Home, "config.toml"), link); err != nil {
		t.Fatal(err)
	}
	path := func(p string) func() error {
		return func() error { _, err := state.Attach(t.Context(), kernel.AttachInput{Path: p}); return err }
	}
	part := func(name string, data []byte) func() error {
		return func() error { _, err := upload(t, k, name, data, 1<<20); return err }
	}
	for name, tc := range map[string]struct {
		call func() error
		code sys.Code
		part string
	}{
		"keys":     {path(filepath.Join(k.Home, "keys", "k")), sys.CodeRefused, "agents never read it"},
		"link":     {path(link), sys.CodeRefused, "innocent.txt was not attached"},
		"missing":  {path(filepath.Join(dir, "none.pdf")), sys.CodeNotFound, "none.pdf. Nothing was attached."},
		"relative": {path("notes.txt"), sys.CodeInvalid, "not an absolute path"},
		"pipe":     {path("/dev/zero"), sys.CodeRefused, "device"},
		"large": {func() error {
			_, err := state.Attach(t.Context(), kernel.AttachInput{Name: "video.mov", Size: 200 << 20})
			return err
		}, sys.CodeTooLarge, "video.mov has 200.0 MB; 50.0 MB is the most"},
		"program":    {part("setup.exe", []byte("MZ\x00\x01\x02\x00\x03")), sys.CodeInvalid, "setup.exe is a file that models cannot read"},
		"archive":    {part("all.zip", zipFile(t, "notes.txt", "text")), sys.CodeInvalid, "all.zip is an archive"},
		"heic":       {part("IMG.HEIC", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")), sys.CodeInvalid, "IMG.HEIC is a HEIC or AVIF picture"},
		"broken pdf": {part("kaputt.pdf", []byte("%PDF-1.4 and no more")), sys.CodeInvalid, "kaputt.pdf cannot be read as a PDF"},
		"novel":      {part("novel.txt", []byte(strings.Repeat("Call me Ishmael. \n", 120_000))), sys.CodeTooLarge, "novel.txt has more than 1.0 MB of text"},
		"novel paste": {func() error {
			_, err := state.Attach(t.Context(), kernel.AttachInput{Text: strings.Repeat("가나다라 ", 90_000)})
			return err
		}, sys.CodeTooLarge, "The pasted text has 1.1 MB"},
	} {
		err := tc.call()
		e := sys.AsError(err)
		if err == nil || e.Code != tc.code || !strings.Contains(e.Message, tc.part) || e.MessageKO == "" {
			t.Errorf("%s: got %v (Korean %q), want %s with %q", name, err, e.MessageKO, tc.code, tc.part)
		} else if e.Hint == "" && !slices.Contains([]string{"missing", "relative"}, name) {
			t.Errorf("%s: no hint in %v", name, err)
		}
	}
	if left := files(t, k); len(left) != 0 {
		t.Errorf("refused files left %v", left)
	}
}

func TestFilesOfThisMachineGoByReference(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatScript))
	dir := t.TempDir()
	sparse := saved(t, dir, "dump.sql", nil)
	if err := os.Truncate(sparse, 200<<20); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"too large": sparse,
		"long text": saved(t, dir, "novel.txt", []byte(strings.Repeat("여러 줄의 글\n", 200_000))),
		"archive":   saved(t, dir, "all.zip", zipFile(t, "notes.txt", "text")),
		"empty":     saved(t, dir, "empty.txt", nil),
	} {
		a := attach(t, k, path)
		if a.Kind != "file" || a.Path != path || a.Stored != 0 || name != "empty" && (a.Note == "" || a.NoteKO == "") {
			t.Errorf("%s: got %+v", name, a)
		}
	}
	if left := files(t, k); len(left) != 0 {
		t.Errorf("content was kept: %v", left)
	}
}
