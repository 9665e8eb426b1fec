package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/digest"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// What a server's folder has of a package.
const (
	installedFile = "installed.json"
	packageFolder = "package" // one folder in it for each installation
	lockFolder    = "pinned"  // package.json and package-lock.json, as they were written when it was installed first
)

// The bounds of a package with all that it needs.
const (
	maxPackage      = 2 << 30 // bytes
	maxPackageFiles = 200_000
)

// installation is what is noted of an installed package.
type installation struct {
	Installed
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Asked   string   `json:"asked"`
	Bin     string   `json:"bin"`
	Folder  string   `json:"folder"`  // in packageFolder
	Program []string `json:"program"` // what is started: "node" and a file in the folder, or that file alone
}

// of reports whether this is the package that a command names.
func (i installation) of(p Package) bool {
	return i.Kind == p.Kind && i.Name == p.Name && i.Asked == p.Asked && i.Bin == p.Bin
}

// installation returns what is installed for a server; ok is false where nothing is, or another package.
func (s *Service) installation(name string, p Package) (i installation, ok bool) {
	raw, err := os.ReadFile(s.at(name, installedFile))
	if err != nil || json.Unmarshal(raw, &i) != nil || !i.of(p) || i.Folder == "" || i.Folder != filepath.Base(i.Folder) || len(i.Program) == 0 {
		return installation{}, false
	}
	return i, true
}

// packed is what a server's command downloads, with how it stands; nil where it downloads nothing.
func (s *Service) packed(name string, def Server) *Package {
	p, ok, err := packageOf(def)
	if !ok || err != nil {
		return nil
	}
	s.explain(&p)
	if i, ok := s.installation(name, p); ok {
		s.mu.Lock()
		i.Altered = s.altered[name] == i.Folder
		s.mu.Unlock()
		p.Installed = &i.Installed
	}
	s.mu.Lock()
	l := s.loading[name]
	s.mu.Unlock()
	if l != nil {
		p.Installing, p.Loaded = true, l.bytes.Load()
	}
	return &p
}

// explain says where a package comes from.
func (s *Service) explain(p *Package) {
	r, err := s.lately(*p)
	if err != nil {
		p.Says = sys.TextOf(err)
		return
	}
	p.From = r.hosts()
	p.Says = sys.Say("Its first start downloads %s from %s. The network is open for that alone, and no script of the package runs while it is installed.", p.said(), strings.Join(p.From, ", "))
}

// program is how a server's program is started. A package is started as it was installed, and only if nothing of it changed.
func (s *Service) program(ctx context.Context, name string, def Server, files string) (spec sandbox.Spec, err error) {
	p, ok, err := packageOf(def)
	if !ok {
		spec = s.c.Spec(files, def.Network)
		spec.Argv = append([]string{s.path(def.Command)}, each(def.Args, s.path)...)
		return spec, nil
	}
	if err != nil {
		return spec, sys.Errorf(sys.CodeInvalid, "The server %s was not started: %w", name, err)
	}
	i, ok := s.installation(name, p)
	if !ok {
		return spec, notInstalled(name, p)
	}
	at := s.at(name, packageFolder, i.Folder)
	is, err := s.treeOf(ctx, at)
	if ctx.Err() != nil {
		return spec, context.Cause(ctx)
	}
	if err != nil || is.Hash != i.Hash {
		s.mu.Lock()
		s.altered[name] = i.Folder
		s.mu.Unlock()
		s.c.Told(name)
		return spec, sys.Errorf(sys.CodeConflict, "The files of %s %s are not those that were installed. The server %s was not started.", i.Name, i.Version, name).
			WithHint("Install it again: `oxios mcp install %s`.", name).WithCause(err)
	}
	spec = s.c.Spec(files, def.Network, at)
	argv := slices.Clone(i.Program)
	argv[len(argv)-1] = filepath.Join(at, filepath.FromSlash(argv[len(argv)-1]))
	if len(argv) > 1 {
		place := programIn(spec.Env, argv[0])
		if place == "" {
			return spec, sys.Errorf(sys.CodeNotFound, "The server %s needs %s, which is not on this computer. It was not started.", name, argv[0]).WithHint("Install Node.js 18 or newer.")
		}
		argv[0] = place
		spec.Readable = append(spec.Readable, seenAs(place)...)
	}
	spec.Argv = append(argv, each(p.args, s.path)...)
	return spec, nil
}

