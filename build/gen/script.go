package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// scriptFile writes frontend/src/kernel/api.gen.ts: every type that a call
// takes or returns, and makeKernel, which turns a transport into typed calls.
//
// A field is optional when Go may leave it out (omitempty, omitzero) or send
// null (a pointer). In types that only travel towards the kernel every field is
// optional: what is left out is the zero value. Lists and maps are never null,
// because [remote.Marshal] writes empty ones.
func scriptFile(k *kernel) ([]byte, error) {
	s := &script{k: k, names: map[string]*types.TypeName{}, types: map[*types.TypeName]string{}, out: map[*types.TypeName]bool{}}
	for _, a := range k.apis {
		for _, m := range a.methods {
			for _, p := range m.params {
				s.use(p.typ, false)
			}
			if m.result != nil {
				s.use(m.result, true)
			}
		}
	}
	if s.clash != nil {
		return nil, s.clash
	}
	var b bytes.Buffer
	b.WriteString(marker + "\n\nimport type { Transport } from './transport';\n\n")
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		s.declare(&b, name, s.names[name])
	}
	for _, a := range k.apis {
		s.face(&b, a)
	}
	b.WriteString("/** Kernel is everything that the page can ask for. */\nexport interface Kernel {\n")
	for _, a := range k.apis {
		fmt.Fprintf(&b, "  %s: %s;\n", a.wire, a.typ)
	}
	b.WriteString("}\n\n/** makeKernel returns the calls of the kernel at the other end of t. */\nexport function makeKernel(t: Transport): Kernel {\n  return {\n")
	for _, a := range k.apis {
		fmt.Fprintf(&b, "    %s: {\n", a.wire)
		for _, m := range a.methods {
			if !m.stream {
				s.callLine(&b, m)
			}
		}
		b.WriteString("    },\n")
	}
	b.WriteString("  };\n}\n")
	return b.Bytes(), nil
}

// script collects the types to declare.
type script struct {
	k     *kernel
	names map[string]*types.TypeName // by their name in TypeScript
	types map[*types.TypeName]string
	out   map[*types.TypeName]bool // those that the kernel sends
	clash error
}

// builtin are names that would hide a type that TypeScript itself needs here.
var builtin = map[string]string{"Error": "KernelError", "Record": "KernelRecord", "Promise": "KernelPromise", "Transport": "KernelTransport", "Kernel": "KernelInfo"}

// use notes the types that t reaches. sent says that the kernel sends them.
func (s *script) use(t types.Type, sent bool) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		obj := t.Obj()
		if !s.k.ours(obj.Pkg()) || hasMethod(t, "MarshalText") {
			return
		}
		if s.types[obj] != "" && (s.out[obj] || !sent) {
			return
		}
		s.out[obj] = s.out[obj] || sent
		s.add(obj)
		s.use(t.Underlying(), sent)
	case *types.Struct:
		for i := range t.NumFields() {
			if tag := parseTag(t.Tag(i)); t.Field(i).Exported() && !tag.skip && tag.script == "" {
				s.use(t.Field(i).Type(), sent)
			}
		}
	case interface{ Elem() types.Type }: // pointer, slice, array, map
		s.use(t.Elem(), sent)
	}
}

func (s *script) add(obj *types.TypeName) {
	name := cmp.Or(s.k.aliases[obj], obj.Name())
	name = cmp.Or(builtin[name], name)
	if other := s.names[name]; other != nil && other != obj && s.clash == nil {
		s.clash = fmt.Errorf("%s.%s and %s.%s would both be called %s: re-export one under another name in %s",
			other.Pkg().Path(), other.Name(), obj.Pkg().Path(), obj.Name(), name, s.k.pkg.Path())
	}
	s.names[name], s.types[obj] = obj, name
}

func (s *script) declare(b *bytes.Buffer, name string, obj *types.TypeName) {
	tsdoc(b, "", s.k.docs.of(obj.Pkg(), obj.Name()))
	body, ok := obj.Type().Underlying().(*types.Struct)
	if !ok {
		fmt.Fprintf(b, "export type %s = %s;\n\n", name, cmp.Or(s.union(obj), s.write(obj.Type().Underlying())))
		return
	}
	fmt.Fprintf(b, "export interface %s {\n", name)
	s.fields(b, obj, body, !s.out[obj])
	b.WriteString("}\n\n")
}

