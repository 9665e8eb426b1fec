package security

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// runUntilKilled is a process that starts every approved step it can: it uses
// the approval and, once that is durable, has the effect, a line in a file.
// It also tries those that nobody approved.
func runUntilKilled(dir string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx := context.Background()
	st, err := store.Open(ctx, filepath.Join(dir, "oxios.db"), store.Options{})
	if err != nil {
		fail(err)
	}
	effects, err := os.OpenFile(filepath.Join(dir, "effects"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fail(err)
	}
	approvals, audit := NewApprovals(st, ApprovalConfig{}), NewAudit(st, nil)
	for {
		all, err := approvals.List(ctx, ApprovalQuery{Limit: 1000})
		if err != nil {
			fail(err)
		}
		used := false
		for _, ap := range all {
			err := st.Write(ctx, func(tx *store.Tx) error {
				if err := approvals.Use(tx, ap.ID, ap.Request.Hash); err != nil {
					return err
				}
				_, err := audit.Append(tx, Entry{Actor: "agent:run-1", Action: ActionToolCall, Resource: ap.ID})
				return err
			})
			if err == nil {
				used = true
				fmt.Println("used")
				_, err = fmt.Fprintln(effects, ap.ID)
			}
			if err != nil && sys.CodeOf(err) != sys.CodeWaiting && sys.CodeOf(err) != sys.CodeDenied {
				fail(err)
			}
		}
		if !used {
			fail(errors.New("nothing is left to use, and nobody killed the process"))
		}
	}
}

// Whatever moment the process dies at: an approved call happens at most once,
// one that was not approved never, and a use and its intent in the audit chain
// stand or fall together.
func TestKilledBetweenDecisionAndUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "oxios.db")
	approved := map[string]bool{}
	for round := range 8 {
		st, err := store.Open(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := &desk{st: st, clock: newFakeClock()}
		d.Approvals = NewApprovals(st, ApprovalConfig{})
		for i := range 40 {
			ap := d.create(t, request(fmt.Sprint("step-", round, "-", i)))
			switch i % 4 {
			case 0: // stays open
			case 1:
				_, err = d.Decide(t.Context(), sys.Person("window"), ap.ID, Answer{}, nil)
			default:
				_, err = d.Decide(t.Context(), sys.Person("window"), ap.ID, yes(ap), nil)
				approved[ap.ID] = true
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		killAfter(t, dir, 1+round*2)
	}

	st := openStore(t, path)
	mustVerify(t, NewAudit(st, nil), AuditReport{OK: true})
	chain, err := NewAudit(st, nil).List(t.Context(), AuditQuery{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	intents := map[string]int{}
	for _, e := range chain {
		intents[e.Resource]++
	}
	happened := readEffects(t, filepath.Join(dir, "effects"))
	for id, n := range happened {
		if n != 1 || !approved[id] || intents[id] != 1 {
			t.Errorf("%s: happened %d times, approved %v, %d intents; want once, approved, one", id, n, approved[id], intents[id])
		}
	}
	all, err := NewApprovals(st, ApprovalConfig{}).List(t.Context(), ApprovalQuery{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, ap := range all {
		if ap.State == ApprovalUsed {
			used++
		}
		if (ap.State == ApprovalUsed) != (intents[ap.ID] == 1) {
			t.Errorf("%s is %s and has %d intents", ap.ID, ap.State, intents[ap.ID])
		}
	}
	if used == 0 || len(happened) > used {
		t.Errorf("%d used, %d happened: want some, and no more effects than uses", used, len(happened))
	}
	t.Logf("%d approved, %d used, %d happened", len(approved), used, len(happened))
}

// killAfter starts the process and kills it at its nth use.
func killAfter(t *testing.T, dir string, n int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childVar+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for n > 0 && in.Scan() {
		n--
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if n > 0 {
		t.Fatalf("the process ended by itself: %v", cmd.ProcessState)
	}
}

func readEffects(t *testing.T, path string) map[string]int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]int{}
	for in := bufio.NewScanner(f); in.Scan(); {
		out[in.Text()]++
	}
	return out
}
