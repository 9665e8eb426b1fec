package skill_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cgi" //nolint:gosec // the server of a test, which nobody else reaches
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/skill"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// open lets every connection through.
type open struct{}

func (open) Transport() *http.Transport { return &http.Transport{DisableKeepAlives: true} }

func (open) Get(ctx context.Context, t http.RoundTripper, raw string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, http.NoBody)
	if err != nil {
		return nil, err
	}
	return (&http.Client{Transport: t}).Do(req)
}

type gate struct{}

func (gate) Pass(ctx context.Context, _ guard.Action, fn func(context.Context) (any, error)) (any, error) {
	return fn(ctx)
}

func installer(t *testing.T, net skill.Net) (api *skill.API, dir string) {
	t.Helper()
	s, dir := service(t, net)
	return s.As(guard.NewCaller(sys.Person(""), guard.Scope{}, gate{})), dir
}

func service(t *testing.T, net skill.Net) (s *skill.Service, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "skills")
	var registries []string
	return skill.New(skill.Config{
		Registries: func() []string { return registries }, SetRegistries: func(list []string) error { registries = list; return nil },
		Dir: dir, Log: slog.New(slog.DiscardHandler), Net: net, Has: nothing{},
		Trusted: func(context.Context, string) bool { return false }, Told: func(string) {},
		Brings: func(string) store.Labels { return nil },
		Diff:   func(name, before, after string) string { return name + ": " + before + " → " + after },
	}), dir
}

type nothing struct{}

func (nothing) Program(string) bool { return false }
func (nothing) Env(string) bool     { return false }
func (nothing) Config(string) bool  { return false }

