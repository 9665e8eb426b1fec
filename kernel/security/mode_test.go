package security

import (
	"fmt"
	"strings"
	"testing"

	"oxios/kernel/sys"

	"github.com/google/go-cmp/cmp"
)

// published is the permission table as a person reads it, written a second
// time: a change of a cell must be made here too.
var published = map[sys.Isolation]string{
	sys.IsolationPartial: `
action             ask   guarded  autonomous
read               free  free     free
write              ask   free     free
read_only_command  ask   free     free
command            ask   ask      notice
network            ask   ask      ask
outside            ask   ask      ask
unknown            ask   ask      ask`,
	sys.IsolationLimits: `
action             ask   guarded  autonomous
read               free  free     free
write              ask   free     free
read_only_command  ask   free     free
command            ask   ask      ask
network            ask   ask      ask
outside            ask   ask      ask
unknown            ask   ask      ask`,
	sys.IsolationNone: `
action             ask   guarded  autonomous
read               free  free     free
write              ask   free     free
read_only_command  ask   ask      ask
command            ask   ask      ask
network            ask   ask      ask
outside            ask   ask      ask
unknown            ask   ask      ask`,
}

func TestTableIsPublishedAsWritten(t *testing.T) {
	t.Parallel()
	for isolation, want := range published {
		var b strings.Builder
		fmt.Fprintf(&b, "\n%-18s %-5s %-8s %s", "action", "ask", "guarded", "autonomous")
		for _, r := range Table(isolation) {
			fmt.Fprintf(&b, "\n%-18s %-5s %-8s %s", r.Action, r.Ask, r.Guarded, r.Autonomous)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("isolation %d (-want +got):\n%s", isolation, diff)
		}
	}
	if diff := cmp.Diff(Table(sys.IsolationPartial), Table(3)); diff != "" {
		t.Errorf("a stronger isolation changes the table (-2 +3):\n%s", diff)
	}
}

// calls has every kind of call and the row that it belongs to.
var calls = []struct {
	effect   Effect
	readOnly bool
	action   string
}{
	{EffectRead, false, ActionRead},
	{EffectRead, true, ActionReadCommand},
	{EffectWrite, false, ActionWrite},
	{EffectWrite, true, ActionWrite},
	{EffectExecute, false, ActionCommand},
	{EffectExecute, true, ActionReadCommand},
	{EffectNetwork, false, ActionNetwork},
	{EffectNetwork, true, ActionNetwork},
	{EffectOutside, false, ActionOutside},
	{EffectOutside, true, ActionOutside},
	{EffectUnknown, false, ActionUnknown},
	{EffectUnknown, true, ActionUnknown},
}

func TestDecideFollowsTheTableRowByRow(t *testing.T) {
	t.Parallel()
	for isolation := sys.IsolationNone; isolation <= 3; isolation++ {
		for _, row := range Table(isolation) {
			for mode, want := range map[Mode]Decision{ModeAsk: row.Ask, ModeGuarded: row.Guarded, ModeAutonomous: row.Autonomous} {
				for _, c := range calls {
					if c.action != row.Action {
						continue
					}
					if got := Decide(mode, c.effect, 0, c.readOnly, isolation); got != want {
						t.Errorf("%s, %v, read-only %v, isolation %d: got %s, want %s", mode, c.effect, c.readOnly, isolation, got, want)
					}
				}
			}
		}
	}
}

func TestTierOnlyMakesADecisionMoreSevere(t *testing.T) {
	t.Parallel()
	severity := map[Decision]int{DecisionFree: 0, DecisionNotice: 1, DecisionAsk: 2, DecisionNever: 3}
	for isolation := sys.IsolationNone; isolation <= 3; isolation++ {
		for _, mode := range []Mode{ModeAsk, ModeGuarded, ModeAutonomous, "", "loose"} {
			for _, c := range calls {
				base := Decide(mode, c.effect, 0, c.readOnly, isolation)
				for tier := Tier(0); tier <= 4; tier++ {
					got := Decide(mode, c.effect, tier, c.readOnly, isolation)
					name := fmt.Sprintf("%s, %v, read-only %v, tier %d, isolation %d", mode, c.effect, c.readOnly, tier, isolation)
					switch {
					case severity[got] < severity[base]:
						t.Errorf("%s: got %s, want at least %s", name, got, base)
					case (got == DecisionNever) != (tier >= 3):
						t.Errorf("%s: got %s, want never for tier 3 alone", name, got)
					case tier == 1 && got == DecisionFree:
						t.Errorf("%s: got %s, want it told", name, got)
					case tier == 2 && got != DecisionAsk && !(c.action == ActionCommand && mode == ModeAutonomous && isolation.Contained()):
						t.Errorf("%s: got %s, want ask", name, got)
					}
				}
			}
		}
	}
}

func TestWhatIsNotKnownAsks(t *testing.T) {
	t.Parallel()
	if got := Decide(ModeAutonomous, "", 0, true, 3); got != DecisionAsk {
		t.Errorf("no effect: got %s, want ask", got)
	}
	if got := Decide("loose", EffectRead, 0, false, 3); got != DecisionAsk {
		t.Errorf("unknown mode: got %s, want ask", got)
	}
}

func TestModesAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Mode{"": ModeGuarded, "auto": ModeAutonomous, " Autonomous ": ModeAutonomous, "ASK": ModeAsk, "guarded": ModeGuarded} {
		if got, err := ParseMode(in); err != nil || got != want {
			t.Errorf("ParseMode(%q): got %q, %v, want %q", in, got, err, want)
		}
	}
	if _, err := ParseMode("yolo"); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want invalid", err)
	}
}

func TestCommandIsNeverTakenForAFileTool(t *testing.T) {
	t.Parallel()
	for _, effect := range []Effect{EffectRead, EffectWrite, EffectExecute} {
		for isolation, want := range map[sys.Isolation]Decision{0: DecisionAsk, 1: DecisionAsk, 2: DecisionNotice} {
			if got := DecideCommand(ModeAutonomous, Verdict{Effect: effect}, isolation); got != want {
				t.Errorf("%s at isolation %d: got %s, want %s", effect, isolation, got, want)
			}
			if got := DecideCommand(ModeGuarded, Verdict{Effect: effect}, isolation); got != DecisionAsk {
				t.Errorf("%s, guarded, at isolation %d: got %s, want ask", effect, isolation, got)
			}
		}
	}
	look := Verdict{Effect: EffectRead, ReadOnly: true}
	for isolation, want := range map[sys.Isolation]Decision{0: DecisionAsk, 1: DecisionFree, 2: DecisionFree} {
		if got := DecideCommand(ModeGuarded, look, isolation); got != want {
			t.Errorf("looking at isolation %d: got %s, want %s", isolation, got, want)
		}
	}
}
