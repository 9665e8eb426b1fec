package kernel

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/zeebo/blake3"

	"oxios/kernel/document"
	"oxios/kernel/llm"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// attachFile takes a file by its content. path is where it lies on this
// machine, "" for one that was sent here: that one must be of a kind that models
// read, as its path says nothing to an agent.
func (k *Kernel) attachFile(ctx context.Context, f *os.File, size int64, name, path string) (Attachment, error) {
	reference := func(note sys.Words) (Attachment, error) {
		return k.saveAttachment(ctx, Attachment{Kind: store.AttachFile, Name: name, Path: path, Size: size, Note: note.EN, NoteKO: note.KO}, nil)
	}
	switch {
	case size > document.MaxFile && path == "":
		return Attachment{}, errTooBig(name, size)
	case size > document.MaxFile:
		return reference(sys.Say("It is too large to be sent: the agent learns where it lies, and reads the parts that it needs."))
	case size == 0 && path == "":
		return Attachment{}, errEmpty(name)
	}
	kind, err := document.Sniff(f, size)
	if err != nil {
		return Attachment{}, fmt.Errorf("read %s: %w", name, err)
	}
	if kind != document.Other {
		return k.attachDocument(ctx, f, size, name, placeOf(path))
	}
	raw, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, 0, size), 2*document.MaxText)) // UTF-16 takes two bytes for one
	if err != nil {
		return Attachment{}, fmt.Errorf("read %s: %w", name, err)
	}
	whole := int64(len(raw)) == size
	if line := bytes.LastIndexByte(raw, '\n'); !whole && line >= 0 {
		raw = raw[:line] // not inside a character
	}
	text, _, err := decodeText(raw)
	switch {
	case err == nil && whole && len(text) <= document.MaxText && size > 0:
		a := Attachment{Kind: store.AttachText, Name: name, Place: placeOf(path), Size: size, Tokens: llm.Tokens(text)}
		return k.saveAttachment(ctx, a, []byte(text))
	case err == nil && path != "":
		return reference(sys.Say("It is too long to be sent: the agent learns where it lies, and reads the parts that it needs."))
	case err == nil:
		return Attachment{}, sys.Errorf(sys.CodeTooLarge, "%s has more than %s of text. It was not attached.", name, sizeText(document.MaxText)).
			WithHint("Put it into the folder and name it in your message: the agent reads what it needs.")
	case path != "":
		return reference(sys.Say("Models do not read it as it is: the agent learns where it lies."))
	}
	what, hint := document.Describe(raw)
	if hint.EN == "" {
		hint = sys.Say("Put it into the folder and name it in your message: the agent uses programs that know it.")
	}
	return Attachment{}, sys.Errorf(sys.CodeInvalid, "%s is %s. It was not attached.", name, what).WithHint("%s", hint)
}

// placeOf is the folder of a file; "" for one that was sent here.
func placeOf(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Dir(path)
}

// attachDocument takes a file that a reader makes fit for models.
func (k *Kernel) attachDocument(ctx context.Context, f io.ReaderAt, size int64, name, place string) (Attachment, error) {
	r, err := k.readDocument(ctx, io.NewSectionReader(f, 0, size), name)
	if err != nil {
		return Attachment{}, err
	}
	a := Attachment{Name: name, Place: place, Size: size, MIME: r.MIME, Width: r.Width, Height: r.Height, Pages: r.Pages, Note: r.Note.EN, NoteKO: r.Note.KO}
	switch r.Kind {
	case document.Image:
		a.Kind, a.Tokens = store.AttachImage, (r.Width*r.Height+749)/750
	case document.PDF:
		a.Kind = store.AttachPDF
	default:
		a.Kind = store.AttachWord
	}
	if a.Kind != store.AttachImage {
		a.Tokens = llm.Tokens(string(r.Content))
	}
	return k.saveAttachment(ctx, a, r.Content)
}

// readDocument has a reader process look at a copy of a file, in a folder of its own:
// the person may change theirs meanwhile, and the reader sees nothing else.
func (k *Kernel) readDocument(ctx context.Context, f io.Reader, name string) (document.Result, error) {
	if k.opts.Helper == "" {
		return document.Result{}, sys.Errorf(sys.CodeUnavailable, "%s cannot be read, because a part of Oxios is missing. It was not attached.", name).
			WithHint("The program `oxios` must lie beside `oxios-desktop`: reinstall Oxios.")
	}
	select {
	case k.attached.readers <- struct{}{}:
		defer func() { <-k.attached.readers }()
	case <-ctx.Done():
		return document.Result{}, context.Cause(ctx)
	}
	incoming := filepath.Join(k.attached.dir, "incoming")
	cache := filepath.Join(k.opts.Home, "run", "reader") // not in cache/, where the commands of agents write
	for _, d := range []string{incoming, cache} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return document.Result{}, folderError(d, err)
		}
	}
	dir, err := os.MkdirTemp(incoming, "read-")
	if err != nil {
		return document.Result{}, diskError(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "file")
	if err := copyTo(file, f); err != nil {
		return document.Result{}, diskError(err)
	}
	out, err := k.sandbox.Run(ctx, sandbox.Spec{
		Argv: document.Command(k.opts.Helper, file, name, cache), Dir: dir, Writable: []string{cache}, Level: k.isolation(), Tag: "reader", Cache: sandbox.Cache{None: true},
		Timeout: document.MaxTime, MaxMemory: document.MaxMemory, MaxOutput: document.MaxOutput,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "GOTRACEBACK=single"},
	})
	switch {
	case err != nil:
		return document.Result{}, err
	case out.TimedOut:
		return document.Result{}, document.TooSlow(name, document.MaxTime)
	case out.OutOfMemory:
		return document.Result{}, sys.Errorf(sys.CodeTooLarge, "%s takes more than %s of memory to be read. It was not attached.", name, sizeText(document.MaxMemory)).
			WithHint("Make it smaller, and attach that.")
	}
	r, err := document.Parse(out.Stdout, name)
	if sys.CodeOf(err) == sys.CodeInternal || out.ExitCode != 0 {
		k.log.WarnContext(ctx, "A reader failed", "name", name, "exit", out.ExitCode, "signal", out.Signal, "error", err, "said", sys.Shorten(string(out.Stderr), 2000))
	}
	return r, err
}

