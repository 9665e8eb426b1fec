// Package event is the kernel's bus: what happens is published once, and any
// number of readers follow at their own pace.
//
// It promises three things. A publisher never waits for a reader. Events of
// one bus are seen in the order of their sequence numbers. A reader that falls
// behind is told how many events it missed, in an event of kind [Gap].
package event

import (
	"encoding/json"
	"fmt"
	"time"
)

// The kinds of events. The comment names the type of Data and the delivery:
// "stream" events are kept for a short while only and are the first that a
// slow reader misses; everything else is kept much longer.
const (
	RunCreated       = "run.created"     // store.Run: forked, not yet started
	RunStarted       = "run.started"     // store.Run
	RunState         = "run.state"       // store.Run: waits, goes on, pauses
	RunEnded         = "run.ended"       // store.Run: done, failed, stopped or interrupted
	RunText          = "run.text"        // Text, stream
	RunReasoning     = "run.reasoning"   // Text, stream
	RunTool          = "run.tool"        // Text: the name of a tool call that the model begins to write, stream
	RunRetry         = "run.retry"       // Text: why what came so far is void, stream
	RunModel         = "run.model"       // Text: which model answers in place of another one, and why
	StepChanged      = "step"            // kernel.StepView
	StepProgress     = "step.progress"   // Progress: how far a running step is, stream
	MessageAdded     = "message"         // store.Message
	ApprovalChange   = "approval"        // security.Approval
	QueueChanged     = "queue"           // []store.Queued of the session
	SessionChanged   = "session"         // store.Session
	SessionDeleted   = "session.deleted" // Text: the id
	ChangeMade       = "change"          // kernel.ChangeSummary
	UndoChanged      = "undo"            // kernel.UndoState: something of the run was undone or redone
	UndoAtWork       = "undo.progress"   // kernel.UndoProgress: how far a large undo or redo is
	VaultChanged     = "vault"           // []string: the paths in the vault that came, changed or went; none when its folder went or is back
	VaultSwitched    = "vault.switched"  // Text: the folder whose notes are in use from now on, so read them anew
	MemoryChanged    = "memory"          // Change: what is remembered is other than it was
	MemoryRecalled   = "memory.recalled" // Change: a run was given memories, or looked them up
	MemoryElsewhere  = "memory.crossed"  // Change: a run was told that other spaces know something; what it was given of them is recalled
	EmbeddingChanged = "embedding"       // kernel.MemoryEmbedding: vectors were made, or cannot be
	SpaceChanged     = "space"           // Change: the spaces, or what is proposed of them, are other than they were
	SpaceActivated   = "space.activated" // Change: a conversation begins in a space, or the person chose it for what comes next
	InboxChanged     = "inbox"           // Change: the inbox is other than it was
	StatusChanged    = "status"          // kernel.Status
	ConfigChanged    = "config"          // kernel.ConfigView
	Restored         = "restored"        // kernel.RestoreReport: a backup came in, so lists must be read anew
	ProviderChange   = "provider"        // kernel.Provider
	SkillsChanged    = "skills"          // string: the name of a skill that came, changed or went, or about which the person decided; "" for several
	ServerChanged    = "mcp"             // string: the name of an MCP server that started, ended, or offers something else
	ClientsChanged   = "clients"         // string: the name of a program that was added or revoked
	JobChanged       = "job"             // kernel.Job
	SeedChanged      = "seed"            // kernel.SeedInfo: a version was frozen, evaluated or given up
	PhaseStarted     = "phase.started"   // Phase: a run asks, freezes its seed, executes, is evaluated or evolves
	PhaseCompleted   = "phase.completed" // Phase: that is over; a run that ends leaves the last one open
	GroupCreated     = "group.created"   // string: the version of a seed on whose parts agents begin to work
	GroupMember      = "group.member"    // store.Run: an agent of such a group has ended
	AgentMessage     = "agent.message"   // a2a.Message: sent, read, answered or returned
	Problem          = "problem"         // sys.Error: something that a person should know
	Gap              = "gap"             // Missed: this reader lost that many events
)

