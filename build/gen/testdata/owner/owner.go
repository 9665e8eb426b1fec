// Package owner owns types that the kernel of the test re-exports.
package owner

import (
	"context"
	"encoding/json"
	"time"
)

// State is where a thing stands.
type State string

// The states, in the order in which they come.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"
)

// Level is counted.
type Level int

const (
	LevelNone Level = iota
	LevelSome
	LevelFull
)

// Bytes is a unit.
type Bytes int64

const Mega Bytes = 1 << 20

// Base is embedded.
type Base struct {
	ID string `json:"id"` // never empty
}

// Thing has one field of each sort.
type Thing struct {
	Base
	State    State             `json:"state"`
	Level    Level             `json:"level"`
	Size     Bytes             `json:"size"`
	At       time.Time         `json:"at"`
	Ended    *time.Time        `json:"ended,omitempty"`
	Took     time.Duration     `json:"took"`
	Raw      json.RawMessage   `json:"raw"`
	Any      any               `json:"any,omitempty"`
	Tags     []string          `json:"tags"`
	Notes    map[string]string `json:"notes"`
	Parent   *Thing            `json:"parent"`
	Children []Thing           `json:"children"`
	Number   uint64            `json:"number,string"`
	Shape    struct {
		Wide bool `json:"wide"`
	} `json:"shape,omitempty"`
	Odd    func()  `json:"-"`
	Choice *string `json:"choice" ts_type:"'a' | 'b'"`

	hidden int
}

// Hidden returns what no face sees.
func (t Thing) Hidden() int { return t.hidden }

// Query says which things.
type Query struct {
	Search string `json:"search"`
	Limit  int    `json:"limit"`
}

// API holds the calls of a part, which lives in a package of its own.
type API struct{ who string }

// Count says how many things there are.
func (a *API) Count(ctx context.Context, q Query) (int, error) { return len(a.who), ctx.Err() }
