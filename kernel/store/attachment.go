package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"oxios/kernel/sys"
)

// AttachmentKind says what an [Attachment] is to a model.
type AttachmentKind string

// The kinds. Of a folder and of a file a model learns the path alone.
const (
	AttachImage  AttachmentKind = "image"
	AttachPDF    AttachmentKind = "pdf"
	AttachWord   AttachmentKind = "docx"
	AttachText   AttachmentKind = "text"
	AttachPaste  AttachmentKind = "paste" // text that was pasted, as it was
	AttachFolder AttachmentKind = "folder"
	AttachFile   AttachmentKind = "file"

	AttachResource AttachmentKind = "resource" // what a server has to read; it is read when the message is sent
	AttachPrompt   AttachmentKind = "prompt"   // what a prompt of a server gave
)

// Attachment is what a person put beside a message. Messages, runs and the
// queue repeat it, so that they can be shown without looking it up; its content
// lies in the home, under its hash.
type Attachment struct {
	ID     string         `json:"id"`
	Kind   AttachmentKind `json:"kind"`
	Name   string         `json:"name"`
	Path   string         `json:"path,omitempty"`   // of a folder and a file: where it lies on this machine, absolute
	Place  string         `json:"place,omitempty"`  // the folder that its content was read from; "" for what was sent here
	Vault  string         `json:"vault,omitempty"`  // the note of the vault that it is, by its path
	Server string         `json:"server,omitempty"` // the server that its content comes from
	URI    string         `json:"uri,omitempty"`    // of a resource: its name on the server
	Prompt string         `json:"prompt,omitempty"` // of a prompt, as it is called
	MIME   string         `json:"mime,omitempty"`   // of a picture, as models get it
	Size   int64          `json:"size"`             // bytes of what was attached; 0 for a folder
	Stored int64          `json:"stored,omitempty"` // bytes of the content that models get
	Tokens int            `json:"tokens"`           // what it takes of a model's window, estimated
	Width  int            `json:"width,omitempty"`  // of a picture, as models get it, pixels
	Height int            `json:"height,omitempty"`
	Pages  int            `json:"pages,omitempty"` // 0 for what has none
	Note   string         `json:"note,omitempty"`  // what a person should know of it
	NoteKO string         `json:"note_ko,omitempty"`

	Hash string `json:"-"` // of the content, in hex; "" where there is none
}

// attachmentsJSON is how a row repeats its attachments; nil for none.
func attachmentsJSON(list []Attachment) (any, error) {
	if len(list) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("encode attachments: %w", err)
	}
	return string(text), nil
}

// AddAttachment saves a new attachment that no message has yet.
func (s *Store) AddAttachment(tx *Tx, a Attachment) error {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode attachment: %w", err)
	}
	_, err = tx.Exec("INSERT INTO attachments (id, created_at, hash, info_json) VALUES (?,?,?,?)", a.ID, Millis(s.now()), a.Hash, string(text))
	return err
}

// FillAttachment saves what an attachment holds that no message has yet.
func (s *Store) FillAttachment(tx *Tx, a Attachment) error {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode attachment: %w", err)
	}
	_, err = tx.Exec("UPDATE attachments SET hash = ?, info_json = ? WHERE id = ?", a.Hash, string(text), a.ID)
	return err
}

// Attachments returns attachments in the order of ids. Those that do not exist
// any more are left out.
func (s *Store) Attachments(ctx context.Context, ids []string) ([]Attachment, error) {
	var all []Attachment
	err := s.Read(ctx, func(tx *Tx) error {
		all = nil
		for _, id := range ids {
			var a Attachment
			var text string
			err := tx.QueryRow("SELECT hash, info_json FROM attachments WHERE id = ?", id).Scan(&a.Hash, &text)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err == nil {
				err = json.Unmarshal([]byte(text), &a)
			}
			if err != nil {
				return fmt.Errorf("read attachment %s: %w", id, err)
			}
			all = append(all, a)
		}
		return nil
	})
	return all, err
}

// RemoveAttachment removes one that no message has. It fails with not_found,
// and with conflict when a message has it.
func (s *Store) RemoveAttachment(tx *Tx, id string) error {
	var sent bool
	if err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM attached WHERE attachment_id = ?)", id).Scan(&sent); err != nil {
		return err
	}
	if sent {
		return sys.Errorf(sys.CodeConflict, "A message was sent with it, so it stays with that conversation.")
	}
	res, err := tx.Exec("DELETE FROM attachments WHERE id = ?", id)
	return must(res, err, func() error {
		return sys.Errorf(sys.CodeNotFound, "This attachment is not there any more.").WithHint("Attach it again.")
	})
}

// DropAttachments removes those that are older than before and that no message
// has, and returns how many there were.
func (s *Store) DropAttachments(ctx context.Context, before time.Time) (int64, error) {
	var n int64
	err := s.Write(ctx, func(tx *Tx) error {
		res, err := tx.Exec("DELETE FROM attachments WHERE created_at < ? AND NOT EXISTS (SELECT 1 FROM attached WHERE attachment_id = id)", Millis(before))
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	return n, err
}

// AttachmentHashes returns the hashes of all content that an attachment has.
func (s *Store) AttachmentHashes(ctx context.Context) (map[string]bool, error) {
	all := map[string]bool{}
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT DISTINCT hash FROM attachments WHERE hash <> ''")
		if err != nil {
			return err
		}
		for rows.Next() {
			var hash string
			if err := rows.Scan(&hash); err != nil {
				return err
			}
			all[hash] = true
		}
		return rows.Err()
	})
	return all, err
}
