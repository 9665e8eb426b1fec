package retrieval

import (
	"slices"
	"testing"
)

func TestWordsAreFoundByHowHangulWritesThem(t *testing.T) {
	t.Parallel()
	x := NewOfServers()
	for _, word := range []string{
		"slack", "notion", "jira", "github", "gitlab", "figma", "telegram", "outlook", "kubernetes", "grafana", "stripe", "gmail", "zoom",
		"meeting", "calendar", "pipeline", "channel", "ticket", "container", "page", "image", "folder", "label", "query", "phase", "line",
	} {
		x.Put(Doc{ID: word, Text: word})
	}
	for asked, want := range map[string]string{
		"슬랙에서": "slack", "노션에": "notion", "지라": "jira", "깃허브": "github", "깃랩의": "gitlab", "피그마로": "figma", "텔레그램으로": "telegram",
		"아웃룩": "outlook", "쿠버네티스": "kubernetes", "그라파나에": "grafana", "스트라이프": "stripe", "지메일로": "gmail", "줌으로": "zoom",
		"캘린더에서": "calendar", "파이프라인을": "pipeline", "컨테이너": "container", "페이지를": "page", "폴더를": "folder", "쿼리": "query",
	} {
		if got := find(x, asked, 1); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %v, want %s", asked, got, want)
		}
	}
	if got := x.heard("슬랙채널"); !slices.Equal(got, []string{"slack", "channel"}) {
		t.Errorf("two words that are written together: got %v", got)
	}
	for _, native := range []string{"보내줘", "만들어줘", "내일", "다음", "우리", "나한테", "집에서", "얼마나"} {
		if got := x.heard(native); len(got) > 0 {
			t.Errorf("%s sounds like %v, want nothing", native, got)
		}
	}
}

func TestToolOfAServerIsFoundByWhatItsNameDoes(t *testing.T) {
	t.Parallel()
	x := NewOfServers()
	for name, about := range map[string]string{
		"create event": "Adds one to a calendar.", "delete event": "Takes one from a calendar, or creates a note that it was.", "list events": "Those of a calendar.",
		"turn on": "A device of the home.", "turn off": "A device of the home.",
	} {
		x.Put(Doc{ID: name, Text: about, Extra: name})
	}
	for asked, want := range map[string]string{
		"금요일 약속 지워줘": "delete event", "일정 목록 보여줘": "list events", "get rid of Friday's appointment": "delete event", "불 꺼줘": "turn off", "turn the lights off": "turn off",
		"불 켜줘": "turn on", "3시에 약속 잡아줘": "create event",
	} {
		if got := find(x, asked, 1); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %v, want %s", asked, got, want)
		}
	}
}