// fields writes the fields of a struct; those of embedded structs stand among
// them, as JSON has them.
func (s *script) fields(b *bytes.Buffer, owner *types.TypeName, body *types.Struct, input bool) {
	for i := range body.NumFields() {
		f, tag := body.Field(i), parseTag(body.Tag(i))
		if inner, ok := deref(f.Type()).(*types.Named); ok && f.Embedded() && tag.name == "" && !tag.skip {
			if embedded, ok := inner.Underlying().(*types.Struct); ok {
				s.fields(b, inner.Obj(), embedded, input)
				continue
			}
		}
		if !f.Exported() || tag.skip {
			continue
		}
		if owner != nil {
			tsdoc(b, "  ", s.k.docs.of(owner.Pkg(), owner.Name()+"."+f.Name()))
		}
		_, pointer := types.Unalias(f.Type()).(*types.Pointer)
		mark, typ := "", tag.script
		if typ == "" {
			typ = s.write(f.Type())
			if tag.asString {
				typ = "string"
			}
		}
		if input || pointer || tag.omitZero || (tag.omitEmpty && canBeEmpty(f.Type())) {
			mark = "?"
		}
		if pointer && !tag.omitEmpty && !tag.omitZero {
			typ += " | null"
		}
		fmt.Fprintf(b, "  %s%s: %s;\n", property(cmp.Or(tag.name, f.Name())), mark, typ)
	}
}

// write returns t in TypeScript.
func (s *script) write(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		switch t.Obj().Pkg().Path() + "." + t.Obj().Name() {
		case "time.Time":
			return "string"
		case "time.Duration":
			return "number"
		case "encoding/json.RawMessage":
			return "unknown"
		}
		return cmp.Or(s.types[t.Obj()], "string") // the rest are those with MarshalText
	case *types.Pointer:
		return s.write(t.Elem())
	case *types.Slice:
		if b, ok := t.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Byte {
			return "string" // base64
		}
		return listOf(s.write(t.Elem()))
	case *types.Array:
		return listOf(s.write(t.Elem()))
	case *types.Map:
		return "Record<string, " + s.write(t.Elem()) + ">"
	case *types.Struct:
		var b bytes.Buffer
		s.fields(&b, nil, t, false)
		return "{ " + strings.TrimSuffix(strings.Join(strings.Fields(b.String()), " "), ";") + " }"
	case *types.Basic:
		switch {
		case t.Info()&types.IsBoolean != 0:
			return "boolean"
		case t.Info()&types.IsString != 0:
			return "string"
		}
		return "number"
	}
	return "unknown"
}