// Event is one thing that happened.
type Event struct {
	Seq       uint64    `json:"seq"`  // rises by one an event; keeps rising over restarts
	Time      time.Time `json:"time"` // UTC
	Kind      string    `json:"kind"`
	RunID     string    `json:"run_id,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	Data      any       `json:"data,omitempty"` // in another process: json.RawMessage
}

// Text is the data of events that carry a piece of text.
type Text struct {
	Text   string `json:"text"`
	TextKO string `json:"text_ko,omitempty"` // a sentence of the kernel in Korean
}

// Progress is what a running step says of itself; the newest counts.
type Progress struct {
	StepID string `json:"step_id"`
	Text   string `json:"text"`
}

// Change is the data of events that tell what became of memories, spaces or
// the inbox. It names them and never says what they hold.
type Change struct {
	Did   string   `json:"did"`             // one of the words below
	IDs   []string `json:"ids"`             // of what it was done to; at most [MaxIDs]
	Count int      `json:"count"`           // how many there are
	Space string   `json:"space,omitempty"` // that it is in; "" is the default one, or those of several
	Into  string   `json:"into,omitempty"`  // the space that it went to
}

// MaxIDs is how many ids a [Change] has at most.
const MaxIDs = 100

// What a [Change] can say was done.
const (
	Stored    = "stored"    // memories: new, or in place of older ones
	Edited    = "edited"    // a memory, a space
	Forgotten = "forgotten" // memories
	Imported  = "imported"  // memories
	Curated   = "curated"   // memories: merged, dated and pruned; the id is that of the report
	Reverted  = "reverted"  // memories: what curation did to one was undone; the id is that of the report
	Moved     = "moved"     // conversations, with what is remembered of them
	Recalled  = "recalled"  // memories
	Named     = "named"     // spaces, to a run
	Created   = "created"   // a space
	Archived  = "archived"  // spaces
	Returned  = "restored"  // a space; a conversation, with its runs
	Removed   = "removed"   // a space; a conversation, with its runs
	Merged    = "merged"    // a space, into another
	Unmerged  = "unmerged"  // a space
	Proposed  = "proposed"  // something about a conversation
	Declined  = "declined"  // a proposal
	Activated = "activated" // a space
	Ended     = "ended"     // runs: they are in the inbox now
	Seen      = "seen"      // runs
	Unseen    = "unseen"    // runs
)

// ChangeOf makes a [Change] of things by their ids.
func ChangeOf(did, space string, ids ...string) Change {
	c := Change{Did: did, IDs: []string{}, Count: len(ids), Space: space}
	c.IDs = append(c.IDs, ids[:min(len(ids), MaxIDs)]...)
	return c
}

// Phase is the data of [PhaseStarted] and [PhaseCompleted].
type Phase struct {
	Phase   string `json:"phase"`             // interview, seed, execute, evaluate or evolve
	Seed    string `json:"seed_id,omitempty"` // "" while there is none
	Version int    `json:"version,omitempty"`
}

// Missed is the data of a [Gap].
type Missed struct {
	Missed uint64 `json:"missed"`
}

// UnmarshalJSON keeps Data as raw JSON, for [As].
func (e *Event) UnmarshalJSON(b []byte) error {
	type plain Event
	var raw json.RawMessage
	v := struct {
		*plain
		Data *json.RawMessage `json:"data"`
	}{(*plain)(e), &raw}
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	e.Data = raw
	return nil
}

// As returns the data of e as a T, whether e was published in this process or
// came over a socket. It reports false when the data is of another shape.
func As[T any](e Event) (T, bool) {
	if v, ok := e.Data.(T); ok {
		return v, true
	}
	var v T
	if raw, ok := e.Data.(json.RawMessage); ok {
		return v, json.Unmarshal(raw, &v) == nil
	}
	return v, false
}

// IsStream reports whether events of a kind are kept for a short while only:
// pieces of an answer that is being written.
func IsStream(kind string) bool {
	switch kind {
	case RunText, RunReasoning, RunTool, RunRetry, StepProgress:
		return true
	}
	return false
}
