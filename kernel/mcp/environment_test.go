package mcp

import (
	"slices"
	"strings"
	"testing"
)

func TestAVariableOfTheEnvironmentNamesAServer(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{ // the name, then the words; "!" and a piece of what is wrong
		"OXIOS_MCP_NOTES_COMMAND=notes-server":                           "notes|notes-server",
		"OXIOS_MCP_TEAM_NOTES_COMMAND=node  ~/a.mjs --dir '~/My notes' ": "team-notes|node|~/a.mjs|--dir|~/My notes",
		`OXIOS_MCP_A_COMMAND=x "a b" c\ d "e\"f" "" 'g\h' "i\j"`:         `a|x|a b|c d|e"f||g\h|i\j`,
		"OXIOS_MCP_A_COMMAND=":                                           "",
		"OXIOS_MCP_COMMAND=x":                                            "",
		"OXIOS_MCP_A_COMMANDS=x":                                         "",
		"OTHER_MCP_A_COMMAND=x":                                          "",
		"OXIOS_MCP__COMMAND=x":                                           "!names no server",
		"OXIOS_MCP_A__B_COMMAND=x":                                       "a--b|x",
		"OXIOS_MCP_" + strings.Repeat("A", 33) + "_COMMAND=x":            "!names no server",
		"OXIOS_MCP_É_COMMAND=x":                                          "!names no server",
		"OXIOS_MCP_A_COMMAND=x 'y":                                       "!quote",
		`OXIOS_MCP_A_COMMAND=x \`:                                        "!quote",
		"OXIOS_MCP_A_COMMAND=   ":                                        "!no command",
		"OXIOS_MCP_A_COMMAND=x\ny":                                       "!one line",
		"OXIOS_MCP_A_COMMAND=https://example.com/mcp":                    "!an address",
		"OXIOS_MCP_A_COMMAND=cat x | sh":                                 "!only a shell",
		"OXIOS_MCP_A_COMMAND=node s.mjs http://x/?a=1&b=2":               "a|node|s.mjs|http://x/?a=1&b=2",
		"OXIOS_MCP_A_COMMAND=" + strings.Repeat("x", maxVariable+1):      "!16 kB",
		"OXIOS_MCP_A_COMMAND=x\x00y":                                     "!one line",
	} {
		found := readEnvironment([]string{"PATH=/bin", line})
		got := ""
		for name, v := range found {
			if got = strings.Join(append([]string{name, v.def.Command}, v.def.Args...), "|"); v.why.EN != "" {
				got = "!" + v.why.EN
			}
			if v.why.EN != "" && v.why.In(true) == v.why.EN {
				t.Errorf("%q: there is no Korean of %q", line, v.why.EN)
			}
		}
		if piece, wrong := strings.CutPrefix(want, "!"); got != want && !(wrong && strings.HasPrefix(got, "!") && strings.Contains(got, piece)) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	both := readEnvironment([]string{"OXIOS_MCP_a_COMMAND=x", "OXIOS_MCP_A_COMMAND=y"})
	if len(both) != 1 || !strings.Contains(both["a"].why.EN, "the same server") {
		t.Errorf("of two variables for one server: got %+v", both)
	}
	if w, _ := splitLine("a\tb"); !slices.Equal(w, []string{"a", "b"}) {
		t.Errorf("got %q", w)
	}
}
