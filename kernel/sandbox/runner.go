package sandbox

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// keptJobs is how many background jobs that have ended stay listed.
const keptJobs = 64

// Config is what a [Runner] needs to know of its host.
type Config struct {
	// Helper is the path of the static oxios binary. Empty means that there
	// is none: the level is 0.
	Helper string
	// Most is the strongest level that commands get, 0 for the strongest that holds.
	Most sys.Isolation
	// Log gets what a developer wants to know. Nil discards it.
	Log *slog.Logger
	// CacheDir is the folder for the caches of build tools; see [Cache]. It is
	// made when missing. Empty means none.
	CacheDir string
	// TempDir is where the temporary folders of commands are made. Empty means
	// [os.TempDir].
	TempDir string
	// MaxOutput is how many bytes of a command's output are kept, 0 for
	// [DefaultMaxOutput].
	MaxOutput int
	// Free returns how many bytes are free where a path lies. Nil asks the system.
	Free func(path string) (int64, error)
	// Env returns the environment to scrub for commands, nil for [os.Environ].
	// The caller usually passes what [LoginEnv] returned.
	Env func() []string
	// Kinds says what of a folder a [Survey] names besides repositories. It is
	// asked once for each path and must say the same each time. Nil: nothing.
	Kinds func(root, rel string, folder bool) Kind
}

// Runner runs commands. It is safe for concurrent use.
type Runner struct {
	cfg Config
	abi int // pretend that the host has no newer Landlock than this; 0 for what it has

	noWalls bool // pretend that the host has no bubblewrap
	noRooms bool // pretend that it lets nobody make namespaces

	probing sync.Mutex
	copies  copying
	surveys surveys
	temps   temps
	caches  caching
	rooms   rooms

	mu     sync.Mutex
	report *Report
	closed bool
	swept  bool // what earlier processes left was looked for
	lastID int
	live   map[*Job]bool // all that run, foreground too
	jobs   []*Job        // background jobs in the order of their start
	orphan bool          // this process adopts what a lost helper leaves behind
	spare  spare
	groups groups
	last   *view // that of the last command, nil below level 3

	lastRoom bool // it had a room

	leaving sync.WaitGroup // what makes or ends a spare helper
}

// rooms is what a runner knows about rooms.
type rooms struct {
	mu    sync.Mutex
	tried bool
	ok    bool
}

// New returns a runner. It starts nothing: call [Runner.Probe] before running
// anything, until then the level is 0.
func New(cfg Config) *Runner {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxOutput <= 0 {
		cfg.MaxOutput = DefaultMaxOutput
	}
	if cfg.Free == nil {
		cfg.Free = freeOn
	}
	if cfg.Env == nil {
		cfg.Env = os.Environ
	}
	return &Runner{cfg: cfg, live: map[*Job]bool{}}
}

// Level returns the isolation that [Runner.Probe] found to hold, 0 before it.
func (r *Runner) Level() sys.Isolation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report == nil {
		return sys.IsolationNone
	}
	return r.report.Level
}

// Run runs a command and returns when it and everything that it started are
// gone. What it left in the background is ended then.
//
// When ctx ends, the tree gets SIGTERM, after 2 seconds SIGKILL, and Run
// returns the result so far with an error of code canceled or timeout. A
// command that fails, or that Timeout or a limit ended, is a result and no
// error. Every error is a [sys.Error].
func (r *Runner) Run(ctx context.Context, spec Spec) (Result, error) {
	j, err := r.start(ctx, spec, min(spec.Level, r.Level()), false)
	if err != nil {
		return Result{}, err
	}
	<-j.done
	go r.keepSpare()
	return j.result, j.err
}

// Start starts a background job and returns once it runs. ctx bounds the
// start alone; the job ends by itself, by [Job.Kill] or by [Runner.Close].
func (r *Runner) Start(ctx context.Context, spec Spec) (*Job, error) {
	j, err := r.start(ctx, spec, min(spec.Level, r.Level()), true)
	if err == nil {
		go r.keepSpare()
	}
	return j, err
}

