package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// maxTried is how many paths a command may touch on a copy to be shown.
const maxTried = 5000

// TryInput asks for a command to be tried on a copy.
type TryInput struct {
	Hash string `json:"hash"` // of the request that was shown
}

// ApplyInput applies what was shown of a try.
type ApplyInput struct {
	Hash    string `json:"hash"`              // of the try that was shown: [Try.Hash]
	Comment string `json:"comment,omitempty"` // for the agent
}

// Try is what a command did on a copy of its folder. The folder itself is
// untouched.
type Try struct {
	ApprovalID string     `json:"approval_id"`
	Result     ExecResult `json:"result"`            // how it ended, and which machines it asked for in vain
	NoteKO     string     `json:"note_ko,omitempty"` // the note of the result in Korean, where it has one
	Files      []UndoFile `json:"files"`             // what it would do; a conflict was changed in the folder since the try began
	Bytes      int64      `json:"bytes"`             // how much would be written
	Conflicts  int        `json:"conflicts"`
	Impossible int        `json:"impossible"`
	Hash       string     `json:"hash"` // of exactly this; [SecurityAPI.ApplyTry] takes it
	At         time.Time  `json:"at"`
}

// Tried says how far trying the command of a request is.
type Tried struct {
	Running bool `json:"running"`
	Try     *Try `json:"try,omitempty"` // the last one, if it was not discarded
}

// tries are the commands whose requests wait, and their being tried.
type tries struct {
	k *Kernel

	mu      sync.Mutex
	waiting map[string]*command // by the request
	running map[string]context.CancelCauseFunc
}

func newTries(k *Kernel) *tries {
	return &tries{k: k, waiting: map[string]*command{}, running: map[string]context.CancelCauseFunc{}}
}

// base is where the copies lie, each in a folder of its own while its command
// runs.
func (t *tries) base() string { return filepath.Join(t.k.opts.Home, "tries") }

// sweep removes what was left of copies when Oxios went down.
func (t *tries) sweep() {
	entries, err := os.ReadDir(t.base())
	if err != nil {
		return
	}
	for _, e := range entries {
		sandbox.Copy{Scratch: filepath.Join(t.base(), e.Name())}.Remove()
	}
}

// errDropped ends a try that nobody wants any more.
var errDropped = errors.New("the try was stopped")

// offer has the command of a request be tried until the returned function is
// called, which ends a try that is at work.
func (t *tries) offer(id string, c *command) func() {
	if c == nil {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[id] = c
	return func() {
		t.mu.Lock()
		delete(t.waiting, id)
		t.mu.Unlock()
		t.stop(id)
	}
}

// answered awaits the answer to a request. What was tried of a command that will
// not run is forgotten.
func (c *caller) answered(ctx context.Context, a action, ap security.Approval) (security.Approval, error) {
	out, err := c.await(ctx, ap)
	if a.command != nil && err != nil && ctx.Err() == nil {
		c.k.tries.drop(ctx, ap.ID)
	}
	return out, err
}

// stop ends the try of a request, if it is at work.
func (t *tries) stop(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if end := t.running[id]; end != nil {
		end(errDropped)
	}
}

func (t *tries) drop(ctx context.Context, id string) {
	err := t.k.store.Write(ctx, func(tx *store.Tx) error { return t.k.store.DropTry(tx, id) })
	if err != nil {
		t.k.log.WarnContext(ctx, "Could not forget what was tried on a copy", "error", err)
	}
}

// noTry says why a command cannot be tried on a copy, nil when it can.
func (c *command) noTry(ctx context.Context) error {
	k := c.caller.k
	folder := realPath(c.caller.scope.folder)
	switch {
	case c.err != nil:
		return c.err
	case c.background:
		return sys.Errorf(sys.CodeUnavailable, "A command in the background cannot be tried on a copy: nobody knows when it is over.")
	case security.Within(realPath(k.opts.Home), folder):
		return sys.Errorf(sys.CodeUnavailable, "There can be no copy of %s: Oxios' own folder lies in it.", shortenHome(folder))
	}
	if err := k.canCopy(ctx); err != nil {
		return err
	}
	return sandbox.CopyOf(folder)
}

// canCopy says why no command can be tried on a copy here, nil when it can.
func (k *Kernel) canCopy(ctx context.Context) error {
	if err := os.MkdirAll(k.tries.base(), 0o700); err != nil {
		return sys.Errorf(sys.CodeDiskFull, "No folder could be made for a copy: %w", err)
	}
	return k.sandbox.CanCopy(ctx, k.tries.base())
}

// Try runs the command of a request that waits on a copy of its folder, with the
// network shut, and says what it did there. The request goes on waiting. When
// ctx ends, or by [SecurityAPI.DropTry], the command is ended.
func (a *SecurityAPI) Try(ctx context.Context, approvalID string, in TryInput) (Try, error) {
	act := action{call: "security.try", resource: "approval:" + approvalID, meta: map[string]any{"hash": in.Hash}}
	return guard(ctx, a.caller, act, func(ctx context.Context) (Try, error) {
		ap, c, err := a.k.tries.find(ctx, approvalID)
		if err != nil {
			return Try{}, err
		}
		if in.Hash != ap.Request.Hash {
			return Try{}, sys.Errorf(sys.CodeConflict, "The request changed since it was shown. Nothing was decided.").WithHint("Look at it again.")
		}
		if err := c.noTry(ctx); err != nil {
			return Try{}, err
		}
		if err := c.movedNow(); err != nil {
			return Try{}, err
		}
		run, err := a.k.run(ctx, ap.Request.RunID)
		if err != nil {
			return Try{}, err
		}
		kept, err := a.k.tries.on(ctx, ap, c)
		if err != nil {
			return Try{}, err
		}
		return a.k.tries.view(ctx, run, kept)
	})
}

// Tried says what came of trying the command of a request, as the folder is now.
func (a *SecurityAPI) Tried(ctx context.Context, approvalID string) (Tried, error) {
	return guard(ctx, a.caller, action{call: "security.tried", resource: "approval:" + approvalID}, func(ctx context.Context) (Tried, error) {
		a.k.tries.mu.Lock()
		out := Tried{Running: a.k.tries.running[approvalID] != nil}
		a.k.tries.mu.Unlock()
		kept, err := a.k.store.Try(ctx, approvalID)
		if err != nil || kept == nil || kept.State != store.TryShown {
			return out, err
		}
		run, err := a.k.run(ctx, kept.RunID)
		if err != nil {
			return out, err
		}
		v, err := a.k.tries.view(ctx, run, kept)
		out.Try = &v
		return out, err
	})
}

// DropTry ends a try that is at work and forgets what it did. The request waits
// as before.
func (a *SecurityAPI) DropTry(ctx context.Context, approvalID string) error {
	_, err := guard(ctx, a.caller, action{call: "security.dropTry", resource: "approval:" + approvalID}, func(ctx context.Context) (struct{}, error) {
		a.k.tries.stop(approvalID)
		return struct{}{}, a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.DropTry(tx, approvalID) })
	})
	return err
}

