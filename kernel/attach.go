package kernel

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"oxios/kernel/document"
	"oxios/kernel/llm"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Attachment and its kinds live in store.
type (
	Attachment     = store.Attachment
	AttachmentKind = store.AttachmentKind
)

// AttachInput is something to attach: one of Path, Note, Text, Size and Resource says what.
type AttachInput struct {
	Name string `json:"name,omitempty"` // as people call it; the path's last part by default
	Path string `json:"path,omitempty"` // a file or folder of this machine, absolute or below ~
	Note string `json:"note,omitempty"` // a note of the vault, by its path
	Text string `json:"text,omitempty"` // what was pasted
	Size int64  `json:"size,omitempty"` // bytes of a file that follows in parts, see [StateAPI.AttachPart]

	Resource *MCPRead `json:"resource,omitempty"` // of an MCP server; it is read when the message is sent
}

// AttachmentContent is what models get of an attachment.
type AttachmentContent struct {
	Text string `json:"text"`
	Data []byte `json:"data,omitempty"` // a picture
	MIME string `json:"mime,omitempty"`
}

// The bounds of attaching, beside those of package document.
const (
	maxUploads    = 32       // files that are on their way at once
	maxPart       = 4 << 20  // bytes of one part
	maxAttached   = 20       // attachments of one message
	maxPictures   = 20 << 20 // bytes of the pictures of one message, as models get them
	keepUnsent    = 7 * 24 * time.Hour
	uploadTimeout = 15 * time.Minute // without a part
)

// attachments is what the kernel knows of attaching: files on their way, and
// the content, which lies in a folder of the home under its hash.
type attachments struct {
	dir     string
	readers chan struct{} // a place for each reader that runs

	// saving is held while content is written of which no row speaks yet, and
	// alone by whoever removes content of which no row speaks.
	saving sync.RWMutex

	mu      sync.Mutex
	uploads map[string]*upload
}

// upload is a file of which parts are missing.
type upload struct {
	name string
	size int64
	last time.Time // when the last part came

	mu  sync.Mutex // held while a part is taken
	has int64
}

func newAttachments(home string) *attachments {
	return &attachments{dir: filepath.Join(home, "attachments"), readers: make(chan struct{}, 2), uploads: map[string]*upload{}}
}

// Attach takes something that goes out with a later message, by [Submit]. What
// no message is sent with is removed after 7 days. A file is known by its
// content: pictures are made to fit models, PDF and Word files become text, text
// is taken in any encoding that files are read in; of folders and of everything
// else on this machine the agent learns the path. A file that follows in parts
// has only an id and a name before its last part.
func (a *StateAPI) Attach(ctx context.Context, in AttachInput) (Attachment, error) {
	what := "attachment:" + cleanName(in.Name)
	if in.Path != "" {
		what = "file:" + expandHome(in.Path)
	} else if in.Note != "" {
		what = "note:" + cleanVaultName(in.Note)
	}
	if in.Resource != nil {
		what = "mcp:" + sys.Shorten(in.Resource.Server+"/"+in.Resource.URI, 200)
	}
	return guard(ctx, a.caller, action{call: "state.attach", resource: what, paths: namedPaths(in.Path)}, func(ctx context.Context) (Attachment, error) {
		switch {
		case in.Resource != nil:
			if in.Note+in.Path+in.Text != "" || in.Size != 0 {
				break
			}
			return a.k.attachResource(ctx, *in.Resource, in.Name)
		case in.Note != "":
			if in.Path != "" || in.Text != "" || in.Size != 0 {
				break
			}
			return a.k.attachNote(ctx, in.Note)
		case in.Path != "" && in.Text == "" && in.Size == 0:
			return a.attachPath(ctx, in)
		case in.Path == "" && in.Text != "" && in.Size == 0:
			return a.k.attachPaste(ctx, in)
		case in.Path == "" && in.Text == "":
			return a.k.beginUpload(in)
		}
		return Attachment{}, sys.Errorf(sys.CodeInvalid, "An attachment is a path, a note, a text, a file of a size or a resource: one of them.")
	})
}

// AttachPart takes a part of a file, at most 4 MB, that begins at offset. Parts
// come in order. The last one is answered when the file has been read.
func (a *StateAPI) AttachPart(ctx context.Context, id string, offset int64, data []byte) (Attachment, error) {
	return guard(ctx, a.caller, action{call: "state.attachPart", resource: "attachment:" + id}, func(ctx context.Context) (Attachment, error) {
		return a.k.takePart(ctx, id, offset, data)
	})
}

