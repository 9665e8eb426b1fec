package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) undoCommand() *cobra.Command {
	return c.backCommand("undo", false, c.t("Put back what a run changed", "실행이 바꾼 파일을 되돌립니다"),
		c.t("Files that a run and the agents it forked changed, made or removed become what they were before. With --alone only what that run itself\ndid goes back. A file that is not as they left it is told as a conflict and stays, unless --force names it. `oxios redo` takes it back. The command ends with 1 when something was not put back.\nCtrl-C stops a large undo: what is back stays, and the same command does the rest.",
			"실행과 그 실행이 시작한 에이전트가 바꾸거나 만들거나 지운 파일을 그 전으로 되돌립니다. --alone이면 그 실행이 직접 한 것만 되돌립니다.\n남긴 그대로가 아닌 파일은 충돌로 알리고 두며, --force로 지정해야 되돌립니다. `oxios redo`로 취소할 수 있습니다. 되돌리지 못한 것이 있으면 코드 1로 끝납니다.\n큰 되돌리기는 Ctrl-C로 멈출 수 있습니다. 되돌린 것은 그대로 두며, 같은 명령으로 나머지를 되돌립니다."))
}

func (c *console) redoCommand() *cobra.Command {
	return c.backCommand("redo", true, c.t("Take an undo back", "되돌리기를 취소합니다"),
		c.t("Files become again what they were before `oxios undo`, by the same rules.", "`oxios undo` 전의 내용으로 같은 규칙에 따라 다시 바꿉니다."))
}

func (c *console) backCommand(name string, redo bool, about, long string) *cobra.Command {
	var dry, alone, times bool
	var paths, force []string
	cmd := &cobra.Command{
		Use: name + " RUN", Short: about, Long: long, Args: c.args(1, 1),
		Example: "  oxios " + name + " 7 --dry-run\n  oxios " + name + " 7 --path notes.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withProcess(cmd, args[0], func(l *link, run kernel.Process) error {
				plan, err := l.Agents.UndoPreview(cmd.Context(), kernel.UndoQuery{RunID: run.ID, Redo: redo, Alone: alone, Paths: paths})
				if err != nil {
					return err
				}
				if !dry {
					do := l.Agents.Undo
					if redo {
						do = l.Agents.Redo
					}
					if plan, err = c.goBack(cmd.Context(), l, do, kernel.UndoInput{RunID: run.ID, Alone: alone, Paths: paths, Force: force, Times: times, Hash: plan.Hash}); err != nil {
						return err
					}
				}
				return c.showUndo(plan, dry)
			})
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, c.t("only say what would be done, with the differences", "무엇을 할지 차이와 함께 보이기만 합니다"))
	cmd.Flags().BoolVar(&alone, "alone", false, c.t("only what this run itself did, not the agents that it forked", "이 실행이 시작한 에이전트는 빼고 이 실행이 직접 한 것만"))
	cmd.Flags().StringArrayVar(&paths, "path", nil, c.t("only this `path`; may be repeated", "이 `경로`만; 여러 번 쓸 수 있습니다"))
	cmd.Flags().StringArrayVar(&force, "force", nil, c.t("put this `path` back although it was changed since; what is there is kept first", "그 뒤에 바뀌었어도 이 `경로`를 되돌립니다. 지금 내용은 먼저 보관합니다"))
	cmd.Flags().BoolVar(&times, "times", false, c.t("give files whose content is put back their old times too; build tools may then miss the change", "내용을 되돌리는 파일의 시각도 예전 것으로 맞춥니다. 빌드 도구가 변화를 모를 수 있습니다"))
	return c.withJSON(cmd)
}

