package kernel

import (
	"cmp"
	"context"
	"io"
	"path/filepath"

	"oxios/kernel/knowledge"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// VaultAttach is a file for the vault: one of Path, Upload and Data says which.
type VaultAttach struct {
	Name   string `json:"name,omitempty"`   // as it is to be called; the path's last part by default
	Path   string `json:"path,omitempty"`   // of a file of this machine, absolute or below ~; only for a person
	Upload string `json:"upload,omitempty"` // a file that came in parts, see [KnowledgeAPI.AttachPart]
	Data   []byte `json:"data,omitempty"`   // all of a small one
}

// VaultFile is a file of the vault, and a part of its bytes.
type VaultFile struct {
	knowledge.FileInfo
	Disk string `json:"disk"` // where it lies on this machine
	Data []byte `json:"data,omitempty"`
}

// VaultAnchor is the id of a block.
type VaultAnchor struct {
	ID     string      `json:"id"` // without ^
	Change VaultChange `json:"change"`
}

// Attach adds a file to attachments/, under a name that no other file of the vault
// has: a note shows it as ![[name]]. Nothing is overwritten. At most 50 MB.
func (a *KnowledgeAPI) Attach(ctx context.Context, in VaultAttach) (VaultChange, error) {
	name := cmp.Or(in.Name, filepath.Base(in.Path))
	shown := cleanName(name)
	return a.change(ctx, "knowledge.attach", shown, sys.Say("Attach %s to the notes", shown), name, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		data, err := a.attached(in, shown)
		if err != nil {
			return knowledge.Plan{}, err
		}
		return v.PlanAttach(ctx, name, data)
	})
}

// attached reads what is to be attached.
func (a *KnowledgeAPI) attached(in VaultAttach, name string) ([]byte, error) {
	switch {
	case in.Path == "" && in.Upload == "":
		return in.Data, nil
	case a.who.Kind == sys.KindAgent:
		return nil, sys.Errorf(sys.CodeForbidden, "Agents attach only what they hand over themselves. Nothing was added.")
	case in.Upload != "":
		return a.k.attached.whole(in.Upload)
	}
	path := expandHome(in.Path)
	if !filepath.IsAbs(path) {
		return nil, sys.Errorf(sys.CodeInvalid, "%s is not an absolute path. Nothing was attached.", in.Path)
	}
	real := realPath(path)
	if v := a.judge(path, real); v.Read >= security.TierRefuse {
		return nil, sys.Errorf(sys.CodeRefused, "%s was not attached: agents read the notes, and never this, because that %s.", shortenHome(path), sys.Words{EN: v.Reason, KO: v.ReasonKO}).
			WithHint("Keep it where it is.")
	}
	root, err := security.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, info, err := root.OpenRegular(filepath.Base(real))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > knowledge.MaxFile {
		return nil, knowledge.ErrAttachLarge(name)
	}
	return io.ReadAll(io.LimitReader(f, knowledge.MaxFile+1))
}

// AttachPart takes a part of a file for [KnowledgeAPI.Attach], at most 4 MB, that
// begins at offset, and returns its id. Parts come in order; the first has the id "".
func (a *KnowledgeAPI) AttachPart(ctx context.Context, id, name string, size, offset int64, data []byte) (string, error) {
	return guard(ctx, a.caller, action{call: "knowledge.attachPart", resource: "vault"}, func(context.Context) (string, error) {
		if id == "" {
			name := cleanName(name)
			if size > knowledge.MaxFile {
				return "", knowledge.ErrAttachLarge(name)
			}
			var err error
			if id, err = a.k.attached.begin(name, size); err != nil {
				return "", err
			}
		}
		_, _, err := a.k.attached.take(id, offset, data)
		return id, err
	})
}

// File returns what a file of the vault is, by its content, and at most 4 MB of
// its bytes from offset on; n is how many are asked for.
func (a *KnowledgeAPI) File(ctx context.Context, path string, offset, n int64) (VaultFile, error) {
	return guard(ctx, a.caller, a.looking("knowledge.file"), func(context.Context) (VaultFile, error) {
		v := a.k.vault()
		info, raw, err := v.Peek(path, offset, min(n, maxPart))
		if err != nil {
			return VaultFile{}, err
		}
		return VaultFile{FileInfo: info, Disk: v.path(info.Path), Data: raw}, nil
	})
}

// Embed returns what a link in the note at from shows there; link is its source,
// like ![[Name#Heading]] or ![text](name.png).
func (a *KnowledgeAPI) Embed(ctx context.Context, from, link string) (VaultEmbed, error) {
	return guard(ctx, a.caller, a.looking("knowledge.embed"), func(ctx context.Context) (VaultEmbed, error) {
		return a.k.vault().Embed(ctx, from, link)
	})
}

// Places returns what a link can name of the note that [[name]] in the note at
// from leads to: its headings and blocks; with name "", of the given text.
func (a *KnowledgeAPI) Places(ctx context.Context, from, name, text string) (VaultPlaces, error) {
	return guard(ctx, a.caller, a.looking("knowledge.places"), func(ctx context.Context) (VaultPlaces, error) {
		return a.k.vault().Places(ctx, from, name, text)
	})
}

// Anchor gives the block of a note that begins at a line an id, by which a link
// names it; one that is there stays. line counts from 1; base is the hash of the
// note in which it was seen, or "".
func (a *KnowledgeAPI) Anchor(ctx context.Context, path string, line int, base string) (VaultAnchor, error) {
	var out VaultAnchor
	change, err := a.change(ctx, "knowledge.anchor", path, sys.Say("Name a block of %s", path), line, func(ctx context.Context, v *vault) (plan knowledge.Plan, err error) {
		plan, out.ID, err = v.PlanAnchor(ctx, path, line, base)
		return plan, err
	})
	out.Change = change
	return out, err
}
