package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode"
)

// kernel is what the generator knows about the package that declares Handle.
type kernel struct {
	pkg     *types.Package
	module  string // "oxios"
	apis    []api
	aliases map[*types.TypeName]string // a type of another package → its name in pkg
	docs    docs
	fset    *token.FileSet
	imports types.Importer
}

// api is one field of Handle.
type api struct {
	field   string // State
	typ     string // StateAPI
	wire    string // state
	doc     string
	methods []method
}

// method is one call.
type method struct {
	name   string // Sessions
	wire   string // state.sessions
	doc    string
	params []param    // without the context
	result types.Type // nil when the call returns only an error; the item of a stream
	stream bool
}

type param struct {
	name string
	typ  types.Type
}

// load reads the package in pattern from its export data, which makes the
// compiler the judge of it, and its comments from the source.
func load(root, pattern string) (*kernel, error) {
	listed, err := list(root, pattern)
	if err != nil {
		return nil, err
	}
	self := listed[len(listed)-1]
	exports := map[string]listedPackage{}
	for _, p := range listed {
		exports[p.ImportPath] = p
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path].Export)
	})
	pkg, err := imp.Import(self.ImportPath)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", self.ImportPath, err)
	}
	k := &kernel{pkg: pkg, fset: fset, imports: imp, docs: docs{packages: exports}, aliases: map[*types.TypeName]string{}}
	k.module, _, _ = strings.Cut(self.ImportPath, "/")
	for _, name := range pkg.Scope().Names() {
		k.addAlias(pkg.Scope().Lookup(name))
	}
	return k, k.readHandle()
}

type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// list returns the package in pattern as the last one, after all that it imports.
func list(root, pattern string) ([]listedPackage, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", pattern)
	cmd.Dir = root
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s does not compile:\n%s", pattern, strings.TrimSpace(problems.String()))
	}
	var all []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read the output of go list: %w", err)
		}
		all = append(all, p)
	}
}

// addAlias remembers the name under which the kernel re-exports a type.
func (k *kernel) addAlias(obj types.Object) {
	name, ok := obj.(*types.TypeName)
	if !ok || !name.IsAlias() || !name.Exported() {
		return
	}
	named, ok := types.Unalias(name.Type()).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return
	}
	old, taken := k.aliases[named.Obj()]
	if !taken || (old != named.Obj().Name() && name.Name() == named.Obj().Name()) {
		k.aliases[named.Obj()] = name.Name()
	}
}

// readHandle fills k.apis from the fields of Handle, in their order.
func (k *kernel) readHandle() error {
	obj := k.pkg.Scope().Lookup("Handle")
	if obj == nil {
		return fmt.Errorf("%s declares no Handle", k.pkg.Path())
	}
	handle, ok := obj.Type().Underlying().(*types.Struct)
	if !ok {
		return fmt.Errorf("%s.Handle is no struct", k.pkg.Path())
	}
	for field := range handle.Fields() {
		pointer, ok := field.Type().(*types.Pointer)
		if !ok || !field.Exported() {
			continue
		}
		named, ok := types.Unalias(pointer.Elem()).(*types.Named)
		if !ok || !k.ours(named.Obj().Pkg()) {
			continue
		}
		name := named.Obj().Name()
		if named.Obj().Pkg() != k.pkg {
			if name = k.aliases[named.Obj()]; name == "" {
				return fmt.Errorf("%s.Handle.%s is a type of another package without a name here: add `type %sAPI = %s`", k.pkg.Path(), field.Name(), field.Name(), named)
			}
		}
		a, err := k.readAPI(field.Name(), name, named)
		if err != nil {
			return err
		}
		if len(a.methods) > 0 {
			k.apis = append(k.apis, a)
		}
	}
	if len(k.apis) == 0 {
		return fmt.Errorf("%s.Handle has no field that points to a struct with methods", k.pkg.Path())
	}
	return nil
}

// readAPI reads the methods of a type, which the kernel calls name. It may be one of another package.
func (k *kernel) readAPI(field, name string, named *types.Named) (api, error) {
	a := api{field: field, typ: name, wire: lowerCamel(field), doc: k.docs.of(named.Obj().Pkg(), named.Obj().Name())}
	for fn := range named.Methods() {
		if !fn.Exported() {
			continue
		}
		m, err := k.readMethod(a, named, fn)
		if err != nil {
			return api{}, fmt.Errorf("%s.%s %w", a.typ, fn.Name(), err)
		}
		a.methods = append(a.methods, m)
	}
	// Export data sorts methods by name; the source's order reads better.
	slices.SortStableFunc(a.methods, func(x, y method) int {
		return k.docs.order(named.Obj().Pkg(), named.Obj().Name()+"."+x.name) - k.docs.order(named.Obj().Pkg(), named.Obj().Name()+"."+y.name)
	})
	return a, nil
}

func (k *kernel) readMethod(a api, of *types.Named, fn *types.Func) (method, error) {
	sig := fn.Signature()
	m := method{name: fn.Name(), wire: a.wire + "." + lowerCamel(fn.Name()), doc: k.docs.of(of.Obj().Pkg(), of.Obj().Name()+"."+fn.Name())}
	if sig.Variadic() {
		return m, errors.New("is variadic: take a slice, so that it can be called over a socket")
	}
	params := slices.Collect(sig.Params().Variables())
	if len(params) == 0 || params[0].Type().String() != "context.Context" {
		return m, errors.New("must take a context.Context first")
	}
	for i, p := range params[1:] {
		name := p.Name()
		if name == "" || name == "_" {
			name = fmt.Sprintf("arg%d", i)
		}
		if err := k.crosses(p.Type(), nil); err != nil {
			return m, fmt.Errorf("takes %s, %w", name, err)
		}
		m.params = append(m.params, param{name, p.Type()})
	}
	results := slices.Collect(sig.Results().Variables())
	if n := len(results); n == 0 || n > 2 || results[n-1].Type().String() != "error" {
		return m, errors.New("must return an error, or one value and an error")
	}
	if len(results) == 1 {
		return m, nil
	}
	m.result = results[0].Type()
	if c, ok := types.Unalias(m.result).(*types.Chan); ok {
		if c.Dir() != types.RecvOnly {
			return m, errors.New("returns a channel that the caller could write to: make it receive-only")
		}
		m.result, m.stream = c.Elem(), true
	}
	if err := k.crosses(m.result, nil); err != nil {
		return m, fmt.Errorf("returns a value that cannot be sent: %w", err)
	}
	return m, nil
}

// ours reports whether pkg is part of this module.
func (k *kernel) ours(pkg *types.Package) bool {
	return pkg != nil && (pkg.Path() == k.module || strings.HasPrefix(pkg.Path(), k.module+"/"))
}

// lowerCamel writes an exported Go name as the wire and TypeScript do:
// SetTool → setTool, A2A → a2a, URLFor → urlFor.
func lowerCamel(name string) string {
	r := []rune(name)
	for i := range r {
		if unicode.IsDigit(r[i]) {
			continue
		}
		if !unicode.IsUpper(r[i]) || (i > 0 && i+1 < len(r) && unicode.IsLower(r[i+1])) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	return string(r)
}
