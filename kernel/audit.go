package kernel

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"

	"github.com/zeebo/blake3"
)

// checkpointFile holds the signed checkpoints of the audit chain, in the home. It
// is no table, so that a database which is put back to an older copy is found.
const checkpointFile = "audit/checkpoints.jsonl"

// keepCheckpoints opens the key that signs the audit chain, and reports whether
// it was made just now. A key that cannot be read is the guardian's to tell: the
// chain goes on without signatures.
func (k *Kernel) keepCheckpoints() (made bool) {
	key, made, err := security.OpenSigningKey(filepath.Join(k.opts.Home, "keys"), k.log)
	if err != nil {
		k.log.Warn("The audit record cannot be signed", "error", err)
		k.checked.noKey = err
		key = nil
	}
	k.audit.Keep(security.Keeping{Key: key, Broken: err, File: filepath.Join(k.opts.Home, filepath.FromSlash(checkpointFile)), Witness: k.witness})
	return made && err == nil
}

// witness is the file outside the home that is told of every checkpoint, "" for
// none.
func (k *Kernel) witness() string {
	switch w := k.config.get().AuditWitness; w {
	case "":
		return ""
	case "auto":
		return k.ownWitness()
	default:
		return expandHome(w)
	}
}

// ownWitness lies in the system's folder for the state of programs. Each home has
// a file of its own; where the environment names no such folder there is none.
func (k *Kernel) ownWitness() string {
	dir := k.opts.Env("XDG_STATE_HOME")
	if runtime.GOOS == "windows" {
		dir = k.opts.Env("LOCALAPPDATA")
	}
	person := k.opts.Env("HOME")
	if !filepath.IsAbs(dir) {
		if !filepath.IsAbs(person) {
			return ""
		}
		dir = filepath.Join(person, ".local", "state")
	}
	name := "audit-witness.jsonl"
	if k.opts.Home != filepath.Join(person, ".oxios") {
		sum := blake3.Sum256([]byte(k.opts.Home))
		name = "audit-witness-" + hex.EncodeToString(sum[:4]) + ".jsonl"
	}
	return filepath.Join(dir, "oxios", name)
}

// witnessPlace is what no agent may touch because of the witness: the folder that
// Oxios has for it, also while another file is the witness or none is, and that
// file.
func (k *Kernel) witnessPlace() []string {
	var at []string
	own, w := k.ownWitness(), k.witness()
	if own != "" {
		at = append(at, filepath.Dir(own))
	}
	if w != "" && w != own {
		at = append(at, w)
	}
	return at
}

func (k *Kernel) isWitness(path string) bool {
	for _, at := range k.witnessPlace() {
		if security.Leads(path, at) || security.Leads(path, realPath(at)) {
			return true
		}
	}
	return false
}

// signAudit signs a checkpoint whenever enough was written.
func (k *Kernel) signAudit(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.audit.Due():
			k.checkpoint(ctx)
		}
	}
}

func (k *Kernel) checkpoint(ctx context.Context) {
	if err := k.audit.Checkpoint(ctx); err != nil && ctx.Err() == nil {
		k.log.Warn("A checkpoint of the audit record could not be kept", "error", err)
	}
}

// guardWitness signs what is new, and says when that or the witness fails: then
// the chain stands alone.
func (k *Kernel) guardWitness(ctx context.Context, _ bool) *Finding {
	if k.checked.noKey != nil {
		return found(true, sys.Say("The audit record cannot be signed: %s", sys.TextOf(k.checked.noKey)), sys.Say("What agents do is recorded all the same. Move keys/audit.key away; the next start makes a new key."))
	}
	if w := k.witness(); w != "" && security.Leads(w, k.opts.Home) {
		return found(true, sys.Say("The witness of the audit record, %s, lies in the home: whoever changes one changes both.", shortenHome(w)), sys.Say("Set audit_witness to a file outside of %s.", shortenHome(k.opts.Home)))
	}
	err := k.audit.Checkpoint(ctx)
	var away *security.WitnessError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &away):
		return found(true, sys.Say("The witness of the audit record, %s, could not be told: %s", shortenHome(away.File), reason(away.Err)),
			sys.Say("What agents do is recorded and signed all the same. Look after that file, or set audit_witness to another, or to nothing."))
	}
	return found(true, sys.Say("The audit record cannot be signed: %s", sys.TextOf(err)), sys.Say("What agents do is recorded all the same. Check that the disk is there, writable and healthy."))
}

