package skill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// publicRegistries are those that a person may add. None is asked before.
var publicRegistries = []string{"https://clawhub.ai", "https://skills.sh"}

const (
	maxFound = 20               // skills that a registry is asked for in one search
	askTime  = 30 * time.Second // that it may take for one answer
)

// Registry is a service that lists the skills of many authors. It is asked only once the person added it.
type Registry struct {
	URL   string `json:"url"`
	Added bool   `json:"added"` // false for the public ones that could be added
}

// Found is a skill that a registry lists. All but From is what others say of it.
type Found struct {
	Name      string `json:"name"`
	Owner     string `json:"owner,omitempty"`
	Summary   string `json:"summary,omitempty"`
	Version   string `json:"version,omitempty"`
	Downloads int    `json:"downloads,omitempty"`
	From      string `json:"from"` // the address to install it from
}

// Search is what the registries answered.
type Search struct {
	Found    []Found   `json:"found"`              // each registry's in its own order
	Problems []Problem `json:"problems,omitempty"` // of registries that did not answer
}

// Registries lists the registries that are asked, and the public ones that could be added.
func (a *API) Registries(ctx context.Context) ([]Registry, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.registries", Resource: "registries"}, func(context.Context) ([]Registry, error) {
		return a.s.registries(), nil
	})
}

func (s *Service) registries() (out []Registry) {
	added := s.c.Registries()
	for _, u := range added {
		out = append(out, Registry{URL: u, Added: true})
	}
	for _, u := range publicRegistries {
		if !slices.Contains(added, u) {
			out = append(out, Registry{URL: u})
		}
	}
	return out
}

// AddRegistry has a registry asked from now on. What is looked for is sent to it.
func (a *API) AddRegistry(ctx context.Context, address string) ([]Registry, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.addRegistry", Resource: "registry:" + sys.Shorten(address, 200)}, func(context.Context) ([]Registry, error) {
		u, err := registryAddress(address)
		if err != nil {
			return nil, err
		}
		list := a.s.c.Registries()
		if !slices.Contains(list, u) {
			err = a.s.c.SetRegistries(append(slices.Clone(list), u))
		}
		return a.s.registries(), err
	})
}

// RemoveRegistry no longer asks a registry. Skills that came from it stay.
func (a *API) RemoveRegistry(ctx context.Context, address string) ([]Registry, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.removeRegistry", Resource: "registry:" + sys.Shorten(address, 200)}, func(context.Context) ([]Registry, error) {
		u, err := registryAddress(address)
		if err != nil {
			return nil, err
		}
		list := a.s.c.Registries()
		if !slices.Contains(list, u) {
			return nil, sys.Errorf(sys.CodeNotFound, "%s is not among the registries. Nothing was changed.", sys.Shorten(u, 200)).WithHint("`oxios skills registries` shows them.")
		}
		err = a.s.c.SetRegistries(slices.DeleteFunc(slices.Clone(list), func(o string) bool { return o == u }))
		return a.s.registries(), err
	})
}

// registryAddress is the address of a registry as it is kept: https, a host and nothing behind it; "clawhub.ai" will do.
func registryAddress(address string) (string, error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return "", sys.Errorf(sys.CodeInvalid, "%q is not the address of a registry. Nothing was changed.", sys.Shorten(address, 200)).WithHint("Give its https address, like https://clawhub.ai.")
	}
	if at, err := security.ReadAddress(u.Scheme + "://" + u.Host + "/"); err != nil || u.Scheme != "https" && (u.Scheme != "http" || !at.Own) {
		return "", sys.Errorf(sys.CodeInvalid, "%q is not the address of a registry. Nothing was changed.", sys.Shorten(address, 200)).WithHint("Give its https address, like https://clawhub.ai.")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// Search asks the registries for skills. What is looked for leaves this computer.
func (a *API) Search(ctx context.Context, query string) (Search, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.search", Resource: "registries", Meta: map[string]any{"query": sys.Shorten(query, 200)}}, func(ctx context.Context) (out Search, err error) {
		query = strings.TrimSpace(query)
		if query == "" || len(query) > 200 {
			return Search{}, sys.Errorf(sys.CodeInvalid, "Look for a few words. Nothing was asked.")
		}
		list := a.s.c.Registries()
		if len(list) == 0 {
			return Search{}, sys.Errorf(sys.CodeConflict, "No registry of skills was added. Nothing was asked.").
				WithHint("Add one under Extensions, or with `oxios skills registries add clawhub.ai`. What you look for is sent to it.")
		}
		out.Found = []Found{}
		for _, u := range list {
			found, err := a.s.search(ctx, u, query)
			if ctx.Err() != nil {
				return Search{}, context.Cause(ctx)
			}
			if err != nil {
				out.Problems = append(out.Problems, Problem{Text: sys.TextOf(err)})
			}
			out.Found = append(out.Found, found...)
		}
		return out, nil
	})
}

