package kernel_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// lived is a home with conversations, a provider with a key, settings and files.
func lived(t *testing.T) *kerneltest.Kernel {
	t.Helper()
	k := open(t)
	k.Ask("Write a hello file.")
	k.Ask("Look around this folder.")
	if _, err := k.Person().Infra.SaveProvider(t.Context(), kernel.ProviderInput{
		Name: "Work", BaseURL: "https://llm.example.org/v1", Key: "sk-very-secret-key-of-work-0001", ProxyURL: "http://minji:proxysecret@proxy.example.org:3128",
	}); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(k.Home, "notebook", "notes", "한글.md"), "# note\n")
	writeFile(t, filepath.Join(k.Home, "logs", "serve.log"), "log\n")
	return k
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func backup(t *testing.T, k *kerneltest.Kernel) kernel.BackupReport {
	t.Helper()
	r, err := k.Person().Infra.Backup(t.Context(), filepath.Join(t.TempDir(), "b.tar.gz"))
	if err != nil {
		t.Fatalf("backup: %v", err)
	}
	return r
}

func restore(t *testing.T, k *kerneltest.Kernel, path string) kernel.RestoreReport {
	t.Helper()
	r, err := k.Person().Infra.Restore(t.Context(), kernel.RestoreInput{Path: path, Take: []string{kernel.TakeAll}})
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	return r
}