// union returns the constants of a named type as a union, in the order of the
// source, or "" when it has none. Integers count only when they are numbered
// from 0 or 1 without a hole: others are units, not choices.
func (s *script) union(obj *types.TypeName) string {
	// Of a package that was reached through another one only the types are
	// known; its own export data has the constants too.
	if _, err := s.k.imports.Import(obj.Pkg().Path()); err != nil {
		return ""
	}
	var consts []*types.Const
	for _, name := range obj.Pkg().Scope().Names() {
		if c, ok := obj.Pkg().Scope().Lookup(name).(*types.Const); ok && c.Exported() && types.Identical(c.Type(), obj.Type()) {
			consts = append(consts, c)
		}
	}
	slices.SortFunc(consts, func(x, y *types.Const) int {
		px, py := s.k.fset.Position(x.Pos()), s.k.fset.Position(y.Pos())
		return cmp.Or(cmp.Compare(px.Filename, py.Filename), cmp.Compare(px.Line, py.Line), cmp.Compare(x.Name(), y.Name()))
	})
	var values []string
	var numbers []int64
	for _, c := range consts {
		v := c.Val().ExactString()
		if c.Val().Kind() == constant.String {
			v = quote(constant.StringVal(c.Val()))
		} else if n, exact := constant.Int64Val(constant.ToInt(c.Val())); exact {
			numbers = append(numbers, n)
		}
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for i, n := range numbers {
		if len(numbers) < 2 || n != numbers[0]+int64(i) || numbers[0] > 1 || numbers[0] < 0 {
			return ""
		}
	}
	return strings.Join(values, " | ")
}

func (s *script) face(b *bytes.Buffer, a api) {
	tsdoc(b, "", a.doc)
	fmt.Fprintf(b, "export interface %s {\n", a.typ)
	for _, m := range a.methods {
		if m.stream {
			continue
		}
		var params []string
		for _, p := range m.params {
			typ := s.write(p.typ)
			if _, ok := types.Unalias(p.typ).(*types.Pointer); ok {
				typ += " | null"
			}
			params = append(params, variable(p.name)+": "+typ)
		}
		tsdoc(b, "  ", m.doc)
		fmt.Fprintf(b, "  %s(%s): Promise<%s>;\n", lowerCamel(m.name), strings.Join(params, ", "), s.returns(m))
	}
	b.WriteString("}\n\n")
}

func (s *script) callLine(b *bytes.Buffer, m method) {
	var names []string
	for _, p := range m.params {
		names = append(names, variable(p.name))
	}
	all := strings.Join(names, ", ")
	fmt.Fprintf(b, "      %s: (%s) => t.call(%s, [%s]) as Promise<%s>,\n", lowerCamel(m.name), all, quote(m.wire), all, s.returns(m))
}

func (s *script) returns(m method) string {
	if m.result == nil {
		return "void"
	}
	typ := s.write(m.result)
	if _, ok := types.Unalias(m.result).(*types.Pointer); ok {
		typ += " | null"
	}
	return typ
}

// tag is a field's json tag, and its ts_type for what Go's type cannot say.
type tag struct {
	name                                string
	skip, omitEmpty, omitZero, asString bool
	script                              string
}

func parseTag(raw string) tag {
	text := reflect.StructTag(raw)
	name, options, _ := strings.Cut(text.Get("json"), ",")
	opts := strings.Split(options, ",")
	return tag{
		name:      name,
		skip:      text.Get("json") == "-",
		omitEmpty: slices.Contains(opts, "omitempty"),
		omitZero:  slices.Contains(opts, "omitzero"),
		asString:  slices.Contains(opts, "string"),
		script:    text.Get("ts_type"),
	}
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t)
}

// canBeEmpty reports whether omitempty has a meaning for t: a struct is never left out.
func canBeEmpty(t types.Type) bool {
	_, isStruct := t.Underlying().(*types.Struct)
	return !isStruct
}

func hasMethod(t *types.Named, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, t.Obj().Pkg(), name)
	_, ok := obj.(*types.Func)
	return ok
}

func listOf(elem string) string {
	if strings.Contains(elem, " ") && !strings.HasPrefix(elem, "Record<") {
		return "(" + elem + ")[]"
	}
	return elem + "[]"
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

func property(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return quote(name)
}

// variable returns a parameter's name, with a mark behind words that
// TypeScript keeps for itself. t is the transport.
func variable(name string) string {
	switch name {
	case "t", "new", "default", "function", "delete", "in", "class", "this", "with", "enum", "export", "extends", "null", "void", "typeof",
		"try", "catch", "throw", "while", "do", "super", "instanceof", "debugger", "finally", "true", "false", "let", "static", "yield", "await", "arguments", "eval":
		return name + "_"
	}
	return name
}

func quote(s string) string {
	q := strconv.Quote(s)
	return "'" + strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), "'", `\'`) + "'"
}

// tsdoc writes text as a TSDoc comment.
func tsdoc(b *bytes.Buffer, indent, text string) {
	text = strings.ReplaceAll(text, "*/", "*\\/")
	switch lines := strings.Split(text, "\n"); {
	case text == "":
	case len(lines) == 1:
		fmt.Fprintf(b, "%s/** %s */\n", indent, text)
	default:
		fmt.Fprintf(b, "%s/**\n", indent)
		for _, line := range lines {
			fmt.Fprintf(b, "%s\n", strings.TrimRight(indent+" * "+line, " "))
		}
		fmt.Fprintf(b, "%s */\n", indent)
	}
}
