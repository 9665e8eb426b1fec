package kernel

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// marked is the text of a file with the marks of its secrets. file is absolute; by
// whichever of its names, it is the same file.
func (k *Kernel) marked(file, text string) *security.MarkedText {
	file = realPath(file)
	found := k.redact.Find(security.TextFormOf(file, text), text)
	if len(found) == 0 {
		return &security.MarkedText{File: file, Text: text}
	}
	return k.marks().Of(file, text, found)
}

// forGood masks what goes where nothing puts a secret back: into a memory, or to
// another agent.
func (k *Kernel) forGood(text string) string { return security.WithoutNumbers(k.masked(text)) }

// forOthers is what an agent says to another one. It is masked for good.
func (c *caller) forOthers(text string) string {
	if c.who.Kind != sys.KindAgent {
		return text
	}
	return c.k.forGood(text)
}

// openMarks opens the key of the marks, at the first file with a secret.
func (k *Kernel) openMarks() *security.Marks {
	m, err := security.OpenMarks(filepath.Join(k.opts.Home, "keys"), k.log)
	if err != nil {
		k.log.Warn("The key of the marks is not kept; after a restart files are read again", "error", err)
	}
	return m
}

// markedDiff is a change of a file as people and agents see it.
func markedDiff(name string, before, after *security.MarkedText) string {
	return unifiedDiff(name, before.Shown(), after.ShownAfter(before))
}

// maxShownMarks is how many marks are remembered; with more, files are read again.
const maxShownMarks = 50_000

// shownMarks remembers in which file a conversation saw a mark: the names alone,
// and only in memory.
type shownMarks struct {
	mu   sync.Mutex
	file map[[2]string]string // by conversation and mark
}

func (s *shownMarks) saw(place string, t *security.MarkedText) {
	marks := t.Marks()
	if place == "" || len(marks) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || len(s.file)+len(marks) > maxShownMarks {
		s.file = map[[2]string]string{}
	}
	for _, m := range marks[:min(len(marks), maxShownMarks)] {
		s.file[[2]string{place, m}] = t.File
	}
}

func (s *shownMarks) of(place, mark string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file[[2]string{place, mark}]
}

// lent is a secret of another file that a change puts into one.
type lent struct {
	name, file string
}

// lending finds the values of marks of other files that the conversation has read,
// for a change of a file. What it found is noted in out.
func (c *caller) lending(into *security.MarkedText, out *[]lent) func(mark string) (value, name string, ok bool) {
	return func(mark string) (value, name string, ok bool) {
		file := c.k.shown.of(c.scope.place(), mark)
		if file == "" || file == into.File {
			return "", "", false
		}
		p := c.place(file)
		if p.verdict.Read >= security.TierRefuse { // it was let be read, and is not any more
			return "", "", false
		}
		root, err := p.open()
		if err != nil {
			return "", "", false
		}
		defer root.Close()
		f, info, err := root.OpenRegular(p.rel)
		if err != nil || info.Size() > maxFile {
			return "", "", false
		}
		defer f.Close()
		raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		if err != nil {
			return "", "", false
		}
		text, _, err := decodeText(raw)
		if err != nil {
			return "", "", false
		}
		if value, name, ok = c.k.marked(p.abs, text).Value(mark); ok {
			if l := (lent{name, p.shown}); !slices.Contains(*out, l) {
				*out = append(*out, l)
			}
		}
		return value, name, ok
	}
}

// tellLent tells on a card which secrets go where: in its title, which nothing takes
// the place of.
func tellLent(r *security.Request, all []lent, into string) {
	if len(all) == 0 {
		return
	}
	var names, namesKO []string
	for _, l := range all {
		names = append(names, l.name+" of "+l.file)
		namesKO = append(namesKO, l.file+"의 "+l.name)
	}
	what, whatKO := sys.Shorten(strings.Join(names, ", "), 300), sys.Shorten(strings.Join(namesKO, ", "), 300)
	r.Title += ", with the secret " + what
	r.TitleKO += ". 비밀 값도 들어갑니다: " + whatKO
	if r.Why == "" {
		r.Why, r.WhyKO = because("puts the secret "+what+" into "+into), into+"에 비밀 값을 넣습니다: "+whatKO
	}
}

// unknownMark explains a mark that stands for nothing in a file.
func unknownMark(mark, file string) error {
	switch {
	case strings.HasPrefix(mark, "[redacted:"):
		return wouldBeLost(mark)
	case !security.WholeMark(mark):
		return sys.Errorf(sys.CodeInvalid, "%s is not a mark as it was shown. Nothing was written.", mark).
			WithHint("Write the mark as it stands in the file, with its brackets.")
	case !strings.Contains(mark, "#"):
		return sys.Errorf(sys.CodeInvalid, "%s has no number, so it stands for no value that could be written. Nothing was written.", mark).
			WithHint("Read the file that holds the secret, and write the mark that stands there.")
	}
	return sys.Errorf(sys.CodeConflict, "%s stands for no secret that %s holds now. Nothing was written.", mark, file).
		WithHint("Read the file again, and write the mark that stands there now.")
}

// wouldBeLost explains a mark that would take the place of a secret.
func wouldBeLost(mark string) error {
	return sys.Errorf(sys.CodeInvalid, "The new content has %s where the file holds a secret, which would be lost. Nothing was written.", mark).
		WithHint("Read the file again, and write the mark that stands there now.")
}

// uncovers explains a change that would show a secret.
func uncovers(name, file string) error {
	return sys.Errorf(sys.CodeRefused, "The secret %s would stand in %s where it is not masked any more. Nothing was written.", name, file).
		WithHint("Keep it under a name that says that it is a secret.")
}

// noMark refuses a mark of an agent where no value can be put in its place.
func (c *caller) noMark(text string) error {
	mark := security.MarkPattern().FindString(text)
	if mark == "" || c.who.Kind != sys.KindAgent {
		return nil
	}
	return sys.Errorf(sys.CodeInvalid, "%s stands for a secret, and only write, edit and notes put its value in its place. Nothing was done.", mark).
		WithHint("Have the program read the file that holds the secret, or leave the mark out.")
}

// sawMarks remembers the marks of a file that a call shows to an agent.
func (c *caller) sawMarks(t *security.MarkedText) {
	if c.who.Kind == sys.KindAgent {
		c.k.shown.saw(c.scope.place(), t)
	}
}
