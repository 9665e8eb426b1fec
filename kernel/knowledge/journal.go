package knowledge

import (
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

// JournalPath returns the path of a day's journal note.
func (v *Vault) JournalPath(date time.Time) (string, error) {
	name := formatDate(v.opt.JournalFormat, date)
	if strings.TrimSpace(name) == "" {
		return "", errFormat(v.opt.JournalFormat)
	}
	if v.opt.JournalFolder != "." {
		name = strings.Trim(v.opt.JournalFolder, "/") + "/" + name
	}
	p, err := cleanNote(name)
	if err != nil {
		return "", errFormat(v.opt.JournalFormat)
	}
	return p, nil
}

// PlanJournal plans to add a text to a day's journal note, which is made from the
// template when it is missing. The day is the one of date in its own zone. With
// an empty text the note is made, or the plan is empty.
func (v *Vault) PlanJournal(ctx context.Context, date time.Time, text string) (Plan, error) {
	p, err := v.JournalPath(date)
	if err != nil {
		return Plan{}, err
	}
	return v.edit(ctx, p, "", true, func(old string) (string, error) {
		if old == "" {
			old = strings.NewReplacer(
				"{{date}}", date.Format(time.DateOnly),
				"{{title}}", stem(path.Base(p)),
				"{{time}}", v.opt.Clock.Now().In(date.Location()).Format("15:04"),
			).Replace(v.opt.Template)
		}
		if strings.TrimSpace(text) == "" {
			return old, nil
		}
		return appended(old, text), nil
	})
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
