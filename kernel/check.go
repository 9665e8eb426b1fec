package kernel

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel/agent"
	"oxios/kernel/ouroboros"
	"oxios/kernel/sys"
)

// maxChecked is how many bytes of a file are searched for what it must contain.
const maxChecked = 8 << 20

// checker runs the checks of a seed as steps of its run, with the rights of its
// agent: what would ask in the loop asks here.
type checker struct {
	*runTask
	e *agent.Evaluation
}

// Check finds out whether a criterion holds by its command or its file.
func (c *checker) Check(ctx context.Context, number int, criterion ouroboros.Criterion) (ouroboros.Result, error) {
	check := *criterion.Check
	out := ouroboros.Result{Criterion: criterion.Text, How: ouroboros.HowFile}
	call := c.file
	if check.Command != "" {
		out.How, call = ouroboros.HowCommand, c.command
	}
	title := sys.Say("Check: %s", sys.Shorten(criterion.Text, 200))
	res, problem, err := c.e.Check(ctx, fmt.Sprintf("criterion %d", number), title, check, func(ctx context.Context) (agent.Result, error) {
		return call(ctx, check, criterion.Text)
	})
	if err != nil {
		return out, err
	}
	if problem != nil {
		out.Evidence, out.EvidenceKO = problem.Message, problem.MessageKO
		return out, nil
	}
	out.Passed, out.Evidence, out.EvidenceKO = true, res.Title.EN, res.Title.KO
	return out, nil
}

// command holds when it ends with 0; turned around, when it ends with anything
// else by itself.
func (c *checker) command(ctx context.Context, check ouroboros.Check, what string) (agent.Result, error) {
	r, err := c.h.Exec.Shell(ctx, ShellArgs{Command: check.Command, Reason: "It shows whether this holds: " + what})
	if err != nil {
		e := sys.AsError(err)
		message, _ := e.Words()
		return agent.Result{}, sys.Errorf(e.Code, "It could not be checked: %s", message)
	}
	shown := sys.Shorten(check.Command, 200)
	said := sys.Say("%s ended with %d", shown, r.ExitCode)
	if last := lastLine(r.Output); last != "" {
		said = sys.Say("%s ended with %d: %s", shown, r.ExitCode, sys.Shorten(last, 300))
	}
	if r.TimedOut {
		said = sys.Say("%s did not end in time", shown)
	}
	if (r.ExitCode == 0) == check.Not || r.TimedOut {
		return agent.Result{Text: r.Output}, sys.Errorf(sys.CodeConflict, "%s", said)
	}
	return agent.Result{Text: r.Output, Title: said}, nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// file holds when the file is there, and contains the text that it must.
func (c *checker) file(ctx context.Context, check ouroboros.Check, _ string) (agent.Result, error) {
	line, there, err := c.find(ctx, check.File, check.Contains)
	if err != nil {
		return agent.Result{}, err
	}
	var said sys.Words
	switch {
	case !there:
		said = sys.Say("There is no %s", check.File)
	case check.Contains == "":
		said = sys.Say("%s is there", check.File)
	case line == 0:
		said = sys.Say("%s does not contain “%s”", check.File, sys.Shorten(check.Contains, 200))
	default:
		said = sys.Say("%s, line %d: %s", check.File, line, sys.Shorten(check.Contains, 200))
	}
	if holds := there && (check.Contains == "" || line > 0); holds == check.Not {
		return agent.Result{}, sys.Errorf(sys.CodeConflict, "%s", said)
	}
	return agent.Result{Title: said}, nil
}

// find returns the line on which a text begins in a file, 0 for none.
func (c *checker) find(ctx context.Context, file, text string) (line int, there bool, err error) {
	var read strings.Builder
	for next := 1; ; {
		t, err := c.h.Exec.Read(ctx, ReadArgs{Path: file, Offset: next})
		switch code := sys.CodeOf(err); {
		case err == nil:
		case code == sys.CodeNotFound:
			return 0, false, nil
		case text == "" && (code == sys.CodeInvalid || code == sys.CodeTooLarge):
			return 0, true, nil // a folder, or no text: it is there
		case ctx.Err() != nil:
			return 0, false, context.Cause(ctx)
		default:
			e := sys.AsError(err)
			message, _ := e.Words()
			return 0, false, sys.Errorf(e.Code, "It could not be checked: %s", message)
		}
		if text == "" {
			return 0, true, nil
		}
		read.WriteString(t.Text)
		if !strings.HasSuffix(t.Text, "\n") {
			read.WriteByte('\n')
		}
		if before, _, ok := strings.Cut(read.String(), strings.ReplaceAll(text, "\r\n", "\n")); ok {
			return strings.Count(before, "\n") + 1, true, nil
		}
		if !t.More || t.Lines == 0 || read.Len() > maxChecked {
			return 0, true, nil
		}
		next = t.FirstLine + t.Lines
	}
}
