package kernel_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"oxios/kernel"
)

// wireName is the name of an API's method in the table and on the wire.
func wireName(api, method string) string {
	r := []rune(method)
	r[0] = unicode.ToLower(r[0])
	return strings.ToLower(api) + "." + string(r)
}

func TestEveryMethodOfTheHandleIsARowOfTheTable(t *testing.T) {
	t.Parallel()
	rows := kernel.Syscalls()
	seen := map[string]bool{"llm.complete": true, "mcp.elicit": true, "mcp.sample": true} // the loop's own call, and what a server asks in the middle of one
	h := reflect.TypeFor[kernel.Handle]()
	for i := range h.NumField() {
		api := h.Field(i)
		for j := range api.Type.NumMethod() {
			name := wireName(api.Name, api.Type.Method(j).Name)
			if _, ok := rows[name]; !ok {
				t.Errorf("%s has no row in the table of system calls", name)
			}
			seen[name] = true
		}
	}
	for name, row := range rows {
		if !seen[name] {
			t.Errorf("the row %s belongs to no method", name)
		}
		if row.Rights == 0 {
			t.Errorf("the row %s asks for no right, so nobody could call it", name)
		}
	}
}

func TestNoFieldOfAHandleIsNil(t *testing.T) {
	t.Parallel()
	k := open(t)
	v := reflect.ValueOf(k.Person()).Elem()
	for i := range v.NumField() {
		if v.Field(i).IsNil() {
			t.Errorf("field %s is nil", v.Type().Field(i).Name)
		}
	}
}
