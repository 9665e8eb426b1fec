package sys

// koreanPolicy are the sentences about asking policy without doing anything.
func koreanPolicy() [][2]string {
	return [][2]string{
		{"The named trees cannot be read: %w.", "이름 붙은 트리를 읽을 수 없습니다: %w."},
	}
}
