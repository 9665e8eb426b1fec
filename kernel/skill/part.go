package skill

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/blake3"

	"oxios/kernel/guard"
	"oxios/kernel/health"
	"oxios/kernel/home"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Config is all that the service uses.
type Config struct {
	Dir    string // where installed skills lie, and what the person decided about all of them
	Shared string // ~/.agents/skills, which other programs use too; "" for none
	Clock  sys.Clock
	Net    Net
	Log    *slog.Logger

	Trusted func(ctx context.Context, folder string) bool // the person trusts what lies in a folder
	Has     Has                                           // what there is on this machine
	Brings  func(name string) store.Labels                // where what a skill says came from
	Diff    func(name, before, after string) string       // a unified diff
	Told    func(name string)                             // something about a skill changed: faces look again

	// Registries are those that the person added, by their addresses.
	Registries    func() []string
	SetRegistries func(list []string) error

	// Module runs a WebAssembly module, a file in a copy of its skill, on JSON. The copy is a folder that nobody else has.
	Module func(ctx context.Context, copied Script, input json.RawMessage) (json.RawMessage, error)
	// Scratch is an empty folder, and how it is removed.
	Scratch func() (dir string, remove func(), err error)
}

// Service is the part of the kernel that knows skills.
type Service struct {
	c Config

	mu      sync.Mutex
	decided decisions
	read    bool // decided has been read
	found   map[string]search
	running bool
	came    chan struct{} // something was installed
}

// New returns the service. It reads nothing before the first call.
func New(c Config) *Service {
	return &Service{c: c, found: map[string]search{}, came: make(chan struct{}, 1)}
}

// As is the service as a caller sees it.
func (s *Service) As(c *guard.Caller) *API { return &API{c: c, s: s} }

// Close forgets what was found.
func (s *Service) Close() error { return nil }

// Kept is what the service keeps in the home.
func (s *Service) Kept() []home.Part {
	return []home.Part{{ID: "extensions", Folder: "skills"}}
}

// Checks says how the skills of the home stand: one line for all of them.
func (s *Service) Checks(ctx context.Context) []health.Check {
	views, err := s.views(ctx, "")
	c := health.Check{Name: "skills", State: health.OK}
	if err != nil {
		c.State, c.Detail = health.Warn, sys.TextOf(err)
		return []health.Check{c}
	}
	ready := 0
	var changed []string
	for _, v := range views {
		switch v.State {
		case StateReady:
			ready++
		case StateChanged:
			changed = append(changed, v.Name)
		}
	}
	c.Detail = sys.Say("%d skills, %d of them ready", len(views), ready)
	if len(changed) > 0 {
		c.State, c.Detail = health.Warn, sys.Say("Skills that changed: %s", strings.Join(changed, ", "))
		c.Hint = sys.Say("Review the change under Extensions, or with `oxios skills review %s`.", changed[0])
	}
	return []health.Check{c}
}

// decisions are what the person decided about skills, by the folder of each; of a bundled one by its name.
type decisions struct {
	Accepted map[string]accepted `json:"accepted"`
	Off      []string            `json:"off"`
	Rights   map[string]Rights   `json:"rights,omitempty"`  // of their scripts; none where a skill is not here
	Origins  map[string]Origin   `json:"origins,omitempty"` // of those that were installed
}

// accepted is what a skill held when the person reviewed it: its hash, and its files so that a change can be shown.
type accepted struct {
	Hash  string            `json:"hash"`
	File  string            `json:"file,omitempty"` // the hash of SKILL.md alone, which prompts take the description from; earlier decisions have none
	At    time.Time         `json:"at"`
	Files map[string]string `json:"files"` // path → what stood there, "" for what is no text or too long
}

// stateFile begins with a dot: no skill is looked for in it.
const stateFile = ".decided.json"

// load reads the decisions. The lock is held.
func (s *Service) load() error {
	if s.read {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(s.c.Dir, stateFile))
	if err == nil {
		err = json.Unmarshal(raw, &s.decided)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sys.Errorf(sys.CodeUnavailable, "What you decided about skills cannot be read: %w.", err).
			WithHint("Delete %s and review them again.", filepath.Join(s.c.Dir, stateFile))
	}
	if s.decided.Accepted == nil {
		s.decided.Accepted = map[string]accepted{}
	}
	s.read = true
	return nil
}

// decide changes the decisions and writes them down.
func (s *Service) decide(change func(*decisions)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return err
	}
	change(&s.decided)
	raw, err := json.Marshal(s.decided)
	if err == nil {
		err = os.MkdirAll(s.c.Dir, 0o700)
	}
	if err == nil {
		err = security.WriteFileAtomic(filepath.Join(s.c.Dir, stateFile), raw, 0o600)
	}
	if err != nil {
		s.read = false // what is on the disk holds
		return sys.Errorf(sys.CodeUnavailable, "The decision could not be written: %w. Nothing was changed.", err)
	}
	return nil
}

// search is what a search found, and what it depends on.
type search struct {
	catalog Catalog
	at      time.Time
	times   map[string]time.Time
}

