package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// printf writes a line of the answer.
func (c *console) printf(format string, args ...any) {
	fmt.Fprintf(c.out, format+"\n", args...)
}

// note writes a line that is not the answer.
func (c *console) note(format string, args ...any) {
	fmt.Fprintf(c.err, format+"\n", args...)
}

// explain tells a failure: what happened, then what to do.
func (c *console) explain(e *sys.Error) {
	message, hint := e.In(c.lang == korean)
	c.note("%s", safe(message))
	if hint != "" {
		c.note("%s", safe(hint))
	}
}

// fail makes an error in the person's language.
func (c *console) fail(code sys.Code, message, hint string) error {
	return &sys.Error{Code: code, Message: message, Hint: hint}
}

// writeJSON writes v as one document on one line.
func (c *console) writeJSON(v any) error {
	raw, err := remote.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s\n", oneJSONLine(raw))
	return err
}

// oneJSONLine escapes in a document what some programs take for the end of a
// line, though JSON does not.
func oneJSONLine(raw []byte) []byte {
	for char, escape := range map[string]string{"\u0085": `\u0085`, "\u2028": `\u2028`, "\u2029": `\u2029`} {
		raw = bytes.ReplaceAll(raw, []byte(char), []byte(escape))
	}
	return raw
}

// list writes items: with --json as one array, else as a table of rows. empty
// is said when there is none.
func list[T any](c *console, items []T, empty string, head []string, row func(T) []string) error {
	if c.json {
		return c.writeJSON(items)
	}
	if len(items) == 0 {
		c.note("%s", empty)
		return nil
	}
	rows := [][]string{head}
	for _, item := range items {
		rows = append(rows, row(item))
	}
	return table(c.out, rows)
}

// table writes rows in columns. Korean letters are two columns wide.
func table(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = oneLine(cell)
			widths[i] = max(widths[i], columns(row[i]))
		}
	}
	b := bufio.NewWriter(w)
	for _, row := range rows {
		for i, cell := range row {
			if i < len(row)-1 {
				cell += strings.Repeat(" ", widths[i]-columns(cell)+2)
			}
			if _, err := b.WriteString(cell); err != nil {
				return err
			}
		}
		if err := b.WriteByte('\n'); err != nil {
			return err
		}
	}
	return b.Flush()
}

func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case width.LookupRune(r).Kind() == width.EastAsianWide, width.LookupRune(r).Kind() == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// oneLine is s without line breaks, and safe to show.
func oneLine(s string) string { return safe(strings.Join(strings.Fields(s), " ")) }

// short is s on one line of at most n columns.
func short(s string, n int) string {
	s = oneLine(s)
	if columns(s) <= n {
		return s
	}
	var b strings.Builder
	used := 0
	for _, r := range s {
		if used += columns(string(r)); used >= n {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

// safe is s with everything visible: what an agent or a model wrote may hold
// sequences that move the cursor, or letters that reverse what is read.
func safe(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%04x}`, r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r == 0x200d: // joins emoji
		return false
	}
	return unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029
}

// indented is s with each line moved in.
func indented(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(safe(s), "\n"), "\n", "\n"+by)
}

// tail is the end of an id: ids begin with their time, so that neighbours
// differ at the end alone.
func tail(id string) string {
	if len(id) <= 12 {
		return id
	}
	return id[len(id)-12:]
}

// ago is how long ago at was, in one unit.
func ago(at time.Time) string { return span(time.Since(at)) }

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// price is what something cost. An unknown price is never 0.
func (c *console) price(cost kernel.Cost) string {
	switch {
	case cost.Calls == 0:
		return "-"
	case cost.Free:
		return c.t("free", "무료")
	case cost.Unknown && cost.USD == 0:
		return c.t("unknown", "알 수 없음")
	case cost.Unknown:
		return fmt.Sprintf("≥ $%.4f", cost.USD)
	}
	return fmt.Sprintf("$%.4f", cost.USD)
}

// find returns the one item whose id is name, or begins or ends with it; the
// command list shows them.
func find[T any](c *console, what, list, name string, items []T, id func(T) string) (T, error) {
	var found []T
	for _, item := range items {
		if id(item) == name {
			return item, nil
		}
		if len(name) >= 4 && (strings.HasPrefix(id(item), name) || strings.HasPrefix(tail(id(item)), name) || strings.HasSuffix(id(item), name)) {
			found = append(found, item)
		}
	}
	var none T
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return none, c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q fits %d of them.", "%q에 맞는 것이 %d개입니다."), name, len(found)),
			c.t("Give more of the id.", "ID를 더 길게 적어 주세요."))
	}
	hint := fmt.Sprintf(c.t("`%s` lists them.", "`%s`로 목록을 보세요."), list)
	if len(name) < 4 {
		hint += c.t(" Give the whole id, or at least 4 characters of its beginning or end.", " ID 전체, 또는 앞이나 뒤 4자 이상을 적어 주세요.")
	}
	return none, c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("There is no %s %q.", "%s %q이(가) 없습니다."), what, name), hint)
}
