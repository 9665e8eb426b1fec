package main

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// crosses returns an error when a value of type t cannot be sent as JSON and
// read back the same.
func (k *kernel) crosses(t types.Type, seen []types.Type) error {
	t = types.Unalias(t)
	if slices.Contains(seen, t) {
		return nil
	}
	seen = append(seen, t)
	switch t := t.(type) {
	case *types.Named:
		if !k.ours(t.Obj().Pkg()) {
			if name := t.Obj().Pkg().Path() + "." + t.Obj().Name(); !slices.Contains([]string{"time.Time", "time.Duration", "encoding/json.RawMessage"}, name) {
				return fmt.Errorf("a %s, which the generator cannot describe: use a type of ours", name)
			}
			return nil
		}
		if t.TypeArgs().Len() > 0 {
			return fmt.Errorf("a %s: generic types have no name in TypeScript; declare a type of its own", t)
		}
		if hasMethod(t, "MarshalJSON") {
			return fmt.Errorf("a %s, which marshals itself: say what it becomes in the field's ts_type tag", t)
		}
		if hasMethod(t, "MarshalText") {
			return nil
		}
		return k.crosses(t.Underlying(), seen)
	case *types.Pointer:
		return k.crosses(t.Elem(), seen)
	case *types.Slice:
		return k.crosses(t.Elem(), seen)
	case *types.Array:
		return k.crosses(t.Elem(), seen)
	case *types.Map:
		if b, ok := t.Key().Underlying().(*types.Basic); !ok || b.Info()&types.IsString == 0 {
			return fmt.Errorf("a map with %s as its key: only strings can be keys", t.Key())
		}
		return k.crosses(t.Elem(), seen)
	case *types.Struct:
		for i := range t.NumFields() {
			f := t.Field(i)
			if tag := parseTag(t.Tag(i)); !f.Exported() || tag.skip || tag.script != "" {
				continue
			}
			if err := k.crosses(f.Type(), seen); err != nil {
				return fmt.Errorf("%w in field %s", err, f.Name())
			}
		}
		return nil
	case *types.Interface:
		if t.Empty() {
			return nil
		}
	case *types.Basic:
		if t.Info()&(types.IsBoolean|types.IsString|types.IsInteger|types.IsFloat) != 0 {
			return nil
		}
	}
	return fmt.Errorf("a %s, which JSON cannot carry", t)
}

// goWriter prints types as package remote may write them: with names from
// kernel, sys and the standard library alone.
type goWriter struct {
	k       *kernel
	imports map[string]bool
}

func (w *goWriter) write(t types.Type) (string, error) {
	if a, ok := t.(*types.Alias); ok {
		if pkg := a.Obj().Pkg(); pkg == nil { // any
			return a.Obj().Name(), nil
		} else if pkg == w.k.pkg && a.Obj().Exported() {
			return w.qualify(pkg, a.Obj().Name()), nil
		}
	}
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Name(), nil
	case *types.Named:
		return w.named(t.Obj())
	case *types.Pointer:
		return w.around("*", t.Elem())
	case *types.Slice:
		return w.around("[]", t.Elem())
	case *types.Array:
		return w.around(fmt.Sprintf("[%d]", t.Len()), t.Elem())
	case *types.Map:
		key, err := w.write(t.Key())
		if err != nil {
			return "", err
		}
		return w.around("map["+key+"]", t.Elem())
	case *types.Interface:
		if t.Empty() {
			return "any", nil
		}
	}
	return "", fmt.Errorf("%s has no name: declare a type for it in %s", t, w.k.pkg.Path())
}

func (w *goWriter) around(before string, elem types.Type) (string, error) {
	s, err := w.write(elem)
	return before + s, err
}

func (w *goWriter) named(obj *types.TypeName) (string, error) {
	switch pkg := obj.Pkg(); {
	case pkg == nil: // error
		return obj.Name(), nil
	case pkg == w.k.pkg || !w.k.ours(pkg):
		return w.qualify(pkg, obj.Name()), nil
	case w.k.aliases[obj] != "":
		return w.qualify(w.k.pkg, w.k.aliases[obj]), nil
	case pkg.Path() == w.k.module+"/kernel/sys":
		return w.qualify(pkg, obj.Name()), nil
	}
	return "", fmt.Errorf("%s.%s is not re-exported: add `type %s = %s.%s` to %s, so that faces import it alone",
		obj.Pkg().Name(), obj.Name(), obj.Name(), obj.Pkg().Name(), obj.Name(), w.k.pkg.Path())
}

func (w *goWriter) qualify(pkg *types.Package, name string) string {
	w.imports[pkg.Path()] = true
	return pkg.Name() + "." + name
}

// importBlock writes the imports: the standard library, then ours.
func (w *goWriter) importBlock(more ...string) string {
	for _, path := range more {
		w.imports[path] = true
	}
	var std, own []string
	for _, path := range slices.Sorted(maps.Keys(w.imports)) {
		if strings.HasPrefix(path, w.k.module+"/") {
			own = append(own, fmt.Sprintf("\t%q\n", path))
		} else {
			std = append(std, fmt.Sprintf("\t%q\n", path))
		}
	}
	return "import (\n" + strings.Join(std, "") + "\n" + strings.Join(own, "") + ")\n"
}
