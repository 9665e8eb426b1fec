package kernel

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/zeebo/blake3"

	"oxios/kernel/sys"
)

// A backup is one file: a tar archive, compressed by gzip, which any computer
// can open. Its entries are manifest.json, then oxios.db, the database as one
// file without a log, then files/PATH for everything else in the home that was
// taken along. The manifest names each of them with its size and its hash, in
// this order, so that a byte that changed, a part that is missing and a part
// that was added are all found before anything is done with the content.

// backupFormat is the format that this Oxios writes. One that reads an older
// format as well keeps a case for it in unpack.
const backupFormat = 1

const (
	manifestName = "manifest.json"
	databaseName = "oxios.db"
	filesPrefix  = "files/"

	maxManifest = 64 << 20
)

// manifest is the first entry of a backup.
type manifest struct {
	Format   int              `json:"format"`
	Oxios    string           `json:"oxios"` // the version that wrote it
	MadeAt   time.Time        `json:"made_at"`
	Node     string           `json:"node"`     // of the home that it was made from
	Database int              `json:"database"` // the version of the database
	Rows     map[string]int64 `json:"rows"`     // of each table
	Audit    AuditReport      `json:"audit"`    // the chain, as it was verified in the copy
	Keys     []BackupKey      `json:"keys"`     // which were left out, as every key is
	Emptied  []string         `json:"emptied"`  // config.toml, or names of providers: what is secret in them is not in the backup
	Skipped  []string         `json:"skipped"`  // links and the like in the home
	Entries  []packed         `json:"entries"`  // what follows, in order
}

// packed is an entry of a backup.
type packed struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // bytes
	Blake3 string `json:"blake3"` // of the content, in hex
	Mode   uint32 `json:"mode"`   // 0600, or 0700 for what can be run

	from string // where the content lies
}

// gzipHead is how every backup begins. The bytes of gzip's header are covered
// by none of its checksums, so they are compared.
var gzipHead = [10]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff}

// pack writes a backup.
func pack(ctx context.Context, w io.Writer, m manifest) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	buffered := bufio.NewWriterSize(w, 1<<20)
	zip, err := gzip.NewWriterLevel(buffered, gzip.BestSpeed)
	if err != nil {
		return err
	}
	t := tar.NewWriter(zip)
	head := tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(raw)), ModTime: m.MadeAt, Format: tar.FormatPAX}
	if err := t.WriteHeader(&head); err != nil {
		return err
	}
	if _, err := t.Write(raw); err != nil {
		return err
	}
	for _, e := range m.Entries {
		if err := packOne(ctx, t, e, m.MadeAt); err != nil {
			return fmt.Errorf("pack %s: %w", e.Name, err)
		}
	}
	return errors.Join(t.Close(), zip.Close(), buffered.Flush())
}

