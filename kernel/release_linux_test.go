package kernel_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// releaseAt is where the home in testdata was made: what it records names its
// folder by its whole path.
const releaseAt = "/tmp/oxios-home-of-a-release"

// releaseMade is an hour after the home was made, while its request still waits.
var releaseMade = time.Date(2026, 11, 26, 4, 45, 0, 0, time.UTC)

// released puts the home of an earlier release to its place. Only one process at a
// time has it there.
func released(t *testing.T) {
	t.Helper()
	lock, err := os.OpenFile(releaseAt+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	if err := os.RemoveAll(releaseAt); err != nil { // of a test that was killed
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(releaseAt) })
	f, err := os.Open(filepath.Join("testdata", "release", "home.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("/tmp", h.Name)
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(path, 0o700)
		} else {
			var raw []byte
			if raw, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(path, raw, h.FileInfo().Mode().Perm())
			}
		}
		if err == nil {
			err = os.Chtimes(path, h.ModTime, h.ModTime)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAHomeOfAnEarlierReleaseGoesOn(t *testing.T) {
	t.Parallel()
	released(t)
	script, err := os.ReadFile(filepath.Join("testdata", "release", "script.toml"))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	k := kerneltest.Open(t, kerneltest.At(releaseAt+"/home", releaseAt+"/folder"), kerneltest.Script(string(script)), kerneltest.With(func(o *kernel.Options) {
		o.Clock = func() time.Time { return releaseMade.Add(time.Since(began)) }
	}))
	p := k.Person()
	runs, err := p.Agents.List(t.Context(), kernel.ProcessQuery{All: true, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	byText := map[string]string{}
	for _, r := range runs {
		byText[r.Name] = r.ID
	}
	if len(byText) != 5 {
		t.Fatalf("got runs %v, want 5", byText)
	}

	// What waits is asked again, with the reason: a yes now covers the script too.
	var asked kernel.Approval
	k.Until("the request is asked again, and says why", func() bool {
		list, err := p.Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending", RunID: byText["ask for the build"]})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			raw, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(raw), "Oxios was updated while this waited") {
				asked = a
			}
		}
		return asked.ID != ""
	})
	if _, err := p.Security.Approve(t.Context(), asked.ID, kernel.ApproveInput{Hash: asked.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(byText["ask for the build"]); r.Response != "It is built." {
		t.Errorf("got %+v after the yes", r)
	}
	if raw, err := os.ReadFile(releaseAt + "/folder/out.txt"); err != nil || string(raw) != "built\n" {
		t.Errorf("got %q, %v of the script", raw, err)
	}

	// The grant stands, the labels stand, and what was masked stays masked.
	grants, err := p.Security.Grants(t.Context(), false)
	if err != nil || len(grants) != 1 {
		t.Errorf("got grants %+v, %v; want one", grants, err)
	}
	labels, err := p.Security.Labels(t.Context(), kernel.LabelQuery{})
	if err != nil || len(labels) == 0 {
		t.Errorf("got labels %+v, %v", labels, err)
	}
	detail, err := p.Agents.Run(t.Context(), byText["read the settings"])
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(detail)
	if err != nil || !strings.Contains(string(raw), "[redacted:") || strings.Contains(string(raw), "s7-Kd82") {
		t.Errorf("got %s, %v; want the secret masked as it was", raw, err)
	}

	// The cache that all folders shared is gone.
	if _, err := os.Stat(releaseAt + "/home/cache"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v of the shared cache, want it removed", err)
	}

	// What was done before can be undone, and the record holds.
	goBack(t, k, kernel.UndoQuery{RunID: byText["write the notes"]})
	if _, err := os.Stat(releaseAt + "/folder/notes.md"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v of the notes after the undo", err)
	}
	r, err := p.Security.VerifyAudit(t.Context())
	if err != nil || !r.OK || r.Lacks != "" {
		t.Errorf("got %+v, %v of the record", r, err)
	}
}
