package mcp

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/security"
)

// secretWords are those by which a text that asks for a secret is known, as whole words in the singular.
var secretWords = []string{
	"pass word", "pwd", "secret", "token", "api key", "access key", "private key", "secret key", "ssh key", "recovery key", "encryption key", "license key",
	"pin", "otp", "totp", "mfa", "2 fa", "two factor", "cvv", "cvc", "cvn", "card number", "credit card", "debit card", "card no", "iban", "account number", "bank account",
	"pin code", "one time code", "verification code", "security code", "access code", "auth code", "authentication code", "authenticator code", "authorization code", "login code",
	"sign in code", "sms code", "recovery code", "backup code", "unlock code",
	"ssn", "social security", "seed phrase", "recovery phrase", "bearer", "cookie", "passkey",
}

// secretParts are those that stand in words too, and in Korean, where spaces say little.
var secretParts = []string{"password", "passwd", "passphrase", "passcode", "apikey", "credential"}

var secretKorean = []string{
	"비밀번호", "암호", "패스워드", "토큰", "시크릿", "인증번호", "인증코드", "보안코드", "접근코드", "접속코드", "액세스코드", "복구코드", "일회용번호", "일회용코드", "핀번호", "핀코드",
	"카드번호", "주민등록번호", "주민번호", "계좌번호", "api키", "개인키", "비밀키", "접근키", "액세스키", "보안키", "복구문구", "시드문구",
}

// ordinaryKeys are the words before "key" in the name of a field that asks for none that opens something.
var ordinaryKeys = []string{
	"primary", "foreign", "unique", "sort", "partition", "cache", "map", "json", "object", "row", "record", "column", "index", "group", "lookup", "search", "issue", "project",
	"ticket", "public", "config", "setting", "translation", "message", "hot", "shortcut", "keyboard", "answer", "song", "musical", "tag", "label", "metadata", "field", "property", "attribute",
}

// secret reports whether a field looks as if it asks for a secret. message is what stands above the form.
func (f formField) secret(message string) bool {
	var but []string
	switch f.Kind {
	case security.FieldBoolean, security.FieldChoice, security.FieldChoices:
		return false // the server knows all that can be said to it
	case security.FieldNumber, security.FieldInteger:
		but = []string{"token", "토큰"} // a count of them is none
	}
	if f.Format == "password" || secretText(f.Name, but...) || secretText(f.Title, but...) || !f.small() && secretText(f.About, but...) {
		return true
	}
	if someKey(f.Name) || someKey(f.Title) {
		return true
	}
	return (f.Format == "" || f.Format == "uri") && secretText(message, but...)
}

// small reports whether a field holds one of a hundred numbers, of which the server proposes one. What is written about it
// may speak of secrets then: public servers say there which ones are not to be entered.
func (f formField) small() bool {
	return f.Kind == security.FieldInteger && len(f.Default) > 0 && f.Min != nil && f.Max != nil && *f.Max-*f.Min <= 100
}

// secretText reports whether a text names a secret; but leaves words out.
func secretText(text string, but ...string) bool {
	text = asRead(text)
	apart, whole := wordsOf(text, true), wordsOf(text, false)
	has := func(list []string, in func(w string) bool) bool {
		return slices.ContainsFunc(list, func(w string) bool { return !slices.Contains(but, w) && in(w) })
	}
	together := strings.ReplaceAll(whole, " ", "")
	return has(secretWords, func(w string) bool { return strings.Contains(apart, " "+w+" ") || strings.Contains(whole, " "+w+" ") }) ||
		has(secretParts, func(w string) bool { return strings.Contains(whole, w) }) ||
		has(secretKorean, func(w string) bool { return strings.Contains(together, w) }) ||
		slices.ContainsFunc(strings.Fields(apart), func(w string) bool { return strings.HasPrefix(w, "비번") }) // not 장비번호
}

// someKey reports whether the name of a field is that of a key to something.
func someKey(name string) bool {
	words := strings.Fields(wordsOf(asRead(name), true))
	n := len(words)
	return n > 1 && words[n-1] == "key" && !slices.Contains(ordinaryKeys, words[n-2])
}

// asRead is a text as a person reads it, whatever characters it is written with.
func asRead(text string) string { return norm.NFKC.String(security.PlainText(text)) }

// wordsOf are the words of a text in small letters, with a space around each; apart takes those apart that are written together,
// as in apiKey, password1 and PIN번호.
func wordsOf(text string, apart bool) string {
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte(' ')
			continue
		}
		if apart && i > 0 {
			last, next := runes[i-1], ' '
			if i+1 < len(runes) {
				next = runes[i+1]
			}
			if unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && unicode.IsLower(next)) ||
				unicode.IsDigit(r) != unicode.IsDigit(last) || unicode.Is(unicode.Hangul, r) != unicode.Is(unicode.Hangul, last) {
				b.WriteByte(' ')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	words := strings.Fields(b.String())
	for i, w := range words {
		if one := strings.TrimSuffix(w, "s"); slices.Contains([]string{"key", "code", "token", "secret", "cookie", "number", "phrase", "card", "otp"}, one) {
			words[i] = one
		}
	}
	return " " + strings.Join(words, " ") + " "
}