// clawhub is what the discovery document of a registry of that kind says.
type clawhub struct {
	APIBase  string `json:"apiBase"`
	Registry string `json:"registry"`
}

// api is where a registry of ClawHub's kind answers; nil for one of the kind of skills.sh, which has no such document.
func (s *Service) api(ctx context.Context, registry string) (*url.URL, error) {
	raw, err := s.getWithin(ctx, askTime, registry+"/.well-known/clawhub.json", maxIndex)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return nil, nil //nolint:nilnil // it is of the other kind
	}
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(registry + "/")
	if err != nil {
		return nil, err
	}
	var doc clawhub
	at := base
	if err = json.Unmarshal(raw, &doc); err == nil {
		at, err = base.Parse(doc.APIBase + doc.Registry)
	}
	if err != nil || at.Host == "" || at.User != nil || at.Scheme != base.Scheme {
		return nil, notRead(base.Host)
	}
	at.Path, at.RawQuery, at.Fragment = strings.TrimSuffix(at.Path, "/")+"/api/v1/", "", ""
	return at, nil
}

func notRead(host string) error {
	return sys.Errorf(sys.CodeUnavailable, "%s did not answer as a registry of skills does. Nothing was installed.", host).WithHint("Check its address, or install the skill from where its author keeps it.")
}

// ask reads what an address of a registry answers.
func (s *Service) ask(ctx context.Context, base *url.URL, rel string, query url.Values, out any) error {
	at, err := base.Parse(rel)
	if err != nil {
		return err
	}
	at.RawQuery = query.Encode()
	raw, err := s.getWithin(ctx, askTime, at.String(), maxOne)
	if err == nil && json.Unmarshal(raw, out) != nil {
		err = notRead(base.Host)
	}
	return err
}

func (s *Service) search(ctx context.Context, registry, query string) (out []Found, err error) {
	api, err := s.api(ctx, registry)
	if err != nil {
		return nil, err
	}
	words := url.Values{"q": {query}, "limit": {"20"}}
	add := func(f Found, where ...string) {
		if len(out) >= maxFound || slices.ContainsFunc(where, func(w string) bool { return checkEntry(w).EN != "" }) {
			return
		}
		f.Name, f.Owner, f.Summary, f.Version = seen(f.Name, 64), seen(f.Owner, 64), seen(f.Summary, 300), seen(f.Version, 40)
		f.From = registry + (&url.URL{Path: "/" + path.Join(where...)}).EscapedPath()
		out = append(out, f)
	}
	if api != nil {
		var said struct {
			Results []struct {
				Slug        string `json:"slug"`
				OwnerHandle string `json:"ownerHandle"`
				Summary     string `json:"summary"`
				Version     string `json:"version"`
				Downloads   int    `json:"downloads"`
			} `json:"results"`
		}
		err = s.ask(ctx, api, "search", words, &said)
		for _, r := range said.Results {
			where := []string{r.OwnerHandle, r.Slug}
			if r.OwnerHandle == "" {
				where = where[1:]
			}
			add(Found{Name: r.Slug, Owner: r.OwnerHandle, Summary: r.Summary, Version: r.Version, Downloads: r.Downloads}, where...)
		}
		return out, err
	}
	base, err := url.Parse(registry + "/")
	if err != nil {
		return nil, err
	}
	var said struct {
		Skills []struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			Source   string `json:"source"`
			Installs int    `json:"installs"`
		} `json:"skills"`
	}
	err = s.ask(ctx, base, "api/search", words, &said)
	for _, k := range said.Skills {
		if where := strings.Split(k.ID, "/"); len(where) == 3 {
			add(Found{Name: k.Name, Owner: k.Source, Downloads: k.Installs}, where...)
		}
	}
	return out, err
}

// seen is a text of others, short and with nothing hidden in it.
func seen(text string, most int) string {
	return sys.Shorten(visible(strings.Join(strings.Fields(text), " ")), most)
}

// fromRegistry installs a skill by the address of its page in a registry.
func (s *Service) fromRegistry(ctx context.Context, p place, staging string) (at, commit string, err error) {
	registry := p.url.Scheme + "://" + p.url.Host
	parts := strings.Split(strings.Trim(p.url.Path, "/"), "/")
	api, err := s.api(ctx, registry)
	switch {
	case err != nil:
		return "", "", err
	case api != nil && len(parts) <= 2:
		return s.fromClawhub(ctx, api, parts, staging)
	case api == nil && len(parts) == 3:
		at, err = s.fromSnapshot(ctx, p.url, parts, staging)
		return at, "", err
	}
	return "", "", sys.Errorf(sys.CodeInvalid, "%s is not the address of one skill. Nothing was installed.", p.url.Host+p.url.Path).WithHint("Look for it with `oxios skills search`, and install the address that is shown.")
}

