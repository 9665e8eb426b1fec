package kernel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestANewConversationFindsItsSpace(t *testing.T) {
	t.Parallel()
	k := open(t)
	in := space(t, k, kernel.SpaceInput{Name: "Garden", Emoji: "🌱", Words: []string{"tomato", "토마토"}, Mode: "ask", Instructions: "Say it with flowers."})
	said := k.Ask("토마토는 언제 심어요?")
	if string(said.SpaceID) != in.ID || said.SpaceTag != "[🌱 Garden]" {
		t.Errorf("got the space %q %q, want %q", said.SpaceID, said.SpaceTag, in.ID)
	}
	s := sessionNow(t, k, said.SessionID)
	if s.SpaceWhy != "word" || s.Mode != "ask" || !strings.HasSuffix(s.Folder, filepath.Join("spaces", in.ID, "workspace")) {
		t.Errorf("got why %q, mode %q, folder %q", s.SpaceWhy, s.Mode, s.Folder)
	}
	p, err := k.Person().Agents.Prompt(t.Context(), kernel.Submit{Text: "The tomato again"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Prompt, `space "Garden"`) || !strings.Contains(p.Prompt, "Say it with flowers.") {
		t.Errorf("the prompt does not tell of the space:\n%s", p.Prompt)
	}
	none := ""
	if said := k.Ask("A tomato, but not there", func(m *kernel.Submit) { m.Space = &none }); said.SpaceID != "" || said.SpaceTag != "" {
		t.Errorf("got %q, want the default space that was asked for", said.SpaceID)
	}
	if said := k.Ask("A tomato elsewhere", func(m *kernel.Submit) { m.Folder, m.Mode = k.Folder, "guarded" }); sessionNow(t, k, said.SessionID).Mode != "guarded" {
		t.Error("what the message says does not win over the space")
	}
}

func TestAnAgentWorksInTheOwnFolderOfItsSpace(t *testing.T) {
	t.Parallel()
	k := open(t)
	in := space(t, k, kernel.SpaceInput{Name: "Own"})
	said := k.Ask("Write a hello file", func(m *kernel.Submit) { m.Space = &in.ID; m.Mode = "auto" })
	if said.State != "done" {
		t.Fatalf("got %+v", said)
	}
	if _, err := os.Stat(filepath.Join(k.Home, "spaces", in.ID, "workspace", "hello.txt")); err != nil {
		t.Errorf("the file is not in the space's folder: %v; %+v", err, said)
	}
	if _, err := k.Person().Exec.Folder(t.Context(), filepath.Join(k.Home, "keys")); err != nil {
		t.Fatal(err)
	}
	f, err := k.Person().Exec.Folder(t.Context(), filepath.Join(k.Home, "spaces"))
	if err != nil || !f.Refused {
		t.Errorf("got %+v, %v: the rest of the home must stay closed", f, err)
	}
}

func TestAGuessedSpaceWidensNoMode(t *testing.T) {
	t.Parallel()
	k := open(t)
	in := space(t, k, kernel.SpaceInput{Name: "Ledger", Mode: "auto"})
	for range 3 {
		k.Ask("Sum the quarterly receipts of the accountant", func(m *kernel.Submit) { m.Space = &in.ID })
	}
	said := k.Ask("Which quarterly receipts does the accountant lack?")
	if s := sessionNow(t, k, said.SessionID); s.Space != in.ID || s.SpaceWhy != "topic" || s.Mode != "guarded" {
		t.Errorf("got the space %q by %q in mode %q, want the ledger by its topic, guarded", s.Space, s.SpaceWhy, s.Mode)
	}
}

func TestSpaceWhoseFolderIsGone(t *testing.T) {
	t.Parallel()
	k := open(t)
	folder := filepath.Join(k.Folder, "project")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	in := space(t, k, kernel.SpaceInput{Name: "Project", Folder: folder})
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	_, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: "Go on", Space: &in.ID})
	if e := sys.AsError(err); e == nil || e.Code != sys.CodeNotFound || !strings.Contains(e.Message, "Project") || e.Hint == "" {
		t.Fatalf("got %v, want a clear refusal", err)
	}
	if all, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{}); err != nil || len(all) != 0 {
		t.Errorf("got %d conversations, %v, want none", len(all), err)
	}
	v, err := k.Person().Space.Get(t.Context(), "project")
	if err != nil || !v.Gone {
		t.Errorf("got %+v, %v", v, err)
	}
	words := []string{"x"}
	if _, err := k.Person().Space.Update(t.Context(), in.ID, kernel.SpacePatch{Words: &words}); err != nil {
		t.Errorf("another setting cannot be changed: %v", err)
	}
	if said := k.Ask("Go on here", func(m *kernel.Submit) { m.Space, m.Folder = &in.ID, k.Folder }); string(said.SpaceID) != in.ID {
		t.Errorf("got %+v in a folder that was chosen", said)
	}
}