// gitServer serves the repositories of a folder by smart HTTP, with the program of git.
func gitServer(t *testing.T) (url, folder string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Skipf("no git: %v", err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	folder = t.TempDir()
	server := httptest.NewServer(&cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1"}})
	t.Cleanup(server.Close)
	return server.URL, folder
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main", "-C", dir}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func manifest(name string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\nGo.\n"
}

// repository makes one with two skills and returns its working folder.
func repository(t *testing.T, folder, name string) string {
	t.Helper()
	work := filepath.Join(folder, name)
	put(t, filepath.Join(work, "skills", "one", "SKILL.md"), manifest("one"))
	put(t, filepath.Join(work, "skills", "one", "scripts", "go.sh"), "echo one\n")
	put(t, filepath.Join(work, "skills", "two", "SKILL.md"), manifest("two"))
	put(t, filepath.Join(work, "README.md"), "Two skills.\n")
	git(t, folder, "init", "-q", name)
	if err := os.Chmod(filepath.Join(work, "skills", "one", "scripts", "go.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, work, "add", "-A")
	git(t, work, "commit", "-qm", "first")
	return work
}

func TestASkillIsInstalledFromAGitRepositoryAndUpdated(t *testing.T) {
	t.Parallel()
	url, folder := gitServer(t)
	work := repository(t, folder, "many")
	git(t, work, "tag", "-a", "v1", "-m", "the first")
	first := git(t, work, "rev-parse", "HEAD")
	api, dir := installer(t, open{})
	address := url + "/many/.git"
	_, err := api.Install(t.Context(), address)
	if err == nil || !strings.Contains(err.Error(), "has 2 skills") || !strings.Contains(sys.AsError(err).Hint, "skills/one, skills/two") {
		t.Fatalf("got %v, want what there is to choose from", err)
	}
	v, err := api.Install(t.Context(), address+"#skills/one")
	if err != nil || v.Name != "one" || v.State != skill.StateNew || v.Origin == nil || v.Origin.Commit != first {
		t.Fatalf("got %+v, %v, want it at the commit %s", v, err, first)
	}
	if info, err := os.Stat(filepath.Join(dir, "one", "scripts", "go.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("its script is %v, %v, want one that can be run", info, err)
	}
	if names, err := os.ReadDir(filepath.Join(dir, "one")); err != nil || len(names) != 2 {
		t.Errorf("its folder has %v, %v, want what is in that folder alone", names, err)
	}
	d, err := api.Show(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Accept(t.Context(), "one", d.Now); err != nil {
		t.Fatal(err)
	}
	if v, err = api.Update(t.Context(), "one"); err != nil || v.State != skill.StateReady {
		t.Errorf("updated without a change: got %+v, %v", v, err)
	}
	put(t, filepath.Join(work, "skills", "one", "scripts", "go.sh"), "echo another\n")
	git(t, work, "commit", "-qam", "second")
	second := git(t, work, "rev-parse", "HEAD")
	if v, err = api.Update(t.Context(), "one"); err != nil || v.State != skill.StateChanged || v.Origin.Commit != second {
		t.Fatalf("updated: got %+v, %v, want one to review again", v, err)
	}
	if d, err = api.Show(t.Context(), "one"); err != nil || len(d.Changes) != 1 || !strings.Contains(d.Changes[0].Diff, "echo one\n → echo another") {
		t.Errorf("the difference is %+v, %v", d.Changes, err)
	}
	for _, ref := range []string{"v1", first} {
		if v, err = api.Install(t.Context(), address+"#skills/one@"+ref); err != nil || v.Origin.Commit != first {
			t.Errorf("%s: got %+v, %v, want the commit %s", ref, v.Origin, err, first)
		}
	}
	if v, err = api.Pin(t.Context(), "one", true); err != nil || !v.Origin.Pinned {
		t.Errorf("pinned: got %+v, %v", v.Origin, err)
	}
	put(t, filepath.Join(work, "skills", "two", "SKILL.md"), manifest("another"))
	if _, err = api.Install(t.Context(), address+"#skills/two"); err != nil {
		t.Fatal(err)
	}
	git(t, work, "commit", "-qam", "another name")
	if _, err = api.Update(t.Context(), "two"); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v, want that it is another skill now", err)
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the skills lies %v, %v", left, err)
	}
}

func TestARepositoryThatCannotBeInstalledSaysWhyAndLeavesNothing(t *testing.T) {
	t.Parallel()
	url, folder := gitServer(t)
	work := repository(t, folder, "one")
	if err := os.Symlink("/etc/passwd", filepath.Join(work, "skills", "one", "link")); err != nil {
		t.Fatal(err)
	}
	git(t, work, "add", "-A")
	git(t, work, "commit", "-qm", "a link")
	git(t, folder, "init", "-q", "empty")
	big := filepath.Join(folder, "big")
	put(t, filepath.Join(big, "SKILL.md"), manifest("big"))
	if err := os.WriteFile(filepath.Join(big, "zeros"), make([]byte, 65<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, folder, "init", "-q", "big")
	git(t, big, "add", "-A")
	git(t, big, "commit", "-qm", "zeros")
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Sign in</html>") }))
	t.Cleanup(html.Close)
	api, dir := installer(t, open{})
	for from, want := range map[string]string{
		url + "/one/.git#skills/one":       `"link" is a link`,
		url + "/one/.git#skills/three":     `has no skill "skills/three"`,
		url + "/one/.git#skills/two@never": `no branch or tag "never"`,
		url + "/one/.git#../x":             "cannot be a folder",
		url + "/none/.git":                 "no git repository",
		url + "/empty/.git":                "is empty",
		url + "/big/.git":                  "unpacks to more than",
		html.URL + "/a/b.git":              "could not be reached",
		"git@github.com:a/b.git":           "begin with https",
		"ssh://git@github.com/a/b":         "begin with https",
		"file:///etc":                      "begin with https",
		"http://example.com/a/b.git":       "begin with https",
		"http://example.com/a.zip":         "begin with https",
		"http://8.8.8.8/":                  "begin with https",
		"https://me:secret@example.com/a":  "not an address",
		"https://example.com/a?b=c":        "not an address",
	} {
		if _, err := api.Install(t.Context(), from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", from, err, want)
		}
	}
	for _, place := range []string{dir, filepath.Dir(dir)} {
		left, err := os.ReadDir(place)
		if len(left) > 1 || len(left) == 1 && left[0].Name() != "skills" {
			t.Errorf("%s holds %v, %v", place, left, err)
		}
	}
}

func TestASkillIsInstalledFromTheListOfASite(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, text := range map[string]string{"SKILL.md": manifest("packed"), "notes.md": "Notes.\n"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := func(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }
	files := map[string]string{
		"/.well-known/agent-skills/index.json": fmt.Sprintf(`{"skills":[
			{"name":"plain","type":"skill-md","url":"plain/SKILL.md","digest":%q},
			{"name":"packed","type":"archive","url":"/packed.zip","digest":%q},
			{"name":"lies","type":"archive","url":"/packed.zip","digest":%q}]}`, sum([]byte(manifest("plain"))), sum(packed.Bytes()), sum(nil)),
		"/.well-known/agent-skills/plain/SKILL.md": manifest("plain"),
		"/packed.zip": packed.String(),
	}
	old := map[string]string{
		"/.well-known/skills/index.json":        `{"skills":[{"name":"old","files":["SKILL.md","more/notes.md"]}]}`,
		"/.well-known/skills/old/SKILL.md":      manifest("old"),
		"/.well-known/skills/old/more/notes.md": "Notes.\n",
	}
	serve := func(files map[string]string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, ok := files[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, text)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	api, dir := installer(t, open{})
	site := serve(files)
	for from, name := range map[string]string{site + "#plain": "plain", site + "#packed": "packed", site + "/packed.zip": "packed", serve(old): "old"} {
		v, err := api.Install(t.Context(), from)
		if err != nil || v.Name != name || v.State != skill.StateNew {
			t.Errorf("%s: got %+v, %v", from, v, err)
		}
	}
	for _, at := range []string{"packed/notes.md", "old/more/notes.md"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(at))); err != nil {
			t.Error(err)
		}
	}
	for from, want := range map[string]string{
		site:               "has 3 skills",
		site + "#lies":     "the digest differs",
		site + "#none":     `has no skill "none"`,
		site + "/none.zip": "answered with 404",
		serve(nil):         "lists no skills",
		serve(map[string]string{"/.well-known/agent-skills/index.json": "<html>"}): "no list of skills",
	} {
		if _, err := api.Install(t.Context(), from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", from, err, want)
		}
	}
}

func TestAnAddressOfTheOwnNetworkIsNotAsked(t *testing.T) {
	t.Parallel()
	asked := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(s.Close)
	api, _ := installer(t, &security.NetGuard{})
	for _, from := range []string{s.URL, s.URL + "/a.zip", s.URL + "/a/b.git"} {
		if _, err := api.Install(t.Context(), from); err == nil || asked {
			t.Errorf("%s: got %v, asked: %v", from, err, asked)
		}
	}
}
