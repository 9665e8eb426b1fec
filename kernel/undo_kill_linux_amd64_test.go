package kernel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
	"oxios/kernel/kerneltest/disk"
	"oxios/kernel/sys"
)

// manyScript changes ten files, makes ten in new folders, and has a fork do so too.
const manyScript = `
[[scenario]]
match = "^begin"
[[scenario.turn]]
repeat = 10
[[scenario.turn.call]]
tool = "write"
args = '{"path": "f{{n}}.txt", "content": "by the agent {{n}}\n"}'
[[scenario.turn.call]]
tool = "write"
args = '{"path": "new/{{n}}/made.txt", "content": "made {{n}}\n"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Writer", "goal": "child writes"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "All is done."

[[scenario]]
match = "^child"
[[scenario.turn]]
repeat = 5
[[scenario.turn.call]]
tool = "write"
args = '{"path": "f{{n}}.txt", "content": "by the fork {{n}}\n"}'
[[scenario.turn]]
text = "The fork is done."
`

// largeScript also has a command delete so many files that they come back in batches.
var largeScript = strings.Replace(manyScript, "[[scenario.turn]]\ntext = \"All", `[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "rm -r large"}'
[[scenario.turn]]
text = "All`, 1)

// undoingLife opens Oxios, which ends what was cut off before, and undoes the run
// where it stands as the agent left it, or redoes it where it is undone. It is killed
// meanwhile.
func undoingLife(h house, run string) {
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "the life failed:", err)
			os.Exit(1)
		}
	}
	say := func(word string) {
		_, err := os.Stdout.WriteString(word)
		must(err)
	}
	ctx := context.Background()
	k, err := kernel.Open(ctx, h.options())
	must(err)
	k.SmallUndoBatches(40)
	p := k.As(sys.Person("test"))
	r, err := p.Security.VerifyAudit(ctx)
	must(err)
	if !r.OK {
		must(fmt.Errorf("the audit chain: %+v", r))
	}
	say("opened")
	plan, err := p.Agents.UndoPreview(ctx, kernel.UndoQuery{RunID: run})
	must(err)
	do := p.Agents.Undo
	if plan.Ready == 0 {
		plan, err = p.Agents.UndoPreview(ctx, kernel.UndoQuery{RunID: run, Redo: true})
		must(err)
		do = p.Agents.Redo
	}
	say("begin")
	plan, err = do(ctx, kernel.UndoInput{RunID: run, Hash: plan.Hash})
	must(err)
	for _, f := range plan.Files {
		if f.Status == kernel.UndoLeft {
			must(fmt.Errorf("%s was left: %s", f.Path, f.Why))
		}
	}
	say("over")
	must(k.Close())
	os.Exit(0)
}

// An undo and a redo of a run with a fork are killed right after what they write,
// flush, rename and remove, each time something else. The next start has all of it
// done or nothing of it, and what the person wrote is there to the byte.
func TestAKillAnywhereInAnUndoLeavesAllOfItOrNothing(t *testing.T) {
	t.Parallel()
	houses, kills := kerneltest.Many(2, 1), kerneltest.Many(40, 4) // each
	var total, undone, redone, whole, things atomic.Int64
	began := time.Now()
	t.Run("houses", func(t *testing.T) {
		for n := range houses * 2 {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				script, most := manyScript, 200
				if n%2 == 1 {
					script, most = largeScript, 1200
				}
				h, run, before, after := manyHouse(t, script)
				random := rand.New(rand.NewPCG(uint64(n), 7)) //nolint:gosec // the same kills each time
				for i := range kills + 1 {
					// Spread over all that an undo does, never twice the same place in turn.
					at := (i*most/kills + random.IntN(5)) % most
					if i == kills {
						at = -1
					}
					since, opened, over := -1, false, false
					cmd := h.command(t)
					cmd.Env = append(cmd.Env, "OXIOS_POWER_UNDO="+run)
					_, err := disk.Run(cmd, disk.Watch{Dirs: h.dirs(), Hear: func(mark string) {
						switch mark {
						case "opened":
							opened = true
							switch tree := treeOf(t, h.folder); tree {
							case before:
								undone.Add(1)
							case after:
								redone.Add(1)
							default:
								t.Errorf("after kill %d the folder holds\n%s\nwant it as before or as after the run:\n%s\n%s", i, tree, before, after)
							}
						case "begin":
							since = 0
						case "over":
							over = true
						}
					}, Kill: func(o disk.Op) bool {
						if since < 0 || o.Kind == disk.Mark {
							return false
						}
						since++
						return since-1 == at
					}})
					switch {
					case err != nil || !opened:
						t.Fatalf("life %d: %v (opened: %v)", i, err, opened)
					case over:
						whole.Add(1)
						most = max(since, 20) // so many things it did: the kills are spread over these
						things.Store(int64(since))
					default:
						total.Add(1)
					}
					if t.Failed() {
						return
					}
				}
			})
		}
	})
	t.Logf("%d kills and %d whole lives of some %d writes each in %s; found undone %d times, done %d times", total.Load(), whole.Load(), things.Load(), time.Since(began).Round(time.Millisecond), undone.Load(), redone.Load())
	if undone.Load() == 0 || redone.Load() == 0 {
		t.Error("no kill left it undone, or none left it done")
	}
}

