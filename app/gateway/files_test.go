package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (fakeInfra) Backup(_ context.Context, path string) (kernel.BackupReport, error) {
	return kernel.BackupReport{Path: path, Sessions: 3, Emptied: []string{"회사"}}, os.WriteFile(path, []byte("a backup"), 0o600)
}

func (fakeInfra) Restore(_ context.Context, in kernel.RestoreInput) (kernel.RestoreReport, error) {
	raw, err := os.ReadFile(in.Path)
	if err != nil || string(raw) == "damaged" {
		return kernel.RestoreReport{}, sys.Errorf(sys.CodeInvalid, "The backup is damaged.").WithHint("Use another one.")
	}
	return kernel.RestoreReport{Tried: in.Try, Messages: len(raw), Differ: in.Take, Archive: filepath.Base(filepath.Dir(in.Path))}, nil
}

func (fakeState) SaveSession(_ context.Context, id, format, path string, _ bool) (kernel.SavedFile, error) {
	if id != "1" {
		return kernel.SavedFile{}, sys.Errorf(sys.CodeNotFound, "There is no session.")
	}
	return kernel.SavedFile{Path: path}, os.WriteFile(path, []byte("# "+format), 0o600)
}

// post sends a request for a file as the page does, with both secrets.
func (s *site) post(path, body, cookie, secret string) (*http.Response, string) {
	s.t.Helper()
	return s.do("POST", path, s.host, body, "Origin", "http://"+s.host, "Cookie", "oxios_"+s.port+"="+cookie, "Authorization", "Bearer "+secret)
}

func TestFilesGoOutAndComeIn(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	_, cookie, secret := s.exchange(s.g.Code())

	resp, body := s.post("/files/backup", "", cookie.Value, secret)
	if resp.StatusCode != 200 || body != "a backup" || !strings.Contains(resp.Header.Get("Content-Disposition"), "oxios-backup-") {
		t.Errorf("backup: got %d %q %v, want the file to save", resp.StatusCode, body, resp.Header)
	}
	raw, err := url.PathUnescape(resp.Header.Get("Oxios-Report"))
	var report kernel.BackupReport
	if err == nil {
		err = json.Unmarshal([]byte(raw), &report)
	}
	if err != nil || report.Sessions != 3 || report.Emptied[0] != "회사" {
		t.Errorf("got the report %q, %v", raw, err)
	}
	if _, err := os.Stat(filepath.Dir(report.Path)); !os.IsNotExist(err) {
		t.Errorf("the copy on its way is still there (%v)", err)
	}
	if resp, body := s.post("/files/export?session=1&format=json", "", cookie.Value, secret); resp.StatusCode != 200 || body != "# json" || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("export: got %d %q", resp.StatusCode, body)
	}
	if resp, body := s.post("/files/restore?try=1", "twelve bytes", cookie.Value, secret); resp.StatusCode != 200 || !strings.Contains(body, `"tried":true`) || !strings.Contains(body, `"messages":12`) {
		t.Errorf("restore: got %d %q", resp.StatusCode, body)
	}
	if resp, body := s.post("/files/restore?take=setting:mode&take=file:a.js", "twelve bytes", cookie.Value, secret); resp.StatusCode != 200 || !strings.Contains(body, `"differ":["setting:mode","file:a.js"]`) {
		t.Errorf("a choice: got %d %q", resp.StatusCode, body)
	}
	if resp, body := s.post("/files/restore", "damaged", cookie.Value, secret); resp.StatusCode != 409 || !strings.Contains(body, `"code":"invalid"`) || !strings.Contains(body, "Use another one.") {
		t.Errorf("a damaged one: got %d %q, want what the kernel says", resp.StatusCode, body)
	}
	if resp, body := s.post("/files/export?session=2&format=md", "", cookie.Value, secret); resp.StatusCode != 409 || !strings.Contains(body, "not_found") {
		t.Errorf("no such session: got %d %q", resp.StatusCode, body)
	}
}

func TestFilesNeedBothSecretsAndTheOwnPage(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	_, cookie, secret := s.exchange(s.g.Code())
	_, other, _ := s.exchange(s.g.Code())
	for _, path := range []string{"/files/backup", "/files/export?session=1&format=md", "/files/skill?name=x", "/files/restore"} {
		for name, in := range map[string][2]string{
			"no secret": {cookie.Value, ""}, "no cookie": {"", secret}, "another's cookie": {other.Value, secret}, "a wrong secret": {cookie.Value, secret + "x"}, "nothing": {"", ""},
		} {
			if resp, body := s.post(path, "x", in[0], in[1]); resp.StatusCode != http.StatusUnauthorized || strings.Contains(body, "backup") {
				t.Errorf("%s with %s: got %d %q, want 401", path, name, resp.StatusCode, body)
			}
		}
		auth := []string{"Cookie", "oxios_" + s.port + "=" + cookie.Value, "Authorization", "Bearer " + secret}
		if resp, _ := s.do("GET", path, s.host, "", auth...); resp.StatusCode == 200 {
			t.Errorf("GET %s: got 200, want that reading has no effect", path)
		}
		if resp, _ := s.do("POST", path, s.host, "", auth...); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s without an origin: got %d, want 403", path, resp.StatusCode)
		}
		if resp, _ := s.do("POST", path, s.host, "", append(auth, "Origin", "http://evil.example")...); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s from elsewhere: got %d, want 403", path, resp.StatusCode)
		}
	}
}
