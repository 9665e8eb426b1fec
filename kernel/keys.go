package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// KeyInfo is what may be shown of a key.
type KeyInfo = security.CredentialInfo

// Keys says where the keys of providers are, and never what they are.
type Keys struct {
	List      []KeyInfo   `json:"list"`      // those in the encrypted file are missing while it is locked
	Protected bool        `json:"protected"` // the encrypted file has a passphrase
	Locked    bool        `json:"locked"`    // and that was not given since the start
	Loose     []LooseFile `json:"loose"`     // files of older programs with keys in them
	Ring      bool        `json:"ring"`      // new keys go to the keyring where there is one
	Problem   *sys.Error  `json:"problem,omitempty"`
}

// PassphraseInput changes the passphrase of the encrypted file.
type PassphraseInput struct {
	Current string `json:"current,omitempty"` // "" when there is none yet
	Next    string `json:"next,omitempty"`    // "" takes it away
}

// Keys lists the keys, whether they are locked, and which files of older
// programs hold keys that could be taken over. No keyring is asked.
func (a *InfraAPI) Keys(ctx context.Context) (Keys, error) {
	return guard(ctx, a.caller, action{call: "infra.keys", resource: "keys"}, func(ctx context.Context) (Keys, error) {
		return a.k.keysNow(ctx)
	})
}

func (k *Kernel) keysNow(ctx context.Context) (Keys, error) {
	out := Keys{List: []KeyInfo{}, Loose: []LooseFile{}, Ring: k.config.get().Keyring}
	lock, err := k.keys.Lock()
	out.Protected, out.Locked = lock.Protected, lock.Locked
	if err == nil {
		var list []KeyInfo
		list, err = k.keys.List()
		out.List = append(out.List, list...)
	}
	if err != nil && !errors.Is(err, security.ErrKeysLocked) {
		out.Problem = sys.AsError(err)
	}
	for _, f := range k.looseKeys() {
		view, err := k.viewLoose(ctx, f)
		if err != nil {
			return out, err
		}
		out.Loose = append(out.Loose, view)
	}
	return out, nil
}

// UnlockKeys opens the encrypted file with its passphrase until Oxios ends. It
// fails with denied for another one.
func (a *InfraAPI) UnlockKeys(ctx context.Context, passphrase string) (Keys, error) {
	return guard(ctx, a.caller, action{call: "infra.unlockKeys", resource: "keys"}, func(ctx context.Context) (Keys, error) {
		a.k.redact.AddSecret(passphrase)
		if err := a.k.keys.Unlock(passphrase); err != nil {
			return Keys{}, err
		}
		return a.k.keysChanged(ctx)
	})
}

// SetKeyPassphrase sets, changes or takes away the passphrase of the encrypted
// file. Nobody can recover one that is forgotten. It fails with denied when the
// current one is wrong, with nothing changed.
func (a *InfraAPI) SetKeyPassphrase(ctx context.Context, in PassphraseInput) (Keys, error) {
	what := "set"
	if in.Next == "" {
		what = "removed"
	}
	return guard(ctx, a.caller, action{call: "infra.setKeyPassphrase", resource: "keys", meta: map[string]any{"passphrase": what}}, func(ctx context.Context) (Keys, error) {
		a.k.redact.AddSecret(in.Current)
		a.k.redact.AddSecret(in.Next)
		if err := a.k.keys.Protect(in.Current, in.Next); err != nil {
			return Keys{}, err
		}
		return a.k.keysChanged(ctx)
	})
}

// keysChanged tells everybody how the keys stand now.
func (k *Kernel) keysChanged(ctx context.Context) (Keys, error) {
	k.inspectKeys(ctx)
	return k.keysNow(ctx)
}

// guardLock finds keys that wait for their passphrase.
func (k *Kernel) guardLock(context.Context, bool) *Finding {
	lock, err := k.keys.Lock()
	if err != nil || !lock.Locked {
		return nil
	}
	return found(true, sys.Say("The keys are locked with your passphrase. What needs one of them fails until then"), sys.Say("Unlock them in Settings, Models, or with `oxios keys unlock`."))
}

