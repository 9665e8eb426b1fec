package skill

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func TestBundledSkillsAreInOrder(t *testing.T) {
	t.Parallel()
	c := Find(t.Context(), []Root{{Path: "bundled", FS: Bundled(), Source: SourceBundled, Trusted: true}})
	if got := namesOf(c); !slices.Equal(got, []string{"bundled/code-review", "bundled/debug", "bundled/refactor"}) || len(c.Left) > 0 {
		t.Fatalf("got %q, left out %+v", got, c.Left)
	}
	for _, s := range c.Skills {
		raw, err := fs.ReadFile(Bundled(), s.Name+"/"+s.File)
		if err != nil {
			t.Fatal(err)
		}
		if problems := StrictFile(s.Name, raw); len(problems) > 0 || len(s.Warnings) > 0 {
			t.Errorf("%s: problems %v, warnings %v", s.Name, problems, s.Warnings)
		}
		sub, err := fs.Sub(Bundled(), s.Name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Examine(t.Context(), sub, s)
		if err != nil || len(r.Findings) > 0 || r.License.Kind != LicenseOpen {
			t.Errorf("%s: %+v, %v", s.Name, r, err)
		}
		if lines := strings.Count(string(raw), "\n"); lines < 60 || lines > 150 {
			t.Errorf("%s has %d lines", s.Name, lines)
		}
		if len(strings.Fields(s.Description)) > 75 { // about 100 tokens
			t.Errorf("%s: its description is too long for the index", s.Name)
		}
	}
}
