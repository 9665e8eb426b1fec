package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of the security API live in security and sandbox.
type (
	Approval        = security.Approval
	ApprovalRequest = security.Request
	ApprovalQuery   = security.ApprovalQuery
	AuditEntry      = security.Entry
	AuditQuery      = security.AuditQuery
	AuditReport     = security.AuditReport
	Canary          = sandbox.Canary
	TableRow        = security.TableRow
)

// ApproveInput is a person's yes.
type ApproveInput struct {
	Hash    string `json:"hash"`              // of the request that was shown: a changed one asks again
	Scope   string `json:"scope,omitempty"`   // once (default), or run: the identical call, while this run lasts
	Comment string `json:"comment,omitempty"` // for the agent
}

// Policy says what agents may do on this machine.
type Policy struct {
	Isolation    sys.Isolation `json:"isolation"`
	Canaries     []Canary      `json:"canaries"` // what was tried at start, and what held
	Problem      string        `json:"problem,omitempty"`
	ProbedAt     time.Time     `json:"probed_at"`
	Mode         string        `json:"mode"`  // of new conversations
	Table        []TableRow    `json:"table"` // what each mode does on this machine
	NeverTouched []string      `json:"never_touched"`
}

// ToolInfo describes a tool that agents may have.
type ToolInfo struct {
	Name          string `json:"name"`
	Description   string `json:"description"`
	DescriptionKO string `json:"description_ko"` // the same in Korean
	Domain        string `json:"domain"`
	On            bool   `json:"on"`

	Calls []string `json:"-"` // the system calls that it is for
	Terms string   `json:"-"` // further words that it is found by
}

// Approvals lists requests and what became of them, the newest first.
func (a *SecurityAPI) Approvals(ctx context.Context, q ApprovalQuery) ([]Approval, error) {
	return guard(ctx, a.caller, action{call: "security.approvals", resource: "approvals"}, func(ctx context.Context) ([]Approval, error) {
		return a.approvalsFor(ctx, q)
	})
}

// Approval returns one request.
func (a *SecurityAPI) Approval(ctx context.Context, id string) (Approval, error) {
	return guard(ctx, a.caller, action{call: "security.approval", resource: "approval:" + id}, func(ctx context.Context) (Approval, error) {
		ap, err := a.k.approvals.Get(ctx, id)
		if err == nil && a.who.Kind == sys.KindClient { // it sees what it may answer
			err = a.mayAnswer(ctx, id, security.Answer{})
		}
		if err != nil {
			return Approval{}, err
		}
		return ap, nil
	})
}

// Approve says yes to a request that waits. It must carry the hash of the
// request that the person saw.
func (a *SecurityAPI) Approve(ctx context.Context, id string, in ApproveInput) (Approval, error) {
	return a.decide(ctx, "security.approve", id, security.Answer{Approve: true, Scope: in.Scope, Comment: in.Comment, Hash: in.Hash})
}

// Deny says no to a request that waits. The agent reads the comment.
func (a *SecurityAPI) Deny(ctx context.Context, id, comment string) (Approval, error) {
	return a.decide(ctx, "security.deny", id, security.Answer{Comment: comment})
}

func (a *SecurityAPI) decide(ctx context.Context, call, id string, answer security.Answer) (Approval, error) {
	return guard(ctx, a.caller, action{call: call, resource: "approval:" + id}, func(ctx context.Context) (Approval, error) {
		if err := a.mayAnswer(ctx, id, answer); err != nil {
			return Approval{}, err
		}
		return a.k.approvals.Decide(ctx, a.who, id, answer, func(tx *store.Tx, ap Approval) error {
			return a.k.recordDecision(tx, a.who.Actor(), ap)
		})
	})
}

// Revoke takes back a yes that has not been used up.
func (a *SecurityAPI) Revoke(ctx context.Context, id string) error {
	_, err := guard(ctx, a.caller, action{call: "security.revoke", resource: "approval:" + id}, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, a.k.approvals.Revoke(ctx, a.who, id, func(tx *store.Tx, ap Approval) error {
			return a.k.recordDecision(tx, a.who.Actor(), ap)
		})
	})
	return err
}

// recordDecision puts a decision into the chain, in its own transaction.
func (k *Kernel) recordDecision(tx *store.Tx, actor string, ap Approval) error {
	_, err := k.audit.Append(tx, k.newEntry(actor, security.ActionOther, "approval:"+ap.ID, map[string]any{
		"state": ap.State, "scope": ap.Scope, "comment": ap.Comment, "hash": ap.Request.Hash, "syscall": ap.Request.Call,
		"answers": ap.Answers, "run_id": ap.Request.RunID, "step_id": ap.Request.StepID, "session_id": ap.Request.SessionID, "node": k.node, "title": ap.Request.Title,
	}))
	return err
}

