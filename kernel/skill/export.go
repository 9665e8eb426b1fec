package skill

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Exported is an archive that was written.
type Exported struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Export writes the files of a skill into a zip, in a folder of its name. path is absolute; a file that is there is replaced
// only when replace says so.
func (a *API) Export(ctx context.Context, name, path string, replace bool) (Exported, error) {
	act := guard.Action{Call: "skills.export", Resource: "skill:" + name, Meta: map[string]any{"path": path}}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (Exported, error) {
		if !filepath.IsAbs(path) {
			return Exported{}, sys.Errorf(sys.CodeInvalid, "%q is not an absolute path. Nothing was written.", path)
		}
		if _, err := os.Lstat(path); !replace && !errors.Is(err, fs.ErrNotExist) {
			return Exported{}, sys.Errorf(sys.CodeConflict, "%s is there already. It was not overwritten.", path).WithHint("Choose another name.")
		}
		v, err := a.find(ctx, name)
		if err != nil {
			return Exported{}, err
		}
		fsys, done, err := files(v.Skill)
		if err != nil {
			return Exported{}, err
		}
		defer done()
		raw, err := packed(ctx, fsys, v.Name)
		if err == nil {
			err = security.WriteFileAtomic(path, raw, 0o600)
		}
		if err != nil {
			return Exported{}, sys.Errorf(sys.CodeUnavailable, "%s could not be written: %w.", path, err).WithHint("Choose another place.")
		}
		return Exported{Path: path, Bytes: int64(len(raw))}, nil
	})
}

// packed is a zip of what a skill consists of.
func packed(ctx context.Context, fsys fs.FS, folder string) ([]byte, error) {
	found, err := walk(ctx, fsys)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range found {
		if !f.mode.IsRegular() {
			continue
		}
		from, err := fsys.Open(f.path)
		if err != nil {
			return nil, err
		}
		info, err := from.Stat()
		var to io.Writer
		if err == nil {
			h := &zip.FileHeader{Name: folder + "/" + f.path, Method: zip.Deflate}
			h.SetMode(info.Mode().Perm())
			to, err = z.CreateHeader(h)
		}
		if err == nil {
			_, err = io.Copy(to, from)
		}
		if err = errors.Join(err, from.Close()); err != nil {
			return nil, err
		}
	}
	err = z.Close()
	return out.Bytes(), err
}
