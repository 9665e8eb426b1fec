package security

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"oxios/kernel/sys"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// LooseKey is a key that lies unencrypted in a file of an older program.
type LooseKey struct {
	Provider string // as the file names it, "" where it does not
	BaseURL  string // where the file says so
	Secret   string
	Renewed  bool // it belongs to a login that its program renews: useless elsewhere

	from, to int // the bytes of the file that go with it
	with     string
}

// KeySource is such a file as it was read.
type KeySource struct {
	Path string
	Open bool // others could read it
	Keys []LooseKey

	Problem error // for whoever keeps it: why nothing is taken from it

	content []byte
	mode    os.FileMode
}

// ReadKeySource reads a file of the kind that its name says, .json or .toml. The
// error is not_found when there is none, refused for a file that somebody else
// could have put there, and invalid, with the line, for one that cannot be read.
func ReadKeySource(path string) (KeySource, error) {
	s := KeySource{Path: path}
	content, mode, err := readOwn(path)
	if err != nil {
		return s, err
	}
	s.content, s.mode, s.Open = content, mode, mode&0o044 != 0 && othersEnter(filepath.Dir(path))
	if filepath.Ext(path) == ".toml" {
		s.Keys, err = tomlKeys(path, content)
	} else {
		s.Keys, err = jsonKeys(path, content)
	}
	return s, err
}

// Remove takes keys out of the file in one step and leaves all its other bytes
// as they are. A file that changed since it was read is a conflict.
func (s KeySource) Remove(keys []LooseKey) error {
	now, mode, err := readOwn(s.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, s.content) {
		return sys.Errorf(sys.CodeConflict, "%s changed meanwhile, so it was left as it is.", s.Path).WithHint("Try again.")
	}
	slices.SortFunc(keys, func(a, b LooseKey) int { return b.from - a.from })
	out := slices.Clone(now)
	for _, k := range keys {
		out = slices.Replace(out, k.from, k.to, []byte(k.with)...)
	}
	if filepath.Ext(s.Path) != ".toml" {
		out = withoutDangling(out)
	}
	if err := WriteFileAtomic(s.Path, out, mode.Perm()); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "%s cannot be written: %w. It is as it was.", s.Path, err)
	}
	return nil
}

// readOwn reads a file that is the person's own and nobody else's.
func readOwn(path string) ([]byte, os.FileMode, error) {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, 0, sys.Errorf(sys.CodeNotFound, "There is no %s.", path)
	case err != nil:
		return nil, 0, sys.Errorf(sys.CodeUnavailable, "%s cannot be read: %w.", path, err)
	case st.Mode()&os.ModeSymlink != 0:
		return nil, 0, sys.Errorf(sys.CodeRefused, "%s is a link, so no keys are taken from it.", path).WithHint("Put the file itself there, and try again.")
	case !st.Mode().IsRegular():
		return nil, 0, sys.Errorf(sys.CodeRefused, "%s is no file, so no keys are taken from it.", path)
	case st.Size() > maxKeyFile:
		return nil, 0, sys.Errorf(sys.CodeTooLarge, "%s is larger than %d bytes.", path, maxKeyFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, sys.Errorf(sys.CodeUnavailable, "%s cannot be read: %w.", path, err)
	}
	defer f.Close() //nolint:errcheck // it is only read
	opened, err := f.Stat()
	if err != nil {
		return nil, 0, sys.Errorf(sys.CodeUnavailable, "%s cannot be read: %w.", path, err)
	}
	if !os.SameFile(st, opened) {
		return nil, 0, sys.Errorf(sys.CodeConflict, "%s changed meanwhile, so it was left as it is.", path).WithHint("Try again.")
	}
	if why := foreign(path, opened); why != nil {
		return nil, 0, why
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return nil, 0, sys.Errorf(sys.CodeUnavailable, "%s cannot be read: %w.", path, err)
	}
	return raw, opened.Mode(), nil
}

