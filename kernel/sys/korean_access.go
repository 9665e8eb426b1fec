package sys

// koreanAccess are the sentences about roles and denied paths.
func koreanAccess() [][2]string {
	return [][2]string{
		// Refusals.
		{"Refused by a rule of the person: %s. Nothing was done.", "사람이 정한 규칙이 거부했습니다: %s. 아무것도 하지 않았습니다."},
		{"Go on without it, and do not try it in another way. The person changes the rule: %s", "이것 없이 계속하고 다른 방법으로 시도하지 마세요. 규칙을 바꾸는 곳: %s"},
		{"Settings, Permissions, Roles; `oxios permissions roles set %s`.", "설정 → 권한 → 역할, `oxios permissions roles set %s`."},
		{"Settings, Permissions, Never touched; `oxios permissions allow %s`.", "설정 → 권한 → 건드리지 않는 곳, `oxios permissions allow %s`."},
		{"allowed_tools of the role %s does not name the tool %s", "%s 역할의 allowed_tools에 %s 도구가 없습니다"},
		{"denied_paths keeps %s from all agents", "denied_paths가 %s을(를) 모든 에이전트에게 막습니다"},
		{"denied_paths of the role %s names %s", "%s 역할의 denied_paths에 %s이(가) 있습니다"},
		{"allowed_paths of the role %s names only %s", "%s 역할의 allowed_paths에는 %s만 있습니다"},
		{"network_access is off for the role %s, so that nobody is asked for it", "%s 역할은 network_access가 꺼져 있어 묻지도 않습니다"},
		{"the profile %s of the role %s starts no agents", "%s 프로필(%s 역할)은 에이전트를 시작하지 못합니다"},
		{"the profile %s of the role %s manages no agents", "%s 프로필(%s 역할)은 에이전트를 관리하지 못합니다"},
		{"can_fork is off for the role %s", "%s 역할은 can_fork가 꺼져 있습니다"},
		{"settings are changed by the person alone", "설정은 사람만 바꿉니다"},
		{"nothing is known of %s", "%s에 대해 알려진 것이 없습니다"},
		{"Agents do not work in %s: denied_paths keeps %s from them.", "에이전트는 %s에서 일하지 않습니다. denied_paths가 %s을(를) 막습니다."},
		{"Choose another folder, or take it from the list: Settings, Permissions, Never touched; `oxios permissions allow %s`.", "다른 폴더를 고르거나 목록에서 빼세요: 설정 → 권한 → 건드리지 않는 곳, `oxios permissions allow %s`."},

		// Roles.
		{"%q is no name for a role: it is of letters, digits, - and _.", "%q은(는) 역할 이름으로 쓸 수 없습니다. 영문자, 숫자, -, _만 됩니다."},
		{"The role %s begins with the profile of its name.", "%s 역할은 같은 이름의 프로필에서 시작합니다."},
		{"Make a role of another name.", "다른 이름으로 역할을 만드세요."},
		{"It worked longer than the %d seconds that its role %s allows (max_execution_time_secs), so Oxios stopped it. What was done before is kept.", "역할 %[2]s에 정한 %[1]d초(max_execution_time_secs)보다 오래 일해서 Oxios가 멈췄습니다. 그 전에 한 일은 남아 있습니다."},
		{"Continue, or give the role more time.", "이어서 하게 하거나 역할의 시간을 늘리세요."},
		{"max_execution_time_secs is %d, but must be from 1 to 86400 seconds, or 0 for no limit.", "max_execution_time_secs는 %d이(가) 아니라 1~86400초이거나, 제한이 없으면 0이어야 합니다."},
		{"max_memory_mb is %d, but must be from 16 to 1048576 MB, or 0 for no limit.", "max_memory_mb는 %d이(가) 아니라 16~1048576 MB이거나, 제한이 없으면 0이어야 합니다."},
		{"role is %q, but there is no role of this name", "role이 %q인데, 그런 이름의 역할이 없습니다"},
		{"%s has %q, but a path begins with ~ or is absolute", "%s에 %q이(가) 있지만, 경로는 ~로 시작하거나 절대 경로여야 합니다"},
		{"%s has %q, which holds everything: agents could do nothing", "%s에 %q이(가) 있지만, 모든 것이 그 안에 있어 에이전트가 아무 일도 할 수 없습니다"},
		{"There is no role %q. Nothing was done.", "%q 역할은 없습니다. 아무것도 하지 않았습니다."},
		{"`oxios permissions roles list` shows them; choose another one.", "`oxios permissions roles list`로 보고 다른 것을 고르세요."},
		{"There is no role %q of yours. Nothing was changed.", "직접 만들거나 바꾼 %q 역할이 없습니다. 아무것도 바꾸지 않았습니다."},
		{"`oxios permissions roles list` shows them.", "`oxios permissions roles list`로 볼 수 있습니다."},
		{"New conversations start with the role %s. Nothing was changed.", "새 대화가 %s 역할로 시작합니다. 아무것도 바꾸지 않았습니다."},
		{"Choose another one for them first.", "먼저 다른 역할을 고르세요."},
		{"There is no action %q.", "%q 동작은 없습니다."},
		{"There is no tool %q.", "%q 도구는 없습니다."},
		{"`oxios tools list` shows them.", "`oxios tools list`로 볼 수 있습니다."},
		{"%s. Nothing was changed.", "%s. 아무것도 바꾸지 않았습니다."},
		{"%s is not among the denied paths. Nothing was changed.", "%s은(는) 금지된 경로가 아닙니다. 아무것도 바꾸지 않았습니다."},
		{"`oxios permissions show` lists them.", "`oxios permissions show`로 볼 수 있습니다."},
		{"config.toml is written in a way that Oxios does not change by itself. Nothing was changed.", "config.toml이 Oxios가 직접 바꾸지 않는 방식으로 쓰여 있습니다. 아무것도 바꾸지 않았습니다."},
		{"Change it in an editor: denied_paths, granted_addresses, and a table [roles.NAME] for each role; it is read again by itself.", "편집기에서 denied_paths, granted_addresses, 역할마다의 [roles.이름] 표를 바꾸세요. 저절로 다시 읽습니다."},

		// Addresses of the own network.
		{"%q is neither an address nor a range of addresses", "%q은(는) 주소도 주소 범위도 아닙니다"},
		{"Write it as 192.168.1.20 or 192.168.1.0/24.", "192.168.1.20이나 192.168.1.0/24처럼 적으세요."},
		{"%s can be opened to nobody", "%s은(는) 누구에게도 열 수 없습니다"},
		{"%s holds more than one network of yours", "%s은(는) 내부 네트워크 하나보다 넓습니다"},
		{"Name the range that is meant, such as 192.168.1.0/24.", "192.168.1.0/24처럼 필요한 범위만 적으세요."},
		{"%s is not in your own network", "%s은(는) 내부 네트워크 주소가 아닙니다"},
		{"Public addresses need no grant.", "공개 주소는 따로 열 필요가 없습니다."},
		{"granted_addresses: %s", "granted_addresses: %s"},
		{"%s is not among the granted addresses. Nothing was changed.", "%s은(는) 열어 둔 주소가 아닙니다. 아무것도 바꾸지 않았습니다."},

		// The tool.
		{"Look at permissions", "권한 보기"},
		{"Looked at permissions", "권한을 보았습니다"},
		{"Check what is allowed: %s", "허용되는지 확인: %s"},
	}
}
