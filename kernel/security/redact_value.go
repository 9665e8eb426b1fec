package security

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"

	"oxios/kernel/sys"
)

// redHow says how a value is written.
type redHow struct {
	quoted bool // in quotes
	direct bool // name=value without a blank
	spaced bool // after a blank alone, as options are
	line   bool // the name begins its line, and the value ends it
}

// noValues are what stands where a secret would, and says that there is none, or
// of what type it is.
var noValues = strings.Fields(`string str int bool boolean true false null nil none undefined required optional any object text number password secret token
	yes no on off read write value basic bearer oauth oauth2 digest default empty unset disabled enabled varchar char bytes interface`)

// isSecretValue reports whether a value that is given to a name of a secret is
// one.
func isSecretValue(form TextForm, n redName, name, value string, how redHow) bool {
	if form != TextSettings {
		value = strings.TrimRight(value, ".")
	}
	low := strings.ToLower(value)
	if len(value) < 4 || isPlaceholder(value) || slices.Contains(noValues, low) || isReferenceTo(value, low) || isPath(value) {
		return false
	}
	if n.counts && isNumber(value) || isVersion(value) || !strings.ContainsFunc(value, isLetterOrDigit) {
		return false
	}
	if n.class == nameSeed {
		return isSeedPhrase(value, true) || len(value) >= 32 && isHex(value)
	}
	switch form {
	case TextSource:
		return how.quoted && isSecretLiteral(n, name, value)
	case TextSettings:
		if n.class == nameWeak {
			return len(value) >= 16 && looksRandom(value)
		}
		return low != strings.ToLower(name) // "password": "Password" is a label
	}
	if isHeader(name) && !how.spaced {
		return true
	}
	return isSecretInText(n, name, value, low, how)
}

// isHeader reports whether a name is one of an HTTP header, whose every value counts, in
// whatever text it stands.
func isHeader(name string) bool {
	low := strings.ToLower(name)
	return strings.HasPrefix(low, "x-") || slices.Contains(secretHeaders, low)
}

var secretHeaders = []string{"api-key", "private-token", "job-token", "deploy-token", "auth-token", "access-token", "csrf-token", "ocp-apim-subscription-key", "dd-api-key", "dd-application-key", "circle-token"}

// isSecretLiteral judges what a program has in quotes: it has to be long and
// random enough, or a phrase.
func isSecretLiteral(n redName, name, value string) bool {
	if strings.Contains(value, " ") {
		return n.class == namePassword && isPassPhrase(name, value)
	}
	if strings.ContainsAny(value, "\t\n\\{}<>") || !looksRandom(value) || isSuchName(value) || isHexData(value) {
		return false
	}
	if n.class == namePassword {
		return len(value) >= 8 && variety(value) >= 6 && classes(value) >= 3 && !isWords(value)
	}
	return len(value) >= 16 && variety(value) >= 8 && longestMixed(value) >= 10 && !isWords(value)
}

// isSecretInText judges a value of which it is not known whether it stands in a
// program or among settings.
func isSecretInText(n redName, name, value, low string, how redHow) bool {
	digits := strings.ContainsAny(value, "0123456789")
	if strings.ContainsAny(value, " \t\n") {
		switch {
		case how.quoted && how.direct && how.line && strings.ToUpper(name) == name && !strings.ContainsAny(value, "\n$`"):
			return true // the way of shells
		case n.class != namePassword || strings.Contains(value, "\n"):
			return false
		case how.quoted:
			return !strings.Contains(value, "  ") && (strings.Count(value, " ") <= 3 || isPassPhrase(name, value))
		}
		return how.line && isPassPhrase(name, value)
	}
	if isHexNumber(value) || !how.quoted && isCall(value) || how.quoted && hasEscapes(value) || isNameAndNumber(value, name) {
		return false
	}
	env := how.direct && strings.ToUpper(name) == name && how.line // the way of .env files
	if !how.quoted && !digits && !env && (isReference(value) || strings.Contains(value, "(")) {
		return false
	}
	if !how.quoted && strings.HasSuffix(value, "(") {
		return false
	}
	if n.class == namePassword {
		switch {
		case strings.Contains(low, "password") && !digits:
			return false
		case how.quoted:
			return len(value) >= 6 || digits
		}
		return digits || how.spaced || strings.ContainsAny(value, "!@#$%^*") || how.direct && len(value) >= 6
	}
	least := 10
	if how.quoted || how.spaced || how.direct {
		least = 8
	}
	if n.class == nameWeak {
		return false
	}
	if number, rest, ok := strings.Cut(value, ":"); ok && strings.Contains(strings.ToLower(name), "telegram") && strings.Trim(number, "0123456789") == "" && len(rest) != 35 {
		return false // the form of Telegram's tokens, but not one
	}
	return env && n.class == nameToken && !isWords(value) || len(value) >= least && looksRandom(value)
}

