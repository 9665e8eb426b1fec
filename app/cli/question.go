package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// question is what a run asks the person at this terminal, one request after
// the other. Only what is typed after a request could be read answers it, and
// nothing typed is no.
type question struct {
	seen   map[string]bool
	queue  []kernel.Approval // the first one is being asked
	lines  chan typed        // what the person types; nil before the first question
	given  []string          // what was answered so far to the questions of the first one
	opens  <-chan time.Time  // when the first one can be answered; nil when it can, or there is none
	opened time.Time         // when it could
}

// still is how long a request stands on the screen before it can be answered:
// what is typed earlier was not an answer to it.
const still = 800 * time.Millisecond

// typed is a line, and when it came from the terminal.
type typed struct {
	text string
	at   time.Time
}

// first reports whether the request has not come up before.
func (q *question) first(id string) bool {
	if q.seen[id] {
		return false
	}
	if q.seen == nil {
		q.seen = map[string]bool{}
	}
	q.seen[id] = true
	return true
}

// enqueue asks a, or will when what is being asked has been answered.
func (w *watcher) enqueue(a kernel.Approval) error {
	w.queue = append(w.queue, a)
	if len(w.queue) == 1 {
		w.ask()
	}
	return nil
}

func (w *watcher) ask() {
	w.card(w.queue[0])
	w.listen()
	w.opens = w.after(still)
}

// open lets the first request be answered, by nothing that was typed so far.
func (w *watcher) open() {
	w.opens = nil
	if len(w.queue) == 0 {
		return
	}
	a := w.queue[0]
	w.forget()
	w.opened = time.Now()
	if a.Request.Form != nil {
		w.given = nil
		w.askField()
		return
	}
	if len(a.Request.Questions) > 0 {
		w.given = nil
		w.askNext()
		return
	}
	fmt.Fprint(w.err, w.t("Approve? y = once · r = the same call during this run · N = no · or type why not, for the agent: ",
		"승인할까요? y = 한 번 · r = 이 실행 동안 같은 호출 · N = 아니요 · 또는 에이전트에게 전할 거절 이유: "))
}

// listen reads the terminal line by line, from the first question on until the
// process ends.
func (w *watcher) listen() {
	if w.lines != nil {
		return
	}
	lines := make(chan typed)
	w.lines = lines
	from := &clocked{in: w.in}
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(from); in.Scan(); {
			lines <- typed{in.Text(), from.at}
		}
	}()
}

// clocked notes when it was last given something. A line that comes with an
// earlier one has the time of both.
type clocked struct {
	in io.Reader
	at time.Time
}

func (c *clocked) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.at = time.Now()
	return n, err
}

// forget drops what was typed on the terminal and not read, an unfinished line
// too.
func (c *console) forget() {
	if f, ok := c.in.(*os.File); ok && c.terminal(c.in) {
		forget(f)
	}
}

// answer takes a typed line up. When the terminal has ended, the question is
// left to somebody else.
func (w *watcher) answer(ctx context.Context, in typed, ok bool) error {
	if !ok {
		left := w.queue
		w.lines, w.opens, w.queue, w.canAsk = nil, nil, nil, false
		fmt.Fprintln(w.err)
		for _, a := range left {
			if err := w.elsewhere(ctx, a); err != nil {
				return err
			}
		}
		return nil
	}
	if len(w.queue) == 0 || w.opens != nil || in.at.Before(w.opened) {
		return nil // typed while nothing could be answered: no answer to anything
	}
	a, line := w.queue[0], in.text
	if a.Request.Form != nil {
		return w.answerField(ctx, strings.TrimSpace(line))
	}
	if len(a.Request.Questions) > 0 {
		return w.answerNext(ctx, strings.TrimSpace(line))
	}
	var err error
	switch line = strings.TrimSpace(line); strings.ToLower(line) {
	case "y", "yes", "예", "네":
		_, err = w.link.Security.Approve(ctx, a.ID, kernel.ApproveInput{Hash: a.Request.Hash, Scope: "once"})
	case "r", "run":
		_, err = w.link.Security.Approve(ctx, a.ID, kernel.ApproveInput{Hash: a.Request.Hash, Scope: "run"})
	case "", "n", "no", "아니요", "아니오":
		_, err = w.link.Security.Deny(ctx, a.ID, "")
	default:
		_, err = w.link.Security.Deny(ctx, a.ID, line)
	}
	if err != nil && sys.CodeOf(err) != sys.CodeConflict {
		return err
	}
	w.drop(a.ID)
	return nil
}

// decided takes up that a request was answered, here or elsewhere.
func (w *watcher) decided(a kernel.Approval) error {
	asked := len(w.queue) > 0 && w.queue[0].ID == a.ID
	if asked {
		fmt.Fprintln(w.err)
		w.note(w.t("It was decided elsewhere: %s.", "다른 곳에서 결정되었습니다: %s."), w.decision(a.State))
	}
	w.drop(a.ID)
	return nil
}

// drop forgets a request and asks the next one.
func (w *watcher) drop(id string) {
	asked := len(w.queue) > 0 && w.queue[0].ID == id
	w.queue = slices.DeleteFunc(w.queue, func(a kernel.Approval) bool { return a.ID == id })
	if asked {
		w.opens = nil
	}
	if asked && len(w.queue) > 0 {
		w.ask()
	}
}

// title is what a request would do, in words.
func (c *console) title(a kernel.Approval) string {
	return oneLine(c.either(a.Request.Title, a.Request.TitleKO))
}

