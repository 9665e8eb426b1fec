package mcp

import (
	"context"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/security"
)

// newClient makes the client that speaks to a server. ctx is that of the call for which it is connected.
func (l *live) newClient(ctx context.Context) *sdk.Client {
	opts := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{
			RootsV2:     &sdk.RootCapabilities{ListChanged: true},
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}},
			Extensions:  map[string]any{uiExtension: map[string]any{"mimeTypes": []string{appType}}},
		},
		Logger: slog.New(slog.DiscardHandler), ElicitationHandler: l.elicit,
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { l.news.Add(1) },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { l.news.Add(1) },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { l.news.Add(1) },
		ProgressNotificationHandler: l.progress,
	}
	opts.Capabilities.AddExtension(tasksExtension, nil)
	if l.def.Sampling {
		opts.CreateMessageHandler = l.sample
	}
	l.client = sdk.NewClient(&sdk.Implementation{Name: "oxios", Title: "Oxios", Version: l.s.c.Version}, opts)
	speakTasks(l.client)
	l.client.AddSendingMiddleware(l.openFirst)
	if folder, ok := ctx.Value(folderKey{}).(string); ok {
		l.show(folder)
	}
	return l.client
}

type folderKey struct{}

// inFolder notes in which folder a server is needed.
func inFolder(ctx context.Context, folder string) context.Context {
	return context.WithValue(ctx, folderKey{}, folder)
}

// show tells a server the folder of a run, if the person lets it see that.
func (l *live) show(folder string) {
	granted := slices.ContainsFunc(slices.Concat(l.def.Read, l.def.Write), func(p string) bool { return security.Within(folder, l.s.path(p)) })
	l.mu.Lock()
	known := slices.Contains(l.roots, folder)
	if granted && !known {
		l.roots = append(l.roots, folder)
	}
	l.mu.Unlock()
	if granted && !known {
		l.client.AddRoots(&sdk.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(folder)}).String(), Name: filepath.Base(folder)})
	}
}
