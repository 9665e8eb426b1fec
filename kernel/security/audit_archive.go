package security

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/blake3"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Two chains do not make one: an entry cannot be moved without a new hash. A
// chain that came in with a backup is therefore kept as a file of its own, in
// the form of an export, and an entry of the living chain holds the hash of
// that file. So the living chain vouches for the archived one.

// archiveResource begins the resource of an entry that records an archive.
const archiveResource = "audit-archive:"

// AuditArchive is a chain that came in with a backup.
type AuditArchive struct {
	File    string `json:"file"` // its path in the home, with slashes
	Entries int64  `json:"entries"`
	Head    string `json:"head"`
	Blake3  string `json:"blake3"`            // of the file, in hex
	OK      bool   `json:"ok"`                // the file is what was archived
	Problem string `json:"problem,omitempty"` // one sentence

	why sys.Words // the problem
}

// ArchiveEntry makes the entry that records an archive; the caller adds its
// own metadata to what is there already.
func ArchiveEntry(actor string, x AuditArchive) Entry {
	meta, err := json.Marshal(map[string]any{"entries": x.Entries, "head": x.Head, "blake3": x.Blake3})
	if err != nil { // text and numbers
		panic(err)
	}
	return Entry{Actor: actor, Action: ActionOther, Resource: archiveResource + x.File, Metadata: meta}
}

// Contains reports whether the entry numbered seq has this hash: the chain of
// a backup that ends with it is then the beginning of this one.
func (a *Audit) Contains(ctx context.Context, seq int64, hash string) (bool, error) {
	var found string
	err := a.st.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT hash FROM audit WHERE seq = ?`, seq).Scan(&found)
	})
	if errors.Is(err, sql.ErrNoRows) {
		root, err := a.root(ctx)
		return seq > 0 && root.Seq == seq && root.Hash == hash, err
	}
	return found == hash, err
}

// Archives returns the archives that the chain records, and whether each file
// in the home is still what was archived.
func (a *Audit) Archives(ctx context.Context, home string) ([]AuditArchive, error) {
	var found []AuditArchive
	err := a.st.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT substr(resource, ?), metadata FROM audit WHERE action = 'Other' AND resource LIKE 'audit-archive:%' ORDER BY seq`, len(archiveResource)+1)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var x AuditArchive
			var meta []byte
			if err := rows.Scan(&x.File, &meta); err != nil {
				return err
			}
			if err := json.Unmarshal(meta, &x); err != nil {
				x.why = sys.Say("What the chain records of it cannot be read.")
			}
			found = append(found, x)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list the archived chains: %w", err)
	}
	for i := range found {
		if found[i].why.EN == "" {
			found[i].why = unlike(home, found[i])
		}
		found[i].Problem, found[i].OK = found[i].why.EN, found[i].why.EN == ""
	}
	return found, nil
}

// unlike says why a file is not the archive that was recorded, or "".
func unlike(home string, x AuditArchive) sys.Words {
	if !filepath.IsLocal(filepath.FromSlash(x.File)) {
		return sys.Say("It lies outside of the home.")
	}
	f, err := os.Open(filepath.Join(home, filepath.FromSlash(x.File)))
	if errors.Is(err, fs.ErrNotExist) {
		return sys.Say("%s is missing.", x.File)
	}
	if err != nil {
		return sys.Say("%s cannot be read: %v.", x.File, err)
	}
	defer f.Close()
	h := blake3.New()
	if _, err := io.Copy(h, f); err != nil {
		return sys.Say("%s cannot be read: %v.", x.File, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != x.Blake3 {
		return sys.Say("%s was altered: it is not what was archived.", x.File)
	}
	return sys.Words{}
}

// VerifyAll is [Audit.Verify] with all checkpoints, those of the witness too, and
// the archives in the home. One that is not as it was makes the whole report bad.
func (a *Audit) VerifyAll(ctx context.Context, home string) (AuditReport, error) {
	r, err := a.Verify(ctx)
	if err == nil && r.OK {
		r, err = a.VerifyCheckpoints(ctx, true, r)
	}
	if err != nil || !r.OK {
		return r, err
	}
	return a.VerifyArchives(ctx, home, r)
}

// VerifyArchives adds to the report of a good chain what was found in the
// archives of the home.
func (a *Audit) VerifyArchives(ctx context.Context, home string, r AuditReport) (AuditReport, error) {
	archives, err := a.Archives(ctx, home)
	r.Archived = len(archives)
	for _, x := range archives {
		if !x.OK {
			r = r.worse(0, x.why)
			break
		}
	}
	return r, err
}

// ArchiveFile returns the name, in a home, of the archive of a chain. One
// chain has one name.
func ArchiveFile(node string, r AuditReport) (string, error) {
	if len(r.Head) < 16 || len(node) < 8 {
		return "", sys.Errorf(sys.CodeInternal, "The chain has no head.")
	}
	return fmt.Sprintf("audit/%s-%d-%s.jsonl", node[:8], r.Entries, r.Head[:16]), nil
}
