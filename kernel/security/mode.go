package security

import (
	"strings"

	"oxios/kernel/sys"
)

// Mode is how much agents may do without asking.
type Mode string

// The modes, from the most asking to the least.
const (
	ModeAsk        Mode = "ask"        // asks for everything but reads
	ModeGuarded    Mode = "guarded"    // also writes inside the folder and runs read-only commands; the default
	ModeAutonomous Mode = "autonomous" // also runs contained commands inside the folder
)

// ParseMode reads a mode as a person writes it. "" is [ModeGuarded], "auto" is
// [ModeAutonomous].
func ParseMode(s string) (Mode, error) {
	switch m := Mode(strings.ToLower(strings.TrimSpace(s))); m {
	case "":
		return ModeGuarded, nil
	case "auto":
		return ModeAutonomous, nil
	case ModeAsk, ModeGuarded, ModeAutonomous:
		return m, nil
	}
	return "", sys.Errorf(sys.CodeInvalid, "There is no permission mode %q.", s).
		WithHint("Use ask, guarded or auto.")
}

// Decision is what the permission table says about a call.
type Decision string

// The decisions, from the freest to the most severe.
const (
	DecisionFree   Decision = "free"   // it runs
	DecisionNotice Decision = "notice" // it runs, and the person is told
	DecisionAsk    Decision = "ask"    // a person decides first
	DecisionNever  Decision = "never"  // nobody can approve it
)

// The actions that the table has a row for. They are keys: the faces translate
// them, and they do not change.
const (
	ActionRead        = "read"              // look at files inside the folder
	ActionWrite       = "write"             // change files inside the folder with a file tool
	ActionReadCommand = "read_only_command" // run a command that only looks
	ActionCommand     = "command"           // run any other command inside the folder
	ActionNetwork     = "network"           // reach another machine
	ActionOutside     = "outside"           // touch something outside the folder
	ActionUnknown     = "unknown"           // whatever could not be understood
)

// TableRow is one line of the permission table on a machine: what each mode
// says about an action there.
type TableRow struct {
	Action     string   `json:"action"`
	Ask        Decision `json:"ask"`
	Guarded    Decision `json:"guarded"`
	Autonomous Decision `json:"autonomous"`
}

// In returns what the row says in mode m. An unknown mode asks.
func (r TableRow) In(m Mode) Decision {
	switch m {
	case ModeAsk:
		return r.Ask
	case ModeGuarded:
		return r.Guarded
	case ModeAutonomous:
		return r.Autonomous
	}
	return DecisionAsk
}

// table is the permission table. A row that needs more isolation than the
// machine has asks in every mode: without containment a command that looks
// harmless can reach the person's files, and file tools cannot, as they go
// through [os.Root].
var table = []struct {
	TableRow
	needs sys.Isolation
}{
	{TableRow{ActionRead, DecisionFree, DecisionFree, DecisionFree}, sys.IsolationNone},
	{TableRow{ActionWrite, DecisionAsk, DecisionFree, DecisionFree}, sys.IsolationNone},
	{TableRow{ActionReadCommand, DecisionAsk, DecisionFree, DecisionFree}, sys.IsolationLimits},
	{TableRow{ActionCommand, DecisionAsk, DecisionAsk, DecisionNotice}, sys.IsolationPartial},
	{TableRow{ActionNetwork, DecisionAsk, DecisionAsk, DecisionAsk}, sys.IsolationNone},
	{TableRow{ActionOutside, DecisionAsk, DecisionAsk, DecisionAsk}, sys.IsolationNone},
	{TableRow{ActionUnknown, DecisionAsk, DecisionAsk, DecisionAsk}, sys.IsolationNone},
}

// Table returns the permission table of a machine with this isolation. It is
// what [Decide] follows.
func Table(isolation sys.Isolation) []TableRow {
	rows := make([]TableRow, len(table))
	for i, r := range table {
		rows[i] = r.TableRow
		if isolation < r.needs {
			rows[i] = TableRow{r.Action, DecisionAsk, DecisionAsk, DecisionAsk}
		}
	}
	return rows
}

// actionOf returns the row that a call belongs to. readOnly says that the call
// runs a command which was seen to only look.
func actionOf(effect Effect, readOnly bool) string {
	switch effect {
	case EffectRead:
		if readOnly {
			return ActionReadCommand
		}
		return ActionRead
	case EffectWrite:
		return ActionWrite
	case EffectExecute:
		if readOnly {
			return ActionReadCommand
		}
		return ActionCommand
	case EffectNetwork:
		return ActionNetwork
	case EffectOutside:
		return ActionOutside
	}
	return ActionUnknown
}

// Decide says what happens with a call in mode m on a machine with this
// isolation: tier 3 never, otherwise what the row of its effect in [Table]
// says. The tier can only make it more severe: a free call of tier 1 is told,
// and one of tier 2 asks, unless the row has already let a contained command
// through.
//
// readOnly is for commands alone: it says that the command was seen to only
// look. A file tool passes false, a command never passes [EffectWrite].
func Decide(m Mode, effect Effect, tier Tier, readOnly bool, isolation sys.Isolation) Decision {
	if tier >= TierRefuse {
		return DecisionNever
	}
	action := actionOf(effect, readOnly)
	decision := DecisionAsk
	for _, row := range Table(isolation) {
		if row.Action == action {
			decision = row.In(m)
		}
	}
	switch {
	case tier <= TierFree || decision == DecisionAsk:
		return decision
	case tier == TierTell || action == ActionCommand:
		return DecisionNotice
	}
	return DecisionAsk
}

// DecideCommand is [Decide] for a command line. A command is never taken for a
// file tool, whatever it does: only containment holds it inside the folder.
func DecideCommand(m Mode, v Verdict, isolation sys.Isolation) Decision {
	effect := v.Effect
	if effect == EffectRead || effect == EffectWrite {
		effect = EffectExecute
	}
	d := Decide(m, effect, v.Tier, v.ReadOnly, isolation)
	if v.Final && d == DecisionNotice {
		return DecisionAsk // nothing would be left to look at afterwards
	}
	return d
}
