package security

import (
	"strings"
)

// findShape finds keys without a prefix that their shape gives away: the run of
// signs of names in s[from:end]. It returns where to read on.
func findShape(s string, from, end int, spans []redSpan) (_ []redSpan, next int) {
	run := s[from:end]
	if end < len(s) && s[end] == ':' { // Telegram: a number, a colon and 35 signs
		if n := telegramEnd(s, from, end); n > 0 {
			digits := end
			for digits > from && s[digits-1] >= '0' && s[digits-1] <= '9' {
				digits--
			}
			return append(spans, redSpan{digits, n, "telegram-token", false}), n
		}
	}
	if len(run) < 30 || len(run) > 300 {
		return spans, end
	}
	switch {
	case strings.Count(run, ".") == 2 && isDiscord(run):
		return append(spans, redSpan{from, end, "discord-token", false}), end
	case (len(run) == 51 && run[0] == '5' || len(run) == 52 && (run[0] == 'K' || run[0] == 'L' || run[0] == 'c')) && isBase58(run):
		return append(spans, redSpan{from, end, "wallet-key", false}), end
	case len(run) == 52 && isBase32Low(run), len(run) == 84 && run[76:80] == "AZDO":
		return append(spans, redSpan{from, end, "azure-token", false}), end
	case len(run) == 50 && run[32] == '-' && run[41] == '-' && isHex(run[:32]) && isHex(run[33:41]) && isHex(run[42:]) && variety(run) > 8:
		return append(spans, redSpan{from, end, "mailgun-key", false}), end
	case end < len(s) && s[end] == '~' && strings.HasSuffix(run, "Q"), end < len(s) && s[end] == '~' && strings.Contains(s[end:min(len(s), end+6)], "Q~"):
		return azureSecret(s, from, end, spans)
	}
	return spans, end
}

// azureSecret finds the secret of an application of Azure, which has Q~ in it.
func azureSecret(s string, from, end int, spans []redSpan) ([]redSpan, int) {
	to := end
	for to < len(s) && (nameBytes[s[to]] || s[to] == '~') && s[to] < 0x80 {
		to++
	}
	if q := strings.Index(s[from:to], "Q~"); q >= 3 && to-from-q >= 30 && to-from <= 60 {
		return append(spans, redSpan{from, to, "azure-secret", false}), to
	}
	return spans, end
}

func telegramEnd(s string, from, colon int) int {
	digits := 0
	for digits < colon-from && s[colon-1-digits] >= '0' && s[colon-1-digits] <= '9' {
		digits++
	}
	if digits < 8 || digits > 10 {
		return 0
	}
	if before := s[from : colon-digits]; before != "" && !strings.HasSuffix(before, "bot") {
		return 0
	}
	end := colon + 1
	for end < len(s) && isTokenByte(s[end]) {
		end++
	}
	if body := s[colon+1 : end]; len(body) != 35 || isFiller(body) || variety(body) < 10 || isHex(body) {
		return 0
	}
	return end
}

// isDiscord holds the form of the token of a bot: its number in base64, a time and
// a signature.
func isDiscord(s string) bool {
	id, rest, _ := strings.Cut(s, ".")
	time, sign, _ := strings.Cut(rest, ".")
	if len(id) < 23 || len(id) > 28 || strings.IndexByte("MNOmno", id[0]) < 0 || len(time) != 6 || len(sign) < 27 || len(sign) > 40 {
		return false
	}
	return strings.ToLower(id) != id && strings.ToLower(sign) != sign && variety(sign) > 10
}

func isBase58(s string) bool {
	digit, lower, upper := false, false, false
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '0' || c == 'O' || c == 'I' || c == 'l' || c >= 0x80 || c == '_' || c == '-' || c == '.':
			return false
		case c <= '9':
			digit = true
		case c >= 'a':
			lower = true
		default:
			upper = true
		}
	}
	return digit && lower && upper && variety(s) > 15
}

func isBase32Low(s string) bool {
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '2' && c <= '7':
			digits++
		case c < 'a' || c > 'z':
			return false
		}
	}
	return digits >= 4 && variety(s) > 12
}

type redOption struct {
	program, option string
	attached        bool // the value follows without a blank
	apart           bool // or after one
}

