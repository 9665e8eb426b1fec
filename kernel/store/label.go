package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// LabelOrigin says what kind of thing a [Label] is of.
type LabelOrigin string

// The origins.
const (
	LabelFile       LabelOrigin = "file"       // a file of a folder that the person has not trusted
	LabelFolder     LabelOrigin = "folder"     // such a folder: its names, or what a command may have read there
	LabelNetwork    LabelOrigin = "network"    // what a command got from the network
	LabelAttachment LabelOrigin = "attachment" // a file that came with a message
	LabelOutside    LabelOrigin = "outside"    // a path outside the folder of the run
	LabelSecret     LabelOrigin = "secret"     // a file that may hold passwords or keys
	LabelWeb        LabelOrigin = "web"        // a page or a search of the web
	LabelVault      LabelOrigin = "vault"      // notes of the person
	LabelMemory     LabelOrigin = "memory"     // what is remembered of the person
	LabelWork       LabelOrigin = "work"       // the person's work: files of the folder, the output of commands
	LabelSkill      LabelOrigin = "skill"      // what a skill that was installed says
	LabelServer     LabelOrigin = "server"     // what an MCP server said
	LabelClient     LabelOrigin = "client"     // what a program that uses Oxios from outside said
	LabelWritten    LabelOrigin = "written"    // a file that an agent wrote after it had read such things
)

// Label says of something that a run has read where it came from. The same
// source with the same content has the same ID wherever it turns up.
type Label struct {
	ID        string      `json:"id"`
	Origin    LabelOrigin `json:"origin"`
	Untrusted bool        `json:"untrusted,omitempty"` // it may hold words of somebody who wants to be obeyed
	Sensitive bool        `json:"sensitive,omitempty"` // it should not leave this machine
	Name      string      `json:"name"`                // the path, the command line, the name of the attachment
	Place     string      `json:"place,omitempty"`     // the folder that is not trusted: the label ends when it is
	Text      string      `json:"text"`                // for people: "notes.txt from a folder that you have not trusted"
	TextKO    string      `json:"text_ko"`
	From      Labels      `json:"from,omitempty"` // of a file that an agent wrote: what that agent had read
}

// NewLabel completes a label: content is what the source held, or whatever
// tells it from another of the same name.
func NewLabel(l Label, content string, text sys.Words) Label {
	l.Text, l.TextKO = text.EN, text.KO
	if l.TextKO == "" {
		l.TextKO = l.Text
	}
	key := []string{string(l.Origin), l.Name, content}
	for _, f := range l.From {
		key = append(key, f.ID)
	}
	sum := sha256.Sum256([]byte(strings.Join(key, "\x00")))
	l.ID = hex.EncodeToString(sum[:8])
	return l
}

// Words are how people read it.
func (l Label) Words() sys.Words { return sys.Words{EN: l.Text, KO: l.TextKO} }

// Labels are what a run has read. Each stands in them once.
type Labels []Label

// Join adds those of more that are missing. It never changes l.
func (l Labels) Join(more Labels) Labels {
	out := slices.Clip(l)
	for _, m := range more {
		if !out.Has(m.ID) {
			out = append(out, m)
		}
	}
	return out
}

// Has reports whether a label is in l.
func (l Labels) Has(id string) bool {
	return slices.ContainsFunc(l, func(m Label) bool { return m.ID == id })
}

// Untrusted reports whether something in l may want to be obeyed.
func (l Labels) Untrusted() bool {
	return slices.ContainsFunc(l, func(m Label) bool { return m.Untrusted })
}

// Sensitive reports whether something in l should not leave this machine.
func (l Labels) Sensitive() bool {
	return slices.ContainsFunc(l, func(m Label) bool { return m.Sensitive })
}

// Private reports whether something in l is the person's, their work included.
func (l Labels) Private() bool {
	return l.Sensitive() || slices.ContainsFunc(l, func(m Label) bool { return m.Origin == LabelWork })
}

// Secret reports whether something in l may hold passwords or keys, or lies
// outside the folder of its run.
func (l Labels) Secret() bool { return slices.ContainsFunc(l, Label.secret) }