// foreign says why a file may hold what somebody else put there, or lies under
// a second name that would keep the keys.
func foreign(path string, st os.FileInfo) error {
	if runtime.GOOS == "windows" {
		return nil // rights stand in lists there, and the folder is the account's own
	}
	owner, names := ownerOf(st)
	switch {
	case owner != os.Getuid():
		return sys.Errorf(sys.CodeRefused, "%s belongs to another user, so no keys are taken from it.", path)
	case names > 1:
		return sys.Errorf(sys.CodeRefused, "%s has a second name, under which the keys would stay.", path).WithHint("Delete the other name, or copy the file, and try again.")
	case st.Mode().Perm()&0o022 != 0:
		return sys.Errorf(sys.CodeRefused, "Others may write to %s, so no keys are taken from it.", path).WithHint("Look whether the keys in it are yours, then run: chmod 600 %s", path)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "%s cannot be read: %w.", path, err)
	}
	if owner, _ := ownerOf(dir); owner != os.Getuid() || dir.Mode().Perm()&0o022 != 0 {
		return sys.Errorf(sys.CodeRefused, "Others may write to the folder of %s, so no keys are taken from it.", path).WithHint("Look whether the keys in it are yours, then run: chmod 700 %s", filepath.Dir(path))
	}
	return nil
}

func othersEnter(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && runtime.GOOS != "windows" && st.Mode().Perm()&0o011 != 0
}

// jsonKeys finds the keys of auth.json: an object with a member for each
// provider, which holds "key", or "access_token" for older and for renewed ones.
// The members may lie in an object "tokens" of their own.
func jsonKeys(path string, raw []byte) ([]LooseKey, error) {
	if !json.Valid(raw) {
		var syntax *json.SyntaxError
		line := 1
		if errors.As(json.Unmarshal(raw, new(any)), &syntax) {
			line += bytes.Count(raw[:min(int(syntax.Offset), len(raw))], []byte("\n"))
		}
		return nil, sys.Errorf(sys.CodeInvalid, "%s is no JSON that can be read: line %d. It was left as it is.", path, line).WithHint("Correct line %d, and try again.", line)
	}
	var keys []LooseKey
	members(raw, 0, len(raw), func(name string, from, start, end int) {
		if name == "tokens" {
			members(raw, start, end, func(name string, from, start, end int) { keys = append(keys, jsonKey(raw, name, from, start, end)...) })
			return
		}
		keys = append(keys, jsonKey(raw, name, from, start, end)...)
	})
	return keys, nil
}

func jsonKey(raw []byte, name string, from, start, end int) []LooseKey {
	var v struct {
		Type    string `json:"type"`
		Key     string `json:"key"`
		Access  string `json:"access_token"`
		Old     string `json:"access"`
		Refresh string `json:"refresh_token"`
		Renew   string `json:"refresh"`
		BaseURL string `json:"base_url"`
	}
	if json.Unmarshal(raw[start:end], &v) != nil {
		return nil // another kind of member
	}
	k := LooseKey{Provider: name, BaseURL: v.BaseURL, Secret: v.Key, from: from, to: end}
	if k.Secret == "" {
		k.Secret = v.Access
		k.Renewed = v.Type == "oauth" || v.Type == "o_auth" || v.Type == "session" || v.Refresh != ""
	}
	if v.Old != "" || v.Renew != "" {
		k.Renewed = true
	}
	if k.Secret == "" && !k.Renewed {
		return nil
	}
	return []LooseKey{k}
}

// members calls fn for each member of the object in raw[from:to], which is valid
// JSON, with where its name begins and where its value lies. No object, no call.
func members(raw []byte, from, to int, fn func(name string, from, start, end int)) {
	d := json.NewDecoder(bytes.NewReader(raw[from:to]))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return
	}
	for d.More() {
		before := from + int(d.InputOffset())
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return
		}
		begin := before + bytes.IndexByte(raw[before:], '"')
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return
		}
		end := from + int(d.InputOffset())
		fn(name, begin, end-len(value), end)
	}
}

