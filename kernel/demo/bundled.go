package demo

import (
	_ "embed"
	"sync"
)

//go:embed bundled.toml
var bundledTOML []byte

var bundled = sync.OnceValue(func() []Scenario {
	list, err := Parse(bundledTOML)
	if err != nil {
		panic("bundled scenarios: " + err.Error()) // a test parses them
	}
	return list
})

// Bundled returns the scenarios of the offline demo, in English and Korean.
// The last one fits every message.
func Bundled() []Scenario { return append([]Scenario(nil), bundled()...) }
