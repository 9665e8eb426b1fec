package cli

import (
	"testing"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const inboxScript = `
[[scenario]]
any = ["break"]
[[scenario.turn]]
status = 401
body = '{"error": {"message": "invalid api key"}}'

[[scenario]]
any = ["push"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "git push origin main"}'
[[scenario.turn]]
text = "Not pushed."

[[scenario]]
[[scenario.turn]]
text = "You said: {{message}}"
`

func TestInboxIsTheSameWithAndWithoutAnOwnerAndCleared(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(inboxScript))
	contains(t, "nothing", d.must(0, "inbox").err, "Nothing waits for you")

	stop := d.own()
	window, err := remote.Dial(t.Context(), d.Home)
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	unseen := window.Handle()
	for _, text := range []string{"hello", "break it", "push it"} {
		if _, err := unseen.Agents.Submit(t.Context(), kernel.Submit{Text: text, Via: "window"}); err != nil {
			t.Fatal(err)
		}
	}
	d.Until("all stand in the inbox", func() bool {
		in, err := unseen.Agents.Inbox(t.Context(), false)
		return err == nil && len(in.Waiting) == 1 && len(in.Failed) == 1 && len(in.Finished) == 1
	})
	with := decode[kernel.Inbox](t, d.must(0, "inbox", "--json").out)
	stop()
	without := decode[kernel.Inbox](t, d.must(0, "inbox", "--json").out)
	if with.Finished[0].Run.ID != without.Finished[0].Run.ID || with.Failed[0].Run.ID != without.Failed[0].Run.ID || with.Waiting[0].ID != without.Waiting[0].ID {
		t.Errorf("got %+v with an owner, %+v without", with, without)
	}
	contains(t, "the list", d.must(0, "inbox").out, "waiting", "failed", "done", "You said: hello", tail(with.Waiting[0].ID))

	contains(t, "clear", d.must(0, "inbox", "clear").out, "Cleared: 1")
	if in := decode[kernel.Inbox](t, d.must(0, "inbox", "--json").out); len(in.Finished) != 0 || len(in.Failed) != 1 || len(in.Waiting) != 1 {
		t.Errorf("got %+v after it was cleared, want what failed and what waits", in)
	}
	if in := decode[kernel.Inbox](t, d.must(0, "inbox", "--all", "--json").out); len(in.Finished) != 1 || !in.Finished[0].Seen {
		t.Errorf("got %+v with --all, want also what was cleared", in)
	}
	if out := d.must(0, "inbox", "clear", "--json").out; out != "{\"cleared\":[]}\n" {
		t.Errorf("got %q for an inbox that is clear", out)
	}
	d.env["LANG"] = "ko_KR.UTF-8"
	contains(t, "in Korean", d.must(0, "inbox").out, "승인 대기", "실패")
}

func TestAnswerInTheTerminalIsSeen(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(inboxScript))
	d.must(0, "run", "hello")
	d.must(exitFailed, "run", "break it")
	if in := decode[kernel.Inbox](t, d.must(0, "inbox", "--json").out); len(in.Finished)+len(in.Failed) != 0 {
		t.Errorf("got %+v, want nothing: it stood in the terminal", in)
	}
	// Nobody is at the terminal any more when this one ends.
	asks := decode[kernel.RunResult](t, d.must(exitWaiting, "run", "--json", "push it").out)
	d.own()
	d.must(0, "approvals", "deny", asks.Waiting[0])
	d.Until("it went on and ended", func() bool {
		in := decode[kernel.Inbox](t, d.must(0, "inbox", "--json").out)
		return len(in.Finished) == 1 && in.Finished[0].Run.ID == asks.RunID
	})
}
