package knowledge

import (
	"cmp"
	"context"
	"path"
	"strings"
	"time"
)

// PlanToggle plans to tick a task, or to open it again. line counts from 1; base
// is the hash of the note that the line was seen in.
func (v *Vault) PlanToggle(ctx context.Context, name string, line int, base string) (Plan, error) {
	return v.edit(ctx, name, base, false, func(text string) (string, error) {
		p, _ := cleanNote(name)
		for _, t := range scan(text).tasks {
			if t.Line != line {
				continue
			}
			at := 0
			for range line - 1 {
				at += strings.IndexByte(text[at:], '\n') + 1
			}
			at += strings.IndexByte(text[at:], '[') + 1
			mark := "x"
			if t.Done {
				mark = " "
			}
			return text[:at] + mark + text[at+len(t.Mark):], nil
		}
		return "", errTask(p, line)
	})
}

// PlanTaskAdd plans to add a task to a note: after its last task, else at its
// end. A note that is missing is made.
func (v *Vault) PlanTaskAdd(ctx context.Context, name, text string) (Plan, error) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return Plan{}, errNoText()
	}
	return v.edit(ctx, name, "", true, func(old string) (string, error) {
		tasks := scan(old).tasks
		if len(tasks) == 0 {
			return appended(old, "- [ ] "+text), nil
		}
		at := 0
		for range tasks[len(tasks)-1].Line - 1 {
			at += strings.IndexByte(old[at:], '\n') + 1
		}
		line := old[at:endOfLine(old, at)]
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t>"))]
		mark := strings.TrimLeft(line, " \t>")
		if mark = mark[:1]; !strings.Contains("-*+", mark) {
			mark = "-"
		}
		return appended(old[:at+len(line)], indent+mark+" [ ] "+text) + strings.TrimPrefix(old[at+len(line):], "\n"), nil
	})
}

// Journal says where the notes of days lie and how they begin.
type Journal struct {
	Folder   string // where they lie; "" is "journal", "." the vault itself
	Format   string // the name of a day's note with YYYY, MM, DD, M, D, YY, ddd, dddd and [text]; "" is "YYYY-MM-DD"
	Template string // the text of a new one, with {{date}}, {{title}} and {{time}}; "" is "# {{title}}\n\n"
}

// Path returns the path of a day's note in the vault.
func (j Journal) Path(date time.Time) (string, error) {
	format := cmp.Or(j.Format, "YYYY-MM-DD")
	name := formatDate(format, date)
	if strings.TrimSpace(name) == "" {
		return "", errFormat(format)
	}
	if folder := cmp.Or(j.Folder, "journal"); folder != "." {
		name = strings.Trim(folder, "/") + "/" + name
	}
	p, err := cleanNote(name)
	if err != nil {
		return "", errFormat(format)
	}
	return p, nil
}

// begun is what a day's note at p begins with. now is when it is made.
func (j Journal) begun(p string, date, now time.Time) string {
	return strings.NewReplacer(
		"{{date}}", date.Format(time.DateOnly),
		"{{title}}", stem(path.Base(p)),
		"{{time}}", now.In(date.Location()).Format("15:04"),
	).Replace(cmp.Or(j.Template, "# {{title}}\n\n"))
}

// JournalDay is how a day's note would be.
type JournalDay struct {
	Path  string `json:"path"`
	Text  string `json:"text"`  // that it begins with
	There bool   `json:"there"` // it was made already, and stays as it is
}

// PreviewJournal says how the note of a day would be with other settings. It fails
// where [Vault.PlanJournal] would.
func (v *Vault) PreviewJournal(ctx context.Context, j Journal, date time.Time) (JournalDay, error) {
	plan, p, err := v.planJournal(ctx, j, date, "")
	return JournalDay{Path: p, Text: j.begun(p, date, v.opt.Clock.Now()), There: err == nil && len(plan.Steps) == 0}, err
}

// JournalPath returns the path of a day's journal note.
func (v *Vault) JournalPath(date time.Time) (string, error) { return v.opt.Journal().Path(date) }

// PlanJournal plans to add a text to a day's journal note, which is made from the
// template when it is missing. The day is the one of date in its own zone. With
// an empty text the note is made, or the plan is empty.
func (v *Vault) PlanJournal(ctx context.Context, date time.Time, text string) (Plan, error) {
	plan, _, err := v.planJournal(ctx, v.opt.Journal(), date, text)
	return plan, err
}

func (v *Vault) planJournal(ctx context.Context, j Journal, date time.Time, text string) (Plan, string, error) {
	p, err := j.Path(date)
	if err != nil {
		return Plan{}, "", err
	}
	plan, err := v.edit(ctx, p, "", true, func(old string) (string, error) {
		if old == "" {
			old = j.begun(p, date, v.opt.Clock.Now())
		}
		if strings.TrimSpace(text) == "" {
			return old, nil
		}
		return appended(old, text), nil
	})
	return plan, p, err
}

// formatDate knows the letters that Obsidian's daily notes are named with. Text
// in [brackets] stands for itself.
func formatDate(format string, date time.Time) string {
	tokens := []struct{ from, to string }{
		{"YYYY", "2006"},
		{"YY", "06"},
		{"MMMM", "January"},
		{"MMM", "Jan"},
		{"MM", "01"},
		{"M", "1"},
		{"dddd", "Monday"},
		{"ddd", "Mon"},
		{"DD", "02"},
		{"D", "2"},
		{"HH", "15"},
		{"mm", "04"},
	}
	var b strings.Builder
next:
	for format != "" {
		if format[0] == '[' {
			if end := strings.IndexByte(format, ']'); end > 0 {
				b.WriteString(format[1:end])
				format = format[end+1:]
				continue
			}
		}
		for _, t := range tokens {
			if strings.HasPrefix(format, t.from) {
				b.WriteString(date.Format(t.to))
				format = format[len(t.from):]
				continue next
			}
		}
		b.WriteByte(format[0])
		format = format[1:]
	}
	return b.String()
}
