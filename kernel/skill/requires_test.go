package skill

import (
	"slices"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

// machine has what is in it.
type machine []string

func (m machine) Program(name string) bool { return slices.Contains(m, name) }
func (m machine) Env(name string) bool     { return slices.Contains(m, "$"+name) }
func (m machine) Config(key string) bool   { return slices.Contains(m, "#"+key) }

func TestMissingRequirementsAreNamedWithWaysToGetThem(t *testing.T) {
	t.Parallel()
	s := Skill{
		Requires: Requires{Bins: []string{"gog", "jq"}, AnyBins: []string{"node", "bun"}, Env: []string{"KEY"}, Config: []string{"browser.enabled"}, OS: []string{"linux", "darwin"}},
		Install: []Install{
			{Kind: "brew", Package: "gog", Bins: []string{"gog"}, OS: []string{"darwin"}},
			{Kind: "go", Package: "example.org/gog", Bins: []string{"gog"}},
			{Kind: "apt", Package: "gog", Bins: []string{"gog"}},
		},
	}
	if got := s.Missing(machine{"gog", "jq", "bun", "$KEY", "#browser.enabled"}, "linux"); len(got) > 0 {
		t.Errorf("all there: got %+v", got)
	}
	got := s.Missing(machine{"jq"}, "windows")
	var kinds []string
	for _, m := range got {
		kinds = append(kinds, m.Kind)
		if m.Text.KO == "" {
			t.Errorf("%+v has no Korean", m)
		}
	}
	if !slices.Equal(kinds, []string{"os", "bin", "any_bin", "env", "config"}) {
		t.Errorf("got %q", kinds)
	}
	if len(got[1].Install) != 1 || got[1].Install[0].Kind != "go" {
		t.Errorf("ways on Windows: %+v", got[1].Install)
	}
	if got := s.Missing(machine{"jq", "node", "$KEY", "#browser.enabled"}, "darwin"); len(got) != 1 || len(got[0].Install) != 2 {
		t.Errorf("ways on macOS: %+v", got)
	}
}

func TestInstallationIsACommandLineAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   Install
		want string
	}{
		{Install{Kind: "brew", Package: "some/tap/gog"}, "brew install some/tap/gog"},
		{Install{Kind: "npm", Package: "@some/gog@1.2"}, "npm install --global --ignore-scripts @some/gog@1.2"},
		{Install{Kind: "go", Package: "example.org/cmd/gog"}, "go install example.org/cmd/gog@latest"},
		{Install{Kind: "go", Package: "example.org/cmd/gog@v1.2.3"}, "go install example.org/cmd/gog@v1.2.3"},
		{Install{Kind: "uv", Package: "gog[cli]==1.0"}, "uv tool install gog[cli]==1.0"},
		{Install{Kind: "download", URL: "https://example.org/a/gog.tar.gz?x=1"}, "curl --fail --location --proto =https --output gog.tar.gz https://example.org/a/gog.tar.gz?x=1"},
		{Install{Kind: "download", URL: "https://example.org/"}, "curl --fail --location --proto =https --output download https://example.org/"},
		{Install{Kind: "download", URL: "https://example.org/%2e%2e"}, "curl --fail --location --proto =https --output download https://example.org/%2e%2e"},
		{Install{Kind: "download", URL: "https://example.org/-o"}, "curl --fail --location --proto =https --output download https://example.org/-o"},
		{Install{Kind: "brew", Package: "--help"}, ""},
		{Install{Kind: "brew", Package: "gog; rm -rf x"}, ""},
		{Install{Kind: "brew"}, ""},
		{Install{Kind: "npm", Package: "../evil"}, ""},
		{Install{Kind: "npm", Package: "a/../../evil"}, ""},
		{Install{Kind: "npm", Package: "https://evil.example/x.tgz"}, ""},
		{Install{Kind: "npm", Package: "go\u202Eg"}, ""},
		{Install{Kind: "go", Package: "$(id)"}, ""},
		{Install{Kind: "uv", Package: "a b"}, ""},
		{Install{Kind: "download", URL: "http://example.org/x"}, ""},
		{Install{Kind: "download", URL: "file:///etc/passwd"}, ""},
		{Install{Kind: "download", URL: "https://user:key@example.org/x"}, ""},
		{Install{Kind: "download", URL: "-o/etc/passwd"}, ""},
		{Install{Kind: "apt", Package: "gog"}, ""},
		{Install{}, ""},
	} {
		argv, err := c.in.Argv()
		if got := strings.Join(argv, " "); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: got %q, %v, want %q", c.in, got, err, c.want)
		}
		if e := sys.AsError(err); e != nil && e.MessageKO == "" {
			t.Errorf("%q has no Korean", e.Message)
		}
	}
}