// The same for every single thing that an undo and a redo write, flush, rename or
// remove: what a kill right after it leaves is put down from a record of one life.
func TestEveryWriteOfAnUndoCanBeItsLast(t *testing.T) {
	t.Parallel()
	h, run, before, after := manyHouse(t, manyScript)
	every := kerneltest.Many(1, 60)
	began, tried, points := time.Now(), 0, 0
	found := map[string]int{}
	for range 2 { // an undo, then its redo
		d := h.disk(t)
		cmd := h.command(t)
		cmd.Env = append(cmd.Env, "OXIOS_POWER_UNDO="+run)
		ops, err := disk.Run(cmd, disk.Watch{Dirs: h.dirs()})
		if err != nil {
			t.Fatal(err)
		}
		end := h.disk(t).Killed()
		at, seen := "", map[uint64]bool{}
		for i, o := range ops {
			d.Apply(o)
			if o.Kind == disk.Mark {
				at = string(o.Data)
			}
			if at != "begin" || o.Kind == disk.Mark {
				continue
			}
			points++
			s := d.Killed()
			if i%every != 0 || seen[s.Sum()] {
				continue
			}
			seen[s.Sum()] = true
			tried++
			if err := s.Put(h.dirs()...); err != nil {
				t.Fatal(err)
			}
			k, err := kernel.Open(t.Context(), h.options())
			if err != nil {
				t.Fatalf("after operation %d (%s): %v", i, o, err)
			}
			tree := treeOf(t, h.folder)
			found[tree]++
			if tree != before && tree != after {
				t.Fatalf("after operation %d (%s) the folder holds\n%s\nwant it as before or as after the run:\n%s\n%s", i, o, tree, before, after)
			}
			if r, err := k.As(sys.Person("test")).Security.VerifyAudit(t.Context()); err != nil || !r.OK {
				t.Fatalf("after operation %d (%s): the audit chain: %+v, %v", i, o, r, err)
			}
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := end.Put(h.dirs()...); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d writes, %d different states in %s; found undone %d times, done %d times", points, tried, time.Since(began).Round(time.Millisecond), found[before], found[after])
	if found[before] == 0 || found[after] == 0 {
		t.Error("no state was taken for undone, or none for done")
	}
}

// manyHouse is one in which a run has changed many files and ended, and the person
// changed some of them since. before and after are what its folder holds.
func manyHouse(t *testing.T, script string) (h house, run, before, after string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := demo.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(demo.New(scenarios...))
	t.Cleanup(server.Close)
	h = house{home: filepath.Join(base, "home"), folder: filepath.Join(base, "folder"), state: filepath.Join(base, "state"), url: server.URL + "/v1", helper: kerneltest.Helper(t)}
	for _, dir := range h.dirs() {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(h.home, "config.toml"), fmt.Sprintf("folder = %q\nkeyring = false\n", h.folder))
	for i := range 11 {
		write(t, filepath.Join(h.folder, fmt.Sprintf("f%d.txt", i)), strings.Repeat(fmt.Sprintf("mine %d\n", i), 1+i*300))
	}
	many := 2
	if script == largeScript {
		many = 130
	}
	for i := range many {
		path := filepath.Join(h.folder, "large", fmt.Sprint(i%7), fmt.Sprintf("f%d.txt", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, fmt.Sprintf("one of many %d\n", i))
	}
	l, err := h.live()
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Agents.Submit(t.Context(), kernel.Submit{Text: "begin", Mode: "autonomous"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := l.Agents.Wait(t.Context(), s.RunID); err != nil || r.State != "done" {
		t.Fatalf("got %+v, %v", r, err)
	}
	write(t, filepath.Join(h.folder, "f3.txt"), "mine again\n")
	write(t, filepath.Join(h.folder, "new", "2", "beside.txt"), "mine too\n")
	after = treeOf(t, h.folder)
	do := func(redo bool) {
		t.Helper()
		p, err := l.Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: s.RunID, Redo: redo})
		if err != nil || p.Ready < 20 {
			t.Fatalf("got %d files, %v", p.Ready, err)
		}
		how := l.Agents.Undo
		if redo {
			how = l.Agents.Redo
		}
		if _, err := how(t.Context(), kernel.UndoInput{RunID: s.RunID, Hash: p.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	do(false)
	before = treeOf(t, h.folder)
	do(true)
	if got := treeOf(t, h.folder); got != after || before == after || !strings.Contains(before, "mine again") {
		t.Fatalf("got\n%s\nwant\n%s", got, after)
	}
	if err := l.stop(); err != nil {
		t.Fatal(err)
	}
	return h, s.RunID, before, after
}
