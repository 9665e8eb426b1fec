package remote

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"oxios/kernel/sys"
)

// Marshal writes v as every face sends and prints it: one line of JSON in which
// a list or a map without content is [] or {}, never null, and text is not
// escaped for HTML. It changes nothing that v points to.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if v != nil {
		if full, changed := fill(reflect.ValueOf(v)); changed {
			v = full.Interface()
		}
	}
	if err := e.Encode(v); err != nil {
		return nil, sys.Errorf(sys.CodeInternal, "The answer cannot be written as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// fill returns v with empty lists and maps where it has nil ones. Values may be
// shared with the kernel, so whatever is on the way to a change is copied.
func fill(v reflect.Value) (reflect.Value, bool) {
	if !holdsLists(v.Type()) {
		return v, false
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		inner, changed := fill(v.Elem())
		if !changed {
			return v, false
		}
		if v.Kind() == reflect.Interface {
			return inner, true
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(inner)
		return p, true
	case reflect.Slice:
		if v.IsNil() {
			return reflect.MakeSlice(v.Type(), 0, 0), true
		}
		return fillParts(v, v.Len(), reflect.Value.Index, func() reflect.Value {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			return c
		})
	case reflect.Struct:
		return fillParts(v, v.NumField(), reflect.Value.Field, func() reflect.Value {
			c := reflect.New(v.Type()).Elem()
			c.Set(v)
			return c
		})
	case reflect.Map:
		return fillMap(v)
	}
	return v, false
}

func fillParts(v reflect.Value, n int, part func(reflect.Value, int) reflect.Value, clone func() reflect.Value) (reflect.Value, bool) {
	changed := false
	for i := range n {
		if v.Kind() == reflect.Struct && !v.Type().Field(i).IsExported() {
			continue
		}
		if v.Kind() == reflect.Struct && v.Field(i).Kind() == reflect.Slice && v.Field(i).IsNil() && strings.Contains(v.Type().Field(i).Tag.Get("json"), ",omitzero") {
			continue // one that is left out says something else than an empty one
		}
		full, ok := fill(part(v, i))
		if !ok {
			continue
		}
		if !changed {
			v, changed = clone(), true
		}
		part(v, i).Set(full)
	}
	return v, changed
}

func fillMap(v reflect.Value) (reflect.Value, bool) {
	if v.IsNil() {
		return reflect.MakeMap(v.Type()), true
	}
	changed := false
	for _, key := range v.MapKeys() {
		full, ok := fill(v.MapIndex(key))
		if !ok {
			continue
		}
		if !changed {
			c := reflect.MakeMapWithSize(v.Type(), v.Len())
			for _, k := range v.MapKeys() {
				c.SetMapIndex(k, v.MapIndex(k))
			}
			v, changed = c, true
		}
		v.SetMapIndex(key, full)
	}
	return v, changed
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	listTypes     sync.Map // reflect.Type → bool
)

// holdsLists reports whether a value of type t may hold a list, a map or an
// interface. Types that write themselves hold none as far as we can know.
func holdsLists(t reflect.Type) bool {
	if known, ok := listTypes.Load(t); ok {
		return known.(bool)
	}
	found := searchLists(t, map[reflect.Type]bool{})
	listTypes.Store(t, found)
	return found
}

func searchLists(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t.Implements(jsonMarshaler) || t.Implements(textMarshaler) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface, reflect.Map:
		return true
	case reflect.Slice:
		return t.Elem().Kind() != reflect.Uint8 // bytes are text
	case reflect.Pointer:
		return searchLists(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" && searchLists(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