func packOne(ctx context.Context, t *tar.Writer, e packed, at time.Time) error {
	f, err := os.Open(e.from)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.WriteHeader(&tar.Header{Name: e.Name, Mode: int64(e.Mode), Size: e.Size, ModTime: at, Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.Copy(t, canceling{ctx, f})
	return err
}

// canceling is a reader that ends with its context.
type canceling struct {
	ctx context.Context
	r   io.Reader
}

func (c canceling) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// fingerprint returns the size and the hash of a file.
func fingerprint(ctx context.Context, path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := blake3.New()
	n, err := io.Copy(h, canceling{ctx, f})
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// unpack reads a whole backup and checks all of it. Its contents lie below dir
// afterwards, numbered in the order of the manifest: no name in the file is
// used as a path.
func unpack(ctx context.Context, path, dir string) (manifest, error) {
	f, err := openBackup(path)
	if err != nil {
		return manifest{}, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(canceling{ctx, f}, 1<<20)
	head, err := in.Peek(len(gzipHead))
	if err != nil || [10]byte(head) != gzipHead {
		return manifest{}, notBackup(path, err)
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return manifest{}, notBackup(path, err)
	}
	zip.Multistream(false)
	t := tar.NewReader(zip)
	m, err := readManifest(t, path)
	if err != nil {
		return manifest{}, err
	}
	if err := roomFor(dir, m); err != nil {
		return manifest{}, err
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		e.from = filepath.Join(dir, strconv.Itoa(i))
		if err := unpackOne(t, *e, path); err != nil {
			return manifest{}, err
		}
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return manifest{}, damagedBackup(path, sys.Say("there is more in it than it should hold"), err)
	}
	// Only at its end does gzip compare its checksum, and nothing may follow.
	if n, err := io.Copy(io.Discard, zip); err != nil || n > 0 {
		return manifest{}, damagedBackup(path, sys.Say("there is more in it than it should hold"), err)
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return manifest{}, damagedBackup(path, sys.Say("there is more in it than it should hold"), err)
	}
	return m, nil
}

func openBackup(path string) (*os.File, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, sys.Errorf(sys.CodeNotFound, "There is no file %s.", path).WithHint("Look where the backup lies, and name it with its whole path.")
	case err != nil:
		return nil, sys.Errorf(sys.CodeUnavailable, "The backup %s cannot be read: %w. Nothing was changed.", path, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, notBackup(path, err)
	}
	return f, nil
}

// readManifest reads the first entry. A format that is newer is told before
// anything else of it is looked at.
func readManifest(t *tar.Reader, path string) (manifest, error) {
	var m manifest
	h, err := t.Next()
	if err != nil {
		return m, damagedBackup(path, sys.Say("its checksums do not fit"), err)
	}
	if h.Name != manifestName || h.Size > maxManifest {
		return m, notBackup(path, nil)
	}
	raw, err := io.ReadAll(t)
	if err != nil {
		return m, damagedBackup(path, sys.Say("its checksums do not fit"), err)
	}
	var format struct {
		Format int    `json:"format"`
		Oxios  string `json:"oxios"`
	}
	if err := json.Unmarshal(raw, &format); err != nil || format.Format < 1 {
		return m, damagedBackup(path, sys.Say("its manifest cannot be read"), err)
	}
	if format.Format > backupFormat {
		return m, newerBackup(path, format.Oxios)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, damagedBackup(path, sys.Say("its manifest cannot be read"), err)
	}
	if len(m.Entries) == 0 || m.Entries[0].Name != databaseName {
		return m, damagedBackup(path, sys.Say("it holds no database"), nil)
	}
	for _, e := range m.Entries[1:] {
		name, ok := strings.CutPrefix(e.Name, filesPrefix)
		if !ok || !takenAlong(name) || e.Size < 0 {
			return m, damagedBackup(path, sys.Say("it names %q, which is no file of a home", e.Name), nil)
		}
	}
	return m, nil
}

func unpackOne(t *tar.Reader, e packed, path string) error {
	h, err := t.Next()
	if err != nil {
		return damagedBackup(path, sys.Say("%s is missing", e.Name), err)
	}
	if h.Name != e.Name || h.Size != e.Size || h.Typeflag != tar.TypeReg {
		return damagedBackup(path, sys.Say("%q stands where %q belongs", h.Name, e.Name), nil)
	}
	out, err := os.OpenFile(e.from, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return notWritten(err)
	}
	hash := blake3.New()
	_, err = io.Copy(written{out}, io.TeeReader(t, hash))
	if err = errors.Join(err, out.Close()); err != nil {
		if w, ok := errors.AsType[writeError](err); ok {
			return notWritten(w.err)
		}
		return damagedBackup(path, sys.Say("its checksums do not fit"), err)
	}
	if hex.EncodeToString(hash.Sum(nil)) != e.Blake3 {
		return damagedBackup(path, sys.Say("%s is not what was saved", e.Name), nil)
	}
	return nil
}

// written marks what goes wrong in writing, so that a full disk is not taken
// for a damaged backup.
type written struct{ w io.Writer }

type writeError struct{ err error }

func (e writeError) Error() string { return e.err.Error() }

func (w written) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		err = writeError{err}
	}
	return n, err
}

// roomFor fails when the disk of dir has no room for what the backup holds.
func roomFor(dir string, m manifest) error {
	var need int64
	for _, e := range m.Entries {
		need += e.Size
	}
	free, err := freeSpace(dir)
	if err != nil || need < free {
		return nil // where it cannot be asked, writing will tell
	}
	return sys.Errorf(sys.CodeDiskFull, "Unpacking the backup takes %s, and %s are free. Nothing was changed.", sizeText(need), sizeText(free)).
		WithHint("Free some space and try again.")
}

// notWritten explains a failure to write on this machine.
func notWritten(err error) error {
	var coded *sys.Error
	switch {
	case errors.As(err, &coded), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return sys.Errorf(sys.CodeDiskFull, "The disk is full. Nothing was changed: %w.", err).WithHint("Free some space and try again.")
	}
	return sys.Errorf(sys.CodeUnavailable, "It could not be written: %w. Nothing was changed.", err).WithHint("Check that the folder is there and that you may write in it.")
}

// damagedBackup says what is wrong with a backup. A read that was stopped is no
// damage, and an end in the middle is told as such.
func damagedBackup(path string, what sys.Words, cause error) error {
	switch {
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return cause
	case errors.Is(cause, io.ErrUnexpectedEOF), errors.Is(cause, io.EOF):
		return sys.Errorf(sys.CodeInvalid, "The backup %s is cut off: a part of it is missing. Nothing was changed.", path).
			WithHint("Copy it again from where it was made, or use another backup.").WithCause(cause)
	}
	return sys.Errorf(sys.CodeInvalid, "The backup %s is damaged: %s. Nothing was changed.", path, what).
		WithHint("Copy it again from where it was made, or use another backup.").WithCause(cause)
}

func newerBackup(path, version string) error {
	return sys.Errorf(sys.CodeNewerDatabase, "The backup %s was made by a newer Oxios (%s). Nothing was changed.", path, cmp.Or(version, "unknown")).
		WithHint("Update Oxios and try again.")
}

func notBackup(path string, why error) error {
	if errors.Is(why, context.Canceled) || errors.Is(why, context.DeadlineExceeded) {
		return why
	}
	return sys.Errorf(sys.CodeInvalid, "%s is no backup of Oxios. Nothing was changed.", path).
		WithHint("A backup is a file that `oxios backup` wrote.").WithCause(why)
}
