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
		lsv2_pt_ lsv2_sk_ pcsk_ rdme_xn8s9h figd_ CFPAT- PMAK- hvs. hvb. ATBB ops_eyJ fio-u- sq0csp- sq0atp-
		GOCSPX- whsec_ pscale_tkn_ pscale_oauth_ pscale_pw_ phx_ vercel_ oxg_ age1pq-secret sm_pat_ sm_aat_ sm_sat_ tvly- fc_live_ tskey- dckr_oat_ CCIPAT_ CCIPRJ_
		bkua_ apify_api_ e2b_ tgp_v1_ csk- jina_ ATCTT3 ATSTT3 BBDC- pat-na1- pat-eu1- sgp_v1_ cfut_ cfat_ vcp_ sk-lf- tfe_ hcp_ glrtr- shpss_ secret-token:`)
	add(redFormat{least: 16}, `glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt- GR1348941 NRAK- NRII- NRJS- sk_live_ sk_test_ rk_live_ rk_test_
		AGE-SECRET-KEY-1 duffel_test_ duffel_live_ shippo_live_ shippo_test_ FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK- access-production- access-sandbox- access-development-
		CLOJARS_ gitpod_pat_ rdme_ lob_live_ test_pub_ live_pub_ tk-us-`)
	add(redFormat{least: 16, word: true}, "lip_ lio_ rnd_ nfp_ nfc_ nfo_ nfu_ nfb_")
	add(redFormat{least: 20, word: true, extra: "=+/"}, "ATATT3 fo1_ FlyV1")
	add(redFormat{least: 40, word: true, check: func(s string) bool { return len(s) == 43 && plainLetters(s) }}, "secret_")
	add(redFormat{least: 32, word: true, check: func(s string) bool { return isHex(s[:32]) }}, "key- pubkey-")
	add(redFormat{least: 20, word: true, extra: "-_"}, "1//0")
	add(redFormat{least: 100, word: true, alnum: true}, "xprv9 zprvA yprvA tprv8")
	add(redFormat{least: 20, extra: "."}, "dp.st. dp.pt. dp.ct. dp.sa. dp.scim. dp.audit. sk.eyJ")
	add(redFormat{least: 12}, "FLWSECK_TEST-")
	add(redFormat{least: 20, extra: "/@.", word: true}, "hooks.slack.com/services/ hooks.slack.com/workflows/ discord.com/api/webhooks/ discordapp.com/api/webhooks/")
	add(redFormat{least: 40, extra: "/@."}, "webhook.office.com/webhookb2/ .atlasv1.")
	add(redFormat{least: 40, extra: "+/="}, "ABSK LS0tLS1CRUdJTi ZXlK glc_ AKCp pypi-AgEI eyJrIjoi sha256~ AQoDYXdzE FwoGZXIvYXdz fm2_ fm1r_ fm1a_")
	add(redFormat{least: 40, extra: "."}, "dt0c01. dt0s01. ya29. xoxe-1- xoxe.xoxp-1-")
	add(redFormat{least: 20, extra: "=."}, "SG.")
	add(redFormat{least: 18, extra: "."}, "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xapp-")
	add(redFormat{least: 16, word: true, alnum: true}, "AKIA ASIA ABIA ACCA LTAI AKID")
	add(redFormat{least: 30, word: true}, "AIza hf_ xai- gsk_ r8_ EAAA EAAB EAAC EAAM HRKU- dnkey- 4b1d t1. YCAJ AQVN rpa_ ntn_")
	add(redFormat{least: 32, word: true, alnum: true}, "SK dapi")
	add(redFormat{least: 18, word: true, check: hasKeyPart}, "sk- rk-")
	add(redFormat{least: 34, word: true, check: plainLetters}, "api_org_")
	add(redFormat{least: 80, extra: "+/=", check: endsIn43}, "sntrys_eyJ")
	add(redFormat{least: 54, word: true, check: func(s string) bool { return len(s) == 54 && plainLetters(s) }}, "EZAK EZTK")
	add(redFormat{least: 40, word: true, check: endsInHex40}, "sgp_")
	add(redFormat{least: 24, word: true, alnum: true}, "API-")
	add(redFormat{least: 43, word: true, alnum: true, check: func(s string) bool { return len(s) == 43 && s == strings.ToLower(s) }}, "oy2")
	add(redFormat{least: 48, word: true, alnum: true, check: func(s string) bool { return len(s) == 48 && isHex(s) }}, "sk_")
	add(redFormat{least: 79, word: true, extra: ".", check: isAirtable}, "pat")
	add(redFormat{least: 43, word: true, check: func(s string) bool { return len(s) == 43 && hasKeyPart(s) }}, "pa-")
	add(redFormat{least: 43, word: true, check: func(s string) bool { return len(s) == 43 }}, "oxios_") // of a program: kernel/client
	add(redFormat{least: 120, word: true, alnum: true}, "EAA")
	add(redFormat{least: 24, word: true, alnum: true, check: func(s string) bool { return len(s) == 24 }}, "fw_")
	add(redFormat{least: 24, word: true}, "A3-")
	return all
}()

// formatsAt are the formats whose prefixes begin with two bytes, to be looked up
// by these.
var formatsAt, formatLists = func() (*[1 << 16]uint8, [][]*redFormat) {
	at, lists := new([1 << 16]uint8), [][]*redFormat{nil}
	for i := range redFormats {
		f := &redFormats[i]
		pair := int(f.prefix[0])<<8 | int(f.prefix[1])
		if at[pair] == 0 {
			lists = append(lists, nil)
			at[pair] = uint8(len(lists) - 1) //nolint:gosec // there are fewer pairs than 256, which a test holds
		}
		lists[at[pair]] = append(lists[at[pair]], f)
	}
	return at, lists
}()

// findFormats finds keys by their prefixes, in one look at each two bytes.
func findFormats(s string, spans []redSpan) []redSpan {
	for i := 0; i+1 < len(s); i++ {
		list := formatsAt[int(s[i])<<8|int(s[i+1])]
		if list == 0 {
			continue
		}
		rest := s[i:]
		for _, f := range formatLists[list] {
			if !strings.HasPrefix(rest, f.prefix) {
				continue
			}
			if end := f.match(s, i); end > i {
				spans = append(spans, redSpan{i, end, "key", false})
				i = end - 1
				break
			}
		}
	}
	return spans
}

// match returns where the key ends whose prefix stands at from, or 0.
func (f *redFormat) match(s string, from int) int {
	if f.word && !startsWord(s, from) {
		return 0
	}
	body := from + len(f.prefix)
	end := body
	for end < len(s) && (isTokenByte(s[end]) || strings.IndexByte(f.extra, s[end]) >= 0) {
		end++
	}
	text := strings.TrimRight(s[body:end], ".")
	if len(text) < f.least || isFiller(text) || isGap(text) || f.check != nil && !f.check(text) || f.alnum && !isAlnum(text) || f.least < 40 && !strings.ContainsAny(text, "0123456789") && !longMixed(text) {
		return 0
	}
	if (f.prefix == "AKIA" || f.prefix == "ASIA") && (len(text) != 16 || strings.ToUpper(text) != text) ||
		(f.prefix == "SK" && (len(text) != 32 || !isHex(text))) || strings.HasPrefix(f.prefix, "xox") && !hasLongPart(text) {
		return 0
	}
	return body + len(text)
}

// isAirtable reports whether s is 14 letters or digits, a dot and 64 hexadecimal
// digits.
func isAirtable(s string) bool {
	return len(s) == 79 && s[14] == '.' && plainLetters(s[:14]) && isHex(s[15:])
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

// hasKeyPart reports whether one part between dashes is what no name of an
// algorithm has.
func hasKeyPart(s string) bool {
	for part := range strings.SplitSeq(s, "-") {
		if len(part) >= 12 && !isWords(part) {
			return true
		}
	}
	return longMixed(s)
}

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
	if s == "" || strings.Contains(s, redMark) || strings.Contains(s, oldMark) {
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
