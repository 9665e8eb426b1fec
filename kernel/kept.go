package kernel

import (
	"context"
	"encoding/json"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// What faces keep is small: widths of panes, what was chosen last. The limits
// hold a face that goes wrong.
const (
	maxKeptValue = 16 << 10 // bytes
	maxKeptKeys  = 100      // keys
)

var keptKey = sys.Pattern(`^[a-z][a-z0-9_.-]{0,63}$`)

// Kept returns what faces keep on this machine between two starts: layout,
// recent choices. It is the same for the window and for every browser, whatever
// address the page has. Nothing in it decides what an agent may do.
func (a *InfraAPI) Kept(ctx context.Context) (map[string]string, error) {
	return guard(ctx, a.caller, action{call: "infra.kept", resource: "kept"}, func(ctx context.Context) (map[string]string, error) {
		raw, _, err := a.k.store.Get(ctx, "kept")
		return keptValues(raw), err
	})
}

// Keep keeps a value for [InfraAPI.Kept]; "" forgets it. The newest value of a
// key wins.
func (a *InfraAPI) Keep(ctx context.Context, key, value string) error {
	_, err := guard(ctx, a.caller, action{call: "infra.keep", resource: "kept:" + key}, func(ctx context.Context) (struct{}, error) {
		if !keptKey().MatchString(key) || len(value) > maxKeptValue {
			return struct{}{}, sys.Errorf(sys.CodeInvalid, "%q cannot be kept: a key has up to 64 small letters, digits, - and _, a value up to 16 kB.", sys.Shorten(key, 80))
		}
		return struct{}{}, a.k.store.Write(ctx, func(tx *store.Tx) error {
			raw, _, err := a.k.store.GetIn(tx, "kept")
			if err != nil {
				return err
			}
			all := keptValues(raw)
			if all[key] = value; value == "" {
				delete(all, key)
			}
			if len(all) > maxKeptKeys {
				return sys.Errorf(sys.CodeTooLarge, "%d values are kept already, which is the most.", maxKeptKeys)
			}
			out, err := json.Marshal(all)
			if err != nil {
				return err
			}
			return a.k.store.Put(tx, "kept", string(out))
		})
	})
	return err
}

// keptValues reads what was kept. What cannot be read is as good as nothing:
// faces have defaults.
func keptValues(raw string) map[string]string {
	all := map[string]string{}
	if json.Unmarshal([]byte(raw), &all) != nil || all == nil {
		return map[string]string{}
	}
	return all
}