func copyTo(file string, r io.Reader) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// diskError tells a full disk from other errors of writing.
func diskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return sys.Errorf(sys.CodeDiskFull, "The disk is full. Nothing was attached.").WithHint("Free some space and try again.").WithCause(err)
	}
	return err
}

// saveAttachment writes the content and then the row that speaks of it.
func (k *Kernel) saveAttachment(ctx context.Context, a Attachment, content []byte) (Attachment, error) {
	a.ID = sys.NewID()
	k.attached.saving.RLock()
	defer k.attached.saving.RUnlock()
	if content != nil {
		if err := k.attached.keep(&a, content); err != nil {
			return Attachment{}, err
		}
	}
	err := k.store.Write(ctx, func(tx *store.Tx) error { return k.store.AddAttachment(tx, a) })
	return a, err
}

// at is where content lies below the folder.
func at(hash string) string { return hash[:2] + "/" + hash }

// keep puts the content of an attachment into its place, and says in it what that is.
func (a *attachments) keep(of *Attachment, content []byte) error {
	sum := blake3.Sum256(content)
	of.Hash, of.Stored = hex.EncodeToString(sum[:]), int64(len(content))
	return a.put(of.Hash, content)
}

func (a *attachments) put(hash string, content []byte) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return folderError(a.dir, err)
	}
	root, err := security.OpenRoot(a.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Stat(at(hash)); err == nil && info.Size() == int64(len(content)) {
		return nil
	}
	if err := root.MkdirAll(hash[:2], 0o700); err != nil {
		return err
	}
	return root.WriteFileAtomic(at(hash), content, 0o600)
}

// content reads what models get of an attachment, and checks that it is what
// was saved.
func (a *attachments) content(of Attachment) ([]byte, error) {
	if of.Hash == "" && of.Kind == store.AttachResource {
		return nil, sys.Errorf(sys.CodeConflict, "%s was not read yet: it is read when the message is sent.", of.Name)
	}
	if of.Hash == "" {
		return nil, sys.Errorf(sys.CodeInvalid, "Of %s only the place is attached: %s.", of.Name, of.Path)
	}
	data, err := os.ReadFile(filepath.Join(a.dir, filepath.FromSlash(at(of.Hash))))
	if err == nil {
		if sum := blake3.Sum256(data); hex.EncodeToString(sum[:]) != of.Hash {
			err = errors.New("its content changed on the disk")
		}
	}
	if err != nil {
		return nil, sys.Errorf(sys.CodeNotFound, "The content of %s is not there any more.", of.Name).WithHint("Attach it again.").WithCause(err)
	}
	return data, nil
}

// tendAttachments removes, every hour, what was attached and never sent, and
// content of which no row speaks. It begins after a minute: a start has better
// things to do.
func (k *Kernel) tendAttachments(ctx context.Context) error {
	for wait := time.Minute; ; wait = time.Hour {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		k.collectAttachments(ctx)
	}
}

func (k *Kernel) collectAttachments(ctx context.Context) {
	n, err := k.store.DropAttachments(ctx, k.clock.Now().Add(-keepUnsent))
	if err != nil {
		k.log.WarnContext(ctx, "Could not remove unsent attachments", "error", err)
		return
	}
	if n > 0 {
		k.log.InfoContext(ctx, "Unsent attachments removed", "count", n)
	}
	k.sweepAttachments(ctx)
}

// sweepAttachments removes content of which no row speaks, and what is left of
// files that were on their way.
func (k *Kernel) sweepAttachments(ctx context.Context) {
	k.attached.saving.Lock()
	defer k.attached.saving.Unlock()
	used, err := k.store.AttachmentHashes(ctx)
	if err == nil {
		err = errors.Join(k.attached.removeUnused(used), k.attached.removeStale())
	}
	if err != nil && ctx.Err() == nil {
		k.log.WarnContext(ctx, "Could not remove unused attachments", "error", err)
	}
}

func (a *attachments) removeUnused(used map[string]bool) error {
	files, err := filepath.Glob(filepath.Join(a.dir, "??", "*"))
	for _, f := range files {
		if !used[filepath.Base(f)] {
			err = errors.Join(err, os.Remove(f))
		}
	}
	return err
}

// removeStale removes what a process that ended left of uploads and copies.
func (a *attachments) removeStale() error {
	dir := filepath.Join(a.dir, "incoming")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if info, ierr := e.Info(); ierr == nil && time.Since(info.ModTime()) > uploadTimeout {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
