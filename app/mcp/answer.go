package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// answerTool shows requests that wait to whoever sits before the program.
const answerTool = "answer_approvals"

const (
	maxAsked  = 5                // requests that one call shows
	maxAnswer = 10 * time.Minute // that a call waits for its person
)

// addAnswer adds the tool for approvals. A model cannot answer by it: the program asks its person, by an elicitation.
func (f *face) addAnswer(s *sdk.Server) {
	no := false
	s.AddTool(&sdk.Tool{
		Name: answerTool, Title: "Answer approvals", Description: "Shows the approval requests that wait in Oxios to the person at this program, who answers them. Requests of runs that a program started are answered in Oxios alone.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Annotations: &sdk.ToolAnnotations{Title: "Answer approvals", OpenWorldHint: &no},
	}, f.answer)
}

// asked is what a program was asked about: what it answers is the request as it was then.
type asked struct {
	Hash map[string]string `json:"hash"` // of each request, by its id
	By   string            `json:"by"`   // the program
}

func (f *face) answer(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return f.decide(ctx, req.Params), nil
	}
	if caps := req.ClientCapabilities(); caps == nil || caps.Elicitation == nil {
		return failed(sys.Errorf(sys.CodeUnavailable, "This program cannot ask its person: it does not offer elicitation.").WithHint("The person answers in Oxios.")), nil
	}
	list, err := f.h.Security.Approvals(ctx, kernel.ApprovalQuery{State: "pending"})
	if err != nil {
		return failed(err), nil
	}
	if len(list) == 0 {
		return said("No approval request waits that this program may answer."), nil
	}
	about := asked{Hash: map[string]string{}, By: f.self.ID}
	out := &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{}}
	for _, ap := range list[:min(len(list), maxAsked)] {
		about.Hash[ap.ID] = ap.Request.Hash
		out.InputRequests[ap.ID] = question(ap)
	}
	out.RequestState, err = f.seal(about)
	if err != nil {
		return failed(err), nil
	}
	return out, nil
}

// question is a request as the person at the program is asked it.
func question(ap kernel.Approval) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: describe(ap), RequestedSchema: json.RawMessage(`{"type":"object","properties":{
		"decision":{"type":"string","title":"Decision","enum":["approve once","deny"]},
		"comment":{"type":"string","title":"Comment for the agent"}},"required":["decision"]}`)}
}

// describe is a request in words: what would happen, where, and why it is asked.
func describe(ap kernel.Approval) string {
	r := ap.Request
	lines := []string{r.Title}
	line := func(name, value string) {
		if value != "" {
			lines = append(lines, name+": "+value)
		}
	}
	line("Agent", r.Agent)
	line("Command", r.Command)
	line("Folder", r.Dir)
	line("File", r.Path)
	line("Host", r.Host)
	line("Why it asks", r.Why)
	line("Can be undone", r.Undo)
	line("Changes", sys.Shorten(r.Diff, 4000))
	return plain(strings.Join(lines, "\n"))
}

// decide takes the answers of the person at the program.
func (f *face) decide(ctx context.Context, p *sdk.CallToolParamsRaw) *sdk.CallToolResult {
	about, err := f.unseal(p.RequestState)
	if err != nil {
		return failed(err)
	}
	var lines []string
	for id, hash := range about.Hash {
		said, _ := p.InputResponses[id].(*sdk.ElicitResult)
		word, err := f.decision(ctx, id, hash, said)
		if err != nil {
			word = sys.AsError(err).Message
		}
		lines = append(lines, id+": "+word)
	}
	return said(strings.Join(lines, "\n"))
}

// decision passes on what the person at the program answered to a request, and says what came of it.
func (f *face) decision(ctx context.Context, id, hash string, said *sdk.ElicitResult) (word string, err error) {
	decision, comment := "", ""
	if said != nil && said.Action == "accept" {
		decision, _ = said.Content["decision"].(string)
		comment, _ = said.Content["comment"].(string)
	}
	switch decision {
	case "approve once":
		_, err = f.h.Security.Approve(ctx, id, kernel.ApproveInput{Hash: hash, Comment: comment})
		return "approved once", err
	case "deny":
		_, err = f.h.Security.Deny(ctx, id, comment)
		return "denied", err
	}
	return "left waiting", nil
}

// seal writes down what was asked, signed: it goes through the hands of the program.
func (f *face) seal(a asked) (string, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(raw) + "." + base64.RawURLEncoding.EncodeToString(f.sum(raw)), nil
}

func (f *face) sum(raw []byte) []byte {
	m := hmac.New(sha256.New, f.key)
	m.Write(raw)
	return m.Sum(nil)
}

func (f *face) unseal(state string) (a asked, err error) {
	body, sum, _ := strings.Cut(state, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	signed, serr := base64.RawURLEncoding.DecodeString(sum)
	if err != nil || serr != nil || !hmac.Equal(signed, f.sum(raw)) || json.Unmarshal(raw, &a) != nil || a.By != f.self.ID {
		return asked{}, sys.Errorf(sys.CodeConflict, "What was asked is not known any more. Nothing was decided.").WithHint("Call %s again.", answerTool)
	}
	return a, nil
}
