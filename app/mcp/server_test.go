package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/client"
)

func TestEveryCallOfAScopeIsAToolOrAnElicitation(t *testing.T) {
	t.Parallel()
	rows := kernel.Syscalls()
	for _, s := range client.Scopes() {
		for _, call := range s.Calls {
			if _, ok := rows[call]; !ok {
				t.Errorf("the scope %s names %s, which is no system call", s.Name, call)
			}
			def, ok := toolOf(toolName(call))
			if !ok {
				if s.Name != client.ScopeApprovals {
					t.Errorf("%s of the scope %s is no tool", call, s.Name)
				}
				continue
			}
			got, err := def.define()
			if err != nil {
				t.Error(err)
				continue
			}
			if reads := rows[call].Rights.String() == "R"; got.Annotations.ReadOnlyHint != reads || *got.Annotations.DestructiveHint && (reads || rows[call].Undo) {
				t.Errorf("%s: the annotations are not those of the table: %+v", call, got.Annotations)
			}
		}
	}
	for _, def := range tools {
		if len(client.ScopesFor(def.call)) == 0 {
			t.Errorf("%s is a tool, and no scope names it", def.call)
		}
	}
}

func TestAProgramGetsWhatItsScopesName(t *testing.T) {
	t.Parallel()
	s := setup(t)
	cs := s.mustConnect(s.add("Reader", "read"), nil)
	var names []string
	for tool, err := range cs.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	if !slices.Contains(names, "knowledge_search") || slices.Contains(names, "knowledge_write") || slices.Contains(names, answerTool) {
		t.Errorf("the tools of a reader are %v", names)
	}
	if text, bad := s.call(cs, "knowledge_write", map[string]any{"path": "a", "text": "b"}); !bad || !strings.Contains(text, "scope vault") {
		t.Errorf("a call without its scope: %q, %v", text, bad)
	}
	if text, bad := s.call(cs, answerTool, nil); !bad || !strings.Contains(text, "scope approvals") {
		t.Errorf("approvals without their scope: %q, %v", text, bad)
	}
	if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec_shell"}); err == nil {
		t.Error("a tool that no program has was called")
	}
	if text, bad := s.call(cs, "knowledge_read", map[string]any{"name": "x", "path": "y"}); !bad || !strings.Contains(text, `no argument "path"`) {
		t.Errorf("an argument that there is not: %q, %v", text, bad)
	}
	if text, bad := s.call(cs, "knowledge_read", nil); !bad || !strings.Contains(text, `"name" is missing`) {
		t.Errorf("an argument that is missing: %q, %v", text, bad)
	}
	who, err := s.ClientNamed(t.Context(), "Reader")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.As(who).Exec.Shell(t.Context(), kernel.ShellArgs{}); err == nil {
		t.Error("the kernel let a program run a command")
	}
}

func TestNotesAndRunsAreResourcesAndSkillsPrompts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	cs := s.mustConnect(s.add("Notes", "read", "vault"), nil)
	if text, bad := s.call(cs, "knowledge_write", map[string]any{"path": "모임/회의 1", "text": "We met.\n\nkey = AKIAIOSFODNN7EXAMPLE"}); bad {
		t.Fatal(text)
	}
	run := s.Ask("Say hello")
	uris := map[string]bool{}
	for r, err := range cs.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris[r.URI] = true
	}
	note := noteURI("모임/회의 1.md")
	if !uris[note] || !uris[runs+run.RunID] {
		t.Errorf("the resources are %v", uris)
	}
	read, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: note})
	if err != nil || !strings.Contains(read.Contents[0].Text, "We met.") || strings.Contains(read.Contents[0].Text, "AKIAIOSFODNN7EXAMPLE") {
		t.Errorf("the note is %+v, %v; its secret must be masked", read, err)
	}
	if read, err = cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: runs + run.RunID}); err != nil || !json.Valid([]byte(read.Contents[0].Text)) {
		t.Errorf("the run is %+v, %v", read, err)
	}
	for _, uri := range []string{notes + "nothing.md", notes + "..%2F..%2Fconfig.toml", runs + "nothing", "oxios://other/x", notes + "%zz"} {
		if _, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read", uri)
		}
	}
	prompts, err := cs.ListPrompts(t.Context(), nil)
	if err != nil || !slices.ContainsFunc(prompts.Prompts, func(p *sdk.Prompt) bool { return p.Name == "debug" }) {
		t.Errorf("the prompts are %+v, %v", prompts, err)
	}
	p, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "debug", Arguments: map[string]string{"request": "The test is red."}})
	if err != nil || !strings.HasSuffix(p.Messages[0].Content.(*sdk.TextContent).Text, "The test is red.") {
		t.Errorf("the prompt is %+v, %v", p, err)
	}
	c, err := cs.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: notes + "{+path}"}, Argument: sdk.CompleteParamsArgument{Name: "path", Value: "회의"}})
	if err != nil || len(c.Completion.Values) != 1 || notes+c.Completion.Values[0] != note {
		t.Errorf("the completion is %+v, %v", c, err)
	}
}

func TestAProgramIsToldWhatItFollows(t *testing.T) {
	t.Parallel()
	s := setup(t)
	told := make(chan string, 16)
	cs := s.mustConnect(s.add("Follower", "read", "vault"), &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { told <- r.Params.URI }})
	uri := noteURI("follow.md")
	if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	if text, bad := s.call(cs, "knowledge_write", map[string]any{"path": "follow", "text": "x"}); bad {
		t.Fatal(text)
	}
	if got := <-told; got != uri {
		t.Errorf("got %s, want %s", got, uri)
	}
}

