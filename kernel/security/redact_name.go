package security

import (
	"slices"
	"strings"
)

// nameClass says what a name promises about its value.
type nameClass int

const (
	nameHarmless nameClass = iota
	nameWeak               // often something else: only a random value counts
	nameToken              // something random, as its issuer made it
	namePassword           // whatever a person thought of
	nameSeed               // the words of a wallet
)

// sensitiveWords are the last words of names of secrets.
var sensitiveWords = map[string]nameClass{
	"password": namePassword, "passwords": namePassword, "passwd": namePassword, "passphrase": namePassword, "passcode": namePassword, "passwort": namePassword,
	"kennwort": namePassword, "senha": namePassword, "contraseña": namePassword, "contrasena": namePassword, "пароль": namePassword, "パスワード": namePassword, "密码": namePassword, "密碼": namePassword,
	"pin": namePassword, "pass": namePassword, "pwd": namePassword, "pw": namePassword, "비밀번호": namePassword, "암호": namePassword, "패스워드": namePassword, "비번": namePassword,
	"secret": nameToken, "secrets": nameToken, "token": nameToken, "tokens": nameToken, "key": nameToken, "keys": nameToken, "apikey": nameToken,
	"credential": nameToken, "credentials": nameToken, "creds": nameToken, "cred": nameToken, "auth": nameToken, "토큰": nameToken, "비밀키": nameToken, "인증키": nameToken, "시크릿": nameToken,
	"webhook": nameWeak, "seed": nameSeed, "mnemonic": nameSeed, "phrase": nameSeed, "cookie": nameToken, "authorization": nameToken, "bearer": nameToken, "sig": nameWeak, "signature": nameWeak,
	"accessid": nameToken,
}

// runTogether are ends of names that are written without a sign between their
// words, the longest first.
var runTogether = []struct {
	end   string
	class nameClass
}{
	{"password", namePassword},
	{"passwd", namePassword},
	{"passphrase", namePassword},
	{"passwort", namePassword},
	{"dbpass", namePassword},
	{"userpass", namePassword},
	{"storepass", namePassword},
	{"keypass", namePassword},
	{"sshpass", namePassword},
	{"pwd", namePassword},
	{"비밀번호", namePassword},
	{"암호", namePassword},
	{"token", nameToken},
	{"secret", nameToken},
	{"credential", nameToken},
	{"credentials", nameToken},
	{"apikey", nameToken},
	{"accesskey", nameToken},
	{"secretkey", nameToken},
	{"privatekey", nameToken},
	{"authkey", nameToken},
	{"encryptionkey", nameToken},
	{"signingkey", nameToken},
	{"masterkey", nameToken},
	{"licensekey", nameToken},
	{"storagekey", nameToken},
	{"accountkey", nameToken},
	{"webhookkey", nameToken},
	{"sessionkey", nameToken},
	{"servicekey", nameToken},
	{"consumerkey", nameToken},
	{"appkey", nameToken},
	{"sharedkey", nameToken},
	{"accessid", nameToken},
	{"connectionstring", nameToken},
	{"mnemonic", nameSeed},
}

// neutralTails are last words that say nothing: the one before them counts.
var neutralTails = strings.Fields(`base base64 b64 value val text txt plain plaintext string str raw prod production dev development test testing stage staging live old new
	current previous prev next encoded enc hex default primary secondary main backup local global default_ env var data bytes content`)

// harmlessBefore are words before key and pin that say: no secret.
var harmlessBefore = strings.Fields(`public pub primary foreign partition sort cache group hot map index lookup row unique natural composite short arrow shift ctrl modifier
	translation i18n message route query config setting settings property json yaml dict object hash range order item field column label tag node any press
	enter escape home end backspace menu func left right up down idempotency dedupe registry sub parent child first last by with no has is of the a sentinel context ctx object
	led gpio io`)

// countWords say that a number of tokens is meant, and not one of them.
var countWords = strings.Fields(`max min num n count total limit size len length avg used remaining budget per usage input output prompt completion cached reasoning context
	window new old sum average maximum minimum bits number`)

// unrealNames are parts of names that say that the value is none.
var unrealNames = []string{"nonmatching", "invalid", "fake", "dummy", "placeholder", "mocked", "notareal", "publickeytoken"}

// redName is a name that is given a value.
type redName struct {
	class  nameClass
	word   string // the one that makes it sensitive
	counts bool   // a number would be a count
}

// maxRedName is the longest name that is looked at; of a longer one its end is.
const maxRedName = 80

