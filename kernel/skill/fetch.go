package skill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Net makes connections that the network guard lets through.
type Net interface {
	Transport() *http.Transport
	Get(ctx context.Context, transport http.RoundTripper, raw string) (*http.Response, error)
}

// maxIndex is how many bytes the index of a site may have.
const maxIndex = 4 << 20

// fetch brings what lies at a place into an empty folder, and returns where in it the skill is and which commit it was.
func (s *Service) fetch(ctx context.Context, p place, staging string) (at, commit string, err error) {
	switch p.kind {
	case fromDisk:
		at, err = s.fromDisk(ctx, p.path, staging)
	case fromArchive:
		var raw []byte
		if raw, err = s.get(ctx, p.url.String(), maxTotal); err == nil {
			at, err = Unpack(ctx, bytes.NewReader(raw), int64(len(raw)), staging)
		}
	case fromSite:
		at, err = s.fromSite(ctx, p, staging)
	case fromGit:
		return s.fromGit(ctx, p, staging)
	case fromRegistry:
		return s.fromRegistry(ctx, p, staging)
	}
	return at, "", err
}

func (s *Service) fromDisk(ctx context.Context, from, staging string) (at string, err error) {
	info, err := os.Stat(from)
	if err != nil || !filepath.IsAbs(from) {
		return "", sys.Errorf(sys.CodeNotFound, "%s is not there. Nothing was installed.", from).WithHint("Give the folder of a skill, an archive of one, or its https address.")
	}
	if info.IsDir() {
		return Copy(ctx, from, staging)
	}
	f, err := os.Open(from)
	if err != nil {
		return "", err
	}
	at, err = Unpack(ctx, f, info.Size(), staging)
	return at, errors.Join(err, f.Close())
}

// get reads what is at an address, at most so many bytes.
func (s *Service) get(ctx context.Context, address string, most int64) ([]byte, error) {
	return s.getWithin(ctx, fetchTime, address, most)
}

func (s *Service) getWithin(ctx context.Context, within time.Duration, address string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	res, err := s.c.Net.Get(ctx, s.c.Net.Transport(), address)
	if err != nil {
		return nil, notFetched(ctx, within, address, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		code := sys.CodeUnavailable
		if res.StatusCode == http.StatusNotFound {
			code = sys.CodeNotFound
		}
		return nil, sys.Errorf(code, "%s answered with %d. Nothing was installed.", hostOf(address), res.StatusCode).WithHint("Check the address in your browser.")
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return nil, notFetched(ctx, within, address, err)
	}
	if int64(len(raw)) > most {
		return nil, refusedSize(sys.Say("it has more than %d MB", most>>20))
	}
	return raw, nil
}

// notFetched is the error of an address that could not be read.
func notFetched(ctx context.Context, within time.Duration, address string, err error) error {
	var held *security.NetRefusal
	switch {
	case errors.As(err, &held):
		return sys.Errorf(sys.CodeRefused, "%s is not asked: %w. Nothing was installed.", hostOf(address), held).WithHint("Clone or download it yourself, and install the folder.")
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return sys.Errorf(sys.CodeTimeout, "%s did not send it within %s. Nothing was installed.", hostOf(address), within).WithHint("Try again later.")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return sys.Errorf(sys.CodeUnavailable, "%s could not be reached: %w. Nothing was installed.", hostOf(address), err).WithHint("Check the address and your connection, then try again.")
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return sys.Shorten(address, 100)
	}
	return u.Host
}

// index is what a site says that it has, by version 0.2 of the discovery document; files are those of version 0.1.
type index struct {
	Schema string `json:"$schema"`
	Skills []struct {
		Name   string   `json:"name"`
		Type   string   `json:"type"`
		URL    string   `json:"url"`
		Digest string   `json:"digest"`
		Files  []string `json:"files"`
	} `json:"skills"`
}

// indexes are where a site keeps its index, the newer place first.
var indexes = []string{"/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"}

// fromSite installs one of the skills that a site's index names.
func (s *Service) fromSite(ctx context.Context, p place, staging string) (string, error) {
	at, raw, err := s.index(ctx, p.url)
	if err != nil {
		return "", err
	}
	var in index
	if err := json.Unmarshal(raw, &in); err != nil {
		return "", sys.Errorf(sys.CodeInvalid, "%s has no list of skills that can be read. Nothing was installed.", p.url.Host).WithHint("Give the address of the skill itself.")
	}
	var names []string
	for _, k := range in.Skills {
		names = append(names, sys.Shorten(visible(k.Name), 64))
	}
	i := slices.Index(names, p.folder)
	if p.folder == "" && len(names) == 1 {
		i = 0
	}
	if i < 0 {
		return "", severalSkills(p, names)
	}
	k := in.Skills[i]
	if k.Type == "" && len(k.Files) > 0 { // version 0.1 names the files, and no digest
		return s.files(ctx, at.ResolveReference(&url.URL{Path: k.Name + "/"}), k.Files, staging)
	}
	u, err := at.Parse(k.URL)
	if err != nil || k.URL == "" || u.Scheme != at.Scheme {
		return "", sys.Errorf(sys.CodeInvalid, "The list of %s does not say where the skill %q is. Nothing was installed.", p.url.Host, names[i])
	}
	if raw, err = s.get(ctx, u.String(), maxTotal); err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	if k.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
		return "", sys.Errorf(sys.CodeInvalid, "What %s sent is not what its list says: the digest differs. Nothing was installed.", u.Host).WithHint("Tell its author.")
	}
	if k.Type == "skill-md" {
		return stage(ctx, staging, func(in *intake) error {
			return in.entry("SKILL.md", 0o644, uint64(len(raw)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil })
		})
	}
	return Unpack(ctx, bytes.NewReader(raw), int64(len(raw)), staging)
}

