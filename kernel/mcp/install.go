package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"oxios/kernel/guard"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// installTime is how long an installation may take.
const installTime = 10 * time.Minute

// loading is an installation under way.
type loading struct {
	stop  context.CancelCauseFunc
	over  chan struct{}
	bytes atomic.Int64
}

func (l *loading) end() {
	l.stop(sys.Errorf(sys.CodeCanceled, "The installation was stopped. Nothing was changed."))
	<-l.over
}

// giveUpInstall stops the installation of a server, if there is one.
func (s *Service) giveUpInstall(name string) {
	s.mu.Lock()
	l := s.loading[name]
	s.mu.Unlock()
	if l != nil {
		l.end()
	}
}

// PackageOf says what a server of this definition would download, before there is one; its zero value says that it is nothing.
func (a *API) PackageOf(ctx context.Context, def Server) (Package, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.packageOf", Resource: "mcp"}, func(context.Context) (Package, error) {
		p, ok, err := packageOf(def)
		if !ok || err != nil {
			return Package{}, err
		}
		a.s.explain(&p)
		return p, nil
	})
}

// Install downloads the package that a server's command names into a folder of that server, and pins it by its hash. What was
// installed before is installed again as it was, version "" being that; another version takes its place, as the newest does
// where version is "newest". No script of a package runs. The network is open for that alone, to the registry.
func (a *API) Install(ctx context.Context, name, version string) (ServerView, error) {
	act := guard.Action{Call: "mcp.install", Resource: "mcp:" + name, Effect: security.EffectNetwork, Tier: security.TierAsk, Network: true, Egress: true, Meta: map[string]any{"version": sys.Shorten(version, 60)}}
	if def, err := a.s.server(name); err == nil {
		if p := a.s.packed(name, def); p != nil {
			act.Meta["package"], act.Meta["from"] = p.Name, p.From
		}
	}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (ServerView, error) {
		def, p, err := a.s.mustPack(name)
		if err != nil {
			return ServerView{}, err
		}
		if version != "" && version != newest && (p.Exact && version != p.Asked || !exact().MatchString(version)) {
			return ServerView{}, sys.Errorf(sys.CodeInvalid, "The command of the server %s names %s, not the version %s. Nothing was changed.", name, p.said(), sys.Shorten(version, 60)).
				WithHint("Add the server again with the other version.")
		}
		if err := a.s.install(ctx, name, p, version); err != nil {
			return ServerView{}, err
		}
		a.s.stop(name)
		a.s.forgive(name)
		a.s.c.Told(name)
		return a.s.view(name, def), nil
	})
}

// newest asks for the newest version that a command allows, in place of the one that is installed.
const newest = "newest"

// Newest asks the registry which version of a server's package is the newest that its command allows.
func (a *API) Newest(ctx context.Context, name string) (string, error) {
	act := guard.Action{Call: "mcp.newest", Resource: "mcp:" + name, Effect: security.EffectNetwork, Tier: security.TierAsk, Network: true, Egress: true}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (string, error) {
		_, p, err := a.s.mustPack(name)
		if err != nil {
			return "", err
		}
		if p.Exact {
			return p.Asked, nil
		}
		if p.Kind != kindNPM {
			return "", sys.Errorf(sys.CodeUnavailable, "uv does not say which version of %s is the newest. Installing it says so.", p.Name)
		}
		at, err := a.s.newFolder(name)
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(at) //nolint:errcheck // the next installation deletes it
		out, err := a.s.npm(ctx, at, p, "view", p.spec(p.Asked), "version", "--json")
		if err != nil {
			return "", err
		}
		var one string
		var all []string
		if json.Unmarshal(out, &one) != nil && json.Unmarshal(out, &all) == nil && len(all) > 0 {
			one = all[len(all)-1]
		}
		if !exact().MatchString(one) {
			return "", sys.Errorf(sys.CodeUnavailable, "The registry did not say which version of %s is the newest.", p.Name)
		}
		return one, nil
	})
}

