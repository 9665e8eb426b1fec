package kernel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of grants live in security.
type (
	Grant       = security.Grant // a kind of step that the person allows beforehand
	GrantKind   = security.Kind
	GrantOption = security.Option
)

// GrantInput is a person's yes to a kind of step.
type GrantInput struct {
	Hash    string `json:"hash"`              // of the request that was shown
	Scope   string `json:"scope"`             // run, session: every run of the conversation, or folder: every run of the folder
	Minutes int    `json:"minutes,omitempty"` // how long a grant for the folder holds: 8 hours if 0, 30 days at most
	Comment string `json:"comment,omitempty"` // for the agent
}

// Granted is a grant with the request that it was made from, which is approved
// with it.
type Granted struct {
	Grant    Grant    `json:"grant"`
	Approval Approval `json:"approval"`
}

// GrantProposal says how a request could be allowed as a kind of step, and
// what that would have meant so far.
type GrantProposal struct {
	ApprovalID string    `json:"approval_id"`
	Hash       string    `json:"hash"`
	Can        bool      `json:"can"`
	Why        sys.Words `json:"why"`    // why it cannot, if so
	Allows     sys.Words `json:"allows"` // what it allows, without its end
	Pattern    string    `json:"pattern"`
	Executable string    `json:"executable"`
	Dir        string    `json:"dir"` // with ~ for the home
	Network    bool      `json:"network"`
	Looked     int       `json:"looked"`  // at how many of the last requests of the folder
	Covered    []Covered `json:"covered"` // those of them that the grant would have answered, the newest first
}

// Covered is a past request that a grant would have answered.
type Covered struct {
	ID      string    `json:"id"`
	Command string    `json:"command"`
	State   string    `json:"state"`
	At      time.Time `json:"at"`
}

// lookedAt is how many of the last requests a proposal looks at.
const lookedAt = 200

// Grants lists the kinds of steps that the person allows, the newest first;
// with all also those that have ended.
func (a *SecurityAPI) Grants(ctx context.Context, all bool) ([]Grant, error) {
	return guard(ctx, a.caller, action{call: "security.grants", resource: "grants"}, func(ctx context.Context) ([]Grant, error) {
		return a.k.grants.List(ctx, all)
	})
}

// ProposeGrant says how a request could be allowed as a kind of step. It
// changes nothing.
func (a *SecurityAPI) ProposeGrant(ctx context.Context, approvalID string) (GrantProposal, error) {
	return guard(ctx, a.caller, action{call: "security.proposeGrant", resource: "approval:" + approvalID}, func(ctx context.Context) (GrantProposal, error) {
		ap, err := a.k.approvals.Get(ctx, approvalID)
		if err != nil {
			return GrantProposal{}, err
		}
		p := GrantProposal{ApprovalID: ap.ID, Hash: ap.Request.Hash, Covered: []Covered{}}
		kind := ap.Request.Kind
		if kind == nil {
			p.Why = sys.Words{EN: ap.Request.NoKind, KO: ap.Request.NoKindKO}
			if p.Why.EN == "" {
				p.Why = sys.Say("Only commands can be allowed as a kind of step.")
			}
			return p, nil
		}
		p.Can, p.Allows, p.Pattern, p.Executable, p.Dir, p.Network = true, allows(*kind), kind.Pattern, kind.Executable, shortenHome(kind.Dir), kind.Network
		past, err := a.k.approvals.List(ctx, ApprovalQuery{Limit: lookedAt})
		if err != nil {
			return GrantProposal{}, err
		}
		for _, old := range past {
			if old.ID == ap.ID || old.Request.Command == "" || old.Request.Dir != ap.Request.Dir && old.Request.SessionID != ap.Request.SessionID {
				continue
			}
			p.Looked++
			if old.Request.Kind != nil && kind.Covers(*old.Request.Kind) {
				p.Covered = append(p.Covered, Covered{ID: old.ID, Command: sys.Shorten(old.Request.Command, 200), State: old.State, At: old.CreatedAt})
			}
		}
		return p, nil
	})
}

