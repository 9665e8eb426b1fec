package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// leftOut are the folders of a home that no backup holds: keys are secret, what an
// undo needs is of use beside the folders that agents worked in alone, and the
// others are made anew.
var leftOut = map[string]bool{"keys": true, "run": true, "logs": true, cachesFolder: true, sharedCache: true, undoFolder: true}

// takenAlong reports whether a file of the home belongs into a backup. name is
// its path in the home, with slashes. What a backup names must pass it too, so
// that none can put a key or a socket into a home.
func takenAlong(name string) bool {
	if name == "" || name == "." || name != path.Clean(name) || strings.ContainsAny(name, "\\\x00") || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	top, _, _ := strings.Cut(name, "/")
	top = strings.ToLower(top) // some disks do not tell Keys from keys
	// Checkpoints speak of this home's chain: elsewhere it is an archive, which the chain there vouches for.
	return !strings.HasPrefix(name, checkpointFile) && !leftOut[top] && !strings.HasPrefix(name, "attachments/incoming/") && !strings.HasPrefix(top, databaseName) && !strings.HasPrefix(top, ".new-")
}

// gatherFiles copies the files of the home that a backup takes along into dir.
// Links are not followed: they are named as skipped, as is all that is no
// plain file. Of attachments only those are taken that the copy of the database
// has: what was deleted there goes with nobody.
func (k *Kernel) gatherFiles(ctx context.Context, dir string, m *manifest, attached map[string]bool) error {
	home := os.DirFS(k.opts.Home)
	return fs.WalkDir(home, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name != "." && errors.Is(err, fs.ErrNotExist):
			return nil // it went while we looked
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && name != "." && !takenAlong(name):
			return fs.SkipDir
		case d.IsDir() || !takenAlong(name):
			return nil
		case strings.HasPrefix(name, "attachments/") && !attached[path.Base(name)]:
			return nil
		case !d.Type().IsRegular():
			m.Skipped = append(m.Skipped, name)
			return nil
		}
		return k.gatherFile(ctx, name, filepath.Join(dir, "file-"+strconv.Itoa(len(m.Entries))), m)
	})
}

func (k *Kernel) gatherFile(ctx context.Context, name, to string, m *manifest) error {
	e := packed{Name: filesPrefix + name, Mode: 0o600, from: to}
	from := filepath.Join(k.opts.Home, filepath.FromSlash(name))
	info, err := os.Lstat(from)
	if err == nil && info.Mode().IsRegular() {
		if info.Mode().Perm()&0o100 != 0 {
			e.Mode = 0o700
		}
		err = copyPlain(ctx, from, to)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if name == "config.toml" {
		keep, err := k.emptyConfig(to, m)
		if err != nil || !keep {
			return err
		}
	}
	if e.Size, e.Blake3, err = fingerprint(ctx, to); err != nil {
		return err
	}
	m.Entries = append(m.Entries, e)
	return nil
}

func copyPlain(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, canceling{ctx, in})
	return errors.Join(err, out.Close())
}

// emptyConfig takes what may be a secret out of a copy of config.toml. It
// reports whether the copy can be kept: what cannot be made safe stays out.
func (k *Kernel) emptyConfig(file string, m *manifest) (keep bool, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	clean, ok := withoutSecrets(raw)
	masked := k.masked(string(clean))
	if !ok || (masked != string(clean) && !parses(masked)) {
		m.Emptied = append(m.Emptied, "config.toml")
		return false, nil
	}
	if masked != string(raw) {
		m.Emptied = append(m.Emptied, "config.toml")
	}
	return true, os.WriteFile(file, []byte(masked), 0o600)
}

func parses(config string) bool {
	_, perr := parseConfig([]byte(config))
	return perr == nil
}

var (
	headerTable  = sys.Pattern(`^[ \t]*\[+[ \t]*"?providers"?[ \t]*\.[ \t]*"?headers"?[ \t]*\]`)
	anyTable     = sys.Pattern(`^[ \t]*\[`)
	headerLine   = sys.Pattern(`^([ \t]*[^=#\n]+=).*$`)
	inlineHeader = sys.Pattern(`(?m)^([ \t]*headers[ \t]*=[ \t]*)\{[^}\n]*\}`)
	userInfo     = sys.Pattern(`(://)[^/@\s"']+@`)
)

// withoutSecrets returns a config.toml whose headers are empty and whose
// addresses have no password. It reports false when a header is left that it
// did not understand.
func withoutSecrets(raw []byte) ([]byte, bool) {
	lines := strings.Split(inlineHeader().ReplaceAllString(string(raw), `$1{}`), "\n")
	inside := false
	for i, line := range lines {
		if anyTable().MatchString(line) {
			inside = headerTable().MatchString(line)
			continue
		}
		if inside {
			lines[i] = headerLine().ReplaceAllString(line, `$1 ""`)
		}
	}
	clean := userInfo().ReplaceAllString(strings.Join(lines, "\n"), "$1")
	c, perr := parseConfig(raw)
	if perr != nil {
		return []byte(clean), true // no provider of it is in force
	}
	after, perr := parseConfig([]byte(clean))
	if perr != nil {
		return nil, false
	}
	for _, p := range after.Providers {
		for _, v := range p.Headers {
			if v != "" {
				return nil, false
			}
		}
	}
	for _, p := range c.Providers {
		for _, v := range p.Headers {
			if len(v) > 3 && strings.Contains(clean, v) {
				return nil, false
			}
		}
	}
	return []byte(clean), true
}

// emptyProviders takes the passwords out of the addresses of the providers
// that a copy of the database holds, and adds what it emptied to the list.
func emptyProviders(ctx context.Context, st *store.Store, emptied []string) ([]string, error) {
	raw, ok, err := st.Get(ctx, "providers")
	if err != nil || !ok {
		return emptied, err
	}
	var list []saved
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		return append(emptied, "providers"), st.Write(ctx, func(tx *store.Tx) error { return st.Remove(tx, "providers") })
	}
	changed := false
	for i := range list {
		for _, address := range []*string{&list[i].BaseURL, &list[i].ProxyURL} {
			u, err := url.Parse(*address)
			if err != nil || u.User == nil {
				continue
			}
			u.User = nil
			*address, changed = u.String(), true
			emptied = append(emptied, list[i].Name)
		}
	}
	if !changed {
		return emptied, nil
	}
	clean, err := json.Marshal(list)
	if err != nil {
		return emptied, err
	}
	return emptied, st.Write(ctx, func(tx *store.Tx) error { return st.Put(tx, "providers", string(clean)) })
}