// isReferenceTo reports whether a value says where the secret is kept.
func isReferenceTo(value, low string) bool {
	for _, p := range []string{"vault:", "env:", "op://", "arn:", "ref+", "secretref:", "projects/", "file:", "process.env", "os.environ", "secrets.", "ssm:", "keyring:", "sops:", "!", "awssm:", "gcp:", "azurekeyvault:", "@microsoft.keyvault"} {
		if strings.HasPrefix(low, p) && (p != "!" || len(value) > 1 && strings.ContainsAny(value, " ")) {
			return true
		}
	}
	return strings.Contains(value, "://") // an address; a password in it is found as such
}

var version = sys.Pattern(`^(?:[~^=<>v]+ ?\d+(?:\.[\dx*]+)*|\d+(?:\.\d+){2})(?:[-+][\w.+-]+)?(?: (?:\|\| |- )?[~^=<>v\d].*)?$|^(?:workspace|catalog|npm):`)

// isVersion reports whether a value is a version or a range of them, as lists of
// packages give it to names such as js-tokens and path-key.
func isVersion(value string) bool {
	return strings.IndexByte("~^=<>v0123456789wcn", value[0]) >= 0 && version().MatchString(value)
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isPath reports whether a value names a file.
func isPath(value string) bool {
	switch {
	case strings.HasPrefix(value, "./"), strings.HasPrefix(value, "../"), strings.HasPrefix(value, "~/"), len(value) > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/'):
		return true
	case strings.HasPrefix(value, "/") && !strings.ContainsAny(value, "+=") && !strings.HasPrefix(value, "//"):
		for part := range strings.SplitSeq(value[1:], "/") {
			if len(part) >= 20 && !strings.Contains(part, ".") {
				return false // base64 may begin with a slash
			}
		}
		return isWords(value) && (strings.Count(value, "/") > 1 || strings.Contains(value, "."))
	}
	return strings.Contains(value, "/") && slices.Contains([]string{".pem", ".key", ".crt", ".txt", ".json", ".yml", ".p12", ".jks", ".pub", ".asc"}, strings.ToLower(value[max(0, strings.LastIndexByte(value, '.')):]))
}

// isHexNumber reports whether a value is a number as programs write them: 0x400.
func isHexNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 2 && len(s) <= 18 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && isHex(s[2:])
}

// hasEscapes reports whether a literal has bytes that are written by their number.
func hasEscapes(s string) bool {
	return strings.Contains(s, `\x`) || strings.Contains(s, `\u`) || strings.Contains(s, `\U`)
}

// isHexData reports whether a value is too long to be a key in hexadecimal digits,
// except a private one as ASN.1 writes it.
func isHexData(s string) bool {
	return len(s) > maxRedValue && !(strings.HasPrefix(s, "3082") && len(s) > 14 && s[8:14] == "020100") && isHex(s[:maxRedValue])
}

// isCall reports whether a value is what a function of a program returns, or
// begins so.
func isCall(s string) bool {
	i := strings.IndexByte(s, '(')
	return i > 0 && isIdentifier(s[:i])
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) && s[i] != '.' || s[i] == '-' || i == 0 && s[i] >= '0' && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}

// isNameAndNumber reports whether a value only says the name again.
func isNameAndNumber(value, name string) bool {
	return strings.EqualFold(strings.TrimRight(value, "0123456789"), name)
}

// isSuchName reports whether a value is the name of a secret itself, or one and a
// number.
func isSuchName(value string) bool {
	value = strings.TrimRight(value, "0123456789")
	return value != "" && isWords(value) && sensitive(value).class != nameHarmless
}

func isNumber(s string) bool {
	return strings.Trim(s, "0123456789_.,kKmM") == "" && strings.ContainsAny(s, "0123456789")
}

