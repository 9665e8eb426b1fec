package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// What a person says of a folder, and of the folders in it.
const (
	FolderTrusted  = "trusted"  // its instructions are followed as if the person had written them
	FolderDeclined = "declined" // agents work in it, but its instructions are not followed
)

// keyFolders is where the store keeps what the person said of folders. A backup
// does not bring it in: trust is given on each machine.
const keyFolders = "folders"

// KnownFolder is a folder of which the person said whether they trust it.
type KnownFolder struct {
	Path    string    `json:"path"`    // absolute, links followed
	Display string    `json:"display"` // with ~ for the home
	Trust   string    `json:"trust"`   // trusted or declined
	At      time.Time `json:"at"`
}

// Folders lists the folders of which the person said whether they trust them,
// by path. The configured folder is trusted without standing here.
func (a *SecurityAPI) Folders(ctx context.Context) ([]KnownFolder, error) {
	return guard(ctx, a.caller, action{call: "security.folders", resource: "folders"}, func(ctx context.Context) ([]KnownFolder, error) {
		raw, _, err := a.k.store.Get(ctx, keyFolders)
		return knownFolders(raw), err
	})
}

// TrustFolder keeps what the person says of a folder: trusted, declined, or ""
// to be asked again. It covers the folders in it, unless more is known of one of
// them. Runs that have begun keep what they were told.
func (a *SecurityAPI) TrustFolder(ctx context.Context, path, trust string) (Folder, error) {
	act := action{call: "security.trustFolder", resource: "file:" + path, paths: namedPaths(path), meta: map[string]any{"trust": trust}}
	return guard(ctx, a.caller, act, func(ctx context.Context) (Folder, error) {
		if !slices.Contains([]string{FolderTrusted, FolderDeclined, ""}, trust) {
			return Folder{}, sys.Errorf(sys.CodeInvalid, "%q cannot be said of a folder: it is trusted, declined, or nothing.", trust)
		}
		abs, err := absolute(path)
		if err != nil {
			return Folder{}, err
		}
		if trust != "" { // what is gone, or was moved behind a wall, can still be forgotten
			if abs, err = a.k.checkFolder(abs); err != nil {
				return Folder{}, err
			}
		}
		if err := a.k.keepTrust(ctx, realPath(abs), trust); err != nil {
			return Folder{}, err
		}
		return a.k.folder(ctx, abs)
	})
}

func (k *Kernel) keepTrust(ctx context.Context, path, trust string) error {
	return k.store.Write(ctx, func(tx *store.Tx) error {
		raw, _, err := k.store.GetIn(tx, keyFolders)
		if err != nil {
			return err
		}
		list := slices.DeleteFunc(knownFolders(raw), func(f KnownFolder) bool { return f.Path == path })
		if trust != "" {
			list = append(list, KnownFolder{Path: path, Trust: trust, At: k.clock.Now()})
			slices.SortFunc(list, func(a, b KnownFolder) int { return strings.Compare(a.Path, b.Path) })
		}
		out, err := json.Marshal(list)
		if err != nil {
			return err
		}
		return k.store.Put(tx, keyFolders, string(out))
	})
}

// knownFolders reads what is kept. What cannot be read trusts nothing.
func knownFolders(raw string) []KnownFolder {
	list := []KnownFolder{}
	if json.Unmarshal([]byte(raw), &list) != nil || list == nil {
		list = []KnownFolder{}
	}
	for i := range list {
		list[i].Display = shortenHome(list[i].Path)
	}
	return list
}

// trust returns what the person said of a folder or, the nearest one counting,
// of one above it; "" when they were not asked.
func (k *Kernel) trust(ctx context.Context, path string) (string, error) {
	raw, _, err := k.store.Get(ctx, keyFolders)
	if err != nil {
		return "", fmt.Errorf("read which folders are trusted: %w", err)
	}
	path = realPath(path)
	// The person chose the configured folder in their settings.
	nearest := KnownFolder{Path: realPath(k.config.get().workFolder()), Trust: FolderTrusted}
	if !security.Leads(path, nearest.Path) {
		nearest = KnownFolder{}
	}
	for _, f := range knownFolders(raw) {
		if len(f.Path) >= len(nearest.Path) && security.Leads(path, f.Path) {
			nearest = f
		}
	}
	return nearest.Trust, nil
}