// Detach removes an attachment that no message was sent with, or stops one that
// is on its way.
func (a *StateAPI) Detach(ctx context.Context, id string) error {
	_, err := guard(ctx, a.caller, action{call: "state.detach", resource: "attachment:" + id}, func(ctx context.Context) (struct{}, error) {
		if a.k.attached.drop(id) {
			return struct{}{}, nil
		}
		err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.RemoveAttachment(tx, id) })
		if err == nil {
			a.k.sweepAttachments(ctx)
		}
		return struct{}{}, err
	})
	return err
}

// Attachments returns those of ids that still exist, in that order.
func (a *StateAPI) Attachments(ctx context.Context, ids []string) ([]Attachment, error) {
	return guard(ctx, a.caller, action{call: "state.attachments", resource: "attachments"}, func(ctx context.Context) ([]Attachment, error) {
		return a.k.store.Attachments(ctx, ids)
	})
}

// AttachmentContent returns what models get of an attachment. One that is a
// path alone has no content.
func (a *StateAPI) AttachmentContent(ctx context.Context, id string) (AttachmentContent, error) {
	return guard(ctx, a.caller, action{call: "state.attachmentContent", resource: "attachment:" + id}, func(ctx context.Context) (AttachmentContent, error) {
		list, err := a.k.store.Attachments(ctx, []string{id})
		if err != nil {
			return AttachmentContent{}, err
		}
		if len(list) == 0 {
			return AttachmentContent{}, errNoAttachment()
		}
		data, err := a.k.attached.content(list[0])
		if list[0].Kind == store.AttachImage {
			return AttachmentContent{Data: data, MIME: list[0].MIME}, err
		}
		return AttachmentContent{Text: string(data)}, err
	})
}

func errNoAttachment() error {
	return sys.Errorf(sys.CodeNotFound, "This attachment is not there any more.").WithHint("Attach it again.")
}

// attachPath takes a file or a folder of this machine.
func (a *StateAPI) attachPath(ctx context.Context, in AttachInput) (Attachment, error) {
	path := expandHome(in.Path)
	if !filepath.IsAbs(path) {
		return Attachment{}, sys.Errorf(sys.CodeInvalid, "%s is not an absolute path. Nothing was attached.", in.Path)
	}
	real := realPath(path)
	if v := a.judge(path, real); v.Read >= security.TierRefuse {
		return Attachment{}, sys.Errorf(sys.CodeRefused, "%s was not attached: agents never read it, because that %s.", shortenHome(path), sys.Words{EN: v.Reason, KO: v.ReasonKO}).
			WithHint("Copy what is needed into the message yourself.")
	}
	info, err := os.Stat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return Attachment{}, sys.Errorf(sys.CodeNotFound, "There is no %s. Nothing was attached.", shortenHome(path))
	}
	if err != nil {
		return Attachment{}, sys.Errorf(sys.CodeNotFound, "%s cannot be opened: %w. It was not attached.", shortenHome(path), err)
	}
	name := cleanName(cmp.Or(in.Name, filepath.Base(path)))
	if info.IsDir() {
		return a.k.saveAttachment(ctx, Attachment{Kind: store.AttachFolder, Name: name, Path: real}, nil)
	}
	root, err := security.OpenRoot(filepath.Dir(real))
	if err != nil {
		return Attachment{}, err
	}
	defer root.Close()
	f, info, err := root.OpenRegular(filepath.Base(real))
	if err != nil {
		return Attachment{}, err
	}
	defer f.Close()
	return a.k.attachFile(ctx, f, info.Size(), name, real)
}

// attachNote takes a note of the vault as it is now.
func (k *Kernel) attachNote(ctx context.Context, name string) (Attachment, error) {
	n, err := k.vault().Read(ctx, name)
	if err != nil {
		return Attachment{}, err
	}
	title := cleanName(strings.TrimSuffix(filepath.Base(n.Path), filepath.Ext(n.Path)))
	if len(n.Text) > document.MaxText {
		return Attachment{}, sys.Errorf(sys.CodeTooLarge, "The note %s has %s; %s is the most that goes with a message. Nothing was attached.", title, sizeText(int64(len(n.Text))), sizeText(document.MaxText)).
			WithHint("Name it in your message: the agent reads the parts that it needs.")
	}
	a := Attachment{Kind: store.AttachText, Name: title, Vault: n.Path, Size: int64(len(n.Text)), Tokens: llm.Tokens(n.Text)}
	return k.saveAttachment(ctx, a, []byte(n.Text))
}

// attachPaste takes text as it was pasted.
func (k *Kernel) attachPaste(ctx context.Context, in AttachInput) (Attachment, error) {
	if len(in.Text) > document.MaxText {
		return Attachment{}, sys.Errorf(sys.CodeTooLarge, "The pasted text has %s; %s is the most that goes with a message. Nothing was attached.", sizeText(int64(len(in.Text))), sizeText(document.MaxText)).
			WithHint("Save it as a file, and attach that: the agent reads the parts that it needs.")
	}
	a := Attachment{Kind: store.AttachPaste, Name: cleanName(cmp.Or(in.Name, in.Text)), Size: int64(len(in.Text)), Tokens: llm.Tokens(in.Text)}
	return k.saveAttachment(ctx, a, []byte(in.Text))
}

