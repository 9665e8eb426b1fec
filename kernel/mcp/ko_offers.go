package mcp

import "oxios/kernel/sys"

func init() { sys.Speaks(koreanOffers) }

// koreanOffers are the sentences about what servers have besides tools.
func koreanOffers() [][2]string {
	return [][2]string{
		{"This is not the URI of a resource: it is empty, too long, or holds characters that cannot be seen. Nothing was read.", "리소스의 URI가 아닙니다. 비었거나 너무 길거나 보이지 않는 글자가 들어 있습니다. 읽지 않았습니다."},
		{"Reads a resource of the server %s", "%s 서버의 리소스를 읽습니다"},
		{"The server %s has no resources. Nothing was read.", "%s 서버에는 리소스가 없습니다. 읽지 않았습니다."},
		{"Takes a prompt of the server %s", "%s 서버의 프롬프트를 가져옵니다"},
		{"The server %s has no prompt %q. Nothing was called.", "%s 서버에 이름이 %q인 프롬프트가 없습니다. 호출하지 않았습니다."},
		{"`oxios mcp prompts %s` shows them.", "`oxios mcp prompts %s` 명령으로 프롬프트를 확인하세요."},
		{"`oxios mcp prompts %s` shows which it takes.", "`oxios mcp prompts %s` 명령으로 필요한 값을 확인하세요."},
		{"The prompt %s needs a value for: %s.", "%s 프롬프트에 필요한 값이 빠졌습니다: %s."},
		{"Write it behind the name: %s=…", "프롬프트 이름 뒤에 적으세요: %s=…"},
		{"The prompt %s takes no value named %s.", "%s 프롬프트는 다음 이름의 값을 받지 않습니다: %s."},
		{"The values for the prompt %s have more than %d kB.", "%s 프롬프트에 넣을 값이 %d kB를 넘습니다."},
		{"The prompt %s gave no text.", "%s 프롬프트가 내용을 보내지 않았습니다."},
		{"The server %s did not answer within %s.", "%s 서버가 %s 안에 응답하지 않았습니다."},
		{"The server %s ended before it had answered.", "%s 서버가 응답하기 전에 종료되었습니다."},
		{"The server %s sent more than %d MB at once, so it was ended.", "%s 서버가 한 번에 %d MB가 넘게 보내서 종료했습니다."},
		{"The connection to the server %s broke off before it had answered.", "%s 서버가 응답하기 전에 연결이 끊어졌습니다."},
		{"Try again.", "다시 시도하세요."},
		{"The server %s did not give %s: %w.", "%s 서버가 요청한 내용을 보내지 않았습니다(%s): %w."},
		{"The server %s wants addresses opened again and again, so it was not asked any more.", "%s 서버가 주소를 열라고 되풀이해 요구해서 더 호출하지 않았습니다."},
		{"The server %s wants addresses opened first, but does not say which, or too many.", "%s 서버가 먼저 주소를 열라고 하지만 어떤 주소인지 알려 주지 않았거나 너무 많습니다."},
		{"The server %s wants an address opened first, and the person did not open it. Nothing was called.", "%s 서버가 먼저 주소를 열라고 했지만 열지 않았습니다. 호출하지 않았습니다."},
	}
}
