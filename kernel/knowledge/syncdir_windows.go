package knowledge

import "os"

// syncDir does nothing: Windows offers no flush of a folder, NTFS journals the
// rename itself.
func syncDir(*os.Root, string) error { return nil }
