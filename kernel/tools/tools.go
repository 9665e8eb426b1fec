// Package tools is what agents act with: one file a tool, each of them bound to
// the Handle of one run.
//
// It promises that a tool does nothing but make calls of its Handle, so that
// nothing reaches the machine around the guard; that arguments which do not fit
// a tool's schema do nothing and are answered with what is wrong and what fits;
// and that what the person switched off, or the agent has no right to, is not
// offered.
package tools

import (
	"context"
	"slices"

	"oxios/kernel"
	"oxios/kernel/agent"
)

// maker describes a tool and makes it for a run.
type maker struct {
	name, domain string
	calls        []string                    // the system calls that it makes; the agent needs the right to one of them
	about        string                      // in one sentence, for a person and for the index
	terms        string                      // further words that it is found by, which no model reads: Korean ones stand here
	when         func(kernel.Workplace) bool // whether it is offered; nil is always
	make         func(*kernel.Handle, kernel.Workplace) agent.Tool
}

// makers are all tools, in the order in which they are offered.
var makers = []maker{readMaker, writeMaker, editMaker, grepMaker, findMaker, lsMaker, execMaker, webSearchMaker, webFetchMaker, beginTaskMaker, knowledgeMaker, memoryReadMaker, memorySearchMaker, memoryWriteMaker, spaceMaker, agentMaker, a2aMaker, budgetMaker, resourceMaker, securityMaker, auditMaker, eventsMaker, skillMaker, findToolsMaker}

// New returns what a run may use, made from the run's own Handle. All tools of
// Oxios are offered, and of those of servers the ones that fit the goal.
func New(ctx context.Context, h *kernel.Handle, goal string) (agent.Toolset, error) {
	at, err := h.Workplace(ctx)
	if err != nil {
		return agent.Toolset{}, err
	}
	var offered []maker
	var set agent.Toolset
	for _, m := range makers {
		if slices.Contains(at.ToolsOff, m.name) || !slices.ContainsFunc(m.calls, h.May) || (m.when != nil && !m.when(at)) {
			continue
		}
		offered = append(offered, m)
		set.Tools = append(set.Tools, m.make(h, at))
	}
	if slices.ContainsFunc(offered, func(m maker) bool { return m.name == findToolsMaker.name }) {
		for _, t := range offeredTools(at, findable(h, at, at.ServerTools), goal) {
			set.Tools = append(set.Tools, found(h, t))
		}
	}
	var skills string
	if slices.ContainsFunc(offered, func(m maker) bool { return m.name == skillMaker.name }) {
		skills = skillsSection(fittingSkills(at.Skills, goal))
	}
	set.Index, set.Manifest = index(offered, skills), manifest(offered, at)
	return set, nil
}

// Catalogue lists all tools, for the settings.
func Catalogue() []kernel.ToolInfo {
	out := make([]kernel.ToolInfo, len(makers))
	for i, m := range makers {
		out[i] = kernel.ToolInfo{Name: m.name, Description: m.about, Domain: m.domain, On: true, Calls: m.calls, Terms: m.terms}
	}
	return out
}
