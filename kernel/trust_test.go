package kernel_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// toldIn runs an agent in a folder and returns the system prompt that it got,
// and the run.
func toldIn(t *testing.T, k *kerneltest.Kernel, folder string) (prompt string, run store.Run) {
	t.Helper()
	out := k.Say("Hello", func(m *kernel.Submit) { m.Folder = folder })
	if r := k.Wait(out.RunID); r.State != "done" {
		t.Fatalf("the run: %s, %v", r.State, r.Error)
	}
	requests := k.Demo.Requests()
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
		t.Fatal(err)
	}
	v, err := k.Person().State.Session(t.Context(), out.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	return body.Messages[0].Content, v.Runs[len(v.Runs)-1].Run
}

func trust(t *testing.T, k *kerneltest.Kernel, folder, what string) kernel.Folder {
	t.Helper()
	f, err := k.Person().Security.TrustFolder(t.Context(), folder, what)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func folderOf(t *testing.T, k *kerneltest.Kernel, path string) kernel.Folder {
	t.Helper()
	f, err := k.Person().Exec.Folder(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestInstructionsAreFollowedOnlyWhereThePersonTrustsTheFolder(t *testing.T) {
	t.Parallel()
	k := open(t)
	project := t.TempDir()
	writeFile(t, filepath.Join(project, "AGENTS.md"), "Use tabs.\n")
	writeFile(t, filepath.Join(project, "CLAUDE.md"), "Use spaces.\n")

	if f := folderOf(t, k, project); f.Trust != "" || f.Instructions == nil || f.Instructions.Name != "AGENTS.md" || f.Instructions.Text != "" {
		t.Errorf("before: got %+v, %+v; want it not asked, and what it holds", f, f.Instructions)
	}
	if prompt, run := toldIn(t, k, project); strings.Contains(prompt, "Use tabs.") || run.Instructions != nil {
		t.Errorf("a folder that nobody trusts: the agent was told its instructions: %+v", run.Instructions)
	}
	if f := trust(t, k, project, kernel.FolderTrusted); f.Trust != kernel.FolderTrusted {
		t.Errorf("got %q", f.Trust)
	}
	prompt, run := toldIn(t, k, project)
	if !strings.Contains(prompt, "<instructions>\nUse tabs.\n</instructions>") || strings.Contains(prompt, "Use spaces.") {
		t.Errorf("a trusted folder: got %s", prompt)
	}
	if i := run.Instructions; i == nil || i.Name != "AGENTS.md" || i.Bytes != 10 || len(i.Hash) != 64 || i.Text != "" {
		t.Errorf("the run keeps %+v, want what it was told, without the text", i)
	}
	trust(t, k, project, kernel.FolderDeclined)
	if prompt, run := toldIn(t, k, project); strings.Contains(prompt, "Use tabs.") || run.Instructions != nil {
		t.Error("a folder whose trust was taken back: the agent was told its instructions")
	}
}

func TestTrustCoversTheFoldersInside(t *testing.T) {
	t.Parallel()
	k := open(t)
	top := t.TempDir()
	inside, other := filepath.Join(top, "a", "b"), filepath.Join(top, "a", "other")
	for _, dir := range []string{inside, other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(inside, link); err != nil {
		t.Fatal(err)
	}
	trust(t, k, top, kernel.FolderTrusted)
	trust(t, k, other, kernel.FolderDeclined)
	for path, want := range map[string]string{
		top: "trusted", inside: "trusted", link: "trusted", other: "declined", filepath.Dir(top): "", k.Folder: "trusted", top + "x": "",
	} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if got := folderOf(t, k, path).Trust; got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	list, err := k.Person().Security.Folders(t.Context())
	if err != nil || len(list) != 2 || list[0].Path != realTemp(t, top) {
		t.Errorf("got %+v, %v", list, err)
	}
	trust(t, k, top, "")
	if got := folderOf(t, k, inside).Trust; got != "" {
		t.Errorf("after it was forgotten: got %q", got)
	}
	k.Restart()
	if got := folderOf(t, k, other).Trust; got != "declined" {
		t.Errorf("after a restart: got %q, want declined", got)
	}
}

func realTemp(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func TestInstructionsOfTheRepositoryCountInItsFolders(t *testing.T) {
	t.Parallel()
	k := open(t)
	repo := t.TempDir()
	deep, own := filepath.Join(repo, "a", "b"), filepath.Join(repo, "own")
	writeFile(t, filepath.Join(repo, "CLAUDE.md"), "Of the repository.")
	writeFile(t, filepath.Join(own, "AGENTS.md"), "Of the part.")
	if err := errors.Join(os.MkdirAll(deep, 0o700), os.Mkdir(filepath.Join(repo, ".git"), 0o700)); err != nil {
		t.Fatal(err)
	}
	trust(t, k, deep, kernel.FolderTrusted)
	prompt, run := toldIn(t, k, deep)
	if strings.Contains(prompt, "Of the repository.") {
		t.Error("only the folder inside is trusted: the agent was told what stands above it")
	}
	for which, in := range map[string]*kernel.Instructions{"the run": run.Instructions, "the folder": folderOf(t, k, deep).Instructions} {
		if in == nil || !strings.Contains(in.Problem, "not said that you trust") || !strings.Contains(in.ProblemKO, "신뢰") || in.Tokens != 0 {
			t.Errorf("%s: got %+v, want why it is not followed", which, in)
		}
	}
	trust(t, k, repo, kernel.FolderTrusted)
	for folder, want := range map[string]string{deep: "Of the repository.", own: "Of the part."} {
		if prompt, _ := toldIn(t, k, folder); !strings.Contains(prompt, want) {
			t.Errorf("%s: the agent was not told %q", folder, want)
		}
	}
}

func TestInstructionsThatCannotBeLoadedAreTold(t *testing.T) {
	t.Parallel()
	k := open(t)
	secret := filepath.Join(t.TempDir(), "secret.md")
	writeFile(t, secret, "Of another folder.")
	for name, tc := range map[string]struct {
		make func(path string) error
		says string
	}{
		"a link that leads out": {func(p string) error { return os.Symlink(secret, p) }, "AGENTS.md"},
		"a folder":              {func(p string) error { return os.Mkdir(p, 0o700) }, "folder"},
		"a picture":             {func(p string) error { return os.WriteFile(p, []byte("\x89PNG\r\n\x1a\n\x00\x00"), 0o600) }, "image/png"},
		"a huge file":           {func(p string) error { return errors.Join(os.WriteFile(p, []byte("#"), 0o600), os.Truncate(p, 60<<20)) }, "it was not loaded"},
	} {
		folder := t.TempDir()
		if err := tc.make(filepath.Join(folder, "AGENTS.md")); err != nil {
			t.Fatal(err)
		}
		trust(t, k, folder, kernel.FolderTrusted)
		f := folderOf(t, k, folder)
		if f.Instructions == nil || !strings.Contains(f.Instructions.Problem, tc.says) || f.Instructions.ProblemKO == "" {
			t.Errorf("%s: got %+v, want a sentence about it", name, f.Instructions)
		}
		prompt, run := toldIn(t, k, folder)
		if strings.Contains(prompt, "instructions>") || run.Instructions == nil || run.Instructions.Problem == "" {
			t.Errorf("%s: the run keeps %+v", name, run.Instructions)
		}
	}
}

func TestLongInstructionsAreCutAndSaySo(t *testing.T) {
	t.Parallel()
	k := open(t)
	writeFile(t, filepath.Join(k.Folder, "AGENTS.md"), strings.Repeat("가", 20_000))
	in, err := k.Person().Exec.Instructions(t.Context(), k.Folder)
	if err != nil || !in.Cut || len(in.Text) > 32<<10 || strings.Trim(in.Text, "가") != "" || in.Bytes != 60_000 {
		t.Errorf("got %d bytes of %d, cut %v, %v; want whole characters up to 32 KiB", len(in.Text), in.Bytes, in.Cut, err)
	}
	if prompt, _ := toldIn(t, k, k.Folder); !strings.Contains(prompt, "The file goes on") {
		t.Error("the agent does not know that there is more")
	}
	cp949 := "\xbe\xc8\xb3\xe7" // 안녕
	writeFile(t, filepath.Join(k.Folder, "AGENTS.md"), cp949)
	if in, err = k.Person().Exec.Instructions(t.Context(), k.Folder); err != nil || in.Text != "안녕" {
		t.Errorf("CP949: got %q, %v", in.Text, err)
	}
}

func TestOnlyThePersonTrustsAFolder(t *testing.T) {
	t.Parallel()
	k := open(t)
	if _, err := k.Agent("autonomous").Security.TrustFolder(t.Context(), k.Folder, kernel.FolderTrusted); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent: got %v, want forbidden", err)
	}
	for path, code := range map[string]sys.Code{"/": sys.CodeRefused, k.Home: sys.CodeRefused, filepath.Join(k.Folder, "no"): sys.CodeNotFound} {
		if _, err := k.Person().Security.TrustFolder(t.Context(), path, kernel.FolderTrusted); sys.CodeOf(err) != code {
			t.Errorf("%s: got %v, want %s", path, err, code)
		}
	}
	if _, err := k.Person().Security.TrustFolder(t.Context(), k.Folder, "yes"); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want invalid", err)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	writeFile(t, filepath.Join(gone, "x"), "")
	trust(t, k, gone, kernel.FolderTrusted)
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	trust(t, k, gone, "")
	if list, err := k.Person().Security.Folders(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("got %+v, %v; want a folder that is gone to be forgotten", list, err)
	}
}

func TestInstructionsBehindALinkInsideTheFolderAreFollowed(t *testing.T) {
	t.Parallel()
	k := open(t)
	for name, target := range map[string]func(folder string) string{
		"an absolute link": func(folder string) string { return filepath.Join(folder, "docs", "A.md") },
		"a relative link":  func(string) string { return filepath.Join("docs", "A.md") },
	} {
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, "docs", "A.md"), "Use tabs.")
		if err := os.Symlink(target(folder), filepath.Join(folder, "AGENTS.md")); err != nil {
			t.Fatal(err)
		}
		trust(t, k, folder, kernel.FolderTrusted)
		if prompt, run := toldIn(t, k, folder); !strings.Contains(prompt, "Use tabs.") || run.Instructions.Problem != "" {
			t.Errorf("%s: got %+v, want it followed", name, run.Instructions)
		}
	}
}