// card shows the whole of a request. What the agent claims is told as its
// claim.
func (c *console) card(a kernel.Approval) {
	r := a.Request
	line := func(en, ko, value string) {
		if value != "" {
			c.note("  %s %s", c.t(en, ko), value)
		}
	}
	c.note("\n? %s", c.title(a))
	if r.Form != nil {
		c.form(r)
		return
	}
	if len(r.Questions) > 0 {
		c.questions(r)
		return
	}
	if r.Command != "" {
		c.note("%s", indented(r.Command, "    "))
	} else if len(r.Argv) > 0 {
		c.note("    %s", safe(fmt.Sprintf("%q", r.Argv)))
	}
	if r.Diff != "" {
		c.note("%s", indented(r.Diff, "    "))
	}
	line("File:", "파일:", oneLine(r.Path))
	line("Folder:", "폴더:", oneLine(r.Dir))
	line("Program:", "프로그램:", oneLine(r.Executable))
	line("Agent:", "에이전트:", oneLine(strings.Join(append([]string{r.Agent}, r.Ancestry...), " ← ")))
	if r.Spent != nil {
		line("Cost so far:", "지금까지 비용:", c.price(*r.Spent))
	}
	line("Asked again:", "다시 묻는 이유:", oneLine(c.either(r.Again, r.AgainKO)))
	if r.Project {
		line("Code:", "코드:", c.t("Runs code of this folder", "이 폴더의 코드를 실행합니다"))
	}
	line("Why it asks:", "묻는 이유:", oneLine(c.either(r.Why, r.WhyKO)))
	if r.Host != "" {
		line("For the run:", "실행 동안:", fmt.Sprintf(c.t("a yes for the run covers every request to %s until it ends or reads something secret", "이 실행 동안 승인하면 실행이 끝나거나 비밀 정보를 읽기 전까지 %s에 보내는 모든 요청에 적용됩니다"), oneLine(r.Host)))
	}
	if r.Claim != "" {
		line("The agent says:", "에이전트의 말:", fmt.Sprintf("%q", oneLine(r.Claim)))
	}
	for _, l := range r.Labels {
		line("It has read:", "읽은 것:", oneLine(c.either(l.Text, l.TextKO))+" ("+c.labelKind(l)+", "+l.ID+")")
	}
	line("Outside the folder:", "폴더 밖:", oneLine(strings.Join(r.Outside, ", ")))
	if r.Network {
		line("Network:", "네트워크:", c.t("yes", "사용"))
		line("This computer:", "이 컴퓨터:", c.ports(r.Ports))
	}
	switch {
	case r.Elsewhere != "":
		line("Runs at:", "실행하는 곳:", oneLine(r.Elsewhere))
	case r.Contained >= sys.IsolationFull && r.Network:
		line("Contained:", "격리:", fmt.Sprintf(c.t("yes (level %d of 3): files limited to the folder, network to public machines", "예 (3단계 중 %d단계): 파일은 폴더로, 네트워크는 공개 기기로 제한됩니다"), r.Contained))
	case r.Contained >= sys.IsolationFull:
		line("Contained:", "격리:", fmt.Sprintf(c.t("yes (level %d of 3): files limited to the folder, no network", "예 (3단계 중 %d단계): 파일은 폴더로 제한되고 네트워크는 없습니다"), r.Contained))
	case r.Contained.Contained() && !r.Network:
		line("Contained:", "격리:", fmt.Sprintf(c.t("partly (level %d of 3): it can see file names outside; no network", "일부 (3단계 중 %d단계): 폴더 밖 파일의 이름이 보이고, 네트워크는 없습니다"), r.Contained))
	case r.Contained.Contained() && r.Guarded:
		line("Contained:", "격리:", fmt.Sprintf(c.t("partly (level %d of 3): it can see file names outside; network to public machines", "일부 (3단계 중 %d단계): 폴더 밖 파일의 이름이 보이고, 네트워크는 공개 기기로 제한됩니다"), r.Contained))
	case r.Contained.Contained():
		line("Contained:", "격리:", fmt.Sprintf(c.t("partly (level %d of 3): it can see file names outside; it can reach the internet, your own network and this computer", "일부 (3단계 중 %d단계): 폴더 밖 파일의 이름이 보이고, 인터넷, 내부 네트워크, 이 컴퓨터에 연결할 수 있습니다"), r.Contained))
	default:
		line("Contained:", "격리:", fmt.Sprintf(c.t("NO (level %d of 3): it can reach what you can reach", "아니요 (3단계 중 %d단계): 당신이 쓸 수 있는 모든 것에 닿습니다"), r.Contained))
	}
	if r.Undo != "" && r.Undo != "no" {
		line("Undo:", "되돌리기:", oneLine(sys.Words{EN: r.Undo, KO: r.UndoKO}.In(c.lang == korean)))
	} else {
		line("Undo:", "되돌리기:", c.t("no", "불가"))
	}
}

// decision is the state of a request, in words.
func (c *console) decision(state string) string {
	words := map[string]string{
		"pending": c.t("waits", "대기"), "approved": c.t("approved", "승인됨"), "denied": c.t("denied", "거절됨"),
		"expired": c.t("expired", "만료됨"), "canceled": c.t("withdrawn", "취소됨"), "used": c.t("approved and used", "승인되어 사용됨"),
	}
	if w, ok := words[state]; ok {
		return w
	}
	return state
}

// ports says which ports of this computer are open to a command; "" for none.
func (c *console) ports(list []int) string {
	var words []string
	for _, p := range list {
		words = append(words, strconv.Itoa(p))
	}
	switch len(words) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(c.t("port %s is open to it", "%s번 포트가 열립니다"), words[0])
	}
	return fmt.Sprintf(c.t("ports %s are open to it", "%s번 포트가 열립니다"), strings.Join(words, ", "))
}
