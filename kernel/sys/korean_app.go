package sys

// koreanApp are the sentences about the page and about starting with the
// system.
func koreanApp() [][2]string {
	return [][2]string{
		{"%s cannot be removed: %w. Oxios still starts with the system.", "%s을(를) 지울 수 없습니다: %w. Oxios가 여전히 시스템과 함께 시작합니다."},
		{"%s cannot be written: %w. Nothing was changed.", "%s에 쓸 수 없습니다: %w. 아무것도 바꾸지 않았습니다."},
		{"Oxios would start with the system, but %s is not there any more.", "시스템과 함께 시작하게 되어 있지만 %s이(가) 더는 없습니다."},
		{"The Oxios that runs shows no page in a browser.", "실행 중인 Oxios는 브라우저에 화면을 보여 주지 않습니다."},
		{"The page belongs to `oxios serve` and to the service; end the window to use it.", "화면은 `oxios serve`와 서비스가 보여 줍니다. 쓰려면 창을 끝내세요."},
		{"This Oxios has no window that could start with the system: oxios-desktop is not beside it.", "시스템과 함께 시작할 창이 없습니다. oxios-desktop이 옆에 없습니다."},
		{"Turn the automatic start on again: it then starts the program that runs now.", "자동 시작을 다시 켜세요. 그러면 지금 실행 중인 프로그램이 시작합니다."},
		{"Whether Oxios starts with the system cannot be read: %w.", "시스템과 함께 시작하는지 읽을 수 없습니다: %w."},
		{"`oxios service install` starts Oxios without a window.", "`oxios service install`을 쓰면 창 없이 시작합니다."},
	}
}
