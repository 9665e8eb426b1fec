package mcp

import "oxios/kernel/sys"

func init() { sys.Speaks(koreanImport) }

// koreanImport are the sentences about imports and the keys of programs.
func koreanImport() [][2]string {
	return [][2]string{
		{"The file has more than %d MB. Nothing was imported.", "파일이 %d MB를 넘습니다. 가져오지 않았습니다."},
		{"The file is no JSON, TOML or YAML that can be read: %w. Nothing was imported.", "파일을 JSON, TOML, YAML로 읽을 수 없습니다: %w. 가져오지 않았습니다."},
		{"Choose the settings of a program that has MCP servers.", "MCP 서버가 있는 프로그램의 설정 파일을 고르세요."},
		{"The file names no MCP servers. Nothing was imported.", "파일에 MCP 서버가 없습니다. 가져오지 않았습니다."},
		{"It speaks an older kind of MCP over HTTP (SSE), which Oxios does not.", "Oxios가 지원하지 않는 예전 방식(SSE)의 MCP 서버입니다."},
		{"It has both a command and an address.", "명령과 주소가 모두 있습니다."},
		{"The file has no server %q. Nothing was imported.", "파일에 %q 서버가 없습니다. 가져오지 않았습니다."},
		{"%s cannot be read: %w. Nothing was imported.", "%s 파일을 읽을 수 없습니다: %w. 가져오지 않았습니다."},
		{"Its program lies beside its settings, where no server is started from.", "프로그램이 설정 파일 옆에 있습니다. 그곳에서는 서버를 시작하지 않습니다."},
		{"There is a server of this name already.", "이름이 같은 서버가 이미 있습니다."},
		{"%q is no path and none of these programs: %s. Nothing was imported.", "%q 값은 경로도 아니고 다음 프로그램도 아닙니다: %s. 가져오지 않았습니다."},
		{"The settings of %s are not at %s. Nothing was imported.", "%s 설정 파일이 %s 위치에 없습니다. 가져오지 않았습니다."},
		{"Give the path of its settings.", "설정 파일의 경로를 지정하세요."},
		{"The server %s needs a value for the variable %s. It was not started.", "%s 서버에 환경 변수 %s 값이 필요합니다. 시작하지 않았습니다."},
		{"Enter it: `oxios mcp key %s %s`.", "값을 입력하세요: `oxios mcp key %s %s`."},
		{"The server %s has no variable %q among its secrets in config.toml. Nothing was changed.", "config.toml의 %s 서버 secrets에 %q 변수가 없습니다. 바꾸지 않았습니다."},
		{"Add the server with it: `oxios mcp add NAME --env %s=VALUE -- COMMAND`.", "변수와 함께 서버를 추가하세요: `oxios mcp add NAME --env %s=VALUE -- COMMAND`."},
	}
}
