package security

import "oxios/kernel/sys"

// Settings of Kubernetes, of task definitions and of many programs write a name and
// its value as two members: {name: DB_PASSWORD, value: …}, in either order.
var (
	pairValue  = sys.Pattern(`(?i)\bvalue["']?\s*[:=]`)
	pairBefore = sys.Pattern(`(?i)\b(?:name|key|variable)["']?\s*[:=]\s*["']?([\w.-]+)["']?[\s,]*["']?$`)
	pairBehind = sys.Pattern(`(?i)^["']?[\s,]*["']?(?:name|key|variable)["']?\s*[:=]\s*["']?([\w.-]+)`)
)

// maxPair is how far a name is looked for from its value.
const maxPair = 200

// findPairs finds values whose names stand beside them.
func findPairs(s string, spans []redSpan) []redSpan {
	for _, hit := range pairValue().FindAllStringIndex(s, -1) {
		from, end := hit[0], hit[0]+len("value")
		at, to, how := valueAfter(TextSettings, s, from, end)
		if to <= at {
			continue
		}
		m := pairBefore().FindStringSubmatch(s[max(0, from-maxPair):from])
		if m == nil {
			m = pairBehind().FindStringSubmatch(s[to:min(len(s), to+maxPair)])
		}
		if m == nil {
			continue
		}
		if n := sensitive(m[1]); n.class != nameHarmless && isSecretValue(TextSettings, n, m[1], s[at:to], how) {
			spans = append(spans, redSpan{at, to, shownName(m[1]), true})
		}
	}
	return spans
}
