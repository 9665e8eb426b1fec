package security

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"oxios/kernel/sys"

	"filippo.io/age"
	"filippo.io/age/armor"
	"golang.org/x/text/unicode/norm"
)

// The shortest and the longest passphrase, in characters and in bytes.
const (
	minPassphrase = 8
	maxPassphrase = 1024
)

// passphraseWork is the work factor of scrypt: each guess takes 128 MB and some
// tenths of a second. Those that others chose are taken up to sixteen times that.
const (
	passphraseWork     = 17
	passphraseMostWork = 21
)

// ErrKeysLocked is the cause of every failure for want of the passphrase.
var ErrKeysLocked = errors.New("the keys are locked")

// CredentialLock says whether a passphrase is needed to open the encrypted file.
type CredentialLock struct {
	Protected bool `json:"protected"` // it has a passphrase
	Locked    bool `json:"locked"`    // and that was not given since the start
}

// Lock says how the encrypted file stands. Keys in the keyring are not part of it.
func (c *Credentials) Lock() (CredentialLock, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, sealed, err := c.vault.identityText()
	if errors.Is(err, os.ErrNotExist) {
		return CredentialLock{}, nil
	}
	return CredentialLock{Protected: sealed, Locked: sealed && c.vault.unlocked == nil}, err
}

// Unlock opens the encrypted file until the process ends. It fails with denied
// for another passphrase, with nothing changed.
func (c *Credentials) Unlock(passphrase string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, sealed, err := c.vault.identityText()
	if errors.Is(err, os.ErrNotExist) || (err == nil && !sealed) {
		return sys.Errorf(sys.CodeConflict, "The keys have no passphrase, so they are not locked.")
	}
	if err != nil {
		return err
	}
	id, err := c.vault.unseal(text, passphrase)
	if err != nil {
		return err
	}
	c.vault.unlocked = id
	return nil
}

// Protect gives the encrypted file the passphrase next in place of current; ""
// stands for none. The identity itself stays, so the keys need not be written
// anew, and copies that were made before open as they did. It fails with denied
// when current is not the passphrase, with nothing changed.
func (c *Credentials) Protect(current, next string) error {
	if next != "" {
		if err := checkPassphrase(next); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	text, sealed, err := c.vault.identityText()
	var id *age.X25519Identity
	switch {
	case errors.Is(err, os.ErrNotExist) && next == "", err == nil && !sealed && next == "":
		return sys.Errorf(sys.CodeConflict, "The keys have no passphrase. Nothing was changed.")
	case errors.Is(err, os.ErrNotExist):
		if _, serr := c.vault.folder.read(c.vault.path); !errors.Is(serr, os.ErrNotExist) {
			_, lerr := c.vault.load() // says what is missing
			return errors.Join(serr, lerr)
		}
		if id, err = age.GenerateX25519Identity(); err != nil {
			return fmt.Errorf("make an identity: %w", err)
		}
	case err != nil:
		return err
	case sealed:
		if id, err = c.vault.unseal(text, current); err != nil {
			return err
		}
	default:
		if id, err = c.vault.open(); err != nil {
			return err
		}
	}
	if err := c.vault.keep(id, next); err != nil {
		return err
	}
	c.vault.unlocked = nil
	if next != "" {
		c.vault.unlocked = id
	}
	return nil
}

func checkPassphrase(p string) error {
	switch {
	case utf8.RuneCountInString(p) < minPassphrase:
		return sys.Errorf(sys.CodeInvalid, "The passphrase is shorter than %d characters. Nothing was changed.", minPassphrase).
			WithHint("Several words are easier to remember than signs.")
	case len(p) > maxPassphrase:
		return sys.Errorf(sys.CodeTooLarge, "The passphrase is longer than %d bytes. Nothing was changed.", maxPassphrase)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return sys.Errorf(sys.CodeInvalid, "The passphrase contains a line break or a control character. Nothing was changed.").
			WithHint("Write it on one line.")
	}
	return nil
}

// identityText reads the identity's file, and whether a passphrase seals it.
func (f *keyFile) identityText() (text []byte, sealed bool, err error) {
	text, err = f.folder.read(f.identity)
	return text, bytes.HasPrefix(bytes.TrimSpace(text), []byte(armor.Header)), err
}

// unseal opens an identity with its passphrase. What two keyboards write in two
// ways is one passphrase: it is normalised.
func (f *keyFile) unseal(text []byte, passphrase string) (*age.X25519Identity, error) {
	if passphrase == "" {
		return nil, wrongPassphrase()
	}
	key, err := age.NewScryptIdentity(norm.NFC.String(passphrase))
	if err != nil {
		return nil, wrongPassphrase()
	}
	key.SetMaxWorkFactor(passphraseMostWork)
	plain, err := age.Decrypt(armor.NewReader(bytes.NewReader(bytes.TrimSpace(text))), key)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		return nil, wrongPassphrase()
	}
	if err != nil {
		return nil, damaged(f.identity, err)
	}
	raw, err := io.ReadAll(io.LimitReader(plain, maxKeyFile))
	if err != nil {
		return nil, damaged(f.identity, err)
	}
	return parseIdentity(f.identity, raw)
}

// keep writes the identity, sealed unless passphrase is "". It is one file that
// is replaced in one step: a crash leaves the old state or the new one.
func (f *keyFile) keep(id *age.X25519Identity, passphrase string) error {
	text := "# Opens credentials.age. Whoever has both files has the keys.\n# public key: " + id.Recipient().String() + "\n" + id.String() + "\n"
	if passphrase == "" {
		return f.folder.write(f.identity, []byte(text))
	}
	to, err := age.NewScryptRecipient(norm.NFC.String(passphrase))
	if err != nil {
		return fmt.Errorf("seal the identity: %w", err)
	}
	to.SetWorkFactor(passphraseWork)
	var out bytes.Buffer
	wrapped := armor.NewWriter(&out)
	w, err := age.Encrypt(wrapped, to)
	if err != nil {
		return fmt.Errorf("seal the identity: %w", err)
	}
	_, err = io.WriteString(w, text)
	if err := errors.Join(err, w.Close(), wrapped.Close()); err != nil {
		return fmt.Errorf("seal the identity: %w", err)
	}
	return f.folder.write(f.identity, out.Bytes())
}

func wrongPassphrase() error {
	return sys.Errorf(sys.CodeDenied, "That is not the passphrase of the keys. Nothing was changed.").
		WithHint("Try again. Nobody can recover it; whoever forgot it moves credentials.age and identity.txt out of the folder keys, and enters the keys again.")
}

func lockedKeys() error {
	return sys.Errorf(sys.CodeUnavailable, "The keys are locked with your passphrase.").
		WithHint("Unlock them in Settings, Models, or with `oxios keys unlock`.").WithCause(ErrKeysLocked)
}
