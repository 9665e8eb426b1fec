package kernel

import (
	"encoding/json"
	"reflect"
)

// eachText is a copy of v in which f has been at every text that is written as JSON, however deep. What v points to is left as it was.
func eachText[T any](v T, f func(string) string) T {
	out, _ := textsOf(reflect.ValueOf(&v).Elem(), f).Interface().(T)
	return out
}

func textsOf(v reflect.Value, f func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(f(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(textsOf(v.Elem(), f))
		}
	case reflect.Interface:
		if _, cause := v.Interface().(error); !cause && !v.IsNil() {
			out.Set(textsOf(v.Elem(), f))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(textsOf(v.Field(i), f))
			}
		}
	case reflect.Slice:
		if raw, ok := v.Interface().(json.RawMessage); ok {
			out.SetBytes(rawText(raw, f))
		} else if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(textsOf(v.Index(i), f))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for key, value := range v.Seq2() {
				out.SetMapIndex(key, textsOf(value, f))
			}
		}
	}
	return out
}

// rawText is what f makes of JSON; of what is none then, a text that is.
func rawText(raw json.RawMessage, f func(string) string) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	text := f(string(raw))
	if !json.Valid([]byte(text)) {
		quoted, _ := json.Marshal(text) // a text is always JSON
		return quoted
	}
	return json.RawMessage(text)
}