func (c *console) showUndo(p kernel.UndoPlan, dry bool) error {
	left, several := false, len(p.Runs) > 1
	rows := [][]string{{c.t("PATH", "경로"), c.t("WHAT", "내용"), c.t("LINES", "줄"), c.t("STATE", "상태"), c.t("WHY", "이유")}}
	if several {
		rows[0] = append(rows[0], c.t("AGENT", "에이전트"))
	}
	for _, f := range p.Files {
		lines := ""
		if f.Added+f.Removed > 0 {
			lines = fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		}
		left = left || f.Status != kernel.UndoDone && !(dry && f.Status == kernel.UndoReady)
		row := []string{f.Path, c.undoDoes(f), lines, c.undoStatus(f.Status), sys.Words{EN: f.Why, KO: f.WhyKO}.In(c.lang == korean)}
		if several {
			row = append(row, undoBy(p, f))
		}
		rows = append(rows, row)
	}
	switch {
	case c.json:
		if err := c.writeJSON(p); err != nil {
			return err
		}
	case len(p.Files) == 0 && p.Redo:
		c.note("%s", c.t("There is nothing to redo.", "다시 적용할 것이 없습니다."))
	case len(p.Files) == 0:
		c.note("%s", c.t("There is nothing to undo.", "되돌릴 것이 없습니다."))
	default:
		if len(p.Files) > maxListed {
			rows = append(rows[:1], c.undoSummary(p, rows[1:])...)
		}
		if len(rows) > 1 {
			if err := table(c.out, rows); err != nil {
				return err
			}
		}
		if dry && len(p.Files) <= maxListed {
			for _, f := range p.Files {
				if f.Diff != "" {
					c.printf("\n%s\n%s", safe(f.Path), safe(f.Diff))
				}
			}
		}
	}
	if done, all := stoppedAt(p); all > 0 && !dry {
		name := map[bool]string{false: "undo", true: "redo"}[p.Redo]
		c.note(c.t("Stopped: %s of %s files are done. `oxios %s` with the same arguments does the rest.", "멈췄습니다. 파일 %[2]s개 가운데 %[1]s개를 마쳤습니다. 나머지는 같은 인수로 `oxios %[3]s`를 다시 실행하면 됩니다."), thousands(done), thousands(all), name)
		return exits(exitStopped)
	}
	if left {
		return exits(exitFailed)
	}
	return nil
}

// stoppedAt says how many files of how many an undo put back before it was stopped;
// 0 of one that was not.
func stoppedAt(p kernel.UndoPlan) (done, all int) {
	stopped := false
	for _, f := range p.Files {
		stopped = stopped || f.Status == kernel.UndoStopped
		switch {
		case f.Folder:
		case f.Status == kernel.UndoDone:
			done++
			all++
		case f.Status == kernel.UndoStopped:
			all++
		}
	}
	if !stopped {
		return 0, 0
	}
	return done, max(all, 1)
}

// goBack undoes or redoes, and tells how far a large one is. Ctrl-C stops it: what
// was put back by then is told as ever.
func (c *console) goBack(ctx context.Context, l *link, do func(context.Context, kernel.UndoInput) (kernel.UndoPlan, error), in kernel.UndoInput) (kernel.UndoPlan, error) {
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	events, err := l.Infra.Events(keep, 0)
	if err != nil {
		return kernel.UndoPlan{}, err
	}
	var plan kernel.UndoPlan
	over := make(chan error, 1)
	go func() {
		var err error
		plan, err = do(keep, in)
		over <- err
	}()
	asked, told := ctx.Done(), false
	clear := func() {
		if told {
			fmt.Fprint(c.err, "\r\x1b[K")
		}
	}
	for {
		select {
		case err := <-over:
			clear()
			return plan, err
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			p, is := as[kernel.UndoProgress](e)
			if e.Kind != "undo.progress" || e.RunID != in.RunID || !is || !c.terminal(c.err) {
				continue
			}
			told = true
			fmt.Fprint(c.err, "\r\x1b[K"+fmt.Sprintf(c.t("%s of %s files… Ctrl-C stops it.", "파일 %[2]s개 중 %[1]s개… Ctrl-C로 멈춥니다."), thousands(p.Done), thousands(p.Files)))
		case <-asked:
			asked = nil
			if err := l.Agents.StopUndo(keep, in.RunID); err != nil && sys.CodeOf(err) != sys.CodeNotFound {
				clear()
				return plan, err
			}
		}
	}
}

// How much of an undo the terminal lists.
const (
	maxListed  = 50 // paths; more are told by folder
	maxFolders = 10
	maxOdd     = 20 // paths that do not go as the others
)

