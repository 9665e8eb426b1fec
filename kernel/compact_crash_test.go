//go:build unix

package kernel_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
)

const compactCrashScript = `
[[scenario]]
match = '^\(Oxios: summarise'
[[scenario.turn]]
text = "SUMMARY"

[[scenario]]
match = '^\(Oxios: this stands in place'
[[scenario.turn]]
repeat = 3
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo behind-{{n}} >> log.txt"}'
[[scenario.turn]]
text = "All is read."

[[scenario]]
match = "^begin"
[[scenario.turn]]
repeat = 9
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo page-{{n}} >> log.txt; seq 1 1400"}'
[[scenario.turn]]
text = "The window was large enough."
`

func TestAKillWhileRoomIsMadeLeavesTheSameConversation(t *testing.T) {
	t.Parallel()
	scenarios, err := demo.Parse([]byte(compactCrashScript))
	if err != nil {
		t.Fatal(err)
	}
	rounds := kerneltest.Many(12, 3)
	helper := kerneltest.Helper(t)
	live := func(t *testing.T, kill int) (did int) {
		t.Helper()
		model := demo.New(scenarios...)
		server := httptest.NewServer(model)
		defer server.Close()
		p := place{home: filepath.Join(t.TempDir(), "home"), folder: t.TempDir(), url: server.URL + "/v1", helper: helper}
		write(t, filepath.Join(p.home, "config.toml"), fmt.Sprintf("folder = %q\nkeyring = false\n", p.folder))
		write(t, filepath.Join(p.home, "models.toml"), fmt.Sprintf("[[model]]\nid = %q\ncontext = %d\n", kerneltest.Model, smallWindow))
		if err := os.Chmod(p.home, 0o700); err != nil {
			t.Fatal(err)
		}
		if kill > 0 {
			p.live(t, kill)
		}
		_, did = p.live(t, 0)
		k := open(t, kerneltest.At(p.home, p.folder), kerneltest.NotRunning())
		list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
		if err != nil || len(list) != 1 || list[0].State != "done" {
			t.Fatalf("killed at %d: got %+v, %v", kill, list, err)
		}
		var made []kernel.StepView
		for _, s := range rooms(t, k, list[0].ID) {
			if s.Outcome == "ok" {
				made = append(made, s)
			}
		}
		if len(made) != 1 {
			t.Fatalf("killed at %d: room was made %d times", kill, len(made))
		}
		for i, r := range requests(t, model) {
			if text := r.text(1); strings.HasPrefix(text, "(Oxios: this stands") && text != made[0].Output {
				t.Errorf("killed at %d: request %d begins with\n%s\nwant\n%s", kill, i, text, made[0].Output)
			}
		}
		text, _ := os.ReadFile(filepath.Join(p.folder, "log.txt"))
		seen := map[string]bool{}
		for _, w := range strings.Fields(string(text)) {
			if seen[w] {
				t.Errorf("killed at %d: %s was done twice", kill, w)
			}
			seen[w] = true
		}
		return did
	}
	commits := live(t, 0)
	t.Run("rounds", func(t *testing.T) {
		for i := range rounds {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				live(t, 10+i*(commits-12)/rounds)
			})
		}
	})
}
