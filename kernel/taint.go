package kernel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of labels live in security.
type (
	Label  = security.Label
	Labels = security.Labels
)

// taint is what a call is weighed with: where what its run has read came from,
// and where what the call itself reads comes from.
type taint struct {
	own      Labels // what this call reads, as far as that is known beforehand
	live     Labels // all of the run with it, without what the person has ended
	decision security.Decision
	reason   security.TaintReason
	wording  security.Wording // of a request that the agent words itself
	host     string           // the machine that such a request goes to
}

// weigh asks the rule of taint about an agent's call.
func (c *caller) weigh(ctx context.Context, row Syscall, a action) (t taint, err error) {
	if a.reads != nil {
		if t.own, err = a.reads(ctx); err != nil {
			return t, fmt.Errorf("find out where %s comes from: %w", a.resource, err)
		}
	}
	if a.work {
		t.own = t.own.Join(Labels{workLabel(c.scope.folder)})
	}
	read := c.k.runs.of(c.scope.runID).labels
	if c.trial != nil {
		read = c.trial.read
	}
	all, err := c.k.liveLabels(ctx, read.Join(t.own))
	if err != nil {
		return t, err
	}
	t.own = slices.DeleteFunc(slices.Clone(all), func(l Label) bool { return !t.own.Has(l.ID) })
	// What a command will get from the network cannot have moved anybody to run it.
	t.live = slices.DeleteFunc(all, func(l Label) bool { return l.Origin == store.LabelNetwork && !read.Has(l.ID) })
	sink, isolation := row.Sink, c.k.isolation()
	if c.trial != nil {
		isolation = c.trial.isolation
	}
	if a.control {
		sink = security.SinkControl
	}
	if a.words != nil {
		t.host = a.words.host
		if t.wording, err = c.worded(ctx, a.words, t.live); err != nil {
			return t, fmt.Errorf("find out who named %s: %w", a.resource, err)
		}
	}
	t.decision, t.reason = security.DecideTaint(t.live, security.SinkCall{Sink: sink, Leaves: a.leaves, Outside: a.beyond, Wording: t.wording}, isolation)
	if t.decision == security.DecisionAsk && t.reason == security.TaintTask {
		var agreed bool
		if agreed, err = c.agreed(ctx, t.live); agreed {
			t.decision = security.DecisionFree
		}
	}
	return t, err
}

// agreed reports whether the person has let this run give somebody a task after
// it had read all of this: they are asked once for what came from outside, and
// again when something else came.
func (c *caller) agreed(ctx context.Context, live Labels) (bool, error) {
	if c.scope.runID == "" {
		return false, nil
	}
	list, err := c.k.approvals.List(ctx, security.ApprovalQuery{RunID: c.scope.runID})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list, func(ap Approval) bool {
		if ap.State != security.ApprovalUsed && (ap.State != security.ApprovalApproved || ap.UsedAt == nil) || syscalls[ap.Request.Call].Sink != security.SinkTask {
			return false
		}
		return !slices.ContainsFunc(live, func(l Label) bool { return l.Untrusted && !ap.Request.Labels.Has(l.ID) })
	}), nil
}

// closed is why the rule of taint lets nobody approve a call.
func (t taint) closed() error {
	what := carriers(t.live)
	if t.reason == security.TaintUnchecked {
		return sys.Errorf(sys.CodeRefused, "Nothing on this machine contains commands, and this run has read %s. So it runs none.", what).
			WithHint("Work with the file tools. The person can run the command themselves, or say with `oxios taint trust` that what was read is to be trusted.")
	}
	return sys.Errorf(sys.CodeRefused, "This changes what agents may do or are told, and this run has read %s. Nothing was changed.", what).
		WithHint("Tell the person what you would change: they can do it themselves, or say with `oxios taint trust` that what was read is to be trusted.")
}

// bind has a person asked about the call as the run is now: a yes from before it
// read what it has read is for another call, and no kind of step covers it.
func (t taint) bind(a action) action {
	var ids []string
	for _, l := range t.live.WithoutWork() {
		ids = append(ids, l.ID)
	}
	slices.Sort(ids)
	a.subject = struct {
		Call any
		Read []string
	}{a.subject, ids}
	a.kind = nil
	card, why := a.card, t.why()
	a.card = func(r *security.Request) {
		if card != nil {
			card(r)
		}
		if t.reason != security.TaintTask || r.Why == "" {
			r.Why, r.WhyKO = why.EN, why.KO
		}
		r.Kind, r.Host = nil, t.host
		no := sys.Say("The run has read something from outside, so this is asked for each time.")
		r.NoKind, r.NoKindKO = no.EN, no.KO
	}
	return a
}

// why says on a card why the rule of taint asks; none where it does not.
func (t taint) why() sys.Words {
	switch {
	case t.decision != security.DecisionAsk:
		return sys.Words{}
	case t.reason == security.TaintTask:
		return sys.Say("It may not be what you asked for: the run has read something from outside.")
	}
	if t.reason == security.TaintComposed {
		return sys.Say("The agent chose these words itself, after it had read something from outside and something private. They could carry away what it read.")
	}
	return sys.Say("The run has read something from outside and something private, so whatever leaves its folder is asked for each time.")
}

// namedCarriers is how many of them carriers names.
const namedCarriers = 3

// carriers names in words what a run has read, the untrusted first.
func carriers(labels Labels) sys.Words {
	list := slices.Clone(labels)
	sortUntrusted(list)
	var en, ko []string
	for _, l := range list[:min(namedCarriers, len(list))] {
		w := l.Words()
		en, ko = append(en, w.EN), append(ko, w.In(true))
	}
	named := sys.Words{EN: strings.Join(en, "; "), KO: strings.Join(ko, "; ")}
	if more := len(list) - namedCarriers; more > 0 {
		return sys.Say("%s; and %d more", named, more)
	}
	return named
}

