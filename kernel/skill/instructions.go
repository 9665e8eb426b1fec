package skill

import (
	"regexp"
	"strings"

	"oxios/kernel/sys"
)

// orders are sentences that no instruction for work needs. Those with a person in
// them count only where nothing turns them round: "never delete without telling
// the user" is what a good skill says.
var orders = []struct {
	need   []string
	expr   func() *regexp.Regexp
	turned bool
}{
	{[]string{"ignore", "disregard", "forget", "override", "overrule", "bypass", "skip"}, sys.Pattern(`(?i)(?:\b(?:ignore|disregard|forget|set aside)|(?:^|[.;:,!(]\s*|\b(?:and|then|to|please|must|should|you)\s+)(?:override|overrule))\s+(?:about\s+)?(?:all\s+|any\s+|every\s+|each\s+|the\s+|your\s+|my\s+|these\s+|those\s+|of\s+)*(?:previous|prior|above|earlier|preceding|existing|original|other|former|current|system|safety|security|developer|built-in|initial)\s+(?:\w+\s+){0,2}(?:instruction|prompt|rule|guideline|direction|directive|command|message|context|polic|restriction|constraint|guardrail)`), true},
	{[]string{"ignore", "disregard", "forget"}, sys.Pattern(`(?i)\b(?:ignore|disregard|forget)\s+(?:everything|all|anything|whatever)\s+(?:that\s+)?(?:you\s+(?:were|have been|are|know|learned)|(?:was\s+|is\s+)?(?:above|before|said|told))|\b(?:ignore|disregard)\s+(?:all\s+(?:of\s+)?|any\s+(?:of\s+)?)?(?:your\s+(?:\w+\s+)?(?:instructions|rules|guidelines|guardrails|restrictions|training)|the\s+(?:system prompt|guardrails|safety\s+\w+)|(?:the\s+)?(?:instructions|rules|guidelines)\s+(?:above|before|so far|you (?:were|have been)))\b`), true},
	{[]string{"tell", "inform", "notify", "mention", "reveal", "alert", "disclose", "report", "say "}, sys.Pattern(`(?i)\b(?:do not|don't|dont|never|must not|should not|avoid)\s+(?:ever\s+)?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|report(?:ing)?\s+(?:this|it|anything)\s+to|mention(?:ing)?\s+(?:this|it|that|any of this|these\s+\w+|the\s+\w+)\s+to|reveal(?:ing)?\s+(?:this|it|that|any of this|the\s+\w+)\s+to|disclos(?:e|ing)\s+(?:this|it|that|the\s+\w+)\s+to|say(?:ing)?\s+(?:this|it|anything)\s+to)\s+(?:the\s+|your\s+)?(?:user|person|human|owner|operator|developer|customer)s?(?:\s*[.,;:!)*\x60"']|\s*$|\s+(?:about\b|(?:that|what|why|when|how)\s+(?:you|this|it|these)\b|anything\b|any of\b|of\s+(?:this|it)\b|afterwards\b|or\b|and\b))`), false},
	{[]string{"mention", "reveal", "disclose", "reference"}, sys.Pattern(`(?i)\b(?:do not|don't|never|must not)\s+(?:ever\s+)?(?:mention|reveal|disclose|reference|talk about|discuss)\s+(?:this|these|the)\s+(?:step|steps|instruction|instructions|section|command|commands|request|upload|transfer|file|message|rule|rules|part)\b(?:\s*[.,;:!)]|\s*$|\s+(?:to\b|in\s+(?:your|the|any)\s+(?:answer|reply|response|summary|output|report|message|chat)))`), false},
	{[]string{"hide", "hidden", "secret", "conceal", "knowledge", "know", "notic", "silent", "quiet"}, sys.Pattern(`(?i)\b(?:(?:hide|conceal)\s+(?:this|it|that|them|these|all of this|the\s+\w+(?:\s+\w+)?)|keep\s+(?:this|it|that|them|these|all of this|(?:the\s+\w+(?:\s+\w+)?|this|it|them)\s+(?:hidden|secret|confidential|invisible)))\s+(?:from|to)\s+(?:the\s+|your\s+)?(?:user|person|human|owner|operator|reviewer|log|logs|audit)|\bwithout\s+(?:the\s+)?(?:user|person|human|owner)(?:'s)?\s+(?:knowledge|noticing|knowing|awareness|being aware|seeing)|\bso\s+(?:that\s+)?(?:the\s+)?(?:user|person|human|owner)\s+(?:does not|doesn't|do not|don't|won't|will not|never|cannot|can't)\s+(?:notice|know|see it|find out|realize|realise|suspect)|\b(?:silently|quietly|secretly|covertly|discreetly)\s+(?:send|upload|post|copy|forward|exfiltrate|transmit|read|collect|add|append|install|execute|run\s+(?:the\s+)?(?:following|this)|e-?mail|share)\b`), true},
	{[]string{"mention", "reveal", "disclose", "admit"}, sys.Pattern(`(?i)\b(?:do not|don't|never|must not)\s+(?:ever\s+)?(?:mention|reveal|disclose|admit)\s+(?:that\s+)?you\s+(?:have\s+)?(?:uploaded|sent|copied|accessed|collected|forwarded|changed|installed|executed|deleted|added|shared|did)\b`), false},
	{[]string{"know", "notice", "be told", "be informed", "find out", "aware"}, sys.Pattern(`(?i)\b(?:user|person|human|owner|operator)s?\s+(?:should not|shouldn't|must not|mustn't|must never|should never|is not to|are not to)\s+(?:know|notice|be told|be informed|find out|be aware|learn)\b(?:\s*[.,;!]|\s*$|\s+(?:about|of|that)\b)`), true},
	{[]string{"instruction", "rules", "guideline", "prompt"}, sys.Pattern(`(?i)\b(?:previous|prior|earlier|above|preceding|other|existing)\s+(?:\w+\s+)?(?:instructions|rules|guidelines|prompts|directives)\s+(?:are|is|have been|become)\s+(?:now\s+|hereby\s+)?(?:void|invalid|cancell?ed|superseded|revoked|obsolete|no longer (?:valid|apply)|overridden|suspended)\b|\bas if\s+(?:the\s+|your\s+|there were no\s+)(?:safety\s+|security\s+)?(?:rules|restrictions|guidelines|limits|guardrails)\b`), true},
	{[]string{"let the", "allow the"}, sys.Pattern(`(?i)\b(?:never|do not|don't|must not)\s+(?:let|allow)\s+the\s+(?:user|person|human|owner|operator)\s+(?:to\s+)?(?:see|know|notice|read|find out)\s+(?:the output|this|it|what|that|about|of)\b`), false},
	{[]string{"consent", "confirmation", "approval", "permission"}, sys.Pattern(`(?i)\bskip(?:ping)?\s+(?:all|any|every)\s+(?:\w+\s+)?(?:confirmations?|approvals?|permissions?|consent|safety)\b|\b(?:do not|don't) need\s+(?:the\s+)?(?:user|person|owner)(?:'s)?\s+(?:consent|approval|permission)\b`), true},
	{[]string{"command", "upload", "transfer"}, sys.Pattern(`(?i)\b(?:do not|don't|never|must not)\s+(?:include|list|show)\s+(?:this|these|the)\s+(?:commands?|uploads?|transfers?)\s+in\s+(?:your|the|any)\s+(?:\w+\s+)?(?:summary|answer|reply|response|report|message)`), false},
	{[]string{"log", "record"}, sys.Pattern(`(?i)\b(?:do not|don't|never|must not)\s+(?:log|record|audit)\s+(?:this|these|the)\s+(?:action|step|upload|transfer|operation|activity|call)s?\b`), false},
	{[]string{"if "}, sys.Pattern(`(?i)\bif\s+(?:the\s+)?(?:user|person|owner|anyone|somebody|someone|they)\s+asks?\b[^.\n]{0,40}\b(?:deny|lie|pretend|claim|(?:say|answer|reply)\s+(?:that\s+)?(?:nothing|no\b|it was not|you did not|you didn't))`), true},
	{[]string{"without"}, sys.Pattern(`(?i)\bwithout\s+(?:telling|informing|notifying|alerting)\s+(?:the\s+|your\s+)?(?:user|person|human|owner|operator)\b`), true},
	{[]string{"bypass", "disable", "circumvent", "turn off", "evade", "skip"}, sys.Pattern(`(?i)(?:^|[.;:,!(]\s*|\b(?:and|then|to|please|always|must|should|you(?: can| may)?|by|or)\s+)(?:bypass(?:ing)?|disabl(?:e|ing)|circumvent(?:ing)?|turn(?:ing)? off|evad(?:e|ing)|get around|work around)\s+(?:all\s+|any\s+|the\s+|your\s+|its\s+|every\s+)*(?:\w+\s+)?(?:approvals?|permission (?:prompt|check|request)s?|guard|guardrails?|sandbox|safety (?:check|filter|rule|measure)s?|content filters?|audit(?: log)?|security (?:check|polic|control|measure)\w*)\b`), true},
	{[]string{"approve", "approval", "permission", "auto"}, sys.Pattern(`(?i)\b(?:approve|accept|confirm|grant)\s+(?:all\s+|any\s+|every\s+)(?:\w+\s+)?(?:permission|approval|request)s?\s+(?:yourself|automatically|on behalf|without|for the user)|\banswer\s+(?:yes|y)\s+to\s+(?:all|every|any)\s+(?:\w+\s+)?(?:permission|approval|security)`), true},
	{[]string{"you are", "developer mode", "jailbr", "dan mode", "do anything now", "no restrictions", "unrestricted"}, sys.Pattern(`(?i)\byou are (?:now |no longer )(?:an?\s+)?(?:\w+\s+)?(?:dan\b|unrestricted|uncensored|free (?:from|of)|bound by|limited by|restricted|in (?:developer|god|admin|debug) mode|jailbroken)|\b(?:enter|enable|activate|switch to)\s+(?:developer|god|dan|jailbreak|unrestricted)\s+mode\b|\bdo anything now\b|\bact\s+as\s+if\s+(?:you\s+)?(?:have|had)\s+no\s+(?:restrictions|rules|limits)`), true},
	{[]string{"system prompt", "instructions", "hidden prompt"}, sys.Pattern(`(?i)\b(?:print|reveal|output|repeat|show|send|leak|dump|include|post|copy)\s+(?:me\s+)?(?:your|the)\s+(?:full\s+|entire\s+|complete\s+|hidden\s+|original\s+)*(?:system prompt|hidden prompt|initial instructions|developer (?:message|prompt))`), true},
	{[]string{"system", "assistant", "important", "instruction"}, sys.Pattern(`(?i)<\s*/?\s*(?:system|system_prompt|system-reminder|im_start|admin_override)\s*>|<\|im_start\|>|\[\s*(?:system|admin)\s+(?:override|message|instruction)s?\s*\]|\b(?:new|updated|real)\s+(?:system\s+)?instructions?\s*(?:from\s+(?:the\s+)?(?:system|admin|developer|anthropic|openai)|override)`), true},
	{[]string{"priority", "precedence", "supersede"}, sys.Pattern(`(?i)\b(?:these|this|the following)\s+(?:instructions?|rules?|skill|directives?)\s+(?:takes?|have|has|override|overrides|supersede|supersedes)\s+(?:\w+\s+)?(?:(?:priority|precedence)\s+over\s+)?(?:all\s+|any\s+|the\s+|your\s+)*(?:other\s+|previous\s+|prior\s+)?(?:system|user|safety|developer|owner|person)(?:'s)?\b`), true},

	{[]string{"무시", "잊"}, sys.Pattern(`(?:이전|앞선|앞의|위의|위에|기존|지금까지|원래|시스템|모든|앞서|현재)[^.\n]{0,20}(?:지시|명령|지침|프롬프트|규칙|안내|제한|정책)[^.\n]{0,12}(?:무시|잊어|잊고|따르지 (?:마|말))`), true},
	{[]string{"사용자", "주인", "유저", "사람"}, sys.Pattern(`(?:사용자|유저|주인|사람)(?:에게|한테|께|에겐|에게는)[^.\n]{0,24}(?:알리지|말하지|보여\s?주지|보고하지|언급하지|밝히지|드러내지|이야기하지|얘기하지|묻지도)\s?(?:도\s)?(?:마|말|않고|않은 채|않도록)|(?:사용자|유저|주인)(?:가|이)?\s?(?:몰래|모르게|눈치채지|알아채지|알지 못하게|볼 수 없게)|(?:사용자|유저|주인)\s?몰래`), true},
	{[]string{"안"}, sys.Pattern(`(?:사용자|유저|주인)(?:가|이|는)?\s[^.\n]{0,16}(?:알아서는|알면|알아선|알게 되면|봐서는|눈치채면|눈치채서는)\s?안`), true},
	{[]string{"무효", "효력", "취소"}, sys.Pattern(`(?:이전|앞선|앞의|기존|위의|지금까지)[^.\n]{0,12}(?:지시|명령|지침|규칙|프롬프트)[^.\n]{0,12}(?:무효|효력이 없|취소)`), true},
	{[]string{"비밀", "숨", "몰래"}, sys.Pattern(`(?:이 (?:단계|내용|지시|명령|사실|작업|파일)|이것|이를)[^.\n]{0,12}(?:비밀로|숨기|숨겨|언급하지 (?:마|말)|드러내지 (?:마|말))|몰래\s?(?:보내|전송|복사|읽|업로드|실행|설치|수집)|조용히\s?(?:보내|전송|업로드|복사)`), true},
	{[]string{"승인", "권한", "안전", "감사", "샌드박스"}, sys.Pattern(`(?:승인|권한 확인|안전 장치|안전장치|보안 검사|감사 기록|샌드박스)(?:을|를|은|는| 절차를| 절차)?\s?(?:모두\s?)?(?:우회|끄고|꺼|비활성화|건너뛰|무력화|피해서)`), true},
	{[]string{"시스템 프롬프트"}, sys.Pattern(`시스템 프롬프트(?:를|의 내용을| 전체를| 내용을)?\s?(?:모두\s?|그대로\s?)?(?:출력|공개|알려|보여|보내|복사)`), true},
}

