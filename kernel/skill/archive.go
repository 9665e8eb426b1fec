package skill

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"oxios/kernel/sys"
)

// maxDirectory bounds what is read of a zip before its first file: its list of
// files is held in memory as a whole.
const maxDirectory = 8 << 20

// Unpack unpacks a zip, a tar or a tar.gz, told by its content, into staging, an
// empty folder, and returns the slash path below it in which the skill's SKILL.md
// is, "." for staging itself. What could be written elsewhere, what two disks
// would store differently, what is not a regular file, and what is too much, is
// refused with a sentence; staging is empty again then.
func Unpack(ctx context.Context, archive io.ReaderAt, size int64, staging string) (string, error) {
	if size > maxTotal {
		return "", refusedSize(sys.Say("it has more than %d MB", maxTotal>>20))
	}
	return stage(ctx, staging, func(in *intake) error {
		in.packed = size
		head := make([]byte, 512)
		n, err := archive.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the archive: %w", err)
		}
		whole := io.NewSectionReader(archive, 0, size)
		switch head = head[:n]; {
		case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
			return in.zip(archive, size)
		case bytes.HasPrefix(head, []byte{0x1F, 0x8B}):
			z, err := gzip.NewReader(bufio.NewReader(whole))
			if err != nil {
				return broken(err)
			}
			return in.tar(z)
		case len(head) == 512 && string(head[257:262]) == "ustar":
			return in.tar(whole)
		}
		return sys.Errorf(sys.CodeInvalid, "This is not an archive that Oxios can unpack.").WithHint("Use a zip, a tar or a tar.gz.")
	})
}

// broken is the error for an archive that ends early or is none. Our own errors,
// what the disk says, and that it was stopped, stay what they are.
func broken(err error) error {
	var own *sys.Error
	var disk *fs.PathError
	if errors.As(err, &own) || errors.As(err, &disk) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return sys.Errorf(sys.CodeInvalid, "The archive is damaged: %w.", err).WithHint("Get it again. Nothing of it was kept.")
}

func (in *intake) zip(archive io.ReaderAt, size int64) error {
	bounded := &boundedAt{r: archive, left: maxDirectory}
	z, err := zip.NewReader(bounded, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return broken(err)
	}
	if bounded.left = -1; len(z.File) > maxStaged {
		return refusedSize(sys.Say("it has more than %d files", maxStaged))
	}
	for _, f := range z.File {
		mode := f.Mode()
		name := f.Name
		if strings.HasSuffix(name, "/") {
			mode |= fs.ModeDir
		}
		if f.Flags&1 != 0 {
			return refused(sys.Say("%q is encrypted", sys.Shorten(visible(name), 120)))
		}
		if err := in.entry(name, mode, f.UncompressedSize64, f.Open); err != nil {
			return broken(err)
		}
	}
	return nil
}

// boundedAt refuses to read more than left bytes; below zero it reads all.
type boundedAt struct {
	r    io.ReaderAt
	left int64
}

func (b *boundedAt) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, refusedSize(sys.Say("it lists more than %d files", maxStaged))
		}
	}
	return b.r.ReadAt(p, off)
}

func (in *intake) tar(r io.Reader) error {
	t := tar.NewReader(&slowReader{ctx: in.ctx, r: r, left: maxTotal + 64<<20})
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return broken(err)
		}
		mode := h.FileInfo().Mode()
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeDir:
		case tar.TypeXGlobalHeader: // git writes the commit there
			continue
		case tar.TypeLink:
			mode |= fs.ModeSymlink
		default:
			if h.Typeflag != tar.TypeSymlink {
				mode |= fs.ModeIrregular
			}
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(t), nil }
		if err := in.entry(h.Name, mode, uint64(max(h.Size, 0)), open); err != nil {
			return broken(err)
		}
	}
}

// slowReader ends with its context, and after left bytes: what a tar has between
// its files counts as well.
type slowReader struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func (s *slowReader) Read(p []byte) (int, error) {
	if err := context.Cause(s.ctx); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	if s.left -= int64(n); s.left < 0 {
		return 0, refusedSize(sys.Say("it unpacks to more than %d MB", maxTotal>>20))
	}
	return n, err
}

// Copy copies the skill in a folder on the disk into staging by the rules of
// [Unpack]. Folders named .git stay behind. A hard link is copied as the file that
// it is.
func Copy(ctx context.Context, from, staging string) (string, error) {
	tree, err := Open(from)
	if err != nil {
		return "", sys.Errorf(sys.CodeNotFound, "%s cannot be opened: %w.", from, err).WithHint("Choose the folder in which SKILL.md is.")
	}
	defer tree.Close()
	return stage(ctx, staging, func(in *intake) error { return in.folder(tree, ".") })
}

func (in *intake) folder(tree *Tree, dir string) error {
	list, more, err := entries(tree, dir)
	if err != nil {
		return err
	}
	if more {
		return refusedSize(sys.Say("it has more than %d files", maxStaged))
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		if e.IsDir() && e.Name() == ".git" {
			continue
		}
		info, err := tree.Lstat(name)
		if err != nil {
			return err
		}
		open := func() (io.ReadCloser, error) { return tree.Open(name) }
		if err := in.entry(name, info.Mode(), uint64(max(info.Size(), 0)), open); err != nil {
			return err
		}
		if info.IsDir() {
			if err := in.folder(tree, name); err != nil {
				return err
			}
		}
	}
	return nil
}