func notInstalled(name string, p Package) error {
	return sys.Errorf(sys.CodeConflict, "%s is not installed yet. The server %s was not started.", p.said(), name).
		WithHint("Install it: `oxios mcp install %s`.", name)
}

// seenAs are the files by which a program can be started: itself, and what it is a link to.
func seenAs(place string) []string {
	out := []string{place}
	if real, err := filepath.EvalSymlinks(place); err == nil && real != place {
		out = append(out, real)
	}
	return out
}

// tree is what a folder holds.
type tree struct {
	Hash  string
	Size  int64
	Files int
}

// treeOf hashes all that is in a folder, by path.
func (s *Service) treeOf(ctx context.Context, dir string) (t tree, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return t, err
	}
	defer root.Close()
	h := digest.New()
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error { // by name in each folder
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case e.IsDir():
			return nil
		}
		if t.Files++; t.Files > maxPackageFiles {
			return errTooLarge
		}
		if e.Type()&fs.ModeSymlink != 0 {
			says, err := root.Readlink(filepath.FromSlash(name))
			h.Link(name, says)
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return errors.New(name + " is neither a file nor a folder")
		}
		if t.Size += info.Size(); t.Size > maxPackage {
			return errTooLarge
		}
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(h.File(name, info.Mode(), info.Size()), io.LimitReader(f, info.Size()+1))
		if err == nil && n != info.Size() {
			err = errors.New(name + " changed while it was read")
		}
		return err
	})
	t.Hash = h.String()
	return t, err
}

var errTooLarge = errors.New("it is too large")

// entry reads which file of an npm package is started.
func entry(at string, p Package) (file, version string, err error) {
	folder := "node_modules/" + p.Name
	raw, err := os.ReadFile(filepath.Join(at, filepath.FromSlash(folder), "package.json"))
	if err != nil {
		return "", "", err
	}
	var says struct {
		Version string          `json:"version"`
		Bin     json.RawMessage `json:"bin"`
	}
	if err := json.Unmarshal(raw, &says); err != nil {
		return "", "", err
	}
	bins := map[string]string{}
	own := p.Name[strings.LastIndexByte(p.Name, '/')+1:]
	if one := ""; json.Unmarshal(says.Bin, &one) == nil && one != "" {
		bins[own] = one
	} else if len(says.Bin) > 0 {
		_ = json.Unmarshal(says.Bin, &bins) // one that is neither has none
	}
	want := cmp.Or(p.Bin, own)
	file, ok := bins[want]
	if !ok && p.Bin == "" && len(bins) == 1 {
		for _, file = range bins {
			ok = true
		}
	}
	if !ok || !filepath.IsLocal(filepath.FromSlash(file)) {
		return "", "", sys.Errorf(sys.CodeInvalid, "The package %s has no program %s, so it is no server that can be started.", p.Name, want)
	}
	return folder + "/" + strings.TrimPrefix(filepath.ToSlash(filepath.Clean(file)), "/"), says.Version, nil
}

// scriptsIn are the packages of a lock file that have scripts of their own for the installation.
func scriptsIn(lock []byte) (list []string) {
	var says struct {
		Packages map[string]struct {
			Has bool `json:"hasInstallScript"`
		} `json:"packages"`
	}
	if json.Unmarshal(lock, &says) != nil {
		return nil
	}
	for at, p := range says.Packages {
		if p.Has {
			list = append(list, plain(at[strings.LastIndex(at, "node_modules/")+len("node_modules/"):], 100))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// writeDown notes what was installed.
func (s *Service) writeDown(name string, i installation) error {
	raw, err := json.MarshalIndent(i, "", "  ")
	if err == nil {
		err = security.WriteFileAtomic(s.at(name, installedFile), raw, 0o600)
	}
	return err
}
