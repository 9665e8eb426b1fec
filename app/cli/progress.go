package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// as is the data of an event as a T, whether it was published in this process
// or came over the socket.
func as[T any](e kernel.Event) (T, bool) {
	if v, ok := e.Data.(T); ok {
		return v, true
	}
	var v T
	raw, err := json.Marshal(e.Data)
	return v, err == nil && json.Unmarshal(raw, &v) == nil
}

// progress shows what a run does: its steps on standard error, one line each,
// and on a terminal the answer as it comes.
type progress struct {
	*console
	stream bool // standard output is a terminal, and shows text as it comes

	turn    strings.Builder // what was shown of the turn that is being written
	shown   strings.Builder // what was shown of the turns before it
	midLine bool            // standard output stands in the middle of a line
	missed  bool            // events were lost: what was shown may have holes
	over    bool            // the run has ended
}

// show takes an event of the run up.
func (p *progress) show(e kernel.Event) {
	text, _ := as[struct {
		Text   string `json:"text"`
		TextKO string `json:"text_ko"`
	}](e)
	switch e.Kind {
	case "run.text":
		p.write(text.Text)
	case "run.retry":
		p.breakLine()
		p.turn.Reset()
		p.note(p.t("· Again: %s", "· 다시 시도: %s"), oneLine(p.either(text.Text, text.TextKO)))
	case "run.model":
		p.breakLine()
		p.note("! %s", oneLine(p.either(text.Text, text.TextKO)))
	case "step":
		if s, ok := as[kernel.StepView](e); ok {
			p.step(s)
		}
	case "run.ended":
		p.over = true
	}
}

func (p *progress) write(text string) {
	if !p.stream || text == "" {
		return
	}
	p.turn.WriteString(text)
	fmt.Fprint(p.out, safe(text))
	p.midLine = !strings.HasSuffix(text, "\n")
}

// breakLine ends a line of the answer before something else is said.
func (p *progress) breakLine() {
	if p.midLine {
		fmt.Fprintln(p.out)
		p.midLine = false
	}
}

// step says what became of a step. A command may take long, so its beginning
// is told too.
func (p *progress) step(s kernel.StepView) {
	if s.Kind == "model" {
		if s.State == "closed" {
			p.shown.WriteString(p.turn.String() + "\n")
			p.turn.Reset()
			p.breakLine()
		}
		return
	}
	if s.Kind == "note" && s.State == "closed" {
		p.breakLine()
		p.note("! %s", oneLine(p.either(s.Title, s.TitleKO)))
		return
	}
	if s.Kind == "evaluation" {
		p.evaluated(s)
		return
	}
	if s.Kind != "tool" && s.Kind != "check" && s.Kind != "context" {
		return
	}
	title := p.either(s.Title, s.TitleKO)
	if title == "" {
		title = s.Name
	}
	title = short(title, 120)
	switch {
	case s.State == "started" && s.Name == "exec":
		p.breakLine()
		p.note("· %s", title)
	case s.State != "closed":
	case s.Outcome == "ok":
		p.breakLine()
		p.note("✓ %s", title)
	default:
		p.breakLine()
		p.note("✗ %s (%s)%s", title, p.outcome(s.Outcome), p.why(s))
	}
}

// evaluated says what an evaluation found.
func (p *progress) evaluated(s kernel.StepView) {
	var e kernel.Evaluation
	if s.State != "closed" || json.Unmarshal(s.Args, &e) != nil {
		return
	}
	held := 0
	for _, r := range e.Results {
		if r.Passed {
			held++
		}
	}
	p.breakLine()
	p.note("= %s", fmt.Sprintf(p.t("%d of %d criteria hold, score %.2f", "기준 %[2]d개 가운데 %[1]d개 충족, 점수 %[3].2f"), held, len(e.Results), e.Score))
	for _, r := range e.Results {
		if !r.Passed {
			p.note("  ✗ %s: %s", short(oneLine(r.Criterion), 120), short(oneLine(p.either(r.Evidence, r.EvidenceKO)), 300))
		}
	}
}

// why says what made a step fail. What the person denied themselves is no news.
func (p *progress) why(s kernel.StepView) string {
	if s.Error == nil || s.Outcome != "error" && s.Error.Code != sys.CodeRefused {
		return ""
	}
	message, _ := s.Error.In(p.lang == korean)
	return ": " + short(oneLine(message), 300)
}

// outcome is how a step ended, in words.
func (c *console) outcome(o string) string {
	words := map[string]string{
		"ok": c.t("done", "완료"), "error": c.t("failed", "실패"), "denied": c.t("denied", "거절됨"),
		"cut": c.t("cut off", "끊김"), "canceled": c.t("stopped", "멈춤"), "unknown": c.t("outcome unknown", "결과 알 수 없음"),
	}
	if w, ok := words[o]; ok {
		return w
	}
	return o
}

// rest writes the answer, unless all of it was shown as it came.
func (p *progress) rest(response string) {
	shown := strings.Fields(p.shown.String() + p.turn.String())
	if p.stream && !p.missed && slices.Equal(shown, strings.Fields(response)) {
		p.breakLine()
		return
	}
	p.breakLine()
	if response == "" {
		return
	}
	if p.terminal(p.out) {
		response = safe(response)
	}
	fmt.Fprint(p.out, response)
	if !strings.HasSuffix(response, "\n") {
		fmt.Fprintln(p.out)
	}
}

// summary says which files changed, what it cost, and how to go on.
func (p *progress) summary(r kernel.RunResult) {
	kinds := map[string]string{"created": p.t("created", "생성"), "modified": p.t("changed", "변경"), "deleted": p.t("deleted", "삭제")}
	if len(r.Changes) > maxListed {
		for _, line := range p.totals(r.Totals, r.Changes) {
			p.note("  %s", line)
		}
		r.Changes = nil
	}
	for _, ch := range r.Changes {
		kind := kinds[string(ch.Kind)]
		if kind == "" {
			kind = string(ch.Kind)
		}
		p.note("  %s %s +%d −%d", kind, oneLine(ch.Path), ch.Added, ch.Removed)
	}
	p.note(p.t("· conversation %s · %d model calls · %s", "· 대화 %s · 모델 호출 %d회 · %s"), r.SessionID, r.Cost.Calls, p.price(r.Cost))
}

// totals tells many changes by their kind: 57,200 files deleted in 1,122 folders.
func (c *console) totals(all []kernel.ChangeTotal, changes []kernel.ChangeSummary) (lines []string) {
	if len(all) == 0 {
		all = kernel.TotalsOf(changes)
	}
	for _, t := range all {
		said := map[string]string{
			"created": c.t("%s files created in %s folders", "파일 %s개 생성 (폴더 %s개)"),
			"deleted": c.t("%s files deleted in %s folders", "파일 %s개 삭제 (폴더 %s개)"),
		}[t.Kind]
		if said == "" {
			said = c.t("%s files changed in %s folders", "파일 %s개 변경 (폴더 %s개)")
		}
		lines = append(lines, fmt.Sprintf(said, thousands(t.Files), thousands(t.Folders)))
	}
	return lines
}
