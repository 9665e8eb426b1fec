package kernel

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/llm"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// LooseFile is a file of an older program that holds keys unencrypted.
type LooseFile struct {
	Path    string     `json:"path"`
	Open    bool       `json:"open"` // other users can read it
	Left    bool       `json:"left"` // the person said to leave its keys there
	Keys    []Loose    `json:"keys"`
	Problem *sys.Error `json:"problem,omitempty"` // why nothing is taken from it
}

// Loose is one key in it, without the key.
type Loose struct {
	Provider string     `json:"provider"` // as the file names it
	Host     string     `json:"host"`     // the only host that it would be given out for
	Problem  *sys.Error `json:"problem,omitempty"`
}

// ImportReport says what became of the keys.
type ImportReport struct {
	Imported []ImportedKey `json:"imported"` // they are stored, and gone from their file
	Files    []LooseFile   `json:"files"`    // what is left, and why
	Keys     Keys          `json:"keys"`     // how the keys stand now
}

// ImportedKey is a key that was taken over.
type ImportedKey struct {
	File     string `json:"file"`
	Provider string `json:"provider"` // its id here
	Host     string `json:"host"`
	Where    string `json:"where"` // keyring or file
	Open     bool   `json:"open"`  // other users could read it where it lay
}

// providerAddresses are where the keys of older programs belong that name a
// provider without its address. A key whose address is not known is not taken.
var providerAddresses = map[string]string{
	"openai":          llm.OpenAIBaseURL,
	"anthropic":       "https://api.anthropic.com/v1",
	"openrouter":      "https://openrouter.ai/api/v1",
	"google":          "https://generativelanguage.googleapis.com/v1beta/openai",
	"gemini":          "https://generativelanguage.googleapis.com/v1beta/openai",
	"deepseek":        "https://api.deepseek.com/v1",
	"groq":            "https://api.groq.com/openai/v1",
	"mistral":         "https://api.mistral.ai/v1",
	"xai":             "https://api.x.ai/v1",
	"cerebras":        "https://api.cerebras.ai/v1",
	"together":        "https://api.together.xyz/v1",
	"fireworks":       "https://api.fireworks.ai/inference/v1",
	"zai":             "https://api.z.ai/api/paas/v4",
	"zai-coding-plan": "https://api.z.ai/api/coding/paas/v4",
	"moonshot":        "https://api.moonshot.ai/v1",
}

// looseKeys reads the files in which older programs keep keys: those of oxi in
// the person's home, and those of the first Oxios in ours. A file that is not
// there is left out; one that cannot be used comes with its problem.
func (k *Kernel) looseKeys() []security.KeySource {
	files := []string{filepath.Join(k.opts.Home, "config.toml"), filepath.Join(k.opts.Home, "auth.json")}
	if home := cmp.Or(k.opts.Env("HOME"), k.opts.Env("USERPROFILE")); filepath.IsAbs(home) {
		files = append(files, filepath.Join(home, ".oxi", "auth.json"))
	}
	var out []security.KeySource
	for _, path := range files {
		s, err := security.ReadKeySource(path)
		switch {
		case sys.CodeOf(err) == sys.CodeNotFound:
			continue
		case err != nil && filepath.Base(path) == "config.toml":
			continue // told as a mistake of the settings already
		}
		s.Problem = err
		for _, key := range s.Keys {
			k.redact.AddSecret(key.Secret)
		}
		if len(s.Keys) > 0 || err != nil {
			out = append(out, s)
		}
	}
	return out
}

// addressOf says where a key belongs: as its file says, as the settings say of a
// provider of that name, or as is known.
func (k *Kernel) addressOf(key security.LooseKey, known []saved) (string, error) {
	if key.Renewed {
		return "", sys.Errorf(sys.CodeInvalid, "It belongs to a login that its own program renews, so it stays there.")
	}
	address := key.BaseURL
	if address == "" {
		if i := slices.IndexFunc(known, func(p saved) bool { return p.ID == key.Provider }); i >= 0 {
			address = known[i].BaseURL
		}
	}
	if address == "" {
		address = providerAddresses[strings.ToLower(key.Provider)]
	}
	if address == "" {
		return "", sys.Errorf(sys.CodeInvalid, "Where this key belongs is not known, so it stays there.").
			WithHint("Enter it in Settings, Models with the address of its provider, and delete it from the file.")
	}
	c, err := llm.New(llm.Endpoint{ID: "import", BaseURL: address})
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Endpoint().BaseURL, nil
}

// knownProviders are those that the person entered, here or in config.toml.
func (k *Kernel) knownProviders(ctx context.Context) (window, all []saved, err error) {
	window, err = k.engine.saved(ctx)
	all = slices.Clone(window)
	for _, p := range k.config.get().Providers {
		all = append(all, saved{ID: p.ID, BaseURL: p.BaseURL})
	}
	return window, all, err
}

