package kernel

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/git"
	"oxios/kernel/knowledge"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

const (
	// vaultFolder is the vault of a home, where the person names no other.
	vaultFolder = "knowledge"

	// trashFolder is where a home keeps what was deleted of its vaults.
	trashFolder = "trash"

	// settleVault is how long after a change the history takes it.
	settleVault = 2 * time.Second

	// vaultAnswers is how long a folder may take to say that it is there: one on a
	// network that is gone may never.
	vaultAnswers = 5 * time.Second
)

// vault is the person's notes in one folder, and their history.
type vault struct {
	*knowledge.Vault
	log     *git.Repo     // nil where the folder is one of the person's: nothing is written into a repository of theirs
	touched chan struct{} // something of it changed
}

// path is a path of the vault on the disk.
func (v *vault) path(name string) string { return filepath.Join(v.Dir(), filepath.FromSlash(name)) }

// vaults are the folders of notes that were in use since the start. One of them is.
type vaults struct {
	used    atomic.Pointer[vault]
	refused atomic.Pointer[sys.Error] // why the folder that config.toml names is not the one that is used

	mu       sync.Mutex        // held while another one is taken
	opened   map[string]*vault // by folder; each is opened once, so that no two write down what is under way in one
	switched chan struct{}     // another one is used
}

// vault is the one in use. A call asks once, and works on that one to its end.
func (k *Kernel) vault() *vault { return k.vaults.used.Load() }

// vaultDir is the folder that a value of vault_folder names.
func (k *Kernel) vaultDir(said string) string {
	if said == "" {
		return filepath.Join(k.opts.Home, vaultFolder)
	}
	return expandHome(said)
}

// firstVault opens the vault of config.toml. Its folder need not be there: it is
// waited for. For one that can never be used the home's own stands in.
func (k *Kernel) firstVault() error {
	k.vaults.opened, k.vaults.switched = map[string]*vault{}, make(chan struct{}, 1)
	dir := k.vaultDir(k.config.get().VaultFolder)
	if !filepath.IsAbs(dir) || security.Within(dir, k.opts.Home) {
		dir = k.vaultDir("")
	}
	v, err := k.openVault(dir)
	if err != nil {
		return err
	}
	k.vaults.used.Store(v)
	return nil
}