func (l Label) secret() bool {
	switch l.Origin {
	case LabelSecret, LabelOutside:
		return l.Sensitive
	case LabelWritten:
		return l.Sensitive && l.From.Secret()
	}
	return false
}

// WithoutWork leaves out that the person's work was read. It says what may leave
// by an address, and nothing about what was written afterwards.
func (l Labels) WithoutWork() Labels {
	return slices.DeleteFunc(slices.Clone(l), func(m Label) bool { return m.Origin == LabelWork })
}

// FileLabel is a file that a run with labels wrote.
type FileLabel struct {
	Path    string    `json:"path"`    // absolute, links followed
	Content string    `json:"content"` // hash of what was written; "" when it is not known
	RunID   string    `json:"run_id"`
	Labels  Labels    `json:"labels"`
	At      time.Time `json:"at"`
}

// What a [FileLabel] covers below its path: its content begins with it.
const (
	CoversAll    = "*" // whatever lies below
	CoversHidden = "-" // a place that no index looks into: whatever lies below that
)

// Covers is one of these, or "" for a label of one file.
func (f FileLabel) Covers() string {
	if f.Content != "" && (f.Content[:1] == CoversAll || f.Content[:1] == CoversHidden) {
		return f.Content[:1]
	}
	return ""
}

func labelsJSON(l Labels) any {
	if len(l) == 0 {
		return nil
	}
	raw, err := json.Marshal(l)
	if err != nil {
		panic(fmt.Sprintf("marshal labels: %v", err)) // plain strings always marshal
	}
	return string(raw)
}

// LabelsOf returns what a run has read so far: what it began with, and what its
// steps brought. A run that does not exist has none.
func (s *Store) LabelsOf(tx *Tx, runID string) (Labels, error) {
	rows, err := tx.Query(`SELECT labels_json FROM runs WHERE id = ?1 AND labels_json IS NOT NULL
		UNION ALL SELECT labels_json FROM (SELECT labels_json FROM steps WHERE run_id = ?1 AND labels_json IS NOT NULL ORDER BY seq)`, runID)
	if err != nil {
		return nil, fmt.Errorf("read the labels of run %s: %w", runID, err)
	}
	defer rows.Close()
	var all Labels
	for rows.Next() {
		var text sql.NullString
		var some Labels
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if err := fromJSON(text, &some); err != nil {
			return nil, fmt.Errorf("read the labels of run %s: %w", runID, err)
		}
		all = all.Join(some)
	}
	return all, rows.Err()
}

// AddRunLabels adds to what a run has read, for what no step of it brought.
func (s *Store) AddRunLabels(tx *Tx, runID string, more Labels) error {
	var text sql.NullString
	var now Labels
	err := tx.QueryRow("SELECT labels_json FROM runs WHERE id = ?", runID).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return errNotFound("run", runID)
	}
	if err == nil {
		err = fromJSON(text, &now)
	}
	if err == nil {
		_, err = tx.Exec("UPDATE runs SET labels_json = ? WHERE id = ?", labelsJSON(now.Join(more)), runID)
	}
	if err != nil {
		return fmt.Errorf("label run %s: %w", runID, err)
	}
	return nil
}

// LabelFiles notes that a run wrote files. What a path carries already stays.
func (s *Store) LabelFiles(tx *Tx, files ...FileLabel) error {
	for _, f := range files {
		var text sql.NullString
		var before Labels
		err := tx.QueryRow("SELECT labels_json FROM file_labels WHERE path = ?", f.Path).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		if err == nil {
			err = fromJSON(text, &before)
		}
		if err == nil {
			_, err = tx.Exec(`INSERT INTO file_labels (path, content, run_id, labels_json, at) VALUES (?1, ?2, ?3, ?4, ?5)
				ON CONFLICT (path) DO UPDATE SET content = ?2, run_id = ?3, labels_json = ?4, at = ?5`,
				f.Path, f.Content, f.RunID, labelsJSON(before.Join(f.Labels)), Millis(s.now()))
		}
		if err != nil {
			return fmt.Errorf("label the file %s: %w", f.Path, err)
		}
	}
	return nil
}

