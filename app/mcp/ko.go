package mcp

import "oxios/kernel/sys"

func init() { sys.Speaks(korean) }

// korean are the sentences of this package.
func korean() [][2]string {
	return [][2]string{
		{"An agent's command is no program of the person. Nothing was done.", "에이전트의 명령은 사용자의 프로그램으로 쓸 수 없습니다. 아무것도 하지 않았습니다."},
		{"Oxios cannot tell which process this program is, so it is asked nothing here.", "이 프로그램이 어느 프로세스인지 확인할 수 없어 여기서는 묻지 않습니다."},
		{"Connect it with `oxios mcp serve`, or answer in Oxios.", "`oxios mcp serve` 명령으로 연결하거나 Oxios에서 답하세요."},
		{"This program does not have the scope %s, which %s needs.", "이 프로그램에는 범위 %s 권한이 없습니다. 필요한 곳: %s."},
		{"The person gives it in Oxios: Settings, Programs.", "Oxios의 설정, 프로그램에서 줄 수 있습니다."},
		{"The answer takes %d kB, and %d kB is the most.", "답이 %d kB입니다. 최대 %d kB까지 보낼 수 있습니다."},
		{"Ask for less, or for a part.", "범위를 줄이거나 일부만 요청하세요."},
		{"This program cannot ask its person: it does not offer elicitation.", "이 프로그램은 입력 요청(elicitation)을 지원하지 않아 물을 수 없습니다."},
		{"The person answers in Oxios.", "Oxios에서 답하세요."},
		{"What was asked is not known any more. Nothing was decided.", "무엇을 물었는지 확인할 수 없습니다. 아무것도 결정하지 않았습니다."},
		{"Call %s again.", "%s 도구를 다시 호출하세요."},
		{"This program has no task %q.", "이 프로그램에는 %q 작업이 없습니다."},
		{"Oxios is ending.", "Oxios가 종료되고 있습니다."},
		{"This program has %d sessions open, which is the most.", "이 프로그램의 세션이 이미 최대 %d개입니다."},
		{"End one with DELETE, or wait: one that nobody uses ends after 30 minutes.", "DELETE로 하나를 끝내거나 기다리세요. 쓰지 않는 세션은 30분 뒤에 끝납니다."},
		{"Oxios cannot tell which process this program is. Nothing was done.", "이 프로그램이 어느 프로세스인지 확인할 수 없습니다. 아무것도 하지 않았습니다."},
		{"Connect it with `oxios mcp serve`.", "`oxios mcp serve` 명령으로 연결하세요."},
		{"Oxios cannot look up its programs at the moment. Nothing was done.", "지금은 Oxios가 프로그램을 확인할 수 없습니다. 아무것도 하지 않았습니다."},
		{"Try again; the log says what is wrong.", "다시 시도하세요. 원인은 로그에 있습니다."},
		{"This program has %d requests open, which is the most.", "이 프로그램의 요청이 이미 최대 %d개입니다."},
		{"Wait until one of them has ended.", "하나가 끝날 때까지 기다리세요."},
		{"This program follows %d streams, which is the most.", "이 프로그램이 받는 스트림이 이미 최대 %d개입니다."},
		{"End one of them first.", "하나를 먼저 끝내세요."},
		{"An address to follow has at most %d bytes.", "구독할 주소는 최대 %d바이트입니다."},
		{"Only addresses that begin with %s or %s can be followed.", "%s 또는 %s(으)로 시작하는 주소만 구독할 수 있습니다."},
		{"This program follows %d addresses, which is the most.", "이 프로그램이 구독하는 주소가 이미 최대 %d개입니다."},
		{"Give one of them up first.", "하나를 먼저 해지하세요."},
		{"This program has followed %d addresses, which is the most.", "이 프로그램이 지금까지 구독한 주소가 최대 %d개에 이르렀습니다."},
		{"End all its sessions, then it can follow more.", "세션을 모두 끝내면 더 구독할 수 있습니다."},
	}
}