// recordLabels is what the audit record holds of labels: each in words.
func recordLabels(labels Labels) any {
	if len(labels) == 0 {
		return ""
	}
	var out []string
	for _, l := range labels[:min(10, len(labels))] {
		out = append(out, l.Text)
	}
	return out
}

// maxLabels is how many labels of single files a run carries. From then on files
// of one folder have the folder's.
const maxLabels = 60

// take notes that the caller's run has now read what labels say. It is known to
// the guard at once, and durable with the step, before a model reads of it.
func (c *caller) take(ctx context.Context, labels Labels) error {
	if len(labels) == 0 || c.scope.runID == "" {
		return nil
	}
	before := c.k.runs.of(c.scope.runID).labels
	if len(before) >= maxLabels {
		labels = byFolder(labels)
	}
	labels = slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return before.Has(l.ID) })
	if len(labels) == 0 {
		return nil
	}
	c.k.runs.label(c.scope.runID, labels)
	if step := store.StepFrom(ctx); step != nil {
		step.Label(labels)
		return nil
	}
	return c.k.store.Write(ctx, func(tx *store.Tx) error { return c.k.store.AddRunLabels(tx, c.scope.runID, labels) })
}

func byFolder(labels Labels) (out Labels) {
	for _, l := range labels {
		if l.Origin == store.LabelFile && l.Place != "" {
			l = folderLabel(l.Place)
		}
		out = out.Join(Labels{l})
	}
	return out
}

// liveLabels leaves out what the person has ended: a label, all that a written file
// stood for, or with their trust in its folder.
func (k *Kernel) liveLabels(ctx context.Context, labels Labels) (Labels, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	ended, err := k.store.EndedLabels(ctx)
	if err != nil {
		return nil, err
	}
	trusted := map[string]bool{}
	holds := func(l Label) (bool, error) {
		if _, ok := ended[l.ID]; ok {
			return false, nil
		}
		if l.Place == "" {
			return true, nil
		}
		if _, known := trusted[l.Place]; !known {
			trust, err := k.trust(ctx, l.Place)
			if err != nil {
				return true, err
			}
			trusted[l.Place] = trust == FolderTrusted
		}
		return !trusted[l.Place], nil
	}
	var out Labels
	for _, l := range labels {
		ok, err := holds(l)
		if err != nil {
			return nil, err
		}
		if ok && l.Origin == store.LabelWritten {
			l.Untrusted, l.Sensitive = false, false
			for _, from := range l.From {
				is, err := holds(from)
				if err != nil {
					return nil, err
				}
				l.Untrusted, l.Sensitive = l.Untrusted || is && from.Untrusted, l.Sensitive || is && from.Sensitive
			}
			ok = l.Untrusted || l.Sensitive
		}
		if ok {
			out = append(out, l)
		}
	}
	return out, nil
}

// labelsOf returns what a run has read so far, without what the person has ended.
// The person's own words carry nothing.
func (k *Kernel) labelsOf(ctx context.Context, runIDs ...string) (all Labels, err error) {
	for _, id := range runIDs {
		if id == "" {
			continue
		}
		err := k.store.Read(ctx, func(tx *store.Tx) error {
			some, err := k.store.LabelsOf(tx, id)
			all = all.Join(some)
			return err
		})
		if err != nil {
			return nil, err
		}
		all = all.Join(k.runs.of(id).labels) // what no commit has made durable yet
	}
	return k.liveLabels(ctx, all)
}

// wordsOf tells what the words of other runs bring: what those have read.
func (c *caller) wordsOf(runIDs func() []string) func(context.Context) (Labels, error) {
	return func(ctx context.Context) (Labels, error) {
		return c.k.labelsOf(ctx, slices.DeleteFunc(runIDs(), func(id string) bool { return id == c.scope.runID })...)
	}
}

// handing fills in the card of a call that gives somebody a task.
func handing(title sys.Words, task string) func(*security.Request) {
	return func(r *security.Request) {
		r.Title, r.TitleKO, r.Claim = title.EN, title.In(true), sys.Shorten(task, 1000)
	}
}

// attachedLabels are the labels of what came with a message: whatever its person says
// with it, a file was written by somebody, and a note is private. What was pasted is the person's own
// word, as what they type, and what is named by its path alone is labelled when it
// is read.
func (k *Kernel) attachedLabels(ctx context.Context, attached []Attachment) (Labels, error) {
	all := strangers(attached)
	for _, a := range attached {
		if a.Vault == "" {
			continue
		}
		more, err := k.noteLabels(ctx, a.Vault, k.vault().path(a.Vault), "")
		if err != nil {
			return nil, err
		}
		all = all.Join(more)
	}
	return k.liveLabels(ctx, all) // a file of a trusted folder is none
}

func strangers(attached []Attachment) (out Labels) {
	for _, a := range attached {
		if a.Kind == store.AttachPaste || a.Kind == store.AttachFolder || a.Kind == store.AttachFile {
			continue
		}
		if a.Vault != "" {
			out = out.Join(Labels{vaultLabel(a.Vault)})
			continue
		}
		if a.Server != "" {
			out = out.Join(Labels{serverLabel(a.Server)})
			continue
		}
		l := Label{Origin: store.LabelAttachment, Untrusted: true, Name: a.Name, Place: a.Place}
		out = out.Join(Labels{store.NewLabel(l, a.ID, sys.Say("the attachment %s", a.Name))})
	}
	return out
}
