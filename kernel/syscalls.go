package kernel

import "oxios/kernel/security"

// Syscall is one row of the table of system calls: what a call needs and how it
// is recorded. Nothing reaches a subsystem but through a row.
type Syscall struct {
	Name   string          // "exec.shell": the API and the method, as on the wire
	Domain security.Domain // which part of the caller's capability space is asked
	Rights security.Rights // what it must hold there
	Person bool            // only the person: closed to every agent, whatever its rights
	Audit  security.Action // how the chain names it; "": the person's calls are not recorded, or record themselves
	Undo   bool            // the effect can be undone
	Sink   security.Sink   // what it could do with words that somebody else put into a run: see [security.DecideTaint]
	Again  bool            // to do it twice is to do it once: a step that a crash cut off is simply done again
}

// The table. Its order is that of the APIs.
var syscalls = table(
	Syscall{Name: "state.sessions", Domain: security.DomainState, Rights: security.R},
	Syscall{Name: "state.session", Domain: security.DomainState, Rights: security.R},
	Syscall{Name: "state.updateSession", Domain: security.DomainState, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "state.deleteSession", Domain: security.DomainState, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "state.deletion", Domain: security.DomainState, Rights: security.R, Person: true},
	Syscall{Name: "state.discardSession", Domain: security.DomainState, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Undo: true},
	Syscall{Name: "state.recoverSession", Domain: security.DomainState, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "state.chooseBranch", Domain: security.DomainState, Rights: security.W, Person: true},
	Syscall{Name: "state.branchSession", Domain: security.DomainState, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "state.exportSession", Domain: security.DomainState, Rights: security.R, Person: true},
	Syscall{Name: "state.saveSession", Domain: security.DomainState, Rights: security.R, Person: true, Audit: security.ActionOther},

	Syscall{Name: "state.attach", Domain: security.DomainState, Rights: security.W, Person: true, Audit: security.ActionOther},
	Syscall{Name: "state.attachPart", Domain: security.DomainState, Rights: security.W, Person: true},
	Syscall{Name: "state.detach", Domain: security.DomainState, Rights: security.W, Person: true},
	Syscall{Name: "state.attachments", Domain: security.DomainState, Rights: security.R, Person: true},
	Syscall{Name: "state.attachmentContent", Domain: security.DomainState, Rights: security.R, Person: true},

	Syscall{Name: "agents.submit", Domain: security.DomainAgents, Rights: security.X, Person: true, Audit: security.ActionAgentSpawn},
	Syscall{Name: "agents.continue", Domain: security.DomainAgents, Rights: security.X, Person: true, Audit: security.ActionAgentSpawn},
	Syscall{Name: "agents.list", Domain: security.DomainAgents, Rights: security.R},
	Syscall{Name: "agents.run", Domain: security.DomainAgents, Rights: security.R},
	Syscall{Name: "agents.replay", Domain: security.DomainAgents, Rights: security.R, Person: true},
	Syscall{Name: "agents.wait", Domain: security.DomainAgents, Rights: security.R},
	Syscall{Name: "agents.fork", Domain: security.DomainAgents, Rights: security.X, Audit: security.ActionAgentSpawn, Again: true, Sink: security.SinkTask},
	Syscall{Name: "agents.kill", Domain: security.DomainAgents, Rights: security.X, Audit: security.ActionAgentExit, Again: true},
	Syscall{Name: "agents.message", Domain: security.DomainAgents, Rights: security.W, Audit: security.ActionOther, Again: true},
	Syscall{Name: "agents.pauseRun", Domain: security.DomainAgents, Rights: security.X, Audit: security.ActionConfigChange, Again: true},
	Syscall{Name: "agents.pause", Domain: security.DomainAgents, Rights: security.X, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "agents.prompt", Domain: security.DomainAgents, Rights: security.R, Person: true},
	Syscall{Name: "agents.queued", Domain: security.DomainAgents, Rights: security.R},
	Syscall{Name: "agents.unqueue", Domain: security.DomainAgents, Rights: security.W, Person: true},
	Syscall{Name: "agents.inbox", Domain: security.DomainAgents, Rights: security.R, Person: true},
	Syscall{Name: "agents.markSeen", Domain: security.DomainAgents, Rights: security.W, Person: true},
	Syscall{Name: "agents.clearInbox", Domain: security.DomainAgents, Rights: security.W, Person: true},
	Syscall{Name: "agents.beginTask", Domain: security.DomainAgents, Rights: security.W, Audit: security.ActionToolCall, Again: true, Sink: security.SinkTask},
	Syscall{Name: "agents.answer", Domain: security.DomainAgents, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "agents.seeds", Domain: security.DomainAgents, Rights: security.R},
	Syscall{Name: "agents.seed", Domain: security.DomainAgents, Rights: security.R},
	Syscall{Name: "agents.changes", Domain: security.DomainAgents, Rights: security.R},
	Syscall{Name: "agents.undoPreview", Domain: security.DomainAgents, Rights: security.R, Person: true},
	Syscall{Name: "agents.undo", Domain: security.DomainAgents, Rights: security.W, Person: true, Audit: security.ActionToolCall, Undo: true},
	Syscall{Name: "agents.redo", Domain: security.DomainAgents, Rights: security.W, Person: true, Audit: security.ActionToolCall, Undo: true},

	Syscall{Name: "security.approvals", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.approval", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.approve", Domain: security.DomainSecurity, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "security.deny", Domain: security.DomainSecurity, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "security.try", Domain: security.DomainSecurity, Rights: security.X, Person: true, Audit: security.ActionToolCall},
	Syscall{Name: "security.tried", Domain: security.DomainSecurity, Rights: security.R, Person: true},
	Syscall{Name: "security.applyTry", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkControl},
	Syscall{Name: "security.dropTry", Domain: security.DomainSecurity, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "security.revoke", Domain: security.DomainSecurity, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "security.grants", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.proposeGrant", Domain: security.DomainSecurity, Rights: security.R, Person: true},
	Syscall{Name: "security.grant", Domain: security.DomainSecurity, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "security.revokeGrant", Domain: security.DomainSecurity, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "security.permissions", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.subject", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.check", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.setRole", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "security.deleteRole", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "security.denyPath", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "security.allowPath", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "security.policy", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.tools", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.setTool", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "security.folders", Domain: security.DomainSecurity, Rights: security.R, Person: true},
	Syscall{Name: "security.trustFolder", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "security.labels", Domain: security.DomainSecurity, Rights: security.R, Person: true},
	Syscall{Name: "security.trustLabel", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "security.audit", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.auditState", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.verifyAudit", Domain: security.DomainSecurity, Rights: security.R},
	Syscall{Name: "security.auditCut", Domain: security.DomainSecurity, Rights: security.R, Person: true},
	Syscall{Name: "security.pruneAudit", Domain: security.DomainSecurity, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "security.exportAudit", Domain: security.DomainSecurity, Rights: security.R, Person: true},
	Syscall{Name: "security.saveAudit", Domain: security.DomainSecurity, Rights: security.R, Person: true, Audit: security.ActionOther},

	Syscall{Name: "exec.read", Domain: security.DomainExec, Rights: security.R},
	Syscall{Name: "exec.write", Domain: security.DomainExec, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "exec.edit", Domain: security.DomainExec, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "exec.grep", Domain: security.DomainExec, Rights: security.R},
	Syscall{Name: "exec.find", Domain: security.DomainExec, Rights: security.R},
	Syscall{Name: "exec.ls", Domain: security.DomainExec, Rights: security.R},
	Syscall{Name: "exec.shell", Domain: security.DomainExec, Rights: security.X, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkCommand},
	Syscall{Name: "exec.structured", Domain: security.DomainExec, Rights: security.X, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkCommand},
	Syscall{Name: "exec.jobs", Domain: security.DomainExec, Rights: security.R},
	Syscall{Name: "exec.jobLog", Domain: security.DomainExec, Rights: security.R},
	Syscall{Name: "exec.killJob", Domain: security.DomainExec, Rights: security.X, Audit: security.ActionToolCall},
	Syscall{Name: "exec.folder", Domain: security.DomainExec, Rights: security.R, Person: true},
	Syscall{Name: "exec.instructions", Domain: security.DomainExec, Rights: security.R, Person: true},
	Syscall{Name: "exec.mentions", Domain: security.DomainExec, Rights: security.R, Person: true},

	Syscall{Name: "memory.list", Domain: security.DomainMemory, Rights: security.R},
	Syscall{Name: "memory.get", Domain: security.DomainMemory, Rights: security.R},
	Syscall{Name: "memory.search", Domain: security.DomainMemory, Rights: security.R},
	Syscall{Name: "memory.elsewhere", Domain: security.DomainMemory, Rights: security.R},
	Syscall{Name: "memory.searchMany", Domain: security.DomainMemory, Rights: security.R, Person: true},
	Syscall{Name: "memory.remember", Domain: security.DomainMemory, Rights: security.W, Audit: security.ActionToolCall, Again: true, Sink: security.SinkTask},
	Syscall{Name: "memory.update", Domain: security.DomainMemory, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "memory.forget", Domain: security.DomainMemory, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "memory.stats", Domain: security.DomainMemory, Rights: security.R},
	Syscall{Name: "memory.rebuild", Domain: security.DomainMemory, Rights: security.R, Person: true},
	Syscall{Name: "memory.embedding", Domain: security.DomainMemory, Rights: security.R},
	Syscall{Name: "memory.reembed", Domain: security.DomainMemory, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "memory.tryEmbedder", Domain: security.DomainMemory, Rights: security.X, Person: true, Audit: security.ActionOther},
	Syscall{Name: "memory.extract", Domain: security.DomainMemory, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "memory.curate", Domain: security.DomainMemory, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "memory.curations", Domain: security.DomainMemory, Rights: security.R, Person: true},
	Syscall{Name: "memory.uncurate", Domain: security.DomainMemory, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Undo: true},
	Syscall{Name: "memory.import", Domain: security.DomainMemory, Rights: security.W, Person: true, Audit: security.ActionConfigChange},

	Syscall{Name: "space.list", Domain: security.DomainSpace, Rights: security.R},
	Syscall{Name: "space.get", Domain: security.DomainSpace, Rights: security.R},
	Syscall{Name: "space.detect", Domain: security.DomainSpace, Rights: security.R},
	Syscall{Name: "space.create", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "space.update", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "space.archive", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "space.archiveStale", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "space.restore", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "space.remove", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "space.move", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "space.proposals", Domain: security.DomainSpace, Rights: security.R, Person: true},
	Syscall{Name: "space.answerProposal", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "space.mergePreview", Domain: security.DomainSpace, Rights: security.R, Person: true},
	Syscall{Name: "space.merge", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Undo: true},
	Syscall{Name: "space.unmerge", Domain: security.DomainSpace, Rights: security.W, Person: true, Audit: security.ActionConfigChange},

	Syscall{Name: "browser.fetch", Domain: security.DomainBrowser, Rights: security.X, Audit: security.ActionToolCall, Again: true},
	Syscall{Name: "browser.search", Domain: security.DomainBrowser, Rights: security.X, Audit: security.ActionToolCall, Again: true},
	Syscall{Name: "browser.service", Domain: security.DomainBrowser, Rights: security.R, Person: true},
	Syscall{Name: "browser.setKey", Domain: security.DomainBrowser, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},

	Syscall{Name: "knowledge.state", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.tree", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.read", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.search", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.find", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.backlinks", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.unlinked", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.graph", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.movePreview", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.tags", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.tasks", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.check", Domain: security.DomainKnowledge, Rights: security.R},
	Syscall{Name: "knowledge.importPreview", Domain: security.DomainKnowledge, Rights: security.R, Person: true},
	Syscall{Name: "knowledge.import", Domain: security.DomainKnowledge, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "knowledge.write", Domain: security.DomainKnowledge, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "knowledge.savePage", Domain: security.DomainKnowledge, Rights: security.W, Person: true, Audit: security.ActionToolCall, Undo: true},
	Syscall{Name: "knowledge.append", Domain: security.DomainKnowledge, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "knowledge.delete", Domain: security.DomainKnowledge, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "knowledge.move", Domain: security.DomainKnowledge, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "knowledge.link", Domain: security.DomainKnowledge, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "knowledge.toggle", Domain: security.DomainKnowledge, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "knowledge.addTask", Domain: security.DomainKnowledge, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "knowledge.journal", Domain: security.DomainKnowledge, Rights: security.W, Audit: security.ActionToolCall, Undo: true, Sink: security.SinkFile},
	Syscall{Name: "knowledge.journalPreview", Domain: security.DomainKnowledge, Rights: security.R, Person: true},
	Syscall{Name: "knowledge.history", Domain: security.DomainKnowledge, Rights: security.R, Person: true},
	Syscall{Name: "knowledge.version", Domain: security.DomainKnowledge, Rights: security.R, Person: true},
	Syscall{Name: "knowledge.trash", Domain: security.DomainKnowledge, Rights: security.R, Person: true},
	Syscall{Name: "knowledge.restore", Domain: security.DomainKnowledge, Rights: security.W, Person: true, Audit: security.ActionConfigChange},
	Syscall{Name: "knowledge.forget", Domain: security.DomainKnowledge, Rights: security.W, Person: true, Audit: security.ActionConfigChange},

	Syscall{Name: "a2a.cards", Domain: security.DomainA2A, Rights: security.R},
	Syscall{Name: "a2a.query", Domain: security.DomainA2A, Rights: security.R},
	Syscall{Name: "a2a.messages", Domain: security.DomainA2A, Rights: security.R},
	Syscall{Name: "a2a.send", Domain: security.DomainA2A, Rights: security.W, Audit: security.ActionOther, Again: true},
	Syscall{Name: "a2a.ask", Domain: security.DomainA2A, Rights: security.W, Audit: security.ActionOther, Again: true},
	Syscall{Name: "a2a.reply", Domain: security.DomainA2A, Rights: security.W, Audit: security.ActionOther, Again: true},
	Syscall{Name: "a2a.delegate", Domain: security.DomainA2A, Rights: security.X, Audit: security.ActionAgentSpawn, Again: true, Sink: security.SinkTask},

	Syscall{Name: "infra.events", Domain: security.DomainInfra, Rights: security.R},
	Syscall{Name: "infra.status", Domain: security.DomainInfra, Rights: security.R},
	Syscall{Name: "infra.config", Domain: security.DomainInfra, Rights: security.R},
	Syscall{Name: "infra.setConfig", Domain: security.DomainInfra, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.autostart", Domain: security.DomainInfra, Rights: security.R, Person: true},
	Syscall{Name: "infra.setAutostart", Domain: security.DomainInfra, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.pageAddress", Domain: security.DomainInfra, Rights: security.X, Person: true, Audit: security.ActionOther, Sink: security.SinkControl},
	Syscall{Name: "infra.providers", Domain: security.DomainLLM, Rights: security.R},
	Syscall{Name: "infra.saveProvider", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.removeProvider", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.models", Domain: security.DomainLLM, Rights: security.R},
	Syscall{Name: "infra.setFavourite", Domain: security.DomainLLM, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "infra.useModel", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.fallbacks", Domain: security.DomainLLM, Rights: security.R},
	Syscall{Name: "infra.setFallbacks", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.testProvider", Domain: security.DomainLLM, Rights: security.X, Person: true, Audit: security.ActionOther},
	Syscall{Name: "infra.keys", Domain: security.DomainLLM, Rights: security.R, Person: true},
	Syscall{Name: "infra.importKeys", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.leaveKeys", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.unlockKeys", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.setKeyPassphrase", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.discover", Domain: security.DomainLLM, Rights: security.R, Person: true},
	Syscall{Name: "infra.startDemo", Domain: security.DomainLLM, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.finishOnboarding", Domain: security.DomainInfra, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "infra.reconnect", Domain: security.DomainLLM, Rights: security.X, Person: true},
	Syscall{Name: "infra.kept", Domain: security.DomainInfra, Rights: security.R, Person: true},
	Syscall{Name: "infra.keep", Domain: security.DomainInfra, Rights: security.W, Person: true, Sink: security.SinkControl},
	Syscall{Name: "infra.doctor", Domain: security.DomainInfra, Rights: security.R},
	Syscall{Name: "infra.backup", Domain: security.DomainInfra, Rights: security.R, Person: true, Audit: security.ActionOther},
	Syscall{Name: "infra.restore", Domain: security.DomainInfra, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.storage", Domain: security.DomainInfra, Rights: security.R, Person: true},
	Syscall{Name: "infra.clean", Domain: security.DomainInfra, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.freeCut", Domain: security.DomainInfra, Rights: security.R, Person: true},
	Syscall{Name: "infra.free", Domain: security.DomainInfra, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.reportFocus", Domain: security.DomainInfra, Rights: security.W, Person: true},

	Syscall{Name: "infra.budget", Domain: security.DomainInfra, Rights: security.R},
	Syscall{Name: "infra.setBudget", Domain: security.DomainBudget, Rights: security.W, Person: true, Audit: security.ActionConfigChange, Sink: security.SinkControl},
	Syscall{Name: "infra.costs", Domain: security.DomainBudget, Rights: security.R},
	Syscall{Name: "infra.resources", Domain: security.DomainResource, Rights: security.R},

	// No method of the Handle: the loop's own call, made for the agent.
	Syscall{Name: "llm.complete", Domain: security.DomainLLM, Rights: security.X, Audit: security.ActionToolCall},
)

func table(rows ...Syscall) map[string]Syscall {
	t := make(map[string]Syscall, len(rows))
	for _, r := range rows {
		t[r.Name] = r
	}
	return t
}

// Syscalls returns the table of system calls by name. It is a copy.
func Syscalls() map[string]Syscall {
	t := make(map[string]Syscall, len(syscalls))
	for n, r := range syscalls {
		t[n] = r
	}
	return t
}