func (k *Kernel) viewLoose(ctx context.Context, f security.KeySource) (LooseFile, error) {
	_, known, err := k.knownProviders(ctx)
	if err != nil {
		return LooseFile{}, err
	}
	left := k.leftKeys(ctx)
	v := LooseFile{Path: shortenHome(f.Path), Open: f.Open, Keys: []Loose{}, Left: len(f.Keys) > 0}
	if f.Problem != nil {
		v.Problem = sys.AsError(f.Problem)
	}
	for _, key := range f.Keys {
		v.Left = v.Left && left[looseName(f, key)]
		l := Loose{Provider: key.Provider}
		if address, err := k.addressOf(key, known); err != nil {
			l.Problem = sys.AsError(err)
		} else if u, err := url.Parse(address); err == nil {
			l.Host = u.Host
		}
		v.Keys = append(v.Keys, l)
	}
	return v, nil
}

// ImportKeys takes the keys of older programs over: each goes to the keyring or
// the encrypted file, bound to the host of its provider, and then leaves its
// file, whose other bytes stay as they are. What cannot be taken stays there, and
// the report says why. A failure in between leaves the file as it was.
func (a *InfraAPI) ImportKeys(ctx context.Context) (ImportReport, error) {
	meta := map[string]any{} // filled on the way: the record of the outcome names what was done
	return guard(ctx, a.caller, action{call: "infra.importKeys", resource: "keys", meta: meta}, func(ctx context.Context) (ImportReport, error) {
		r := ImportReport{Imported: []ImportedKey{}, Files: []LooseFile{}}
		var names []string
		for _, f := range a.k.looseKeys() {
			view, err := a.k.viewLoose(ctx, f)
			if err != nil {
				return r, err
			}
			if f.Problem != nil {
				r.Files = append(r.Files, view)
				continue
			}
			done, err := a.k.importFile(ctx, f, &view)
			if err != nil {
				return r, err
			}
			for _, d := range done {
				names = append(names, d.Provider+" for "+d.Host+" from "+d.File)
			}
			r.Imported = append(r.Imported, done...)
			if len(view.Keys) > 0 {
				r.Files = append(r.Files, view)
			}
		}
		if len(names) > 0 {
			meta["imported"] = names
		}
		if err := a.k.config.load(); err != nil { // one of the files may be ours
			return r, err
		}
		for _, d := range r.Imported {
			if _, err := a.k.announceProvider(ctx, d.Provider); err != nil {
				return r, err
			}
		}
		var err error
		r.Keys, err = a.k.keysChanged(ctx)
		return r, err
	})
}

// importFile takes over what it can from one file, and leaves in view what stays.
func (k *Kernel) importFile(ctx context.Context, f security.KeySource, view *LooseFile) (done []ImportedKey, err error) {
	window, known, err := k.knownProviders(ctx)
	if err != nil {
		return nil, err
	}
	was := len(window)
	var stays []Loose
	var gone []security.LooseKey
	var fresh []string // stored just now: a failure takes them back
	defer func() {
		if err != nil {
			for _, id := range fresh {
				err = errors.Join(err, k.keys.Delete(context.WithoutCancel(ctx), id))
			}
		}
	}()
	for i, key := range f.Keys {
		l := view.Keys[i]
		if l.Problem != nil {
			stays = append(stays, l)
			continue
		}
		// The last of two members of one name counts, as for who wrote them.
		if slices.ContainsFunc(f.Keys[i+1:], func(o security.LooseKey) bool { return o.Provider == key.Provider && filepath.Ext(f.Path) == ".json" }) {
			gone = append(gone, key)
			continue
		}
		address, err := k.addressOf(key, known)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(known, func(p saved) bool { return p.BaseURL == address })
		if at < 0 {
			s := saved{ID: freeID(cmp.Or(key.Provider, "provider"), known), Name: cmp.Or(key.Provider, l.Host), Kind: llm.KindOpenAI, BaseURL: address, Enabled: true}
			window, known, at = append(window, s), append(known, s), len(known)
		}
		id := known[at].ID
		have, err := k.keys.Get(ctx, id, address)
		switch {
		case err == nil && have != key.Secret:
			l.Problem = sys.Errorf(sys.CodeConflict, "Another key is stored for %s already, so this one stays there.", id).WithHint("Delete it from the file, or remove the provider in Settings, Models and try again.")
			stays = append(stays, l)
			continue
		case err != nil && sys.CodeOf(err) != sys.CodeNotFound:
			return nil, err
		case err != nil:
			if _, err := k.keys.Set(ctx, id, address, key.Secret); err != nil {
				return nil, err
			}
			fresh = append(fresh, id)
		}
		gone = append(gone, key)
		done = append(done, ImportedKey{File: shortenHome(f.Path), Provider: id, Host: l.Host, Open: f.Open})
	}
	if len(window) > was {
		if err := k.engine.save(ctx, window); err != nil {
			return nil, err
		}
	}
	if len(gone) > 0 {
		if err := f.Remove(gone); err != nil {
			if len(window) > was {
				err = errors.Join(err, k.engine.save(ctx, window[:was]))
			}
			return nil, err
		}
	}
	fresh = nil
	view.Keys = stays
	infos, _ := k.keys.List() // for where they went alone
	for i := range done {
		for _, info := range infos {
			if info.Name == done[i].Provider {
				done[i].Where = info.Where
			}
		}
	}
	return done, nil
}