// instructions looks for orders in a line, and across the end of the one before.
func (s *scan) instructions(before, line string, number int) {
	if len(line) > maxLine {
		line = line[:maxLine]
	}
	text, lower := order(line)
	both, bothLower := "", ""
	if n := len(before); n > 0 && n < 400 && len(line) < 400 && len(line) > 0 {
		both, bothLower = order(before + " " + line)
	}
	for _, o := range orders {
		for _, need := range o.need {
			if strings.Contains(lower, need) {
				if at := o.expr().FindStringIndex(text); at != nil && !(o.turned && turned(text, at)) {
					s.add(KindInstruction, number, text, at[0])
				}
			} else if both == "" || !strings.Contains(bothLower, need) {
				continue
			}
			if both == "" {
				break
			}
			// Only what goes over the end of the line: the rest was found, or will be.
			if at := o.expr().FindStringIndex(both); at != nil && at[0] < len(both)-len(text) && at[1] > len(both)-len(text) && !(o.turned && turned(both, at)) {
				s.add(KindInstruction, number, both, at[0])
			}
			break
		}
	}
}

// order is a line for the eyes of orders: without marks of Markdown, comments and
// emphasis between its words.
func order(line string) (text, lower string) {
	text = stripped(line)
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '*' || r == '_' || r == '`' }), " ")
	text = strings.TrimLeft(text, "#/-> ")
	return text, strings.ToLower(text)
}

