package kernel

import "golang.org/x/sys/unix"

// totalMemory is the machine's memory in bytes, 0 when it cannot be told.
func totalMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}
