package mcp

import "oxios/kernel/sys"

func init() { sys.Speaks(koreanApps) }

// koreanApps are the sentences about apps.
func koreanApps() [][2]string {
	return [][2]string{
		{"This app is no longer kept. Its text is shown instead.", "앱이 더 이상 보관되어 있지 않습니다. 대신 텍스트를 표시합니다."},
		{"The server %s is off, so its app is not shown.", "%s 서버가 꺼져 있어 앱을 표시하지 않습니다."},
		{"There is no such page.", "페이지가 없습니다."},
		{"The server %s can change files, so its apps cannot use its tools. Nothing was called.", "%s 서버가 파일을 바꿀 수 있으므로 앱은 도구를 쓸 수 없습니다. 아무것도 호출하지 않았습니다."},
		{"Ask an agent to do it: what it changes can be undone.", "에이전트에게 맡기세요. 에이전트가 바꾼 것은 되돌릴 수 있습니다."},
		{"The server %s does not offer its tool %s to apps. Nothing was called.", "%s 서버는 %s 도구를 앱에 제공하지 않습니다. 아무것도 호출하지 않았습니다."},
		{"The server %s offers its tool %s to apps alone. Nothing was called.", "%s 서버는 %s 도구를 앱에만 제공합니다. 아무것도 호출하지 않았습니다."},
		{"The result of %s is too large for the app.", "%s 도구의 결과가 앱에 전달하기에 너무 큽니다."},
		{"This is no address of a resource. Nothing was read.", "리소스 주소가 아닙니다. 아무것도 읽지 않았습니다."},
		{"The server %s did not give the resource: %s.", "%s 서버에서 리소스를 받지 못했습니다: %s."},
		{"The resource is too large for the app.", "리소스가 앱에 전달하기에 너무 큽니다."},
		{"The app “%s” in this conversation asks for it, not an agent.", "에이전트가 아니라 이 대화의 ‘%s’ 앱이 요청합니다."},
		{"app_hosts of the server %s has an entry that is no name of a machine on the internet", "%s 서버의 app_hosts에 인터넷 호스트 이름이 아닌 항목이 있습니다"},
	}
}