func TestAMovedConversationTeachesItsSpace(t *testing.T) {
	t.Parallel()
	k := open(t)
	computers := space(t, k, kernel.SpaceInput{Name: "Computers", Words: []string{"apple"}})
	orchard := space(t, k, kernel.SpaceInput{Name: "Orchard"})
	wrong := k.Ask("When is the apple harvest?")
	if string(wrong.SpaceID) != computers.ID {
		t.Fatalf("got %q, want the space of the word", wrong.SpaceID)
	}
	moved, err := k.Person().Space.Move(t.Context(), []string{wrong.SessionID}, "orchard")
	if err != nil || moved[0].Space != orchard.ID || moved[0].SpaceWhy != "person" {
		t.Fatalf("got %+v, %v", moved, err)
	}
	if said := k.Ask("How long does the apple harvest take?"); string(said.SpaceID) != orchard.ID {
		t.Errorf("got %q after the correction, want the orchard", said.SpaceTag)
	}
	if said := k.Ask("Which apple has the best processor?"); string(said.SpaceID) != computers.ID {
		t.Errorf("got %q for the word alone, want the computers", said.SpaceTag)
	}
	if v, err := k.Person().Space.Get(t.Context(), orchard.ID); err != nil || !cmp.Equal(v.Learned, []string{"apple", "harvest"}) {
		t.Errorf("got %q, %v", v.Learned, err)
	}
}

func TestSpacesNeverSeeEachOthersMemories(t *testing.T) {
	t.Parallel()
	k := open(t)
	a, b := space(t, k, kernel.SpaceInput{Name: "A1"}), space(t, k, kernel.SpaceInput{Name: "B1"})
	remember(t, k, kernel.MemoryInput{Text: "The deadline of the bridge is in March", Space: a.ID})
	for _, in := range []string{b.ID, ""} {
		found, err := k.Person().Memory.Search(t.Context(), kernel.MemorySearch{Text: "deadline of the bridge", Space: in})
		if err != nil || len(found) != 0 {
			t.Errorf("got %v, %v in another space", found, err)
		}
		p, err := k.Person().Agents.Prompt(t.Context(), kernel.Submit{Text: "What is the deadline of the bridge?", Space: &in})
		if err != nil || strings.Contains(p.Prompt, "March") {
			t.Errorf("the prompt of another space tells it: %v", err)
		}
	}
	named, err := k.Person().Memory.Elsewhere(t.Context(), kernel.MemorySearch{Text: "deadline of the bridge"})
	if err != nil || len(named) != 1 || named[0].Name != "A1" || len(named[0].Found) != 0 {
		t.Errorf("got %+v, %v, want the name of the space that knows", named, err)
	}
	h := k.Agent("guarded")
	set := k.Toolset(h)
	for _, tool := range set.Tools {
		if tool.Name() != "memory_search" {
			continue
		}
		r, err := tool.Call(t.Context(), json.RawMessage(`{"query":"deadline of the bridge"}`))
		if err != nil || !strings.Contains(r.Text, "[A1]") || strings.Contains(r.Text, "March") {
			t.Errorf("got %q, %v, want the space named and its content kept", r.Text, err)
		}
	}
}

