package kernel_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// askScript calls one tool of the server.
func askScript(tool string) string {
	return fmt.Sprintf("[[scenario]]\n[[scenario.turn]]\n[[scenario.turn.call]]\ntool = \"test__%s\"\nargs = '{}'\n[[scenario.turn]]\ntext = \"It came to this: {{result}}\"\n", tool)
}

// askedByServer is what a server of a kind asks when an agent calls its tool.
func askedByServer(t *testing.T, kind, tool string) (*kerneltest.Kernel, kernel.Submitted, kernel.Approval) {
	t.Helper()
	k := open(t, kerneltest.Script(askScript(tool)))
	server(t, k, "test", kindOfServer(kind), serves("none"))
	sent := k.Say("ask the person something: "+tool, func(m *kernel.Submit) { m.Mode = "autonomous" })
	return k, sent, k.Approval(sent.RunID)
}

func TestWhatAServerAsksWaitsForThePerson(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"rich", "rich-before"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			k, sent, a := askedByServer(t, kind, "book")
			f := a.Request.Form
			if f == nil || a.Request.Title != "The server test asks you something" || a.Request.TitleKO != "test 서버가 묻는 것이 있습니다" || f.Message != "Which room do you want?\u202e" {
				t.Fatalf("got %+v, the form %+v", a.Request, f)
			}
			var names []string
			for _, x := range f.Fields {
				names = append(names, x.Name+":"+x.Kind)
			}
			if got, want := strings.Join(names, " "), "name:text beds:integer extras:choices from:text late:boolean mail:text price:number view:choice"; got != want {
				t.Errorf("the fields are %q, want %q", got, want)
			}
			answer := func(values, action string) error {
				_, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: sent.RunID, ApprovalID: a.ID, Values: json.RawMessage(values), Action: action})
				return err
			}
			for values, want := range map[string]string{
				`{}`:                           "Your name is needed",
				`{"name": "A"}`:                "at least 2 characters",
				`{"name": "Ann", "beds": 9}`:   "at most 4",
				`{"name": "Ann", "beds": 1.5}`: "a whole number",
				`{"name": "Ann", "mail": "x"}`: "an email address",
				`{"name": "Ann", "view": "x"}`: "none of the options",
				`{"name": "Ann", "from": "x"}`: "a date like",
				`{"name": "Ann", "nick": "x"}`: `Nothing asks for a value named "nick"`,
				`[1]`:                          "not a JSON object",
			} {
				if err := answer(values, ""); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %v, want %q", values, err, want)
				}
			}
			if _, err := k.Person().Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash}); sys.CodeOf(err) != sys.CodeInvalid {
				t.Errorf("approved without values: got %v", err)
			}
			if err := answer(`{"name": "Ann", "price": "12.5", "extras": ["dog"], "late": true}`, ""); err != nil {
				t.Fatal(err)
			}
			if r := k.Wait(sent.RunID); !strings.Contains(r.Response, `accept {"beds":2,"extras":["dog"],"late":true,"name":"Ann","price":12.5,"view":"sea"}`) {
				t.Errorf("got %q", r.Response)
			}
		})
	}
}

func TestThePersonDeclinesOrLeavesWhatAServerAsks(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{"decline": "decline ", "cancel": "cancel ", "deny": "decline "} {
		k, sent, a := askedByServer(t, "rich", "book")
		var err error
		if action == "deny" {
			_, err = k.Person().Security.Deny(t.Context(), a.ID, "")
		} else {
			_, err = k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{ApprovalID: a.ID, Action: action})
		}
		if err != nil {
			t.Fatal(err)
		}
		if r := k.Wait(sent.RunID); !strings.Contains(r.Response, want) {
			t.Errorf("%s: got %q", action, r.Response)
		}
	}
}

func TestAServerNeverAsksForASecretOrAStrangeAddress(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{"key": "looks like a secret (apiKey)", "file": "not a plain https address"} {
		k := open(t, kerneltest.Script(askScript(tool)))
		server(t, k, "test", kindOfServer("rich"), serves("none"))
		r := k.Ask("ask the person something: "+tool, func(m *kernel.Submit) { m.Mode = "autonomous" })
		if !strings.Contains(r.Response, "decline") || !strings.Contains(r.Response, want) {
			t.Errorf("%s: got %q, want %q", tool, r.Response, want)
		}
	}
}

