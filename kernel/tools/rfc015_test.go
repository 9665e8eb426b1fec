package tools_test

import (
	"slices"
	"strings"
	"testing"

	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/tools"
)

// The eight points by which RFC-015 is verified, in its order.
func TestMemoryAndKnowledgeAreToldApart(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	set := k.Toolset(k.Agent("guarded"))

	worker, err := security.Profile(security.ProfileWorker)
	if err != nil || !worker.Allows(security.DomainKnowledge, security.R|security.W) {
		t.Errorf("1: a worker has %v, %v", worker, err)
	}
	for _, want := range []string{
		"### memory\nInternal agent recall — facts, preferences, behavioral patterns. Not user-visible.",
		"### knowledge\nPersonal markdown vault — documents, articles, notes, journal. File-based with backlinks and full-text search.",
	} {
		if !strings.Contains(set.Manifest, want) {
			t.Errorf("2: the manifest lacks %q:\n%s", want, set.Manifest)
		}
	}
	find := tools.NewRetriever(tools.Catalogue())
	for _, q := range []string{"저장", "마크다운", "노트", "자료", "지식 저장소에 저장해줘"} {
		if got := find.Find(q, 3); len(got) == 0 || got[0] != "knowledge" {
			t.Errorf("3: %s finds %v", q, got)
		}
	}
	for _, q := range []string{"기억", "선호", "패턴"} {
		if got := find.Find(q, 3); len(got) < 3 || slices.ContainsFunc(got, func(n string) bool { return !strings.HasPrefix(n, "memory_") }) {
			t.Errorf("4: %s finds %v", q, got)
		}
	}
	write := tool(t, set, "memory_write")
	if strings.Contains(strings.ToLower(write.Description()), "knowledge") {
		t.Errorf("5: %s", write.Description())
	}
	if s := string(write.Schema()); strings.Contains(s, "knowledge") || !strings.Contains(s, `["fact","episode"]`) {
		t.Errorf("6: %s", s)
	}
	about := tool(t, set, "knowledge").Description()
	for _, want := range []string{"vault", "user content", "File-based"} {
		if !strings.Contains(about, want) {
			t.Errorf("7: %q is not in %q", want, about)
		}
	}
	for _, want := range []string{
		"\n- **Memory tools**: memory_read, memory_search, memory_write — agent's internal recall\n", "\n- **Knowledge**: knowledge — personal markdown vault for documents and notes\n", "\n- **Kernel tools**: ",
	} {
		if !strings.Contains("\n"+set.Manifest, want) {
			t.Errorf("8: the prompt lacks the line %q:\n%s", want, set.Manifest)
		}
	}
	// What tools are found by is not what models read.
	for _, x := range set.Tools {
		if strings.ContainsFunc(x.Description()+string(x.Schema()), func(r rune) bool { return r >= 0xAC00 && r <= 0xD7A3 }) {
			t.Errorf("the description of %s has Korean in it", x.Name())
		}
	}
}
