package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// form shows what a server asks in the middle of a call. All of it is quoted: a stranger wrote it.
func (c *console) form(r kernel.ApprovalRequest) {
	f := r.Form
	if f.Message != "" {
		c.note("%s", indented(f.Message, "    “"))
	}
	if f.URL != "" {
		c.note("  %s %s", c.t("Host:", "호스트:"), oneLine(f.Host))
		c.note("  %s %s", c.t("Address:", "주소:"), oneLine(f.URL))
	}
	for _, x := range f.Fields {
		c.note("  %s", c.fieldLine(x))
		if x.About != "" {
			c.note("      %s", oneLine(x.About))
		}
	}
	if r.Agent != "" {
		c.note("  %s %s", c.t("Agent:", "에이전트:"), oneLine(r.Agent))
	}
	c.note("  %s", c.t("The server gets what you answer. Never give it a password or key.", "답한 내용은 서버로 전달됩니다. 비밀번호나 키는 절대 적지 마세요."))
}

// fieldLine is a field in one line: its name, how it is called, and what fits.
func (c *console) fieldLine(x kernel.ServerField) string {
	parts := []string{c.kindOfField(x)}
	if x.Required {
		parts = append(parts, c.t("required", "필수"))
	}
	if len(x.Options) > 0 {
		var all []string
		for _, o := range x.Options {
			if o.Title != "" && o.Title != o.Value {
				all = append(all, o.Value+" = "+o.Title)
			} else {
				all = append(all, o.Value)
			}
		}
		parts = append(parts, strings.Join(all, " | "))
	}
	switch {
	case x.Min != nil && x.Max != nil:
		parts = append(parts, fmt.Sprintf("%g–%g", *x.Min, *x.Max))
	case x.Min != nil:
		parts = append(parts, fmt.Sprintf("≥ %g", *x.Min))
	case x.Max != nil:
		parts = append(parts, fmt.Sprintf("≤ %g", *x.Max))
	}
	if d := defaultOf(x); d != "" {
		parts = append(parts, fmt.Sprintf(c.t("default %s", "기본값 %s"), d))
	}
	name := x.Name
	if x.Title != "" {
		name += " (" + x.Title + ")"
	}
	return oneLine(name + ": " + strings.Join(parts, ", "))
}

// defaultOf is the default of a field, as a person types it.
func defaultOf(x kernel.ServerField) string {
	var v any
	if json.Unmarshal(x.Default, &v) != nil || v == nil {
		return ""
	}
	if list, ok := v.([]any); ok {
		var all []string
		for _, one := range list {
			all = append(all, fmt.Sprint(one))
		}
		return strings.Join(all, ",")
	}
	return fmt.Sprint(v)
}

func (c *console) kindOfField(x kernel.ServerField) string {
	switch {
	case x.Format == "email":
		return c.t("email address", "이메일 주소")
	case x.Format == "uri":
		return c.t("web address", "웹 주소")
	case x.Format == "date":
		return c.t("date", "날짜")
	case x.Format == "date-time":
		return c.t("date and time", "날짜와 시각")
	}
	switch x.Kind {
	case "number":
		return c.t("number", "숫자")
	case "integer":
		return c.t("whole number", "정수")
	case "boolean":
		return c.t("yes or no", "예 또는 아니요")
	case "choice":
		return c.t("one of", "하나 선택")
	case "choices":
		return c.t("any of, with commas", "여러 개 선택, 쉼표로 구분")
	}
	return c.t("text", "글")
}

// valuesOf makes values of NAME=VALUE arguments.
func (c *console) valuesOf(args []string) (json.RawMessage, error) {
	values := map[string]string{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q is no NAME=VALUE. Nothing was sent.", "%q 값은 NAME=VALUE 형식이 아닙니다. 보내지 않았습니다."), arg), c.t("Name the field before its value.", "항목 이름을 값 앞에 적으세요.")))
		}
		values[name] = value
	}
	return json.Marshal(values)
}

