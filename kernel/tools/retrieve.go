package tools

import (
	"oxios/kernel"
	"oxios/kernel/retrieval"
)

// Retriever finds tools by what somebody wants to do, in Korean and in English.
type Retriever struct{ index *retrieval.Index }

// likeWeight is what likeness of spelling is worth among tools: there are few,
// and their descriptions are short.
const likeWeight = 0.1

// NewRetriever returns what finds these tools.
func NewRetriever(all []kernel.ToolInfo) *Retriever {
	var about []string
	for _, t := range all {
		about = append(about, t.Description)
	}
	names := retrieval.NewNames(about)
	r := &Retriever{index: retrieval.NewTopical()}
	for _, t := range all {
		extra := names.Words(t.Name) + " " + t.Terms
		r.index.Put(retrieval.Doc{ID: t.Name, Text: t.Description, Extra: extra, Vector: retrieval.HashVector(extra + " " + t.Description)})
	}
	return r
}

// Find returns the names of the k tools that fit best, the best first.
func (r *Retriever) Find(query string, k int) []string {
	out := []string{}
	for _, h := range r.index.Search(retrieval.Query{Text: query, Vector: retrieval.HashVector(query), K: k, Weight: likeWeight}) {
		out = append(out, h.ID)
	}
	return out
}
