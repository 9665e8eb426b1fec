package kernel

import (
	"context"
	"net/netip"
	"slices"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// opening makes of reading a page a call that a person is asked about in every mode,
// because the page lies in their own machine or network: at opens, which they have
// not opened to agents. A yes opens these for the page, or for all pages of the
// machine as long as the run lasts.
func (c *caller) opening(ctx context.Context, act action, address string, opens []netip.Prefix) (action, error) {
	var at []string
	here := true
	for _, p := range opens {
		at = append(at, security.GrantText(p))
		here = here && (p.Addr().IsLoopback() || p.Addr().IsUnspecified())
	}
	if yes, err := c.opened(ctx, at); yes || err != nil {
		return act, err
	}
	act.asks = true
	act.subject = struct {
		URL  string
		Open []string
	}{address, at}
	title := sys.Say("Reads a page of your own network: %s", sys.Shorten(address, 300))
	if here {
		title = sys.Say("Reads a page of this computer: %s", sys.Shorten(address, 300))
	}
	why := sys.Say("Agents reach %s only if you open it: once, for this run, or for good.", listed(at))
	act.card = func(r *security.Request) {
		r.Title, r.TitleKO = title.EN, title.In(true)
		r.Why, r.WhyKO = why.EN, why.In(true)
		r.Own, r.Host = at, security.HostOf(address)
	}
	return act, nil
}

// opened reports whether the person opened these addresses for the caller's run.
func (c *caller) opened(ctx context.Context, at []string) (bool, error) {
	if c.scope.runID == "" {
		return false, nil
	}
	list, err := c.k.approvals.List(ctx, security.ApprovalQuery{RunID: c.scope.runID})
	return slices.ContainsFunc(list, func(ap security.Approval) bool {
		r := ap.Request
		return r.Call == "browser.fetch" && ap.Scope == security.ScopeRun && ap.State == security.ApprovalApproved &&
			!slices.ContainsFunc(at, func(a string) bool { return !slices.Contains(r.Own, a) })
	}), err
}

// insideLabel is of what a page of the person's own machine or network said. It is a
// stranger's as that of every page, and theirs as what lies outside the folder.
func insideLabel(host, source string) Label {
	l := webLabel(host, source)
	l.Sensitive = true
	return store.NewLabel(l, "inside", sys.Say("what %s of your own network sent", host))
}

// ownAddresses are the addresses of the person's own network that a command names by
// number and that are not open: its network does not reach them, whatever they say to
// the command.
func (c *command) ownAddresses() (out []string) {
	for _, n := range numberedAddress().FindAllString(c.line, 20) {
		for _, p := range c.caller.k.opts.Net.Closed(c.caller.k.background, "http://"+n+"/", false) {
			if p.Addr().IsLoopback() && len(c.ports()) > 0 {
				continue // they open what is meant
			}
			if at := security.GrantText(p); !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

var numberedAddress = sys.Pattern(`\b\d{1,3}(?:\.\d{1,3}){3}\b`)
