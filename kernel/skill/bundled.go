package skill

import (
	"embed"
	"io/fs"
)

//go:embed bundled
var bundled embed.FS

// Bundled are the skills that come with Oxios, each in a folder of its name. They
// are the last [Root], with [SourceBundled], and trusted.
func Bundled() fs.FS {
	fsys, err := fs.Sub(bundled, "bundled")
	if err != nil {
		panic(err) // the name is a constant
	}
	return fsys
}
