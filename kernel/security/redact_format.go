package security

import (
	"strings"
)

// redFormat is the form of a key that its issuer gave a prefix to.
type redFormat struct {
	prefix string
	least  int    // characters after the prefix
	extra  string // characters besides letters, digits, - and _
	word   bool   // it must stand at the start of a word, as the prefix is short
	alnum  bool   // only letters and digits follow, at least one of them a digit
	check  func(body string) bool
}

// redFormats are formats that issuers publish or that their keys show.
var redFormats = func() []redFormat {
	var all []redFormat
	add := func(f redFormat, prefixes string) {
		for _, p := range strings.Fields(prefixes) {
			f.prefix = p
			all = append(all, f)
		}
	}
	add(redFormat{least: 20}, `ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- npm_ shpat_ shpca_ shppa_ shpss_
		lin_api_ lin_oauth_ rubygems_ dop_v1_ doo_v1_ dor_v1_ sntryu_ glsa_ tfp_ pnu_ pul- dckr_pat_ sbp_ sb_secret_ nvapi- pplx- xkeysib- xsmtpsib-
		lsv2_pt_ lsv2_sk_ pcsk_ dp.pt. dp.st. dp.ct. dp.sa. rdme_xn8s9h figd_ CFPAT- PMAK- hvs. hvb. ATATT3 ATBB ops_eyJ fio-u- sq0csp- sq0atp-
		GOCSPX- whsec_ pscale_tkn_ pscale_oauth_ pscale_pw_ phx_ vercel_ oxg_ age1pq-secret sm_pat_ sm_aat_ sm_sat_ tvly- fc_live_`)
	add(redFormat{least: 16}, `glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt- GR1348941 NRAK- NRII- NRJS- sk_live_ sk_test_ rk_live_ rk_test_
		AGE-SECRET-KEY-1 duffel_test_ duffel_live_ shippo_live_ shippo_test_ FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK- access-production- access-sandbox- access-development-
		CLOJARS_ lob_live_ test_pub_ live_pub_ tk-us-`)
	add(redFormat{least: 12}, "FLWSECK_TEST-")
	add(redFormat{least: 20, extra: "/@.", word: true}, "hooks.slack.com/services/ hooks.slack.com/workflows/ discord.com/api/webhooks/ discordapp.com/api/webhooks/")
	add(redFormat{least: 40, extra: "/@."}, "webhook.office.com/webhookb2/ .atlasv1.")
	add(redFormat{least: 40, extra: "+/="}, "ABSK LS0tLS1CRUdJTi ZXlK glc_ AKCp pypi-AgEI eyJrIjoi sha256~ AQoDYXdzE FwoGZXIvYXdz fm2_ fm1r_")
	add(redFormat{least: 40, extra: "."}, "dt0c01. dt0s01. ya29. xoxe-1- xoxe.xoxp-1-")
	add(redFormat{least: 20, extra: "=."}, "SG.")
	add(redFormat{least: 18, extra: "."}, "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xapp-")
	add(redFormat{least: 16, word: true, alnum: true}, "AKIA ASIA ABIA ACCA LTAI AKID")
	add(redFormat{least: 30, word: true}, "AIza hf_ xai- gsk_ r8_ EAAA EAAB EAAC EAAM HRKU- dnkey- 4b1d t1. YCAJ AQVN rpa_ ntn_")
	add(redFormat{least: 32, word: true, alnum: true}, "SK dapi")
	add(redFormat{least: 18, word: true}, "sk- rk-")
	add(redFormat{least: 34, word: true, check: plainLetters}, "api_org_")
	add(redFormat{least: 80, extra: "+/=", check: endsIn43}, "sntrys_eyJ")
	add(redFormat{least: 54, word: true, check: func(s string) bool { return len(s) == 54 && plainLetters(s) }}, "EZAK EZTK")
	add(redFormat{least: 40, word: true, check: endsInHex40}, "sgp_")
	add(redFormat{least: 24, word: true, alnum: true}, "API-")
	add(redFormat{least: 24, word: true}, "A3-")
	return all
}()

// neighbours is which bytes follow each other in a text. Two pairs may share a
// bit, so that it tells for certain only what is not there.
type neighbours [64]uint64

func neighboursIn(s string) *neighbours {
	var n neighbours
	for i := 1; i < len(s); i++ {
		word, bit := neighbourBit(s[i-1], s[i])
		n[word] |= bit
	}
	return &n
}

func neighbourBit(a, b byte) (word int, bit uint64) {
	k := uint(a)*67 ^ uint(b)
	return int(k>>6) & 63, 1 << (k & 63)
}

// mayHold reports whether part can be in the text at all.
func (n *neighbours) mayHold(part string) bool {
	for i := 1; i < len(part); i++ {
		if word, bit := neighbourBit(part[i-1], part[i]); n[word]&bit == 0 {
			return false
		}
	}
	return true
}