// mustPack is the package of a server, or why there is none.
func (s *Service) mustPack(name string) (Server, Package, error) {
	def, err := s.server(name)
	if err != nil {
		return def, Package{}, err
	}
	p, ok, err := packageOf(def)
	if !ok {
		err = sys.Errorf(sys.CodeInvalid, "The server %s downloads nothing: npx or uvx is not its command. Nothing was done.", name)
	}
	return def, p, err
}

// install downloads a package and notes it. What was there stays until the new one is complete.
func (s *Service) install(ctx context.Context, name string, p Package, version string) error {
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := &loading{stop: stop, over: make(chan struct{})}
	s.mu.Lock()
	if _, twice := s.loading[name]; twice || s.closed {
		s.mu.Unlock()
		return sys.Errorf(sys.CodeConflict, "The package of the server %s is being installed already, or Oxios is closing. Nothing was done.", name)
	}
	s.loading[name] = l
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.loading, name)
		s.mu.Unlock()
		close(l.over)
		s.c.Told(name)
	}()
	s.c.Told(name)
	before, had := s.installation(name, p)
	at, err := s.newFolder(name)
	if err != nil {
		return err
	}
	i := installation{Kind: p.Kind, Name: p.Name, Asked: p.Asked, Bin: p.Bin, Folder: filepath.Base(at)}
	go s.watch(ctx, name, at, l)
	again := had && version == ""
	switch {
	case p.Kind == kindUV:
		err = s.installUV(ctx, at, p, version, before, again, &i)
	default:
		err = s.installNPM(ctx, name, at, p, version, again, &i)
	}
	var is tree
	if err == nil {
		is, err = s.treeOf(ctx, at)
	}
	if err == nil {
		i.Hash, i.Size, i.Files, i.At = is.Hash, is.Size, is.Files, s.c.Clock.Now().UTC()
		err = s.writeDown(name, i)
	}
	if err != nil {
		_ = os.RemoveAll(at) // the next installation deletes it
		if ctx.Err() != nil {
			if e, ok := errors.AsType[*sys.Error](context.Cause(ctx)); ok {
				return e
			}
			return sys.Errorf(sys.CodeTimeout, "The installation of %s took more than %s and was stopped. Nothing was changed.", p.Name, installTime)
		}
		if e, ok := errors.AsType[*sys.Error](err); ok {
			return e
		}
		return sys.Errorf(sys.CodeUnavailable, "%s could not be installed: %w. Nothing was changed.", p.said(), err)
	}
	s.mu.Lock()
	delete(s.altered, name)
	s.mu.Unlock()
	s.stop(name) // it runs from the old one
	s.sweep(name, i.Folder)
	return nil
}

// newFolder makes the folder of one installation. The package is never moved afterwards, as uv writes its path into it.
func (s *Service) newFolder(name string) (string, error) {
	at := s.at(name, packageFolder, strings.ToLower(rand.Text()[:12]))
	if err := os.MkdirAll(at, 0o700); err != nil {
		return "", sys.Errorf(sys.CodeUnavailable, "The folder of the server %s cannot be made: %w.", name, err)
	}
	return at, nil
}

// sweep deletes what other installations left.
func (s *Service) sweep(name, but string) {
	list, err := os.ReadDir(s.at(name, packageFolder))
	for _, e := range list {
		if e.Name() != but {
			err = errors.Join(err, os.RemoveAll(s.at(name, packageFolder, e.Name())))
		}
	}
	if err != nil {
		s.c.Log.Warn("An older installation of a server's package could not be deleted", "server", name, "error", err)
	}
}

// watch tells how much is there already, while an installation lasts.
func (s *Service) watch(ctx context.Context, name, at string, l *loading) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.over:
			return
		case <-t.C:
		}
		var sum int64
		_ = filepath.WalkDir(at, func(_ string, e fs.DirEntry, err error) error { // what comes and goes meanwhile does not count
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					sum += info.Size()
				}
			}
			return nil
		})
		l.bytes.Store(sum)
		s.c.Told(name)
	}
}

