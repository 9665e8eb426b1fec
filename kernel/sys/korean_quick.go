package sys

// koreanQuick are the sentences about the quick prompt.
func koreanQuick() [][2]string {
	return [][2]string{
		{"%q is not the id of a conversation.", "%q은(는) 대화의 ID가 아닙니다."},
		{"%s could not be started: %w.", "%s을(를) 시작하지 못했습니다: %w."},
		{"%s, so the quick prompt cannot be shown.", "%s. 그래서 빠른 질문 창을 보여 줄 수 없습니다."},
		{"Open the quick prompt again: it starts Oxios.", "빠른 질문을 다시 여세요. 그러면 Oxios가 시작합니다."},
		{"Oxios has ended. What it had confirmed is kept.", "Oxios가 끝났습니다. 확인된 내용은 남아 있습니다."},
		{"See `oxios-desktop quick --help`.", "`oxios-desktop quick --help`를 보세요."},
		{"The call takes a height in pixels.", "호출에는 픽셀 단위의 높이가 필요합니다."},
		{"The quick prompt did not start.", "빠른 질문 창이 시작하지 않았습니다."},
		{"The quick prompt takes no arguments, and its time must be above zero.", "빠른 질문 창은 인자를 받지 않으며, 시간은 0보다 커야 합니다."},
		{"`oxios run` asks from a terminal.", "터미널에서는 `oxios run`으로 물을 수 있습니다."},
		{"logs/quick.log in the Oxios folder says more.", "Oxios 폴더의 logs/quick.log에 더 자세한 내용이 있습니다."},
		{"quick_keys is %q, but must be Ctrl, Alt or Super and a key, like Ctrl+Alt+Space; a key is Space, a letter, a digit, or F1 to F12", "quick_keys가 %q이지만, Ctrl+Alt+Space처럼 Ctrl, Alt, Super 가운데 하나와 키여야 합니다. 키는 Space, 글자, 숫자, F1부터 F12까지입니다"},
	}
}
