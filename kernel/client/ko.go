package client

import "oxios/kernel/sys"

func init() { sys.Speaks(korean) }

// korean are the sentences of this package.
func korean() [][2]string {
	return [][2]string{
		{"Read", "읽기"},
		{"Reads your notes, what Oxios remembers, runs and skills.", "노트, Oxios가 기억하는 내용, 실행, 스킬을 읽습니다."},
		{"Run agents", "에이전트 실행"},
		{"Starts and stops runs. Your rules and approvals hold for them.", "실행을 시작하고 중지합니다. 설정한 규칙과 승인이 그대로 적용됩니다."},
		{"Write notes", "노트 쓰기"},
		{"Creates and changes notes. Every change can be undone.", "노트를 만들고 변경합니다. 모든 변경은 되돌릴 수 있습니다."},
		{"Answer approvals", "승인 요청에 답하기"},
		{"This program then answers approval requests for you. It never answers for runs that a program started.", "이 프로그램이 승인 요청에 대신 답합니다. 프로그램이 시작한 실행의 요청에는 답하지 못합니다."},

		{"The program needs a name. Nothing was added.", "프로그램 이름을 입력하세요. 추가하지 않았습니다."},
		{"Use the name that you know it by, like Claude Desktop.", "Claude Desktop처럼 알아보기 쉬운 이름을 쓰세요."},
		{"The name must be one line of at most %d visible characters. Nothing was added.", "이름은 보이는 글자로 한 줄, %d자까지입니다. 추가하지 않았습니다."},
		{"The program needs at least one scope. Nothing was added.", "범위를 하나 이상 선택하세요. 추가하지 않았습니다."},
		{"Choose from %s.", "선택할 수 있는 값: %s."},
		{"There is no scope %q. Nothing was added.", "%q 범위는 없습니다. 추가하지 않았습니다."},

		{"The list of programs cannot be read: %w.", "프로그램 목록을 읽을 수 없습니다: %w."},
		{"The list of programs could not be saved: %w. Nothing was changed.", "프로그램 목록을 저장하지 못했습니다: %w. 바뀐 것은 없습니다."},
		{"This token is unknown or was revoked.", "알 수 없거나 취소된 토큰입니다."},
		{"Add the program again in Oxios: Settings, Programs; or `oxios mcp clients add`.", "Oxios의 설정, 프로그램에서 또는 `oxios mcp clients add` 명령으로 다시 추가하세요."},
		{"There is no program %q.", "%q 프로그램이 없습니다."},
		{"`oxios mcp clients list` shows them, `oxios mcp clients add` adds one.", "`oxios mcp clients list` 명령으로 목록을 보고 `oxios mcp clients add` 명령으로 추가하세요."},
		{"No program may do this (%s).", "프로그램이 할 수 없는 일입니다 (%s)."},
		{"The person does it in Oxios.", "Oxios에서 직접 하세요."},
		{"%s does not have the scope %s, which this needs.", "%s 프로그램에는 필요한 범위(%s)가 없습니다."},
		{"The person gives it in Oxios: Settings, Programs. A program gets other scopes by being added again.", "Oxios의 설정, 프로그램에서 줄 수 있습니다. 범위를 바꾸려면 프로그램을 다시 추가하세요."},
		{"The access of this program was revoked.", "이 프로그램의 접근 권한이 취소되었습니다."},
		{"There is a program %q already. Nothing was added.", "%q 프로그램이 이미 있습니다. 추가하지 않았습니다."},
		{"Choose another name, or revoke that one first.", "다른 이름을 쓰거나 기존 프로그램을 먼저 취소하세요."},
		{"There are %d programs, which is the most. Nothing was added.", "프로그램이 이미 최대 %d개입니다. 추가하지 않았습니다."},
		{"Revoke one that you do not use.", "쓰지 않는 프로그램의 접근을 취소하세요."},
		{"There is no program %q. Nothing was changed.", "%q 프로그램이 없습니다. 바뀐 것은 없습니다."},
		{"`oxios mcp clients list` shows them.", "`oxios mcp clients list` 명령으로 목록을 확인하세요."},
		{"Only a program asks this of itself.", "프로그램만 자신에 대해 물을 수 있습니다."},
	}
}