// Policy returns what agents may do here: the isolation that was really found,
// and the table of modes that follows from it.
func (a *SecurityAPI) Policy(ctx context.Context) (Policy, error) {
	return guard(ctx, a.caller, action{call: "security.policy", resource: "policy"}, func(ctx context.Context) (Policy, error) {
		r := a.k.sandbox.Probe(ctx)
		return Policy{
			Isolation: r.Level, Canaries: r.Canaries, Problem: r.Problem, ProbedAt: r.At,
			Mode: a.k.config.get().Mode, Table: security.Table(r.Level), NeverTouched: security.NeverTouched(),
		}, nil
	})
}

// Tools lists the tools and whether the person has them on.
func (a *SecurityAPI) Tools(ctx context.Context) ([]ToolInfo, error) {
	return guard(ctx, a.caller, action{call: "security.tools", resource: "tools"}, func(ctx context.Context) ([]ToolInfo, error) {
		return a.k.tools(ctx)
	})
}

func (k *Kernel) tools(ctx context.Context) ([]ToolInfo, error) {
	off, err := k.toolsOff(ctx)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(k.opts.Catalogue)
	for i := range list {
		list[i].On = !slices.Contains(off, list[i].Name)
		list[i].DescriptionKO = sys.Korean(list[i].Description)
	}
	return list, nil
}

func (k *Kernel) toolsOff(ctx context.Context) ([]string, error) {
	raw, ok, err := k.store.Get(ctx, "tools_off")
	if err != nil || !ok {
		return nil, err
	}
	var off []string
	if err := json.Unmarshal([]byte(raw), &off); err != nil {
		return nil, fmt.Errorf("read which tools are off: %w", err)
	}
	return off, nil
}

// SetTool switches a tool on or off for all agents, from their next run on.
func (a *SecurityAPI) SetTool(ctx context.Context, name string, on bool) error {
	_, err := guard(ctx, a.caller, action{call: "security.setTool", resource: "tool:" + name, meta: map[string]any{"on": on}}, func(ctx context.Context) (struct{}, error) {
		if !slices.ContainsFunc(a.k.opts.Catalogue, func(t ToolInfo) bool { return t.Name == name }) {
			return struct{}{}, sys.Errorf(sys.CodeNotFound, "There is no tool %q. Nothing was changed.", name).WithHint("`oxios tools list` shows them.")
		}
		off, err := a.k.toolsOff(ctx)
		if err != nil {
			return struct{}{}, err
		}
		off = slices.DeleteFunc(off, func(n string) bool { return n == name })
		if !on {
			off = append(off, name)
		}
		raw, err := json.Marshal(off)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.Put(tx, "tools_off", string(raw)) })
	})
	return err
}

// Audit lists records of the chain.
func (a *SecurityAPI) Audit(ctx context.Context, q AuditQuery) ([]AuditEntry, error) {
	return guard(ctx, a.caller, action{call: "security.audit", resource: "audit"}, func(ctx context.Context) ([]AuditEntry, error) {
		return a.k.audit.List(ctx, q)
	})
}

// VerifyAudit signs what is not signed yet and checks the whole chain, what
// vouches for it, and the chains that came with backups.
func (a *SecurityAPI) VerifyAudit(ctx context.Context) (AuditReport, error) {
	return guard(ctx, a.caller, action{call: "security.verifyAudit", resource: "audit"}, func(ctx context.Context) (AuditReport, error) {
		a.k.checkpoint(ctx)
		r, err := a.k.audit.VerifyAll(ctx, a.k.opts.Home)
		if err == nil {
			a.k.noteChecked(r)
			a.k.publishStatus()
		}
		return r.Judged(), err
	})
}

func (k *Kernel) korean() bool {
	switch k.config.get().Language {
	case "ko":
		return true
	case "en":
		return false
	}
	for _, v := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if s := k.opts.Env(v); s != "" {
			return strings.HasPrefix(s, "ko")
		}
	}
	return false
}

// AuditProof is what an exported chain can be compared with.
type AuditProof = security.ExportProof

// VerifyAuditExport checks an exported chain, line by line, without a home or a
// kernel.
func VerifyAuditExport(r io.Reader, proof AuditProof) (AuditReport, error) {
	return security.VerifyExport(r, proof)
}

// ReadWitness reads a witness file, for [AuditProof].
func ReadWitness(r io.Reader) ([]security.Checkpoint, error) { return security.ReadWitness(r) }

// Redact masks what looks like a secret in s, for what leaves the house without
// a kernel at hand.
func Redact(s string) string {
	out, _ := security.Redact(s)
	return out
}