func TestMergeAndUnmergeOfSpacesRestoreExactly(t *testing.T) {
	t.Parallel()
	k := open(t)
	a := space(t, k, kernel.SpaceInput{Name: "Old", Words: []string{"oak"}, Paths: []string{"/shared", "/old"}})
	b := space(t, k, kernel.SpaceInput{Name: "New", Words: []string{"elm"}, Paths: []string{"/shared"}})
	k.Ask("The oak and its leaves")
	k.Ask("Another thing", func(m *kernel.Submit) { m.Space = &a.ID })
	k.Ask("The elm and its leaves")
	walnut := k.Ask("Walnuts and hazelnuts")
	if _, err := k.Person().Space.Move(t.Context(), []string{walnut.SessionID}, a.ID); err != nil { // Old learns from it
		t.Fatal(err)
	}
	remember(t, k, kernel.MemoryInput{Text: "Its height is 20 m", Key: "height", Space: a.ID})
	remember(t, k, kernel.MemoryInput{Text: "Its height is 21 m", Key: "height", Space: a.ID})
	remember(t, k, kernel.MemoryInput{Text: "Its height is 30 m", Key: "height", Space: b.ID})
	remember(t, k, kernel.MemoryInput{Text: "Squirrels live there", Space: a.ID})
	proposed, err := k.Person().Space.Proposals(t.Context(), "")
	if err != nil || len(proposed) != 1 || proposed[0].Kind != "merge" {
		t.Fatalf("got %+v, %v, want a merge of those with a shared path", proposed, err)
	}
	before := allOf(t, k)
	preview, err := k.Person().Space.MergePreview(t.Context(), "Old", "New")
	if err != nil || preview.Sessions != 3 || preview.Memories != 3 || preview.Under != 1 {
		t.Errorf("got %+v, %v", preview, err)
	}
	if diff := cmp.Diff(before, allOf(t, k)); diff != "" {
		t.Errorf("a preview changed something (-before +after):\n%s", diff)
	}
	m, err := k.Person().Space.Merge(t.Context(), "Old", "New")
	if err != nil || m.Sessions != 3 || m.Memories != 3 || m.Under != 1 {
		t.Fatalf("got %+v, %v", m, err)
	}
	if said := k.Ask("Is the oak old?"); string(said.SpaceID) != b.ID {
		t.Errorf("got %q after the merge, want the words to count for the other", said.SpaceTag)
	} else if _, err := k.Person().State.DeleteSession(t.Context(), said.SessionID); err != nil {
		t.Fatal(err)
	}
	if d, err := k.Person().Space.Detect(t.Context(), "Where do walnuts grow?", ""); err != nil || d.Space != b.ID {
		t.Errorf("what was learned: got %+v, %v, want it to count for the other", d, err)
	}
	if found, err := k.Person().Memory.Search(t.Context(), kernel.MemorySearch{Text: "squirrels height", Space: b.ID}); err != nil || len(found) != 2 {
		t.Errorf("got %d memories, %v, want the one that moved and the one that holds", len(found), err)
	}
	if _, err := k.Person().Space.Unmerge(t.Context(), "Old"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, allOf(t, k)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if found, err := k.Person().Memory.Search(t.Context(), kernel.MemorySearch{Text: "squirrels height", Space: a.ID}); err != nil || len(found) != 2 {
		t.Errorf("got %d memories, %v back in the old one", len(found), err)
	}
	if _, err := k.Person().Space.Unmerge(t.Context(), "Old"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v for a merge that is undone", err)
	}
}

func TestAProposalOfASpaceIsNeverImposed(t *testing.T) {
	t.Parallel()
	k := open(t)
	garden := space(t, k, kernel.SpaceInput{Name: "Garden", Words: []string{"tomatoes", "basil"}})
	first := k.Ask("Compare two mortgages")
	for _, text := range []string{"When do I water the tomatoes?", "The basil turns yellow", "How dry may the soil of tomatoes be?"} {
		k.Ask(text, func(m *kernel.Submit) { m.SessionID = first.SessionID })
	}
	if s := sessionNow(t, k, first.SessionID); s.Space != "" {
		t.Fatalf("got %q, want the conversation where it was", s.Space)
	}
	all, err := k.Person().Space.Proposals(t.Context(), first.SessionID)
	if err != nil || len(all) != 1 || all[0].Kind != "move" || all[0].Space != garden.ID || all[0].TextKO == "" {
		t.Fatalf("got %+v, %v", all, err)
	}
	if _, err := k.Person().Space.AnswerProposal(t.Context(), all[0].ID, false, ""); err != nil {
		t.Fatal(err)
	}
	if all, err := k.Person().Space.Proposals(t.Context(), first.SessionID); err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v after a no", all, err)
	}
	other := k.Ask("Translate a poem by Rilke")
	for _, text := range []string{"Which poem by Rilke mentions a panther?", "Compare the Rilke translations of that poem", "Find the meter of the Rilke poem"} {
		k.Ask(text, func(m *kernel.Submit) { m.SessionID = other.SessionID })
	}
	all, err = k.Person().Space.Proposals(t.Context(), other.SessionID)
	if err != nil || len(all) != 1 || all[0].Kind != "new" {
		t.Fatalf("got %+v, %v", all, err)
	}
	id, err := k.Person().Space.AnswerProposal(t.Context(), all[0].ID, true, "Poetry")
	if err != nil || sessionNow(t, k, other.SessionID).Space != id {
		t.Errorf("got %q, %v", id, err)
	}
}