// redOptions are options of programs that take a password and whose names do not
// say so.
var redOptions = []redOption{
	{"mysql", "-p", true, false},
	{"mysqldump", "-p", true, false},
	{"mysqladmin", "-p", true, false},
	{"mariadb", "-p", true, false},
	{"mysqlimport", "-p", true, false},
	{"sshpass", "-p", true, true},
	{"redis-cli", "-a", false, true},
	{"mongo", "-p", false, true},
	{"mongosh", "-p", false, true},
	{"mongodump", "-p", false, true},
	{"docker login", "-p", false, true},
	{"podman login", "-p", false, true},
	{"zip", "-P", true, true},
	{"unzip", "-P", true, true},
	{"7z", "-p", true, false},
	{"ldapsearch", "-w", false, true},
	{"ldapadd", "-w", false, true},
	{"sqlcmd", "-P", true, true},
	{"az login", "-p", false, true},
	{"plink", "-pw", false, true},
	{"pscp", "-pw", false, true},
	{"ipmitool", "-P", false, true},
	{"mosquito_pub", "-P", false, true},
	{"mosquito_sub", "-P", false, true},
	{"cqlsh", "-p", false, true},
	{"influx", "-password", false, true},
	{"snmpwalk", "-A", false, true},
}

// findOptions finds passwords in command lines that stand behind an option of a
// known program.
func findOptions(s string, spans []redSpan) []redSpan {
	for i := range redOptions {
		o := &redOptions[i]
		for at := 0; ; {
			n := strings.Index(s[at:], o.program)
			if n < 0 {
				break
			}
			from := at + n
			at = from + len(o.program)
			if from > 0 && (isTokenByte(s[from-1]) || s[from-1] == '.') || at >= len(s) || s[at] != ' ' && s[at] != '.' {
				continue
			}
			line := s[at:min(lineEnd(s, at), at+500)]
			if j := strings.IndexAny(line, "|;"); j >= 0 {
				line = line[:j]
			}
			spans = o.values(line, at, spans)
		}
	}
	return spans
}

func (o *redOption) values(line string, at int, spans []redSpan) []redSpan {
	for p := 0; ; {
		n := strings.Index(line[p:], " "+o.option)
		if n < 0 {
			return spans
		}
		v := p + n + 1 + len(o.option)
		p = v
		if v < len(line) && line[v] == ' ' {
			if !o.apart {
				continue
			}
			v = skipBlanks(line, v)
		} else if !o.attached {
			continue
		}
		quote := v < len(line) && (line[v] == '"' || line[v] == '\'')
		to := v
		if quote {
			v++
			to = v + max(0, strings.IndexByte(line[v:], line[v-1]))
		} else {
			for to < len(line) && line[to] > ' ' {
				to++
			}
		}
		if value := line[v:to]; len(value) >= 4 && value[0] != '-' && !isPlaceholder(value) && !isPath(value) {
			spans = append(spans, redSpan{at + v, at + to, "password", false})
		}
	}
}

// findPutty finds the private lines of a key of PuTTY.
func findPutty(s string, spans []redSpan) []redSpan {
	const open = "Private-Lines: "
	for at := 0; ; {
		i := strings.Index(s[at:], open)
		if i < 0 {
			return spans
		}
		from := lineEnd(s, at+i) + 1
		at += i + len(open)
		if from >= len(s) {
			return spans
		}
		to := from
		for to < len(s) {
			end := lineEnd(s, to)
			line := strings.TrimRight(s[to:end], "\r")
			if line == "" || strings.Contains(line, ": ") || keyLines(line) < len(line) {
				break
			}
			to = min(len(s), end+1)
		}
		if countKeyBytes(s[from:to]) >= 40 {
			spans = append(spans, redSpan{from, len(strings.TrimRight(s[:to], "\r\n")), "private-key", false})
		}
	}
}

// findSeeds finds lines that are nothing but the words of a wallet.
func findSeeds(s string, spans []redSpan) []redSpan {
	for i := 0; i < len(s); {
		end := lineEnd(s, i)
		line := s[i:end]
		if len(line) >= 12*4-1 && len(line) < 24*9+40 {
			text := strings.Trim(line, " \t\r\"'`,")
			if len(text) >= 12*4-1 && text[0] >= 'a' && text[0] <= 'z' && text[len(text)-1] >= 'a' && isSeedPhrase(text, false) {
				from := i + strings.Index(line, text)
				spans = append(spans, redSpan{from, from + len(text), "seed-phrase", false})
			}
		}
		i = end + 1
	}
	return spans
}
