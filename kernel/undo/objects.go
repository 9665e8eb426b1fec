package undo

import (
	"bytes"
	"compress/zlib"
	"crypto"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	githash "github.com/go-git/go-git/v5/plumbing/hash"
)

// Objects is a bare git repository into which content is written directly. It is
// safe for concurrent use. Nothing is read or made before the first use.
type Objects struct {
	dir string

	// Clearing takes content away that nobody names: whoever has put some holds
	// this for reading until its id is written down.
	Clearing sync.RWMutex

	mu    sync.Mutex
	made  bool
	packs []*pack
	known map[string]place // what the packs hold
	dirs  map[string]bool  // the folders of loose objects that are there
}

// At returns the store in dir.
func At(dir string) *Objects { return &Objects{dir: dir} }

const (
	kindBlob   = "blob"
	kindTree   = "tree"
	kindCommit = "commit"
)

// newHash is that of git, which notices the known ways to make two contents of
// one id.
func newHash(kind string, size int64) hash.Hash {
	h := githash.New(crypto.SHA1)
	fmt.Fprintf(h, "%s %d\x00", kind, size)
	return h
}

func idOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// ID is the id of some content.
func ID(content []byte) string {
	h := newHash(kindBlob, int64(len(content)))
	h.Write(content)
	return idOf(h)
}

// ready makes the repository if there is none, and reads what its packs hold.
// The caller holds the lock.
func (o *Objects) ready() error {
	if o.made {
		return nil
	}
	for _, d := range []string{"objects/pack", "objects/info", "refs/oxios"} {
		if err := os.MkdirAll(filepath.Join(o.dir, filepath.FromSlash(d)), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"HEAD":   "ref: refs/heads/none\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n\tpruneExpire = never\n",
	} {
		path := filepath.Join(o.dir, name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := o.writeDurable(path, []byte(text)); err != nil {
			return err
		}
	}
	left, err := os.ReadDir(o.dir)
	if err != nil {
		return err
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), tempName) {
			_ = os.Remove(filepath.Join(o.dir, e.Name()))
		}
	}
	o.known, o.dirs = map[string]place{}, map[string]bool{}
	if err := o.readPacks(); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(o.dir)); err != nil {
		return err
	}
	o.made = true
	return nil
}

// Put keeps content and returns its id. It is durable then. What is kept already
// is not written again.
func (o *Objects) Put(content []byte) (string, error) {
	return o.put(kindBlob, content)
}

func (o *Objects) put(kind string, content []byte) (string, error) {
	h := newHash(kind, int64(len(content)))
	h.Write(content)
	id := idOf(h)
	return id, o.write(id, kind, int64(len(content)), bytes.NewReader(content))
}

// PutFile keeps what can be read from r, size bytes, and checks that it is what
// id names.
func (o *Objects) PutFile(id string, size int64, r io.Reader) error {
	return o.write(id, kindBlob, size, r)
}

// write writes a loose object, whole and durable.
func (o *Objects) write(id, kind string, size int64, r io.Reader) error {
	o.mu.Lock()
	err := o.ready()
	o.mu.Unlock()
	if err != nil {
		return fmt.Errorf("open the undo store: %w", err)
	}
	if has, err := o.Has(id); has || err != nil {
		return err
	}
	folder := filepath.Join(o.dir, "objects", id[:2])
	if err := o.folder(folder); err != nil {
		return err
	}
	temp := filepath.Join(folder, "tmp_obj_"+rand.Text()[:12]) // a name that git knows and passes over
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }()
	z, err := zlib.NewWriterLevel(f, zlib.BestSpeed)
	if err != nil {
		return err
	}
	h := newHash(kind, size)
	_, err = fmt.Fprintf(z, "%s %d\x00", kind, size)
	if err == nil {
		var n int64
		n, err = io.Copy(io.MultiWriter(z, h), r)
		if err == nil && (n != size || idOf(h) != id) {
			err = errChanging
		}
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep content: %w", err)
	}
	if err := os.Rename(temp, o.loose(id)); err != nil {
		return err
	}
	return syncFolder(folder)
}

// errChanging says that a file was written to while it was read.
var errChanging = errors.New("it is being written to")

// folder makes a folder of loose objects.
func (o *Objects) folder(dir string) error {
	o.mu.Lock()
	there := o.dirs[dir]
	o.mu.Unlock()
	if there {
		return nil
	}
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = syncFolder(filepath.Dir(dir))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dirs[dir] = true
	return nil
}

func (o *Objects) loose(id string) string { return filepath.Join(o.dir, "objects", id[:2], id[2:]) }

// Has reports whether content is kept.
func (o *Objects) Has(id string) (bool, error) {
	if !validID(id) {
		return false, fmt.Errorf("%q is no id", id)
	}
	o.mu.Lock()
	err := o.ready()
	_, packed := o.known[id]
	o.mu.Unlock()
	if err != nil || packed {
		return packed, err
	}
	_, err = os.Lstat(o.loose(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func validID(id string) bool {
	return len(id) == 40 && !slices.ContainsFunc([]byte(id), func(c byte) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') })
}

// Open reads kept content. What is read is compared with its id at its end: damaged
// content gives an error instead of the end of the file.
func (o *Objects) Open(id string) (io.ReadCloser, error) {
	if has, err := o.Has(id); err != nil || !has {
		return nil, errors.Join(fmt.Errorf("the undo store does not have %s", id), err)
	}
	o.mu.Lock()
	at, packed := o.known[id]
	o.mu.Unlock()
	if packed {
		return at.open(id)
	}
	return o.openLoose(id)
}

func (o *Objects) openLoose(id string) (io.ReadCloser, error) {
	f, err := os.Open(o.loose(id))
	if err != nil {
		return nil, err
	}
	z, err := zlib.NewReader(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	var kind string
	var size int64
	head, err := readHead(z)
	if err == nil {
		_, err = fmt.Sscanf(head, "%s %d", &kind, &size)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read %s of the undo store: %w", id, err)
	}
	return &checked{r: io.LimitReader(z, size), h: newHash(kind, size), id: id, close: f.Close}, nil
}

// Read returns kept content as a whole.
func (o *Objects) Read(id string) ([]byte, error) {
	r, err := o.Open(id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// readLoose returns a commit or a tree.
func (o *Objects) readLoose(id string) ([]byte, error) {
	if !validID(id) {
		return nil, fmt.Errorf("%q is no id", id)
	}
	r, err := o.openLoose(id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// readHead reads up to the NUL behind the kind and the size.
func readHead(r io.Reader) (string, error) {
	var head []byte
	var b [1]byte
	for len(head) < 64 {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", err
		}
		if b[0] == 0 {
			return string(head), nil
		}
		head = append(head, b[0])
	}
	return "", errors.New("no object of git")
}

// checked is content that is compared with its id while it is read.
type checked struct {
	r     io.Reader
	h     hash.Hash
	id    string
	close func() error
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.h.Write(p[:n])
	if errors.Is(err, io.EOF) && idOf(c.h) != c.id {
		return n, fmt.Errorf("%s in the undo store is damaged", c.id)
	}
	return n, err
}

func (c *checked) Close() error { return c.close() }

// writeDurable writes a file of the store, whole and durable.
func (o *Objects) writeDurable(path string, content []byte) error {
	temp := filepath.Join(o.dir, tempName+rand.Text()[:12])
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return err
	}
	return syncFolder(filepath.Dir(path))
}

const tempName = "tmp-"
