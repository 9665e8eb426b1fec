package security

import (
	"errors"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exchange lets two files of one folder take each other's names at one moment, so
// that what a name was taken from is never lost, whoever wrote it last. It fails
// with [errors.ErrUnsupported] where the disk cannot.
func (r *Root) Exchange(a, b string) error {
	if path.Dir(a) != path.Dir(b) {
		return errors.ErrUnsupported
	}
	d, err := r.root.OpenFile(path.Dir(a), os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return pathError("open", path.Dir(a), r.dir, err)
	}
	defer d.Close()
	err = unix.Renameat2(int(d.Fd()), path.Base(a), int(d.Fd()), path.Base(b), unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return pathError("write", a, r.dir, err)
	}
	return syncFile(d)
}

// RenameNew gives a file another name in its folder, which must be free: it fails
// with [fs.ErrExist] otherwise, and with [errors.ErrUnsupported] where the disk
// cannot. The caller makes it durable.
func (r *Root) RenameNew(from, to string) error {
	if path.Dir(from) != path.Dir(to) {
		return errors.ErrUnsupported
	}
	d, err := r.root.OpenFile(path.Dir(from), os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return pathError("open", path.Dir(from), r.dir, err)
	}
	defer d.Close()
	err = unix.Renameat2(int(d.Fd()), path.Base(from), int(d.Fd()), path.Base(to), unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}
