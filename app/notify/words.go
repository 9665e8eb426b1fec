package notify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// The keys of the actions.
const (
	actionApprove = "approve"
	actionDeny    = "deny"
	actionReview  = "review"
	actionDefault = "default"
)

// maxCommand is how long a command may be to be approved in a notification.
// Longer ones are cut by some notification services.
const maxCommand = 200

// decidable reports whether a notification may offer Approve and Deny: it must
// show all that is approved, and the command must run contained, inside its
// folder and without the network. isolation is what the kernel has now; while
// commands run uncontained, one of them could press the button.
func decidable(a kernel.Approval, isolation sys.Isolation) bool {
	r := a.Request
	return r.Simple && !r.Hidden && !r.Network && len(r.Outside) == 0 &&
		r.Contained >= 2 && isolation >= 2 && r.Tier < 3 && whole(r.Command)
}

// whole reports whether a notification shows s as it is: one line of printable
// characters, none of which turns or hides others.
func whole(s string) bool {
	if s == "" || len([]rune(s)) > maxCommand || s != strings.TrimSpace(s) {
		return false
	}
	for _, c := range s {
		if deceptive(c) || c == unicode.ReplacementChar {
			return false
		}
	}
	return true
}

// deceptive reports characters that break a line, turn its direction or are
// not seen.
func deceptive(c rune) bool {
	return unicode.Is(unicode.C, c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c) ||
		(unicode.Is(unicode.Zs, c) && c != ' ') || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) || unicode.Is(unicode.Variation_Selector, c)
}

// line makes one line of s, of at most limit characters.
func line(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			return ' '
		case deceptive(c):
			return -1
		}
		return c
	}, s)), " ")
	if r := []rune(s); len(r) > limit {
		return strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return s
}

// words are the texts of one language.
type words struct {
	korean                                         bool
	approve, deny, review, later, open             string
	in, contained, notUndone, look, more, notTaken string
	done, failed, notMet                           string
	someDone, someFailed, someNotMet, andMore      string
	allDone, allFailed, allNotMet                  string
	limit, limits, away, raise, wrong              string
}

var english = words{
	approve: "Approve", deny: "Deny", review: "Review", later: "Not now", open: "Open",
	in: "in %s", contained: "contained", notUndone: "cannot be undone",
	look: "It has parts that need a look.", more: "%d more wait for you", notTaken: "Your decision was not taken",
	done: "Finished: %s", failed: "Failed: %s", notMet: "Not met: %s",
	allDone: "%d agents finished", allFailed: "%d agents failed", allNotMet: "%d agents: not met",
	someDone: "%d finished", someFailed: "%d failed", someNotMet: "%d not met", andMore: "and %d more",
	limit: "Waits for a limit: %s", limits: "%d agents wait for a limit", away: "%s cannot be reached", raise: "Raise the limit", wrong: "Oxios found a problem",
}

var korean = words{
	korean:  true,
	approve: "승인", deny: "거절", review: "확인", later: "나중에", open: "열기",
	in: "%s에서", contained: "격리됨", notUndone: "되돌릴 수 없음",
	look: "자세히 확인해야 하는 부분이 있습니다.", more: "확인 대기 %d건 더 있음", notTaken: "결정이 반영되지 않았습니다",
	done: "완료: %s", failed: "실패: %s", notMet: "기준 미충족: %s",
	allDone: "에이전트 작업 %d건 완료", allFailed: "에이전트 작업 %d건 실패", allNotMet: "에이전트 작업 %d건 기준 미충족",
	someDone: "완료 %d건", someFailed: "실패 %d건", someNotMet: "기준 미충족 %d건", andMore: "외 %d건",
	limit: "한도를 기다림: %s", limits: "에이전트 %d개가 한도를 기다림", away: "%s에 연결할 수 없음", raise: "한도 올리기", wrong: "문제를 발견했습니다",
}

func wordsFor(inKorean bool) words {
	if inKorean {
		return korean
	}
	return english
}

// asks is the notification about an approval. Without a window there is
// nothing to review it in; then it tells alone.
func (w words) asks(a kernel.Approval, isolation sys.Isolation, window bool) Notice {
	r := a.Request
	title := r.Title
	if w.korean && r.TitleKO != "" {
		title = r.TitleKO
	}
	n := Notice{Title: line(title, 120), Urgent: true}
	where := ""
	if r.Dir != "" {
		where = fmt.Sprintf(w.in, line(shortHome(r.Dir), 80))
	}
	if decidable(a, isolation) {
		facts := []string{where, w.contained}
		if r.Undo == "no" || r.Undo == "" {
			facts = append(facts, w.notUndone)
		}
		n.Body = r.Command + "\n" + joined(facts)
		// Some desktops give the first action the keyboard as soon as the pointer
		// is over the notification: a key meant for another program presses it.
		n.Actions = []Action{{actionReview, w.later}, {actionDeny, w.deny}, {actionApprove, w.approve}}
		if window {
			n.Actions[0].Label = w.review
			n.Actions = append(n.Actions, Action{actionDefault, w.review})
		}
		return n
	}
	n.Body = strings.TrimSpace(where + "\n" + w.look)
	if window {
		n.Actions = []Action{{actionReview, w.review}, {actionDefault, w.review}}
	}
	return n
}

