//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"

	"oxios/kernel/sys"
)

// Window is what the page asks of the window itself. As in the generated
// bindings, arguments are a JSON array, results JSON, and the text of an error
// is {"code","message","hint"}.
type Window struct {
	ctx     func() context.Context
	painted func()
	quick   func() error
	hotkey  func() Hotkey
	dialog  func(context.Context) (closed func()) // a dialog is open
	apps    *appWatch
}

// Painted takes []. The page has drawn something.
func (w *Window) Painted(string) (answer string, err error) {
	defer caught(&err)
	w.painted()
	return "", nil
}

// QuickPrompt takes [] and shows the quick prompt.
func (w *Window) QuickPrompt(string) (answer string, err error) {
	defer caught(&err)
	return "", w.quick()
}

// Hotkey takes []. It returns a [Hotkey].
func (w *Window) Hotkey(string) (answer string, err error) {
	defer caught(&err)
	raw, err := json.Marshal(w.hotkey())
	return string(raw), err
}

// PickFolder takes [title] and shows the system's dialog. It returns the folder,
// or "" when the person chose none.
func (w *Window) PickFolder(args string) (answer string, err error) {
	defer caught(&err)
	title, err := one(args)
	if err != nil {
		return "", err
	}
	defer w.dialog(w.ctx())()
	dir, err := wails.OpenDirectoryDialog(w.ctx(), wails.OpenDialogOptions{Title: title, CanCreateDirectories: true})
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(dir)
	return string(raw), err
}

// SaveFile takes [title, name] and shows the system's dialog. It returns the
// path, or "" when the person chose none.
func (w *Window) SaveFile(args string) (answer string, err error) {
	defer caught(&err)
	title, name, err := two(args)
	if err != nil {
		return "", err
	}
	defer w.dialog(w.ctx())()
	path, err := wails.SaveFileDialog(w.ctx(), wails.SaveDialogOptions{Title: title, DefaultFilename: name, CanCreateDirectories: true})
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(path)
	return string(raw), err
}

// PickFiles takes [title] and shows the system's dialog. It returns the files, []
// when the person chose none.
func (w *Window) PickFiles(args string) (answer string, err error) {
	defer caught(&err)
	title, err := one(args)
	if err != nil {
		return "", err
	}
	defer w.dialog(w.ctx())()
	files, err := wails.OpenMultipleFilesDialog(w.ctx(), wails.OpenDialogOptions{Title: title})
	if err != nil || files == nil {
		return "[]", err
	}
	raw, err := json.Marshal(files)
	return string(raw), err
}

// ClipboardPicture takes []. It returns the picture on the clipboard as PNG in
// base64, or null where there is none or the page can read it itself.
func (w *Window) ClipboardPicture(string) (answer string, err error) {
	defer caught(&err)
	raw, err := json.Marshal(clipboardPicture())
	return string(raw), err
}

// OpenPath takes [path] and opens a file or folder of the person's home with
// the program that the system has for it. Programs are not started.
func (w *Window) OpenPath(args string) (answer string, err error) {
	defer caught(&err)
	path, err := one(args)
	if err != nil {
		return "", err
	}
	if path, err = ownPath(path); err != nil {
		return "", err
	}
	return "", openWithSystem(path)
}

// ShowInFolder takes [path] and shows the folder that it lies in.
func (w *Window) ShowInFolder(args string) (answer string, err error) {
	defer caught(&err)
	path, err := one(args)
	if err != nil {
		return "", err
	}
	if path, err = ownPath(filepath.Dir(path)); err != nil {
		return "", err
	}
	return "", openWithSystem(path)
}

// OpenURL takes [url], of http or https, and opens it in the browser.
func (w *Window) OpenURL(args string) (answer string, err error) {
	defer caught(&err)
	link, err := one(args)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(link)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", sys.Errorf(sys.CodeForbidden, "Only web addresses are opened, and %q is none.", link)
	}
	return "", openWithSystem(u.String())
}

// CopyText takes [text] and puts it on the clipboard.
func (w *Window) CopyText(args string) (answer string, err error) {
	defer caught(&err)
	text, err := one(args)
	if err != nil {
		return "", err
	}
	return "", wails.ClipboardSetText(w.ctx(), text)
}

func one(args string) (string, error) {
	var list []string
	if err := json.Unmarshal([]byte(args), &list); err != nil || len(list) != 1 {
		return "", sys.Errorf(sys.CodeInvalid, "The call takes one text.")
	}
	return list[0], nil
}

func two(args string) (first, second string, err error) {
	var list []string
	if err := json.Unmarshal([]byte(args), &list); err != nil || len(list) != 2 {
		return "", "", sys.Errorf(sys.CodeInvalid, "The call takes two texts.")
	}
	return list[0], list[1], nil
}

// ownPath checks that path exists and lies in the person's home, wherever its
// links lead, and that opening it starts nothing.
func ownPath(path string) (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		return "", sys.Errorf(sys.CodeInvalid, "%s is not an absolute path.", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", sys.Errorf(sys.CodeNotFound, "%s is not there any more.", path)
	}
	if rest, err := filepath.Rel(home, real); err != nil || !filepath.IsLocal(rest) {
		return "", sys.Errorf(sys.CodeForbidden, "%s is not in your home folder, so it is not opened from here.", path)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if info.Mode().IsRegular() && (info.Mode().Perm()&0o111 != 0 || strings.EqualFold(filepath.Ext(real), ".desktop")) {
		return "", sys.Errorf(sys.CodeForbidden, "%s is a program: it is not started from here.", path).WithHint("Show it in its folder instead.")
	}
	if info.Mode().IsRegular() && slices.Contains(scripted, strings.ToLower(filepath.Ext(real))) {
		return "", sys.Errorf(sys.CodeForbidden, "%s is a page that a browser runs, and an agent may have written it: it is not opened from here.", path).WithHint("Show it in its folder instead.")
	}
	return real, nil
}

// scripted are the endings of what a browser opens from the disk and runs: there
// it may send what it says, and what it reads beside it.
var scripted = []string{".html", ".htm", ".xhtml", ".xht", ".shtml", ".svg", ".svgz", ".xml", ".xsl", ".xslt", ".mht", ".mhtml", ".hta", ".url", ".webloc", ".website"}

// openWithSystem leaves the choice of the program to the system. target was
// checked: it is an absolute path or begins with http, never an option.
func openWithSystem(target string) error {
	cmd := exec.Command(opener[0], append(opener[1:], target)...) //nolint:noctx // it outlives the call, as what it opens does
	if err := cmd.Start(); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "%s could not be opened: %w.", target, err).WithHint("Copy it and open it yourself.")
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

// caught makes a panic an error, and every error text that the page can read:
// Wails leaves the promise of a method that panicked open for ever.
func caught(err *error) {
	if p := recover(); p != nil {
		slog.Error("A call of the window panicked", "panic", p, "stack", string(debug.Stack()))
		*err = sys.Errorf(sys.CodeInternal, "That failed inside Oxios: %v. Nothing else was affected.", p)
	}
	if *err == nil {
		return
	}
	raw, merr := json.Marshal(sys.AsError(*err))
	if merr != nil {
		raw = fmt.Appendf(nil, `{"code":"internal","message":%q}`, (*err).Error())
	}
	*err = textError(raw)
}

type textError string

func (e textError) Error() string { return string(e) }
