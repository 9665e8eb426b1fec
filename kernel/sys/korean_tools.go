package sys

// koreanTools are what the tools are for, as the settings show it.
func koreanTools() [][2]string {
	return [][2]string{
		{"Reads how a kind of work is done, and runs the scripts for it.", "어떤 일을 하는 방법을 읽고, 그 스크립트를 실행합니다."},
		{"Read the skill %s", "스킬 읽기: %s"},
		{"Run %s of the skill %s", "%[2]s 스킬의 스크립트 실행: %[1]s"},
		{"Ran %s of the skill %s", "%[2]s 스킬의 스크립트 실행됨: %[1]s"},
		{"Runs the script %s of the skill %s", "%[2]s 스킬의 %[1]s 스크립트를 실행합니다"},
		{"Scripts of skills are approved one by one.", "스킬의 스크립트는 하나씩 승인합니다."},
		{"Both file and run are given. Nothing was done.", "file과 run을 함께 지정했습니다. 아무것도 하지 않았습니다."},
		{"Finds tools of connected servers.", "연결된 서버의 도구를 찾습니다."},
		{"Find tools for %s", "도구 찾기: %s"},
		{"Read %s of the server %s", "%[2]s 서버의 리소스 읽기: %[1]s"},
		{"Take the prompt %s of the server %s", "%[2]s 서버의 프롬프트 가져오기: %[1]s"},
		{"List what servers have to read", "서버의 리소스와 프롬프트 목록 보기"},
		{"Both uri and prompt are given. Nothing was done.", "uri와 prompt를 함께 줄 수 없습니다. 아무것도 하지 않았습니다."},
		{"Talks to the other agents that work on the same thing, and hands tasks to them.", "같은 일을 하는 다른 에이전트와 이야기하고 일을 맡깁니다."},
		{"Starts other agents for parts of the work, and waits for them.", "일의 일부를 맡을 다른 에이전트를 시작하고 기다립니다."},
		{"Shows what happened lately in this run and in the agents that it forked.", "이 실행과 여기서 만든 에이전트에게 최근 일어난 일을 보여 줍니다."},
		{"Looks at the record of what agents did, and checks it.", "에이전트가 한 일의 기록을 살펴보고 검증합니다."},
		{"Agrees on what work must achieve before it begins, and asks the person what is unclear.", "일을 시작하기 전에 목표를 정하고, 분명하지 않은 것을 묻습니다."},
		{"Shows what its run may still use. Offered while a limit holds.", "실행이 더 쓸 수 있는 양을 보여 줍니다. 한도가 있을 때만 제공됩니다."},
		{"Replaces text in a file.", "파일의 텍스트를 바꿉니다."},
		{"Runs commands.", "명령을 실행합니다."},
		{"Finds files and folders by name.", "이름으로 파일과 폴더를 찾습니다."},
		{"Searches the text of files.", "파일의 텍스트를 검색합니다."},
		{"Lists a folder.", "폴더의 목록을 봅니다."},
		{"Reads a text file, with line numbers.", "텍스트 파일을 줄 번호와 함께 읽습니다."},
		{"Shows how loaded the machine is.", "컴퓨터가 얼마나 바쁜지 보여 줍니다."},
		{"Shows roles, grants and what would be allowed. It changes nothing.", "역할과 허용된 종류, 무엇이 허용되는지를 보여 줍니다. 아무것도 바꾸지 않습니다."},
		{"Writes a whole file, new or in place of an old one.", "파일 전체를 새로 쓰거나 기존 파일을 대신해 씁니다."},
	}
}
