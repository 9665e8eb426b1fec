package security

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"oxios/kernel/sys"
)

// Marks show secrets of files as [secret:NAME#n-TAG] and put them back. Nothing of
// a secret is kept: TAG tells by a key whether NAME and n still mean the value that
// was shown.
type Marks struct {
	key []byte
}

// NewMarks returns marks that are made with key.
func NewMarks(key []byte) *Marks { return &Marks{key: key} }

// markKeyFile is where the key lies, below keys/.
const markKeyFile = "marks.key"

// OpenMarks returns marks with the key in the folder of keys. It is made when there
// is none; one that is damaged is made anew, as all that hangs on it is that files
// are read again. There are marks also with an error, for as long as they are used.
func OpenMarks(dir string, log *slog.Logger) (*Marks, error) {
	folder, path := keyFolder{dir: dir, log: log}, filepath.Join(dir, markKeyFile)
	data, err := folder.read(path)
	if key, err := hex.DecodeString(strings.TrimSpace(string(data))); err == nil && len(key) == sha256.Size {
		return NewMarks(key), nil
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return NewMarks(key), err
	}
	return NewMarks(key), folder.write(path, []byte(hex.EncodeToString(key)+"\n"))
}

// MarkedText is a text of a file with what is masked in it.
type MarkedText struct {
	File    string
	Text    string
	Secrets []Secret
	marks   []string
}

// Of makes the marks of a file: of all its secrets, in the order of its text, so
// that each has the same number whichever part of the file is shown.
func (m *Marks) Of(file, text string, found []Secret) *MarkedText {
	t := &MarkedText{File: file, Text: text, Secrets: found, marks: make([]string, len(found))}
	own := strings.Contains(text, redMark)
	for i, f := range found {
		// A text of the file that happens to be the mark stays what it is: the mark gets another tag.
		for salt := 0; ; salt++ {
			mark := redMark + f.Name + "#" + strconv.Itoa(i+1) + "-" + m.tag(file, f.Name, i+1, salt, text[f.From:f.To]) + "]"
			if !own || !strings.Contains(text, mark) {
				t.marks[i] = mark
				break
			}
		}
	}
	return t
}

func (m *Marks) tag(file, name string, n, salt int, value string) string {
	value = strings.ReplaceAll(value, "\r\n", "\n") // some readers see one, some the other
	mac := hmac.New(sha256.New, m.key)
	fmt.Fprintf(mac, "%d:%s%d:%s%d:%d:%s", len(file), file, len(name), name, n, salt, value)
	sum := mac.Sum(nil)
	tag := make([]byte, 4)
	for i := range tag {
		tag[i] = 'a' + (sum[2*i]^sum[2*i+1])%26
	}
	return string(tag)
}

// Marks are the marks of the file, in the order of its text.
func (t *MarkedText) Marks() []string { return t.marks }

// Shown is the text as an agent sees it.
func (t *MarkedText) Shown() string {
	return replaceSecrets(t.Text, t.Secrets, func(i int) string { return t.marks[i] })
}

// ShownAfter is Shown for the text that a change of before makes: a value that was
// there keeps its mark, so that the two can be compared.
func (t *MarkedText) ShownAfter(before *MarkedText) string {
	type secret struct{ name, value string }
	left := map[secret][]string{}
	for i, f := range before.Secrets {
		s := secret{f.Name, before.Text[f.From:f.To]}
		left[s] = append(left[s], before.marks[i])
	}
	return replaceSecrets(t.Text, t.Secrets, func(i int) string {
		f := t.Secrets[i]
		s := secret{f.Name, t.Text[f.From:f.To]}
		if marks := left[s]; len(marks) > 0 {
			left[s] = marks[1:]
			return marks[0]
		}
		return t.marks[i]
	})
}

// Value returns what a mark of the file stands for, and its name.
func (t *MarkedText) Value(mark string) (value, name string, ok bool) {
	for i, m := range t.marks {
		if m == mark {
			f := t.Secrets[i]
			return t.Text[f.From:f.To], f.Name, true
		}
	}
	return "", "", false
}

// Hides reports whether a mark, also one without a number or of an earlier version,
// may stand in the place of a secret of the file.
func (t *MarkedText) Hides(mark string) bool {
	if _, _, ok := t.Value(mark); ok {
		return true
	}
	if strings.HasPrefix(mark, oldMark) {
		return len(t.Secrets) > 0
	}
	for _, f := range t.Secrets {
		if mark == redMark+f.Name+"]" {
			return true
		}
	}
	return false
}

// Cuts reports whether a part of the text begins or ends within a secret.
func (t *MarkedText) Cuts(from, to int) bool {
	i := sort.Search(len(t.Secrets), func(i int) bool { return t.Secrets[i].To > from })
	for ; i < len(t.Secrets) && t.Secrets[i].From < to; i++ {
		if f := t.Secrets[i]; f.From < from || to < f.To {
			return true
		}
	}
	return false
}

// Line is the line in which a place of the text is shown: a secret of several lines
// is one mark.
func (t *MarkedText) Line(at int) int {
	line := 1 + strings.Count(t.Text[:at], "\n")
	for _, f := range t.Secrets {
		if f.From >= at {
			break
		}
		line -= strings.Count(t.Text[f.From:min(f.To, at)], "\n")
	}
	return line
}

