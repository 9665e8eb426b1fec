package kernel

import (
	"strings"

	"oxios/kernel/sys"
)

// closedMarkdown returns a message for a document of several: what it leaves open
// to its end, a block of code or of HTML, is closed, so that it does not swallow
// what follows.
func closedMarkdown(text string) string {
	text = strings.TrimRight(strings.TrimLeft(text, "\r\n"), " \t\r\n")
	var until string // closes the block that is open; "" for none
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		rest := strings.TrimLeft(line, " ")
		indent := len(line) - len(rest)
		switch {
		case isFence(until):
			if indent < 4 && len(rest) > 0 && rest[0] == until[0] {
				if mark := fenceOf(rest); len(mark) >= len(until) && strings.TrimSpace(rest[len(mark):]) == "" {
					until = ""
				}
			}
		case until != "":
			if strings.Contains(strings.ToLower(line), until) {
				until = ""
			}
		case indent < 4:
			until = opens(rest)
		}
	}
	switch {
	case until == "":
		return text
	case isFence(until):
		return text + "\n" + until
	}
	return text + until
}

func isFence(s string) bool { return strings.HasPrefix(s, "```") || strings.HasPrefix(s, "~~~") }

// fenceOf returns the marks of a fence at the beginning of a line.
func fenceOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
}

// opens returns what closes the block that a line opens beyond its own end.
func opens(line string) string {
	if isFence(line) {
		mark := fenceOf(line)
		if mark[0] == '`' && strings.Contains(line[len(mark):], "`") {
			return "" // code within a line
		}
		return mark
	}
	low := strings.ToLower(line)
	for _, block := range [][2]string{{"<!--", "-->"}, {"<?", "?>"}, {"<![cdata[", "]]>"}} {
		if rest, ok := strings.CutPrefix(low, block[0]); ok && !strings.Contains(rest, block[1]) {
			return block[1]
		}
	}
	if m := htmlBlock().FindStringSubmatch(low); m != nil && !strings.Contains(low, "</"+m[1]+">") {
		return "</" + m[1] + ">"
	}
	return ""
}

// htmlBlock finds the elements that end at their own end alone, whatever lies
// between.
var htmlBlock = sys.Pattern(`^<(script|pre|style|textarea)(?:[\s>]|$)`)
