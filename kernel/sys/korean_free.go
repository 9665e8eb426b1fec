package sys

// koreanFree are the sentences about freeing what is kept for undo and replay.
func koreanFree() [][2]string {
	return [][2]string{
		{"%q cannot be freed. Nothing was changed.", "%q은(는) 비울 수 없습니다. 아무것도 바꾸지 않았습니다."},
		{"What can be freed: %s.", "비울 수 있는 것: %s."},
		{"(Oxios: what this step gave was freed on %s.)", "(Oxios: 이 단계의 결과는 %s에 비워졌습니다.)"},
		{"The journal of that run was freed on %s, so it cannot be replayed.", "그 실행의 기록은 %s에 비워져 다시 재생할 수 없습니다."},
		{"What it said and did still stands in its conversation. journal_days says how long journals are kept.", "말하고 한 일은 대화에 남아 있습니다. 기록을 보관하는 기간은 journal_days로 정합니다."},
	}
}