// Places are where a text with values in the place of marks stands in the file. A
// mark means its own secret, not another one that is equal. A place that begins or
// ends within a secret counts for nothing: what is masked could be guessed by it.
func (t *MarkedText) Places(r Restored) (places []int) {
	for at := 0; ; {
		i := strings.Index(t.Text[at:], r.Text)
		if i < 0 {
			return places
		}
		if at += i; t.Cuts(at, at+len(r.Text)) || !t.means(r, at) {
			at++
			continue
		}
		places = append(places, at)
		at += len(r.Text)
	}
}

// means reports whether each mark of a text that stands at a place of the file is
// that of the secret there.
func (t *MarkedText) means(r Restored, at int) bool {
	for n, p := range r.Put {
		i := sort.Search(len(t.Secrets), func(i int) bool { return t.Secrets[i].From >= at+p.From })
		if i == len(t.Secrets) || t.Secrets[i].From != at+p.From || t.marks[i] != r.marks[n] {
			return false
		}
	}
	return true
}

// Within are the secrets that stand in a part of the text, moved by a number of
// bytes.
func (t *MarkedText) Within(from, to, by int) (out []Secret) {
	i := sort.Search(len(t.Secrets), func(i int) bool { return t.Secrets[i].From >= from })
	for ; i < len(t.Secrets) && t.Secrets[i].To <= to; i++ {
		f := t.Secrets[i]
		out = append(out, Secret{f.From + by, f.To + by, f.Name})
	}
	return out
}

// Uncovered returns the name of the first of some parts of the text that is not
// masked in it, or "".
func (t *MarkedText) Uncovered(parts []Secret) string {
	for _, p := range parts {
		i := sort.Search(len(t.Secrets), func(i int) bool { return t.Secrets[i].To >= p.To })
		if p.From < p.To && (i == len(t.Secrets) || t.Secrets[i].From > p.From) {
			return p.Name
		}
	}
	return ""
}

// MarkPattern is what stands in place of a secret, or did in earlier versions.
var MarkPattern = sys.Pattern(`\[(?:secret:[^\]\s\["'=]{1,90}|redacted:(?:password|secret|key|token|cookie|private-key|known))\]`)

// bentMark is what a slip makes of a mark, so that a value would be lost with it.
var bentMark = sys.Pattern(`(?i)(?:\[\s?)?secret\s?:\s?[^\]\s\["'=#]{1,80}\s?#\s?[0-9]+\s?-\s?[a-z]{4}`)

// WholeMark reports whether a text is a mark as marks are written.
func WholeMark(s string) bool {
	at := MarkPattern().FindStringIndex(s)
	return at != nil && at[0] == 0 && at[1] == len(s)
}

// numberedMark is a mark of a file.
var numberedMark = sys.Pattern(`\[(secret:[^\]\s\["'=]{1,80})#[0-9]+-[a-z]{4}\]`)

// WithoutNumbers makes marks of files such as stand for nothing that could be put
// back.
func WithoutNumbers(s string) string {
	if !strings.Contains(s, redMark) {
		return s
	}
	return numberedMark().ReplaceAllString(s, "[$1]")
}

// Restored is a text that an agent wrote, with values in the place of marks.
type Restored struct {
	Text string
	Put  []Secret // where values were put
	Bad  string   // the first mark that stands for nothing; "" when there is none

	marks []string // of the values
}

// Restore puts values in the place of the marks of a text. other finds the value of
// a mark that is none of this file's. A mark that the file has as a text of its own
// stays.
func (t *MarkedText) Restore(text string, other func(mark string) (value, name string, ok bool)) (r Restored) {
	if r.Bad = t.bent(text); !strings.Contains(text, redMark) && !strings.Contains(text, oldMark) {
		r.Text = text
		return r
	}
	var out strings.Builder
	end := 0
	for _, at := range MarkPattern().FindAllStringIndex(text, -1) {
		mark := text[at[0]:at[1]]
		value, name, ok := t.Value(mark)
		if !ok && strings.Contains(t.Text, mark) {
			continue
		}
		if !ok && other != nil {
			value, name, ok = other(mark)
		}
		if !ok {
			if r.Bad == "" {
				r.Bad = mark
			}
			continue
		}
		out.WriteString(text[end:at[0]])
		from := out.Len()
		out.WriteString(value)
		r.Put, r.marks = append(r.Put, Secret{from, out.Len(), name}), append(r.marks, mark)
		end = at[1]
	}
	out.WriteString(text[end:])
	r.Text = out.String()
	return r
}

// bent returns the first bent mark of a text, unless the file has it as a text of its
// own.
func (t *MarkedText) bent(text string) string {
	if !strings.Contains(text, "#") || !strings.Contains(text, "ecret") && !strings.Contains(text, "ECRET") {
		return "" // as nearly all texts, and much faster
	}
	for _, at := range bentMark().FindAllStringIndex(text, -1) {
		whole := at[1] < len(text) && text[at[1]] == ']' && WholeMark(text[at[0]:at[1]+1])
		if found := text[at[0]:at[1]]; !whole && !strings.Contains(t.Text, found) {
			return found
		}
	}
	return ""
}

// markLength is the length of the mark that s begins with, or 0.
func markLength(s string) int {
	if !strings.HasPrefix(s, redMark) && !strings.HasPrefix(s, oldMark) {
		return 0
	}
	const longest = 120
	for i := 1; i < len(s) && i < longest; i++ {
		switch c := s[i]; {
		case c == ']':
			return i + 1
		case c <= ' ' || c == '[' || c == '=' || c == '"' || c == '\'':
			return 0
		}
	}
	return 0
}
