package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Job is a command that runs, or ran, in the background.
type Job struct {
	ID        string     `json:"id"`
	RunID     string     `json:"run_id"`
	SessionID string     `json:"session_id"`
	Command   string     `json:"command"`
	Dir       string     `json:"dir"`
	PID       int        `json:"pid"`
	Running   bool       `json:"running"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	ExitCode  int        `json:"exit_code"`     // once it has ended
	End       string     `json:"end,omitempty"` // what ended it, when it did not end by itself

	Asked []security.NetTry `json:"asked,omitempty"` // the machines that it asked for, at isolation 3

	Note string `json:"note,omitempty"` // what it made that was put aside, in words
}

// JobLog is a part of the output of a command.
type JobLog struct {
	Text     string `json:"text"`    // secrets masked
	Next     int64  `json:"next"`    // the offset to go on from
	Dropped  int64  `json:"dropped"` // bytes at the offset that are no longer kept
	Done     bool   `json:"done"`    // the command has ended and this is the rest
	ExitCode int    `json:"exit_code"`
}

// Jobs lists the background commands: for an agent those of its conversation.
// Those that run are kept, and the last 64 that have ended.
func (a *ExecAPI) Jobs(ctx context.Context) ([]Job, error) {
	return guard(ctx, a.caller, action{call: "exec.jobs", resource: "commands"}, func(context.Context) ([]Job, error) {
		return a.k.commands().list(a.caller), nil
	})
}

// JobLog reads the output of a background command, or of one whose output was
// too long for its result, from offset on.
func (a *ExecAPI) JobLog(ctx context.Context, id string, offset int64) (JobLog, error) {
	act := action{call: "exec.jobLog", resource: "job:" + id, work: true}
	words := a.wordsOf(func() []string { return []string{a.k.commands().startedBy(a.caller, id)} })
	act.brought = func(ctx context.Context) (Labels, error) {
		if strings.HasPrefix(id, logOfAttachment) {
			list, err := a.k.store.Attachments(ctx, []string{strings.TrimPrefix(id, logOfAttachment)})
			return strangers(list), err
		}
		read, err := words(ctx)
		if err != nil {
			return nil, err
		}
		more, err := a.loggedBy(ctx, id)
		return read.Join(more), err
	}
	return guard(ctx, a.caller, act, func(ctx context.Context) (JobLog, error) {
		if offset < 0 {
			return JobLog{}, sys.Errorf(sys.CodeInvalid, "offset cannot be negative.")
		}
		if strings.HasPrefix(id, logOfAttachment) {
			return a.attachedLog(ctx, id, offset)
		}
		return a.k.commands().log(a.caller, id, offset)
	})
}

// KillJob ends a background command with all that it started, within 5 seconds.
func (a *ExecAPI) KillJob(ctx context.Context, id string) error {
	_, err := guard(ctx, a.caller, action{call: "exec.killJob", resource: "job:" + id, stops: true}, func(ctx context.Context) (struct{}, error) {
		j, err := a.k.commands().job(a.caller, id)
		if err != nil {
			return struct{}{}, err
		}
		j.Kill()
		select {
		case <-j.Done():
			return struct{}{}, nil
		case <-ctx.Done():
			return struct{}{}, context.Cause(ctx)
		}
	})
	return err
}

// commands is what the kernel knows of commands besides the sandbox.
type commands struct {
	k *Kernel

	envOnce sync.Once
	envList []string
	envRead atomic.Bool

	mu    sync.Mutex
	jobs  map[int]startedJob // by the sandbox's number
	logs  []keptLog          // the newest last
	nlogs int
	files map[string]*fileLock
}

type startedJob struct {
	*sandbox.Job
	line string
	by   scope
	cmd  *command
	made *planting
}

// keptLog is a long output of a command that has ended.
type keptLog struct {
	id   string
	text string
	by   scope
	all  bool // a person's: no agent's business
}

// maxLogs is how many long outputs are kept, and maxLogBytes how large they are together, but for the newest.
const (
	maxLogs     = 16
	maxLogBytes = 48 << 20
)

// maxLogPart is how many bytes of output one answer carries; logOverlap is how
// many before them are looked at, so that a secret which begins there is seen.
const (
	maxLogPart = 60 << 10
	logOverlap = 8 << 10
)

func (c *commands) env(load func() []string) []string {
	c.envOnce.Do(func() {
		c.envList = load()
		c.envRead.Store(true)
	})
	return slices.Clone(c.envList)
}

// add takes note of a background command, and of its end. It ends with its run
// when that is stopped, but not when that is done.
func (c *commands) add(ctx context.Context, cmd *command, j *sandbox.Job, w *watched, p *planting) string {
	s := startedJob{j, cmd.line, cmd.caller.scope, cmd, p}
	c.mu.Lock()
	known := c.k.sandbox.Jobs()
	for id := range c.jobs {
		if !slices.ContainsFunc(known, func(k *sandbox.Job) bool { return k.ID == id }) {
			delete(c.jobs, id)
		}
	}
	c.jobs[j.ID] = s
	c.mu.Unlock()
	c.k.publish(event.JobChanged, s.by, s.view(c.k))
	unbind := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), agent.ErrStopped) {
			j.Kill()
		}
	})
	c.k.undos.ending.Add(1)
	go func() { // ends with the command; the sandbox ends all of them at Close
		defer c.k.undos.ending.Done()
		p.follow(context.WithoutCancel(ctx), j.Done(), func() { c.k.publish(event.JobChanged, s.by, s.view(c.k)) })
		<-j.Done()
		unbind()
		cmd.tidy()
		c.k.sandbox.DropLayer(cmd.layer)
		w.later(context.WithoutCancel(ctx))
		p.end(context.WithoutCancel(ctx))
		cmd.recordAsked(context.WithoutCancel(ctx))
		c.k.publish(event.JobChanged, s.by, s.view(c.k))
	}()
	return strconv.Itoa(j.ID)
}

func (s startedJob) view(k *Kernel) Job {
	v := Job{
		ID: strconv.Itoa(s.ID), RunID: s.by.runID, SessionID: s.by.sessionID, Command: k.masked(s.line), Dir: s.Dir, PID: s.PID,
		Running: true, StartedAt: s.Started.UTC(), Asked: s.cmd.asked(), Note: s.made.words(),
	}
	select {
	case <-s.Done():
	default:
		return v
	}
	res := s.Result()
	end := s.Started.Add(res.Duration).UTC()
	v.Running, v.EndedAt, v.ExitCode = false, &end, res.ExitCode
	switch {
	case s.Err() != nil:
		v.End = s.Err().Error()
	case res.TimedOut:
		v.End = "its time was over"
	case res.OutOfMemory:
		v.End = "it used too much memory"
	case res.OutOfDisk:
		v.End = "it used too much of the disk"
	case res.TooManyProcesses:
		v.End = "it started too many processes"
	case res.Killed:
		v.End = "it was stopped"
	case res.WantsPassword:
		v.End = "it wanted a password, which nobody can type here"
	}
	return v
}

// sees reports whether a caller may see what was started in a scope.
func (c *caller) sees(by scope) bool {
	return c.who.Kind != sys.KindAgent || c.scope.sessionID != "" && by.sessionID == c.scope.sessionID
}

func (c *commands) list(who *caller) []Job {
	c.mu.Lock()
	jobs := slices.Collect(maps.Values(c.jobs))
	c.mu.Unlock()
	out := []Job{}
	for _, s := range jobs {
		if who.sees(s.by) {
			out = append(out, s.view(c.k)) // without the lock, as it takes others
		}
	}
	slices.SortFunc(out, func(a, b Job) int { return a.StartedAt.Compare(b.StartedAt) })
	return out
}

func (c *commands) job(who *caller, id string) (startedJob, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, err := strconv.Atoi(id); err == nil {
		if s, ok := c.jobs[n]; ok && who.sees(s.by) {
			return s, nil
		}
	}
	var ids []string
	for n, s := range c.jobs {
		if who.sees(s.by) {
			ids = append(ids, strconv.Itoa(n))
		}
	}
	slices.Sort(ids)
	e := sys.Errorf(sys.CodeNotFound, "There is no background command %q.", id)
	if len(ids) == 0 {
		return startedJob{}, e.WithHint("There are none in this conversation.")
	}
	return startedJob{}, e.WithHint("There are: %s.", strings.Join(ids, ", "))
}

// startedBy is the run that started a command whose output a caller may see; "" for
// none.
func (c *commands) startedBy(who *caller, id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.logs {
		if l.id == id && who.sees(l.by) {
			return l.by.runID
		}
	}
	if n, err := strconv.Atoi(id); err == nil && who.sees(c.jobs[n].by) {
		return c.jobs[n].by.runID
	}
	return ""
}

// keep holds a long output so that it can be read on, and returns its id.
func (c *commands) keep(who *caller, text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nlogs++
	id := "o" + strconv.Itoa(c.nlogs)
	size := len(text)
	for _, l := range c.logs {
		size += len(l.text)
	}
	for len(c.logs) >= maxLogs || len(c.logs) > 0 && size > maxLogBytes {
		size -= len(c.logs[0].text)
		c.logs = slices.Delete(c.logs, 0, 1)
	}
	c.logs = append(c.logs, keptLog{id: id, text: text, by: who.scope, all: who.who.Kind != sys.KindAgent})
	return id
}

func (c *commands) log(who *caller, id string, offset int64) (JobLog, error) {
	c.mu.Lock()
	i := slices.IndexFunc(c.logs, func(l keptLog) bool {
		return l.id == id && who.sees(l.by) && (!l.all || who.who.Kind != sys.KindAgent)
	})
	if i >= 0 {
		text := c.logs[i].text
		c.mu.Unlock()
		text = text[min(offset, int64(len(text))):]
		part := cutText(text, maxLogPart)
		return JobLog{Text: strings.ToValidUTF8(part, ""), Next: offset + int64(len(part)), Done: len(part) == len(text)}, nil
	}
	c.mu.Unlock()
	if strings.HasPrefix(id, "o") {
		return JobLog{}, sys.Errorf(sys.CodeNotFound, "The output %q is no longer kept.", id).WithHint("Run it again, with less output or with its output in a file.")
	}
	j, err := c.job(who, id)
	if err != nil {
		return JobLog{}, err
	}
	return c.read(j, offset), nil
}

// read takes a part of the output of a background command.
func (c *commands) read(j startedJob, offset int64) JobLog {
	done := false
	select {
	case <-j.Done(): // looked at before the log, which then is whole
		done = true
	default:
	}
	from := max(0, offset-logOverlap)
	data, next, gone := j.Log(from)
	from += gone
	start := max(offset, from)
	part := data[min(start-from, int64(len(data))):]
	cut := len(part) > maxLogPart
	if cut {
		part = part[:maxLogPart]
	}
	if end := lastLineEnd(part); end > 0 && (cut || !done) { // no half line, and no half secret
		part = part[:end]
	} else if !done && !cut {
		part = nil
	}
	overlap := data[:min(start-from, int64(len(data)))]
	out := JobLog{Text: c.k.maskedAfter(overlap, part), Next: start + int64(len(part)), Dropped: start - offset, Done: done && !cut}
	if out.Next > next {
		out.Next = next
	}
	if done {
		out.ExitCode = j.Result().ExitCode
	}
	return out
}

func lastLineEnd(b []byte) int {
	return strings.LastIndexByte(string(b), '\n') + 1
}

// maskedAfter masks the secrets in part, seeing those that begin before it.
func (k *Kernel) maskedAfter(before, part []byte) string {
	start := k.masked(outputText(before))
	whole := k.masked(outputText(slices.Concat(before, part)))
	same := 0
	for same < len(start) && same < len(whole) && start[same] == whole[same] {
		same++
	}
	return strings.ToValidUTF8(whole[same:], "")
}

// fileLock lets one call at a time change a file.
type fileLock struct {
	sync.Mutex
	users int
}

// lockFile waits until nobody else changes the file, and returns what lets the
// next one do so.
func (c *commands) lockFile(path string) (unlock func()) {
	c.mu.Lock()
	l := c.files[path]
	if l == nil {
		l = &fileLock{}
		c.files[path] = l
	}
	l.users++
	c.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		c.mu.Lock()
		defer c.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(c.files, path)
		}
	}
}

func newCommands(k *Kernel) *commands {
	return &commands{k: k, jobs: map[int]startedJob{}, files: map[string]*fileLock{}}
}

func (k *Kernel) commands() *commands { return k.cmds }

// Workplace is where and how a principal works.
type Workplace struct {
	Folder    string        // absolute
	Mode      string        // ask, guarded or autonomous
	Isolation sys.Isolation // of commands
	ToolsOff  []string      // the tools that the person has switched off, or that its role does not have
	Limited   bool          // a limit holds on what it may use

	ServerTools []MCPTool   // those of MCP servers that there are for it
	AlwaysTools []string    // the names of those of them that every run is offered
	FoundTools  []string    // the names of those that find_tools found in this conversation, the newest first
	Servers     []string    // the servers that have resources or prompts for it
	Skills      []SkillView // the skills that are ready for it
}

// Workplace returns where and how the principal of h works.
func (h *Handle) Workplace(ctx context.Context) (Workplace, error) {
	c := h.Exec.caller
	off, err := c.k.toolsOff(ctx)
	if err != nil {
		return Workplace{}, fmt.Errorf("describe where %s works: %w", c.who.Actor(), err)
	}
	limited, err := c.k.limited(ctx, c.scope.runID)
	if err != nil {
		return Workplace{}, err
	}
	var servers []MCPTool
	var having []string
	if h.May("mcp.tools") {
		servers, having = c.k.mcp.Offered(), c.k.mcp.Having()
	}
	var always, found []string
	if len(servers)+len(having) > 0 {
		always = c.k.mcp.Always()
		if found, err = c.k.store.OfferedTools(ctx, c.scope.sessionID, "find_tools", 50); err != nil {
			return Workplace{}, err
		}
	}
	var skills []SkillView
	if h.May("skills.list") {
		if skills, err = c.k.skills.Ready(ctx, c.scope.folder); err != nil {
			return Workplace{}, err
		}
	}
	return Workplace{ServerTools: servers, Servers: having, AlwaysTools: always, FoundTools: found, Skills: skills, Limited: limited, Folder: c.scope.folder, Mode: string(c.scope.mode), Isolation: c.k.isolation(), ToolsOff: append(off, c.toolsBarred()...)}, nil
}

// May reports whether the principal of h holds the right to make a system call,
// as "exec.shell". Policy and the person may still refuse it.
func (h *Handle) May(call string) bool {
	return h.Exec.may(call)
}