// download runs a program that downloads into a folder, from the registry alone.
func (s *Service) download(ctx context.Context, at string, p Package, r registry, argv, env, readable []string) ([]byte, error) {
	spec, tried := s.c.Download(at, r.from)
	spec.Argv, spec.MaxOutput, spec.Timeout = argv, 1<<20, installTime
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		spec.Env = append(slices.DeleteFunc(spec.Env, func(line string) bool { return strings.HasPrefix(line, key+"=") }), kv)
	}
	spec.Readable = append(spec.Readable, readable...)
	var out []byte
	spec.OnOutput = func(stream string, b []byte) {
		if stream == "stdout" && len(out) < 1<<20 {
			out = append(out, b...)
		}
	}
	job, err := s.c.Sandbox.Start(context.WithoutCancel(ctx), spec)
	if err != nil {
		return nil, sys.Errorf(sys.CodeUnavailable, "%s could not be installed: %w", p.said(), err)
	}
	select {
	case <-job.Done():
	case <-ctx.Done():
		job.Kill()
		<-job.Done()
		return nil, context.Cause(ctx)
	}
	if res := job.Result(); res.ExitCode != 0 {
		return nil, s.whyNot(p, r, res, tried())
	}
	return out, nil
}

// whyNot says why a package could not be downloaded.
func (s *Service) whyNot(p Package, r registry, res sandbox.Result, tried []security.NetTry) error {
	said := plain(s.c.Mask(strings.ToValidUTF8(string(res.Output), "")), 100<<10)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
	}
	from := strings.Join(r.hosts(), ", ")
	refused := slices.IndexFunc(tried, func(t security.NetTry) bool { return !t.Allowed })
	code := func(e *sys.Error) error { return e.WithCause(errors.New(sys.Shorten(said, 4000))) }
	switch {
	case res.TimedOut:
		return code(sys.Errorf(sys.CodeTimeout, "The installation of %s took more than %s and was stopped. Nothing was changed.", p.Name, installTime))
	case res.OutOfDisk:
		return code(sys.Errorf(sys.CodeDiskFull, "There is not enough space on the disk for %s. Nothing was changed.", p.Name))
	case refused >= 0:
		t := tried[refused]
		return code(sys.Errorf(sys.CodeRefused, "%s could not be installed, because it needs %s. %s Nothing was changed.", p.said(), plain(t.Host, 200), sys.Words{EN: t.Reason, KO: t.ReasonKO}))
	case has("E404", "404 Not Found", "was not found in the package registry"):
		return code(sys.Errorf(sys.CodeNotFound, "%s has no package %s. Nothing was changed.", from, p.Name).WithHint("Check its name in the command of the server."))
	case has("ETARGET", "No matching version", "no version of"):
		return code(sys.Errorf(sys.CodeNotFound, "%s has no version %s of %s. Nothing was changed.", from, p.Asked, p.Name).WithHint("Check the version in the command of the server."))
	case has("E401", "E403", "ENEEDAUTH"):
		return code(sys.Errorf(sys.CodeAuth, "%s wants you to sign in for %s. Oxios sends no key of npm, so nothing was changed.", from, p.Name))
	case has("EINTEGRITY"):
		return code(sys.Errorf(sys.CodeRefused, "What was downloaded of %s is not what the registry says of it. Nothing was changed.", p.Name).WithHint("Try again. If it stays so, do not use the package."))
	case has("ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ECONNRESET", "ENETUNREACH", "EHOSTUNREACH", "network", "tunneling socket", "error sending request", "FetchError"):
		return code(sys.Errorf(sys.CodeNetwork, "%s could not be reached, so %s was not installed.", from, p.said()).WithHint("Check the connection, then try again."))
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return code(sys.Errorf(sys.CodeUnavailable, "%s could not be installed: %w. Nothing was changed.", p.said(), errors.New(sys.Shorten(strings.TrimSpace(strings.Join(lines[max(0, len(lines)-3):], " ")), 300))))
}