// others stands for the approvals beyond those that are shown.
func (w words) others(count int, window bool) Notice {
	n := Notice{Title: fmt.Sprintf(w.more, count)}
	if window {
		n.Actions = []Action{{actionReview, w.review}, {actionDefault, w.review}}
	}
	return n
}

// heldUp tells what keeps runs from going on. Nothing is raised from here: a
// person who raises a limit sees what it is.
func (w words) heldUp(h kernel.Held, window bool) Notice {
	why := sys.Words{EN: h.Message, KO: h.MessageKO}.In(w.korean)
	n := Notice{Title: fmt.Sprintf(w.away, line(h.Name, 80)), Body: line(why, 300)}
	label := w.open
	if h.Kind == kernel.HeldByLimit {
		n.Title, n.Urgent, label = fmt.Sprintf(w.limit, line(h.Runs[0].Name, 80)), true, w.raise
		if h.Count > 1 {
			n.Title = fmt.Sprintf(w.limits, h.Count)
		}
	}
	if window {
		n.Actions = []Action{{actionReview, label}, {actionDefault, label}}
	} else {
		n.Body += "\n" + sys.Words{EN: h.Hint, KO: h.HintKO}.In(w.korean)
	}
	return n
}

// found tells what the guardian found.
func (w words) found(f kernel.Finding, window bool) Notice {
	n := Notice{Title: w.wrong, Urgent: true, Body: line(sys.Words{EN: f.Message, KO: f.MessageKO}.In(w.korean), 300)}
	if window {
		n.Actions = []Action{{actionReview, w.review}, {actionDefault, w.review}}
	} else {
		n.Body += "\n" + sys.Words{EN: f.Hint, KO: f.HintKO}.In(w.korean)
	}
	return n
}

// maxTold is how many runs a notification names.
const maxTold = 4

// ended tells of runs that have ended.
func (w words) ended(runs []kernel.Run, window bool) Notice {
	n := w.endedOne(runs[0])
	if len(runs) > 1 {
		n = w.endedSome(runs)
	}
	if window {
		n.Actions = []Action{{actionDefault, w.open}}
	}
	return n
}

func (w words) endedOne(r kernel.Run) Notice {
	format, body := w.done, ""
	switch {
	case r.State == "failed":
		format = w.failed
	case r.NotMet:
		format = w.notMet
	}
	if r.Error != nil {
		message, _ := r.Error.In(w.korean)
		body = line(message, 300)
	} else if r.StartedAt != nil && r.EndedAt != nil {
		body = w.took(r.EndedAt.Sub(*r.StartedAt))
	}
	return Notice{Title: fmt.Sprintf(format, line(r.Text, 80)), Body: body}
}

func (w words) endedSome(runs []kernel.Run) Notice {
	failed, notMet := 0, 0
	var lines []string
	for i, r := range runs {
		text := line(r.Text, 60)
		switch {
		case r.State == "failed":
			failed++
			text = fmt.Sprintf(w.failed, text)
		case r.NotMet:
			notMet++
			text = fmt.Sprintf(w.notMet, text)
		}
		if i < maxTold {
			lines = append(lines, text)
		}
	}
	if more := len(runs) - maxTold; more > 0 {
		lines = append(lines, fmt.Sprintf(w.andMore, more))
	}
	n := Notice{Body: strings.Join(lines, "\n")}
	var parts []string
	for _, kind := range []struct {
		n         int
		all, some string
	}{{len(runs) - failed - notMet, w.allDone, w.someDone}, {notMet, w.allNotMet, w.someNotMet}, {failed, w.allFailed, w.someFailed}} {
		switch kind.n {
		case 0:
		case len(runs):
			parts = append(parts, fmt.Sprintf(kind.all, kind.n))
		default:
			parts = append(parts, fmt.Sprintf(kind.some, kind.n))
		}
	}
	n.Title = strings.Join(parts, ", ")
	return n
}

func (w words) took(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	h, m, s := s/3600, s/60%60, s%60
	units := [3]string{" h", " min", " s"}
	if w.korean {
		units = [3]string{"시간", "분", "초"}
	}
	switch {
	case h > 0:
		return fmt.Sprintf("%d%s %d%s", h, units[0], m, units[1])
	case m > 0:
		return fmt.Sprintf("%d%s %d%s", m, units[1], s, units[2])
	}
	return fmt.Sprintf("%d%s", s, units[2])
}

// shortHome shows a path below the person's home with ~.
func shortHome(path string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

func joined(facts []string) string {
	var out []string
	for _, f := range facts {
		if f != "" {
			out = append(out, f)
		}
	}
	return strings.Join(out, ", ")
}

// markup escapes s for a service that reads the body as markup.
func markup(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
