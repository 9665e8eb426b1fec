package sys

// koreanKernel are the sentences about runs, conversations and the doctor.
func koreanKernel() [][2]string {
	return [][2]string{
		// Runs.
		{"Say what should be done differently, then continue.", "무엇을 다르게 할지 말한 뒤 계속하세요."},
		{"The same step (%s) gave the same result %d times, so the run was ended. What was done before is kept.", "같은 단계(%s)가 %d번 같은 결과를 내서 실행을 끝냈습니다. 그 전에 한 일은 남아 있습니다."},
		{"The tools are: %s.", "있는 도구: %s."},
		{"There is no tool %q. Nothing was done.", "도구 %q이(가) 없습니다. 아무것도 하지 않았습니다."},
		{"Send one JSON object that fits the tool's schema.", "도구의 스키마에 맞는 JSON 객체 하나를 보내세요."},
		{"The arguments of %s are not valid JSON: %v. Nothing was done.", "%s의 인자가 올바른 JSON이 아닙니다: %v. 아무것도 하지 않았습니다."},
		{"Try another way.", "다른 방법을 쓰세요."},
		{"The tool %s failed inside Oxios: %v.", "도구 %s이(가) Oxios 안에서 실패했습니다: %v."},
		{"Oxios is shutting down, so no run was started.", "Oxios가 끝나는 중이라 실행을 시작하지 않았습니다."},
		{"Run %s is running already.", "실행 %s은(는) 이미 진행 중입니다."},
		{"That run has not ended, so there is nothing to continue.", "그 실행은 끝나지 않아 이어서 할 것이 없습니다."},
		{"Look at `oxios ps`.", "`oxios ps`를 보세요."},
		{"The run was told to stop, but has not ended within 5 seconds.", "실행에 중지하라고 했지만 5초 안에 끝나지 않았습니다."},
		{"`oxios ps` lists them.", "`oxios ps`에서 목록을 볼 수 있습니다."},
		{"There is no run %q.", "실행 %q이(가) 없습니다."},
		{"That run has ended already (%s).", "그 실행은 이미 끝났습니다(%s)."},
		{"An agent sees its own changes only.", "에이전트는 자신이 바꾼 것만 봅니다."},
		{"The message is empty. Nothing was sent.", "메시지가 비어 있습니다. 아무것도 보내지 않았습니다."},
		{"Save it as a file in the folder and name the file in your message.", "폴더에 파일로 저장하고 메시지에 그 파일 이름을 쓰세요."},
		{"The message has %.1f MB; 1 MB is the most. Nothing was sent, and your text is kept.", "메시지가 %.1f MB입니다. 1 MB까지만 보낼 수 있습니다. 아무것도 보내지 않았고, 쓴 글은 남아 있습니다."},

		// Quiet hours.
		{"quiet_hours is %q, but must be two different times like 22:00-07:00, or empty", "quiet_hours 값이 %q인데, 22:00-07:00처럼 서로 다른 두 시각이거나 비어 있어야 합니다"},
		{"quiet_until is %q, but must be a time like 2026-01-31T08:00:00+09:00, or empty", "quiet_until 값이 %q인데, 2026-01-31T08:00:00+09:00 같은 시각이거나 비어 있어야 합니다"},

		// The doctor.
		{"%s is open to others (mode %o).", "%s을(를) 다른 사람도 볼 수 있습니다(모드 %o)."},
		{"Run chmod 700 on it.", "chmod 700을 실행하세요."},
		{"%s (not made yet: the defaults are in force)", "%s (아직 없음: 기본값을 씁니다)"},
		{"intact", "온전함"},
		{"intact, %.1f MB", "온전함, %.1f MB"},
		{"Copies made before changes of the database lie beside it; `oxios doctor --restore FILE` goes back to one.", "데이터베이스를 바꾸기 전에 만든 사본이 옆에 있습니다. `oxios doctor --restore FILE`로 되돌아갑니다."},
		{"Export the chain with `oxios audit export` before you do anything else.", "다른 일을 하기 전에 `oxios audit export`로 체인을 내보내세요."},
		{"%d records, intact", "기록 %d개, 온전함"},
		{"level %d of 3: commands are contained; %d of %d trials held", "3단계 중 %d단계: 명령이 격리됩니다. 시험 %[3]d개 중 %[2]d개를 막았습니다"},
		{"level %d of 3: commands are not contained. %s", "3단계 중 %d단계: 명령이 격리되지 않습니다. %s"},
		{"Agents ask before every command.", "에이전트는 명령을 실행하기 전에 모두 묻습니다."},
		{"Agents ask before every command that is not read-only.", "에이전트는 읽기만 하지 않는 모든 명령을 실행하기 전에 묻습니다."},
		{"The program `oxios` must lie beside `oxios-desktop`: it runs the commands.", "`oxios` 프로그램이 `oxios-desktop` 옆에 있어야 합니다. 명령은 그것이 실행합니다."},
		{"There is no system bus, so nothing here can hold off sleep.", "시스템 버스가 없어 절전을 막을 수 없습니다."},
		{"There is no logind on the system bus, so nothing here can hold off sleep.", "시스템 버스에 logind가 없어 절전을 막을 수 없습니다."},
		{"The system does not let Oxios hold off sleep: %w.", "시스템이 Oxios의 절전 방지를 허용하지 않습니다: %w."},
		{"held off while agents work", "에이전트가 일하는 동안 절전을 막습니다"},
		{"not held off (keep_awake is off)", "절전을 막지 않습니다(keep_awake 꺼짐)"},
		{"Agents work all the same; a computer that goes to sleep pauses them.", "에이전트는 그대로 일하지만, 컴퓨터가 절전에 들어가면 멈춥니다."},
		{"%s of %s", "%[2]s의 %[1]s"},
		{"%d in the keyring, %d in the encrypted file", "키링에 %d개, 암호화된 파일에 %d개"},
		{"%s (made when it is first used)", "%s (처음 쓸 때 만듭니다)"},
		{"Set another one with `oxios config set folder`.", "`oxios config set folder`로 다른 폴더를 지정하세요."},
		{"not found", "없음"},
		{"Agents can do less without it.", "이것이 없으면 에이전트가 할 수 있는 일이 줄어듭니다."},

		// Conversations.
		{"A conversation needs a title. The old one was kept.", "대화에는 제목이 필요합니다. 이전 제목을 그대로 두었습니다."},
		{"A run of this conversation is still going. Nothing was deleted.", "이 대화의 실행이 아직 진행 중입니다. 아무것도 지우지 않았습니다."},
		{"Use md or json.", "md나 json을 쓰세요."},
		{"There is no export format %q.", "내보내기 형식 %q은(는) 없습니다."},
		{"The branch that the conversation shows has no run %s.", "대화에서 지금 보이는 갈래에 %s 실행이 없습니다."},
		{"Read the conversation again.", "대화를 다시 읽으세요."},
		{"A page of %d runs cannot be read.", "실행 %d개짜리 페이지는 읽을 수 없습니다."},
		{"Give a limit of 1 or more, or 0 for all runs.", "1 이상의 개수를 주거나, 모두 읽으려면 0을 주세요."},
		{"An agent is at work in this conversation. Nothing was changed.", "이 대화에서 에이전트가 일하고 있습니다. 아무것도 바꾸지 않았습니다."},
		{"Wait until it is done, or stop it first.", "끝날 때까지 기다리거나 먼저 멈추세요."},
		{"That run is no answer of this conversation. Nothing was sent.", "이 대화의 답이 아닌 실행입니다. 아무것도 보내지 않았습니다."},
		{"%s (branch)", "%s (갈래)"},
		{"%s (branch %d)", "%s (갈래 %d)"},
	}
}