// findFormats finds keys by their prefixes. Most are not in the text at all,
// which one look at its bytes tells.
func findFormats(s string, spans []redSpan) []redSpan {
	pairs := neighboursIn(s)
	for i := range redFormats {
		f := &redFormats[i]
		if !pairs.mayHold(f.prefix) {
			continue
		}
		for at := 0; ; {
			hit := strings.Index(s[at:], f.prefix)
			if hit < 0 {
				break
			}
			from := at + hit
			body := from + len(f.prefix)
			end := body
			for end < len(s) && (isTokenByte(s[end]) || strings.IndexByte(f.extra, s[end]) >= 0) {
				end++
			}
			at = body
			if f.word && !startsWord(s, from) {
				continue
			}
			at = max(at, end)
			text := strings.TrimRight(s[body:end], ".")
			end = body + len(text)
			if len(text) < f.least || isFiller(text) || isGap(text) || f.check != nil && !f.check(text) || f.alnum && !isAlnum(text) || f.least < 40 && !strings.ContainsAny(text, "0123456789") && !longMixed(text) {
				continue
			}
			if (f.prefix == "AKIA" || f.prefix == "ASIA") && (len(text) != 16 || strings.ToUpper(text) != text) ||
				(f.prefix == "SK" && (len(text) != 32 || !isHex(text))) || strings.HasPrefix(f.prefix, "xox") && !hasLongPart(text) {
				continue
			}
			spans = append(spans, redSpan{from, end, "key"})
		}
	}
	return spans
}

// startsWord reports whether a word can begin at i: after a sign, after an
// escape of an address (%20) or after a colour code of a terminal.
func startsWord(s string, i int) bool {
	if i == 0 || !isTokenByte(s[i-1]) || s[i-1] == '-' && i >= 2 && s[i-2] == '-' {
		return true
	}
	if i >= 3 && s[i-3] == '%' && isHex(s[i-2:i]) {
		return true
	}
	if s[i-1] == 'm' {
		j := i - 2
		for j >= 0 && (s[j] >= '0' && s[j] <= '9' || s[j] == ';') {
			j--
		}
		return j >= 1 && s[j] == '[' && s[j-1] == 0x1b
	}
	return i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

func isAlnum(s string) bool {
	digit := false
	for i := 0; i < len(s); i++ {
		if !isTokenByte(s[i]) || s[i] == '_' || s[i] == '-' {
			return false
		}
		digit = digit || s[i] <= '9'
	}
	return digit
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("0123456789abcdefABCDEF", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// hasLongPart reports whether one part between dashes is long enough to be
// random.
func hasLongPart(s string) bool {
	for part := range strings.SplitSeq(s, "-") {
		if len(part) >= 10 && strings.ContainsAny(part, "0123456789") {
			return true
		}
	}
	return false
}

// longMixed reports whether a text without digits is still no word.
func longMixed(s string) bool {
	return len(s) >= 24 && strings.ToLower(s) != s || isOneCase(s) && len(s) >= 32
}

func isOneCase(s string) bool {
	return !strings.ContainsAny(s, "-_") && (strings.ToUpper(s) == s || strings.ToLower(s) == s)
}

func plainLetters(s string) bool { return !strings.ContainsAny(s, "-_") }

// endsIn43 holds the form of an organisation's token of Sentry: a signature of
// 43 characters ends it.
func endsIn43(s string) bool {
	return len(s)-1-strings.LastIndexByte(s, '_') == 43
}

// endsInHex40 holds the form of a token of Sourcegraph: 40 hexadecimal
// characters, and before them the instance.
func endsInHex40(s string) bool {
	instance, s, ok := strings.Cut(s, "_")
	if !ok {
		instance, s = "local", instance
	}
	return len(s) == 40 && isHex(s) && variety(s) > 9 && (instance == "local" || len(instance) == 16 && isHex(instance))
}

// variety counts the different characters of s.
func variety(s string) (n int) {
	var seen [256]bool
	for i := 0; i < len(s); i++ {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n
}

var placeholderWords = []string{
	"your", "example", "changeme", "change-me", "change_me", "placeholder", "insert", "replace", "dummy", "redacted", "xxxx", "****", "....",
	"todo", "sample", "put_", "my-token", "my_token", "...", "removed", "hidden", "masked", "-here", "_here",
}

// isPlaceholder reports whether a value only stands for a secret: a reference
// to a variable, a gap to fill, a row of x.
func isPlaceholder(s string) bool {
	if s == "" || strings.HasPrefix(s, redMark) {
		return true
	}
	switch s[0] {
	case '$', '<', '{', '%', '*', '(', '[', '@':
		if s[0] != '$' || len(s) < 2 || s[1] == '{' || s[1] == '(' || s[1] == '$' || !strings.ContainsAny(s, "0123456789!#&*") {
			return true
		}
	}
	if strings.Contains(s, "${") || strings.Contains(s, "{{") || strings.Contains(s, "$(") || strings.Contains(s, "<%") {
		return true
	}
	low := strings.ToLower(s[:min(len(s), 256)])
	for _, w := range placeholderWords {
		if strings.Contains(low, w) {
			return true
		}
	}
	return isFiller(low)
}

// isGap reports whether a text with the prefix of a key asks to be replaced by
// one.
func isGap(s string) bool {
	low := strings.ToLower(s)
	return strings.Contains(low, "your_") || strings.Contains(low, "your-") || strings.Contains(low, "_here") || strings.Contains(low, "-here") || strings.Contains(low, "xxxxxx")
}

// isFiller reports whether a text is mostly one character, of those that
// people fill gaps with.
func isFiller(s string) bool {
	low := strings.ToLower(s[:min(len(s), 256)])
	for _, c := range []byte("x*.0-_#1a") {
		if n := strings.Count(low, string(c)); n*10 >= len(low)*7 {
			return true
		}
	}
	return false
}
