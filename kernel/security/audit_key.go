package security

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
)

// SigningKey signs the checkpoints of one home's audit chain. It is an Ed25519
// key, and no more than that: whoever has it can sign any chain.
type SigningKey struct {
	// Made from its seed at the first use: that takes longer than to read it, and a
	// start signs nothing.
	private func() ed25519.PrivateKey
}

func signingKey(seed []byte) *SigningKey {
	return &SigningKey{sync.OnceValue(func() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(seed) })}
}

// signingKeyFile is where it lies, below keys/: backups and exports leave that
// folder out, and no agent reads it.
const signingKeyFile = "audit.key"

// OpenSigningKey reads the key in the folder of keys, or makes one when there
// is none; made says so. A file that is damaged is an error, and stays.
func OpenSigningKey(dir string, log *slog.Logger) (key *SigningKey, made bool, err error) {
	folder, path := keyFolder{dir: dir, log: log}, filepath.Join(dir, signingKeyFile)
	data, err := folder.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		public, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			return nil, false, fmt.Errorf("make a key for the audit record: %w", err)
		}
		text := "# Signs the checkpoints of the audit record. Whoever has it can sign in the name of this home.\n# public key: " +
			hex.EncodeToString(public) + "\n" + hex.EncodeToString(private.Seed()) + "\n"
		return signingKey(private.Seed()), true, folder.write(path, []byte(text))
	}
	if err != nil {
		return nil, false, err
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		seed, err := hex.DecodeString(line)
		if err != nil || len(seed) != ed25519.SeedSize {
			return nil, false, damaged(path, errors.New("it holds no key"))
		}
		return signingKey(seed), false, nil
	}
	return nil, false, damaged(path, errors.New("it is empty"))
}

// Public returns the public half, in hex: what others check signatures with.
func (k *SigningKey) Public() string {
	return hex.EncodeToString(k.private()[ed25519.SeedSize:]) // the second half of a private key is its public one
}