// undoSummary tells a large undo by folder, and returns the rows of what does not
// go as the rest.
func (c *console) undoSummary(p kernel.UndoPlan, rows [][]string) (odd [][]string) {
	type group struct {
		files   int
		folders map[string]int // how many files of each
	}
	groups := map[[2]string]*group{}
	var order [][2]string
	left := 0
	for i, f := range p.Files {
		if f.Status != kernel.UndoDone && f.Status != kernel.UndoReady && f.Status != kernel.UndoStopped {
			if left++; left <= maxOdd {
				odd = append(odd, rows[i])
			}
			continue
		}
		if f.Folder {
			continue
		}
		key := [2]string{f.Does, f.Status}
		g := groups[key]
		if g == nil {
			g = &group{folders: map[string]int{}}
			groups[key] = g
			order = append(order, key)
		}
		g.files++
		g.folders[path.Dir(f.Path)]++
	}
	for _, key := range order {
		g := groups[key]
		c.printf("%s: %s", c.undoCount(key[0], g.files, len(g.folders)), c.undoStatus(key[1]))
		names := slices.SortedFunc(maps.Keys(g.folders), func(a, b string) int {
			return cmp.Or(g.folders[b]-g.folders[a], strings.Compare(a, b))
		})
		for _, name := range names[:min(len(names), maxFolders)] {
			c.printf("  %s  %s", thousands(g.folders[name]), safe(name)+"/")
		}
		if n := len(names) - maxFolders; n > 0 {
			c.printf("  %s", fmt.Sprintf(c.t("and %s more folders", "그 밖에 폴더 %s개"), thousands(n)))
		}
	}
	if left > maxOdd {
		c.printf("%s", fmt.Sprintf(c.t("%s paths do not go back, the first %d of them:", "되돌릴 수 없는 경로 %s개 중 처음 %d개:"), thousands(left), maxOdd))
	}
	return odd
}

// undoCount says what happens to how many files: 57,200 files come back in 1,122
// folders.
func (c *console) undoCount(does string, files, folders int) string {
	said := map[string]string{
		kernel.UndoRemoves: c.t("%s removed in %s", "파일 %s개 지움 (폴더 %s개)"),
		kernel.UndoReturns: c.t("%s back in %s", "파일 %s개 되살림 (폴더 %s개)"),
	}[does]
	if said == "" {
		said = c.t("%s put back in %s", "파일 %s개 되돌림 (폴더 %s개)")
	}
	if c.lang == korean {
		return fmt.Sprintf(said, thousands(files), thousands(folders))
	}
	count := func(n int, noun string) string {
		if n == 1 {
			return "1 " + noun
		}
		return thousands(n) + " " + noun + "s"
	}
	return fmt.Sprintf(said, count(files, "file"), count(folders, "folder"))
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// undoBy names the agents that changed a file, by their number and name.
func undoBy(p kernel.UndoPlan, f kernel.UndoFile) string {
	var names []string
	for _, r := range p.Runs {
		if slices.Contains(f.By, r.ID) {
			names = append(names, fmt.Sprintf("%d %s", r.PID, sys.Shorten(r.Name, 30)))
		}
	}
	return strings.Join(names, ", ")
}

func (c *console) undoDoes(f kernel.UndoFile) string {
	switch f.Does {
	case kernel.UndoRemoves:
		return c.t("is removed", "지움")
	case kernel.UndoReturns:
		return c.t("comes back", "되살림")
	}
	return c.t("goes back", "되돌림")
}

func (c *console) undoStatus(status string) string {
	switch status {
	case kernel.UndoReady:
		return c.t("would be done", "할 예정")
	case kernel.UndoConflict:
		return c.t("conflict, stays", "충돌, 그대로 둠")
	case kernel.UndoImpossible:
		return c.t("not possible", "불가능")
	case kernel.UndoLeft:
		return c.t("stays", "그대로 둠")
	case kernel.UndoStopped:
		return c.t("not yet", "아직 남음")
	}
	return c.t("done", "완료")
}