// askField asks for the next field of the form on the screen.
func (w *watcher) askField() {
	f := w.queue[0].Request.Form
	if f.URL != "" {
		fmt.Fprint(w.err, w.t("Open the address yourself, then type y. N = decline · - = cancel: ", "주소를 직접 연 다음 y를 입력하세요. N = 거절 · - = 취소: "))
		return
	}
	if len(f.Fields) == 0 {
		fmt.Fprint(w.err, w.t("y = yes · N = decline · - = cancel: ", "y = 예 · N = 거절 · - = 취소: "))
		return
	}
	if len(w.given) == 0 {
		fmt.Fprintln(w.err, w.t("Enter takes the default. ! declines, - cancels.", "Enter: 기본값, !: 거절, -: 취소"))
	}
	fmt.Fprint(w.err, w.fieldLine(f.Fields[len(w.given)])+" > ")
}

// answerField takes up what was typed to it.
func (w *watcher) answerField(ctx context.Context, line string) error {
	a := w.queue[0]
	f := a.Request.Form
	in := kernel.AnswerInput{RunID: a.Request.RunID, ApprovalID: a.ID}
	plain := len(f.Fields) == 0
	switch {
	case line == "-":
		in.Action = "cancel"
	case plain && !yes(line), !plain && line == "!":
		in.Action = "decline"
	case !plain:
		w.given = append(w.given, line)
		if len(w.given) < len(f.Fields) {
			w.askField()
			return nil
		}
		values := map[string]string{}
		for i, x := range f.Fields {
			if w.given[i] != "" {
				values[x.Name] = w.given[i]
			}
		}
		raw, err := json.Marshal(values)
		if err != nil {
			return err
		}
		in.Values = raw
	}
	_, err := w.link.Agents.Answer(ctx, in)
	if sys.CodeOf(err) == sys.CodeInvalid {
		w.note("%s", sys.TextOf(err).In(w.lang == korean))
		w.given = nil
		w.askField()
		return nil
	}
	if err != nil && sys.CodeOf(err) != sys.CodeConflict {
		return err
	}
	w.drop(a.ID)
	return nil
}

// asking waits for what a server is asked, and has the person at this terminal answer what the server asks meanwhile.
func asking[T any](ctx context.Context, c *console, l *link, fn func() (T, error)) (none T, err error) {
	events, err := l.Infra.Events(ctx, 0)
	if err != nil {
		return none, err
	}
	type outcome struct {
		r   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := fn()
		done <- outcome{r, err}
	}()
	w := &watcher{console: c, link: l, alone: true, canAsk: !c.json && c.terminal(c.in) && c.terminal(c.err)}
	for {
		select {
		case o := <-done:
			return o.r, o.err
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			a, is := as[kernel.Approval](e)
			if !is || e.Kind != "approval" || !ofServer(a) || a.Request.RunID != "" {
				continue
			}
			if err := w.approval(ctx, a); err != nil {
				return none, err
			}
		case <-w.opens:
			w.open()
		case line, ok := <-w.lines:
			if err := w.answer(ctx, line, ok); err != nil {
				return none, err
			}
		}
	}
}

// ofServer reports whether a server asks for something in the middle of a call. Such a call cannot wait for another time.
func ofServer(a kernel.Approval) bool { return a.Request.Form != nil || a.Request.Call == "mcp.sample" }

// leaveServer answers a server that nobody here can: its call would wait for ever.
func (w *watcher) leaveServer(ctx context.Context, a kernel.Approval) (err error) {
	w.card(a)
	w.note("  %s", w.t("Nobody can answer here, so the server was told that it is canceled.", "여기서 답할 사람이 없어 서버에 취소했다고 알렸습니다."))
	if a.Request.Form != nil {
		_, err = w.link.Agents.Answer(ctx, kernel.AnswerInput{RunID: a.Request.RunID, ApprovalID: a.ID, Action: "cancel"})
	} else {
		_, err = w.link.Security.Deny(ctx, a.ID, "")
	}
	if sys.CodeOf(err) == sys.CodeConflict {
		return nil
	}
	return err
}
