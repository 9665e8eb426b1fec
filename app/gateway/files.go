package gateway

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// Files go over POST, because a WebSocket message holds 16 MiB at most:
//
//	POST /files/backup                        → the backup; its report in the header Oxios-Report
//	POST /files/export?session=ID&format=md   → the conversation
//	POST /files/skill?name=NAME               → the skill, as a zip
//	POST /files/restore?try=1, or ?take=ID&take=ID, with a backup  → the report
//
// Each carries the cookie, and the second secret as "Authorization: Bearer".

// reportHeader holds JSON, escaped as in a URL: headers take ASCII only.
const reportHeader = "Oxios-Report"

// let answers a request for a file, if both secrets let the page in.
func (g *Gateway) let(port int, answer func(http.ResponseWriter, *http.Request, *remote.Handle, string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie(cookieName(port))
		secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if err != nil || !ok || !g.doors.opens(cookie.Value, secret) {
			refuse(w, http.StatusUnauthorized, sys.Errorf(sys.CodeAuth, "This page is not signed in.").WithHint("Open Oxios with the link that `oxios serve` prints."))
			return
		}
		dir, err := os.MkdirTemp(g.cfg.Scratch, "work-")
		if err != nil {
			refuse(w, http.StatusInsufficientStorage, sys.Errorf(sys.CodeUnavailable, "There is no place for the file: %w.", err))
			return
		}
		defer os.RemoveAll(dir)
		if err := answer(w, r, g.cfg.Handle("page"), dir); err != nil && r.Context().Err() == nil {
			refuse(w, http.StatusConflict, sys.AsError(err))
		}
	}
}

func backupFile(w http.ResponseWriter, r *http.Request, h *remote.Handle, dir string) error {
	report, err := h.Infra.Backup(r.Context(), filepath.Join(dir, "oxios-backup-"+time.Now().Format("20060102-150405")+".tar.gz"))
	if err != nil {
		return err
	}
	name := filepath.Base(report.Path)
	raw, err := remote.Marshal(report)
	if err != nil {
		return err
	}
	w.Header().Set(reportHeader, url.PathEscape(string(raw)))
	return sendFile(w, report.Path, name, "application/gzip")
}

func exportFile(w http.ResponseWriter, r *http.Request, h *remote.Handle, dir string) error {
	format := r.URL.Query().Get("format")
	saved, err := h.State.SaveSession(r.Context(), r.URL.Query().Get("session"), format, filepath.Join(dir, "conversation"), false)
	if err != nil {
		return err
	}
	kind := "text/markdown; charset=utf-8"
	if format == "json" {
		kind = "application/json"
	}
	return sendFile(w, saved.Path, "conversation."+format, kind)
}

func skillFile(w http.ResponseWriter, r *http.Request, h *remote.Handle, dir string) error {
	saved, err := h.Skills.Export(r.Context(), r.URL.Query().Get("name"), filepath.Join(dir, "skill"), false)
	if err != nil {
		return err
	}
	return sendFile(w, saved.Path, "skill.zip", "application/zip")
}

func restoreFile(w http.ResponseWriter, r *http.Request, h *remote.Handle, dir string) error {
	path := filepath.Join(dir, "backup.tar.gz")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r.Body)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The backup did not arrive whole: %w. Nothing was changed.", err).WithHint("Try again; there may be too little room on the disk.")
	}
	query := r.URL.Query()
	report, err := h.Infra.Restore(r.Context(), kernel.RestoreInput{Path: path, Try: query.Get("try") != "", Take: query["take"]})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	raw, err := remote.Marshal(report)
	if err != nil {
		return err
	}
	_, _ = w.Write(raw) // when it does not arrive, the page is gone
	return nil
}

// sendFile sends a file for the browser to save.
func sendFile(w http.ResponseWriter, path, name, kind string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	_, _ = io.Copy(w, f) // when it does not arrive, the page is gone
	return nil
}
