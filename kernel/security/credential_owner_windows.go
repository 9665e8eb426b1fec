package security

import "os"

// ownerOf is not asked on Windows.
func ownerOf(os.FileInfo) (uid, names int) { return 0, 1 }
