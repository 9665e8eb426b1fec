package security

import "os"

const openNonblock = 0

// linkCount is not known without opening the file, and is taken for one.
func linkCount(os.FileInfo) uint64 { return 1 }

// syncFile does nothing: Windows makes a renamed entry durable by itself.
func syncFile(*os.File) error { return nil }
