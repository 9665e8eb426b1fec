package knowledge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"oxios/kernel/sys"
)

// attachments is the folder of files that notes show.
const attachments = "attachments"

// MaxFile is the size of the largest file that is attached: 50 MB.
const MaxFile = maxFile

// PlanAttach plans to add a file to attachments/, under which a note can show it:
// ![[…]]. What no system or link could name is left out of its name, and a name
// that any file of the vault has gets a number.
func (v *Vault) PlanAttach(ctx context.Context, name string, data []byte) (Plan, error) {
	p, err := clean(join(attachments, attachable(name)))
	if err != nil {
		return Plan{}, err
	}
	switch {
	case len(data) == 0:
		return Plan{}, errEmptyFile(path.Base(p))
	case len(data) > maxFile:
		return Plan{}, ErrAttachLarge(path.Base(p))
	}
	if err := checkName(p); err != nil {
		return Plan{}, err
	}
	if err := v.ready(ctx); err != nil {
		return Plan{}, err
	}
	root, err := v.root()
	if err != nil {
		return Plan{}, err
	}
	defer root.Close()
	taken := func(p string) bool {
		v.mu.RLock()
		known := len(v.ix.byKey[keyOf(p)]) > 0
		v.mu.RUnlock()
		_, found := onDisk(root, p)
		return found || known
	}
	if taken(p) {
		p = freeName(p, taken)
	}
	return Plan{Steps: []Step{{Kind: StepWrite, Path: p, After: data}}}, nil
}

// attachable is the name of a file as one of the vault may be called.
func attachable(name string) string {
	name = strings.ToValidUTF8(name[strings.LastIndexAny(name, `/\`)+1:], "")
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`<>:"|?*#^[]`, r) {
			return '-'
		}
		return r
	}, name)
	ext := path.Ext(name)
	base := strings.Trim(strings.TrimSuffix(name, ext), " .")
	ext = strings.TrimRight(ext, " .")
	if most := 200 - len(ext); most > 0 && len(base) > most { // room for a number
		base = strings.TrimRight(strings.ToValidUTF8(base[:most], ""), " .")
	}
	return cmpOr(base, "file") + ext
}

// FileInfo says what a file of the vault is.
type FileInfo struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"` // bytes
	Modified time.Time `json:"modified"`
	MIME     string    `json:"mime,omitempty"` // of a picture that a page can show; "" for all else
}

// Peek says what a file is, by its content, and returns its bytes from offset on,
// at most n.
func (v *Vault) Peek(name string, offset, n int64) (FileInfo, []byte, error) {
	p, err := clean(name)
	if err != nil {
		return FileInfo{}, nil, err
	}
	root, err := v.root()
	if err != nil {
		return FileInfo{}, nil, err
	}
	defer root.Close()
	disk, _ := onDisk(root, p)
	info, err := root.Stat(disk) // first: to open a pipe waits for its other end
	switch {
	case err != nil:
		return FileInfo{}, nil, errRead(p, err)
	case info.IsDir():
		return FileInfo{}, nil, errIsFolder(p)
	case !info.Mode().IsRegular():
		return FileInfo{}, nil, errRead(p, errors.New("it is a device, a pipe or a socket"))
	}
	f, err := root.Open(disk)
	if err != nil {
		return FileInfo{}, nil, errRead(p, err)
	}
	defer f.Close()
	out, err := about(p, f)
	if err != nil || offset < 0 || n <= 0 {
		return out, nil, err
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, offset, n))
	if err != nil {
		return out, nil, errRead(p, err)
	}
	return out, raw, nil
}

func about(p string, f fs.File) (FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return FileInfo{}, errRead(p, err)
	}
	head := make([]byte, 1024)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return FileInfo{}, errRead(p, err)
	}
	return FileInfo{Path: p, Size: info.Size(), Modified: info.ModTime(), MIME: picture(head[:n])}, nil
}

// picture is the kind of a picture that a page can show, by its first bytes.
func picture(head []byte) string {
	mime := http.DetectContentType(head)
	switch text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))); {
	case slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}, mime) && !sys.PlainText(head):
		return mime
	case len(head) >= 12 && string(head[4:8]) == "ftyp" && (string(head[8:12]) == "avif" || string(head[8:12]) == "avis"):
		return "image/avif"
	case bytes.HasPrefix(text, []byte("<svg")), (bytes.HasPrefix(text, []byte("<?xml")) || bytes.HasPrefix(text, []byte("<!"))) && bytes.Contains(text, []byte("<svg")):
		return "image/svg+xml"
	}
	return ""
}

func errEmptyFile(name string) error {
	return sys.Errorf(sys.CodeInvalid, "%s is empty. Nothing was added.", name).
		WithHint("Look at the file in the program that made it.")
}

// ErrAttachLarge says that a file is larger than one of the vault may be.
func ErrAttachLarge(name string) error {
	return sys.Errorf(sys.CodeTooLarge, "%s has more than %d MB. Nothing was added.", name, maxFile/mega).
		WithHint("Put a smaller file here, and keep the large one elsewhere.")
}