// isWords reports whether a value is made of words or of names of one, as
// identifiers, hosts and types of media are.
func isWords(s string) bool {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("-_./:@+,;=%", r) }) {
		digits, changes := 0, 0
		for i := range len(part) {
			c := part[i]
			if c >= '0' && c <= '9' {
				digits++
				if i > 0 && (part[i-1] < '0' || part[i-1] > '9') {
					changes++
				}
			}
			if c > 0x7e || strings.IndexByte("!#$^*~?&", c) >= 0 {
				return false
			}
		}
		if digits > 0 && (changes > 1 || len(part) >= 10 && digits >= 3) || digits == len(part) && digits >= 6 {
			return false
		}
	}
	return true
}

// longestMixed is the length of the longest run of letters and digits that has
// both.
func longestMixed(s string) (longest int) {
	n, digit, letter := 0, false, false
	for i := range len(s) {
		c := s[i]
		isDigit := c >= '0' && c <= '9'
		if !isDigit && (c < 'a' || c > 'z') && !isUpper(c) {
			n, digit, letter = 0, false, false
			continue
		}
		n++
		digit, letter = digit || isDigit, letter || !isDigit
		if digit && letter {
			longest = max(longest, n)
		}
	}
	return longest
}

// classes counts which of small letters, capitals, digits and signs a value has.
func classes(s string) int {
	var has [4]int
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			has[0] = 1
		case isUpper(c):
			has[1] = 1
		case c >= '0' && c <= '9':
			has[2] = 1
		default:
			has[3] = 1
		}
	}
	return has[0] + has[1] + has[2] + has[3]
}

// smallWords are in sentences and not in phrases that people take as passwords.
var smallWords = strings.Fields(`the a an is are was be been of to for and or not in on at by with from your you it this that must should can cannot could may will
	invalid missing wrong failed no does did has have if please enter use used using when whether`)

// isPassPhrase reports whether a text of several words is a pass phrase and no
// sentence about one.
func isPassPhrase(name, value string) bool {
	low := strings.ToLower(name)
	for _, w := range []string{"err", "msg", "message", "label", "title", "help", "usage", "desc", "prompt", "hint"} {
		if strings.Contains(low, w) {
			return false
		}
	}
	if len(value) > 200 || strings.ContainsAny(value, "%:;,()<>{}\\\n\t`\"") || strings.Contains(value, "//") {
		return false
	}
	words := strings.Fields(strings.ToLower(value))
	for _, w := range words {
		if slices.Contains(smallWords, w) || strings.Contains(w, "password") || strings.Contains(w, "token") {
			return false
		}
	}
	return len(words) >= 4
}

// isSeedPhrase reports whether a text is the words of a wallet: 12, 15, 18, 21 or
// 24 short ones.
func isSeedPhrase(s string, named bool) bool {
	if len(s) > 24*9 || len(s) < 12*4-1 {
		return false
	}
	words := strings.Fields(s)
	if n := len(words); n%3 != 0 || n < 12 || n > 24 || !named && n != 12 && n != 24 {
		return false
	}
	distinct := map[string]bool{}
	for _, w := range words {
		if len(w) < 3 || len(w) > 8 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" || !named && slices.Contains(smallWords, w) {
			return false
		}
		distinct[w] = true
	}
	return len(distinct) >= len(words)*2/3 || named
}

// isDockerAuth reports whether a value is user:password in base64.
func isDockerAuth(value string) bool {
	raw, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		raw, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	}
	return err == nil && len(raw) >= 6 && strings.Contains(string(raw), ":")
}

// isReference reports whether a value is the name of a variable or a field.
func isReference(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isTokenByte(c) && c != '.' && c != '[' && c != ']' && c != ':' {
			return false
		}
	}
	return strings.ContainsAny(s, "._") || strings.ToLower(s) == s
}

// looksRandom reports whether a value is made of the signs that keys are made
// of and has what words lack: digits, or capitals in the middle.
func looksRandom(s string) bool {
	digits, letters := 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case c < 0x21 || c > 0x7e:
			return false
		}
	}
	if strings.Contains(s, "://") || strings.Contains(s, "::") {
		return false
	}
	return digits >= 2 && (letters > 0 || len(s) >= 16) || longMixed(s)
}
