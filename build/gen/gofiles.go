package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

// remoteFile writes app/remote/api_gen.go: the kernel's API as Go interfaces,
// the client that implements them over the socket, and the dispatch tables.
func remoteFile(k *kernel) ([]byte, error) {
	w := &goWriter{k: k, imports: map[string]bool{}}
	var faces, clients, calls, streams bytes.Buffer
	for _, a := range k.apis {
		client := "client" + a.field
		comment(&faces, "", a.doc)
		fmt.Fprintf(&faces, "type %s interface {\n", a.typ)
		fmt.Fprintf(&clients, "type %s struct{ c *Client }\n\n", client)
		for _, m := range a.methods {
			s, err := spell(w, m)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", a.typ, m.name, err)
			}
			comment(&faces, "\t", m.doc)
			fmt.Fprintf(&faces, "\t%s\n", s.signature)
			fmt.Fprintf(&clients, "func (remote %s) %s {\n\treturn %s\n}\n\n", client, s.signature, s.send(m))
			table := &calls
			if m.stream {
				table = &streams
			}
			s.receive(table, a, m)
		}
		faces.WriteString("}\n\n")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\npackage remote\n\n%s\n", marker, w.importBlock("context", "encoding/json", k.pkg.Path()))
	b.WriteString("// Handle is the kernel as one principal sees it, in this process or another.\ntype Handle struct {\n")
	for _, a := range k.apis {
		fmt.Fprintf(&b, "\t%s %s\n", a.field, a.typ)
	}
	b.WriteString("}\n\n")
	b.Write(faces.Bytes())
	b.WriteString("// Local is a kernel of this process.\nfunc Local(h *kernel.Handle) *Handle {\n\treturn &Handle{\n")
	for _, a := range k.apis {
		fmt.Fprintf(&b, "\t\t%s: h.%s,\n", a.field, a.field)
	}
	b.WriteString("\t}\n}\n\n// Handle is the kernel at the other end of c.\nfunc (c *Client) Handle() *Handle {\n\treturn &Handle{\n")
	for _, a := range k.apis {
		fmt.Fprintf(&b, "\t\t%s: client%s{c},\n", a.field, a.field)
	}
	b.WriteString("\t}\n}\n\n")
	b.Write(clients.Bytes())
	b.WriteString("// calls answers each call that has one result, by its name on the wire.\nvar calls = map[string]func(context.Context, *Handle, json.RawMessage) (any, error){\n")
	b.Write(calls.Bytes())
	b.WriteString("}\n\n// streams starts each call that has many results.\nvar streams = map[string]func(context.Context, *Handle, json.RawMessage) (Stream, error){\n")
	b.Write(streams.Bytes())
	b.WriteString("}\n")
	return gofmt(b.Bytes())
}

// spelling is one method in Go's words.
type spelling struct {
	signature string
	args      []string // types
	result    string
}

func spell(w *goWriter, m method) (spelling, error) {
	s := spelling{}
	params := []string{"ctx context.Context"}
	for _, p := range m.params {
		t, err := w.write(p.typ)
		if err != nil {
			return s, err
		}
		name := p.name
		if name == "ctx" || name == "remote" {
			name += "_"
		}
		params = append(params, name+" "+t)
		s.args = append(s.args, t)
	}
	returns := "error"
	if m.result != nil {
		t, err := w.write(m.result)
		if err != nil {
			return s, err
		}
		s.result, returns = t, "("+t+", error)"
		if m.stream {
			returns = "(<-chan " + t + ", error)"
		}
	}
	s.signature = m.name + "(" + strings.Join(params, ", ") + ") " + returns
	return s, nil
}

// send is the client's side of a call.
func (s spelling) send(m method) string {
	verb := "do"
	switch {
	case m.stream:
		verb = "subscribe[" + s.result + "]"
	case m.result != nil:
		verb = "call[" + s.result + "]"
	}
	args := fmt.Sprintf("ctx, remote.c, %q", m.wire)
	for _, p := range m.params {
		name := p.name
		if name == "ctx" || name == "remote" {
			name += "_"
		}
		args += ", " + name
	}
	return verb + "(" + args + ")"
}

// receive is the server's side of a call: one entry of a table.
func (s spelling) receive(b *bytes.Buffer, a api, m method) {
	kind := "any"
	if m.stream {
		kind = "Stream"
	}
	fmt.Fprintf(b, "\t%q: func(ctx context.Context, h *Handle, args json.RawMessage) (%s, error) {\n", m.wire, kind)
	into, pass := "args", "ctx"
	for i, t := range s.args {
		fmt.Fprintf(b, "\t\tvar a%d %s\n", i, t)
		into += fmt.Sprintf(", &a%d", i)
		pass += fmt.Sprintf(", a%d", i)
	}
	fmt.Fprintf(b, "\t\tif err := decode(%s); err != nil {\n\t\t\treturn nil, err\n\t\t}\n", into)
	call := fmt.Sprintf("h.%s.%s(%s)", a.field, m.name, pass)
	switch {
	case m.stream:
		call = "each(" + call + ")"
	case m.result == nil:
		call = "nil, " + call
	}
	fmt.Fprintf(b, "\t\treturn %s\n\t},\n", call)
}

// desktopFile writes app/desktop/bindings_gen.go: what Wails binds into the
// window. Every method takes and returns text alone, because Wails ends the
// process on a value that it cannot marshal, writes wrong TypeScript for
// contexts and named types, and leaves a promise pending when a method panics;
// [remote.CallJSON] does the work and never panics. Streams are left out: the
// window is sent events.
func desktopFile(k *kernel) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `%s

//go:build desktop || dev || bindings

package desktop

import (
	"context"

	"%s/app/remote"
)

// bound is what every binding works on.
type bound struct {
	ctx    func() context.Context // ends with the application
	handle func() (*remote.Handle, error)
}

func (b bound) call(method, args string) (string, error) {
	return remote.CallJSON(b.ctx(), b.handle, method, args)
}

// Bindings returns the structs that the window calls, for Wails' Bind. Neither
// function is called before the first call of the window; ctx ends with the
// application and ends every call, and handle says why there is no kernel. Arguments are a JSON array, results JSON,
// and the text of an error is {"code","message","hint"}.
func Bindings(ctx func() context.Context, handle func() (*remote.Handle, error)) []any {
	b := bound{ctx, handle}
	return []any{
`, marker, k.module)
	for _, a := range k.apis {
		fmt.Fprintf(&b, "\t\t&%s{b},\n", a.field)
	}
	b.WriteString("\t}\n}\n\n")
	for _, a := range k.apis {
		fmt.Fprintf(&b, "// %s binds remote.%s.\ntype %s struct{ b bound }\n\n", a.field, a.typ, a.field)
		for _, m := range a.methods {
			if m.stream {
				continue
			}
			names := []string{}
			for _, p := range m.params {
				names = append(names, p.name)
			}
			fmt.Fprintf(&b, "// %s takes [%s].\nfunc (a *%s) %s(args string) (string, error) {\n\treturn a.b.call(%q, args)\n}\n\n",
				m.name, strings.Join(names, ", "), a.field, m.name, m.wire)
		}
	}
	return gofmt(b.Bytes())
}

// comment writes text as line comments.
func comment(b *bytes.Buffer, indent, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%s%s\n", indent, strings.TrimRight("// "+line, " \n"))
	}
}

func gofmt(src []byte) ([]byte, error) {
	out, err := format.Source(src)
	if err != nil {
		return nil, fmt.Errorf("the generated Go does not parse: %w\n%s", err, src)
	}
	return out, nil
}