// reason is why a file could not be written, without its path.
func reason(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// checked is what the last verification of the chain found.
type checked struct {
	noKey error // why nothing is signed; set when the kernel opens

	mu     sync.Mutex
	at     time.Time
	report security.AuditReport
}

func (k *Kernel) noteChecked(r security.AuditReport) {
	k.auditOK.Store(r.OK)
	k.checked.mu.Lock()
	defer k.checked.mu.Unlock()
	k.checked.at, k.checked.report = k.clock.Now(), r.Judged()
}

// verdict is what the last verification found, in a few words.
func (k *Kernel) verdict() sys.Words {
	k.checked.mu.Lock()
	defer k.checked.mu.Unlock()
	return sys.Words{EN: k.checked.report.Verdict, KO: k.checked.report.VerdictKO}
}

// RenewAudit begins the evidence of the record anew: the checkpoints and the
// witness that are there are put aside, and new ones begin. The record says who
// did it and what was wrong, and so does every verification from then on. It
// returns what was wrong.
func (a *SecurityAPI) RenewAudit(ctx context.Context) (AuditReport, error) {
	return guard(ctx, a.caller, action{call: "security.renewAudit", resource: "audit"}, func(ctx context.Context) (AuditReport, error) {
		before, err := a.k.audit.Renew(ctx, a.k.opts.Home, func(r AuditReport) security.Entry {
			return a.k.newEntry(a.who.Actor(), security.ActionConfigChange, "audit renewed", map[string]any{"problem": r.Problem, "entries": r.Entries, "head": r.Head, "node": a.k.node})
		})
		if err != nil {
			return before, err
		}
		after, err := a.k.audit.VerifyAll(ctx, a.k.opts.Home)
		if err == nil {
			a.k.noteChecked(after)
			a.k.publishStatus()
		}
		return before.Judged(), err
	})
}

// AuditState is how the chain stands: what was checked last, signed and
// witnessed.
type AuditState struct {
	security.Standing
	First     int64                 `json:"first"`               // the first entry that is here; 0 when there is none
	Last      int64                 `json:"last"`                // the newest
	Since     time.Time             `json:"since,omitzero"`      // when the first one was written
	CheckedAt time.Time             `json:"checked_at,omitzero"` // when the chain was verified last
	Checked   *security.AuditReport `json:"checked,omitempty"`   // what that found
}

// AuditState returns how the chain stands.
func (a *SecurityAPI) AuditState(ctx context.Context) (AuditState, error) {
	return guard(ctx, a.caller, action{call: "security.auditState", resource: "audit"}, func(ctx context.Context) (AuditState, error) {
		s := AuditState{Standing: a.k.audit.Standing()}
		first, last, err := a.k.auditEnds(ctx)
		if err != nil {
			return s, err
		}
		s.First, s.Since, s.Last = first.Seq, first.Timestamp, last.Seq
		a.k.checked.mu.Lock()
		defer a.k.checked.mu.Unlock()
		if s.CheckedAt = a.k.checked.at; !s.CheckedAt.IsZero() {
			r := a.k.checked.report
			s.Checked = &r
		}
		return s, nil
	})
}

// AuditPart is a piece of an exported chain.
type AuditPart = security.ExportPart

// ExportAudit returns the records that follow entry after, a line each, with the
// checkpoints that sign them; 0 begins. A person calls it until it is done. What
// is there at the beginning is signed first.
func (a *SecurityAPI) ExportAudit(ctx context.Context, after int64) (AuditPart, error) {
	return guard(ctx, a.caller, action{call: "security.exportAudit", resource: "audit"}, func(ctx context.Context) (AuditPart, error) {
		if after == 0 {
			a.k.checkpoint(ctx)
		}
		return a.k.audit.Export(ctx, after)
	})
}

// SaveAudit writes the whole export to a file, which only the person may read.
// path must be absolute. A file that is there is replaced only when replace says
// so.
func (a *SecurityAPI) SaveAudit(ctx context.Context, path string, replace bool) (SavedFile, error) {
	meta := map[string]any{"path": path}
	return guard(ctx, a.caller, action{call: "security.saveAudit", resource: "audit", paths: namedPaths(path), meta: meta}, func(ctx context.Context) (SavedFile, error) {
		return a.k.saveAudit(ctx, path, replace)
	})
}

// saveAudit writes an export beside its place first, so that a file is there
// whole or not at all.
func (k *Kernel) saveAudit(ctx context.Context, path string, replace bool) (out SavedFile, err error) {
	if !filepath.IsAbs(path) {
		return out, sys.Errorf(sys.CodeInvalid, "%q is not an absolute path. Nothing was written.", path)
	}
	if _, err := os.Lstat(path); !replace && !errors.Is(err, fs.ErrNotExist) {
		return out, sys.Errorf(sys.CodeConflict, "%s is there already. It was not overwritten.", path).WithHint("Choose another name.")
	}
	k.checkpoint(ctx)
	f, err := os.CreateTemp(filepath.Dir(path), ".oxios-*.tmp") // open to its owner alone
	if err != nil {
		return out, notWritten(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err = errors.Join(k.audit.ExportTo(ctx, f), f.Sync()); err != nil {
		return out, notWritten(errors.Join(err, f.Close()))
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return out, notWritten(err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return out, notWritten(err)
	}
	return SavedFile{Path: path, Bytes: info.Size()}, nil
}