// searchAgain is after how long everything is looked at anew, whatever the times of files say.
const searchAgain = 30 * time.Second

// catalog are the skills that somebody who works in a folder has. What did not change is not read again.
func (s *Service) catalog(ctx context.Context, folder string) Catalog {
	roots := s.roots(ctx, folder)
	key := fmt.Sprint(folder, roots[0].Trusted)
	s.mu.Lock()
	last, ok := s.found[key]
	s.mu.Unlock()
	now := s.c.Clock.Now()
	if ok && now.Sub(last.at) < searchAgain && fresh(last.times) {
		return last.catalog
	}
	found := search{catalog: Find(ctx, roots), at: now, times: map[string]time.Time{}}
	for _, r := range roots {
		if r.FS == nil {
			found.times[r.Path] = modified(r.Path)
		}
	}
	for _, k := range found.catalog.Skills {
		if k.Source != SourceBundled {
			for dir := k.Dir; ; dir = filepath.Dir(dir) {
				if _, root := found.times[dir]; root || dir == filepath.Dir(dir) {
					break
				}
				found.times[dir] = modified(dir)
			}
			found.times[filepath.Join(k.Dir, k.File)] = modified(filepath.Join(k.Dir, k.File))
		}
	}
	s.mu.Lock()
	s.found[key] = found
	s.mu.Unlock()
	return found.catalog
}

func fresh(times map[string]time.Time) bool {
	for path, at := range times {
		if !modified(path).Equal(at) {
			return false
		}
	}
	return true
}

// modified is when a path was changed; the zero time where it is not there.
func modified(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// roots are the folders in which skills are looked for. Those of a project count only where the person trusts it.
func (s *Service) roots(ctx context.Context, folder string) []Root {
	var roots []Root
	if folder != "" {
		trusted := s.c.Trusted(ctx, folder)
		for _, below := range []string{".oxios/skills", ".agents/skills", ".claude/skills"} {
			roots = append(roots, Root{Path: filepath.Join(folder, filepath.FromSlash(below)), Source: SourceProject, Trusted: trusted})
		}
	}
	roots = append(roots, Root{Path: s.c.Dir, Source: SourceGlobal, Trusted: true})
	if s.c.Shared != "" {
		roots = append(roots, Root{Path: s.c.Shared, Source: SourceGlobal, Trusted: true})
	}
	return append(roots, Root{Path: "bundled", FS: Bundled(), Source: SourceBundled, Trusted: true})
}

// files opens what a skill consists of.
func files(k Skill) (fs.FS, func(), error) {
	if k.Source == SourceBundled {
		sub, err := fs.Sub(Bundled(), strings.TrimPrefix(k.Dir, "bundled/"))
		return sub, func() {}, err
	}
	tree, err := Open(k.Dir)
	if err != nil {
		return nil, nil, sys.Errorf(sys.CodeNotFound, "The skill %q cannot be opened: %w.", k.Name, err)
	}
	return tree, func() { _ = tree.Close() }, nil
}

// hashes are the hash of what a skill holds now, and that of SKILL.md in it.
func hashes(ctx context.Context, k Skill) (all, file string, err error) {
	fsys, done, err := files(k)
	if err != nil {
		return "", "", err
	}
	defer done()
	return hashesOf(ctx, fsys, k.File)
}

func hashesOf(ctx context.Context, fsys fs.FS, name string) (all, file string, err error) {
	sum := blake3.New()
	all, err = hashAnd(ctx, fsys, nil, map[string]io.Writer{name: sum})
	return all, hex.EncodeToString(sum.Sum(nil)), err
}

// views are all skills that somebody who works in a folder has, with what the person decided about them.
func (s *Service) views(ctx context.Context, folder string) ([]View, error) {
	catalog := s.catalog(ctx, folder)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	out := []View{}
	for _, k := range catalog.Skills {
		v := View{Skill: k, State: StateReady, Missing: k.Missing(s.c.Has, runtime.GOOS)}
		yes, reviewed := s.decided.Accepted[k.Dir]
		v.Hash, v.Rights, v.Asks = yes.Hash, s.decided.Rights[k.Dir].of(k), k.named()
		if o, ok := s.decided.Origins[k.Dir]; ok {
			v.Origin = &o
		}
		switch {
		case slices.Contains(s.decided.Off, k.Dir):
			v.State = StateOff
		case k.Source == SourceBundled:
		case !reviewed:
			v.State = StateNew
		case yes.File == "" || modified(filepath.Join(k.Dir, k.File)).After(yes.At):
			// A hash of all its files is made only where something may have changed; who reads it makes one at any rate.
			now, file, err := hashes(ctx, k)
			if err != nil || now != yes.Hash || file != k.sum {
				v.State = StateChanged
				break
			}
			yes.File = file
			s.decided.Accepted[k.Dir] = yes
		case k.sum != yes.File: // whatever its time says
			v.State = StateChanged
		}
		if v.State == StateReady && len(v.Missing) > 0 {
			v.State = StateMissing
		}
		out = append(out, v)
	}
	return out, nil
}