func (r *Runner) start(ctx context.Context, spec Spec, level sys.Isolation, background bool) (*Job, error) {
	if err := ctx.Err(); err != nil {
		return nil, stopped(ctx)
	}
	env := spec.Env
	if env == nil {
		env = ScrubEnv(r.cfg.Env())
	}
	spec.Level = level
	spec, path, err := spec.resolve(env)
	if err != nil {
		return nil, err
	}
	if spec.cache, err = r.cacheOf(ctx, spec, level); err != nil {
		return nil, err
	}
	tmp, err := r.temps.make(r.cfg.TempDir)
	if err != nil {
		spec.cache.done()
		return nil, sys.Errorf(sys.CodeDiskFull, "No temporary folder could be made for the command: %w", err)
	}
	j, err := r.launchJob(ctx, spec, path, r.commandEnv(env, spec, level, tmp), tmp, level, background)
	if err != nil {
		r.temps.remove(tmp)
		spec.cache.done()
		return nil, err
	}
	return j, nil
}

func (r *Runner) launchJob(ctx context.Context, spec Spec, path string, env []string, tmp string, level sys.Isolation, background bool) (*Job, error) {
	limit := spec.MaxOutput
	if limit <= 0 {
		limit = r.cfg.MaxOutput
	}
	j := &Job{
		Argv: slices.Clone(spec.Argv), Dir: spec.Dir, Tag: spec.Tag, Started: time.Now(),
		r: r, tmp: tmp, level: level, leave: spec.cache.done,
		disks: r.watchDisks(spec.MaxDisk, spec.Dir, tmp, spec.cache.from, "/dev/shm"),
		out:   newCollector(background, limit, spec.OnOutput),
		kill:  make(chan struct{}), done: make(chan struct{}),
	}
	if err := r.launch(ctx, j, spec, path, env); err != nil {
		r.unregister(j)
		close(j.done)
		return nil, err
	}
	if !background {
		go j.watch(ctx, spec.Timeout)
		return j, nil
	}
	r.mu.Lock()
	r.lastID++
	j.ID = r.lastID
	r.jobs = append(r.jobs, j)
	r.forget()
	r.mu.Unlock()
	go j.watch(context.Background(), spec.Timeout)
	return j, nil
}

// register calls start, which starts the job's root process, and makes the
// process known to [Runner.Owner] before anything can ask for it.
func (r *Runner) register(j *Job, start func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return sys.Errorf(sys.CodeUnavailable, "Oxios is closing; no command is started any more.")
	}
	if err := start(); err != nil {
		return err
	}
	r.live[j] = true
	return nil
}

func (r *Runner) unregister(j *Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, j)
}

// forget drops the oldest ended jobs over [keptJobs]. The lock is held.
func (r *Runner) forget() {
	ended := 0
	for _, j := range r.jobs {
		if !r.live[j] {
			ended++
		}
	}
	r.jobs = slices.DeleteFunc(r.jobs, func(j *Job) bool {
		if ended <= keptJobs || r.live[j] {
			return false
		}
		ended--
		return true
	})
}

// Jobs returns the background jobs in the order of their start: all that run,
// and the last 64 that have ended.
func (r *Runner) Jobs() []*Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.jobs)
}

// Close ends everything that runs and waits for it, at most about 6 seconds.
// Nothing can be started afterwards.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	live := make([]*Job, 0, len(r.live))
	for j := range r.live {
		live = append(live, j)
	}
	r.mu.Unlock()
	r.dropSpare()
	for _, j := range live {
		j.Kill()
	}
	for _, j := range live {
		<-j.done
	}
	r.leaving.Wait()
	r.closeGroups()
}

// commandEnv adds the folders that a command can write to its environment, and
// at level 3 its way to the network.
func (r *Runner) commandEnv(env []string, spec Spec, level sys.Isolation, tmp string) []string {
	env = slices.Clone(env)
	if level >= sys.IsolationFull {
		tmp = "/tmp" // its own
		if spec.Hole != nil {
			for _, kv := range holeEnv {
				env = setEnv(env, kv)
			}
		}
	}
	for _, kv := range []string{"PWD=" + spec.Dir, "TMPDIR=" + tmp, "TMP=" + tmp, "TEMP=" + tmp} {
		env = setEnv(env, kv)
	}
	if spec.cache.at == "" {
		return env
	}
	for name, sub := range map[string]string{"XDG_CACHE_HOME": "", "GOCACHE": "go-build", "npm_config_cache": "npm", "PIP_CACHE_DIR": "pip"} {
		env = setEnv(env, name+"="+filepath.Join(spec.cache.at, sub))
	}
	return env
}
