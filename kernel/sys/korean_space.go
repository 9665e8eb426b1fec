package sys

// koreanSpace are the sentences about spaces.
func koreanSpace() [][2]string {
	return [][2]string{
		{"A space needs a name. Nothing was changed.", "공간에는 이름이 필요합니다. 아무것도 바꾸지 않았습니다."},
		{"%q is the name of the default space. Nothing was changed.", "%q은(는) 기본 공간의 이름입니다. 아무것도 바꾸지 않았습니다."},
		{"The emoji of a space is one character, not a text. Nothing was changed.", "공간의 이모지는 글이 아니라 한 글자입니다. 아무것도 바꾸지 않았습니다."},
		{"The instructions of a space have at most %d characters. Nothing was changed.", "공간의 지침은 %d자까지입니다. 아무것도 바꾸지 않았습니다."},
		{"A space has at most %d words and %d paths. Nothing was changed.", "공간에는 단어 %d개, 경로 %d개까지 넣습니다. 아무것도 바꾸지 않았습니다."},
		{"The space %q is archived. Nothing was changed.", "%q 공간은 보관되어 있습니다. 아무것도 바꾸지 않았습니다."},
		{"Restore it first: `oxios spaces restore`.", "먼저 되살리세요: `oxios spaces restore`."},
		{"The default space is always there and has no settings. Nothing was changed.", "기본 공간은 항상 있고 설정이 없습니다. 아무것도 바꾸지 않았습니다."},
		{"The number of days must be at least 1. Nothing was archived.", "일수는 1 이상이어야 합니다. 아무것도 보관하지 않았습니다."},
		{"The space %q is not empty: conversations %d, memories %d. It was kept as it is.", "%q 공간이 비어 있지 않습니다. 대화 %d개, 기억 %d개. 그대로 두었습니다."},
		{"Move them to another space, merge it into one, or archive it.", "다른 공간으로 옮기거나, 합치거나, 보관하세요."},
		{"Give the space another folder: `oxios spaces set`.", "공간에 다른 폴더를 정하세요: `oxios spaces set`."},
		{"The folder %s of the space %q is not there any more. Nothing was sent, and the space is kept.", "폴더 %s(%q 공간)가 이제 없습니다. 아무것도 보내지 않았고 공간은 그대로입니다."},
		{"Bring the folder back, give the space another one, or choose a folder for this conversation.", "폴더를 되돌리거나, 공간에 다른 폴더를 정하거나, 이 대화의 폴더를 고르세요."},
		{"There is no conversation to move. Nothing was changed.", "옮길 대화가 없습니다. 아무것도 바꾸지 않았습니다."},
		{"The last messages fit the space %q. Move this conversation there?", "최근 메시지가 %q 공간에 맞습니다. 이 대화를 그곳으로 옮길까요?"},
		{"The last messages fit no space. Make the space %q for this conversation?", "최근 메시지에 맞는 공간이 없습니다. 이 대화를 위해 %q 공간을 만들까요?"},
		{"The spaces %q and %q share %s. Merge the first, with %d conversations, into the second?", "%q 공간과 %q 공간이 %s을(를) 함께 씁니다. 앞 공간(대화 %d개)을 뒤 공간에 합칠까요?"},
		{"There is no proposal %q, or it holds no longer. Nothing was changed.", "%q 제안이 없거나 더는 맞지 않습니다. 아무것도 바꾸지 않았습니다."},
		{"`oxios spaces proposals` shows those that there are.", "`oxios spaces proposals`로 있는 것을 봅니다."},
		{"The default space cannot be merged. Nothing was changed.", "기본 공간은 합칠 수 없습니다. 아무것도 바꾸지 않았습니다."},
		{"Move conversations instead: `oxios spaces move`.", "대신 대화를 옮기세요: `oxios spaces move`."},
		{"A space cannot be merged into itself. Nothing was changed.", "공간을 자신과 합칠 수 없습니다. 아무것도 바꾸지 않았습니다."},
		{"There is no merge %q that could be undone. Nothing was changed.", "되돌릴 수 있는 합치기 %q이(가) 없습니다. 아무것도 바꾸지 않았습니다."},
		{"Name the space that was merged away.", "합쳐져 없어진 공간의 이름을 쓰세요."},

		{"Shows the spaces, the person's contexts of work, and tells which one a text belongs to.", "사용자의 일 맥락인 공간을 보여 주고, 글이 어느 공간에 속하는지 알려 줍니다."},
		{"Look at the spaces", "공간을 봅니다"},
		{"Looked at the spaces", "공간을 봤습니다"},
		{"Look at the space %s", "%s 공간을 봅니다"},
		{"Looked at the space %s", "%s 공간을 봤습니다"},
		{"Find the space of: %s", "공간 찾기: %s"},
		{"Found the space of: %s", "공간을 찾았습니다: %s"},
	}
}
