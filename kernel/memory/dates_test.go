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
