package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/sys"
)

// prompts are the skills that a person may start by name.
func (f *face) prompts(ctx context.Context) (out []*sdk.Prompt, err error) {
	if !f.has("skills.read") {
		return nil, nil
	}
	all, err := f.h.Skills.List(ctx)
	if err != nil {
		return nil, problem(err)
	}
	for _, s := range all {
		if s.State == "ready" && s.UserInvocable {
			out = append(out, &sdk.Prompt{Name: s.Name, Description: s.Description, Arguments: []*sdk.PromptArgument{{Name: "request", Description: "What to do with it."}}})
		}
	}
	return out, nil
}

// prompt is a skill as a message; nil for a name that is none's.
func (f *face) prompt(ctx context.Context, p *sdk.GetPromptParams) (*sdk.GetPromptResult, error) {
	if !f.has("skills.read") {
		return nil, nil
	}
	all, err := f.prompts(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Name != p.Name {
			continue
		}
		read, err := f.h.Skills.Read(ctx, p.Name, "")
		if err != nil {
			return nil, problem(err)
		}
		body := read.Text
		if r := p.Arguments["request"]; r != "" {
			body += "\n\n" + r
		}
		return &sdk.GetPromptResult{Description: s.Description, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: body}}}}, nil
	}
	return nil, nil
}

// notFound is the error of the protocol for what is not there, and any other as it is.
func notFound(uri string, err error) error {
	if sys.CodeOf(err) == sys.CodeNotFound {
		return sdk.ResourceNotFoundError(uri)
	}
	return problem(err)
}
