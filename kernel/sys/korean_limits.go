package sys

// koreanLimits are the sentences about limits, costs and the machine's load.
func koreanLimits() [][2]string {
	return [][2]string{
		{"The limit of %s is reached: %s are used, and the next call may take up to %s. Nothing more was sent.", "%s 한도에 이르렀습니다. %s 썼고, 다음 호출에 최대 %s 들 수 있습니다. 더 보내지 않았습니다."},
		{"The limit of %s is reached. Nothing more was sent.", "%s 한도에 이르렀습니다. 더 보내지 않았습니다."},
		{"The limit of %s allows nothing. Nothing was sent.", "%s 한도라서 아무것도 할 수 없습니다. 아무것도 보내지 않았습니다."},
		{"The price of %s is not known, so the limit of %s cannot be kept. Nothing was sent.", "%s의 가격을 알 수 없어 %s 한도를 지킬 수 없습니다. 아무것도 보내지 않았습니다."},
		{"Lift the limit of money and set one of tokens, or name the price in models.toml.", "금액 한도를 풀고 토큰 한도를 정하거나, models.toml에 가격을 적으세요."},
		{"Raise it in Settings, Limits and cost, or with `oxios budget set day`; a new day begins at midnight.", "설정의 한도와 비용에서, 또는 `oxios budget set day`로 올리세요. 자정에 새 하루가 시작됩니다."},
		{"Raise it with `oxios budget set` and the run, or give the next one more with --max-cost.", "`oxios budget set`과 실행으로 올리거나, 다음에는 --max-cost로 더 주세요."},
		{"A limit left too few tokens for the whole answer. What came is kept; no tool of it ran.", "한도 때문에 답을 끝까지 쓸 토큰이 모자랐습니다. 온 내용은 남아 있고, 그 답의 도구는 실행되지 않았습니다."},
		{"Raise the limit in Settings, Limits and cost, then continue.", "설정의 한도와 비용에서 한도를 올린 뒤 이어서 하세요."},
		{"%s a day", "하루 %s"},
		{"%s a run", "실행당 %s"},
		{"%d tokens", "토큰 %d개"},
		{"1 model call", "모델 호출 1번"},
		{"%d model calls", "모델 호출 %d번"},
		{"%s is %q, but must be an amount like 5 or 0.50, or empty", "%s 값이 %q인데, 5나 0.50 같은 금액이거나 비어 있어야 합니다"},
		{"%s is %q, but must be a whole number from 0 on, or empty", "%s 값이 %q인데, 0 이상의 정수이거나 비어 있어야 합니다"},
		{"A limit is %d, but must be a whole number from 0 on. Nothing was changed.", "한도가 %d인데, 0 이상의 정수여야 합니다. 아무것도 바꾸지 않았습니다."},
		{"A limit is $%v, but must be an amount from 0 on. Nothing was changed.", "한도가 $%v인데, 0 이상의 금액이어야 합니다. 아무것도 바꾸지 않았습니다."},
		{"The message may cost $%v at most, which is no amount. Nothing was sent.", "메시지에 정한 최대 비용 $%v은(는) 금액이 아닙니다. 아무것도 보내지 않았습니다."},
		{"There is no limit of %q. Nothing was changed.", "%q의 한도는 없습니다. 아무것도 바꾸지 않았습니다."},
		{"Look at the budget", "예산 보기"},
		{"Looked at the budget", "예산을 봤습니다"},
		{"Look at the machine's load", "컴퓨터 부하 보기"},
		{"Looked at the machine's load", "컴퓨터 부하를 봤습니다"},
		{"Set that of the day or of a run.", "하루나 실행의 한도를 정하세요."},
	}
}