// openVault opens the vault of a folder, which it had open before perhaps.
func (k *Kernel) openVault(dir string) (*vault, error) {
	if v := k.vaults.opened[dir]; v != nil {
		return v, nil
	}
	own := k.vaultDir("")
	place := contentHash([]byte(dir))[:16]
	trash := place
	if dir == own {
		trash = vaultFolder // wherever the home lies
	}
	v := &vault{touched: make(chan struct{}, 1)}
	if dir == own {
		v.log = git.New(dir, k.clock)
	}
	var err error
	v.Vault, err = knowledge.Open(knowledge.Options{
		Dir: dir, State: filepath.Join(k.opts.Home, "run", "vault", place), Trash: filepath.Join(k.opts.Home, trashFolder, trash), Create: dir == own, Clock: k.clock, Log: k.log,
		Journal: func() knowledge.Journal {
			cfg := k.config.get()
			return journalOf(cfg.JournalFolder, cfg.JournalFormat, cfg.JournalTemplate)
		},
		OnChange: func(paths []string) {
			if v.log != nil && len(paths) > 0 {
				v.log.Touched(paths...)
			}
			if len(paths) > 0 {
				select {
				case v.touched <- struct{}{}:
				default:
				}
			}
			if k.vault() == v {
				k.publish(event.VaultChanged, scope{}, paths)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	k.vaults.opened[dir] = v
	return v, nil
}

// journalOf is the journal that settings describe, in which \n begins a line.
func journalOf(folder, format, template string) knowledge.Journal {
	return knowledge.Journal{Folder: folder, Format: format, Template: strings.ReplaceAll(template, `\n`, "\n")}
}

// followVault takes the vault that config.toml names, where that is another one. A
// folder that cannot be used leaves the old one in use, and the person is told.
func (k *Kernel) followVault(ctx context.Context) {
	k.vaults.mu.Lock()
	err := k.takeVault(ctx, k.vaultDir(k.config.get().VaultFolder), func() error { return nil })
	k.vaults.mu.Unlock()
	if err == nil {
		k.vaults.refused.Store(nil)
		return
	}
	said := sys.AsError(err)
	what, help := said.Words()
	e := sys.Errorf(said.Code, "config.toml names another folder for your notes, which cannot be used. %s The notes stay in %s.", what, shortenHome(k.vault().Dir())).WithHint("%s", help)
	if old := k.vaults.refused.Swap(e); old == nil || old.Message != e.Message {
		k.publish(event.Problem, scope{}, e)
	}
}

// useVault takes the notes of another folder in place of those in use. said notes
// the choice when it is known that the folder can be used; if it fails, the old one
// stays.
func (k *Kernel) useVault(ctx context.Context, dir string, said func() error) error {
	k.vaults.mu.Lock()
	defer k.vaults.mu.Unlock()
	err := k.takeVault(ctx, dir, said)
	if err == nil {
		k.vaults.refused.Store(nil)
	}
	return err
}

// takeVault does that under the lock. Writes that are under way end before, in the
// old vault, which keeps what it has.
func (k *Kernel) takeVault(ctx context.Context, dir string, said func() error) error {
	old := k.vault()
	next := old
	if dir != old.Dir() {
		if err := k.checkVault(ctx, dir); err != nil {
			return err
		}
		var err error
		if next, err = k.openVault(dir); err != nil {
			return err
		}
	}
	if err := said(); err != nil {
		return err
	}
	if next == old {
		return nil
	}
	k.vaultWrites.Lock()
	k.vaults.used.Store(next)
	k.vaultWrites.Unlock()
	select {
	case k.vaults.switched <- struct{}{}:
	default:
	}
	k.publish(event.VaultSwitched, scope{}, event.Text{Text: shortenHome(dir)})
	return nil
}

// checkVault says why a folder cannot hold the notes; nil if it can.
func (k *Kernel) checkVault(ctx context.Context, dir string) error {
	if dir == k.vaultDir("") {
		return nil // it is made where it is missing
	}
	if !filepath.IsAbs(dir) {
		return sys.Errorf(sys.CodeInvalid, "%q is not an absolute path.", dir).WithHint("Write it from / or from ~ on.")
	}
	answer := make(chan error, 1)
	go func() { answer <- k.lookAtVault(dir) }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(vaultAnswers):
		return sys.Errorf(sys.CodeUnavailable, "The folder %s did not answer for %d seconds.", shortenHome(dir), int(vaultAnswers.Seconds())).
			WithHint("Look whether its drive or its network is connected.")
	}
}

func (k *Kernel) lookAtVault(dir string) error {
	real := realPath(dir)
	if security.Within(real, realPath(k.opts.Home)) {
		return sys.Errorf(sys.CodeRefused, "%s lies in the folder in which Oxios keeps its own things.", shortenHome(dir)).
			WithHint("Choose a folder elsewhere, or that of Oxios itself.")
	}
	info, err := os.Stat(real)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return sys.Errorf(sys.CodeNotFound, "There is no folder %s.", shortenHome(dir)).WithHint("Make it first, or choose another one.")
	case err == nil && !info.IsDir():
		return sys.Errorf(sys.CodeInvalid, "%s is a file, not a folder.", shortenHome(dir)).WithHint("Choose the folder that it is in.")
	}
	if err == nil {
		var f *os.File
		if f, err = os.Open(real); err == nil {
			_, err = f.Readdirnames(1)
			err = cmp.Or(f.Close(), err)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return sys.Errorf(sys.CodeForbidden, "%s cannot be used: %w.", shortenHome(dir), err).WithHint("Choose another folder.")
	}
	return cmp.Or(k.private(real), k.deniedFolder(real))
}

// keepVault watches the vault in use, and keeps its history.
func (k *Kernel) keepVault(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.keep(ctx, k.vault()); err != nil {
			return err
		}
	}
	return nil
}

// keep watches a vault until ctx ends or another one is used.
func (k *Kernel) keep(ctx context.Context, v *vault) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	changed := false
	for {
		select {
		case <-ctx.Done():
			err := <-done
			select {
			case <-v.touched:
				changed = true
			default:
			}
			if changed {
				k.commitVault(context.WithoutCancel(ctx), v, nil, ".")
			}
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		case <-k.vaults.switched:
			if k.vault() != v {
				leave()
			}
		case <-v.touched:
			changed = true
			select {
			case <-ctx.Done():
			case <-time.After(settleVault):
				k.commitVault(ctx, v, nil, ".")
				changed = false
			}
		}
	}
}

// commitVault puts what changed of some files, "." for all, into the history.
// said are lines of the commit; see [movedBy] and [runOf]. The files are the truth:
// what fails here is made up for by the next commit.
func (k *Kernel) commitVault(ctx context.Context, v *vault, said []string, files ...string) {
	if v.log == nil {
		return
	}
	message := "Notes"
	if len(said) > 0 {
		message += "\n\n" + strings.Join(said, "\n")
	}
	id, err := v.log.Commit(ctx, message, files...)
	if err != nil {
		k.log.WarnContext(ctx, "Could not commit the vault; the next commit takes it along", "error", err)
	}
	k.recordCommit(ctx, "knowledge", id)
}
