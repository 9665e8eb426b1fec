package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type execArgs struct {
	Action     string   `json:"action,omitempty" jsonschema:"run (the default), or list, log or kill background commands"`
	Command    string   `json:"command,omitempty" jsonschema:"a command line for bash"`
	Binary     string   `json:"binary,omitempty" jsonschema:"instead of command: one program, run without a shell"`
	Args       []string `json:"args,omitempty" jsonschema:"the arguments of binary, as they are"`
	Cwd        string   `json:"cwd,omitempty" jsonschema:"where to run it, inside the folder; default the folder"`
	TimeoutS   int      `json:"timeout_s,omitempty" jsonschema:"seconds after which it is ended; default 120, none in the background"`
	Background bool     `json:"background,omitempty" jsonschema:"return at once and let it run; for servers and long work"`
	Network    bool     `json:"network,omitempty" jsonschema:"it needs the network though its words do not show it; the person is asked"`
	Reason     string   `json:"reason,omitempty" jsonschema:"what it is for, in one sentence for the person"`
	ID         string   `json:"id,omitempty" jsonschema:"for log and kill: which background command, or which long output"`
	Offset     int64    `json:"offset,omitempty" jsonschema:"for log: where to read on"`
}

var execMaker = maker{
	name: "exec", domain: "exec", calls: []string{"exec.shell", "exec.structured"},
	about: "Runs commands.",
	make: func(h *kernel.Handle, at kernel.Workplace) agent.Tool {
		return newTool("exec", execAbout(at), map[string][]string{"action": {"run", "list", "log", "kill"}}, execTitle,
			func(ctx context.Context, in execArgs) (agent.Result, error) { return execCall(ctx, h, in) })
	},
}

// execAbout says the truth about commands on this machine.
func execAbout(at kernel.Workplace) string {
	held := "Commands are not contained on this machine, so that each one waits for the person's approval, whatever it does."
	switch {
	case at.Isolation.Contained():
		held = fmt.Sprintf("Commands are contained: they write only below %s and read only that and the system's programs. "+
			"They have no network unless the person approves it.", at.Folder)
	case at.Isolation >= sys.IsolationLimits:
		held = "Commands are not contained on this machine, so that each one waits for the person's approval unless it only reads."
	}
	return "Runs a command in " + at.Folder + ": a line for bash (command), or one program without a shell (binary and args; no shell, no env or timeout, no interpreter with -c). " + held +
		" There is no terminal and the input is empty, so nothing can be answered or typed: use options such as -y or --no-edit. " +
		"sudo, forced deletes of folders and other things that cannot be taken back are refused for everybody. " +
		"A command that starts in the background gets an id; list, log and kill work on those."
}

func execTitle(in execArgs) sys.Words {
	switch in.Action {
	case "list":
		return sys.Say("List background commands")
	case "log":
		return sys.Say("Read the output of command %s", in.ID)
	case "kill":
		return sys.Say("End background command %s", in.ID)
	}
	if in.Background {
		return sys.Say("Start %s", line(in))
	}
	return sys.Say("Run %s", line(in))
}

func line(in execArgs) string {
	if in.Command != "" {
		return in.Command
	}
	return strings.Join(append([]string{in.Binary}, in.Args...), " ")
}