func TestOnlyAnEmptySpaceIsRemoved(t *testing.T) {
	t.Parallel()
	k := open(t)
	in := space(t, k, kernel.SpaceInput{Name: "Full"})
	said := k.Ask("Hello there", func(m *kernel.Submit) { m.Space = &in.ID })
	err := k.Person().Space.Remove(t.Context(), in.ID)
	if sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "conversations 1") {
		t.Errorf("got %v", err)
	}
	if _, err := k.Person().Space.Move(t.Context(), []string{said.SessionID}, ""); err != nil {
		t.Fatal(err)
	}
	if err := k.Person().Space.Remove(t.Context(), "full"); err != nil {
		t.Errorf("got %v for an empty one", err)
	}
	if _, err := os.Stat(filepath.Join(k.Home, "spaces", in.ID)); err == nil {
		t.Error("its empty folder is still there")
	}
}

func TestStaleSpacesAreArchivedAndComeBackWithAMessage(t *testing.T) {
	t.Parallel()
	k := open(t)
	in := space(t, k, kernel.SpaceInput{Name: "Stale", Words: []string{"zebra"}})
	said := k.Ask("A zebra walks")
	if out, err := k.Person().Space.ArchiveStale(t.Context(), 30); err != nil || len(out) != 0 {
		t.Fatalf("got %v, %v", out, err)
	}
	if _, err := k.Person().Space.Archive(t.Context(), "Stale"); err != nil {
		t.Fatal(err)
	}
	if said := k.Ask("Another zebra"); said.SpaceID != "" {
		t.Error("an archived space was found")
	}
	if _, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: "x", Space: &in.ID}); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v for a new conversation in it", err)
	}
	k.Ask("And on", func(m *kernel.Submit) { m.SessionID = said.SessionID })
	if v, err := k.Person().Space.Get(t.Context(), in.ID); err != nil || v.Space.ArchivedAt != nil {
		t.Errorf("got %+v, %v, want it back: somebody writes in it", v.Space, err)
	}
}

func TestAgentsSeeSpacesAndChangeNone(t *testing.T) {
	t.Parallel()
	k := open(t)
	in := space(t, k, kernel.SpaceInput{Name: "Private", Instructions: "secret"})
	h := k.Agent("auto")
	all, err := h.Space.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Instructions != "" {
		t.Errorf("got %+v, %v, want it without its instructions", all, err)
	}
	if _, err := h.Space.Create(t.Context(), kernel.SpaceInput{Name: "Mine"}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %v for a space that an agent makes", err)
	}
	if _, err := h.Space.Merge(t.Context(), in.ID, in.ID); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %v for a merge by an agent", err)
	}
}