func TestAServerAsksToOpenAnAddress(t *testing.T) {
	t.Parallel()
	k, sent, a := askedByServer(t, "rich", "page")
	if f := a.Request.Form; f == nil || f.Host != "example.com" || f.URL != "https://example.com/sign-in?x=1" || a.Request.Title != "The server test asks you to open example.com" {
		t.Fatalf("got %+v", a.Request)
	}
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{ApprovalID: a.ID}); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(sent.RunID); !strings.Contains(r.Response, "accept ") {
		t.Errorf("got %q", r.Response)
	}
}

func TestAQuestionOfAServerEndsWithItsCall(t *testing.T) {
	t.Parallel()
	k, sent, a := askedByServer(t, "rich-before", "book")
	if _, err := k.Person().Agents.Kill(t.Context(), sent.RunID); err != nil {
		t.Fatal(err)
	}
	k.Wait(sent.RunID)
	k.Until("the question is taken back", func() bool {
		list, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"})
		return err == nil && len(list) == 0
	})
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{ApprovalID: a.ID, Action: "decline"}); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("answered after its end: got %v", err)
	}
}

// A question belongs to a server that runs. When Oxios ends, that ends too, and the run is told so.
func TestAQuestionOfAServerThatOutlivedItIsLostAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	k, sent, a := askedByServer(t, "rich", "book")
	k.Restart()
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{ApprovalID: a.ID, Values: json.RawMessage(`{"name": "Ann"}`)}); sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "the server that asked ended together with Oxios") {
		t.Errorf("answered after a crash: got %v", err)
	}
	r := k.Wait(sent.RunID)
	if r.State != "done" || !strings.Contains(r.Response, "so the question is lost and was never answered") {
		t.Errorf("got %s, %q", r.State, r.Response)
	}
	view, err := k.Person().Agents.Run(t.Context(), sent.RunID)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range view.Steps {
		if s.Kind == "note" && s.TitleKO == "test 서버가 Oxios와 함께 종료되어 질문이 사라졌습니다" {
			return
		}
	}
	t.Errorf("no step tells the person: %+v", view.Steps)
}

func TestAServerAsksThePersonWhoCallsItThemselves(t *testing.T) {
	t.Parallel()
	k := open(t)
	richServer(t, k)
	done := make(chan string, 1)
	go func() {
		r, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "book"})
		if err != nil {
			r.Text = err.Error()
		}
		done <- r.Text
	}()
	var a kernel.Approval
	k.Until("it asks", func() bool {
		list, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"})
		if err == nil && len(list) == 1 {
			a = list[0]
		}
		return a.ID != ""
	})
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{ApprovalID: a.ID, Values: json.RawMessage(`{"name": "Ann"}`)}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; !strings.HasPrefix(got, `accept {"beds":2`) {
		t.Errorf("got %q", got)
	}
}

// thinkScript has an agent call a tool that asks the model, which answers that too.
const thinkScript = `
[[scenario]]
name = "colour"
any = ["Name a colour"]
[[scenario.turn]]
text = "Teal."
` + "\n"

func TestAServerAsksTheModelOnlyWhereItMayAndWithApproval(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, sampling bool) (*kerneltest.Kernel, kernel.Submitted) {
		k := open(t, kerneltest.Script(thinkScript+askScript("think")))
		server(t, k, "test", kindOfServer("rich"), serves("none"), func(d *kernel.MCPServer) { d.Sampling = sampling })
		return k, k.Say("think with the tool that asks the model", func(m *kernel.Submit) { m.Mode = "autonomous" })
	}
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		k, sent := ask(t, false)
		if r := k.Wait(sent.RunID); strings.Contains(r.Response, "Teal") || !strings.Contains(r.Response, "Error") {
			t.Errorf("got %q, want a refusal", r.Response)
		}
	})
	for _, yes := range []bool{true, false} {
		t.Run(fmt.Sprint("approved: ", yes), func(t *testing.T) {
			t.Parallel()
			k, sent := ask(t, true)
			a := k.Approval(sent.RunID)
			if a.Request.Title != "The server test wants to ask the model" || a.Request.Command != "system: Be brief.\n\nuser: Name a colour." || a.Request.TitleKO == a.Request.Title {
				t.Errorf("got %+v", a.Request)
			}
			var err error
			if yes {
				_, err = k.Person().Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash})
			} else {
				_, err = k.Person().Security.Deny(t.Context(), a.ID, "not now")
			}
			if err != nil {
				t.Fatal(err)
			}
			r, want, calls := k.Wait(sent.RunID), "the model said: Teal.", 3
			if !yes {
				want, calls = "The server test could not ask the model: The person denied this and said", 2
			}
			if !strings.Contains(r.Response, want) || r.Cost.Calls != calls {
				t.Errorf("got %q after %d calls of the model, want %q after %d", r.Response, r.Cost.Calls, want, calls)
			}
		})
	}
}
