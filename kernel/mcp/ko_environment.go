package mcp

import "oxios/kernel/sys"

func init() { sys.Speaks(koreanEnvironment) }

// koreanEnvironment are the sentences about servers that the environment names.
func koreanEnvironment() [][2]string {
	return [][2]string{
		{"%s names no server: a name has letters, digits and single underscores, at most 32.", "%s 변수의 서버 이름이 올바르지 않습니다. 영문자, 숫자, 밑줄(연달아 쓸 수 없음)만 쓸 수 있고 32자까지입니다."},
		{"%s and %s name the same server.", "%s 변수와 %s 변수가 같은 서버를 가리킵니다."},
		{"%s has more than %d kB.", "%s 변수 값이 %d kB를 넘습니다."},
		{"%s has a quote that does not end.", "%s 변수에 닫히지 않은 따옴표가 있습니다."},
		{"%s names no command.", "%s 변수에 명령이 없습니다."},
		{"%s is not one line.", "%s 변수 값은 한 줄이어야 합니다."},
		{"%s is an address. Add a server that runs elsewhere under Extensions instead.", "%s 변수 값이 주소입니다. 다른 곳에서 실행되는 서버는 확장 화면에서 추가하세요."},
		{"%s has %s, which only a shell understands. Name the program itself.", "%s 변수에 셸에서만 쓰는 %s 기호가 있습니다. 프로그램을 직접 지정하세요."},
		{"That the server %s is on or off could not be kept: %w.", "%s 서버의 켜짐 상태를 저장하지 못했습니다: %w."},
		{"The server %s comes from the environment variable %s, so it cannot be changed or removed here. Nothing was changed.", "%s 서버는 환경 변수 %s에서 온 것이라 여기에서 바꾸거나 제거할 수 없습니다. 바뀐 것은 없습니다."},
		{"Change or unset %s where you set it, then start Oxios again. To only stop it: `oxios mcp disable %s`.", "설정한 곳에서 %s 변수를 바꾸거나 지우고 Oxios를 다시 시작하세요. 끄기만 하려면 `oxios mcp disable %s` 명령을 쓰세요."},
		{"The server %s cannot be used. %s Nothing was done.", "%s 서버를 쓸 수 없습니다. %s 아무것도 하지 않았습니다."},
		{"Correct %s where you set it, then start Oxios again.", "설정한 곳에서 %s 변수를 고치고 Oxios를 다시 시작하세요."},
	}
}
