package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// attach takes the files and folders of --attach, names of which are relative
// to the current folder, and says what became of each. With one that is refused
// nothing is sent.
func (c *console) attach(ctx context.Context, l *link, files []string) ([]string, error) {
	var ids []string
	for _, file := range files {
		path := file
		if !filepath.IsAbs(path) {
			here, err := c.getwd()
			if err != nil {
				return nil, c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("The current folder is not known: %v.", "현재 폴더를 알 수 없습니다: %v."), err), "")
			}
			path = filepath.Join(here, path)
		}
		a, err := l.State.Attach(ctx, kernel.AttachInput{Path: path})
		if err != nil {
			return nil, err
		}
		ids = append(ids, a.ID)
		c.note("%s", safe(c.attached(a)))
	}
	return ids, nil
}

// attached is one line about an attachment.
func (c *console) attached(a kernel.Attachment) string {
	line := fmt.Sprintf(c.t("· Attached %s", "· 첨부: %s"), a.Name)
	switch {
	case a.Kind == "folder":
		line += c.t(", by its path", ", 경로만")
	case a.Kind == "file":
	case a.Pages > 0:
		line += fmt.Sprintf(c.t(", %d pages, about %d tokens", ", %d쪽, 약 %d토큰"), a.Pages, a.Tokens)
	default:
		line += fmt.Sprintf(c.t(", about %d tokens", ", 약 %d토큰"), a.Tokens)
	}
	if note := c.either(a.Note, a.NoteKO); note != "" {
		line += ". " + note
	}
	return line
}
