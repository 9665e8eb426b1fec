package store

import (
	"slices"
	"strings"
)

// row is one row on its way, by the names of its columns.
type row map[string]any

func (r row) text(column string) string {
	s, _ := r[column].(string)
	return s
}

// The sizes of the inserts of a copy. There are few of them, so that few
// statements are prepared.
var batches = []int{64, 8, 1}

// maxWaiting bounds the bytes that wait to be inserted together.
const maxWaiting = 4 << 20

// copy inserts the rows of table that where selects by arg, each after change,
// and returns how many there were. A column n numbers the rows of a database
// and is given anew.
func (m *merge) copy(table, where, order string, arg any, change func(row)) (int, error) {
	columns := m.columns[table]
	if columns == nil {
		var err error
		if columns, err = stringsOf(m.here, "SELECT name FROM pragma_table_info(?) WHERE name <> 'n'", table); err != nil {
			return 0, err
		}
		m.columns[table] = columns
	}
	// An empty blob is read as nil, so whether there is one is asked apart.
	presence := make([]string, len(columns))
	for i, c := range columns {
		presence[i] = c + " IS NOT NULL"
	}
	rows, err := m.there.Query("SELECT "+strings.Join(slices.Concat(columns, presence), ", ")+" FROM "+table+" WHERE "+where+" ORDER BY "+order, arg)
	if err != nil {
		return 0, err
	}
	values, there := make([]any, len(columns)), make([]bool, len(columns))
	into := make([]any, 0, 2*len(columns))
	for i := range values {
		into = append(into, &values[i])
	}
	for i := range there {
		into = append(into, &there[i])
	}
	n, weight := 0, 0
	var waiting []any // the values of rows on their way, one after the other
	for ; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return n, err
		}
		waiting = append(waiting, m.changed(columns, values, there, change)...)
		for _, v := range values {
			switch v := v.(type) {
			case string:
				weight += len(v)
			case []byte:
				weight += len(v)
			}
		}
		if len(waiting) == batches[0]*len(columns) || weight > maxWaiting {
			if err := m.insert(table, columns, waiting); err != nil {
				return n, err
			}
			waiting, weight = waiting[:0], 0
		}
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	return n, m.insert(table, columns, waiting)
}

// changed returns the values of a row as they are inserted here.
func (m *merge) changed(columns []string, values []any, there []bool, change func(row)) []any {
	for i := range values {
		if b, ok := values[i].([]byte); there[i] && (values[i] == nil || ok && b == nil) {
			values[i] = []byte{}
		}
	}
	if change == nil {
		return values
	}
	r := make(row, len(columns))
	for i, c := range columns {
		r[c] = values[i]
	}
	change(r)
	for i, c := range columns {
		values[i] = r[c]
	}
	return values
}

// insert writes rows, as many as there are values for, in statements of a few
// sizes.
func (m *merge) insert(table string, columns []string, values []any) error {
	one := "(?" + strings.Repeat(",?", len(columns)-1) + ")"
	verb := "INSERT INTO "
	if table == "attachments" || table == "attached" {
		verb = "INSERT OR IGNORE INTO "
	}
	for _, size := range batches {
		query := verb + table + " (" + strings.Join(columns, ", ") + ") VALUES " + one + strings.Repeat(","+one, size-1)
		for width := size * len(columns); len(values) >= width; values = values[width:] {
			if _, err := m.here.Exec(query, values[:width]...); err != nil {
				return err
			}
		}
	}
	return nil
}
