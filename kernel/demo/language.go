package demo

import (
	"regexp"
	"strings"
	"unicode"
)

const (
	korean  = "ko"
	english = "en"
)

var (
	// quoted is a part of a message in another voice: "What does \"안녕\" mean?"
	quoted = regexp.MustCompile("\"[^\"]*\"|“[^”]*”|‘[^’]*’|`[^`]*`|「[^」]*」")
	// foreign are words that no Korean sentence borrows.
	foreign = regexp.MustCompile(`(?i)\b(?:the|this|that|what|how|why|who|is|are|does|do|you|say|mean|means|into|translate|of|for|in)\b`)
	// asks is how a Korean sentence asks for something, at its end.
	asks = regexp.MustCompile(`(?:줘|줘요|주세요|줄래|줄래요|해봐|해라|하자|할까|할까요|부탁해|부탁해요|합니다|습니까|인가요|나요|을까|하지마|마|지)[\s.!?~]*$`)
)

// languageOf is the language that a message asks in. A Korean sentence often has
// English names and commands in it, and an English one may ask about a Korean
// word: the words are counted, without those in quotes and without names of
// files. Behind a command the end of the sentence decides.
func languageOf(message string) string {
	text := quoted.ReplaceAllString(message, " ")
	if !strings.ContainsFunc(text, hangul) {
		if text = message; !strings.ContainsFunc(text, hangul) || strings.ContainsFunc(quoted.ReplaceAllString(message, " "), unicode.IsLetter) {
			return english
		}
	}
	var ko, en int
	for _, word := range strings.Fields(text) {
		switch {
		case strings.ContainsFunc(word, hangul):
			ko++
		case strings.ContainsFunc(word, unicode.IsLetter) && !strings.ContainsAny(strings.TrimRight(word, ".,!?:;"), "./\\_"):
			en++
		}
	}
	if ko >= en || (asks.MatchString(text) && !foreign.MatchString(text)) {
		return korean
	}
	return english
}

func hangul(r rune) bool { return unicode.Is(unicode.Hangul, r) }
