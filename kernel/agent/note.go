package agent

import (
	"context"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Note is something that the kernel tells a run between two steps, and the
// person with it.
type Note struct {
	Text  string    `json:"text"`            // what the model reads
	Title sys.Words `json:"title"`           // what a person reads
	About string    `json:"about,omitempty"` // whom or what it is about, for the kernel
}

// takeNotes makes each note a step of its own.
func (x *run) takeNotes(ctx context.Context) error {
	if x.spec.Notes == nil {
		return nil
	}
	keep := context.WithoutCancel(ctx)
	for _, n := range x.spec.Notes() {
		if err := x.takeNote(keep, n); err != nil {
			return err
		}
	}
	return nil
}

// takeNote makes a note a step of its own.
func (x *run) takeNote(ctx context.Context, n Note) error {
	open := x.journal.Plan(&store.Step{Kind: store.StepNote, Name: "oxios", Args: mustJSON(n)})
	if err := open.Start(ctx, nil); err != nil {
		return err
	}
	if err := x.closeStep(ctx, open, store.OutcomeOK, mustJSON(n), nil); err != nil {
		return err
	}
	x.talk, x.own = noted(x.talk, n), noted(x.own, n)
	return nil
}

// noted adds a note to what a model reads: to the result that it reads next, so
// that it does not stand there as a word of the person.
func noted(talk []llm.Message, n Note) []llm.Message {
	if last := len(talk) - 1; last >= 0 && talk[last].Role == llm.RoleTool {
		talk[last].Content += "\n\n" + n.Text
		return talk
	}
	return append(talk, llm.Message{Role: llm.RoleUser, Content: n.Text})
}
