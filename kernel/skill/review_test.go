package skill_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel/guard"
	"oxios/kernel/skill"
	"oxios/kernel/sys"
)

// accept accepts a skill as it is.
func accept(t *testing.T, api *skill.API, name string) {
	t.Helper()
	d, err := api.Show(t.Context(), name)
	if err == nil {
		_, err = api.Accept(t.Context(), name, d.Now)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, api *skill.API, name string) (v skill.View, ok bool) {
	t.Helper()
	list, err := api.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		if v.Name == name {
			return v, true
		}
	}
	return v, false
}

func TestASkillThatChangedIsKnownWhateverTimeItsFileHas(t *testing.T) {
	t.Parallel()
	s, dir := service(t, open{})
	person := s.As(guard.NewCaller(sys.Person(""), guard.Scope{}, gate{}))
	from := filepath.Join(t.TempDir(), "notes")
	put(t, filepath.Join(from, "SKILL.md"), manifest("notes"))
	if _, err := person.Install(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	accept(t, person, "notes")
	isReady := func() bool {
		list, err := s.Ready(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if v.Name == "notes" {
				return true
			}
		}
		return false
	}
	if !isReady() {
		t.Fatal("it is not ready once it was accepted")
	}
	at := filepath.Join(dir, "notes", "SKILL.md")
	put(t, at, strings.Replace(manifest("notes"), "Does", "Obeys", 1))
	past := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(at, past, past); err != nil {
		t.Fatal(err)
	}
	if v, _ := find(t, person, "notes"); v.State != skill.StateChanged || isReady() {
		t.Errorf("it is %q, ready %v, want changed", v.State, isReady())
	}
	accept(t, person, "notes")
	if !isReady() {
		t.Error("it is not ready once it was accepted again")
	}
}

func TestADecisionThatKnowsNoFileHoldsAsLongAsAllIsTheSame(t *testing.T) {
	t.Parallel()
	s, dir := service(t, open{})
	person := s.As(guard.NewCaller(sys.Person(""), guard.Scope{}, gate{}))
	put(t, filepath.Join(dir, "notes", "SKILL.md"), manifest("notes"))
	d, err := person.Show(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	put(t, filepath.Join(dir, ".decided.json"), `{"accepted": {"`+filepath.Join(dir, "notes")+`": {"hash": "`+d.Now+`", "at": "`+later+`"}}}`)
	again := skill.New(skill.Config{Dir: dir, Has: nothing{}, Trusted: func(context.Context, string) bool { return false }}).As(guard.NewCaller(sys.Person(""), guard.Scope{}, gate{}))
	for range 2 {
		if v, _ := find(t, again, "notes"); v.State != skill.StateReady {
			t.Errorf("it is %q, want ready", v.State)
		}
	}
	put(t, filepath.Join(dir, "notes", "SKILL.md"), manifest("notes")+"And more.\n")
	if v, _ := find(t, again, "notes"); v.State != skill.StateChanged {
		t.Errorf("it is %q, want changed", v.State)
	}
}

const keyed = "---\nname: notes\ndescription: Does notes.\nmetadata: {\"openclaw\": {\"requires\": {\"env\": [\"NOTES_KEY\", \"OTHER_KEY\"]}}}\n---\nGo.\n"

func TestRightsBelongToTheSkillThatTheyWereGivenTo(t *testing.T) {
	t.Parallel()
	api, dir := installer(t, open{})
	one, two := filepath.Join(t.TempDir(), "notes"), filepath.Join(t.TempDir(), "notes")
	put(t, filepath.Join(one, "SKILL.md"), keyed)
	put(t, filepath.Join(two, "SKILL.md"), keyed)
	if _, err := api.Install(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	_, err := api.Allow(t.Context(), "notes", skill.Rights{Network: true, Env: []string{"NOTES_KEY", "OTHER_KEY"}})
	if err == nil {
		_, err = api.Pin(t.Context(), "notes", true)
	}
	if err != nil {
		t.Fatal(err)
	}
	if v, err := api.Install(t.Context(), one); err != nil || !v.Rights.Network || len(v.Rights.Env) != 2 || !v.Origin.Pinned {
		t.Errorf("from the same place: got %+v, %+v, %v", v.Rights, v.Origin, err)
	}
	put(t, filepath.Join(dir, "notes", "SKILL.md"), strings.Replace(keyed, `, "OTHER_KEY"`, "", 1))
	if v, _ := find(t, api, "notes"); len(v.Rights.Env) != 1 || v.Rights.Env[0] != "NOTES_KEY" {
		t.Errorf("it has the variables %v, want those alone that it names still", v.Rights.Env)
	}
	if v, err := api.Install(t.Context(), two); err != nil || v.Rights.Network || len(v.Rights.Env) > 0 || v.Origin.Pinned {
		t.Errorf("from another place: got %+v, %+v, %v", v.Rights, v.Origin, err)
	}
}
