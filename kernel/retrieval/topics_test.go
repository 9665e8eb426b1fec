package retrieval

import (
	"slices"
	"strings"
	"testing"
)

func TestTopicsFindADescriptionInOtherWordsAndInTheOtherLanguage(t *testing.T) {
	t.Parallel()
	x := NewTopical()
	for id, about := range map[string]string{
		"markets":  "Real-time quotes of stocks and ETFs.",
		"homes":    "Listings of real estate in many cities.",
		"planes":   "Compares airfares of all airlines.",
		"sky":      "The forecast for the next ten days.",
		"courts":   "Searches statutes and case law.",
		"stars":    "Your horoscope, every morning.",
		"kitchen":  "Recipes by what is in the fridge.",
		"가계부":      "영수증과 지출을 정리합니다.",
		"papers":   "Academic papers of all fields.",
		"deploys":  "Deploys containers to kubernetes.",
		"subtitle": "Writes subtitles under a video.",
	} {
		x.Put(Doc{ID: id, Text: about, Vector: HashVector(about)})
	}
	for query, want := range map[string]string{
		"which dividend shares should I invest in":     "markets",
		"비트코인 말고 주식 시세 알려줘":                            "markets",
		"an apartment with three bedrooms in Boston":   "homes",
		"제주 아파트 매매 찾아줘":                                "homes",
		"I need to fly from Seoul to Tokyo":            "planes",
		"다음 주 항공권 제일 싼 걸로":                             "planes",
		"do I need an umbrella tomorrow":               "sky",
		"내일 비가 올까?":                                    "sky",
		"변호사 없이 소송할 수 있어?":                             "courts",
		"what does the week bring for a Sagittarius":   "stars",
		"별자리로 이번 주 운세 봐 줘":                             "stars",
		"something to cook for dinner":                 "kitchen",
		"where did my receipts go":                     "가계부",
		"알츠하이머에 대한 최신 논문":                              "papers",
		"bring my docker image into the cloud, please": "deploys",
		"유튜브 영상에 자막 달아 줘":                              "subtitle",
	} {
		if got := find(x, query, 1); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
}

func TestTopicsAreNoWords(t *testing.T) {
	t.Parallel()
	got := Topics("Real estate: 아파트와 condo, weather")
	if want := []string{"#buyhome", "#buyhome", "#buyhome", "#weather"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	x := NewTopical()
	x.Put(Doc{ID: "a", Text: "The forecast of tomorrow"})
	if got := find(x, "#weather", 1); len(got) != 1 {
		t.Errorf("the word weather: got %v, want the text about it", got)
	}
	for _, topic := range Topics(topicsText) {
		for _, term := range Terms(topic) {
			if term == topic || !strings.HasPrefix(topic, "#") {
				t.Fatalf("topic %s can be written as a word", topic)
			}
		}
	}
}
