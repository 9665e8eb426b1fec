// Package knowledge is the person's vault: a folder of plain markdown files,
// Oxios's own one or an Obsidian folder in place.
//
// It promises:
//
//   - The files are the truth. What is kept beside them (an index in another
//     folder) can be thrown away and is built again.
//   - A change is planned ([Plan]) before it is applied, with the bytes before
//     and after, so that the caller can show it, record it and undo it.
//   - A change is applied only to the bytes that it was planned on. When a file
//     changed since, nothing is written. Several files change together: what a
//     crash cuts off is finished when the vault is opened again.
//   - Nothing outside the folder is read or written through it, whatever a path
//     or a link in the folder says. Hidden files and folders (.obsidian, .git,
//     .trash) are left alone.
//
// The parts:
//
//	vault.go     the vault and its options; path.go: names of files
//	note.go      one note as it is read; scan.go, inline.go: what stands in it
//	index.go     what is known of all notes; rescan.go, ingest.go: from the disk;
//	             index_file.go: kept beside the vault
//	resolve.go   where a link leads; links.go: who links where;
//	             graph.go: all of that; unlinked.go: who names a note without a link
//	search.go    words and their order; text.go: snippets; switch.go: titles, 초성
//	plan.go      changes of one note; journal.go; move.go: renames with their links
//	apply.go     changes become files, by the hand in hand.go; redo.go: after a crash
//	trash.go     what was deleted; attach.go: files that notes show
//	embed.go     the part of a file that a link shows; blocks.go: what it can name
//	watch.go     changes from outside
package knowledge

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"oxios/kernel/sys"
)

const (
	mega = 1 << 20

	// maxNote is the size over which a note is not read, and not indexed: 16 MB.
	maxNote = 16 * mega
	// maxFile is the size over which [Vault.Check] names any file: 50 MB.
	maxFile = 50 * mega
)

// Options say where the vault is, and what it is kept with.
type Options struct {
	Dir    string // the folder of the notes
	State  string // a folder outside the vault for the index and for changes under way
	Trash  string // a folder outside the vault for what was deleted
	Create bool   // make Dir when it is missing: for the default vault, never for a folder that may be a drive that is off

	Clock sys.Clock    // nil: the real time
	Log   *slog.Logger // nil: nothing is logged

	// Journal says how the journal looks. It is asked each time; nil is the usual
	// one.
	Journal func() Journal

	// OnChange is told the paths of files that came, changed or went, by the
	// vault itself or by somebody else; none when the folder itself went, or is
	// back. It is called from one goroutine at a
	// time, holding no lock, after the index knows of the change.
	OnChange func(paths []string)
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Journal == nil {
		o.Journal = func() Journal { return Journal{} }
	}
	return o
}

// Vault is a folder of notes. Its methods may be called from any goroutine.
// Paths are relative to the folder, with slashes, in NFC.
type Vault struct {
	opt Options
	dir string
	log *slog.Logger

	pace  pace
	quick bool // nothing is flushed: for tests that pull no plug

	// step is called before each thing that [Vault.Apply] does to the disk. A test
	// ends the process there.
	step func(what string)

	applying sync.Mutex // one change at a time
	scanning sync.Mutex // one walk at a time, also the first; never taken inside applying

	loaded  atomic.Bool
	redo    atomic.Bool  // changes of an earlier process may be left to finish
	present atomic.Int64 // when the folder was seen last, as the time of the process in nanoseconds
	dirty   atomic.Bool  // the index changed since it was saved

	telling sync.Mutex // serializes OnChange

	mu sync.RWMutex
	ix *index

	texts textCache
}

// Open returns the vault of a folder. It starts nothing and reads nothing but
// what a crash may have left unfinished, which it finishes. A folder that is not
// there is no error here: each call says so until it is back.
func Open(opt Options) (*Vault, error) {
	opt = opt.withDefaults()
	dir, err := filepath.Abs(opt.Dir)
	if err != nil || opt.Dir == "" {
		return nil, errGone(opt.Dir, err)
	}
	v := &Vault{opt: opt, dir: dir, log: opt.Log, step: func(string) {}, ix: newIndex(), pace: usualPace}
	if opt.Create {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, errWrite(dir, err)
		}
	}
	if err := os.MkdirAll(opt.State, 0o700); err != nil {
		return nil, errState(opt.State, err)
	}
	v.redo.Store(true)
	if _, err := os.Stat(dir); err == nil {
		if err := v.finish(context.Background()); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Dir returns the folder of the vault.
func (v *Vault) Dir() string { return v.dir }

// Close saves the index. It is no error to go on using the vault.
func (v *Vault) Close() error { return v.save() }

// started is the zero of [Vault.present]: monotonic, so that a clock that is set
// back hides nothing.
var started = time.Now()

// presentFor is how long a call that only asks the memory trusts that the folder
// is still there.
var presentFor = 200 * time.Millisecond

// there fails with CodeUnavailable when the folder of the vault is missing.
func (v *Vault) there() error {
	info, err := os.Stat(v.dir)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		v.present.Store(0)
		return errGone(v.dir, err)
	}
	v.present.Store(int64(time.Since(started)) + 1)
	return nil
}

// thereLately is [Vault.there], which a recent answer stands for.
func (v *Vault) thereLately() error {
	if at := v.present.Load(); at != 0 && int64(time.Since(started))-at < int64(presentFor) {
		return nil
	}
	return v.there()
}

// ready makes sure that the folder is there and that the index was built once.
func (v *Vault) ready(ctx context.Context) error {
	if v.loaded.Load() && !v.redo.Load() {
		return v.thereLately()
	}
	return v.prepare(ctx)
}

func (v *Vault) prepare(ctx context.Context) error {
	if err := v.there(); err != nil {
		return err
	}
	if v.redo.Load() {
		if err := v.finish(ctx); err != nil {
			return err
		}
	}
	v.scanning.Lock()
	defer v.scanning.Unlock()
	if v.loaded.Load() {
		return nil
	}
	v.load()
	if _, err := v.rescan(ctx); err != nil {
		return err
	}
	v.loaded.Store(true)
	return nil
}

// root opens the folder. Everything below goes through it, so that neither a
// path nor a symbolic link leads out.
func (v *Vault) root() (*os.Root, error) {
	root, err := os.OpenRoot(v.dir)
	if err != nil {
		v.present.Store(0)
		return nil, errGone(v.dir, err)
	}
	return root, nil
}

// tell calls OnChange.
func (v *Vault) tell(paths []string) {
	if len(paths) == 0 {
		return
	}
	v.dirty.Store(true)
	v.onChange(paths)
}

func (v *Vault) onChange(paths []string) {
	if v.opt.OnChange == nil {
		return
	}
	v.telling.Lock()
	defer v.telling.Unlock()
	v.opt.OnChange(paths)
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
