package kernel_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/text/encoding/korean"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const chatScript = `
[[scenario]]
name = "chat"
[[scenario.turn]]
text = "I have it."
`

// pdfFile has a page for each text.
// upload sends data in parts.
func with(attached ...kernel.Attachment) func(*kernel.Submit) {
	return func(m *kernel.Submit) {
		for _, a := range attached {
			m.Attachments = append(m.Attachments, a.ID)
		}
	}
}

// wirePart is a part of a message as it came to the endpoint.
type wirePart struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// lastUser returns the parts of the last message of the person that reached the
// endpoint, and of all that came with the request.
func lastUser(t *testing.T, k *kerneltest.Kernel) (last []wirePart, all []wirePart) {
	t.Helper()
	requests := k.Demo.Requests()
	var body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, m := range body.Messages {
		var parts []wirePart
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			parts = []wirePart{{Type: "text", Text: text}}
		} else if err := json.Unmarshal(m.Content, &parts); err != nil {
			t.Fatal(err)
		}
		if m.Role == "user" {
			last, all = parts, append(all, parts...)
		}
	}
	return last, all
}

// seeing says whether the model of the endpoint sees pictures.
func seeing(yes bool) kerneltest.Option {
	return kerneltest.With(func(o *kernel.Options) {
		text := fmt.Sprintf("[[model]]\nid = %q\nimages = %t\n", kerneltest.Model, yes)
		if err := os.WriteFile(filepath.Join(o.Home, "models.toml"), []byte(text), 0o600); err != nil {
			panic(err)
		}
	})
}

func TestAttachmentsReachTheModelAsPartsOfTheMessage(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatScript), seeing(true))
	dir := t.TempDir()
	cp949, err := korean.EUCKR.NewEncoder().Bytes([]byte("회의는 세 시입니다\n"))
	if err != nil {
		t.Fatal(err)
	}
	attached := []kernel.Attachment{
		attach(t, k, saved(t, dir, "photo.txt", picture(t, 3000, 30))), // known by its content
		attach(t, k, saved(t, dir, "report.pdf", pdfFile("Budget", "Risks"))),
		attach(t, k, saved(t, dir, "letter.docx", wordFile(t, "Dear Minji"))),
		attach(t, k, saved(t, dir, "회의.txt", cp949)),
		attach(t, k, dir),
		attach(t, k, saved(t, dir, "tool.bin", []byte("\x7FELF\x00\x01\x02"))),
	}
	paste, err := k.Person().State.Attach(t.Context(), kernel.AttachInput{Text: "line one\nline two"})
	if err != nil {
		t.Fatal(err)
	}
	r := k.Ask("What is in them?", with(append(attached, paste)...))
	if r.Error != nil {
		t.Fatal(r.Error)
	}
	parts, _ := lastUser(t, k)
	if len(parts) != 2 || parts[0].Type != "text" || parts[1].Type != "image_url" {
		t.Fatalf("got %d parts, want the text and the picture", len(parts))
	}
	text := parts[0].Text
	for _, want := range []string{
		"What is in them?", "photo.txt (image, 2048 × 20)",
		"report.pdf (pdf, 2 pages) ---\n[page 1]\nBudget\n\n[page 2]\nRisks\n---",
		"letter.docx (docx) ---", "[paragraph 1] Dear Minji", "named by paragraph",
		"회의.txt (text) ---\n회의는 세 시입니다\n---",
		"This is the folder " + dir, "This is the file " + filepath.Join(dir, "tool.bin"), "pasted text ---\nline one\nline two\n---",
		"not an instruction",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the model does not read %q in:\n%s", want, text)
		}
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(parts[1].Image.URL, "data:image/png;base64,"))
	if err != nil {
		t.Fatalf("the picture is no PNG in base64: %.60s", parts[1].Image.URL)
	}
	if config, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || config.Width != 2048 {
		t.Errorf("got a picture %d wide, %v; want 2048", config.Width, err)
	}

	// The next message has them in its history, the message shows them, and an export names them.
	k.Ask("And now?", func(m *kernel.Submit) { m.SessionID = r.SessionID })
	if _, all := lastUser(t, k); !slices.ContainsFunc(all, func(p wirePart) bool { return strings.Contains(p.Text, "[page 2]\nRisks") }) ||
		!slices.ContainsFunc(all, func(p wirePart) bool { return p.Type == "image_url" }) {
		t.Error("the history forgot what was attached")
	}
	v, err := k.Person().State.Session(t.Context(), r.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if m := v.Messages[0]; len(m.Attachments) != 7 || m.Attachments[1].Pages != 2 || m.Attachments[1].Tokens == 0 || m.Content != "What is in them?" {
		t.Errorf("the message shows %+v", m.Attachments)
	}
	md, err := k.Person().State.ExportSession(t.Context(), r.SessionID, "md")
	if err != nil || !strings.Contains(md, "- Attached: report.pdf (pdf, 2 pages)\n") {
		t.Errorf("got %v:\n%s", err, md)
	}
}

// A file of this machine that is too large or of another kind is named, and never read.
func TestOnlyThePersonAttaches(t *testing.T) {
	t.Parallel()
	k := open(t)
	agent := k.Agent("auto")
	file := saved(t, t.TempDir(), "notes.txt", []byte("text"))
	_, err := agent.State.Attach(t.Context(), kernel.AttachInput{Path: file})
	for call, err := range map[string]error{
		"state.attach":            err,
		"state.attachPart":        second(agent.State.AttachPart(t.Context(), "x", 0, nil)),
		"state.detach":            agent.State.Detach(t.Context(), "x"),
		"state.attachments":       second(agent.State.Attachments(t.Context(), []string{"x"})),
		"state.attachmentContent": second(agent.State.AttachmentContent(t.Context(), "x")),
	} {
		if sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("%s: got %v, want forbidden", call, err)
		}
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil || !strings.Contains(string(raw), "AccessDenied") || !strings.Contains(string(raw), "state.attachmentContent") {
		t.Error("the refusal is not in the audit chain")
	}
}

func second[T any](_ T, err error) error { return err }

func TestAttachmentsGoWithTheLastConversationThatHasThem(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatScript))
	state := k.Person().State
	a := attach(t, k, saved(t, t.TempDir(), "report.docx", wordFile(t, "shared")))
	first := k.Ask("Read it.", with(a))
	branch, err := state.BranchSession(t.Context(), first.RunID)
	if err != nil {
		t.Fatal(err)
	}
	other := k.Ask("Read it too.", with(a))
	if err := state.Detach(t.Context(), a.ID); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("detach a sent one: got %v, want conflict", err)
	}
	for i, session := range []string{first.SessionID, other.SessionID, branch.ID} {
		if c, err := state.AttachmentContent(t.Context(), a.ID); err != nil || !strings.Contains(c.Text, "shared") {
			t.Fatalf("before deletion %d: got %q, %v", i, c.Text, err)
		}
		v, err := state.Session(t.Context(), session)
		if err != nil || len(v.Messages[0].Attachments) != 1 {
			t.Errorf("conversation %d does not show it: %v", i, err)
		}
		if _, err := state.DeleteSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := state.AttachmentContent(t.Context(), a.ID); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("after the last one: got %v, want not_found", err)
	}
	if left := files(t, k); len(left) != 0 {
		t.Errorf("the content is still there: %v", left)
	}
}

// clock can be set forward.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func TestUnsentAttachmentsSurviveARestartAndGoAfterAWeek(t *testing.T) {
	t.Parallel()
	c := &clock{}
	k := open(t, kerneltest.Script(chatScript), kerneltest.With(func(o *kernel.Options) { o.Clock = c.now }))
	unsent := attach(t, k, saved(t, t.TempDir(), "draft.txt", []byte("unsent")))
	sent := attach(t, k, saved(t, t.TempDir(), "sent.txt", []byte("sent")))
	k.Ask("Read it.", with(sent))
	k.Restart()
	known := func() []string {
		list, err := k.Person().State.Attachments(t.Context(), []string{sent.ID, "none", unsent.ID})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, a := range list {
			names = append(names, a.Name)
		}
		return names
	}
	c.ahead.Store(int64(6 * 24 * time.Hour))
	k.CollectAttachments(t.Context())
	if got := known(); !slices.Equal(got, []string{"sent.txt", "draft.txt"}) {
		t.Errorf("after 6 days: got %v, want both, in the order asked for", got)
	}
	c.ahead.Store(int64(8 * 24 * time.Hour))
	k.CollectAttachments(t.Context())
	if got := known(); !slices.Equal(got, []string{"sent.txt"}) {
		t.Errorf("after 8 days: got %v, want what was sent", got)
	}
	if left := files(t, k); len(left) != 1 {
		t.Errorf("got %v, want the content of what was sent", left)
	}
	if _, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: "x", Attachments: []string{unsent.ID}}); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("send one that is gone: got %v, want not_found", err)
	}
}

func TestModelThatDoesNotSeeGetsNoPicture(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatScript), seeing(false))
	photo := attach(t, k, saved(t, t.TempDir(), "바다.png", picture(t, 9, 9)))
	_, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: "What is this?", Attachments: []string{photo.ID}})
	e := sys.AsError(err)
	if err == nil || !strings.Contains(e.Message, "바다.png is a picture, and oxios-demo does not see pictures") || !strings.Contains(e.Hint, "model that sees") || e.MessageKO == "" {
		t.Fatalf("got %v", err)
	}
	if n := k.Demo.Served(); n != 0 {
		t.Errorf("%d requests went out", n)
	}
	if list, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{}); err != nil || len(list) != 0 {
		t.Errorf("got %d conversations, %v; want none", len(list), err)
	}
}

const slowScript = `
[[scenario]]
name = "slow"
any = ["work"]
[[scenario.turn]]
text = "I look."
[[scenario.turn.call]]
tool = "ls"
args = '{"path": "."}'
[[scenario.turn]]
text = "Both read."
`

func TestAttachmentOfAQueuedMessageJoinsTheRun(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(slowScript))
	if _, err := k.Person().Agents.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	sent := k.Say("work")
	a := attach(t, k, saved(t, t.TempDir(), "more.txt", []byte("the second part")))
	second := k.Say("also this", with(a), func(m *kernel.Submit) { m.SessionID = sent.SessionID })
	if !second.Queued {
		t.Fatal("it was not queued")
	}
	waiting, err := k.Person().Agents.Queued(t.Context(), sent.SessionID)
	if err != nil || len(waiting) != 1 || len(waiting[0].Attachments) != 1 {
		t.Fatalf("got %+v, %v", waiting, err)
	}
	if _, err := k.Person().Agents.Pause(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	k.Wait(sent.RunID)
	k.Until("the queued message was answered", func() bool {
		if len(k.Demo.Requests()) < 2 {
			return false
		}
		_, all := lastUser(t, k)
		return slices.ContainsFunc(all, func(p wirePart) bool { return strings.Contains(p.Text, "the second part") })
	})
}

func TestAskingAgainTakesTheAttachmentsAlong(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatScript))
	a := attach(t, k, saved(t, t.TempDir(), "notes.txt", []byte("the notes")))
	r := k.Ask("Read.", with(a))
	for name, tc := range map[string]struct {
		change func(*kernel.Submit)
		want   bool
	}{
		"the same again":    {func(*kernel.Submit) {}, true},
		"edited":            {func(m *kernel.Submit) { m.Text = "Read well." }, true},
		"edited without it": {func(m *kernel.Submit) { m.Text, m.Attachments = "Read.", []string{} }, false},
	} {
		m := kernel.Submit{InsteadOf: r.RunID}
		tc.change(&m)
		sent, err := k.Person().Agents.Submit(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		k.Wait(sent.RunID)
		parts, _ := lastUser(t, k)
		if got := strings.Contains(parts[0].Text, "the notes"); got != tc.want {
			t.Errorf("%s: the notes went along: %t, want %t", name, got, tc.want)
		}
	}
}

func TestPictureAloneIsAMessage(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatScript), seeing(true))
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	photo, err := upload(t, k, "sea.jpg", b.Bytes(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	r := k.Ask("", with(photo))
	s, err := k.Person().State.Session(t.Context(), r.SessionID)
	if err != nil || s.Session.Title != "sea.jpg" {
		t.Errorf("got title %q, %v; want the name of the picture", s.Session.Title, err)
	}
	if parts, _ := lastUser(t, k); len(parts) != 2 || !strings.HasPrefix(parts[1].Image.URL, "data:image/jpeg;base64,") {
		t.Errorf("got %d parts", len(parts))
	}
	if _, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: "  "}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("an empty message without attachments: got %v", err)
	}
}
