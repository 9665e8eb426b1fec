package sandbox

import "golang.org/x/sys/windows"

// freeOn returns how many bytes this account may still write where path lies.
func freeOn(path string) (int64, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(p, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(free), nil //nolint:gosec // no disk is that large
}
