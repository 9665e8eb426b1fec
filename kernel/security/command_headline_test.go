package security

import (
	"slices"
	"testing"
)

type headlineRow struct{ Cmd, Shell, EN, KO string }

func headlineOf(row headlineRow) (en, ko string) {
	o := CommandOptions{Shell: row.Shell, Dir: "/home/person/Downloads", Home: "/home/person"}
	there := []string{"/home/person/Downloads/notes.txt", "/home/person/Downloads/b.txt", "/home/person/Downloads/out/a.txt", "/home/person/Documents/old.md"}
	w := ClassifyCommand(row.Cmd, o).Headline(row.Cmd, o.Dir, func(p string) bool { return slices.Contains(there, p) })
	return w.EN, w.KO
}

func TestHeadlineTellsTheWorstOfALine(t *testing.T) {
	t.Parallel()
	rows := readCorpus[headlineRow](t, "headlines.jsonl")
	if len(rows) < 60 {
		t.Errorf("got %d examples, want at least 60", len(rows))
	}
	for _, row := range rows {
		if en, ko := headlineOf(row); en != row.EN || ko != row.KO {
			t.Errorf("%q:\n got %q, %q\nwant %q, %q", row.Cmd, en, ko, row.EN, row.KO)
		}
	}
}
