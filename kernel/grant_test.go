package kernel_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// asksFor starts a call that asks, and returns its question and its end.
func asksFor(t *testing.T, k interface {
	Approval(string) kernel.Approval
}, h *kernel.Handle, line string,
) (kernel.Approval, <-chan error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		r, err := h.Exec.Shell(context.WithoutCancel(t.Context()), kernel.ShellArgs{Command: line})
		if err == nil && r.ExitCode != 0 {
			err = sys.Errorf(sys.CodeInternal, "exit %d: %s", r.ExitCode, r.Output)
		}
		done <- err
	}()
	return k.Approval(h.Principal().ID), done
}

// free makes a call that must not ask.
func free(t *testing.T, h *kernel.Handle, line string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	if r, err := h.Exec.Shell(ctx, kernel.ShellArgs{Command: line}); err != nil || r.ExitCode != 0 {
		t.Errorf("%q: got %+v, %v, want it to run unasked", line, r, err)
	}
}

func TestGrantAllowsItsKindUntilItIsTakenBack(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	person := k.Person().Security
	h := k.Agent("guarded")

	ap, done := asksFor(t, k, h, "mkdir one")
	p, err := person.ProposeGrant(t.Context(), ap.ID)
	if err != nil || !p.Can || p.Pattern != "mkdir *" || p.Hash != ap.Request.Hash || !strings.Contains(p.Allows.EN, "any files of the folder") || p.Allows.KO == "" {
		t.Fatalf("got %+v, %v", p, err)
	}
	_, err = person.Grant(t.Context(), ap.ID, kernel.GrantInput{Hash: "other", Scope: "folder"})
	wantCode(t, "another hash", err, sys.CodeConflict)
	_, err = person.Grant(t.Context(), ap.ID, kernel.GrantInput{Hash: p.Hash, Scope: "folder", Minutes: 60 * 24 * 31})
	wantCode(t, "too long", err, sys.CodeInvalid)
	_, err = h.Security.Grant(t.Context(), ap.ID, kernel.GrantInput{Hash: p.Hash, Scope: "folder"})
	wantCode(t, "an agent", err, sys.CodeForbidden)
	if still, err := person.Approval(t.Context(), ap.ID); err != nil || still.State != "pending" {
		t.Fatalf("after refused grants: %+v, %v", still, err)
	}
	g, err := person.Grant(t.Context(), ap.ID, kernel.GrantInput{Hash: p.Hash, Scope: "folder", Minutes: 60})
	if err != nil || g.Approval.State != "approved" || g.Grant.ExpiresAt.Sub(g.Grant.CreatedAt) != time.Hour {
		t.Fatalf("got %+v, %v", g, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	free(t, h, "mkdir two three")
	free(t, k.Agent("ask"), "mkdir four")
	other, denied := asksFor(t, k, h, "mkdir -m 777 five")
	if p, err := person.ProposeGrant(t.Context(), other.ID); err != nil || p.Looked != 1 || len(p.Covered) != 0 {
		t.Errorf("another option: got %+v, %v", p, err)
	}
	if _, err := person.Deny(t.Context(), other.ID, ""); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "denied", <-denied, sys.CodeDenied)

	k.Restart()
	person, h = k.Person().Security, k.Agent("guarded")
	free(t, h, "mkdir six")
	list, err := person.Grants(t.Context(), false)
	if err != nil || len(list) != 1 || list[0].Uses != 3 || list[0].LastUsedAt == nil {
		t.Fatalf("got %+v, %v, want one grant with three uses", list, err)
	}
	uses := 0
	entries, err := person.Audit(t.Context(), kernel.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, _ := json.Marshal(e)
		if strings.Contains(string(raw), `\"grant\":\"`+g.Grant.ID) || strings.Contains(string(raw), `"grant":"`+g.Grant.ID) {
			uses++
		}
	}
	if uses != 3 {
		t.Errorf("the chain names the grant in %d intents, want 3", uses)
	}

	if got, err := person.RevokeGrant(t.Context(), g.Grant.ID); err != nil || got.Holds || got.EndedBy == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = person.RevokeGrant(t.Context(), g.Grant.ID)
	wantCode(t, "twice", err, sys.CodeConflict)
	again, last := asksFor(t, k, h, "mkdir seven")
	if p, err := person.ProposeGrant(t.Context(), again.ID); err != nil || len(p.Covered) != 1 || p.Looked != 2 {
		t.Errorf("got %+v, %v, want the first request as covered", p, err)
	}
	if _, err := person.Deny(t.Context(), again.ID, ""); err != nil {
		t.Fatal(err)
	}
	<-last
	if all, err := person.Grants(t.Context(), true); err != nil || len(all) != 1 {
		t.Errorf("with those that ended: %+v, %v", all, err)
	}
}

func TestGrantOfARunHoldsForThatRunAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	person := k.Person().Security
	h := k.Agent("guarded")
	ap, done := asksFor(t, k, h, "touch one")
	g, err := person.Grant(t.Context(), ap.ID, kernel.GrantInput{Hash: ap.Request.Hash, Scope: "run"})
	if err != nil || g.Grant.RunID != h.Principal().ID {
		t.Fatalf("got %+v, %v", g, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	free(t, h, "touch two")
	other := k.Agent("guarded")
	asked, last := asksFor(t, k, other, "touch three")
	if _, err := person.Deny(t.Context(), asked.ID, ""); err != nil {
		t.Fatal(err)
	}
	<-last
}

func TestKindOfAStepThatRunsAnythingIsRefusedWithASentence(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	person := k.Person().Security
	write(t, filepath.Join(k.Folder, "build.sh"), "true\n")
	for _, line := range []string{"bash build.sh", "touch a | cat", "rm build.sh"} {
		h := k.Agent("guarded")
		ap, done := asksFor(t, k, h, line)
		p, err := person.ProposeGrant(t.Context(), ap.ID)
		if err != nil || p.Can || p.Why.EN == "" || p.Why.KO == "" {
			t.Errorf("%q: got %+v, %v", line, p, err)
		}
		_, err = person.Grant(t.Context(), ap.ID, kernel.GrantInput{Hash: ap.Request.Hash, Scope: "folder"})
		wantCode(t, line, err, sys.CodeRefused)
		if _, err := person.Deny(t.Context(), ap.ID, ""); err != nil {
			t.Fatal(err)
		}
		<-done
	}
}
