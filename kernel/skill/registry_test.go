package skill_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel/skill"
	"oxios/kernel/sys"
)

const listedSkill = "---\nname: tidy-up\ndescription: Tidies up papers.\n---\nGo.\n"

// zipped is an archive of a skill.
func zipped(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("SKILL.md")
	if err == nil {
		_, err = w.Write([]byte(listedSkill))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// registry is a registry that answers paths as they are given; all others are not there. asked is what came.
func registry(t *testing.T, answers map[string]any) (url string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.RequestURI())
		switch a := answers[r.URL.Path].(type) {
		case nil:
			http.NotFound(w, r)
		case []byte:
			_, _ = w.Write(a)
		default:
			_ = json.NewEncoder(w).Encode(a)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

type object = map[string]any

// clawhub is what a registry of that kind answers, with a skill whose file has this digest.
func clawhub(t *testing.T, digest string) map[string]any {
	t.Helper()
	return map[string]any{
		"/.well-known/clawhub.json": object{"apiBase": "/hub"},
		"/hub/api/v1/search": object{"results": []object{
			{"slug": "tidy-up", "ownerHandle": "minji", "summary": "Tidies\nup\u202e papers.", "version": "1.2.0", "downloads": 7},
			{"slug": "../up", "ownerHandle": "minji"},
		}},
		"/hub/api/v1/skills/tidy-up/install":        object{"ok": true, "installKind": "archive", "archive": object{"version": "1.2.0", "downloadUrl": "/files/tidy-up.zip"}},
		"/hub/api/v1/skills/tidy-up/versions/1.2.0": object{"version": object{"files": []object{{"path": "SKILL.md", "sha256": digest}}}},
		"/files/tidy-up.zip":                        zipped(t),
		"/hub/api/v1/skills/held/install":           object{"ok": false, "message": "It is being examined."},
		"/hub/api/v1/skills/moved/install":          object{"ok": true, "installKind": "github", "github": object{"repo": "minji/skills", "path": "tidy-up", "commit": "main"}},
		"/hub/api/v1/skills/odd/install":            object{"ok": true, "installKind": "archive", "archive": object{"downloadUrl": "file:///etc/passwd"}},
		"/hub/api/v1/skills/torn/install":           []byte("<html>"),
	}
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func TestARegistryIsAskedOnlyOnceItWasAdded(t *testing.T) {
	t.Parallel()
	url, asked := registry(t, clawhub(t, digest(listedSkill)))
	api, _ := installer(t, open{})
	if _, err := api.Search(t.Context(), "papers"); sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "registries add") {
		t.Errorf("got %v", err)
	}
	if _, err := api.Install(t.Context(), "https://clawhub.ai/minji/tidy-up"); sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "was not added") {
		t.Errorf("a page of one: got %v", err)
	}
	list, err := api.AddRegistry(t.Context(), url+"/")
	if err != nil || !list[0].Added || list[0].URL != url || len(list) != 3 || list[1].Added {
		t.Fatalf("got %+v, %v", list, err)
	}
	if len(*asked) != 0 {
		t.Errorf("it was asked %v before anybody looked for something", *asked)
	}
	found, err := api.Search(t.Context(), "papers & co")
	want := skill.Found{Name: "tidy-up", Owner: "minji", Summary: found.Found[0].Summary, Version: "1.2.0", Downloads: 7, From: url + "/minji/tidy-up"}
	if err != nil || len(found.Found) != 1 || found.Found[0] != want || !strings.Contains(want.Summary, "Tidies up") || strings.Contains(want.Summary, "\u202e") {
		t.Errorf("got %+v, %v", found, err)
	}
	if !slices.Contains(*asked, "/hub/api/v1/search?limit=20&q=papers+%26+co") {
		t.Errorf("it was asked %v", *asked)
	}
	if list, err = api.RemoveRegistry(t.Context(), url); err != nil || len(list) != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
	for _, bad := range []string{"", "ftp://clawhub.ai", "https://user:pass@clawhub.ai", "https://clawhub.ai/skills", "http://clawhub.ai", "https://clawhub.ai?x=1"} {
		if _, err := api.AddRegistry(t.Context(), bad); sys.CodeOf(err) != sys.CodeInvalid || sys.AsError(err).MessageKO == "" {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestASkillIsInstalledFromARegistry(t *testing.T) {
	t.Parallel()
	url, asked := registry(t, clawhub(t, digest(listedSkill)))
	api, dir := installer(t, open{})
	if _, err := api.AddRegistry(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	v, err := api.Install(t.Context(), url+"/minji/tidy-up")
	if err != nil || v.Name != "tidy-up" || v.State != skill.StateNew || v.Origin.From != url+"/minji/tidy-up" {
		t.Fatalf("got %+v, %v", v, err)
	}
	if !slices.Contains(*asked, "/hub/api/v1/skills/tidy-up/install?ownerHandle=minji") {
		t.Errorf("it was asked %v", *asked)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "tidy-up", "SKILL.md")); err != nil || string(raw) != listedSkill {
		t.Errorf("it holds %s, %v", raw, err)
	}
	if _, err := api.Update(t.Context(), "tidy-up"); err != nil {
		t.Errorf("update: %v", err)
	}
	for slug, want := range map[string]string{
		"minji/held": `"It is being examined."`, "minji/moved": "did not answer as a registry", "odd": "did not answer as a registry",
		"torn": "did not answer as a registry", "none": "404", "a/b/c": "not the address of one skill",
	} {
		if _, err := api.Install(t.Context(), url+"/"+slug); err == nil || !strings.Contains(err.Error(), want) || sys.AsError(err).MessageKO == "" {
			t.Errorf("%s: got %v, want %q in both languages", slug, err, want)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 { // with what was decided
		t.Errorf("the folder holds %v, %v", list, err)
	}
}

func TestWhatARegistrySendsIsWhatItLists(t *testing.T) {
	t.Parallel()
	url, _ := registry(t, clawhub(t, digest("another")))
	api, dir := installer(t, open{})
	if _, err := api.AddRegistry(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Install(t.Context(), url+"/minji/tidy-up"); err == nil || !strings.Contains(err.Error(), "the digest differs") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tidy-up")); !os.IsNotExist(err) {
		t.Errorf("something was installed: %v", err)
	}
}

func TestASkillIsInstalledFromTheOtherKindOfRegistry(t *testing.T) {
	t.Parallel()
	url, _ := registry(t, map[string]any{
		"/api/search": object{"skills": []object{
			{"id": "minji/skills/tidy-up", "name": "tidy-up", "source": "minji/skills", "installs": 12}, {"id": "broken", "name": "x"},
		}},
		"/api/download/minji/skills/tidy-up": object{"files": []object{{"path": "SKILL.md", "contents": listedSkill}, {"path": "docs/more.md", "contents": "more"}}},
		"/api/download/minji/skills/out":     object{"files": []object{{"path": "SKILL.md", "contents": listedSkill}, {"path": "../more.md", "contents": "more"}}},
	})
	api, dir := installer(t, open{})
	if _, err := api.AddRegistry(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	found, err := api.Search(t.Context(), "papers")
	if want := (skill.Found{Name: "tidy-up", Owner: "minji/skills", Downloads: 12, From: url + "/minji/skills/tidy-up"}); err != nil || len(found.Found) != 1 || found.Found[0] != want {
		t.Fatalf("got %+v, %v", found, err)
	}
	if v, err := api.Install(t.Context(), found.Found[0].From); err != nil || v.Name != "tidy-up" {
		t.Fatalf("got %+v, %v", v, err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "tidy-up", "docs", "more.md")); err != nil || string(raw) != "more" {
		t.Errorf("it holds %s, %v", raw, err)
	}
	if _, err := api.Install(t.Context(), url+"/minji/skills/out"); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("a file above the skill: got %v", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "more.md")); !os.IsNotExist(err) {
		t.Errorf("a file lies outside: %v", err)
	}
}

func TestASearchTellsWhichRegistryDidNotAnswer(t *testing.T) {
	t.Parallel()
	good, _ := registry(t, clawhub(t, ""))
	bad, _ := registry(t, map[string]any{"/api/search": []byte("<html>")})
	api, _ := installer(t, open{})
	for _, u := range []string{bad, good} {
		if _, err := api.AddRegistry(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	found, err := api.Search(t.Context(), "papers")
	if err != nil || len(found.Found) != 1 || len(found.Problems) != 1 || found.Problems[0].Text.KO == "" {
		t.Errorf("got %+v, %v", found, err)
	}
}
