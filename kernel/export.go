package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// SavedFile is a file that was written for a person.
type SavedFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// ExportSession returns a conversation as "md" for people, with the branch that
// it shows, or as "json" for programs, with all of them. Secrets are masked.
func (a *StateAPI) ExportSession(ctx context.Context, id, format string) (string, error) {
	return guard(ctx, a.caller, action{call: "state.exportSession", resource: "session:" + id}, func(ctx context.Context) (string, error) {
		return a.k.export(ctx, id, format)
	})
}

// SaveSession writes what ExportSession returns to a file, which only the
// person may read. path must be absolute. A file that is there is replaced
// only when replace says so.
func (a *StateAPI) SaveSession(ctx context.Context, id, format, path string, replace bool) (SavedFile, error) {
	meta := map[string]any{"path": path}
	return guard(ctx, a.caller, action{call: "state.saveSession", resource: "session:" + id, paths: namedPaths(path), meta: meta}, func(ctx context.Context) (SavedFile, error) {
		if !filepath.IsAbs(path) {
			return SavedFile{}, sys.Errorf(sys.CodeInvalid, "%q is not an absolute path. Nothing was written.", path)
		}
		if _, err := os.Lstat(path); !replace && !errors.Is(err, fs.ErrNotExist) {
			return SavedFile{}, sys.Errorf(sys.CodeConflict, "%s is there already. It was not overwritten.", path).WithHint("Choose another name.")
		}
		text, err := a.k.export(ctx, id, format)
		if err != nil {
			return SavedFile{}, err
		}
		if err := security.WriteFileAtomic(path, []byte(text), 0o600); err != nil {
			return SavedFile{}, notWritten(err)
		}
		return SavedFile{Path: path, Bytes: int64(len(text))}, nil
	})
}

// exported is a conversation with everything that is known of it.
type exported struct {
	Oxios string `json:"oxios"` // the version that wrote it
	SessionView
	Runs      []exportedRun `json:"runs"`      // in place of those of the view
	Approvals []Approval    `json:"approvals"` // the oldest first

	AgentMessages []AgentMessage `json:"agent_messages"` // between its agents, the oldest first
}

type exportedRun struct {
	RunView
	Changes []Change `json:"changes"` // in place of those of the view: with their diffs
}

func (k *Kernel) export(ctx context.Context, id, format string) (string, error) {
	if format != "" && format != "md" && format != "json" {
		return "", sys.Errorf(sys.CodeInvalid, "There is no export format %q.", format).WithHint("Use md or json.")
	}
	x, err := k.exported(ctx, id, format == "json")
	if err != nil {
		return "", err
	}
	if format == "json" {
		b, err := json.MarshalIndent(x, "", "  ")
		return k.masked(string(b)), err
	}
	return k.masked(x.markdown(k.korean())), nil
}

// exported gathers a conversation: the branch that it shows, or the whole.
func (k *Kernel) exported(ctx context.Context, id string, whole bool) (exported, error) {
	x := exported{Oxios: k.opts.Version, Runs: []exportedRun{}, Approvals: []Approval{}, AgentMessages: []AgentMessage{}}
	read := k.allBranches
	if !whole {
		read = func(ctx context.Context, id string) (SessionView, error) {
			return k.sessionView(ctx, id, SessionPage{})
		}
	}
	var err error
	if x.SessionView, err = read(ctx, id); err != nil {
		return x, err
	}
	if x.Messages == nil {
		x.Messages = []Message{}
	}
	if x.Queued == nil {
		x.Queued = []Queued{}
	}
	for _, r := range x.SessionView.Runs {
		e := exportedRun{RunView: r}
		if e.Changes, err = k.changes(ctx, r.Run.ID); err != nil {
			return x, err
		}
		x.Runs = append(x.Runs, e)
	}
	asked, err := k.approvals.List(ctx, security.ApprovalQuery{SessionID: id, Limit: 1 << 30})
	for _, a := range slices.Backward(asked) {
		x.Approvals = append(x.Approvals, a)
	}
	if err != nil {
		return x, err
	}
	said, err := k.exchange.List(ctx, store.MailQuery{SessionID: id, Limit: 1 << 30})
	for _, m := range slices.Backward(said) {
		x.AgentMessages = append(x.AgentMessages, m)
	}
	return x, err
}

// markdown is the conversation as a person reads it: who said what and when,
// what the agent did, which files it changed, and what that cost.
func (x exported) markdown(korean bool) string {
	p := page{korean: korean}
	p.head(x.SessionView)
	runs := map[string]*exportedRun{}
	for i := range x.Runs {
		runs[x.Runs[i].Run.ID] = &x.Runs[i]
	}
	answered := map[string]bool{}
	last := lastAnswers(x.Messages)
	for i, m := range x.Messages {
		if m.Role == store.RoleUser {
			p.asked(m)
			continue
		}
		r := runs[m.RunID]
		p.line("## %s · %s\n", heading(p.agent(m.Model)), clockTime(m.At))
		if r != nil && !answered[m.RunID] {
			answered[m.RunID] = true
			p.steps(r.Steps)
		}
		p.line("%s\n", closedMarkdown(m.Content))
		p.ending(m)
		if r != nil && last[m.RunID] == i {
			p.outcome(r)
		}
	}
	for i := range x.Runs { // a run that stopped before it could answer
		r := &x.Runs[i]
		if answered[r.Run.ID] || len(r.Steps) == 0 {
			continue
		}
		p.line("## %s · %s\n", heading(p.agent(r.Run.Model)), clockTime(r.Run.CreatedAt))
		p.steps(r.Steps)
		p.line("_(%s)_\n", r.Run.State)
		p.outcome(r)
	}
	for _, q := range x.Queued {
		p.line("## %s · %s\n\n%s\n", p.t("You, not read yet", "나 (아직 읽지 않음)"), clockTime(q.CreatedAt), closedMarkdown(q.Text))
	}
	return p.b.String()
}

