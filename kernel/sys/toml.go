package sys

import (
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// MistakeInTOML says what is wrong in a file in the words of that file; the library
// speaks of the fields of a program.
func MistakeInTOML(e *toml.DecodeError) Words {
	text, key := strings.TrimPrefix(e.Error(), "toml: "), strings.Join(e.Key(), ".")
	_, kind, typed := strings.Cut(text, " of type ")
	if !typed {
		_, kind, typed = strings.Cut(text, " into ")
	}
	switch {
	case strings.Contains(text, "cannot store an array table"):
		return Say("%s must be one table: [%s] with one pair of brackets", key, key)
	case strings.Contains(text, "cannot store a table"):
		return Say("%s must be a value, not a table", key)
	case !typed:
	case kind == "int" || kind == "int64":
		return Say("%s must be a whole number", key)
	case kind == "float64":
		return Say("%s must be a number", key)
	case kind == "bool":
		return Say("%s must be true or false", key)
	case kind == "string":
		return Say("%s must be a text in quotes", key)
	case kind == "[]string":
		return Say("%s must be a list of texts in quotes, in square brackets", key)
	case strings.HasPrefix(kind, "[]"):
		return Say("%s must be a list of tables, each under [[%s]]", key, key)
	case kind != "": // a map, or a structure of ours
		return Say("%s must be a table: [%s], and its settings below it", key, key)
	}
	return Words{EN: text}
}
