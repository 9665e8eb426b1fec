package kernel

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"oxios/kernel/document"
	"oxios/kernel/llm"
	"oxios/kernel/mcp"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// serverLabel is where what a server said came from.
func serverLabel(server string) Label {
	return store.NewLabel(Label{Origin: store.LabelServer, Untrusted: true, Name: server}, "", sys.Say("what the server %s said", server))
}

// attachResource notes a resource of a server. It is read when the message is sent.
func (k *Kernel) attachResource(ctx context.Context, of MCPRead, name string) (Attachment, error) {
	if of.Server == "" || of.URI == "" || len(of.URI) > 2000 {
		return Attachment{}, sys.Errorf(sys.CodeInvalid, "A resource has a server and a URI. Nothing was attached.")
	}
	a := Attachment{Kind: store.AttachResource, Name: cleanName(cmp.Or(name, of.URI)), Server: of.Server, URI: of.URI}
	return k.saveAttachment(ctx, a, nil)
}

// fetchAttached reads what servers have for a message of the person: the resources that are attached and were not read yet, and
// the prompt that its text begins with. Each is read through the guard as a call of the person's own.
func (a *AgentsAPI) fetchAttached(ctx context.Context, m *Submit) error {
	h := a.k.As(a.who).In(cmp.Or(m.Folder, a.scope.folder))
	list, err := a.k.store.Attachments(ctx, m.Attachments)
	if err != nil {
		return err
	}
	for _, at := range list {
		if at.Kind != store.AttachResource || at.Hash != "" {
			continue
		}
		if err := a.k.fetchResource(ctx, h, at); err != nil {
			return notSent(err)
		}
	}
	return a.startPrompt(ctx, h, m)
}

// notSent says of an error that nothing is lost by it.
func notSent(err error) error {
	e := *sys.AsError(err)
	said := sys.Say("Nothing was sent, and your text is kept.")
	e.Message, e.MessageKO = e.Message+" "+said.EN, cmp.Or(e.MessageKO, e.Message)+" "+said.In(true)
	return &e
}

func (k *Kernel) fetchResource(ctx context.Context, h *Handle, at Attachment) error {
	got, err := h.MCP.Read(ctx, mcp.ReadInput{Server: at.Server, URI: at.URI, Whole: true})
	if err != nil {
		return err
	}
	content := []byte(got.Text)
	at.Size, at.Tokens = int64(len(content)), llm.Tokens(shortOf(got.Text, ""))
	if len(got.Pictures) == 1 {
		r, err := k.readDocument(ctx, bytes.NewReader(got.Pictures[0].Data), at.Name)
		if err != nil {
			return err
		}
		if r.Kind == document.Image {
			content = r.Content
			at.Kind, at.MIME, at.Width, at.Height = store.AttachImage, r.MIME, r.Width, r.Height
			at.Size, at.Tokens, at.Note, at.NoteKO = int64(len(got.Pictures[0].Data)), (r.Width*r.Height+749)/750, r.Note.EN, r.Note.KO
		}
	}
	return k.fillAttachment(ctx, at, content)
}

// fillAttachment writes the content of an attachment that had none.
func (k *Kernel) fillAttachment(ctx context.Context, a Attachment, content []byte) error {
	k.attached.saving.RLock()
	defer k.attached.saving.RUnlock()
	if err := k.attached.keep(&a, content); err != nil {
		return err
	}
	return k.store.Write(ctx, func(tx *store.Tx) error { return k.store.FillAttachment(tx, a) })
}

// startPrompt has a server make the prompt that a message begins with, as /server:prompt name=value, and attaches what it gives.
func (a *AgentsAPI) startPrompt(ctx context.Context, h *Handle, m *Submit) error {
	if m.InsteadOf != "" && m.Attachments == nil && strings.TrimSpace(m.Text) != "" { // what an edited message starts is made anew
		r, err := a.k.run(ctx, m.InsteadOf)
		if err != nil {
			return err
		}
		_, ids, err := a.k.askedOf(ctx, r)
		if err != nil {
			return err
		}
		list, err := a.k.store.Attachments(ctx, ids)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(at Attachment) bool { return at.Kind == store.AttachPrompt }) {
			m.Attachments = idsOf(slices.DeleteFunc(list, func(at Attachment) bool { return at.Kind == store.AttachPrompt }))
		}
	}
	in, ok, err := a.k.mcp.ReadPrompt(m.Text)
	if err != nil {
		return notSent(err)
	}
	if !ok {
		return nil
	}
	in.Whole = true
	got, err := h.MCP.Prompt(ctx, in)
	if err != nil {
		return notSent(err)
	}
	at, err := a.k.saveAttachment(ctx, Attachment{
		Kind: store.AttachPrompt, Name: "/" + got.Prompt.Call, Server: in.Server, Prompt: got.Prompt.Call, Size: int64(len(got.Text)), Tokens: llm.Tokens(shortOf(got.Text, "")),
	}, []byte(got.Text))
	if err == nil {
		m.Attachments = append(m.Attachments, at.ID)
	}
	return err
}

// shortOf is what a model gets of what a server said: all of it, or its beginning and its end with the id under which all can
// be read.
func shortOf(text, id string) string {
	short, left, _ := mcp.Cut(text, func(string) string { return id })
	if left > 0 && id != "" {
		short += fmt.Sprintf("\n(To read all of it: exec, action log, id %s, offset 0.)", id)
	}
	return short
}

// logOfAttachment is the id under which an attachment is read on.
const logOfAttachment = "attachment-"

// attachedLog reads a long attachment on. An agent reads those of its conversation.
func (a *ExecAPI) attachedLog(ctx context.Context, id string, offset int64) (JobLog, error) {
	gone := sys.Errorf(sys.CodeNotFound, "The attachment %q is not there any more.", sys.Shorten(id, 60))
	id = strings.TrimPrefix(id, logOfAttachment)
	if a.who.Kind == sys.KindAgent {
		said, err := a.k.store.Messages(ctx, a.scope.sessionID)
		if err != nil {
			return JobLog{}, err
		}
		if !slices.ContainsFunc(said, func(m Message) bool { return slices.Contains(idsOf(m.Attachments), id) }) {
			return JobLog{}, gone
		}
	}
	list, err := a.k.store.Attachments(ctx, []string{id})
	if err != nil || len(list) == 0 || list[0].Server == "" {
		return JobLog{}, gone
	}
	data, err := a.k.attached.content(list[0])
	if err != nil {
		return JobLog{}, err
	}
	text := a.k.masked(string(data))
	text = text[min(offset, int64(len(text))):]
	part := cutText(text, maxLogPart)
	return JobLog{Text: strings.ToValidUTF8(part, ""), Next: offset + int64(len(part)), Done: len(part) == len(text)}, nil
}
