package store

import (
	"context"
	"strings"
	"unicode/utf8"
)

const (
	defaultLimit = 50
	maxLimit     = 500
)

// Sessions lists sessions. In a search each has a Snippet of its newest
// message that matches, on whichever branch; where only the title does, the
// snippet is empty.
//
// Matching ignores case. Words of three characters and more are found through
// the full-text index of trigrams; shorter ones, such as most Korean words,
// are too short for it and are found by reading.
func (s *Store) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	query, args := sessionsSQL(q)
	var found []Session
	err := s.Read(ctx, func(tx *Tx) error {
		var hits []*int64
		rows, err := tx.Query(query, args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			var hit *int64
			session, err := scanSession(rows, &hit)
			if err != nil {
				return err
			}
			found, hits = append(found, session), append(hits, hit)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for i, hit := range hits {
			if hit == nil {
				continue
			}
			if found[i].Snippet, found[i].HitRun, err = snippet(tx, *hit, terms(q.Search)[0]); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// sessionsSQL builds the query. The last column of its result is the newest
// message that matches, or NULL.
func sessionsSQL(q SessionQuery) (string, []any) {
	var b strings.Builder
	var args []any
	words := terms(q.Search)
	hit := "NULL"
	if match := matchExpression(words); match != "" {
		b.WriteString(`WITH hit AS MATERIALIZED (SELECT m.session_id AS id, max(m.n) AS n FROM messages_fts f JOIN messages m ON m.n = f.rowid
			WHERE f.content MATCH ?`)
		args = append(args, match)
		b.WriteString(like("m.content", words, &args))
		b.WriteString(" GROUP BY m.session_id) ")
		hit = "(SELECT n FROM hit WHERE hit.id = s.id)"
	} else if len(words) > 0 {
		hit = "(SELECT m.n FROM messages m WHERE m.session_id = s.id AND m.role IN ('user', 'assistant')" + like("m.content", words, &args) + " ORDER BY m.n DESC LIMIT 1)"
	}
	b.WriteString("SELECT " + sessionColumns + ", " + hit + " AS hit FROM sessions s WHERE s.archived = ? AND s.discarded_at IS NULL")
	args = append(args, q.Archived)
	if len(words) > 0 {
		b.WriteString(" AND (hit IS NOT NULL OR ")
		if match := matchExpression(words); match != "" {
			b.WriteString("s.n IN (SELECT rowid FROM sessions_fts WHERE title MATCH ?)")
			args = append(args, match)
		} else {
			b.WriteString("TRUE")
		}
		b.WriteString(like("s.title", words, &args) + ")")
	}
	if q.Before != "" {
		b.WriteString(" AND (s.pinned, s.updated_at, s.id) < (SELECT pinned, updated_at, id FROM sessions WHERE id = ?)")
		args = append(args, q.Before)
	}
	if q.Space != nil {
		b.WriteString(" AND s.space = ?")
		args = append(args, *q.Space)
	}
	if q.ID != "" {
		b.WriteString(" AND s.id LIKE ? ESCAPE '\\'")
		args = append(args, escapeLike(q.ID)+"%")
	}
	b.WriteString(" ORDER BY s.pinned DESC, s.updated_at DESC, s.id DESC LIMIT ?")
	args = append(args, limit(q.Limit))
	return b.String(), args
}

func limit(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return min(n, maxLimit)
}

// terms are the words of a search, without NUL, which ends a text in SQLite.
func terms(search string) []string {
	return strings.Fields(strings.ReplaceAll(search, "\x00", " "))
}

// matchExpression asks the index for all words that it can find: each quoted,
// so that nothing in them is an operator. It is "" when there are none.
func matchExpression(words []string) string {
	var quoted []string
	for _, w := range words {
		if utf8.RuneCountInString(w) >= 3 {
			quoted = append(quoted, `"`+strings.ReplaceAll(w, `"`, `""`)+`"`)
		}
	}
	return strings.Join(quoted, " AND ")
}

// like adds a condition for each word that is too short for the index.
func like(column string, words []string, args *[]any) string {
	var b strings.Builder
	for _, w := range words {
		if utf8.RuneCountInString(w) >= 3 {
			continue
		}
		b.WriteString(" AND " + column + ` LIKE ? ESCAPE '\'`)
		*args = append(*args, "%"+escapeLike(w)+"%")
	}
	return b.String()
}

func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// snippet returns up to 160 characters of the message n around word, on one
// line, with … where text was left out, and the run that the message is of.
func snippet(tx *Tx, n int64, word string) (text, run string, err error) {
	const before, length = 40, 160
	var at, total int
	err = tx.QueryRow(`SELECT substr(content, max(1, at - ?), ?), run_id, at, total FROM
		(SELECT content, run_id, instr(lower(content), lower(?)) AS at, length(content) AS total FROM messages WHERE n = ?)`,
		before, length, word, n).Scan(&text, &run, &at, &total)
	if err != nil {
		return "", "", err
	}
	first := max(1, at-before)
	text = strings.Join(strings.Fields(text), " ")
	if first > 1 {
		text = "…" + text
	}
	if first+length-1 < total {
		text += "…"
	}
	return text, run, nil
}
