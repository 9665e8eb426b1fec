package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Apps are pages that a server gives with the result of a tool: the extension io.modelcontextprotocol/ui, specification of
// 2026-01-26 (SEP-1865).
const (
	uiExtension = "io.modelcontextprotocol/ui"
	appType     = "text/html;profile=mcp-app"
)

// The bounds of an app.
const (
	maxPage   = 2 << 20          // bytes of its page
	maxGiven  = 2 << 20          // of the result that it is given
	maxInput  = 1 << 20          // of the arguments
	pageTime  = 15 * time.Second // to read its page
	maxKept   = 300              // runs of one server whose apps are kept; the oldest go first
	maxSource = 20               // addresses that it may name
)

// Parts of a tool's description that are about apps.
type toolUI struct {
	URI        string   `json:"resourceUri"`
	Visibility []string `json:"visibility"`
}

// uiOf reads what a tool says of apps. A server that writes nonsense there has none.
func uiOf(t *sdk.Tool) (uri string, appOnly, noApp bool) {
	var ui toolUI
	if raw, err := json.Marshal(t.Meta["ui"]); err == nil {
		_ = json.Unmarshal(raw, &ui) // what does not fit is left empty
	}
	if old, ok := t.Meta["ui/resourceUri"].(string); ok && ui.URI == "" { // as it was written before the specification was final
		ui.URI = old
	}
	if !strings.HasPrefix(ui.URI, "ui://") || len(ui.URI) > 1000 || seen(ui.URI) != ui.URI {
		ui.URI = ""
	}
	if len(ui.Visibility) == 0 { // as the specification says
		return ui.URI, false, false
	}
	return ui.URI, !slices.Contains(ui.Visibility, "model"), !slices.Contains(ui.Visibility, "app")
}

// App tells that a result came with an app.
type App struct {
	Server string `json:"server"`
	ID     string `json:"id"`   // [AppOf] names it by this
	Hash   string `json:"hash"` // of its page, SHA-256
}

// AppOf names an app: one page with the call that it came with.
type AppOf struct {
	Server string `json:"server"`
	ID     string `json:"id"`
}

// keptApp is an app in its file, beside its page. It is changed by nobody but [API.StopApp].
type keptApp struct {
	RunID   string          `json:"run_id"`
	Tool    string          `json:"tool"`
	Title   string          `json:"title,omitempty"`
	URI     string          `json:"uri"`
	Hash    string          `json:"hash"`
	Sources sources         `json:"sources"` // what it says that it needs
	Border  *bool           `json:"border,omitempty"`
	Input   json.RawMessage `json:"input"`
	Result  json.RawMessage `json:"result"`
	At      time.Time       `json:"at"`
	For     string          `json:"for"` // the command or address that gave it
	Stopped bool            `json:"stopped,omitempty"`
}

const appFolder = "apps"