// allows says in words what a grant of kind k allows.
func allows(k security.Kind) sys.Words {
	where := shortenHome(k.Dir)
	en, ko := fmt.Sprintf("`%s` in %s", k.Pattern, where), fmt.Sprintf("%s에서 `%s`", where, k.Pattern)
	if k.Network {
		en, ko = en+" with the network", ko+" (네트워크 사용)"
	}
	switch {
	case !k.Exact && len(k.Operands) > 0:
		en, ko = en+". The last * stands for any files of the folder", ko+". 마지막 *는 폴더 안의 모든 파일입니다"
	case strings.Contains(k.Pattern, "*"):
		en, ko = en+". * stands for any words", ko+". *는 아무 말이나 됩니다"
	}
	en, ko = en+". Other options still ask", ko+". 다른 옵션은 계속 묻습니다"
	if k.Settings != "" {
		en, ko = en+", and so does a change of the files that say what it runs", ko+". 무엇을 실행할지 정한 파일이 바뀌어도 묻습니다"
	}
	return sys.Words{EN: en + ".", KO: ko + "."}
}

// Grant says yes to a request that waits, and to the kind of step that it is.
// It must carry the hash of the request that the person saw.
func (a *SecurityAPI) Grant(ctx context.Context, approvalID string, in GrantInput) (Granted, error) {
	return guard(ctx, a.caller, action{call: "security.grant", resource: "approval:" + approvalID}, func(ctx context.Context) (Granted, error) {
		var out Granted
		answer := security.Answer{Approve: true, Scope: security.ScopeOnce, Comment: in.Comment, Hash: in.Hash}
		ap, err := a.k.approvals.Decide(ctx, a.who, approvalID, answer, func(tx *store.Tx, ap Approval) (err error) {
			if out.Grant, err = a.k.grants.Create(tx, a.who, ap, in.Scope, time.Duration(in.Minutes)*time.Minute); err != nil {
				return err
			}
			if err := a.k.recordDecision(tx, a.who.Actor(), ap); err != nil {
				return err
			}
			return a.k.recordGrant(tx, a.who.Actor(), "given", out.Grant)
		})
		out.Approval = ap
		return out, err
	})
}

// RevokeGrant takes a kind of step back: its next call asks.
func (a *SecurityAPI) RevokeGrant(ctx context.Context, id string) (Grant, error) {
	return guard(ctx, a.caller, action{call: "security.revokeGrant", resource: "grant:" + id}, func(ctx context.Context) (out Grant, err error) {
		err = a.k.store.Write(ctx, func(tx *store.Tx) (err error) {
			if out, err = a.k.grants.Revoke(tx, a.who, id); err != nil {
				return err
			}
			return a.k.recordGrant(tx, a.who.Actor(), "revoked", out)
		})
		return out, err
	})
}

// recordGrant puts what became of a grant into the chain.
func (k *Kernel) recordGrant(tx *store.Tx, actor, what string, g Grant) error {
	_, err := k.audit.Append(tx, k.newEntry(actor, security.ActionOther, "grant:"+g.ID, map[string]any{
		"what": what, "scope": g.Scope, "pattern": g.Kind.Pattern, "executable": g.Kind.Executable, "dir": g.Kind.Dir, "folder": g.Kind.Folder,
		"network": g.Kind.Network, "until": g.ExpiresAt.Format(time.RFC3339), "approval": g.ApprovalID, "run_id": g.RunID, "uses": g.Uses, "node": k.node,
	}))
	return err
}

// grantFor returns the id of the grant under which a call need not ask, or "".
// A step that waits for its own answer already goes on waiting for it.
func (c *caller) grantFor(ctx context.Context, a action) (string, error) {
	step := store.StepFrom(ctx)
	if a.kind == nil || a.asks || step != nil && step.Step().State == store.StepWaiting {
		return "", nil
	}
	near, err := c.k.grants.Near(ctx, c.scope.folder, c.scope.runID, c.scope.sessionID)
	if err != nil || len(near) == 0 {
		return "", err
	}
	kind, _ := a.kind()
	if kind == nil {
		return "", nil
	}
	for _, g := range near {
		if g.Kind.Covers(*kind) {
			return g.ID, nil
		}
	}
	return "", nil
}

// kind is the kind of step that a command is. The files that say what it runs
// are looked at anew each time.
func (c *command) kind() (*security.Kind, sys.Words) {
	if c.script != nil {
		return nil, sys.Say("Scripts of skills are approved one by one.")
	}
	s := security.GrantStep{
		Call: c.call, Line: c.line, Windows: c.argv[0] == "powershell", Dir: c.dir, Folder: c.caller.scope.folder, OxiosHome: c.caller.k.opts.Home,
		Background: c.background, Verdict: c.verdict, Isolation: c.caller.k.isolation(),
		Find: func(program string) string { return findProgram(program, nil, c.dir, c.env) },
	}
	if c.call == "exec.structured" {
		s.Argv = c.argv
	}
	return security.KindOf(s)
}
