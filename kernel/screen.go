package kernel

import (
	"strconv"
	"strings"
)

// asShown is a text as a terminal shows it in the end: what a program drew over,
// as a progress bar does a thousand times, is gone. Texts that draw over nothing
// stay byte for byte.
func asShown(text string) string {
	if !drawsOver(text) {
		return text
	}
	s := screen{rows: [][]rune{nil}}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '\n':
			s.down()
		case '\r':
			s.col = 0
		case '\b':
			s.col = max(0, s.col-1)
		case 0x1b:
			i = s.escape(runes, i)
		default:
			s.put(r)
		}
	}
	lines := make([]string, len(s.rows))
	for i, row := range s.rows {
		lines[i] = strings.TrimRight(string(row), " ")
	}
	return strings.Join(lines, "\n")
}

// drawsOver reports whether a text goes back over what it wrote. The end of a
// line of Windows does not.
func drawsOver(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\b':
			return true
		case '\r':
			if i+1 < len(text) && text[i+1] != '\n' {
				return true
			}
		case 0x1b:
			if _, final, _ := sequence([]rune(text[i:min(len(text), i+maxSequence)]), 0); strings.ContainsRune("ABDEFGHJKf", final) {
				return true
			}
		}
	}
	return false
}

// screen is a terminal without an end to its right and below.
type screen struct {
	rows     [][]rune
	row, col int
}

// maxCells bounds how far to the right a program may move without writing.
const maxCells = 1 << 12

func (s *screen) down() {
	s.row, s.col = s.row+1, 0
	if s.row == len(s.rows) {
		s.rows = append(s.rows, nil)
	}
}

func (s *screen) put(r rune) {
	line := s.rows[s.row]
	for len(line) < s.col {
		line = append(line, ' ')
	}
	if s.col == len(line) {
		line = append(line, r)
	} else {
		line[s.col] = r
	}
	s.rows[s.row] = line
	s.col++
}

// maxSequence is how long a sequence of signs for a terminal may be.
const maxSequence = 64

// sequence reads the CSI sequence that begins at i: its first number, -1 without
// one, its last sign, and where that is. Its last sign is 0 for what is none.
func sequence(text []rune, i int) (number int, final rune, end int) {
	if i+1 >= len(text) || text[i] != 0x1b || text[i+1] != '[' {
		return -1, 0, i
	}
	number = -1
	for end = i + 2; end < len(text) && end < i+maxSequence; end++ {
		if r := text[end]; r >= 0x40 && r <= 0x7e {
			first, _, _ := strings.Cut(string(text[i+2:end]), ";")
			if n, err := strconv.Atoi(first); err == nil && n >= 0 {
				number = n
			}
			return number, r, end
		}
	}
	return -1, 0, i
}

// escape does what the sequence at i says, and returns where it ends. One that
// moves nothing, as a colour, is dropped; what is none of CSI stays for those
// who take signs out.
func (s *screen) escape(text []rune, i int) int {
	n, final, end := sequence(text, i)
	by := max(n, 1)
	switch final {
	case 'A', 'F':
		s.row = max(0, s.row-by)
	case 'B', 'E':
		s.row = min(len(s.rows)-1, s.row+by)
	case 'C':
		s.col = min(maxCells, s.col+by)
	case 'D':
		s.col = max(0, s.col-by)
	case 'G':
		s.col = min(maxCells, by-1)
	case 'H', 'f': // a new picture of the whole screen
		s.rows, s.row, s.col = [][]rune{nil}, 0, 0
	case 'J':
		if n >= 2 {
			s.rows, s.row, s.col = [][]rune{nil}, 0, 0
			break
		}
		s.erase(n)
		if n <= 0 {
			s.rows = s.rows[:s.row+1]
		}
	case 'K':
		s.erase(n)
	case 0:
		s.put(0x1b)
		return i
	}
	if final == 'E' || final == 'F' {
		s.col = 0
	}
	return end
}

// erase takes away what is right of the cursor, left of it (1), or all (2).
func (s *screen) erase(n int) {
	line := s.rows[s.row]
	switch {
	case n <= 0:
		s.rows[s.row] = line[:min(s.col, len(line))]
	case n == 1:
		for i := range min(s.col+1, len(line)) {
			line[i] = ' '
		}
	default:
		s.rows[s.row] = nil
	}
}
