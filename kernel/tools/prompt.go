package tools

import (
	"encoding/xml"
	"fmt"
	"strings"

	"oxios/kernel"
)

// index is the capability index of the prompt: what the agent has, escaped, so
// that no description can pass for more.
func index(offered []maker) string {
	if len(offered) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<available_capabilities>\n")
	for _, m := range offered {
		fmt.Fprintf(&b, "<capability><name>%s</name><category>%s</category><description>%s</description></capability>\n",
			escape(m.name), escape(m.domain), escape(m.about))
	}
	b.WriteString("</available_capabilities>")
	return b.String()
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil { // a Builder takes everything
		return ""
	}
	return b.String()
}

// manifest says what the kernel offers in the domains that the agent has.
func manifest(offered []maker, at kernel.Workplace) string {
	if len(offered) == 0 {
		return ""
	}
	held := "without containment"
	if at.Isolation.Contained() {
		held = "contained"
	}
	asks := map[string]string{
		"ask":        "Everything but looking at files waits for the person's approval.",
		"guarded":    "Files in the folder are changed and commands that only read are run freely; other commands, the network and everything outside the folder wait for the person's approval.",
		"autonomous": "Files in the folder are changed and commands that stay in the folder are run freely; the network and everything outside the folder wait for the person's approval.",
	}[at.Mode]
	if !at.Isolation.Contained() {
		asks = "Commands wait for the person's approval. " + asks
	}
	return "### exec\nFiles and commands of this machine. The folder is " + at.Folder + "; commands run " + held + ". " + asks
}
