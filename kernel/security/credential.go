package security

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"oxios/kernel/sys"

	"github.com/zalando/go-keyring"
)

// Where a key is kept.
const (
	WhereKeyring = "keyring" // the keyring of the person's login
	WhereFile    = "file"    // an age-encrypted file: it protects copies and backups, not the account
)

// The longest name, and the longest key, that is taken.
const (
	maxCredentialName   = 128
	maxCredentialSecret = 16 << 10
)

// CredentialOptions says how [Credentials] works. The zero value is useful.
type CredentialOptions struct {
	FileOnly       bool          // never ask a keyring: servers without a desktop, tests
	KeyringTimeout time.Duration // how long the keyring may take; 3 s if zero
	Clock          sys.Clock
	Log            *slog.Logger // never gets a key; discarded if nil

	ring ring // a keyring of a test's own
}

func (o CredentialOptions) withDefaults() CredentialOptions {
	if o.KeyringTimeout <= 0 {
		o.KeyringTimeout = 3 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.ring == nil {
		o.ring = systemRing{}
	}
	return o
}

// CredentialInfo is what may be shown of a key.
type CredentialInfo struct {
	Name  string    `json:"name"`
	Host  string    `json:"host"`  // the only host that the key is given out for
	Where string    `json:"where"` // keyring or file
	Tail  string    `json:"tail"`  // its last four characters; empty for a key of less than 12
	At    time.Time `json:"at"`    // when it was entered
}

// credential is one key as it is stored.
type credential struct {
	Name   string    `json:"name"`
	Host   string    `json:"host"`
	Secret string    `json:"secret"`
	At     time.Time `json:"at"`
}

func (c credential) info(where string) CredentialInfo {
	tail := ""
	if len(c.Secret) >= 12 {
		tail = c.Secret[len(c.Secret)-4:]
	}
	return CredentialInfo{Name: c.Name, Host: c.Host, Where: where, Tail: tail, At: c.At}
}

// Credentials keeps the keys of providers: in the keyring if there is one,
// otherwise in an encrypted file. Each key is bound to the host that it was
// entered for. It is safe for concurrent use by one process.
type Credentials struct {
	opts CredentialOptions
	ring *limitedRing

	mu    sync.Mutex // guards the files below keys/
	vault keyFile
	index keyIndex
}

// NewCredentials returns the keys kept in the folder dir (keys/ of the home).
// It reads nothing, creates nothing and asks no keyring before the first call.
func NewCredentials(dir string, opts CredentialOptions) *Credentials {
	opts = opts.withDefaults()
	folder := keyFolder{dir: dir, log: opts.Log}
	return &Credentials{
		opts: opts,
		ring: newLimitedRing(opts.ring, opts.KeyringTimeout),
		vault: keyFile{
			folder:   folder,
			identity: filepath.Join(dir, "identity.txt"),
			path:     filepath.Join(dir, "credentials.age"),
		},
		index: keyIndex{folder: folder, path: filepath.Join(dir, "keyring.json")},
	}
}

// Get returns the key called name for a request to host. It fails with
// not_found if there is none, with refused if the key was entered for another
// host, and with unavailable if the keyring that holds it does not answer.
func (c *Credentials) Get(ctx context.Context, name, host string) (string, error) {
	wanted, err := normalHost(host)
	if err != nil {
		return "", err
	}
	listed, inRing, stored, inFile, err := c.find(name)
	if err != nil {
		return "", err
	}
	switch {
	case inRing:
		if err := boundTo(name, listed.Host, wanted); err != nil {
			return "", err
		}
		kept, err := c.ring.get(ctx, listed.Account)
		if err != nil {
			return "", ringError(name, err)
		}
		// The host inside the keyring decides: the list beside it is a plain file.
		if err := boundTo(name, kept.Host, wanted); err != nil {
			return "", err
		}
		return kept.Secret, nil
	case inFile:
		if err := boundTo(name, stored.Host, wanted); err != nil {
			return "", err
		}
		return stored.Secret, nil
	}
	return "", noCredential(name)
}

func (c *Credentials) find(name string) (listed indexEntry, inRing bool, stored credential, inFile bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	index, err := c.index.load()
	if err != nil {
		return listed, false, stored, false, err
	}
	if listed, inRing = index.find(name); inRing {
		return listed, true, stored, false, nil
	}
	all, err := c.vault.load()
	if err != nil {
		return listed, false, stored, false, err
	}
	for _, k := range all {
		if k.Name == name {
			return listed, false, k, true, nil
		}
	}
	return listed, false, stored, false, nil
}

// Set stores a key for host under name, in place of the one before, and says
// where: [WhereKeyring] or [WhereFile]. It is durable when Set returns. White
// space around the key is dropped, as pasting brings it along.
func (c *Credentials) Set(ctx context.Context, name, host, secret string) (where string, err error) {
	k := credential{Name: name, Secret: strings.TrimSpace(secret), At: c.opts.Clock.Now()}
	if k.Host, err = normalHost(host); err != nil {
		return "", err
	}
	if err := k.validate(); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	index, err := c.index.load()
	if err != nil {
		return "", err
	}
	if !c.opts.FileOnly {
		account := index.account(name)
		err := c.ring.set(ctx, account, k)
		if err == nil {
			return WhereKeyring, c.listInRing(index, k, account)
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		c.opts.Log.InfoContext(ctx, "No keyring; keys go to the encrypted file", "error", err)
	}
	if err := c.vault.put(k); err != nil {
		return "", err
	}
	if !index.remove(name) {
		return WhereFile, nil
	}
	return WhereFile, c.index.save(index)
}

// listInRing notes that the keyring has k, and takes an older copy out of the
// file. A damaged file does not hinder it: the list is asked first.
func (c *Credentials) listInRing(index keyringIndex, k credential, account string) error {
	index.put(indexEntry{CredentialInfo: k.info(WhereKeyring), Account: account})
	if err := c.index.save(index); err != nil {
		return err
	}
	if _, err := c.vault.remove(k.Name); err != nil {
		c.opts.Log.Warn("An older copy of a key stays in the encrypted file", "name", k.Name, "error", err)
	}
	return nil
}

// Delete removes the key called name wherever it is kept.
func (c *Credentials) Delete(ctx context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	index, err := c.index.load()
	if err != nil {
		return err
	}
	listed, inRing := index.find(name)
	if inRing {
		if err := c.ring.remove(ctx, listed.Account); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return ringError(name, err)
		}
		index.remove(name)
		if err := c.index.save(index); err != nil {
			return err
		}
	}
	inFile, err := c.vault.remove(name)
	if err != nil {
		return err
	}
	if !inRing && !inFile {
		return noCredential(name)
	}
	return nil
}

// List returns what may be shown of every key, by name. It asks no keyring. While
// the encrypted file is locked it returns those of the keyring, with the error.
func (c *Credentials) List() ([]CredentialInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	index, err := c.index.load()
	if err != nil {
		return nil, err
	}
	stored, err := c.vault.load()
	if err != nil && !errors.Is(err, ErrKeysLocked) {
		return nil, err
	}
	out := []CredentialInfo{}
	for _, e := range index.Entries {
		out = append(out, e.CredentialInfo)
	}
	for _, k := range stored {
		if _, ok := index.find(k.Name); !ok {
			out = append(out, k.info(WhereFile))
		}
	}
	slices.SortFunc(out, func(a, b CredentialInfo) int { return cmp.Compare(a.Name, b.Name) })
	return out, err
}

func (c credential) validate() error {
	switch {
	case c.Name == "" || len(c.Name) > maxCredentialName || strings.ContainsFunc(c.Name, unicode.IsControl):
		return sys.Errorf(sys.CodeInvalid, "A key needs a name of 1 to %d characters.", maxCredentialName)
	case c.Secret == "":
		return sys.Errorf(sys.CodeInvalid, "The key is empty.").WithHint("Paste the whole key.")
	case len(c.Secret) > maxCredentialSecret:
		return sys.Errorf(sys.CodeTooLarge, "The key is longer than %d bytes.", maxCredentialSecret)
	case strings.ContainsFunc(c.Secret, unicode.IsControl):
		return sys.Errorf(sys.CodeInvalid, "The key contains a line break or a control character.").
			WithHint("Paste the key alone, on one line.")
	}
	return nil
}

// normalHost returns the lower-case host of an address, with its port unless
// that is 443. It takes a host, a host with a port, or a URL.
func normalHost(address string) (string, error) {
	s := strings.TrimSpace(address)
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return "", sys.Errorf(sys.CodeInvalid, "%q is not a host.", address).
			WithHint("A key is bound to the host that it is sent to, such as api.example.com.")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	if port == "" && u.Scheme == "http" {
		port = "80" // the same host without encryption is another place to send a key to
	}
	if port != "" && port != "443" {
		host += ":" + port
	}
	return host, nil
}

func boundTo(name, bound, wanted string) error {
	if bound == wanted {
		return nil
	}
	return sys.Errorf(sys.CodeRefused, "The key %q was entered for %s and is not sent to %s.", name, bound, wanted).
		WithHint("Enter the key again for %s if it belongs there.", wanted)
}

func noCredential(name string) error {
	return sys.Errorf(sys.CodeNotFound, "No key is stored for %q.", name).WithHint("Enter it in Settings, Models.")
}

func ringError(name string, err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return sys.Errorf(sys.CodeNotFound, "The key %q is no longer in the keyring.", name).
			WithHint("Enter it again in Settings, Models.")
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return sys.Errorf(sys.CodeUnavailable, "The keyring that holds the key %q does not answer.", name).
		WithHint("Unlock the keyring and try again, or enter the key again to keep it in the encrypted file.").WithCause(err)
}
