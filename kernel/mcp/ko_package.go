package mcp

import "oxios/kernel/sys"

func init() { sys.Speaks(koreanPackage) }

// koreanPackage are the sentences about packages that a server's command downloads.
func koreanPackage() [][2]string {
	return [][2]string{
		{"Oxios does not know the option %s of npx.", "npx의 %s 옵션은 Oxios가 지원하지 않습니다."},
		{"npx is given no package.", "npx에 패키지 이름이 없습니다."},
		{"Oxios does not know the option %s of uvx.", "uvx의 %s 옵션은 Oxios가 지원하지 않습니다."},
		{"uvx is given no package.", "uvx에 패키지 이름이 없습니다."},
		{"%q is no package of a registry. Oxios installs packages by their name alone, with a version behind it or not.", "%q 값은 레지스트리의 패키지가 아닙니다. Oxios는 이름(뒤에 버전을 붙일 수 있음)으로만 패키지를 설치합니다."},
		{"The registry %s cannot be used. %s", "%s 레지스트리를 쓸 수 없습니다. %s"},
		{"The registry %s must begin with https, because what comes from it could be changed on the way.", "%s 레지스트리 주소는 https로 시작해야 합니다. 그렇지 않으면 받는 내용이 도중에 바뀔 수 있습니다."},
		{"Its first start downloads %s from %s. The network is open for that alone, and no script of the package runs while it is installed.", "처음 시작할 때 %s 패키지를 %s에서 내려받습니다. 이때만 네트워크를 쓰고, 설치하는 동안 패키지의 스크립트는 실행하지 않습니다."},
		{"The server %s was not started: %w", "%s 서버를 시작하지 않았습니다: %w"},
		{"The files of %s %s are not those that were installed. The server %s was not started.", "%s %s 패키지의 파일이 설치한 것과 다릅니다. %s 서버를 시작하지 않았습니다."},
		{"Install it again: `oxios mcp install %s`.", "다시 설치하세요: `oxios mcp install %s`."},
		{"The server %s needs %s, which is not on this computer. It was not started.", "%s 서버에 필요한 %s 프로그램이 이 컴퓨터에 없습니다. 시작하지 않았습니다."},
		{"Install Node.js 18 or newer.", "Node.js 18 이상을 설치하세요."},
		{"%s is not installed yet. The server %s was not started.", "%s 패키지를 아직 설치하지 않았습니다. %s 서버를 시작하지 않았습니다."},
		{"Install it: `oxios mcp install %s`.", "설치하세요: `oxios mcp install %s`."},
		{"The package %s has no program %s, so it is no server that can be started.", "%s 패키지에 %s 프로그램이 없어 서버로 시작할 수 없습니다."},
		{"The installation was stopped. Nothing was changed.", "설치를 중지했습니다. 바뀐 것은 없습니다."},
		{"The command of the server %s names %s, not the version %s. Nothing was changed.", "%s 서버의 명령은 %s 패키지를 가리키며 %s 버전이 아닙니다. 바뀐 것은 없습니다."},
		{"Add the server again with the other version.", "다른 버전으로 서버를 다시 추가하세요."},
		{"uv does not say which version of %s is the newest. Installing it says so.", "uv는 %s 패키지의 최신 버전을 알려 주지 않습니다. 설치하면 알 수 있습니다."},
		{"The registry did not say which version of %s is the newest.", "레지스트리가 %s 패키지의 최신 버전을 알려 주지 않았습니다."},
		{"The server %s downloads nothing: npx or uvx is not its command. Nothing was done.", "%s 서버는 내려받는 것이 없습니다. 명령이 npx나 uvx가 아닙니다. 아무것도 하지 않았습니다."},
		{"The package of the server %s is being installed already, or Oxios is closing. Nothing was done.", "%s 서버의 패키지를 이미 설치하고 있거나 Oxios를 종료하는 중입니다. 아무것도 하지 않았습니다."},
		{"The installation of %s took more than %s and was stopped. Nothing was changed.", "%s 패키지 설치가 %s 넘게 걸려 중지했습니다. 바뀐 것은 없습니다."},
		{"%s could not be installed: %w. Nothing was changed.", "%s 패키지를 설치하지 못했습니다: %w. 바뀐 것은 없습니다."},
		{"%s could not be installed: %w", "%s 패키지를 설치하지 못했습니다: %w"},
		{"There is not enough space on the disk for %s. Nothing was changed.", "디스크 공간이 부족해 %s 패키지를 설치하지 못했습니다. 바뀐 것은 없습니다."},
		{"%s has no package %s. Nothing was changed.", "%s 레지스트리에 %s 패키지가 없습니다. 바뀐 것은 없습니다."},
		{"Check its name in the command of the server.", "서버 명령에서 패키지 이름을 확인하세요."},
		{"%s has no version %s of %s. Nothing was changed.", "%[1]s 레지스트리에 %[3]s 패키지의 %[2]s 버전이 없습니다. 바뀐 것은 없습니다."},
		{"Check the version in the command of the server.", "서버 명령에서 버전을 확인하세요."},
		{"%s wants you to sign in for %s. Oxios sends no key of npm, so nothing was changed.", "%s 레지스트리에서 %s 패키지를 받으려면 로그인해야 합니다. Oxios는 npm 키를 보내지 않으므로 설치하지 않았습니다."},
		{"What was downloaded of %s is not what the registry says of it. Nothing was changed.", "내려받은 %s 패키지의 내용이 레지스트리 정보와 다릅니다. 바뀐 것은 없습니다."},
		{"Try again. If it stays so, do not use the package.", "다시 시도하세요. 계속 같으면 이 패키지를 쓰지 마세요."},
		{"%s could not be installed, because it needs %s. %s Nothing was changed.", "%s 패키지를 설치하려면 %s에 연결해야 해서 설치하지 못했습니다. %s 바뀐 것은 없습니다."},
		{"%s could not be reached, so %s was not installed.", "%s에 연결할 수 없어 %s 패키지를 설치하지 못했습니다."},
		{"%s needs npm, which is not on this computer. Nothing was installed.", "%s 패키지를 설치하려면 npm이 필요한데 이 컴퓨터에 없습니다. 설치하지 않았습니다."},
		{"Install Node.js 18 or newer, then try again.", "Node.js 18 이상을 설치하고 다시 시도하세요."},
		{"%s needs uv, which is not on this computer. Nothing was installed.", "%s 패키지를 설치하려면 uv가 필요한데 이 컴퓨터에 없습니다. 설치하지 않았습니다."},
		{"Install uv, then try again.", "uv를 설치하고 다시 시도하세요."},
	}
}