// beginUpload makes a place for a file that comes in parts.
func (k *Kernel) beginUpload(in AttachInput) (Attachment, error) {
	name := cleanName(in.Name)
	switch {
	case in.Size <= 0:
		return Attachment{}, errEmpty(name)
	case in.Size > document.MaxFile:
		return Attachment{}, errTooBig(name, in.Size)
	}
	id, err := k.attached.begin(name, in.Size)
	return Attachment{ID: id, Name: name, Size: in.Size}, err
}

// begin makes a place for a file that comes in parts.
func (a *attachments) begin(name string, size int64) (id string, err error) {
	id = sys.NewID()
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for old, u := range a.uploads {
		if now.Sub(u.last) > uploadTimeout {
			a.forget(old)
		}
	}
	if len(a.uploads) >= maxUploads {
		return "", sys.Errorf(sys.CodeBusy, "%d files are on their way already. %s was not attached.", maxUploads, name).WithHint("Wait for them, and attach it again.")
	}
	a.uploads[id] = &upload{name: name, size: size, last: now}
	return id, nil
}

func errEmpty(name string) error {
	return sys.Errorf(sys.CodeInvalid, "%s is empty. It was not attached.", name)
}

func errParts(name string) error {
	return sys.Errorf(sys.CodeConflict, "A part of %s did not fit to what came before. It was not attached.", name).WithHint("Attach it again.")
}

func errTooBig(name string, size int64) error {
	return sys.Errorf(sys.CodeTooLarge, "%s has %s; %s is the most that can be attached. It was not attached.", name, sizeText(size), sizeText(document.MaxFile)).
		WithHint("Put it into the folder and name it in your message: the agent reads what it needs.")
}

func (k *Kernel) takePart(ctx context.Context, id string, offset int64, data []byte) (Attachment, error) {
	u, whole, err := k.attached.take(id, offset, data)
	if err != nil {
		return Attachment{}, err
	}
	if !whole {
		return Attachment{ID: id, Name: u.name, Size: u.size}, nil
	}
	defer k.attached.drop(id)
	f, err := os.Open(k.attached.uploadFile(id))
	if err != nil {
		return Attachment{}, err
	}
	defer f.Close()
	return k.attachFile(ctx, f, u.size, u.name, "")
}

// take keeps a part, and reports whether it was the last one: whoever reads the
// file then drops it.
func (a *attachments) take(id string, offset int64, data []byte) (u *upload, whole bool, err error) {
	a.mu.Lock()
	u = a.uploads[id]
	if u != nil {
		u.last = time.Now()
	}
	a.mu.Unlock()
	if u == nil {
		return nil, false, errNoAttachment()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if offset != u.has || len(data) > maxPart || offset+int64(len(data)) > u.size {
		return nil, false, errParts(u.name)
	}
	if err := appendTo(a.uploadFile(id), data); err != nil {
		a.drop(id)
		return nil, false, err
	}
	u.has += int64(len(data))
	return u, u.has == u.size, nil
}

// whole returns a file that came in parts, and drops it.
func (a *attachments) whole(id string) ([]byte, error) {
	a.mu.Lock()
	u := a.uploads[id]
	a.mu.Unlock()
	if u == nil {
		return nil, errNoAttachment()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.has != u.size {
		return nil, errParts(u.name)
	}
	defer a.drop(id)
	return os.ReadFile(a.uploadFile(id))
}

func appendTo(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return folderError(filepath.Dir(file), err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return diskError(err)
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return diskError(err)
}

func (a *attachments) uploadFile(id string) string { return filepath.Join(a.dir, "incoming", id) }

// drop forgets a file on its way, and reports whether there was one.
func (a *attachments) drop(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forget(id)
}

func (a *attachments) forget(id string) bool {
	_, ok := a.uploads[id]
	if ok {
		delete(a.uploads, id)
		_ = os.Remove(a.uploadFile(id)) // the sweep takes what is left
	}
	return ok
}

// cleanName makes a name that fits on a chip: one line, no folder in front, at
// most 120 characters.
func cleanName(name string) string {
	name = strings.TrimRight(name, `/\`)
	if i := strings.LastIndexAny(name, `/\`); i >= 0 && !strings.ContainsAny(name, "\n ") {
		name = name[i+1:]
	}
	name = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, ""))), " ")
	if r := []rune(name); len(r) > 120 {
		name = string(r[:119]) + "…"
	}
	return cmp.Or(name, "file")
}
