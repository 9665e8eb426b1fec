package sys

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	accessList  = "system.posix_acl_access"
	defaultList = "system.posix_acl_default"
)

// ReadAttrs returns the attributes of an open file or folder that belong to the
// person and can be given to a copy: user.* and access control lists. A file
// system that has none gives none.
func ReadAttrs(f *os.File) (attrs []Attr) {
	fd := int(f.Fd())
	buf := make([]byte, 1<<10)
	n, err := unix.Flistxattr(fd, buf)
	if err == unix.ERANGE {
		buf = make([]byte, 64<<10)
		n, err = unix.Flistxattr(fd, buf)
	}
	if err != nil || n == 0 {
		return nil
	}
	names := strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00")
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasPrefix(name, "user.") && name != accessList && name != defaultList {
			continue
		}
		value := make([]byte, maxAttrs)
		if n, err := unix.Fgetxattr(fd, name, value); err == nil {
			attrs = append(attrs, Attr{name, value[:n:n]})
		}
	}
	return attrs
}

// WriteAttrs gives attributes to an open file or folder, as far as the file system
// takes them. A list that it got from its folder goes when it is not among them.
func WriteAttrs(f *os.File, attrs []Attr) {
	fd := int(f.Fd())
	for _, list := range []string{accessList, defaultList} {
		if !slices.ContainsFunc(attrs, func(a Attr) bool { return a.Name == list }) {
			_ = unix.Fremovexattr(fd, list)
		}
	}
	for _, a := range attrs {
		_ = unix.Fsetxattr(fd, a.Name, a.Value, 0)
	}
}