func execCall(ctx context.Context, h *kernel.Handle, in execArgs) (agent.Result, error) {
	switch in.Action {
	case "list":
		return execList(ctx, h)
	case "log", "kill":
		if in.ID == "" {
			return agent.Result{}, sys.Errorf(sys.CodeInvalid, "%s needs the id of a command. Nothing was done.", in.Action).WithHint("Action list shows them.")
		}
		if in.Action == "log" {
			return execLog(ctx, h, in)
		}
		if err := h.Exec.KillJob(ctx, in.ID); err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Text: "Command " + in.ID + " has ended, with all that it had started.", Title: sys.Say("Ended background command %s", in.ID)}, nil
	}
	var r kernel.ExecResult
	var err error
	switch {
	case in.Command != "" && in.Binary != "":
		return agent.Result{}, sys.Errorf(sys.CodeInvalid, "Both command and binary are given. Nothing was run.").WithHint("Give one of them.")
	case in.Binary != "":
		r, err = h.Exec.Structured(ctx, kernel.StructuredArgs{
			Binary: in.Binary, Args: in.Args, Cwd: in.Cwd, TimeoutS: in.TimeoutS, Background: in.Background, Network: in.Network, Reason: in.Reason,
		})
	case in.Command == "":
		return agent.Result{}, sys.Errorf(sys.CodeInvalid, "There is no command. Nothing was run.").WithHint("Give command, a line for bash, or binary and args.")
	case len(in.Args) > 0:
		return agent.Result{}, sys.Errorf(sys.CodeInvalid, "args belong to binary, not to command. Nothing was run.").WithHint("Write them into the command line.")
	default:
		r, err = h.Exec.Shell(ctx, kernel.ShellArgs{
			Command: in.Command, Cwd: in.Cwd, TimeoutS: in.TimeoutS, Background: in.Background, Network: in.Network, Reason: in.Reason,
		})
	}
	if err != nil {
		return agent.Result{Text: strings.TrimRight(r.Output, "\n")}, err
	}
	return ran(in, r), nil
}

// ran tells how a command ended.
func ran(in execArgs, r kernel.ExecResult) agent.Result {
	if r.JobID != "" {
		return agent.Result{
			Text:  fmt.Sprintf("Started in the background as command %s. Read its output with action log and id %s.", r.JobID, r.JobID),
			Title: sys.Say("Started %s", line(in)),
		}
	}
	parts := []string{strings.TrimRight(r.Output, "\n")}
	if parts[0] == "" {
		parts[0] = "(no output)"
	}
	if r.ReadMore != "" {
		parts = append(parts, fmt.Sprintf("(To read the whole output: action log, id %s, offset 0.)", r.ReadMore))
	}
	if r.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("(%d bytes of output were not kept.)", r.Dropped))
	}
	if r.ExitCode != 0 || r.TimedOut {
		parts = append(parts, fmt.Sprintf("(exit code %d)", r.ExitCode))
	}
	if r.Note != "" {
		parts = append(parts, "("+r.Note+")")
	}
	return agent.Result{Text: strings.Join(parts, "\n"), Title: sys.Say("Ran %s", line(in))}
}

func execList(ctx context.Context, h *kernel.Handle) (agent.Result, error) {
	jobs, err := h.Exec.Jobs(ctx)
	if err != nil {
		return agent.Result{}, err
	}
	var b strings.Builder
	for _, j := range jobs {
		state := "runs"
		switch {
		case !j.Running && j.End != "":
			state = "ended: " + j.End
		case !j.Running:
			state = fmt.Sprintf("ended with exit code %d", j.ExitCode)
		}
		fmt.Fprintf(&b, "%s  %s  (since %s)  %s\n", j.ID, state, j.StartedAt.Format("15:04:05"), oneLine(j.Command))
	}
	if len(jobs) == 0 {
		b.WriteString("There are no background commands in this conversation.")
	}
	return agent.Result{Text: strings.TrimRight(b.String(), "\n"), Title: sys.Say("Listed %s", counted(len(jobs), "background command", "백그라운드 명령"))}, nil
}

func execLog(ctx context.Context, h *kernel.Handle, in execArgs) (agent.Result, error) {
	l, err := h.Exec.JobLog(ctx, in.ID, in.Offset)
	if err != nil {
		return agent.Result{}, err
	}
	parts := []string{strings.TrimRight(l.Text, "\n")}
	if parts[0] == "" {
		parts[0] = "(no new output)"
	}
	if l.Dropped > 0 {
		parts = append([]string{fmt.Sprintf("(%d bytes before this are no longer kept.)", l.Dropped)}, parts...)
	}
	switch {
	case l.Done && strings.HasPrefix(in.ID, "o"):
		parts = append(parts, "(the end)")
	case l.Done:
		parts = append(parts, fmt.Sprintf("(the end; it ended with exit code %d)", l.ExitCode))
	default:
		parts = append(parts, fmt.Sprintf("(read on with offset %d)", l.Next))
	}
	return agent.Result{Text: strings.Join(parts, "\n"), Title: sys.Say("Read the output of command %s", in.ID)}, nil
}
