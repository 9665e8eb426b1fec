package kernel_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to damage a record as nobody in Oxios can

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const guardedTask = `
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "the list is tidy", "acceptance_criteria": [{"text": "no list", "check": {"file": "list.md", "not": true}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
text = "Tidy."
`

// guarded opens a kernel whose guardian looks all the time, and whose clock
// later moves forward.
func guarded(t *testing.T, options ...kerneltest.Option) (k *kerneltest.Kernel, later *atomic.Int64) {
	t.Helper()
	later = new(atomic.Int64)
	k = open(t, append(options, kerneltest.With(func(o *kernel.Options) {
		o.Guard = 20 * time.Millisecond
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	}))...)
	return k, later
}

func findings(t *testing.T, k *kerneltest.Kernel) []kernel.Finding {
	t.Helper()
	in, err := k.Person().Agents.Inbox(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return in.Findings
}

// recorded are the records of the guardian, as "kind state".
func recorded(t *testing.T, k *kerneltest.Kernel) string {
	t.Helper()
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		if kind, ok := strings.CutPrefix(e.Resource, "guardian:"); ok && e.Actor == "guardian" {
			_, state, _ := strings.Cut(string(e.Metadata), `"state":"`)
			state, _, _ = strings.Cut(state, `"`)
			out = append(out, kind+" "+state)
		}
	}
	return strings.Join(out, ", ")
}

func alter(t *testing.T, k *kerneltest.Kernel, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(k.Home, "oxios.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if res, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	} else if n, _ := res.RowsAffected(); n != 1 {
		t.Fatalf("got %d rows altered, want 1", n)
	}
}

func TestGuardianFindsAnAlteredRecordWithinADayAndForgetsItWhenItIsMended(t *testing.T) {
	t.Parallel()
	k, later := guarded(t, kerneltest.Script(inboxScript))
	k.Ask("hello")
	k.Until("it has looked", func() bool { return len(findings(t, k)) == 0 })
	alter(t, k, `UPDATE audit SET resource = resource || 'x' WHERE seq = 2`)
	later.Store(int64(25 * time.Hour))
	var got []kernel.Finding
	k.Until("the altered record is found", func() bool {
		got = findings(t, k)
		return len(got) == 1
	})
	f := got[0]
	if f.Kind != kernel.FindingAudit || !f.Bad || !strings.Contains(f.Message, "entry 2") || f.MessageKO == "" || f.Hint == "" || f.HintKO == "" {
		t.Errorf("got %+v, want the entry, in both languages", f)
	}
	s, err := k.Person().Infra.Status(t.Context())
	if err != nil || s.AuditOK || len(s.Findings) != 1 {
		t.Errorf("got audit %v and %+v, %v in the status", s.AuditOK, s.Findings, err)
	}
	time.Sleep(100 * time.Millisecond) // some more looks
	if got := recorded(t, k); got != "audit found" {
		t.Errorf("got %q in the record, want it told once", got)
	}
	r, err := k.Person().Infra.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if c.Name == "guardian" && (c.State != kernel.CheckFail || !strings.Contains(c.Detail.EN, "entry 2")) {
			t.Errorf("doctor: got %+v", c)
		}
	}
	alter(t, k, `UPDATE audit SET resource = substr(resource, 1, length(resource) - 1) WHERE seq = 2`)
	k.Until("it is mended", func() bool { return len(findings(t, k)) == 0 })
	if s, err := k.Person().Infra.Status(t.Context()); err != nil || !s.AuditOK {
		t.Errorf("got audit %v, %v after it was mended", s.AuditOK, err)
	}
	k.Until("that is in the record", func() bool { return recorded(t, k) == "audit found, audit mended" })
}

func TestGuardianFindsAtOnceWhatWasAlteredSinceItLooked(t *testing.T) {
	t.Parallel()
	k, _ := guarded(t, kerneltest.Script(inboxScript))
	k.Ask("hello")
	// The newest record is where it looks next.
	var last int64
	k.Until("nothing is written any more", func() bool {
		list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Newest: true, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		quiet := list[0].Seq == last
		last = list[0].Seq
		time.Sleep(50 * time.Millisecond)
		return quiet
	})
	alter(t, k, `UPDATE audit SET metadata = '{}' WHERE seq = ?`, last)
	k.Until("the altered record is found", func() bool { return len(findings(t, k)) == 1 })
}

func TestGuardianFindsADamagedHistoryAndAChangedSeed(t *testing.T) {
	t.Parallel()
	k, _ := guarded(t, kerneltest.Script(guardedTask))
	if r := k.Ask("Write the list"); r.SeedID == "" {
		t.Fatalf("got %+v, want a task", r)
	}
	time.Sleep(60 * time.Millisecond)
	if got := findings(t, k); len(got) != 0 {
		t.Fatalf("got %+v of a sound workspace", got)
	}
	dir := filepath.Join(k.Home, "workspace")
	var seed string
	err := filepath.WalkDir(filepath.Join(dir, "seeds"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			seed = path
		}
		return err
	})
	if err != nil || seed == "" {
		t.Fatalf("no seed: %v", err)
	}
	content, err := os.ReadFile(seed)
	if err != nil {
		t.Fatal(err)
	}
	write(t, seed, string(content)+"\n")
	k.Until("the changed seed is found", func() bool {
		got := findings(t, k)
		return len(got) == 1 && strings.Contains(got[0].Message, filepath.Base(seed)) && got[0].MessageKO != ""
	})
	write(t, seed, string(content))
	k.Until("it is as it was", func() bool { return len(findings(t, k)) == 0 })

	moved := 0
	objects := filepath.Join(dir, ".git", "objects")
	err = filepath.WalkDir(objects, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && len(filepath.Base(filepath.Dir(path))) == 2 {
			moved++
			return os.Rename(path, path+".away")
		}
		return err
	})
	if err != nil || moved == 0 {
		t.Fatalf("no object was taken away: %v", err)
	}
	k.Until("the missing objects are found", func() bool {
		got := findings(t, k)
		return len(got) == 1 && got[0].Kind == kernel.FindingWorkspace && strings.Contains(got[0].Message, "history")
	})
	err = filepath.WalkDir(objects, func(path string, d fs.DirEntry, err error) error {
		if whole, ok := strings.CutSuffix(path, ".away"); err == nil && ok {
			return os.Rename(path, whole)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	k.Until("they are back", func() bool { return len(findings(t, k)) == 0 })
	if got := fmt.Sprint(recorded(t, k)); got != "workspace found, workspace mended, workspace found, workspace mended" {
		t.Errorf("got %q in the record", got)
	}
}

func TestGuardianLooksEveryFiveMinutesUnlessTold(t *testing.T) {
	t.Parallel()
	if got := open(t).GuardEvery(); got != 5*time.Minute {
		t.Errorf("got %v, want every five minutes", got)
	}
	if got := open(t, kerneltest.With(func(o *kernel.Options) { o.Guard = time.Hour })).GuardEvery(); got != time.Hour {
		t.Errorf("got %v, want what was told", got)
	}
}
