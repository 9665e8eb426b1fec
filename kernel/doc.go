// Package kernel is Oxios without a face: it runs agents, and lets them and the
// person act on the machine through one table of system calls.
//
// It promises that every call of a [Handle] passes the guard (guard.go): the
// right is checked, policy and mode decide, a person is asked where they want
// to be, and the audit chain holds the intent before the effect and the outcome
// after it. It promises that what it acknowledged survives a crash.
//
// The map, in reading order:
//
//	kernel.go     Kernel: Open, Run, Close, As
//	open.go       the one order in which it is built
//	handle.go     Handle: the APIs as one principal sees them
//	syscalls.go   the table of calls, as data
//	guard.go      the gate around every call; approve.go: asking a person
//	config.go     config.toml; config_watch.go: its changes on disk
//	state.go      sessions and messages; branch.go: their branches
//	attach.go     what a person attaches; attach_file.go: how it is read and kept; attach_say.go: what a model gets of it
//	agents.go     runs; runs.go: which are live; launch.go: from a message to a running agent; queue.go: messages that wait for one; history.go: what its model reads
//	context.go    what stays word for word when a conversation fills its model's window
//	fork.go       agents that agents start; resume.go: what goes on after a crash; replay.go: a run once more, from its journal
//	a2a.go        agents that talk: cards, send, reply; a2a_wait.go: asking; a2a_delegate.go: who gets a task; a2a_mail.go: how a run reads
//	inbox.go      what waits and what ended unseen; quiet.go: hours without notices; neighbours.go: conversations that write in one folder
//	task.go       beginning a task: questions, answers; seeds.go: what was agreed on, and what came of it; check.go: whether a criterion holds
//	access.go     what a role and the denied paths refuse; permissions.go: the calls about them; config_roles.go: where they stand
//	security.go   approvals, policy, tools, audit; trust.go: which folders the person trusts; instructions.go: what they tell agents
//	exec.go       commands; exec_card.go: as a person sees them; exec_jobs.go: in the background; exec_copy.go: on a copy of their folder, exec_try.go: tried before they are approved
//	memory.go     what agents remember, and recall.go: what a run is given of it; embedder.go: who makes their vectors, embedder_work.go: when; spaces.go: the contexts of work
//	browser.go    pages and search of the web
//	knowledge.go  the person's vault; knowledge_change.go: how it is changed, and its history; knowledge_folder.go: which folder it is; knowledge_compare.go: which agents changed a note; knowledge_attach.go: files in it, and what notes show of each other
//	prompt.go     the prompt that a message would get
//	taint.go      where what a run has read came from, and what follows; taint_files.go: of files and commands; taint_api.go: for the person
//	place.go      where a path leads; files.go, write.go, text.go, folder.go; search.go, walk.go and ignore.go; mention.go: names while a person writes
//	changes.go    what a run changed
//	budget.go     limits; budget_wait.go: what waits for one; held.go: what the person hears of that; costs.go: what was spent; resources.go: the machine's load
//	guardian.go   the checks of every five minutes
//	infra.go      events, status; doctor.go; providers.go: models as the settings show them
//	keys.go       where keys are kept, and their passphrase; keys_import.go: those that older programs left in files
//	engine.go     providers and models as runs use them; model.go: one guarded call; fallback.go: which model answers in place of one that cannot
//	autostart.go  starting with the system; sleep.go: keeping it awake; page.go: the address of the page that serve shows
//
// A package may import: sys, event, store, llm, sandbox, document,
// retrieval, memory, web, knowledge, limit, schedule, awake, security, git, ouroboros, a2a, agent, orchestrator. Tools and faces import this package, never the other way round.
package kernel
