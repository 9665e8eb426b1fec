package sys

// koreanMemory are the sentences about what agents remember, and about spaces.
func koreanMemory() [][2]string {
	return [][2]string{
		{"There is nothing to remember: the text is empty.", "기억할 내용이 비어 있습니다."},
		{"The memory is no text in UTF-8. Nothing was kept.", "기억이 UTF-8 텍스트가 아닙니다. 아무것도 저장하지 않았습니다."},
		{"The memory has %d characters; %d is the most. Nothing was kept.", "기억이 %d자입니다. %d자까지 됩니다. 아무것도 저장하지 않았습니다."},
		{"Say it shorter, or keep the text as a note.", "더 짧게 쓰거나 노트로 저장하세요."},
		{"What the fact is about has over %d characters. Nothing was kept.", "무엇에 대한 사실인지가 %d자를 넘습니다. 아무것도 저장하지 않았습니다."},
		{"Only a fact replaces another by what it is about. Nothing was kept.", "무엇에 대한 것인지로 이전 것을 대신하는 것은 사실뿐입니다. 아무것도 저장하지 않았습니다."},
		{"%q is no kind of memory.", "%q은(는) 기억의 종류가 아닙니다."},
		{"It is one of %s.", "%s 중 하나입니다."},
		{"There is no memory %q.", "%q 기억이 없습니다."},
		{"`oxios memory list` shows those that there are.", "`oxios memory list`로 있는 것을 봅니다."},
		{"A newer memory has replaced this one. Nothing was changed.", "새 기억이 이 기억을 대신했습니다. 아무것도 바꾸지 않았습니다."},
		{"Change the newer one.", "새 기억을 바꾸세요."},
		{"Another fact is about %q already: %s", "%q에 대한 다른 사실이 이미 있습니다: %s"},
		{"Change that one, or forget it first.", "그것을 바꾸거나 먼저 잊게 하세요."},
		{"What to look for has over 4000 characters.", "찾을 말이 4000자를 넘습니다."},
		{"Ask with a few words.", "몇 단어로 찾으세요."},
		{"what Oxios remembers of you", "Oxios가 사용자에 대해 기억하는 것"},
		{"Remembers: %s", "기억합니다: %s"},
		{"What is remembered is a fact or an episode, not %q. Nothing was kept.", "기억은 fact나 episode여야 하는데 %q입니다. 아무것도 저장하지 않았습니다."},
		{"Memory %d has the time %q, which is none of RFC 3339. Nothing was imported.", "%d번째 기억의 시간 %q이(가) RFC 3339 형식이 아닙니다. 아무것도 가져오지 않았습니다."},
		{"Write it like 2026-11-23T09:00:00Z.", "2026-11-23T09:00:00Z처럼 쓰세요."},

		{"There is no space %q.", "%q 공간이 없습니다."},
		{"`oxios spaces list` shows those that there are.", "`oxios spaces list`로 있는 것을 봅니다."},
		{"The name of a space has at most 200 bytes. Nothing was changed.", "공간 이름은 200바이트까지입니다. 아무것도 바꾸지 않았습니다."},
		{"There is a space %q already. Nothing was changed.", "%q 공간이 이미 있습니다. 아무것도 바꾸지 않았습니다."},
		{"Choose another name, or use that space.", "다른 이름을 쓰거나 그 공간을 쓰세요."},

		{"Recalls agent memories by time: facts about the user and episodes of earlier conversations.", "에이전트의 기억을 시간순으로 떠올립니다. 사용자에 대한 사실과 이전 대화의 일화입니다."},
		{"Searches agent memories: what earlier conversations told about the user and their work.", "이전 대화에서 알게 된 사용자와 일에 대한 에이전트의 기억을 찾습니다."},
		{"Stores a recallable agent memory: facts about the user, behavioral patterns, preference corrections, episodes.", "떠올릴 수 있는 에이전트의 기억을 저장합니다. 사용자에 대한 사실, 습관, 선호, 일화입니다."},
		{"Look at what is remembered", "기억을 봅니다"},
		{"Looked at what is remembered", "기억을 봤습니다"},
		{"Looked at %s", "%s를 봤습니다"},
		{"Recall: %s", "떠올리기: %s"},
		{"Recalled %s for: %s", "%s를 떠올렸습니다: %s"},
		{"Remember: %s", "기억하기: %s"},
		{"Remembered: %s", "기억했습니다: %s"},
	}
}
