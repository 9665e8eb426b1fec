package memory

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"oxios/kernel/sys"
)

// Words for days are names, too: of songs, films, cats, files, commands and views.
// A date in place of one would destroy what is remembered, while a relative date
// that stays can still be told by when it was said. So what is not plainly an
// adverb of time stays as it is.

// quoted finds quotations and code.
var quoted = sys.Pattern("```[^`]*```|`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”|‘[^’]*’|«[^»]*»|「[^」]*」|『[^』]*』|《[^》]*》|〈[^〉]*〉|<[^>\n]*>|" +
	`\[[^\]\n]*\]\([^)\n]*\)|(?:^|[\s(\[{=,])'[^'\n]+'(?:$|[\s.,;:!?)\]}])`)

// replaceDays puts what date makes of each hit of days in its place, unless it is
// a part of a name.
func replaceDays(text string, days *regexp.Regexp, isName func(before, hit, after string) bool, date func(hit string) string) string {
	spans := quoted().FindAllStringIndex(text, -1)
	var out strings.Builder
	at := 0
	for _, h := range days.FindAllStringIndex(text, -1) {
		hit := text[h[0]:h[1]]
		within := false
		for _, s := range spans {
			within = within || h[0] >= s[0] && h[1] <= s[1] || h[0] < s[1] && s[0] < h[1]
		}
		if within || isName(text[:h[0]], hit, text[h[1]:]) {
			continue
		}
		out.WriteString(text[at:h[0]])
		out.WriteString(date(hit))
		at = h[1]
	}
	return out.String() + text[at:]
}

// Characters that tie a word to what stands beside it: into a path, an address, a
// flag, a tag, emphasis, a call.
const ties = "/\\._-:@#=+&~$%*|<>^{}[]"

// tied reports whether a word is a part of something longer.
func tied(before, after string) bool {
	if last, _ := utf8.DecodeLastRuneInString(before); before != "" && strings.ContainsRune(ties, last) {
		return true
	}
	next, size := utf8.DecodeRuneInString(after)
	switch {
	case after == "":
		return false
	case next == '(', next == ':':
		return true
	case strings.ContainsRune(".-", next): // at the end of a sentence, or before a dash, comes a space
		follows, _ := utf8.DecodeRuneInString(after[size:])
		return after[size:] != "" && !unicode.IsSpace(follows) && !strings.ContainsRune(`.)"'”’`, follows)
	}
	return strings.ContainsRune(ties, next)
}

// beforeNames stands before a word that is a name, or no day of the calendar:
// called tomorrow, the today view, a better tomorrow.
var (
	beforeNames = sys.Pattern(`(?i)(?:^|[^\pL])(?:called|named|titled|entitled|nicknamed|dubbed|word|keyword|alias|the|a|an|my|our|your|his|her|their|its|no|of|than|better|brighter|new|another|-{1,2}\w[\w-]*)\s+$`)
	englishView = sys.Pattern(`(?i)^ (?:picker|filter|view|button|tab|widget|screen|page|column|playlist)s?(?:[^\pL]|$)`)
	sentence    = sys.Pattern(`(?:^|[.!?…]["'”’)]*\s+|\n\s*(?:[-*•]\s+)?)["'“‘(]*$`)
)

// englishName reports whether the words of a hit are a name: by what they stand
// with, or by their capitals.
func englishName(before, hit, after string) bool {
	lead := preposition().FindString(hit)
	words := strings.Fields(hit[len(lead):])
	if tied(before+lead, after) || beforeNames().MatchString(before+lead) && !strings.EqualFold(words[0], "the") {
		return true
	}
	for _, w := range words[1:] {
		if isUpper(w) && !calendar().MatchString(w) {
			return true
		}
	}
	if englishView().MatchString(after) {
		return true
	}
	next := strings.Fields(after)
	follows := len(next) > 0 && strings.HasPrefix(after, " ")
	if isUpper(words[0]) {
		if lead != "" || !sentence().MatchString(before) || follows && strings.EqualFold(next[0], "by") {
			return true // in the middle of a sentence only names have capitals
		}
	} else if lead == "" && sentence().MatchString(before) {
		follows = false // whoever begins with a small letter writes no titles
	}
	// Today I Learned, but: Tomorrow I fly.
	if follows && isUpper(words[0]) && next[0] == "I" && len(next) > 1 {
		return isUpper(next[1])
	}
	return follows && isUpper(words[0]) && isUpper(next[0]) && next[0] != "I" && !strings.HasPrefix(next[0], "I'") && !strings.HasPrefix(next[0], "I’")
}

var calendar = sys.Pattern(`(?i)^(?:mon|tues|wednes|thurs|fri|satur|sun)day$`)

func isUpper(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// What makes a name of a Korean word beside it.
var (
	koreanCalled = sys.Pattern(`이름|제목|좌우명|가훈|별명|별칭|슬로건|문구|표어|구호|나은 |보다 |밝은 내일|없는 것처럼`)
	koreanSaid   = sys.Pattern(`^[^.!?\n]{0,20}?(?:이라는|라는|이라고|라고|이란|란) `)
	koreanKind   = sys.Pattern(`(?:^|[\s,(])(?:영화|노래|곡|책|소설|드라마|앨범|시집|앱|브랜드|잡지|게임|카페|식당|가게|고양이|강아지|파일|폴더|명령|명령어|변수|함수|브랜치|태그|단어|메뉴)$`)
	koreanView   = sys.Pattern(`^ ?(?:탭|보기|뷰|화면|위젯|메뉴|섹션|필터|버튼)`)
)

// koreanName is englishName for Korean, which has no capitals.
func koreanName(before, hit, after string) bool {
	words := strings.TrimLeft(hit, " \t\n,.(“\"'")
	before += hit[:len(hit)-len(words)]
	bare := strings.TrimRight(words, ",. )\n\t")
	rest := words[len(bare):] + after
	return tied(before, rest) || koreanCalled().MatchString(before+hit+after) || koreanSaid().MatchString(rest) ||
		koreanKind().MatchString(strings.TrimRight(before, " ")) && strings.HasSuffix(before, " ") || koreanView().MatchString(rest)
}
