// Package frontend holds the built front end. It promises that the module
// compiles on a clean checkout: dist holds at least .gitkeep, and [FS] then
// has no index.html.
package frontend

import (
	"embed"
	"io/fs"
)

// Dist is the folder dist as it was when the program was built.
//
//go:embed all:dist
var Dist embed.FS

// FS returns the built front end with index.html at its root.
func FS() fs.FS {
	sub, err := fs.Sub(Dist, "dist")
	if err != nil { // dist is a constant and a valid path
		panic(err)
	}
	return sub
}
