package knowledge

import (
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel/sys"
)

// discard deletes a file as the kernel does.
func discard(t *testing.T, v *Vault, p string) Trashed {
	t.Helper()
	plan, err := v.PlanDelete(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := v.Discard(Trashed{Path: plan.Steps[0].Path}, plan.Steps[0].Before)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, v, plan, nil)
	return kept
}

func TestTrashGivesBackWhatWasDeletedByteForByte(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"sub/a.md": "one\r\n", "pic.png": "\x00\x01\n\xff"})
	note, pic := discard(t, v, "sub/a"), discard(t, v, "pic.png")
	all, err := v.Trash(t.Context())
	if err != nil || len(all) != 2 || all[0].Path != "pic.png" || all[1] != note {
		t.Fatalf("got %+v, %v", all, err)
	}
	for id, want := range map[string]string{note.ID: "one\r\n", pic.ID: "\x00\x01\n\xff"} {
		plan, err := v.PlanRestore(t.Context(), id)
		apply(t, v, plan, err)
		if got := onDiskText(t, v, plan.Steps[0].Path); got != want || len(plan.Notes) > 0 {
			t.Errorf("got %q, want %q; %v", got, want, plan.Notes)
		}
	}
	if all, err := v.Trash(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("what is back is still in the trash: %+v, %v", all, err)
	}
}

func TestRestoredNoteTakesAFreeNameWhenItsOwnIsTaken(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "old"})
	kept := discard(t, v, "a")
	plan, err := v.PlanWrite(t.Context(), "A.md", "new", "", WriteOptions{})
	apply(t, v, plan, err)
	plan, err = v.PlanRestore(t.Context(), kept.ID)
	apply(t, v, plan, err)
	if p := plan.Steps[0].Path; p != "a (2).md" || len(plan.Notes) != 1 || plan.Notes[0].KO == "" || onDiskText(t, v, p) != "old" || onDiskText(t, v, "A.md") != "new" {
		t.Errorf("got %q, %v", p, plan.Notes)
	}
}

func TestTrashNeverGivesWhatItDoesNotHold(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "text"})
	kept := discard(t, v, "a")
	for _, id := range []string{"", ".", "..", "../state/index", "none", ".new-x", `a\b`} {
		if _, err := v.PlanRestore(t.Context(), id); sys.CodeOf(err) != sys.CodeNotFound {
			t.Errorf("%q: got %v", id, err)
		}
		if err := v.Forget(id); sys.CodeOf(err) != sys.CodeNotFound {
			t.Errorf("%q: got %v", id, err)
		}
	}
	// A disk that bit into it.
	name := filepath.Join(v.opt.Trash, kept.ID)
	raw, err := os.ReadFile(name)
	if err == nil {
		raw[len(raw)-1]++
		err = os.WriteFile(name, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.PlanRestore(t.Context(), kept.ID); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	if err := v.Forget(kept.ID); err != nil {
		t.Error(err)
	}
	if all, err := v.Trash(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v", all, err)
	}
}