// knock sends a request as it is.
func (s *site) knock(method, token string, body io.Reader, header map[string]string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for k, v := range header {
		if k == "Host" {
			r.Host = v
		}
		r.Header.Set(k, v)
	}
	base := &http.Transport{DisableKeepAlives: true}
	defer base.CloseIdleConnections()
	resp, err := (&http.Client{Transport: base}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func TestWhatIsNoRequestOfAProgramIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t)
	token := s.add("Good", "read")
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	large := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"` + strings.Repeat("x", 10<<20) + `"}}`
	for name, tc := range map[string]struct {
		method, token, body string
		header              map[string]string
		want                int
	}{
		"no token":           {"POST", "", begin, nil, 401},
		"a wrong token":      {"POST", "oxios_wrong", begin, nil, 401},
		"another host":       {"POST", token, begin, map[string]string{"Host": "evil.example"}, 421},
		"another origin":     {"POST", token, begin, map[string]string{"Origin": "http://evil.example"}, 403},
		"an origin of null":  {"POST", token, begin, map[string]string{"Origin": "null"}, 403},
		"10 MB":              {"POST", token, large, nil, 413},
		"10 MB, stateless":   {"POST", token, large, map[string]string{versionHeader: stateless}, 413},
		"an old version":     {"POST", token, list, map[string]string{versionHeader: "1999-01-01"}, 400},
		"a version to come":  {"POST", token, list, map[string]string{versionHeader: "2999-01-01"}, 400},
		"no such session":    {"POST", token, list, map[string]string{sessionHeader: "nothing"}, 404},
		"no such stream":     {"GET", token, "", map[string]string{sessionHeader: "nothing"}, 404},
		"no such end":        {"DELETE", token, "", map[string]string{sessionHeader: "nothing"}, 404},
		"a GET without one":  {"GET", token, "", nil, 400},
		"no JSON":            {"POST", token, "{", nil, 400},
		"a GET of a page":    {"GET", "", "", nil, 401},
		"a method of others": {"PUT", token, list, nil, 405},
	} {
		if got, body := s.knock(tc.method, tc.token, bytes.NewBufferString(tc.body), tc.header); got != tc.want {
			t.Errorf("%s: got %d %s, want %d", name, got, body, tc.want)
		}
	}
	if got, body := s.knock("POST", token, strings.NewReader(begin), nil); got != 200 {
		t.Errorf("a good request afterwards: %d %s", got, body)
	}
	s.peer.Store(int64(remote.PeerAgent))
	if got, body := s.knock("POST", token, strings.NewReader(begin), nil); got != 403 || !strings.Contains(body, "agent") {
		t.Errorf("an agent's command: %d %s", got, body)
	}
}

const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// session begins a session of the earlier generation and returns its id; "" with the status for none.
func (s *site) session(token string) (string, int) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url, strings.NewReader(begin))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	base := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: bearer{token: token, base: base}}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		s.t.Fatal(err)
	}
	return resp.Header.Get(sessionHeader), resp.StatusCode
}

func TestASessionIsOfOneProgramAndBounded(t *testing.T) {
	t.Parallel()
	s := setup(t)
	token, other := s.add("Many", "read"), s.add("Other", "read")
	first, _ := s.session(token)
	if got, body := s.knock("POST", other, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), map[string]string{sessionHeader: first}); got != 404 {
		t.Errorf("the session of another program: %d %s", got, body)
	}
	for range maxSessions - 1 {
		if id, got := s.session(token); id == "" {
			t.Fatalf("a session: %d", got)
		}
	}
	if id, got := s.session(token); id != "" || got != 429 {
		t.Errorf("one session too many: got %d", got)
	}
	if got, body := s.knock("DELETE", token, nil, map[string]string{sessionHeader: first}); got != 204 {
		t.Errorf("the end of a session: %d %s", got, body)
	}
	if id, got := s.session(token); id == "" {
		t.Errorf("after one has ended: %d", got)
	}
}

func TestARevokedProgramIsOutAtOnce(t *testing.T) {
	t.Parallel()
	s := setup(t)
	token := s.add("Gone", "read")
	cs := s.mustConnect(token, nil)
	if _, bad := s.call(cs, "agents_list", nil); bad {
		t.Fatal("it could not call")
	}
	who, err := s.ClientNamed(t.Context(), "Gone")
	if err != nil {
		t.Fatal(err)
	}
	h := s.As(who)
	id, _ := s.session(token)
	stream, err := http.NewRequestWithContext(t.Context(), "GET", s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	stream.Header.Set("Accept", "text/event-stream")
	stream.Header.Set(sessionHeader, id)
	base := &http.Transport{DisableKeepAlives: true}
	follows, err := (&http.Client{Transport: bearer{token: token, base: base}}).Do(stream)
	if err != nil || follows.StatusCode != 200 {
		t.Fatalf("follow the session: %v, %v", follows, err)
	}
	defer follows.Body.Close()
	if _, err := s.Person().Clients.Revoke(t.Context(), "Gone"); err != nil {
		t.Fatal(err)
	}
	if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "agents_list"}); err == nil {
		t.Error("a revoked program called")
	}
	if _, err := h.Agents.List(t.Context(), kernel.ProcessQuery{}); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a Handle that a revoked program still has: %v", err)
	}
	if _, err := io.Copy(io.Discard, follows.Body); err != nil { // its stream ends
		t.Error(err)
	}
	if _, err := s.connect(token, nil); err == nil {
		t.Error("it came in again")
	}
}
