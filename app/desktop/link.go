//go:build desktop || dev || bindings

package desktop

import (
	"regexp"
	"strings"
)

var sessionLink = regexp.MustCompile(`^oxios://session/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})/?$`)

// linked returns the conversation that a deep link names. It knows
// oxios://session/ID alone: any web page can open such a link, so it may show
// something and do nothing.
func linked(link string) (session string, ok bool) {
	m := sessionLink.FindStringSubmatch(strings.TrimSpace(link))
	if m == nil {
		return "", false
	}
	return strings.ToLower(m[1]), true
}
