package mcp

import "oxios/kernel/sys"

func init() { sys.Speaks(korean) }

// korean are the sentences of this package.
func korean() [][2]string {
	return [][2]string{
		{"idle_min is %d, but must be from 0 to 1440", "idle_min이 %d입니다. 0에서 1440까지여야 합니다"},
		{"there are %d servers, but may be at most %d", "서버가 %d개입니다. %d개까지 둘 수 있습니다"},
		{"the server's name %q must be of small letters, digits and hyphens, at most 32", "서버 이름 %q에는 영어 소문자, 숫자, 하이픈만 쓸 수 있고 32자까지입니다"},
		{"the server %s has no command", "%s 서버에 command가 없습니다"},
		{"the command of the server %s is not one line", "%s 서버의 command는 한 줄이어야 합니다"},
		{"the effect of the server %s is %q, but must be none, read, write or network", "%s 서버의 effect가 %q입니다. none, read, write, network 가운데 하나여야 합니다"},
		{"the server %s has the folder %q, but a path begins with ~ or is absolute", "%s 서버의 폴더가 %q입니다. 경로는 ~로 시작하거나 절대 경로여야 합니다"},
		{"the server %s has the variable %q, which no environment can hold", "%s 서버의 환경 변수 이름으로 %q 값은 쓸 수 없습니다"},

		{"Oxios keeps its own files in the folder %s, so no server can have it", "%s 폴더에는 Oxios가 자기 파일을 두므로 서버에 줄 수 없습니다"},
		{"The server %s was not started: %w.", "%s 서버를 시작하지 않았습니다: %w."},
		{"Take that folder out of its read and write in config.toml.", "config.toml에서 이 서버의 read와 write에 있는 그 폴더를 빼세요."},

		{"It offers more than %d tools.", "도구가 %d개를 넘습니다."},
		{"Its name is empty, too long, or holds characters that cannot be seen.", "이름이 비었거나 너무 길거나 보이지 않는 글자가 들어 있습니다."},
		{"The description of its arguments takes more than %d kB.", "인수 설명이 %d kB를 넘습니다."},
		{"Another tool of this server has the same name.", "이 서버에 이름이 같은 도구가 있습니다."},
		{"The description of its arguments is not JSON.", "인수 설명이 JSON이 아닙니다."},
		{"Its arguments are not an object.", "인수가 객체가 아닙니다."},
		{"The description of its arguments is nested too deeply.", "인수 설명이 너무 깊이 중첩되어 있습니다."},
		{"The description of its arguments leads to another address.", "인수 설명이 다른 주소를 참조합니다."},

		{"The description of its results takes more than %d kB.", "결과 설명이 %d kB를 넘습니다."},
		{"The description of its results is nested too deeply, leads to another address, or has a name with characters that cannot be seen.", "결과 설명이 너무 깊이 중첩되어 있거나, 다른 주소를 참조하거나, 이름에 보이지 않는 글자가 들어 있습니다."},
		{"The description of its results is not JSON.", "결과 설명이 JSON이 아닙니다."},
		{"The name of an argument holds characters that cannot be seen.", "인수 이름에 보이지 않는 글자가 들어 있습니다."},

		{"What was known of the server %s cannot be read: %w.", "%s 서버에 대해 저장해 둔 정보를 읽을 수 없습니다: %w."},
		{"Connect it again: `oxios mcp connect %s`.", "다시 연결하세요: `oxios mcp connect %s`."},
		{"What the server %s offers could not be kept: %w.", "%s 서버의 도구 목록을 저장하지 못했습니다: %w."},

		{"The servers are looked after already.", "서버 관리가 이미 실행 중입니다."},
		{"%d servers, %d of them on", "서버 %d개, 켜진 서버 %d개"},
		{"Servers that keep stopping: %s", "계속 종료되는 서버: %s"},
		{"`oxios mcp log %s` shows what it said last.", "`oxios mcp log %s` 명령으로 마지막 로그를 확인하세요."},
		{"Servers that changed their tools: %s", "도구가 바뀐 서버: %s"},
		{"Review the change under Extensions, or with `oxios mcp show %s`.", "확장 화면이나 `oxios mcp show %s` 명령으로 변경을 확인하세요."},

		{"Oxios is closing; no server is started any more.", "Oxios를 종료하는 중이라 서버를 시작하지 않습니다."},
		{"The folder of the server %s cannot be made: %w.", "%s 서버의 폴더를 만들 수 없습니다: %w."},
		{"The log of the server %s cannot be written: %w.", "%s 서버의 로그를 쓸 수 없습니다: %w."},
		{"No pipe could be made for the server %s: %w.", "%s 서버에 쓸 파이프를 만들 수 없습니다: %w."},
		{"The server %s could not be started: %w", "%s 서버를 시작하지 못했습니다: %w"},
		{"Check its command in config.toml, then try again.", "config.toml에 적은 command를 확인하고 다시 시도하세요."},
		{"It did not answer as an MCP server does.", "MCP 서버로서 응답하지 않았습니다."},
		{"It ended with %d before it answered.", "응답하기 전에 코드 %d로 종료되었습니다."},
		{"The server %s could not be connected. %s", "%s 서버에 연결하지 못했습니다. %s"},
		{"`oxios mcp log %s` shows what it said.", "`oxios mcp log %s` 명령으로 로그를 확인하세요."},
		{"The server %s ended by itself %d times within %s, so it is not started again for now.", "%s 서버가 %[3]s 동안 %[2]d번 스스로 종료되어 당분간 다시 시작하지 않습니다."},
		{"`oxios mcp log %s` shows why. `oxios mcp connect %s` tries again at once.", "원인은 `oxios mcp log %s` 명령으로 확인하고, 바로 다시 시도하려면 `oxios mcp connect %s` 명령을 쓰세요."},

		{"There is no server %q. Nothing was done.", "이름이 %q인 서버가 없습니다. 아무것도 하지 않았습니다."},
		{"`oxios mcp list` shows them.", "`oxios mcp list` 명령으로 서버 목록을 확인하세요."},
		{"This cannot be a server: %s. Nothing was changed.", "서버로 추가할 수 없습니다: %s. 바뀐 것은 없습니다."},
		{"The server %s is removed, but its folder could not be deleted: %w.", "%s 서버를 제거했지만 폴더를 삭제하지 못했습니다: %w."},
		{"Delete %s yourself.", "%s 폴더를 직접 삭제하세요."},
		{"The server %s is off. Nothing was done.", "%s 서버가 꺼져 있습니다. 아무것도 하지 않았습니다."},
		{"Switch it on first: `oxios mcp enable %s`.", "먼저 켜세요: `oxios mcp enable %s`."},
		{"The server %s did not say what it offers: %w.", "%s 서버가 도구 목록을 보내지 않았습니다: %w."},
		{"The server %s offers nothing that waits to be accepted. Nothing was changed.", "%s 서버에는 수락을 기다리는 변경이 없습니다. 바뀐 것은 없습니다."},
		{"What the server %s offers changed once more. Nothing was accepted.", "%s 서버의 도구가 또 바뀌었습니다. 수락하지 않았습니다."},
		{"Review it again.", "다시 확인하세요."},
		{"The log of the server %s cannot be read: %w.", "%s 서버의 로그를 읽을 수 없습니다: %w."},
		{"The arguments of %s are not a JSON object. Nothing was called.", "%s의 인수가 JSON 객체가 아닙니다. 호출하지 않았습니다."},
		{"Calls “%s” on the server %s", "%[2]s 서버의 ‘%[1]s’ 도구를 호출합니다"},
		{"Only the server's program knows what this does. You have not set what its tools may do without approval.", "실제 동작은 서버 프로그램만 압니다. 이 서버의 도구가 승인 없이 할 수 있는 일을 아직 정하지 않았습니다."},
		{"Only the server's program knows what this does. You allow its tools this without approval: %s.", "실제 동작은 서버 프로그램만 압니다. 이 서버의 도구에 승인 없이 허용한 것: %s."},
		{"The server %s changed while this waited. Nothing was called.", "기다리는 동안 %s 서버가 바뀌었습니다. 호출하지 않았습니다."},
		{"The server %s is off. Nothing was called.", "%s 서버가 꺼져 있습니다. 호출하지 않았습니다."},
		{"The person can switch it on: `oxios mcp enable %s`.", "사용자가 켤 수 있습니다: `oxios mcp enable %s`."},
		{"The server %s changed what it offers, and the person has not accepted that. Nothing was called.", "%s 서버의 도구가 바뀌었고 사용자가 아직 수락하지 않았습니다. 호출하지 않았습니다."},
		{"The person can look at it: `oxios mcp show %s`.", "사용자가 확인할 수 있습니다: `oxios mcp show %s`."},
		{"What the server %s offers is not known yet. Nothing was called.", "%s 서버의 도구를 아직 모릅니다. 호출하지 않았습니다."},
		{"The person can connect it: `oxios mcp connect %s`.", "사용자가 연결할 수 있습니다: `oxios mcp connect %s`."},
		{"The server %s has no tool %q. Nothing was called.", "%s 서버에 이름이 %q인 도구가 없습니다. 호출하지 않았습니다."},
		{"`oxios mcp tools %s` shows them.", "`oxios mcp tools %s` 명령으로 도구를 확인하세요."},
		{"%s did not answer within %s. Check what it did before you try again.", "%s 도구가 %s 안에 응답하지 않았습니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The server %s ended while %s was called. Check what it did before you try again.", "%[2]s 도구를 호출하는 동안 %[1]s 서버가 종료되었습니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The server %s did not read what was sent to it, so it was ended. Check what %s did before you try again.", "%s 서버가 보낸 내용을 읽지 않아 종료했습니다. 다시 시도하기 전에 %s 도구가 무엇을 했는지 확인하세요."},
		{"The server %s was ended while it started.", "%s 서버를 시작하는 도중에 종료했습니다."},
		{"%s was refused by its server: %w.", "서버가 %s 호출을 거절했습니다: %w."},

		{"The server %s asked for more than fits a form, so the person was not asked.", "%s 서버가 양식에 담을 수 없는 것을 요구해서 사용자에게 묻지 않았습니다."},
		{"The server %s asked for something that looks like a secret (%s). Oxios never passes secrets on this way, so the person was not asked.", "%s 서버가 비밀 정보로 보이는 값(%s)을 요구했습니다. Oxios는 이런 방법으로 비밀 정보를 전달하지 않으므로 사용자에게 묻지 않았습니다."},
		{"The server %s wanted to open an address that is not a plain https address, so the person was not asked.", "%s 서버가 일반 https 주소가 아닌 주소를 열려고 해서 사용자에게 묻지 않았습니다."},
		{"The server %s asks you something", "%s 서버가 묻는 것이 있습니다"},
		{"The server %s asks you to open %s", "%s 서버가 %s 주소를 열어 달라고 합니다"},
		{"The server %s could not ask the model: %w", "%s 서버가 모델에 묻지 못했습니다: %w"},
	}
}
