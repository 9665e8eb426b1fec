package sys

// koreanGrants are the sentences about kinds of steps that a person allows
// beforehand.
func koreanGrants() [][2]string {
	return [][2]string{
		// Why a kind cannot be allowed.
		{"Command lines of PowerShell are asked for each time.", "PowerShell 명령줄은 매번 묻습니다."},
		{"What this line does is not all to be seen in it, so it is asked for each time.", "이 줄만 보고는 하는 일을 다 알 수 없어 매번 묻습니다."},
		{"It touches something outside the folder, so it is asked for each time.", "폴더 밖을 건드리므로 매번 묻습니다."},
		{"It deletes, so it is asked for each time.", "삭제하는 명령이므로 매번 묻습니다."},
		{"It goes on in the background, so it is asked for each time.", "백그라운드에서 계속되므로 매번 묻습니다."},
		{"Only one plain command can be allowed as a kind: no pipes, lists, redirections or variables.", "단순한 명령 하나만 종류로 허용할 수 있습니다. 파이프, 여러 명령, 리디렉션, 변수는 안 됩니다."},
		{"With the network %s can send whatever it reads, so it is asked for each time.", "네트워크를 쓰면 %s이(가) 읽은 것을 보낼 수 있어 매번 묻습니다."},
		{"%s can start other programs, and nothing contains them on this machine, so it is asked for each time.", "%s이(가) 다른 프로그램을 시작할 수 있는데 이 컴퓨터에서는 격리되지 않아 매번 묻습니다."},
		{"There is no program %s here that could be allowed.", "여기에는 허용할 수 있는 %s 프로그램이 없습니다."},
		{"Agents may write the file of %s, so it is asked for each time.", "%s의 파일을 에이전트가 바꿀 수 있어 매번 묻습니다."},
		{"%s can run any other program, so it is asked for each time.", "%s은(는) 다른 프로그램을 무엇이든 실행할 수 있어 매번 묻습니다."},
		{"%s can start other programs in ways that its words do not show, so it is asked for each time.", "%s은(는) 명령에 드러나지 않게 다른 프로그램을 시작할 수 있어 매번 묻습니다."},
		{"The files that say what %s does cannot be read, so it is asked for each time.", "%s이(가) 할 일을 정한 파일을 읽을 수 없어 매번 묻습니다."},
		{"This repository's settings name other programs, so it is asked for each time.", "이 저장소의 설정에 다른 프로그램이 있어 매번 묻습니다."},
		{"Which repository this is cannot be told for sure, so it is asked for each time.", "어느 저장소인지 확실하지 않아 매번 묻습니다."},
		{"Only commands can be allowed as a kind of step.", "명령만 종류로 허용할 수 있습니다."},

		// Giving and taking back.
		{"This kind of step cannot be allowed beforehand. Nothing was decided.", "이 종류의 단계는 미리 허용할 수 없습니다. 아무것도 결정하지 않았습니다."},
		{"Approve it once.", "한 번만 승인하세요."},
		{"Use run, session or folder.", "run, session, folder 중에서 쓰세요."},
		{"This request belongs to no conversation. Nothing was decided.", "이 요청은 어느 대화에도 속하지 않습니다. 아무것도 결정하지 않았습니다."},
		{"This request belongs to no run. Nothing was decided.", "이 요청은 어느 실행에도 속하지 않습니다. 아무것도 결정하지 않았습니다."},
		{"A kind of step is allowed for a minute at least and 30 days at most. Nothing was decided.", "한 종류의 단계는 1분에서 30일까지 허용할 수 있습니다. 아무것도 결정하지 않았습니다."},
		{"This kind of step is no longer allowed beforehand.", "이 종류의 단계는 이제 미리 허용되지 않습니다."},
		{"There is no grant %q.", "%q 허용은 없습니다."},
		{"See the list of grants.", "허용 목록을 보세요."},
		{"There is nothing to take back: this grant has ended.", "취소할 것이 없습니다. 이 허용은 이미 끝났습니다."},
	}
}
