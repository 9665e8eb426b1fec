package kernel

import (
	"context"
	"slices"

	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// InboxRun is a run that has ended, as the inbox lists it.
type InboxRun = store.EndedRun

// Inbox is what waits for the person, and how runs ended that they have not
// seen yet.
type Inbox struct {
	Waiting  []Approval `json:"waiting"`  // the one that has waited longest first
	Held     []Held     `json:"held"`     // limits and providers that runs wait for, the first one first
	Findings []Finding  `json:"findings"` // what the guardian found that the person should see to
	Failed   []InboxRun `json:"failed"`   // failed, interrupted, or done with a task that was not met, the last one first
	Finished []InboxRun `json:"finished"` // the last one first
	Older    int        `json:"older"`    // how many nobody has seen beyond those listed
}

// maxInbox bounds the runs of an [Inbox].
const maxInbox = 200

// Inbox returns what waits for the person and the newest 200 runs whose end
// they have not seen; with all those that they have seen too. A face that
// shows the end of a run says so with MarkSeen, and whoever goes on with a
// conversation has seen what stands in it.
func (a *AgentsAPI) Inbox(ctx context.Context, all bool) (Inbox, error) {
	return guard(ctx, a.caller, action{call: "agents.inbox", resource: "inbox"}, func(ctx context.Context) (Inbox, error) {
		in := Inbox{Held: append([]Held{}, a.k.held()...), Failed: []InboxRun{}, Finished: []InboxRun{}}
		in.Findings = slices.DeleteFunc(append([]Finding{}, a.k.guardian.list()...), func(f Finding) bool { return !f.Bad })
		var err error
		if in.Waiting, err = a.k.approvals.List(ctx, security.ApprovalQuery{State: security.ApprovalPending}); err != nil {
			return in, err
		}
		slices.Reverse(in.Waiting)
		list, unseen, err := a.k.store.Inbox(ctx, all, maxInbox)
		in.Older = unseen
		for _, r := range list {
			if !r.Seen {
				in.Older--
			}
			r.Run.Text = sys.Shorten(r.Run.Text, 500)
			if r.Run.State == store.RunDone && !r.Run.NotMet {
				in.Finished = append(in.Finished, r)
			} else {
				in.Failed = append(in.Failed, r)
			}
		}
		return in, err
	})
}

// MarkSeen takes runs out of the inbox, or puts them back when they are not
// seen after all. Runs that have not ended are left alone.
func (a *AgentsAPI) MarkSeen(ctx context.Context, ids []string, seen bool) error {
	_, err := guard(ctx, a.caller, action{call: "agents.markSeen", resource: "inbox"}, func(ctx context.Context) (struct{}, error) {
		var changed int64
		err := a.k.store.Write(ctx, func(tx *store.Tx) (err error) {
			changed, err = a.k.store.MarkSeen(tx, ids, seen)
			return err
		})
		if changed > 0 {
			did := event.Seen
			if !seen {
				did = event.Unseen
			}
			a.k.publishInbox(event.ChangeOf(did, "", ids...))
		}
		return struct{}{}, err
	})
	return err
}

// ClearInbox takes the finished runs out of the inbox, and returns their ids.
// What failed, what was not met and what waits stays.
func (a *AgentsAPI) ClearInbox(ctx context.Context) ([]string, error) {
	return guard(ctx, a.caller, action{call: "agents.clearInbox", resource: "inbox"}, func(ctx context.Context) ([]string, error) {
		var ids []string
		err := a.k.store.Write(ctx, func(tx *store.Tx) (err error) {
			ids, err = a.k.store.SeeDone(tx)
			return err
		})
		if len(ids) > 0 {
			a.k.publishInbox(event.ChangeOf(event.Seen, "", ids...))
		}
		return ids, err
	})
}

// publishInbox tells that the inbox is other than it was, and in what way.
func (k *Kernel) publishInbox(did event.Change) {
	k.publish(event.InboxChanged, scope{}, did)
	k.publishStatus()
}
