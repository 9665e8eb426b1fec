// Package home is what a part keeps in the home folder.
//
// It owns the form in which a part says which files are its own, so that storage shows how much they take. A backup takes
// them along, as it does with every file of the home that it does not leave out by name. Parts return it; the kernel goes
// over all of them. It must never open a file.
package home

// Part is what one part of the kernel keeps: a folder of the home.
type Part struct {
	ID     string // as storage names it: "extensions"
	Folder string // at the top of the home: "mcp"
}
