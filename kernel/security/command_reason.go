package security

// The reasons of the command policy. The English text is what follows "this"
// or "Refused:"; the Korean one is a sentence of its own. Of two reasons with
// the same tier the heavier one is told.
var (
	cmdOnlyReads   = cmdReason{0, "only looks", "읽기만 합니다"}
	cmdToolReports = cmdReason{0, "asks an installed tool about itself", "설치된 도구의 정보를 묻습니다"}

	// How the line is written.
	cmdOddText       = cmdReason{3, "contains characters that cannot be seen or look like others", "보이지 않거나 다른 글자처럼 보이는 문자가 들어 있습니다"}
	cmdTooLong       = cmdReason{9, "is longer than 1 MB", "명령이 1MB보다 깁니다"}
	cmdTooDeep       = cmdReason{3, "is nested too deeply to follow", "너무 깊이 겹쳐 있어 분석할 수 없습니다"}
	cmdUnparsable    = cmdReason{2, "could not be understood", "명령을 이해할 수 없습니다"}
	cmdManyLines     = cmdReason{1, "has several lines", "여러 줄로 된 명령입니다"}
	cmdShellLogic    = cmdReason{1, "is a small program of the shell", "셸 프로그램입니다"}
	cmdBackground    = cmdReason{2, "starts something in the background", "백그라운드에서 실행합니다"}
	cmdExpansion     = cmdReason{1, "contains values that are only known when it runs", "실행할 때 정해지는 값이 들어 있습니다"}
	cmdObscured      = cmdReason{4, "hides the name of the program", "프로그램 이름을 감추고 있습니다"}
	cmdHiddenProgram = cmdReason{4, "runs a program whose name cannot be seen", "어떤 프로그램을 실행하는지 알 수 없습니다"}
	cmdSetsVariable  = cmdReason{2, "sets variables for programs", "프로그램의 환경 변수를 바꿉니다"}
	cmdSteersProgram = cmdReason{4, "changes which programs are run", "실행되는 프로그램을 바꿉니다"}
	cmdHereText      = cmdReason{1, "passes text to a program", "프로그램에 텍스트를 전달합니다"}
	cmdGlobOption    = cmdReason{1, "lets file names become options", "파일 이름이 옵션으로 쓰일 수 있습니다"}
	cmdUnknownOption = cmdReason{1, "uses an option that is not known to be harmless", "안전한지 알 수 없는 옵션을 씁니다"}
	cmdWindowsShell  = cmdReason{1, "is a command for Windows", "Windows 명령입니다"}
	cmdNeverEnds     = cmdReason{3, "does not end by itself", "스스로 끝나지 않습니다"}

	// What it runs.
	cmdUnknownProgram = cmdReason{1, "runs a program that is not known to only look", "읽기 전용인지 알 수 없는 프로그램을 실행합니다"}
	cmdLocalProgram   = cmdReason{3, "runs a program from a folder", "폴더에 있는 프로그램을 실행합니다"}
	cmdRunsScript     = cmdReason{3, "runs a script", "스크립트를 실행합니다"}
	cmdInlineCode     = cmdReason{3, "runs program code", "프로그램 코드를 실행합니다"}
	cmdStartsOther    = cmdReason{2, "starts other programs", "다른 프로그램을 실행합니다"}
	cmdRunsBuild      = cmdReason{3, "runs what the project defines", "프로젝트에 정의된 작업을 실행합니다"}
	cmdRunsHidden     = cmdReason{5, "runs commands that cannot be seen", "보이지 않는 명령을 실행합니다"}
	cmdOpens          = cmdReason{4, "opens an application", "응용 프로그램을 엽니다"}
	cmdOpensEditor    = cmdReason{3, "opens a program that can run others", "다른 프로그램을 실행할 수 있는 프로그램을 엽니다"}

	// What it changes.
	cmdWritesFile    = cmdReason{4, "writes files", "파일을 씁니다"}
	cmdChangesRights = cmdReason{4, "changes permissions", "권한을 바꿉니다"}
	cmdDeletes       = cmdReason{7, "deletes files", "파일을 삭제합니다"}
	cmdChangesGit    = cmdReason{4, "changes the repository", "저장소를 변경합니다"}
	cmdDeletesFolder = cmdReason{8, "deletes whole folders", "폴더를 통째로 삭제합니다"}
	cmdRewritesGit   = cmdReason{7, "discards or rewrites work in the repository", "저장소의 작업을 버리거나 다시 씁니다"}
	cmdRunsSettings  = cmdReason{5, "starts programs that the repository names", "저장소가 지정한 프로그램을 실행합니다"}
	cmdGitSettings   = cmdReason{4, "changes what git runs or where it looks", "git이 실행하거나 참조하는 것을 바꿉니다"}
	cmdStops         = cmdReason{5, "ends other programs", "다른 프로그램을 종료합니다"}
	cmdInstalls      = cmdReason{6, "installs or removes software", "소프트웨어를 설치하거나 제거합니다"}
	cmdServices      = cmdReason{5, "controls services or containers", "서비스나 컨테이너를 제어합니다"}
	cmdDatabase      = cmdReason{5, "works on a database", "데이터베이스를 다룹니다"}
	cmdSettings      = cmdReason{5, "changes settings", "설정을 변경합니다"}

	// Where it goes.
	cmdNetwork       = cmdReason{6, "uses the network", "네트워크를 사용합니다"}
	cmdListens       = cmdReason{7, "waits for connections from the network", "네트워크 연결을 기다립니다"}
	cmdReadsOutside  = cmdReason{5, "reads outside the folder", "폴더 밖을 읽습니다"}
	cmdUsesOutside   = cmdReason{6, "uses files outside the folder", "폴더 밖의 파일을 사용합니다"}
	cmdReadsPrivate  = cmdReason{8, "reads files that may hold passwords or keys", "비밀번호나 키가 들어 있을 수 있는 파일을 읽습니다"}
	cmdReadsEnv      = cmdReason{8, "shows environment variables, which may hold keys", "키가 들어 있을 수 있는 환경 변수를 보여 줍니다"}
	cmdLooksAround   = cmdReason{6, "looks at this computer's programs, accounts or network, or changes them", "이 컴퓨터의 프로그램, 계정, 네트워크를 살펴보거나 바꿉니다"}
	cmdUnknownFolder = cmdReason{4, "works in a folder that is only known when it runs", "실행할 때 정해지는 폴더에서 작업합니다"}
	cmdReadsDevice   = cmdReason{3, "reads a device", "장치를 읽습니다"}

	// What nobody can approve.
	cmdAdmin         = cmdReason{5, "asks for administrator rights", "관리자 권한을 요구합니다"}
	cmdDeletesTree   = cmdReason{6, "deletes whole folders without asking", "확인 없이 폴더 전체를 삭제합니다"}
	cmdDeletesHome   = cmdReason{8, "deletes the home folder or the system", "홈 폴더나 시스템을 삭제합니다"}
	cmdDeletesBeyond = cmdReason{6, "deletes files outside the folder without asking", "폴더 밖의 파일을 확인 없이 삭제합니다"}
	cmdDisk          = cmdReason{8, "overwrites or formats a disk", "디스크를 덮어쓰거나 포맷합니다"}
	cmdRawDisk       = cmdReason{7, "reaches around the file system to a disk or to memory", "파일 시스템을 거치지 않고 디스크나 메모리에 접근합니다"}
	cmdBoot          = cmdReason{8, "changes how the computer starts", "컴퓨터의 부팅 설정을 바꿉니다"}
	cmdPower         = cmdReason{8, "turns the computer off or restarts it", "컴퓨터를 끄거나 다시 시작합니다"}
	cmdKernel        = cmdReason{7, "changes the running kernel", "실행 중인 커널을 변경합니다"}
	cmdSystemFiles   = cmdReason{6, "changes system files", "시스템 파일을 변경합니다"}
	cmdAccounts      = cmdReason{7, "changes user accounts", "사용자 계정을 변경합니다"}
	cmdFirewall      = cmdReason{7, "changes the firewall", "방화벽을 변경합니다"}
	cmdForkBomb      = cmdReason{9, "starts itself without end", "자기 자신을 끝없이 실행합니다"}
	cmdKillsAll      = cmdReason{6, "ends programs that the agent did not start", "에이전트가 시작하지 않은 프로그램을 종료합니다"}
	cmdRunsDownload  = cmdReason{9, "runs what it downloads or decodes", "내려받거나 디코딩한 것을 바로 실행합니다"}
	cmdRunsInput     = cmdReason{7, "runs text from a pipe as commands", "파이프로 받은 텍스트를 명령으로 실행합니다"}
	cmdReverseShell  = cmdReason{9, "gives another machine control over this one", "다른 컴퓨터에 이 컴퓨터의 제어권을 줍니다"}
	cmdReadsSecret   = cmdReason{7, "reads passwords or keys", "비밀번호나 키를 읽습니다"}
	cmdSendsSecrets  = cmdReason{9, "sends private data to another machine", "개인 데이터를 다른 컴퓨터로 보냅니다"}
	cmdMetadata      = cmdReason{8, "asks a cloud service for the machine's credentials", "클라우드 자격 증명을 요청합니다"}
	cmdHidesTraces   = cmdReason{7, "hides or deletes records", "기록을 숨기거나 삭제합니다"}
	cmdPersists      = cmdReason{7, "makes something run later by itself", "나중에 저절로 실행되도록 만듭니다"}
	cmdSetuid        = cmdReason{7, "gives a program the rights of another user", "프로그램에 다른 사용자의 권한을 줍니다"}
	cmdAttack        = cmdReason{6, "is a tool for attacks or breaking passwords", "공격이나 비밀번호 해독 도구입니다"}
	cmdInjects       = cmdReason{7, "takes over a running program", "실행 중인 프로그램을 조작합니다"}
	cmdEscapes       = cmdReason{7, "gives a container control over this machine", "컨테이너에 이 컴퓨터의 제어권을 줍니다"}
	cmdDisguised     = cmdReason{5, "disguises what it runs", "실행하는 내용을 위장합니다"}
	cmdProtected     = cmdReason{9, "reaches into Oxios' own files", "Oxios 자체의 파일에 접근합니다"}
)
