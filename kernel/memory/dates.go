package memory

import (
	"strconv"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// Exact puts dates in the place of words like tomorrow, next Friday, 내일 and
// 지난주 금요일, counted from when the text was said, in its time zone. Weeks begin
// on Monday, so that next Friday is that of the next week. What recurs, what is
// vague, and what is a name, a path, code or a quotation, stays as it is. It reports whether anything changed.
func Exact(text string, said time.Time) (string, bool) {
	if recurs().MatchString(text) {
		return text, false
	}
	out := replaceDays(text, englishDays(), englishName, func(hit string) string { return english(text, hit, said) })
	out = replaceDays(out, koreanDays(), koreanName, func(hit string) string { return korean(hit, said) })
	out = once(out)
	return out, out != text
}

// Texts that tell what happens again and again have no date.
var recurs = sys.Pattern(`(?i)\b(?:every|each|always|usually|daily|weekly|monthly|often|never|whenever)\b|매일|매주|매달|매년|항상|늘 |언제나|마다`)

// A preposition before the words is taken along, so that none is doubled().
var englishDays = sys.Pattern(`(?i)(?:\b(?:on|by|until|till|since|before|after|for|from) )?\b(?:the day after tomorrow|the day before yesterday|day after tomorrow|day before yesterday|tomorrow|yesterday|today|tonight|` +
	`(?:next|last|this) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|month|year)|in (?:\d{1,3}|an?|one|two|three|four|five|six|seven) (?:day|week)s?|(?:\d{1,3}|an?|one|two|three|four|five|six|seven) (?:day|week)s? ago)\b(?:['’]s)?`)

var (
	preposition = sys.Pattern(`(?i)^(on|by|until|till|since|before|after|for|from) `)
	counted     = sys.Pattern(`(?i)^(?:in )?(\w+) (day|week)s?( ago)?$`)
	numbers     = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
)

func english(text, hit string, said time.Time) string {
	lead := preposition().FindString(hit)
	words := strings.ToLower(strings.TrimPrefix(hit, lead))
	if strings.HasSuffix(words, "'s") || strings.HasSuffix(words, "’s") {
		return hit // today's weather is that of whichever day it is
	}
	date, ok := englishDate(words, said)
	if !ok {
		return hit
	}
	switch {
	case len(date) < len(time.DateOnly) && lead == "": // a month or a year
		lead = "in "
	case lead == "":
		lead = "on "
	}
	if isUpper(hit) || strings.HasPrefix(text, hit) {
		lead = strings.ToUpper(lead[:1]) + lead[1:]
	}
	return lead + date
}

func englishDate(words string, said time.Time) (string, bool) {
	day := func(n int) (string, bool) { return said.AddDate(0, 0, n).Format(time.DateOnly), true }
	switch strings.TrimPrefix(words, "the ") {
	case "day after tomorrow":
		return day(2)
	case "tomorrow":
		return day(1)
	case "today", "tonight":
		return day(0)
	case "yesterday":
		return day(-1)
	case "day before yesterday":
		return day(-2)
	}
	if which, unit, ok := strings.Cut(words, " "); ok {
		if week, known := map[string]int{"last": -1, "this": 0, "next": 1}[which]; known {
			return within(unit, week, said)
		}
	}
	m := counted().FindStringSubmatch(words)
	if m == nil {
		return "", false
	}
	n, known := numbers[m[1]]
	if !known {
		var err error
		if n, err = strconv.Atoi(m[1]); err != nil {
			return "", false
		}
	}
	if m[2] == "week" {
		n *= 7
	}
	if m[3] != "" {
		n = -n
	}
	return day(n)
}

// within is a day of a week, or a month or a year, so many after this one.
func within(unit string, by int, said time.Time) (string, bool) {
	first := time.Date(said.Year(), said.Month(), 1, 12, 0, 0, 0, said.Location())
	switch unit {
	case "month":
		return first.AddDate(0, by, 0).Format("2006-01"), true
	case "year":
		return strconv.Itoa(said.Year() + by), true
	}
	if len(unit) < 3 {
		return "", false
	}
	i := strings.Index("montuewedthufrisatsun", unit[:3])
	if i < 0 || i%3 != 0 {
		return "", false
	}
	return weekday(said, by, i/3), true
}

// weekday is the day, 0 for Monday, of the week so many after that of said.
func weekday(said time.Time, weeks, day int) string {
	monday := -(int(said.Weekday()) + 6) % 7
	return said.AddDate(0, 0, monday+7*weeks+day).Format(time.DateOnly)
}

// A word of Korean has its particle behind it: 내일까지 becomes 2026-11-25까지. What
// stands before it must be no part of it, as in 오늘내일.
var koreanDays = sys.Pattern(`(?:^|[\s,.(“"'])(?:(?:다음|이번|지난) ?주 ?[월화수목금토일]요일|다음 ?달|지난 ?달|이번 ?달|내년|작년|올해|내일모레|모레|내일|오늘|어제|그저께|그제|\d{1,3} ?(?:일|주) ?(?:뒤|후|전))(?:에|에는|은|는|이|가|까지|부터|도|의|엔|,|\.|\s|\)|$)`)

var (
	koreanWeek  = sys.Pattern(`^(다음|이번|지난) ?주 ?([월화수목금토일])요일`)
	koreanCount = sys.Pattern(`^(\d{1,3}) ?(일|주) ?(뒤|후|전)`)
	koreanWords = []struct {
		word string
		days int
	}{{"내일모레", 2}, {"모레", 2}, {"내일", 1}, {"오늘", 0}, {"어제", -1}, {"그저께", -2}, {"그제", -2}}
	koreanTimes = sys.Pattern(`^(다음|지난|이번) ?달`)
	koreanYears = map[string]int{"내년": 1, "작년": -1, "올해": 0}
)

func korean(hit string, said time.Time) string {
	words := strings.TrimLeft(hit, " \t\n,.(“\"'")
	lead := hit[:len(hit)-len(words)]
	by := map[string]int{"다음": 1, "이번": 0, "지난": -1}
	put := func(date string, n int) string { return lead + date + words[n:] }
	if m := koreanWeek().FindStringSubmatch(words); m != nil {
		return put(weekday(said, by[m[1]], strings.Index("월화수목금토일", m[2])/len("월")), len(m[0]))
	}
	if m := koreanCount().FindStringSubmatch(words); m != nil {
		n, _ := strconv.Atoi(m[1])
		if m[2] == "주" {
			n *= 7
		}
		if m[3] == "전" {
			n = -n
		}
		return put(said.AddDate(0, 0, n).Format(time.DateOnly), len(m[0]))
	}
	if m := koreanTimes().FindStringSubmatch(words); m != nil {
		first := time.Date(said.Year(), said.Month()+time.Month(by[m[1]]), 1, 12, 0, 0, 0, said.Location())
		return put(first.Format("2006년 1월"), len(m[0]))
	}
	for word, years := range koreanYears {
		if strings.HasPrefix(words, word) {
			return put(strconv.Itoa(said.Year()+years)+"년", len(word))
		}
	}
	for _, w := range koreanWords {
		if rest, ok := strings.CutPrefix(words, w.word); ok {
			if strings.HasPrefix(rest, "의") {
				return hit // 오늘의 날씨
			}
			return put(said.AddDate(0, 0, w.days).Format(time.DateOnly), len(w.word))
		}
	}
	return hit
}

// doubled is a date that stood in the text already, behind the words for it.
var doubled = sys.Pattern(`(\d{4}-\d\d-\d\d)( ?\((\d{4}-\d\d-\d\d)\))`)

// once leaves out a date in parentheses that says the same once more.
func once(s string) string {
	return doubled().ReplaceAllStringFunc(s, func(hit string) string {
		if m := doubled().FindStringSubmatch(hit); m[1] == m[3] {
			return m[1]
		}
		return hit
	})
}