var appID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f-]{36})\.([0-9a-f-]{36})$`) })

// appPath is the file of an app; ok is false for a name that is none.
func (s *Service) appPath(of AppOf) (path string, ok bool) {
	m := appID().FindStringSubmatch(of.ID)
	if m == nil || !names().MatchString(of.Server) {
		return "", false
	}
	return s.at(of.Server, appFolder, m[1], m[2]+".json"), true
}

// bring reads the app of a tool whose result has come, and keeps it with the run. It returns nil where there is none: the text
// of the result is there in any case. Why an app is missing stands in the server's log.
func (l *live) bring(ctx context.Context, c *guard.Caller, tool Tool, args map[string]any, r *sdk.CallToolResult) *App {
	step := store.StepFrom(ctx)
	if tool.App == "" || r.IsError || step == nil || c.Scope().RunID == "" {
		return nil
	}
	app, err := l.read(ctx, tool, args, r)
	if err == nil {
		of := AppOf{Server: l.name, ID: c.Scope().RunID + "." + step.Step().ID}
		app.kept.RunID = c.Scope().RunID
		if err = l.s.keepApp(of, app); err == nil {
			return &App{Server: of.Server, ID: of.ID, Hash: app.kept.Hash}
		}
	}
	l.note("The app " + plain(tool.App, 200) + " is not shown: " + plain(err.Error(), 300))
	return nil
}

func (l *live) note(line string) {
	if l.said != nil {
		l.said.line(line)
		return
	}
	l.s.c.Log.Info("An app of a server is not shown", "server", l.name, "why", line)
}

// broughtApp is an app that was read and not yet kept.
type broughtApp struct {
	kept keptApp
	page string
}

// read reads the page of an app, and all that it is given.
func (l *live) read(ctx context.Context, tool Tool, args map[string]any, r *sdk.CallToolResult) (out broughtApp, err error) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	got, err := l.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: tool.App})
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(got.Contents, func(c *sdk.ResourceContents) bool {
		return c != nil && c.URI == tool.App && strings.EqualFold(strings.ReplaceAll(c.MIMEType, " ", ""), appType)
	})
	if i < 0 {
		return out, fmt.Errorf("the server gave no page of the type %s", appType)
	}
	page := got.Contents[i]
	out.page = page.Text
	if out.page == "" {
		out.page = string(page.Blob)
	}
	if len(out.page) > maxPage {
		return out, fmt.Errorf("its page has %d bytes, and at most %d are shown", len(out.page), maxPage)
	}
	out.page = strings.ToValidUTF8(out.page, "�")
	var ui struct {
		CSP    sources `json:"csp"`
		Border *bool   `json:"prefersBorder"`
	}
	if raw, merr := json.Marshal(page.Meta["ui"]); merr == nil {
		_ = json.Unmarshal(raw, &ui) // what does not fit is left empty
	}
	sum := sha256.Sum256([]byte(out.page))
	out.kept = keptApp{
		Tool: tool.Name, Title: cmp.Or(tool.Title, tool.Name), URI: tool.App, Hash: hex.EncodeToString(sum[:]), Sources: ui.CSP.cleaned(), Border: ui.Border,
		At: l.s.c.Clock.Now().UTC(), For: identity(l.def),
	}
	if out.kept.Input, err = l.s.masked(args, maxInput); err == nil {
		out.kept.Result, err = l.s.masked(r, maxGiven)
	}
	return out, err
}

// masked is a value as JSON, without secrets, if it has no more than so many bytes.
func (s *Service) masked(value any, most int) (json.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if len(raw) > most {
		return nil, fmt.Errorf("what it is given has %d bytes, and may have %d", len(raw), most)
	}
	v, err := decoded(raw)
	if err != nil {
		return nil, err
	}
	return encoded(maskText(v, s.c.Mask)), nil
}

func maskText(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i := range v {
			v[i] = maskText(v[i], mask)
		}
	case map[string]any:
		for name := range v {
			v[name] = maskText(v[name], mask)
		}
	}
	return v
}

func (s *Service) keepApp(of AppOf, app broughtApp) error {
	path, ok := s.appPath(of)
	if !ok {
		return errors.New("it has no name")
	}
	raw, err := json.Marshal(app.kept)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = security.WriteFileAtomic(filepath.Join(filepath.Dir(path), app.kept.Hash+".html"), []byte(app.page), 0o600)
	}
	if err == nil {
		err = security.WriteFileAtomic(path, raw, 0o600)
	}
	if err == nil {
		s.dropApps(of.Server)
	}
	return err
}

// dropApps deletes the apps of the oldest runs, where there are too many. Names of runs rise with their time.
func (s *Service) dropApps(server string) {
	dir := s.at(server, appFolder)
	runs, err := os.ReadDir(dir) // by name
	for i := 0; err == nil && i < len(runs)-maxKept; i++ {
		err = os.RemoveAll(filepath.Join(dir, runs[i].Name()))
	}
	if err != nil {
		s.c.Log.Warn("Old apps of a server could not be deleted", "server", server, "error", err)
	}
}

// ForgetApps deletes the apps of all runs for which keep is false.
func (s *Service) ForgetApps(keep func(run string) bool) error {
	servers, err := os.ReadDir(s.c.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, server := range servers {
		runs, rerr := os.ReadDir(s.at(server.Name(), appFolder))
		if rerr != nil {
			continue // it has none
		}
		for _, run := range runs {
			if !keep(run.Name()) {
				err = errors.Join(err, os.RemoveAll(s.at(server.Name(), appFolder, run.Name())))
			}
		}
	}
	return err
}

// app reads an app that was kept, of a server that is still the one that gave it.
func (s *Service) app(of AppOf) (keptApp, Server, error) {
	gone := sys.Errorf(sys.CodeNotFound, "This app is no longer kept. Its text is shown instead.")
	path, ok := s.appPath(of)
	if !ok {
		return keptApp{}, Server{}, gone
	}
	def, err := s.server(of.Server)
	if err != nil {
		return keptApp{}, Server{}, err
	}
	raw, err := os.ReadFile(path)
	var app keptApp
	if err == nil {
		err = json.Unmarshal(raw, &app)
	}
	if err != nil || app.For != identity(def) {
		return keptApp{}, Server{}, gone
	}
	if def.Disabled {
		return keptApp{}, Server{}, sys.Errorf(sys.CodeUnavailable, "The server %s is off, so its app is not shown.", of.Server)
	}
	return app, def, nil
}
