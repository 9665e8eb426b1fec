package mcptest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Registry is a registry of npm that has one package: an MCP server in a file, without anything that it needs.
type Registry struct {
	URL string

	mu       sync.Mutex
	name     string
	versions []string
	files    map[string][]byte // of each version: the archive
	scripts  bool              // versions from now on have a script for the installation
	requests []string
}

// serverScript is an MCP server of one tool, which says its version.
const serverScript = `#!/usr/bin/env node
import { createInterface } from 'node:readline';
const tools = [{ name: 'which', description: 'Says which version this is.', inputSchema: { type: 'object' } }];
const answers = {
	initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'packed', version: 'VERSION' } }),
	'tools/list': () => ({ tools }),
	'tools/call': () => ({ content: [{ type: 'text', text: 'VERSION ' + process.argv.slice(2).join(' ') }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) continue;
	process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }) + '\n');
}
`

// NewRegistry starts a registry with a package of this name.
func NewRegistry(t *testing.T, name string, versions ...string) *Registry {
	t.Helper()
	r := &Registry{name: name, files: map[string][]byte{}}
	for _, v := range versions {
		r.Publish(v)
	}
	server := httptest.NewServer(r)
	r.URL = server.URL + "/"
	t.Cleanup(server.Close)
	return r
}

// Scripts gives versions that are published from now on a script for the installation.
func (r *Registry) Scripts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scripts = true
}

// Publish adds a version, which is the newest then.
func (r *Registry) Publish(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	says, err := json.Marshal(r.manifest(version))
	if err != nil {
		panic(err) // it is made of texts
	}
	var raw bytes.Buffer
	z := gzip.NewWriter(&raw)
	w := tar.NewWriter(z)
	for name, content := range map[string]string{"package.json": string(says), "dist/server.mjs": strings.ReplaceAll(serverScript, "VERSION", version)} {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			panic(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	r.versions, r.files[version] = append(r.versions, version), raw.Bytes()
}

func (r *Registry) manifest(version string) map[string]any {
	m := map[string]any{"name": r.name, "version": version, "bin": map[string]string{"packed": "dist/server.mjs"}}
	if r.scripts {
		m["scripts"], m["hasInstallScript"] = map[string]string{"postinstall": "touch ran-a-script"}, true
	}
	return m
}

// Requests are what was asked so far.
func (r *Registry) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.requests...)
}

// ServeHTTP answers as a registry does.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, req.URL.Path)
	path, _ := url.PathUnescape(strings.TrimPrefix(req.URL.Path, "/"))
	if version, ok := strings.CutPrefix(path, "files/"); ok && r.files[version] != nil {
		_, _ = w.Write(r.files[version]) // who is gone reads nothing
		return
	}
	if path != r.name {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"error":"not_found"}`)
		return
	}
	all := map[string]any{}
	for _, v := range r.versions {
		m := r.manifest(v)
		sum := sha512.Sum512(r.files[v])
		m["dist"] = map[string]string{"tarball": "http://" + req.Host + "/files/" + v, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		all[v] = m
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": r.name, "versions": all, "dist-tags": map[string]string{"latest": r.versions[len(r.versions)-1]}})
}
