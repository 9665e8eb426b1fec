package llm

import (
	"net/http"

	"oxios/kernel/sys"
)

// Providers say in their own words that a request is too long for the model. What
// they share is a word for what is measured and a word for too much of it.
var (
	saysLength = sys.Pattern(`context[_ ](length|window|size|limit)|context_length|maximum context|num_ctx|request_too_large|prompt_tokens_exceeded|` +
		`max_prompt_tokens|max_seq_len|max_model_len|string_above_max_length|prompt is too long|prompt too long|input is too long|too many input tokens|` +
		`range of input length|max input (length|tokens|characters)|context the overflows|contextwindowexceeded|prompt_too_long|input too (long|large)|expected maxlength|1039\s+token limit|longueur.{0,30}contexte|kontextlänge|(上下文|输入|token|prompt).{0,30}(超过|超出|过长|太长)|(超过|超出).{0,30}(上下文|最大长度|token)|` +
		`(컨텍스트|토큰|입력|프롬프트).{0,30}(초과|너무 (길|깁|많)|넘)|(コンテキスト|トークン|入力).{0,30}(超え|長すぎ)`)
	lengthThing = sys.Pattern(`\btokens?\b|_tokens\b|\bcontext\b|\bprompts?\b|\binputs?['"` + "`" + `]? (length|is too|are too|tokens?|must|exceed|size)|\b(message|conversation|sequence|request)s?\b.{0,40}\b(length|size|too (long|large))|\blength of (the )?(message|prompt|input|conversation)s?\b`)
	tooMuch     = sys.Pattern(`exceed|too (long|large|many|big)|(longer|larger|greater|more|bigger) than|\bover\b|beyond|surpass|(not|n't|cannot|doesn't) fit|<=|\bless than\b|\bfewer than\b|\bat most\b|\bmaximum\b|\bmax\b.{0,20}\b(is|of)\b|\blimit (is|of)\b|only (holds|supports|allows)|reduce|shorten|truncat|decrease|overflow|\d\s*>\s*\d`)

	// What is about something else: how many in a time, how long an answer may be,
	// what is in a message, how many tools there are.
	lengthOther = sys.Pattern(`per (minute|min|hour|day|second)|\b[tr]p[mdh]\b|rate[_ ]?limit|quota|too many requests|images?\b|pictures?\b|\bfiles?\b|\btools?\b.{0,30}(too many|at most|maximum)|too many tools|temperature|top_p|timeout|billing|credit|\b(tools|functions)\[|tool_calls|tool_use\.id`)
	answerLimit = sys.Pattern(`max_(completion_|output_|new_)?tokens|maxoutputtokens|completion tokens|output tokens`)
	asksShorter = sys.Pattern(`request too large|exceed max message tokens|(reduce|shorten|decrease|trim) (the|your) (length|size|message|prompt|input|context|conversation)`)
	wholeInput  = sys.Pattern(`prompt|context|inputs?(\b|_tokens)|messages?\b|conversation|sequence`)
)

// asksToWait says that the same request is taken later.
var asksToWait = sys.Pattern(`wait before trying|please wait|try again later|rate_limit_error`)

// tooLong reports whether a refusal, in lower case, says that the conversation is
// longer than the model can read: what is put shorter can be asked again.
func tooLong(status int, low string) bool {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusPaymentRequired:
		return false
	case status == http.StatusTooManyRequests && asksToWait().MatchString(low):
		return false
	case lengthOther().MatchString(low):
		// A request that is larger than all of a minute's tokens never gets through.
		return asksShorter().MatchString(low) && lengthThing().MatchString(low) && tooMuch().MatchString(low)
	case answerLimit().MatchString(low) && !wholeInput().MatchString(answerLimit().ReplaceAllString(low, "")):
		return false
	}
	return saysLength().MatchString(low) || lengthThing().MatchString(low) && tooMuch().MatchString(low)
}
