package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type auditArgs struct {
	Action   string `json:"action" jsonschema:"query lists records, the newest first; verify checks the whole record."`
	Actor    string `json:"actor,omitempty" jsonschema:"Only of whom has this text in the name, as person: or agent:."`
	Resource string `json:"resource,omitempty" jsonschema:"Only what was done to something with this text in its name."`
	Text     string `json:"text,omitempty" jsonschema:"Only with this text in any field."`
	Run      string `json:"run,omitempty" jsonschema:"Only of the run with this id."`
	Denied   bool   `json:"denied,omitempty" jsonschema:"Only what was refused."`
	Limit    int    `json:"limit,omitempty" jsonschema:"At most so many records; 50 if not given, 200 at most."`
}

var auditMaker = maker{
	name: "audit", domain: "security", calls: []string{"security.audit", "security.verifyAudit"},
	about: "Looks at the record of what agents did, and checks it.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("audit", "Lists the record of what agents, the person and Oxios did, or checks that nobody altered it. It changes nothing.", map[string][]string{"action": {"query", "verify"}},
			func(a auditArgs) sys.Words {
				if a.Action == "verify" {
					return sys.Say("Verify the audit record")
				}
				return sys.Say("Look at the audit record")
			},
			func(ctx context.Context, a auditArgs) (agent.Result, error) {
				switch a.Action {
				case "query":
					return queryAudit(ctx, h, a)
				case "verify":
					return verifyAudit(ctx, h)
				}
				return agent.Result{}, sys.Errorf(sys.CodeInvalid, "%q is no action of audit.", a.Action).WithHint("Use query or verify.")
			})
	},
}

func queryAudit(ctx context.Context, h *kernel.Handle, a auditArgs) (agent.Result, error) {
	const usual, most = 50, 200
	if a.Limit <= 0 {
		a.Limit = usual
	}
	list, err := h.Security.Audit(ctx, kernel.AuditQuery{
		Newest: true, Limit: min(a.Limit, most), Actor: a.Actor, Resource: a.Resource, Text: a.Text, RunID: a.Run, Denied: a.Denied,
	})
	if err != nil {
		return agent.Result{}, err
	}
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%d %s %s %s %s %s\n", e.Seq, e.Timestamp.UTC().Format(time.RFC3339), e.Actor, e.Action, sys.Shorten(e.Resource, 200), sys.Shorten(string(e.Metadata), 300))
	}
	if len(list) == 0 {
		b.WriteString("No record fits.")
	}
	return agent.Result{Text: b.String(), Title: sys.Say("Looked at the audit record")}, nil
}

func verifyAudit(ctx context.Context, h *kernel.Handle) (agent.Result, error) {
	r, err := h.Security.VerifyAudit(ctx)
	if err != nil {
		return agent.Result{}, err
	}
	state := "intact"
	if len(r.Found) > 0 {
		state = "in order"
	}
	text := fmt.Sprintf("%d records are %s, to record %d. Signed to record %d, witnessed to record %d.", r.Entries, state, r.Last, r.Signed, r.Witnessed)
	if r.Pruned > 0 {
		text += fmt.Sprintf(" A signed root stands for the records up to %d.", r.Pruned)
	}
	for _, s := range r.Found {
		text += fmt.Sprintf(" Records %d to %d were not signed by who wrote them: a later start found them.", s.From, s.To)
	}
	if !r.OK {
		text = "The record is not as it was written: " + r.Problem
	}
	return agent.Result{Text: text, Title: sys.Say("Verified the audit record")}, nil
}
