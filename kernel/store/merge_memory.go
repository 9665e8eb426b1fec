package store

import (
	"encoding/json"
	"fmt"
)

// spaces brings the spaces that are missing here. One that has the name of
// another here is taken for that.
func (m *merge) spaces() error {
	known, err := stringsOf(m.there, "SELECT id FROM spaces ORDER BY n")
	if err != nil {
		return err
	}
	m.spaceOf = map[string]string{}
	var missing []string
	for _, id := range known {
		var name string
		if err := m.there.QueryRow("SELECT name FROM spaces WHERE id = ?", id).Scan(&name); err != nil {
			return err
		}
		here, err := stringsOf(m.here, "SELECT id FROM spaces WHERE id = ?1 OR name = ?2 COLLATE NOCASE ORDER BY id = ?1 DESC LIMIT 1", id, name)
		if err != nil {
			return err
		}
		if len(here) > 0 {
			m.spaceOf[id] = here[0]
			continue
		}
		m.spaceOf[id] = id
		missing = append(missing, id)
	}
	ids, err := json.Marshal(missing)
	if err != nil {
		return err
	}
	// What another home says may not open what is remembered here and there to all spaces.
	if _, err = m.copy("spaces", "id IN (SELECT value FROM json_each(?1))", "n", string(ids), func(r row) { r["shared"] = int64(0) }); err != nil {
		return err
	}
	return m.learned(missing)
}

// learned brings what corrections taught the spaces that came, and the proposals
// that were declined.
func (m *merge) learned(spaces []string) error {
	ids, err := json.Marshal(spaces)
	if err != nil {
		return err
	}
	if _, err := m.copy("space_words", "space IN (SELECT value FROM json_each(?1))", "space, word", string(ids), nil); err != nil {
		return err
	}
	known, err := stringsOf(m.here, "SELECT id FROM space_declined")
	if err != nil {
		return err
	}
	if ids, err = json.Marshal(append([]string{}, known...)); err != nil { // null would be in no list and out of none
		return err
	}
	_, err = m.copy("space_declined", "id NOT IN (SELECT value FROM json_each(?1))", "id", string(ids), nil)
	return err
}

// inSpace puts a row into the space that its own is here.
func (m *merge) inSpace(r row) { r["space"] = m.spaceOf[r.text("space")] }

// memories brings the memories that are missing here. Of a fact that has another
// of the same key here, that one holds, and what came is its history.
func (m *merge) memories() error {
	here, err := stringsOf(m.here, "SELECT id FROM memories")
	if err != nil {
		return err
	}
	there, err := stringsOf(m.there, "SELECT id FROM memories ORDER BY n")
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(here))
	for _, id := range here {
		known[id] = true
	}
	var missing []string
	for _, id := range there {
		if known[id] {
			m.report.Memories.Present++
		} else {
			missing = append(missing, id)
		}
	}
	ids, err := json.Marshal(missing)
	if err != nil {
		return err
	}
	var failed error
	m.report.Memories.Added, err = m.copy("memories", "id IN (SELECT value FROM json_each(?1))", "n", string(ids), func(r row) {
		m.inSpace(r)
		if r.text("key") == "" || r.text("replaced_by") != "" {
			return
		}
		holds, err := stringsOf(m.here, "SELECT id FROM memories WHERE key = ? AND space = ? AND replaced_by = ''", r.text("key"), r.text("space"))
		if err != nil {
			failed = err
		} else if len(holds) > 0 {
			r["replaced_by"], r["replaced_at"] = holds[0], Millis(m.o.At)
		}
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		_, err = m.copy("memory_quotes", "memory_id IN (SELECT value FROM json_each(?1))", "memory_id", string(ids), nil)
	}
	if err != nil {
		return fmt.Errorf("merge memories: %w", err)
	}
	return nil
}
