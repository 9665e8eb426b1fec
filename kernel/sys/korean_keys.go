package sys

// koreanKeys are the sentences about keys: their passphrase, and those that
// older programs left in files.
func koreanKeys() [][2]string {
	return [][2]string{
		{"The keys have no passphrase, so they are not locked.", "키에 암호가 없어 잠겨 있지 않습니다."},
		{"The keys have no passphrase. Nothing was changed.", "키에 암호가 없습니다. 아무것도 바꾸지 않았습니다."},
		{"The passphrase is shorter than %d characters. Nothing was changed.", "암호가 %d자보다 짧습니다. 아무것도 바꾸지 않았습니다."},
		{"Several words are easier to remember than signs.", "기호보다 여러 낱말이 외우기 쉽습니다."},
		{"The passphrase is longer than %d bytes. Nothing was changed.", "암호가 %d바이트보다 깁니다. 아무것도 바꾸지 않았습니다."},
		{"The passphrase contains a line break or a control character. Nothing was changed.", "암호에 줄바꿈이나 제어 문자가 있습니다. 아무것도 바꾸지 않았습니다."},
		{"Write it on one line.", "한 줄로 쓰세요."},
		{"That is not the passphrase of the keys. Nothing was changed.", "키의 암호가 아닙니다. 아무것도 바꾸지 않았습니다."},
		{"Try again. Nobody can recover it; whoever forgot it moves credentials.age and identity.txt out of the folder keys, and enters the keys again.", "다시 시도하세요. 암호는 누구도 되찾을 수 없습니다. 잊었다면 keys 폴더의 credentials.age와 identity.txt를 옮기고 키를 다시 입력하세요."},
		{"The keys are locked with your passphrase.", "키가 암호로 잠겨 있습니다."},
		{"Unlock them in Settings, Models, or with `oxios keys unlock`.", "설정의 모델에서, 또는 `oxios keys unlock`으로 잠금을 푸세요."},
		{"The keys are locked with your passphrase. What needs one of them fails until then", "키가 암호로 잠겨 있습니다. 잠금을 풀 때까지 키가 필요한 일은 실패합니다"},
		{"Keys lie unencrypted in %s", "암호화되지 않은 키가 %s에 있습니다"},
		{"Settings, Models takes them over or leaves them there; so does `oxios keys import`.", "설정의 모델이나 `oxios keys import`로 옮겨 오거나 그대로 둘 수 있습니다."},
		{"%s changed meanwhile, so it was left as it is.", "그사이 %s이(가) 바뀌어 그대로 두었습니다."},
		{"%s cannot be written: %w. It is as it was.", "%s에 쓸 수 없습니다: %w. 파일은 그대로입니다."},
		{"%s cannot be read: %w.", "%s을(를) 읽을 수 없습니다: %w."},
		{"%s is a link, so no keys are taken from it.", "%s은(는) 링크라서 키를 가져오지 않습니다."},
		{"Put the file itself there, and try again.", "파일 자체를 그 자리에 두고 다시 시도하세요."},
		{"%s is no file, so no keys are taken from it.", "%s은(는) 파일이 아니라서 키를 가져오지 않습니다."},
		{"%s belongs to another user, so no keys are taken from it.", "%s은(는) 다른 사용자의 것이라 키를 가져오지 않습니다."},
		{"%s has a second name, under which the keys would stay.", "%s에 다른 이름이 있어 그 이름 아래 키가 남게 됩니다."},
		{"Delete the other name, or copy the file, and try again.", "다른 이름을 지우거나 파일을 복사하고 다시 시도하세요."},
		{"Others may write to %s, so no keys are taken from it.", "다른 사용자가 %s에 쓸 수 있어 키를 가져오지 않습니다."},
		{"Look whether the keys in it are yours, then run: chmod 600 %s", "그 안의 키가 내 것인지 살펴본 뒤 실행하세요: chmod 600 %s"},
		{"Others may write to the folder of %s, so no keys are taken from it.", "다른 사용자가 %s의 폴더에 쓸 수 있어 키를 가져오지 않습니다."},
		{"Look whether the keys in it are yours, then run: chmod 700 %s", "그 안의 키가 내 것인지 살펴본 뒤 실행하세요: chmod 700 %s"},
		{"%s is no JSON that can be read: line %d. It was left as it is.", "%s은(는) 읽을 수 있는 JSON이 아닙니다(%d번째 줄). 그대로 두었습니다."},
		{"%s is no TOML that can be read: line %d. It was left as it is.", "%s은(는) 읽을 수 있는 TOML이 아닙니다(%d번째 줄). 그대로 두었습니다."},
		{"Correct line %d, and try again.", "%d번째 줄을 고치고 다시 시도하세요."},
		{"It belongs to a login that its own program renews, so it stays there.", "그 프로그램이 갱신하는 로그인의 키라서 그대로 둡니다."},
		{"Where this key belongs is not known, so it stays there.", "어느 곳의 키인지 알 수 없어 그대로 둡니다."},
		{"Enter it in Settings, Models with the address of its provider, and delete it from the file.", "설정의 모델에서 제공자 주소와 함께 입력하고 파일에서는 지우세요."},
		{"Another key is stored for %s already, so this one stays there.", "%s의 다른 키가 이미 있어 이 키는 그대로 둡니다."},
		{"Delete it from the file, or remove the provider in Settings, Models and try again.", "파일에서 지우거나, 설정의 모델에서 제공자를 지우고 다시 시도하세요."},
	}
}
