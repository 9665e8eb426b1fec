package memory

import (
	"testing"
	"time"
)

func TestRelativeDatesBecomeExact(t *testing.T) {
	t.Parallel()
	said := time.Date(2026, 11, 24, 21, 0, 0, 0, time.FixedZone("KST", 9*3600)) // a Tuesday
	for text, want := range map[string]string{
		"I fly to Jeju tomorrow":                      "I fly to Jeju on 2026-11-25",
		"Tomorrow I fly to Jeju":                      "On 2026-11-25 I fly to Jeju",
		"The report is due by next Friday.":           "The report is due by 2026-12-04.",
		"The report is due this Friday":               "The report is due on 2026-11-27",
		"Met Minji yesterday":                         "Met Minji on 2026-11-23",
		"Moved last month":                            "Moved in 2026-10",
		"The lease ends in two weeks":                 "The lease ends on 2026-12-08",
		"The lease began 3 days ago":                  "The lease began on 2026-11-21",
		"Left the day before yesterday":               "Left on 2026-11-22",
		"내일 제주에 간다":                                   "2026-11-25 제주에 간다",
		"보고서는 다음 주 금요일까지 낸다":                          "보고서는 2026-12-04까지 낸다",
		"어제 민지를 만났다":                                  "2026-11-23 민지를 만났다",
		"지난주 금요일에 이사했다":                               "2026-11-20에 이사했다",
		"3일 뒤에 시험이 있다":                                "2026-11-27에 시험이 있다",
		"다음 달 여행을 간다":                                 "2026년 12월 여행을 간다",
		"I fly tomorrow (2026-11-25)":                 "I fly on 2026-11-25",
		"Receipts are named date_shop_amount":         "",
		"Wants to hear today's weather first":         "",
		"Has a stand-up every day, not only tomorrow": "",
		"매주 다음 주 금요일을 준비한다":                           "",
		"오늘의 할 일은 노트에 적는다":                            "",
		"The film is called The Day After Tomorrow's": "",
		"Thinks that tomorrowland is too loud":        "",
		"내일신문을 읽는다":                                   "",

		"The demo is tomorrow.":                            "The demo is on 2026-11-25.",
		"The demo (tomorrow) is short":                     "The demo (on 2026-11-25) is short",
		"Tomorrow, Minji moves to Busan.":                  "On 2026-11-25, Minji moves to Busan.",
		"It rained. Yesterday the roof leaked!":            "It rained. On 2026-11-23 the roof leaked!",
		"The flat of the film club is free from tomorrow":  "The flat of the film club is free from 2026-11-25",
		"My favourite film is The Day After Tomorrow.":     "",
		"The Day After Tomorrow is my favourite film.":     "",
		"I like the Beatles song Yesterday.":               "",
		"Yesterday by the Beatles is what I sing.":         "",
		"Yesterday Once More is a song of the Carpenters":  "",
		"Tomorrow Never Dies is a film":                    "",
		"Use days['tomorrow'] for it.":                     "",
		"Its slogan is better than yesterday.":             "",
		"Uses this month filters and the today tab":        "",
		"오늘보다 내일이 낫다":                                      "",
		"Edge of Tomorrow is a film":                       "",
		"My cat is called Tomorrow.":                       "",
		"my cat is called tomorrow":                        "",
		"I read USA Today in the morning":                  "",
		"My weather API is Tomorrow.io.":                   "",
		"Tomorrow.io is my weather API":                    "",
		"I plan my work in the Today view of Things.":      "",
		"I plan my work in the today view":                 "",
		"I keep a Today I Learned journal.":                "",
		"Today I Learned is a journal of mine":             "",
		"Saw the film Next Friday with Minji":              "",
		"My notes template is called today.md.":            "",
		"Tasks due soon live in src/today/index.ts.":       "",
		"Notes lie in ~/tomorrow and in #today":            "",
		"The alias `yesterday` runs git log.":              "",
		"Runs git log --since yesterday before a stand-up": "",
		"Calls today() and Date.today in the template":     "",
		"The key today: is in the file of settings":        "",
		"Minji said \"see you tomorrow\" and left":         "",
		"The word tomorrow has three o's":                  "",
		"Hopes for a better tomorrow":                      "",
		"Lives as if there was no tomorrow":                "",
		"The *tomorrow* list holds what can wait":          "",
		"어제보다 나은 오늘이 좌우명이다.":                               "",
		"오늘도 무사히 라는 스티커를 쓴다.":                              "",
		"고양이 이름은 내일이다":                                     "",
		"영화 내일은 두 번 봤다":                                    "",
		"‘내일’을 좋아한다":                                       "",
		"일은 '오늘' 탭에서 계획한다":                                 "",
		"일은 오늘 탭에서 계획한다":                                   "",
		"메모는 오늘.md에 쓴다":                                    "",
		"강아지를 오늘이라고 부른다":                                   "",
		"민지는 내일 온다":                                        "민지는 2026-11-25 온다",
		"내일은 민지의 생일이다":                                     "2026-11-25은 민지의 생일이다",
		"영화를 내일 본다":                                        "영화를 2026-11-25 본다",
		"시험은 내일.":                                          "시험은 2026-11-25.",
	} {
		if want == "" {
			want = text
		}
		got, changed := Exact(text, said)
		if got != want || changed != (want != text) {
			t.Errorf("%q became %q, %v; want %q", text, got, changed, want)
		}
		if again, changed := Exact(got, said.AddDate(0, 1, 0)); changed {
			t.Errorf("%q became %q in the next night", got, again)
		}
	}
}