// guardLoose finds keys that lie unencrypted in files of older programs, unless
// the person said to leave them there.
func (k *Kernel) guardLoose(ctx context.Context, _ bool) *Finding {
	left := k.leftKeys(ctx)
	var files []string
	for _, f := range k.looseKeys() {
		if slices.ContainsFunc(f.Keys, func(key security.LooseKey) bool { return !key.Renewed && !left[looseName(f, key)] }) {
			files = append(files, shortenHome(f.Path))
		}
	}
	if len(files) == 0 {
		return nil
	}
	return found(true, sys.Say("Keys lie unencrypted in %s", strings.Join(files, ", ")), sys.Say("Settings, Models takes them over or leaves them there; so does `oxios keys import`."))
}

// inspectKeys looks at the keys alone, as the guardian does, after something
// was done about them.
func (k *Kernel) inspectKeys(ctx context.Context) {
	if k.opts.Owner == OwnerRun {
		return
	}
	g := &k.guardian
	g.look.Lock()
	defer g.look.Unlock()
	g.mu.Lock()
	before := g.findings
	g.mu.Unlock()
	after := maps.Clone(before)
	if after == nil {
		after = map[string]Finding{}
	}
	for kind, check := range map[string]func(context.Context, bool) *Finding{FindingLock: k.guardLock, FindingLoose: k.guardLoose} {
		delete(after, kind)
		if f := check(ctx, false); f != nil {
			f.Kind, f.Since = kind, k.clock.Now()
			if old, ok := before[kind]; ok && old.Message == f.Message {
				f.Since = old.Since
			}
			after[kind] = *f
		}
	}
	k.recordFindings(ctx, before, after)
	g.mu.Lock()
	g.findings = after
	g.mu.Unlock()
	k.publishStatus()
}

// The keys that the person leaves where they are, by [looseName].
const leftKeysName = "keys.left"

func looseName(f security.KeySource, key security.LooseKey) string {
	return f.Path + "\n" + key.Provider
}

func (k *Kernel) leftKeys(ctx context.Context) map[string]bool {
	var names []string
	if raw, ok, err := k.store.Get(ctx, leftKeysName); err == nil && ok {
		_ = json.Unmarshal([]byte(raw), &names) // an unreadable list is an empty one: it is told again
	}
	left := map[string]bool{}
	for _, n := range names {
		left[n] = true
	}
	return left
}

// LeaveKeys says that the keys in files of older programs stay where they are:
// nothing reminds of them any more. They can be taken over later all the same.
func (a *InfraAPI) LeaveKeys(ctx context.Context) (Keys, error) {
	return guard(ctx, a.caller, action{call: "infra.leaveKeys", resource: "keys"}, func(ctx context.Context) (Keys, error) {
		names := []string{}
		for _, f := range a.k.looseKeys() {
			for _, key := range f.Keys {
				names = append(names, looseName(f, key))
			}
		}
		raw, err := json.Marshal(names)
		if err != nil {
			return Keys{}, err
		}
		if err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.Put(tx, leftKeysName, string(raw)) }); err != nil {
			return Keys{}, err
		}
		return a.k.keysChanged(ctx)
	})
}

// keyNames are the keys that a backup leaves out. While the encrypted file is
// locked its names are not known; every provider elsewhere stands for one then.
func (k *Kernel) keyNames(ctx context.Context) ([]BackupKey, error) {
	out := []BackupKey{}
	infos, err := k.keys.List()
	for _, i := range infos {
		out = append(out, BackupKey{Name: i.Name, Host: i.Host})
	}
	if !errors.Is(err, security.ErrKeysLocked) {
		return out, err
	}
	_, known, err := k.knownProviders(ctx)
	for _, p := range known {
		if u, perr := url.Parse(p.BaseURL); perr == nil {
			out = append(out, BackupKey{Name: p.ID, Host: u.Host})
		}
	}
	return out, err
}
