package kernel

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// totalMemory is the machine's memory in bytes, 0 when it cannot be told.
func totalMemory() uint64 {
	// MEMORYSTATUSEX of sysinfoapi.h.
	var status struct {
		length, load                                      uint32
		total, free                                       uint64
		totalPage, freePage, totalVirtual, freeVirtual, _ uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return status.total
}
