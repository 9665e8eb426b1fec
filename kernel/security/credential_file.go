package security

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"

	"oxios/kernel/sys"

	"filippo.io/age"
)

// maxKeyFile is more than any file below keys/ will ever need.
const maxKeyFile = 4 << 20

// keyFolder reads and writes the files below keys/: 0700 for the folder, 0600
// for each file, replaced in one step and durable.
type keyFolder struct {
	dir string
	log *slog.Logger
}

// read returns a file's content. Permissions that are too wide are narrowed
// first, and told.
func (f keyFolder) read(path string) ([]byte, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, sys.Errorf(sys.CodeInvalid, "%s is not a regular file.", path).
			WithHint("Move it away; nothing was changed.")
	}
	if st.Size() > maxKeyFile {
		return nil, sys.Errorf(sys.CodeTooLarge, "%s is larger than %d bytes.", path, maxKeyFile).
			WithHint("It was not written by Oxios. Move it away; nothing was changed.")
	}
	if err := f.narrow(f.dir, 0o700); err != nil {
		return nil, err
	}
	if err := f.narrow(path, 0o600); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// narrow takes away the rights that others have to path.
func (f keyFolder) narrow(path string, want os.FileMode) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" || st.Mode().Perm()&^want == 0 {
		return nil // Windows keeps rights in lists that the mode does not show
	}
	if err := os.Chmod(path, st.Mode().Perm()&want); err != nil {
		return sys.Errorf(sys.CodeForbidden, "Others may read %s, and its rights cannot be changed.", path).
			WithHint("Run: chmod %o %s", want, path).WithCause(err)
	}
	f.log.Warn("Others could read a file of keys; its rights were narrowed", "path", path, "was", st.Mode().Perm().String())
	return nil
}

// write replaces a file in one step: after a crash there is the old content or
// the new, never a part.
func (f keyFolder) write(path string, data []byte) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("create folder for keys: %w", err)
	}
	if err := f.narrow(f.dir, 0o700); err != nil {
		return err
	}
	if err := WriteFileAtomic(path, data, 0o600); err != nil {
		return fmt.Errorf("store keys: %w", err)
	}
	return nil
}

// keyFile is the encrypted file of keys and the identity that opens it.
type keyFile struct {
	folder   keyFolder
	identity string
	path     string

	unlocked *age.X25519Identity // of an identity with a passphrase, once that was given
}

type keyDocument struct {
	Version     int          `json:"version"`
	Credentials []credential `json:"credentials"`
}

// load returns the keys in the file, none if it does not exist.
func (f *keyFile) load() ([]credential, error) {
	data, err := f.folder.read(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	id, err := f.open()
	if errors.Is(err, os.ErrNotExist) {
		return nil, sys.Errorf(sys.CodeUnavailable, "The keys in %s cannot be read: %s, which opens them, is gone. Nothing was changed.", f.path, f.identity).
			WithHint("Put it back from a backup, or move credentials.age away and enter the keys again.").WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(bytes.NewReader(data), id)
	if err != nil {
		return nil, damaged(f.path, err)
	}
	text, err := io.ReadAll(io.LimitReader(plain, maxKeyFile))
	if err != nil {
		return nil, damaged(f.path, err)
	}
	var doc keyDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		// The cause could quote the plain text, so it is not kept.
		return nil, damaged(f.path, errors.New("the content is not what Oxios writes"))
	}
	if doc.Version != 1 {
		return nil, sys.Errorf(sys.CodeNewerDatabase, "%s was written by a newer Oxios.", f.path).
			WithHint("Update Oxios; nothing was changed.")
	}
	return doc.Credentials, nil
}

// put stores k in place of a key of the same name.
func (f *keyFile) put(k credential) error {
	all, err := f.load()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(old credential) bool { return old.Name == k.Name })
	return f.save(append(all, k))
}

// remove takes the key called name out, and reports whether it was there.
func (f *keyFile) remove(name string) (bool, error) {
	all, err := f.load()
	if err != nil {
		return false, err
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(k credential) bool { return k.Name == name })
	if len(rest) == len(all) {
		return false, nil
	}
	return true, f.save(rest)
}

func (f *keyFile) save(all []credential) error {
	id, err := f.open()
	if errors.Is(err, os.ErrNotExist) {
		id, err = f.create()
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(keyDocument{Version: 1, Credentials: all})
	if err != nil {
		return err
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, id.Recipient())
	if err != nil {
		return fmt.Errorf("encrypt keys: %w", err)
	}
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("encrypt keys: %w", err)
	}
	return f.folder.write(f.path, sealed.Bytes())
}

// open reads the identity, or takes the one that a passphrase opened.
func (f *keyFile) open() (*age.X25519Identity, error) {
	data, sealed, err := f.identityText()
	if err != nil {
		return nil, err
	}
	if !sealed {
		return parseIdentity(f.identity, data)
	}
	if f.unlocked == nil {
		return nil, lockedKeys()
	}
	return f.unlocked, nil
}

func parseIdentity(path string, data []byte) (*age.X25519Identity, error) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, err := age.ParseX25519Identity(line)
		if err != nil {
			return nil, damaged(path, errors.New("it holds no age identity"))
		}
		return id, nil
	}
	return nil, damaged(path, errors.New("it is empty"))
}

// create makes the identity, durable before anything is encrypted to it.
func (f *keyFile) create() (*age.X25519Identity, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("make an identity: %w", err)
	}
	return id, f.keep(id, "")
}

func damaged(path string, err error) error {
	return sys.Errorf(sys.CodeInvalid, "%s is damaged and cannot be read. Nothing was changed.", path).
		WithHint("Put it back from a backup, or move it away and enter the keys again.").WithCause(err)
}