// turned reports whether the sentence around an order forbids it, or tells of it.
func turned(text string, at []int) bool {
	start := strings.LastIndexAny(text[:at[0]], ".!?:;") + 1
	if turnPattern().MatchString(text[start:at[0]]) {
		return true
	}
	end := len(text)
	if i := strings.IndexAny(text[at[1]:], ".!?\n"); i >= 0 {
		end = at[1] + i
	}
	return koreanTurnPattern().MatchString(text[at[1]:end])
}

var turnPattern = sys.Pattern(`(?i)\b(?:never|not|don't|dont|cannot|can't|avoid|refuse|detects?|detecting|flags?|prevents?|looks? for|attempts? to|tries to|trying to|(?:attackers?|they|who|which|that)\s+(?:\w+\s+)?(?:try|tries|attempt)|such as|phrases?|injections?)\b`)

var koreanTurnPattern = sys.Pattern(`지\s?(?:마|말|않)|안\s?(?:됩|돼|된)|금지|거부|탐지|찾아|표시|라는|같은|하는 문장|여부`)

// negated reports whether the sentence around a match warns of what it names.
func negated(line string, at []int) bool {
	start := 0
	for _, end := range []string{". ", "! ", "? ", "; ", " && "} {
		if i := strings.LastIndex(line[:at[0]], end); i >= 0 {
			start = max(start, i+len(end))
		}
	}
	rest := line[at[1]:]
	if i := strings.Index(rest, ". "); i >= 0 {
		rest = rest[:i]
	}
	return negationPattern().MatchString(line[start:at[0]]) || koreanNegationPattern().MatchString(rest)
}

var negationPattern = sys.Pattern(`(?i)\b(?:never|do not|don't|must not|should not|avoid|instead of)\b`)

var koreanNegationPattern = sys.Pattern(`지\s?(?:마세요|말|마십시오|않)|금지|안 됩`)
