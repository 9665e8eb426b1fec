// Package home is what a part keeps in the home folder.
//
// It owns the form in which a part says which files are its own, so that storage shows them, a backup takes them along and
// cleaning frees what can be made again. Parts return it; the kernel goes over all of them. It must never open a file.
package home

// Part is what one part of the kernel keeps: a folder of the home.
type Part struct {
	ID     string // as storage names it: "extensions"
	Folder string // below the home, with slashes: "mcp"
	Cache  string // below Folder: what can be made again, which no backup takes along; "" for none
}
