package security

import (
	"os"
	"slices"
	"testing"
)

type pathRow struct {
	PathTrial
	ID, Expect, OS, Technique string
}

func TestPathCorpus(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/path_fs_trees.json")
	if err != nil {
		t.Fatal(err)
	}
	trees, err := ReadTrees(raw)
	if err != nil {
		t.Fatal(err)
	}
	passed, total := map[string]int{}, map[string]int{}
	for _, row := range readCorpus[pathRow](t, "paths.jsonl") {
		if row.Kind != "fs" && row.Kind != "string" && row.Kind != "race" {
			continue
		}
		total[row.Kind]++
		got, why, err := TryPath(row.PathTrial, trees)
		want := map[string][]string{
			"deny": {TrialDenied}, "error": {TrialDenied}, "allow": {TrialInside}, "contained": {TrialDenied, TrialInside},
		}[row.Expect]
		if err != nil || !slices.Contains(want, got) {
			t.Errorf("%s %s %q (%s): got %s (%v, %v), want %s", row.ID, row.Op, row.Path, row.Technique, got, why, err, row.Expect)
			continue
		}
		passed[row.Kind]++
	}
	t.Logf("passed %v of %v", passed, total)
}

// The trials are worth something only when they would notice.
func TestPathTrialSeesAnEscape(t *testing.T) {
	t.Parallel()
	// os.Root cannot know a second name of the file that was made beforehand.
	got, why, err := TryPath(PathTrial{Kind: "fs", Op: "chmod", Path: "x", FS: []string{"hardlink:x => $OUT/secret"}}, nil)
	if got != TrialEscaped {
		t.Errorf("a hard link whose rights change: got %s (%v, %v), want %s", got, why, err, TrialEscaped)
	}
	for _, fs := range [][]string{{"../../x"}, {"@nothing"}, {"hardlink:x => /etc/passwd"}} {
		if _, _, err := TryPath(PathTrial{Kind: "fs", Op: "open", Path: "x", FS: fs}, nil); err == nil {
			t.Errorf("%q: got no error, want one", fs)
		}
	}
}

func TestPathPolicyCorpus(t *testing.T) {
	t.Parallel()
	passed, total := 0, 0
	for _, row := range readCorpus[pathRow](t, "paths.jsonl") {
		if row.Kind != "policy" {
			continue
		}
		total++
		v := Classify(row.Path, "/home/person/project", "/home/person", "/home/person/.oxios")
		got := v.Write
		if row.Op == "read" {
			got = v.Read
		}
		want := map[string]Tier{"deny": TierRefuse, "ask": TierAsk, "allow": TierFree}[row.Expect]
		if got != want {
			t.Errorf("%s %q: got tier %d (%s), want %d", row.Op, row.Path, got, v.Reason, want)
			continue
		}
		passed++
	}
	t.Logf("policy %d of %d", passed, total)
}