// mayEndName is which bytes names of secrets end in, to pass over all others.
var mayEndName = func() (ends [256]bool) {
	add := func(word string) {
		last := word[len(word)-1]
		ends[last] = true
		if last >= 'a' && last <= 'z' {
			ends[last-'a'+'A'] = true
		}
	}
	for word := range sensitiveWords {
		add(word)
	}
	for _, r := range runTogether {
		add(r.end)
	}
	for _, word := range neutralTails {
		add(word)
	}
	for c := '0'; c <= '9'; c++ {
		ends[c] = true
	}
	return ends
}()

// sensitive judges a name by its last word, as programs and settings write words:
// with signs between them, with capitals, or run together.
func sensitive(name string) redName {
	end := len(name)
	counts := false
	for range 4 {
		end = len(strings.TrimRight(name[:end], "0123456789_-."))
		if end == 0 {
			return redName{}
		}
		from := wordStart(name, end)
		if !mayEndName[name[end-1]] {
			return redName{}
		}
		low := strings.ToLower(name[from:end])
		before := wordBefore(name, from)
		if class, ok := sensitiveWords[low]; ok {
			return judgeRedName(name, low, before, class, counts)
		}
		for _, r := range runTogether {
			if strings.HasSuffix(low, r.end) {
				if r.end == "pwd" && (low == "oldpwd" || low == "getpwd") {
					return redName{}
				}
				return judgeRedName(name, r.end, low[:len(low)-len(r.end)], r.class, counts)
			}
		}
		if !slices.Contains(neutralTails, low) || from == 0 {
			return redName{}
		}
		end = from
	}
	return redName{}
}

func judgeRedName(name, word, before string, class nameClass, counts bool) redName {
	low := strings.ToLower(name)
	for _, u := range unrealNames {
		if strings.Contains(low, u) {
			return redName{}
		}
	}
	switch word {
	case "pwd", "pass", "pw":
		if word == "pwd" && (before == "" && !strings.Contains(name, "pwd") && !strings.Contains(name, "Pwd") || before == "old") {
			return redName{} // the folder that a shell is in
		}
		if word == "pass" && slices.Contains(harmlessBefore, before) {
			return redName{}
		}
	case "key", "keys", "auth", "pin":
		if slices.Contains(harmlessBefore, before) {
			return redName{}
		}
		if before == "" && word != "pin" {
			class = nameWeak
		}
	case "token", "tokens", "secret", "secrets", "credential", "credentials":
		counts = strings.HasSuffix(word, "s") && word != "credentials"
		for w := range strings.FieldsFuncSeq(spaced(name), func(r rune) bool { return r == ' ' }) {
			counts = counts || slices.Contains(countWords, w)
		}
		if before == "public" {
			return redName{}
		}
	}
	return redName{class: class, word: word, counts: counts}
}

// spaced writes a name in lower case with a blank between its words.
func spaced(name string) string {
	var words []string
	for end := len(name); end > 0; {
		from := wordStart(name, end)
		words = append(words, strings.ToLower(name[from:end]))
		end = len(strings.TrimRight(name[:from], "_-./"))
	}
	return strings.Join(words, " ")
}

// wordBefore is the word of a name that ends before i, in lower case.
func wordBefore(name string, i int) string {
	end := len(strings.TrimRight(name[:i], "0123456789_-./"))
	if end == 0 {
		return ""
	}
	return strings.ToLower(name[wordStart(name, end):end])
}

// wordStart is where the last word of name[:end] starts.
func wordStart(name string, end int) int {
	i := end - 1
	upper := isUpper(name[i])
	for i > 0 {
		c, before := name[i], name[i-1]
		switch {
		case before == '_' || before == '-' || before == '.' || before == '/':
			return i
		case isUpper(c) && !isUpper(before) && !upper && before < 0x80:
			return i
		case upper && !isUpper(before) && (before >= 'a' && before <= 'z'):
			return i
		}
		if !upper && isUpper(c) {
			return i // the capital of a word after others: APIKey
		}
		i--
	}
	return 0
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// shownName is how a mark names a value.
func shownName(name string) string {
	name = strings.Trim(name, "-._")
	const longest = 40
	if len(name) > longest {
		i := len(name) - longest
		for i < len(name) && name[i]&0xC0 == 0x80 {
			i++
		}
		name = strings.TrimLeft(name[i:], "-._")
	}
	name = strings.ToValidUTF8(name, "")
	if name == "" {
		return "value"
	}
	return name
}