// find returns a request that waits and the command that it is about.
func (t *tries) find(ctx context.Context, id string) (security.Approval, *command, error) {
	ap, err := t.k.approvals.Get(ctx, id)
	if err != nil {
		return ap, nil, err
	}
	if ap.State != security.ApprovalPending {
		return ap, nil, sys.Errorf(sys.CodeConflict, "This request does not wait any more: it is %s.", ap.State)
	}
	if ap.Request.Command == "" {
		return ap, nil, sys.Errorf(sys.CodeInvalid, "Only commands can be tried on a copy, and this request is about no command.")
	}
	t.mu.Lock()
	c := t.waiting[id]
	t.mu.Unlock()
	if c == nil {
		return ap, nil, sys.Errorf(sys.CodeUnavailable, "The run that asked this is not at work now, so its command cannot be tried.").
			WithHint("Start Oxios, so that the run goes on, or decide without a try.")
	}
	return ap, c, nil
}

// on tries a command on a copy and keeps what it did.
func (t *tries) on(ctx context.Context, ap security.Approval, c *command) (*store.Try, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	t.mu.Lock()
	if t.running[ap.ID] != nil {
		t.mu.Unlock()
		return nil, sys.Errorf(sys.CodeBusy, "This command is being tried already.")
	}
	t.running[ap.ID] = end
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.running, ap.ID)
		t.mu.Unlock()
	}()
	one := *c // with a proxy and notes of its own
	one.meta = map[string]any{}
	spec := one.spec(ctx)
	one.grantOutside(&spec, true)
	kept := &store.Try{ApprovalID: ap.ID, RunID: ap.Request.RunID, StepID: ap.Request.StepID, State: store.TryShown, At: t.k.clock.Now()}
	copied, err := t.copyOf(&one, true)
	if err != nil {
		return nil, err
	}
	defer copied.Remove()
	spec.Copy = &copied.Copy
	res, err := t.k.sandbox.Run(ctx, spec)
	if errors.Is(context.Cause(ctx), errDropped) {
		return nil, sys.Errorf(sys.CodeCanceled, "The try was stopped. The request waits as before.")
	}
	if err != nil {
		return nil, err
	}
	result := keptResult{ExecResult: one.result(res, spec)}
	if movedFolder(res) {
		result.note(sys.Say("On a copy, a folder that was there before cannot be moved or renamed, and this program did not get along with that. It can be approved without the copy."))
	}
	objects := t.k.undos.objects
	objects.Clearing.RLock()
	defer objects.Clearing.RUnlock()
	var aside []planted
	if kept.Files, aside, err = t.files(ctx, copied); err != nil {
		return nil, sys.AsError(err).WithHint("It can be approved without a copy.")
	}
	if len(aside) > 0 && result.Note == "" {
		p := planting{c: &one}
		for _, n := range aside {
			p.say(&p.said, n)
		}
		result.note(sys.Say("Left out, because git would run it: %s.", p.names(p.said)))
	}
	if kept.Result, err = json.Marshal(result); err != nil {
		return nil, err
	}
	raw, err := json.Marshal([]any{ap.ID, ap.Request.Hash, sys.NewID(), kept.Files})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	kept.Hash = hex.EncodeToString(sum[:])
	// An answer that came meanwhile was given without this.
	err = t.k.store.Write(ctx, func(tx *store.Tx) error {
		if err := t.k.approvals.Waits(tx, ap.ID); err != nil {
			return err
		}
		return t.k.store.PutTry(tx, *kept)
	})
	return kept, err
}

