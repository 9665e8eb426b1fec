package sys

// koreanKeep are the sentences about how long things are kept: pruning of the
// audit record, what is emptied, and what cannot be written.
func koreanKeep() [][2]string {
	return [][2]string{
		{"The audit record is kept for ever, so nothing of it is too old.", "감사 기록을 계속 보관하도록 되어 있어 오래된 것이 없습니다."},
		{"Name a date, or set audit_days or audit_max_entries.", "날짜를 적거나 audit_days 또는 audit_max_entries를 정하세요."},
		{"window_secs is %d, but must be 0 or a multiple of %d", "window_secs 값은 %d인데, 0이거나 %d의 배수여야 합니다"},
		{"audit_max_entries is %d, but must be 0 or at least %d", "audit_max_entries 값은 %d인데, 0이거나 %d 이상이어야 합니다"},
		{"Record %d belongs to a step that is still open. Nothing was pruned.", "%d번 기록은 아직 끝나지 않은 단계의 것입니다. 아무것도 정리하지 않았습니다."},
		{"Look at what would go once more.", "무엇이 정리되는지 다시 보세요."},
		{"Look at the audit record", "감사 기록 보기"},
		{"Looked at the audit record", "감사 기록을 봤습니다"},
		{"Look at what happened", "최근 이벤트 보기"},
		{"Looked at what happened", "최근 이벤트를 봤습니다"},
		{"Verify the audit record", "감사 기록 검증"},
		{"Verified the audit record", "감사 기록을 검증했습니다"},
		{"%q is no action of audit.", "%q은(는) audit의 동작이 아닙니다."},
		{"Use query or verify.", "query나 verify를 쓰세요."},
		{"Nothing can be saved, so Oxios only reads and agents do nothing: %s", "저장할 수 없어 Oxios가 읽기만 하고, 에이전트는 아무것도 하지 않습니다: %s"},
		{"Free some space, or look after the disk. Oxios tries again every two seconds.", "디스크 공간을 비우거나 디스크를 살펴보세요. Oxios가 2초마다 다시 해 봅니다."},
	}
}