// AnyFileLabel reports whether any file carries labels.
func (s *Store) AnyFileLabel(ctx context.Context) (some bool, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow("SELECT EXISTS (SELECT 1 FROM file_labels)").Scan(&some)
	})
	return some, err
}

// covering finds the labels that lie on all below a path that ?1 is, or lies below.
const covering = "substr(content, 1, 1) IN ('*', '-') AND (path = ?1 OR substr(?1, 1, length(path) + 1) = path || '" + string(filepath.Separator) + "')"

// FileLabels returns the files with labels, the newest first: with a path the one
// that lies there, those that cover it, and those with this content, unless content is "".
func (s *Store) FileLabels(ctx context.Context, path, content string) ([]FileLabel, error) {
	if path == "" && content == "" {
		return s.fileLabels(ctx, "1")
	}
	return s.fileLabels(ctx, "path = ?1 OR content <> '' AND content = ?2 OR "+covering, path, content)
}

// FileLabelsBelow returns the files with labels in a folder and below it, and the
// labels that cover all of it.
func (s *Store) FileLabelsBelow(ctx context.Context, folder string) ([]FileLabel, error) {
	prefix := strings.TrimSuffix(folder, string(filepath.Separator)) + string(filepath.Separator)
	return s.fileLabels(ctx, "substr(path, 1, length(?2)) = ?2 OR "+covering, strings.TrimSuffix(prefix, string(filepath.Separator)), prefix)
}

func (s *Store) fileLabels(ctx context.Context, where string, args ...any) (all []FileLabel, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT path, content, run_id, labels_json, at FROM file_labels WHERE "+where+" ORDER BY at DESC, path", args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var f FileLabel
			var text sql.NullString
			var at int64
			if err := rows.Scan(&f.Path, &f.Content, &f.RunID, &text, &at); err != nil {
				return err
			}
			if err := fromJSON(text, &f.Labels); err != nil {
				return err
			}
			f.At = FromMillis(at)
			all = append(all, f)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read which files carry labels: %w", err)
	}
	return all, nil
}

// EndLabel notes that the person has ended a label, or takes that back.
func (s *Store) EndLabel(tx *Tx, l Label, by string, ended bool) error {
	var err error
	if ended {
		var raw []byte
		if raw, err = json.Marshal(l); err == nil {
			_, err = tx.Exec("INSERT OR REPLACE INTO ended_labels (id, label_json, at, by) VALUES (?, ?, ?, ?)", l.ID, string(raw), Millis(s.now()), by)
		}
	} else {
		_, err = tx.Exec("DELETE FROM ended_labels WHERE id = ?", l.ID)
	}
	if err != nil {
		return fmt.Errorf("end the label %s: %w", l.ID, err)
	}
	return nil
}

// EndedLabels returns the labels that the person has ended, by ID.
func (s *Store) EndedLabels(ctx context.Context) (map[string]Label, error) {
	out := map[string]Label{}
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT label_json FROM ended_labels")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			var l Label
			if err := rows.Scan(&text); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				return err
			}
			out[l.ID] = l
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read which labels have ended: %w", err)
	}
	return out, nil
}

// FindLabel returns the label with this ID, wherever it stands, or not_found.
func (s *Store) FindLabel(ctx context.Context, id string) (found Label, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`SELECT labels_json FROM file_labels WHERE instr(labels_json, ?1) > 0
			UNION ALL SELECT labels_json FROM steps WHERE labels_json IS NOT NULL AND instr(labels_json, ?1) > 0
			UNION ALL SELECT labels_json FROM runs WHERE labels_json IS NOT NULL AND instr(labels_json, ?1) > 0
			UNION ALL SELECT '[' || label_json || ']' FROM ended_labels WHERE id = ?2`, `"id":"`+id+`"`, id)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			var some Labels
			if err := rows.Scan(&text); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(text), &some); err != nil {
				return err
			}
			if i := slices.IndexFunc(some, func(l Label) bool { return l.ID == id }); i >= 0 && id != "" {
				found = some[i]
				return nil
			}
		}
		return rows.Err()
	})
	if err == nil && found.ID == "" {
		err = sys.Errorf(sys.CodeNotFound, "There is no label %q.", id).WithHint("`oxios taint list` shows those that there are.")
	}
	return found, err
}
