package kernel

import (
	"context"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// netProxy makes a command's way to the network. One that is not open refuses
// every machine, and so finds out which were asked for.
func (k *Kernel) netProxy(open bool) *security.NetProxy {
	p := &security.NetProxy{Guard: k.opts.Net}
	if !open {
		p.Closed = sys.Say("This command has no network, because nobody approved it for this command.")
	}
	return p
}

// asked are the machines that a command asked for so far.
func (c *command) asked() []security.NetTry {
	if c == nil || c.proxy == nil {
		return nil
	}
	return c.proxy.Tries()
}

// askedText tells a model which machines a command asked for.
func askedText(tries []security.NetTry) string {
	if len(tries) == 0 {
		return ""
	}
	var parts, own []string
	for _, t := range tries {
		switch {
		case !t.Allowed:
			parts = append(parts, "refused "+t.Host+" ("+strings.TrimSuffix(t.Reason, ".")+")")
			if t.Own != "" && !slices.Contains(own, t.Own) {
				own = append(own, t.Own)
			}
		case t.Reason != "":
			parts = append(parts, t.Host+" did not answer")
		default:
			parts = append(parts, "reached "+t.Host)
		}
	}
	text := "Network: " + strings.Join(parts, "; ") + "."
	if len(own) > 0 {
		text += " The person can open what is in their own network: `oxios permissions grant-address " + own[0] + "`."
	}
	return text
}

// recordAsked puts into the audit chain what a command in the background asked
// for. That of others stands in the record of their outcome.
func (c *command) recordAsked(ctx context.Context) {
	asked := c.asked()
	if len(asked) == 0 {
		return
	}
	a := c.action()
	entry := c.caller.entry(security.ActionToolResult, a, map[string]any{"phase": "end", "asked": asked})
	err := c.caller.k.store.Write(ctx, func(tx *store.Tx) error {
		_, err := c.caller.k.audit.Append(tx, entry)
		return err
	})
	if err != nil {
		c.caller.k.log.ErrorContext(ctx, "Could not record what a command asked the network for", "error", err)
	}
}
