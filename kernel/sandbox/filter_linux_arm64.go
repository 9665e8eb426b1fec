package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_AARCH64
	sysOpen    = x32Calls // there is no such call; no number from here on passes
)

// deniedHere are the calls that exist on this architecture alone.
var deniedHere = []uint32{unix.SYS_LOOKUP_DCOOKIE}
