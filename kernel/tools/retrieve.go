package tools

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"oxios/kernel"
	"oxios/kernel/retrieval"
)

// Retriever finds tools by what somebody wants to do, in Korean and in English.
type Retriever struct {
	index *retrieval.Index
	owner map[string]string // of tools that servers bring, by name
}

// likeWeight is what likeness of spelling is worth among tools: there are few,
// and their descriptions are short.
const likeWeight = 0.1

// described is a tool or a skill as it is found.
type described struct {
	id, name, about string
	owner           string // the server that brings it
	terms           string // further words that it is found by, like those of its name
	args            string // the names of its arguments, which say less
}

// NewRetriever returns what finds these tools.
func NewRetriever(all []kernel.ToolInfo) *Retriever {
	list := make([]described, len(all))
	for i, t := range all {
		list[i] = described{id: t.Name, name: t.Name, about: t.Description, terms: t.Terms}
	}
	return retrieverOf(retrieval.NewTopical(), list)
}

func retrieverOf(index *retrieval.Index, all []described) *Retriever {
	var about []string
	for _, t := range all {
		about = append(about, t.about)
	}
	names := retrieval.NewNames(about)
	r := &Retriever{index: index, owner: map[string]string{}}
	for _, t := range all {
		if t.owner != "" {
			r.owner[t.id] = t.owner
		}
		extra := names.Words(t.name) + " " + withDigits(t.name) + " " + t.terms
		r.index.Put(retrieval.Doc{ID: t.id, Text: t.about, Extra: extra, Owner: names.Words(t.owner), Aside: t.args, Vector: retrieval.HashVector(names.Words(t.owner) + " " + extra + " " + t.about)})
	}
	return r
}

// withDigits are the parts of a name that have a digit, as they are written: ec2 and s3 are words too.
func withDigits(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	parts = slices.DeleteFunc(parts, func(p string) bool { return strings.IndexFunc(p, unicode.IsDigit) < 0 })
	return strings.Join(parts, " ")
}

// How many tools are looked at where servers bring them, and what the mean of the best three of its server adds to the score
// of a tool: a goal that several tools of one server have to do with is one for that server.
const (
	lookedAt    = 48
	bestOfOwner = 3
	ownerShare  = 0.8
)

// Find returns the names of the k tools that fit best, the best first.
func (r *Retriever) Find(query string, k int) []string {
	q := retrieval.Query{Text: query, Vector: retrieval.HashVector(query), K: k, Weight: likeWeight}
	if len(r.owner) > 0 {
		q.K = max(k, lookedAt)
	}
	hits := r.index.Search(q)
	if len(r.owner) > 0 {
		counted, sums := map[string]int{}, map[string]float32{}
		for _, h := range hits {
			if o := r.owner[h.ID]; counted[o] < bestOfOwner {
				counted[o]++
				sums[o] += h.Score
			}
		}
		for i, h := range hits {
			hits[i].Score += ownerShare / bestOfOwner * sums[r.owner[h.ID]]
		}
		slices.SortStableFunc(hits, func(a, b retrieval.Hit) int { return cmp.Compare(b.Score, a.Score) })
	}
	out := []string{}
	for _, h := range hits[:min(k, len(hits))] {
		out = append(out, h.ID)
	}
	return out
}