// keptResult is how a try ended, as the database keeps it.
type keptResult struct {
	ExecResult
	NoteKO string `json:"note_ko,omitempty"`
}

func (r *keptResult) note(said sys.Words) { r.Note, r.NoteKO = said.EN, said.KO }

// view shows a try as the folder is now.
func (t *tries) view(ctx context.Context, run Run, kept *store.Try) (Try, error) {
	v := Try{ApprovalID: kept.ApprovalID, Files: []UndoFile{}, Hash: kept.Hash, At: kept.At}
	var result keptResult
	if err := json.Unmarshal(kept.Result, &result); err != nil {
		return v, err
	}
	v.Result, v.NoteKO = result.ExecResult, result.NoteKO
	folder := realPath(run.Folder)
	root, err := security.OpenRoot(folder)
	if err != nil {
		return v, err
	}
	defer root.Close()
	for _, k := range kept.Files {
		f, err := triedFile(root, folder, k)
		if err == nil && f.Status == UndoReady && f.Does != TryMode {
			err = t.k.undos.show(ctx, &f, root, k.Path)
		}
		if err != nil {
			return v, err
		}
		switch f.Status {
		case UndoConflict:
			v.Conflicts++
		case UndoImpossible:
			v.Impossible++
		}
		if f.becomes.Content != f.was.Content {
			v.Bytes += f.becomes.Size
		}
		v.Files = append(v.Files, f)
	}
	return v, nil
}

// triedFile looks at one path of a try.
func triedFile(root *security.Root, folder string, k store.TriedFile) (UndoFile, error) {
	f := UndoFile{Path: k.Path, path: filepath.Join(folder, filepath.FromSlash(k.Path)), Status: UndoReady, Does: TryChanges, By: []string{}}
	var err error
	if f.was, err = undo.Parse(k.Was); err != nil {
		return f, err
	}
	if f.becomes, err = undo.Parse(k.Becomes); err != nil {
		return f, err
	}
	f.meta = undo.ParseMeta(k.Becomes)
	f.Size, f.Folder = f.becomes.Size, f.becomes.Kind == undo.Folder || f.was.Kind == undo.Folder && f.becomes.Kind == undo.Absent
	same := f.was
	same.Mode = f.becomes.Mode
	switch {
	case f.was.Kind == undo.Absent:
		f.Does = TryCreates
	case f.becomes.Kind == undo.Absent:
		f.Does = TryDeletes
	case same == f.becomes:
		f.Does = TryMode
	}
	say := func(status string, w sys.Words) { f.Status, f.Why, f.WhyKO = status, w.EN, w.KO }
	f.now, err = undo.Look(root, k.Path)
	switch {
	case err != nil:
		say(UndoImpossible, sys.Say("It cannot be read now."))
		return f, nil
	case f.was.Kind == undo.Other || f.becomes.Kind == undo.Other:
		say(UndoImpossible, sys.Say("It is a pipe, a socket or a device, which cannot be applied."))
		return f, nil
	case k.Late || f.now != f.was || !undo.Direct(root, k.Path):
		say(UndoConflict, sys.Say("It was changed in the folder since the command was tried."))
		return f, nil
	}
	if f.Does == TryMode {
		w := sys.Say("Its permissions: %o becomes %o.", f.was.Mode, f.becomes.Mode)
		f.Why, f.WhyKO = w.EN, w.KO
	}
	return f, nil
}

// inTheWay names the paths because of which a try cannot be applied.
func (v Try) inTheWay() (names []string) {
	for _, f := range v.Files {
		if f.Status != UndoReady {
			names = append(names, f.Path)
		}
	}
	if more := len(names) - 5; more > 0 {
		names = append(slices.Clone(names[:5]), fmt.Sprintf("(+%d)", more))
	}
	return names
}
