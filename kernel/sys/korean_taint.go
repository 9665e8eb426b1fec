package sys

// koreanTaint are the sentences about where what a run has read came from.
func koreanTaint() [][2]string {
	return [][2]string{
		{"what the skill %s says", "%s 스킬의 내용"},
		{"what the server %s said", "%s 서버가 보낸 내용"},
		// What labels are of. Each stands in the place of "%s" in the sentences below.
		{"%s from %s, a folder that you have not trusted", "%s (신뢰하지 않은 폴더 %s)"},
		{"what lies in %s, a folder that you have not trusted", "신뢰하지 않은 폴더 %s에 있는 것"},
		{"what `%s` got from the network", "`%s`이(가) 네트워크에서 받은 것"},
		{"the attachment %s", "첨부한 %s"},
		{"%s, outside the folder of the run", "%s (실행 폴더 밖)"},
		{"%s, which may hold passwords or keys", "%s (비밀번호나 키가 있을 수 있음)"},
		{"%s, which an agent wrote after it had read %s", "%s (에이전트가 다음을 읽은 뒤 쓴 파일: %s)"},
		{"%s; and %d more", "%s 외 %d개"},

		// What the guard says of them.
		{"Nothing on this machine contains commands, and this run has read %s. So it runs none.", "이 컴퓨터에서는 명령이 격리되지 않고, 이 실행은 %s을(를) 읽었습니다. 그래서 명령을 실행하지 않습니다."},
		{"Work with the file tools. The person can run the command themselves, or say with `oxios taint trust` that what was read is to be trusted.", "파일 도구로 일하세요. 명령은 사용자가 직접 실행하거나, 읽은 것을 `oxios taint trust`로 신뢰한다고 할 수 있습니다."},
		{"This changes what agents may do or are told, and this run has read %s. Nothing was changed.", "이 일은 에이전트가 할 수 있는 일이나 받는 지침을 바꾸는데, 이 실행은 %s을(를) 읽었습니다. 아무것도 바꾸지 않았습니다."},
		{"Tell the person what you would change: they can do it themselves, or say with `oxios taint trust` that what was read is to be trusted.", "무엇을 바꾸려는지 사용자에게 알리세요. 사용자가 직접 바꾸거나, 읽은 것을 `oxios taint trust`로 신뢰한다고 할 수 있습니다."},
		{"It may not be what you asked for: the run has read something from outside.", "사용자가 시킨 일이 아닐 수 있습니다. 이 실행이 밖에서 온 것을 읽었습니다."},
		{"The run has read something from outside and something private, so whatever leaves its folder is asked for each time.", "이 실행이 밖에서 온 것과 사적인 것을 모두 읽었으므로, 폴더 밖으로 나가는 일은 매번 묻습니다."},
		{"The run has read something from outside, so this is asked for each time.", "이 실행이 밖에서 온 것을 읽었으므로 매번 묻습니다."},
		{"Starts another agent: %s", "다른 에이전트를 시작합니다: %s"},
		{"Hands a task to another agent: %s", "다른 에이전트에게 일을 맡깁니다: %s"},
		{"Begins a task: %s", "작업을 시작합니다: %s"},
		{"It is in %s, which you have not said that you trust. `oxios folders trust %s` says it.", "신뢰한다고 정하지 않은 %s에 있습니다. 신뢰하려면 `oxios folders trust %s`를 실행하세요."},
		{"It is not followed until you trust it: %s.", "신뢰하기 전에는 따르지 않습니다: %s."},
		{"%s has signs there that nobody sees, and that were left out when it was read. Nothing was changed.", "%s의 그 자리에는 보이지 않는 문자가 있고, 읽을 때 빠졌습니다. 아무것도 바꾸지 않았습니다."},
		{"Replace the lines around them, or write the whole file.", "주변 줄을 바꾸거나 파일 전체를 쓰세요."},
		{"There is no label %q.", "%q 표시는 없습니다."},
		{"`oxios taint list` shows those that there are.", "`oxios taint list`로 있는 것을 봅니다."},
	}
}