// lastAnswers finds the last message of each run: what it cost stands there.
func lastAnswers(messages []Message) map[string]int {
	last := map[string]int{}
	for i, m := range messages {
		if m.Role != store.RoleUser {
			last[m.RunID] = i
		}
	}
	return last
}

// page is a text for a person under way.
type page struct {
	b      strings.Builder
	korean bool
}

func (p *page) t(en, ko string) string {
	if p.korean {
		return ko
	}
	return en
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *page) agent(model string) string {
	name := p.t("Agent", "에이전트")
	if model != "" {
		name += " (" + model + ")"
	}
	return name
}

// head says what the conversation is, and what of it follows.
func (p *page) head(v SessionView) {
	s := v.Session
	p.line("# %s\n", heading(s.Title))
	if v.Origin != nil && v.Origin.Title != "" {
		p.line(p.t("_(Branched from “%s”)_\n", "_(‘%s’에서 갈라져 나옴)_\n"), heading(v.Origin.Title))
	}
	if v.Branches > 1 {
		p.line(p.t("_(One of %d branches; the JSON export has them all)_\n", "_(갈래 %d개 중 하나. JSON으로 내보내면 모두 담깁니다)_\n"), v.Branches)
	}
	p.line("- %s: %s", p.t("Folder", "폴더"), code(s.Folder))
	if s.Model != "" {
		p.line("- %s: %s", p.t("Model", "모델"), code(s.Model))
	}
	p.line("- %s: %s", p.t("Begun", "시작"), clockTime(s.CreatedAt))
	p.line("- %s: %s\n", p.t("Cost", "비용"), p.cost(s.Cost))
}

// asked is what the person said, and what they attached.
func (p *page) asked(m Message) {
	p.line("## %s · %s\n\n%s\n", p.t("You", "나"), clockTime(m.At), closedMarkdown(m.Content))
	for _, a := range m.Attachments {
		p.line("- %s: %s", p.t("Attached", "첨부"), titleOfAttachment(a))
	}
	if len(m.Attachments) > 0 {
		p.line("")
	}
}

func (p *page) steps(steps []StepView) {
	n := 0
	for _, s := range steps {
		if s.Kind != store.StepTool && s.Kind != store.StepContext {
			continue
		}
		n++
		what := s.Title
		if p.korean && s.TitleKO != "" {
			what = s.TitleKO
		}
		if what == "" {
			what = s.Name
		}
		p.line("- %s %s: %s%s", mark(s), s.Name, code(what), p.outcomeOf(s))
	}
	if n > 0 {
		p.line("")
	}
}

func mark(s StepView) string {
	switch {
	case s.State != store.StepClosed:
		return "…"
	case s.Outcome == store.OutcomeOK:
		return "✓"
	}
	return "✗"
}

func (p *page) outcomeOf(s StepView) string {
	var parts []string
	if s.State == store.StepClosed && s.Outcome != store.OutcomeOK {
		parts = append(parts, s.Outcome)
	}
	if s.StartedAt != nil && s.ClosedAt != nil {
		parts = append(parts, seconds(s.ClosedAt.Sub(*s.StartedAt)))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// ending says how an answer ended, unless that was as it should.
func (p *page) ending(m Message) {
	if m.Status != "" {
		p.line("_(%s)_\n", m.Status)
	}
	if m.Demo {
		p.line("_(%s)_\n", p.t("Demo: scripted, no language model", "데모: 대본대로 답하며 언어 모델이 아닙니다"))
	}
}

// outcome lists what a run changed, and what it cost.
func (p *page) outcome(r *exportedRun) {
	if len(r.Changes) > 0 {
		p.line("%s\n", p.t("Files changed:", "바뀐 파일:"))
		for _, c := range r.Changes {
			lines := fmt.Sprintf("+%d −%d", c.Added, c.Removed)
			if c.Binary {
				lines = p.t("not text", "텍스트 아님")
			}
			p.line("- %s %s (%s)", c.Kind, code(c.Path), lines)
		}
		p.line("")
	}
	if r.Run.Cost.Calls == 0 {
		return
	}
	told := p.cost(r.Run.Cost)
	if r.Run.StartedAt != nil && r.Run.EndedAt != nil {
		told += " · " + seconds(r.Run.EndedAt.Sub(*r.Run.StartedAt))
	}
	p.line("_%s_\n", told)
}

// cost says what was used. An unknown price is never 0.
func (p *page) cost(c Cost) string {
	if c.Calls == 0 {
		return "–"
	}
	price := fmt.Sprintf("$%.4f", c.USD)
	switch {
	case c.Free:
		price = p.t("free", "무료")
	case c.Unknown && c.USD == 0:
		price = p.t("price unknown", "가격 모름")
	case c.Unknown:
		price = "≥ " + price
	}
	return fmt.Sprintf(p.t("%s, %d tokens in (%d cached), %d out", "%s, 입력 %d토큰 (캐시 %d), 출력 %d토큰"), price, c.Input, c.Cached, c.Output)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", max(0, d.Seconds())) }

func clockTime(t time.Time) string { return t.In(time.Local).Format("2006-01-02 15:04") }

// heading is a text on one line.
func heading(s string) string { return strings.Join(strings.Fields(s), " ") }

// code is a text as code on one line, whatever it holds.
func code(s string) string {
	s = heading(s)
	fence, run := 1, 0
	for _, r := range s {
		if r == '`' {
			run++
			fence = max(fence, run+1)
		} else {
			run = 0
		}
	}
	ticks := strings.Repeat("`", fence)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}