func space(t *testing.T, k *kerneltest.Kernel, in kernel.SpaceInput) kernel.SpaceInfo {
	t.Helper()
	s, err := k.Person().Space.Create(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sessionNow(t *testing.T, k *kerneltest.Kernel, id string) kernel.Session {
	t.Helper()
	v, err := k.Person().State.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return v.Session
}

func remember(t *testing.T, k *kerneltest.Kernel, in kernel.MemoryInput) {
	t.Helper()
	if _, err := k.Person().Memory.Remember(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// allOf is all that a merge could change.
func allOf(t *testing.T, k *kerneltest.Kernel) map[string]any {
	t.Helper()
	out := map[string]any{}
	spaces, err := k.Person().Space.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range spaces {
		s.UpdatedAt, s.UsedAt = time.Time{}, time.Time{}
		out["space "+s.Name] = s
		v, err := k.Person().Space.Get(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		out["learned "+s.Name] = v.Learned
	}
	sessions, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		out["session "+s.Title] = []string{s.Space, s.SpaceWhy}
	}
	for _, replaced := range []bool{false, true} {
		all, err := k.Person().Memory.List(t.Context(), kernel.MemoryQuery{Every: true, Replaced: replaced})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			out["memory "+m.ID] = []string{m.Text, m.Space, m.Key, m.ReplacedBy}
		}
	}
	return out
}

func TestCommandsInTheOwnFolderOfASpaceReachNothingElseOfTheHome(t *testing.T) {
	t.Parallel()
	k := open(t)
	in, other := space(t, k, kernel.SpaceInput{Name: "Own"}), space(t, k, kernel.SpaceInput{Name: "Other"})
	folder := func(id string) string { return filepath.Join(k.Home, "spaces", id, "workspace") }
	write(t, filepath.Join(folder(other.ID), "secret.txt"), "of another space")
	h := k.AgentIn(folder(in.ID), "auto")
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "echo mine > mine.txt; cat mine.txt"})
	if err != nil || r.Output != "mine\n" {
		t.Fatalf("got %+v, %v", r, err)
	}
	if r.Isolation == 0 {
		t.Skip("commands are not contained here")
	}
	for _, path := range []string{"../../*/workspace/secret.txt", "../../../config.toml", "../../../oxios.db"} {
		r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat " + path})
		if err == nil && r.ExitCode == 0 {
			t.Errorf("%s: got %q", path, r.Output)
		}
	}
}

func TestPromptOfASpaceCarriesItsOwnMemoriesAndNoOthers(t *testing.T) {
	t.Parallel()
	k := open(t)
	a, b := space(t, k, kernel.SpaceInput{Name: "A1"}), space(t, k, kernel.SpaceInput{Name: "B1"})
	none := ""
	in := map[string]*string{"March": &a.ID, "April": &b.ID, "May": &none}
	for month, of := range in {
		remember(t, k, kernel.MemoryInput{Text: "The deadline of the bridge is in " + month, Space: *of})
	}
	for month, of := range in {
		shown, err := k.Person().Agents.Prompt(t.Context(), kernel.Submit{Text: "What is the deadline of the bridge?", Space: of})
		if err != nil {
			t.Fatal(err)
		}
		before := len(requests(t, k.Demo))
		k.Ask("What is the deadline of the bridge?", func(m *kernel.Submit) { m.Space = of })
		told := requests(t, k.Demo)[before].text(0)
		for other := range in {
			for which, prompt := range map[string]string{"the prompt that is shown": shown.Prompt, "what the model was told": told} {
				if got := strings.Contains(prompt, "bridge is in "+other); got != (other == month) {
					t.Errorf("space of %s: %s holds %s: %v", month, which, other, got)
				}
			}
		}
	}
}
