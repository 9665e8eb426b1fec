package llm

import (
	"context"
	"math"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"oxios/kernel/sys"
)

// Embeddings are the vectors of texts, in their order, as the endpoint gave
// them: all of one dimension, and each with a length.
type Embeddings struct {
	Vectors [][]float32
	Usage   Usage // of input alone
}

// Embed asks for the vectors of texts, once: whoever embeds has time to ask
// again. An answer that is of no use, with a vector missing, of another dimension
// than the others, or without a length, is an error of code provider; what it
// used comes with it. Ollama speaks this form of OpenAI too, and cuts what is too
// long for its model.
func (c *Client) Embed(ctx context.Context, model string, texts []string) (Embeddings, error) {
	request := struct {
		Model  string   `json:"model"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}{model, texts, string(openai.EmbeddingEncodingFormatFloat)}
	var answer struct {
		Data []struct {
			Vector []float32 `json:"embedding"`
			Index  *int      `json:"index"`
		} `json:"data"`
		Usage openai.Usage `json:"usage"`
	}
	if err := c.describe(ctx, http.MethodPost, c.ep.BaseURL+"/embeddings", request, &answer); err != nil {
		return Embeddings{}, c.embedError(c.explain(ctx, err, model, nil), model)
	}
	out := Embeddings{Vectors: make([][]float32, len(texts)), Usage: Usage{Input: answer.Usage.PromptTokens, Reported: answer.Usage.PromptTokens > 0}.sane()}
	for i, d := range answer.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i >= 0 && i < len(texts) {
			out.Vectors[i] = d.Vector
		}
	}
	if wrong := wrongVectors(out.Vectors); wrong != (sys.Words{}) {
		return out, c.fault(sys.CodeProvider, false, "Choose a model that embeds texts.", "The model %s of %s gave no vectors that can be used: %s.", model, c.ep.name(), wrong).told
	}
	return out, nil
}

// wrongVectors says what is wrong with an answer.
func wrongVectors(all [][]float32) sys.Words {
	for _, v := range all {
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		switch {
		case len(v) == 0:
			return sys.Say("some are missing")
		case len(v) != len(all[0]):
			return sys.Say("they are of several dimensions")
		case sum == 0 || math.IsInf(sum, 0):
			return sys.Say("they have no length")
		}
	}
	return sys.Words{}
}

// embedError says an error in the words of one who embeds: there is no
// conversation here, and no model that chats.
func (c *Client) embedError(f *fault, model string) *sys.Error {
	switch {
	case f.told.Code == sys.CodeUnknownModel && c.ep.Kind == KindOllama:
		return f.told.WithHint("Fetch it with `ollama pull %s`.", model)
	case f.told.Code == sys.CodeContextLength:
		return sys.Errorf(sys.CodeContextLength, "A text is too long for the model %s.", model).WithHint("Choose a model for longer texts.").WithCause(f.told)
	case f.status >= http.StatusBadRequest && f.status < http.StatusInternalServerError && strings.Contains(f.words, "embed"):
		return f.told.WithHint("Choose a model that embeds texts.")
	}
	return f.told
}