// withoutDangling takes out the commas that lost a neighbour when a member went.
// What stands in strings is left alone.
func withoutDangling(raw []byte) []byte {
	var out []byte
	inside, comma := false, -1 // where in out a comma waits for what it parts
	last := byte('{')          // the last byte that is no space
	for i := 0; i < len(raw); i++ {
		b := raw[i]
		switch {
		case inside:
			out = append(out, b)
			if b == '\\' && i+1 < len(raw) {
				i++
				out = append(out, raw[i])
			} else if b == '"' {
				inside = false
			}
			last = b
			continue
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			out = append(out, b)
			continue
		case b == ',':
			if last == '{' || last == '[' || last == ',' {
				continue
			}
			comma = len(out)
		case (b == '}' || b == ']') && last == ',':
			out = slices.Delete(out, comma, comma+1)
		case b == '"':
			inside = true
		}
		out = append(out, b)
		last = b
	}
	return out
}

// tomlKeys finds the keys of an older config.toml: api_key in [engine], whose
// provider its default_model names, and in tables of one provider.
func tomlKeys(path string, raw []byte) ([]LooseKey, error) {
	var all map[string]any
	if err := toml.Unmarshal(raw, &all); err != nil {
		line := 1
		var syntax *toml.DecodeError
		if errors.As(err, &syntax) {
			line, _ = syntax.Position()
		}
		return nil, sys.Errorf(sys.CodeInvalid, "%s is no TOML that can be read: line %d. It was left as it is.", path, line).WithHint("Correct line %d, and try again.", line)
	}
	var keys []LooseKey
	var p unstable.Parser
	p.Reset(raw)
	table, counts := []string(nil), map[string]int{}
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = keyOf(n)
			if n.Kind == unstable.ArrayTable {
				at := strings.Join(table, "\x00")
				table = append(table, fmt.Sprint(counts[at]))
				counts[at]++
			}
		case unstable.KeyValue:
			tomlValue(&p, all, table, n, &keys)
		}
	}
	return keys, nil
}

func keyOf(n *unstable.Node) []string {
	var out []string
	for it := n.Key(); it.Next(); {
		out = append(out, string(it.Node().Data))
	}
	return out
}

// tomlValue takes a key from one setting, or from the settings in an inline table.
func tomlValue(p *unstable.Parser, all map[string]any, table []string, n *unstable.Node, keys *[]LooseKey) {
	name := slices.Concat(table, keyOf(n))
	v := n.Value()
	if v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			tomlValue(p, all, name, it.Node(), keys)
		}
		return
	}
	if v.Kind != unstable.String || name[len(name)-1] != "api_key" || len(v.Data) == 0 {
		return
	}
	in := tomlTable(all, name[:len(name)-1])
	text := func(key string) string { s, _ := in[key].(string); return s }
	k := LooseKey{BaseURL: text("base_url"), Secret: string(v.Data), from: int(v.Raw.Offset), to: int(v.Raw.Offset + v.Raw.Length), with: `""`}
	switch {
	case name[0] == "engine" && len(name) == 2:
		k.Provider = text("provider")
		for _, model := range []string{text("default_model"), text("model")} {
			if of, _, ok := strings.Cut(model, "/"); ok && k.Provider == "" {
				k.Provider = of
			}
		}
	case slices.Contains(name[:len(name)-1], "providers"):
		k.Provider = text("id")
		if k.Provider == "" {
			k.Provider = name[len(name)-2]
		}
	default:
		return // a key of something else than a provider of models
	}
	// A setting on a line of its own goes with its line.
	raw := p.Data()
	begin := bytes.LastIndexByte(raw[:k.from], '\n') + 1
	rest, more, _ := bytes.Cut(raw[k.to:], []byte("\n"))
	plain := strings.TrimSpace(string(raw[begin:k.from]))
	if after := bytes.TrimSpace(rest); len(after) == 0 && strings.HasSuffix(plain, "=") && !strings.ContainsAny(plain, "{,") {
		k.from, k.to, k.with = begin, len(raw)-len(more), ""
	}
	*keys = append(*keys, k)
}

// tomlTable is the table of that name, the number of one in a list being part of
// its name.
func tomlTable(all map[string]any, name []string) map[string]any {
	var at any = all
	for _, part := range name {
		switch v := at.(type) {
		case map[string]any:
			at = v[part]
		case []any:
			var i int
			if _, err := fmt.Sscan(part, &i); err != nil || i >= len(v) {
				return nil
			}
			at = v[i]
		}
	}
	t, _ := at.(map[string]any)
	return t
}