// index reads the index of a site from the place that it names, or from the usual ones.
func (s *Service) index(ctx context.Context, u *url.URL) (*url.URL, []byte, error) {
	tries := indexes
	if u.Path != "/" {
		tries = []string{u.Path}
	}
	var last error
	for _, p := range tries {
		at := *u
		at.Path = p
		raw, err := s.get(ctx, at.String(), maxIndex)
		if err == nil {
			return &at, raw, nil
		}
		if last = err; sys.CodeOf(err) != sys.CodeNotFound {
			return nil, nil, err
		}
	}
	return nil, nil, sys.Errorf(sys.CodeNotFound, "%s lists no skills. Nothing was installed.", u.Host).WithHint("Give the address of the skill itself, or of its git repository.").WithCause(last)
}

// files fetches the files of a skill one by one.
func (s *Service) files(ctx context.Context, base *url.URL, names []string, staging string) (string, error) {
	if len(names) > 200 {
		return "", refusedSize(sys.Say("it has more than %d files", 200))
	}
	return stage(ctx, staging, func(in *intake) error {
		for _, name := range names {
			if why := checkEntry(name); why.EN != "" {
				return refused(why)
			}
			raw, err := s.get(ctx, base.ResolveReference(&url.URL{Path: name}).String(), maxOne)
			if err == nil {
				err = in.entry(name, 0o644, uint64(len(raw)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil })
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// severalSkills says that a place has more than one skill, or not the one that was named.
func severalSkills(p place, names []string) error {
	const most = 30
	slices.Sort(names)
	listed := names
	if len(listed) > most {
		listed = append(slices.Clone(listed[:most]), "…")
	}
	switch {
	case len(names) == 0:
		return sys.Errorf(sys.CodeNotFound, "%s has no skill. Nothing was installed.", p.url.Host+p.url.Path)
	case p.folder != "":
		return sys.Errorf(sys.CodeNotFound, "%s has no skill %q. Nothing was installed.", p.url.Host+p.url.Path, sys.Shorten(p.folder, 100)).WithHint("It has these: %s.", strings.Join(listed, ", "))
	}
	return sys.Errorf(sys.CodeInvalid, "%s has %d skills. Nothing was installed.", p.url.Host+p.url.Path, len(names)).
		WithHint("Name one at the end of the address, as in #%s. It has these: %s.", names[0], strings.Join(listed, ", "))
}