// resolved is how a registry says that a skill is to be installed.
type resolved struct {
	OK      bool   `json:"ok"`
	Kind    string `json:"installKind"`
	Message string `json:"message"`
	Archive struct {
		Version     string `json:"version"`
		DownloadURL string `json:"downloadUrl"`
	} `json:"archive"`
	GitHub struct {
		Repo   string `json:"repo"`
		Path   string `json:"path"`
		Commit string `json:"commit"`
	} `json:"github"`
}

func (s *Service) fromClawhub(ctx context.Context, api *url.URL, parts []string, staging string) (at, commit string, err error) {
	slug, owner := parts[len(parts)-1], url.Values{}
	if len(parts) == 2 {
		owner.Set("ownerHandle", parts[0])
	}
	var r resolved
	if err := s.ask(ctx, api, "skills/"+url.PathEscape(slug)+"/install", owner, &r); err != nil {
		return "", "", err
	}
	switch {
	case !r.OK:
		return "", "", sys.Errorf(sys.CodeRefused, "%s does not give the skill %q: %q. Nothing was installed.", api.Host, slug, seen(r.Message, 300))
	case r.Kind == "github":
		g, err := placeOf("https://github.com/" + strings.Trim(r.GitHub.Repo, "/") + "#" + strings.Trim(r.GitHub.Path, "/") + "@" + r.GitHub.Commit)
		if err != nil || g.kind != fromGit || !commitPattern().MatchString(g.ref) {
			return "", "", notRead(api.Host)
		}
		return s.fromGit(ctx, g, staging)
	case r.Kind != "archive":
		return "", "", notRead(api.Host)
	}
	u, err := api.Parse(r.Archive.DownloadURL)
	if err != nil || r.Archive.DownloadURL == "" || u.Scheme != api.Scheme || u.User != nil {
		return "", "", notRead(api.Host)
	}
	raw, err := s.get(ctx, u.String(), maxTotal)
	if err != nil {
		return "", "", err
	}
	if at, err = Unpack(ctx, bytes.NewReader(raw), int64(len(raw)), staging); err != nil {
		return "", "", err
	}
	return at, "", s.asListed(ctx, api, slug, r.Archive.Version, owner, path.Join(staging, at))
}

// commitPattern is the whole id of a commit: nothing that could point elsewhere tomorrow.
var commitPattern = sys.Pattern(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// asListed compares what was unpacked with the digests that the registry lists of a version, where it lists any.
func (s *Service) asListed(ctx context.Context, api *url.URL, slug, version string, owner url.Values, dir string) error {
	var said struct {
		Version struct {
			Files []struct {
				Path   string `json:"path"`
				SHA256 string `json:"sha256"`
			} `json:"files"`
		} `json:"version"`
	}
	err := s.ask(ctx, api, "skills/"+url.PathEscape(slug)+"/versions/"+url.PathEscape(version), owner, &said)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range said.Version.Files {
		raw, err := fs.ReadFile(root.FS(), path.Clean(f.Path))
		sum := sha256.Sum256(raw)
		if err != nil || !strings.EqualFold(f.SHA256, hex.EncodeToString(sum[:])) {
			return sys.Errorf(sys.CodeInvalid, "What %s sent is not what its list says: the digest differs. Nothing was installed.", api.Host).WithHint("Tell its author.")
		}
	}
	return nil
}

// fromSnapshot installs the files of a skill as a registry of the kind of skills.sh keeps them.
func (s *Service) fromSnapshot(ctx context.Context, at *url.URL, parts []string, staging string) (string, error) {
	var said struct {
		Files []struct {
			Path     string `json:"path"`
			Contents string `json:"contents"`
		} `json:"files"`
	}
	if err := s.ask(ctx, at, "/api/download/"+url.PathEscape(parts[0])+"/"+url.PathEscape(parts[1])+"/"+url.PathEscape(parts[2]), nil, &said); err != nil {
		return "", err
	}
	return stage(ctx, staging, func(in *intake) error {
		for _, f := range said.Files {
			if why := checkEntry(f.Path); why.EN != "" {
				return refused(why)
			}
			err := in.entry(f.Path, 0o644, uint64(len(f.Contents)), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(f.Contents)), nil })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// registered turns the place of a page in a registry into a place of its kind. One of a public registry that was not added is
// an error: it would be taken for a repository.
func (s *Service) registered(p place) (place, error) {
	if p.kind != fromGit {
		return p, nil
	}
	at := p.url.Scheme + "://" + strings.ToLower(p.url.Host)
	switch {
	case slices.Contains(s.c.Registries(), at):
		p.kind = fromRegistry
	case slices.Contains(publicRegistries, at):
		return place{}, sys.Errorf(sys.CodeConflict, "%s is a registry that was not added. Nothing was installed.", p.url.Host).
			WithHint("Add it under Extensions, or with `oxios skills registries add %s`.", p.url.Host)
	}
	return p, nil
}