// entries reads a backup without the code that is under test.
func entries(t *testing.T, path string) map[string][]byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if found[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// pictured is everything of a home that a person would miss: its conversations
// as they are shown, its settings and its files.
func pictured(t *testing.T, k *kerneltest.Kernel) string {
	t.Helper()
	var b strings.Builder
	list, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		v, err := k.Person().State.Session(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.Runs {
			v.Runs[i].Run.PID = 0
			v.Runs[i].Undo = nil // what an undo needs is in no backup
			for j := range v.Runs[i].Steps {
				v.Runs[i].Steps[j].AuditSeq = 0 // it numbers another chain
			}
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	err = filepath.WalkDir(k.Home, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(k.Home, path)
		top, _, _ := strings.Cut(rel, string(filepath.Separator))
		if err != nil || d.IsDir() || slices.Contains([]string{"run", "logs", "caches", "keys", "audit", "undo"}, top) || strings.HasPrefix(top, "oxios.db") {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s: %s\n", rel, raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func verified(t *testing.T, k *kerneltest.Kernel) kernel.AuditReport {
	t.Helper()
	r, err := k.Person().Security.VerifyAudit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBackupRestoredIntoAnotherHomeHoldsEverything(t *testing.T) {
	t.Parallel()
	from := lived(t)
	made := backup(t, from)
	if made.Sessions != 2 || made.Messages != 4 || made.Files != 2 || !made.Audit.OK {
		t.Errorf("got %+v, want 2 conversations, 4 messages, config.toml and the note", made)
	}
	to := kerneltest.Open(t)
	if err := os.Remove(filepath.Join(to.Home, "config.toml")); err != nil {
		t.Fatal(err)
	}
	r := restore(t, to, made.Path)
	if r.Sessions != (kernel.Merged{Added: 2}) || r.Files != (kernel.Merged{Added: 2}) || r.Messages != 4 || r.Runs != 2 {
		t.Errorf("got %+v, want everything to be added", r)
	}
	if diff := cmp.Diff(pictured(t, from), pictured(t, to)); diff != "" {
		t.Errorf("(-from +to):\n%s", diff)
	}
	if len(r.Keys) != 1 || r.Keys[0].Name != "work" || !strings.Contains(r.Keys[0].Host, "llm.example.org") {
		t.Errorf("got keys %v, want to be told that Work's must be entered again", r.Keys)
	}
	list, err := to.Person().Infra.Providers(t.Context())
	if err != nil || !slices.ContainsFunc(list, func(p kernel.Provider) bool { return p.ID == "work" && p.KeyWhere == "" }) {
		t.Errorf("got %v, %v; want the provider without its key", list, err)
	}
	found, err := to.Person().State.Sessions(t.Context(), kernel.SessionQuery{Search: "look around"})
	if err != nil || len(found) != 1 {
		t.Errorf("search: got %v, %v; want 1", found, err)
	}
}

func TestAttachmentsAndBranchesComeAlong(t *testing.T) {
	t.Parallel()
	from := open(t)
	h := from.Person()
	attach := func(text string) kernel.Attachment {
		a, err := h.State.Attach(t.Context(), kernel.AttachInput{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	shared, gone := attach("shared by two conversations"), attach("of a conversation that is deleted")
	said := from.Ask("Look around this folder.", func(m *kernel.Submit) { m.Attachments = []string{shared.ID} })
	from.Ask("Look again.", func(m *kernel.Submit) { m.InsteadOf = said.RunID })
	branch, err := h.State.BranchSession(t.Context(), said.RunID)
	if err != nil {
		t.Fatal(err)
	}
	other := from.Ask("Look elsewhere.", func(m *kernel.Submit) { m.Attachments = []string{gone.ID} })
	if _, err := h.State.DiscardSession(t.Context(), other.SessionID); err != nil {
		t.Fatal(err)
	}
	made := backup(t, from)
	for name, data := range entries(t, made.Path) {
		if bytes.Contains(data, []byte("of a conversation that is deleted")) {
			t.Errorf("%s holds what a deleted conversation had attached", name)
		}
	}
	to := kerneltest.Open(t)
	restore(t, to, made.Path)
	to.CollectAttachments(t.Context()) // takes away what no row speaks of
	for _, id := range []string{said.SessionID, branch.ID} {
		want, err := h.State.Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := to.Person().State.Session(t.Context(), id)
		if err != nil || got.Branches != want.Branches || got.Session.HeadID != want.Session.HeadID || len(got.Messages) != len(want.Messages) {
			t.Errorf("%s: got %+v, %v; want %+v", id, got, err, want)
		}
	}
	got, err := to.Person().State.AttachmentContent(t.Context(), shared.ID)
	if err != nil || got.Text != "shared by two conversations" {
		t.Errorf("got %q, %v; want what was attached", got.Text, err)
	}
	// It is shared: what is still here keeps it, and the other conversation comes back to it.
	if _, err := to.Person().State.DeleteSession(t.Context(), said.SessionID); err != nil {
		t.Fatal(err)
	}
	if r := restore(t, to, made.Path); r.Sessions != (kernel.Merged{Added: 1, Present: 1}) {
		t.Errorf("got %+v, want the deleted one back", r.Sessions)
	}
	for _, id := range []string{said.SessionID, branch.ID} {
		if _, err := to.Person().State.DeleteSession(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	s, err := to.Person().Infra.Storage(t.Context())
	if err != nil || partNamed(s, kernel.PartAttachments).Bytes != 0 {
		t.Errorf("after both are deleted: got %+v, %v; want no content to be left", s.Parts, err)
	}
}

func TestRestoringTwiceAddsNothing(t *testing.T) {
	t.Parallel()
	from := lived(t)
	made := backup(t, from)
	to := kerneltest.Open(t)
	restore(t, to, made.Path)
	before := pictured(t, to)
	r := restore(t, to, made.Path)
	if r.Sessions != (kernel.Merged{Present: 2}) || r.Files.Added+r.Settings.Added+r.Costs.Added+r.Messages != 0 || r.Archive != "" {
		t.Errorf("got %+v, want nothing to be added", r)
	}
	if diff := cmp.Diff(before, pictured(t, to)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	// In its own home a backup has nothing to add either, and no chain to keep apart.
	if r := restore(t, from, made.Path); r.Sessions != (kernel.Merged{Present: 2}) || r.Archive != "" || r.Files.Added != 0 {
		t.Errorf("in its own home: got %+v, want nothing to be added", r)
	}
}

func TestRestoreNeverOverwrites(t *testing.T) {
	t.Parallel()
	from := lived(t)
	made := backup(t, from)
	to := kerneltest.Open(t)
	restore(t, to, made.Path)
	list, err := to.Person().State.Sessions(t.Context(), kernel.SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	to.Ask("And here it goes on.", func(m *kernel.Submit) { m.SessionID = list[0].ID; m.Folder = to.Folder })
	writeFile(t, filepath.Join(to.Home, "notebook", "notes", "한글.md"), "# mine\n")
	from.Ask("And there it goes on.", func(m *kernel.Submit) { m.SessionID = list[0].ID })
	later := backup(t, from)
	before := pictured(t, to)
	r := restore(t, to, later.Path)
	if r.Sessions != (kernel.Merged{Present: 1, Kept: 1}) || r.Files.Kept != 2 { // the note, and config.toml, which names another folder
		t.Errorf("got %+v, want one conversation and two files to differ", r)
	}
	if !slices.Contains(r.Differ, list[0].Title) || !slices.Contains(r.Differ, "notebook/notes/한글.md") {
		t.Errorf("got %v, want the names of what differs", r.Differ)
	}
	if diff := cmp.Diff(before, pictured(t, to)); diff != "" {
		t.Errorf("what was here has changed (-before +after):\n%s", diff)
	}
}

func TestNoSecretIsInABackup(t *testing.T) {
	t.Parallel()
	k := lived(t)
	writeConfig(t, k, "folder = \""+k.Folder+"\"\nkeyring = false\n# mine\n[[providers]]\nid = \"hq\"\nbase_url = \"https://user:urlsecret@hq.example.org/v1\"\n[providers.headers]\nX-Token = \"headersecret\" # careful\n\n"+
		"[[providers]]\nid = \"lab\"\nbase_url = \"https://lab.example.org/v1\"\nheaders = { Authorization = \"Bearer inlinesecret\" }\n")
	if _, err := k.Person().Infra.Config(t.Context()); err != nil {
		t.Fatal(err)
	}
	made := backup(t, k)
	all := entries(t, made.Path)
	for name, data := range all {
		if strings.HasPrefix(name, "files/keys") || strings.HasPrefix(name, "files/run") || strings.HasPrefix(name, "files/logs") || strings.HasPrefix(name, "files/caches") {
			t.Errorf("%s is in the backup", name)
		}
		for _, secret := range []string{"sk-very-secret-key-of-work-0001", "proxysecret", "headersecret", "inlinesecret", "urlsecret", "AGE-SECRET-KEY"} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %q", name, secret)
			}
		}
	}
	config := string(all["files/config.toml"])
	for _, want := range []string{"# mine", `X-Token = ""`, "https://hq.example.org/v1", "headers = {}", `id = "lab"`} {
		if !strings.Contains(config, want) {
			t.Errorf("config.toml: got %q, want %q in it", config, want)
		}
	}
	if !slices.Equal(made.Emptied, []string{"Work", "config.toml"}) {
		t.Errorf("got %v, want to be told where secrets were", made.Emptied)
	}
	if raw, err := os.ReadFile(filepath.Join(k.Home, "config.toml")); err != nil || !strings.Contains(string(raw), "headersecret") {
		t.Errorf("the home's own config.toml was changed (%v)", err)
	}
}

func TestBackupGoesOnlyWhereNothingIs(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.tar.gz")
	writeFile(t, taken, "mine")
	for path, want := range map[string]sys.Code{
		taken:                             sys.CodeConflict,
		"relative.tar.gz":                 sys.CodeInvalid,
		filepath.Join(k.Home, "b.tar.gz"): sys.CodeInvalid,
		filepath.Join(dir, "missing", "b.tar.gz"): sys.CodeUnavailable,
	} {
		if _, err := k.Person().Infra.Backup(t.Context(), path); sys.CodeOf(err) != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	if raw, err := os.ReadFile(taken); err != nil || string(raw) != "mine" {
		t.Errorf("the file that was there: got %q, %v", raw, err)
	}
	r, err := k.Person().Infra.Backup(t.Context(), dir)
	if err != nil || !strings.HasPrefix(filepath.Base(r.Path), "oxios-backup-") {
		t.Errorf("into a folder: got %q, %v; want a name of its own", r.Path, err)
	}
	info, err := os.Stat(r.Path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != r.Bytes {
		t.Errorf("got %v, %v; want 0600 and %d bytes", info, err, r.Bytes)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("got %v, %v; want no half file", left, err)
	}
}

func TestAgentsReachNeitherBackupNorRestore(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	path := filepath.Join(k.Folder, "b.tar.gz")
	_, berr := h.Infra.Backup(t.Context(), path)
	_, rerr := h.Infra.Restore(t.Context(), kernel.RestoreInput{Path: path})
	_, cerr := h.Infra.Clean(t.Context(), kernel.PartLogs)
	_, serr := h.Infra.Storage(t.Context())
	_, derr := h.State.DiscardSession(t.Context(), "x")
	_, eerr := h.State.SaveSession(t.Context(), "x", "md", path, true)
	for name, err := range map[string]error{"backup": berr, "restore": rerr, "clean": cerr, "storage": serr, "discard": derr, "save": eerr} {
		if sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("%s: got %v, want forbidden", name, err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("an agent wrote a backup")
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Action: "AccessDenied"})
	if err != nil || len(list) != 6 {
		t.Errorf("got %d refusals in the chain, %v; want 6", len(list), err)
	}
}

func TestChainOfABackupIsKeptApartAndVouchedFor(t *testing.T) {
	t.Parallel()
	from := lived(t)
	made := backup(t, from)
	to := kerneltest.Open(t)
	to.Ask("Look around this folder.")
	r := restore(t, to, made.Path)
	if got := verified(t, to); !got.OK || got.Archived != 1 {
		t.Fatalf("got %+v, want the chain and one archive to be whole", got)
	}
	path := filepath.Join(to.Home, filepath.FromSlash(r.Archive))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := kernel.VerifyAuditExport(f, kernel.AuditProof{}); err != nil || !got.OK || got.Head != made.Audit.Head || got.Entries != made.Audit.Entries {
		t.Errorf("the archive: got %+v, %v; want the chain of the backup", got, err)
	}
	// A backup of this home takes the archive along, and another home vouches for it again.
	third := kerneltest.Open(t)
	restore(t, third, backup(t, to).Path)
	if got := verified(t, third); !got.OK || got.Archived != 2 {
		t.Errorf("in the third home: got %+v, want two archives", got)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func() error{
		"a byte was changed": func() error {
			altered := slices.Clone(raw)
			altered[len(altered)/2] ^= 1
			return os.WriteFile(path, altered, 0o600)
		},
		"the end was cut off": func() error { return os.WriteFile(path, raw[:len(raw)/2], 0o600) },
		"it was removed":      func() error { return os.Remove(path) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if got := verified(t, to); got.OK || got.FirstBad != 0 || !strings.Contains(got.Problem, r.Archive) {
			t.Errorf("%s: got %+v, want the archive to be named", what, got)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := verified(t, to); !got.OK {
		t.Errorf("put back: got %+v, want all to be whole", got)
	}
}

func TestBackupWhileAgentsWorkIsWhole(t *testing.T) {
	t.Parallel()
	k := open(t)
	waits := k.Say("Push my changes")
	k.Approval(waits.RunID)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 6 {
			k.Ask("Write a hello file.")
		}
	}()
	var last kernel.BackupReport
	for range 3 {
		last = backup(t, k)
	}
	<-done
	to := kerneltest.Open(t)
	restore(t, to, last.Path)
	// What waited for a person there waits for nobody here, and nothing goes on by itself.
	pending, err := to.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"})
	if err != nil || len(pending) != 0 {
		t.Errorf("got %v, %v; want no request", pending, err)
	}
	v, err := to.Person().State.Session(t.Context(), waits.SessionID)
	if err != nil || v.Runs[0].Run.State != "interrupted" || v.Session.State != "interrupted" {
		t.Errorf("got %+v, %v; want an interrupted run", v.Session, err)
	}
	to.Restart()
	if list, err := to.Person().Agents.List(t.Context(), kernel.ProcessQuery{}); err != nil || len(list) != 0 {
		t.Errorf("after a restart: got %v, %v; want nothing at work", list, err)
	}
	if got := verified(t, to); !got.OK {
		t.Errorf("got %+v, want a whole chain", got)
	}
}

func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	k := lived(t)
	made := backup(t, k)
	results := make(chan error, 8)
	for range 8 {
		go func() {
			_, err := k.Person().Infra.Restore(t.Context(), kernel.RestoreInput{Path: made.Path, Try: true})
			results <- err
		}()
	}
	done := 0
	for range 8 {
		switch err := <-results; sys.CodeOf(err) {
		case "":
			done++
		case sys.CodeBusy:
		default:
			t.Errorf("got %v, want busy", err)
		}
	}
	if done == 0 {
		t.Error("none of them was let through")
	}
}
