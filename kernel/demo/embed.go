package demo

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// EmbedID is the name of the scripted model that embeds texts.
const EmbedID = "oxios-demo-embed"

// embedDim is how many numbers its vectors have, unless [Server.SetEmbedDim] says
// otherwise.
const embedDim = 64

// concepts are words that mean much the same: the scripted model gives them one
// direction, as a learned one would.
var concepts = [][]string{
	{"car", "automobile", "vehicle", "자동차", "차량"},
	{"dog", "puppy", "hound", "강아지"},
	{"doctor", "physician", "의사"},
	{"buy", "purchase", "bought", "구매"},
	{"home", "house", "apartment", "집"},
	{"invoice", "bill", "청구서"},
}

// embed answers /v1/embeddings with vectors that depend on the words alone, so
// that every run of a test gets the same.
func (s *Server) embed(w http.ResponseWriter, body []byte) {
	var req struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	var texts []string
	if json.Unmarshal(body, &req) != nil || json.Unmarshal(req.Input, &texts) != nil {
		var one string
		if json.Unmarshal(req.Input, &one) != nil {
			refuse(w, http.StatusBadRequest, "invalid_request_error", "", "The body is not the JSON of a request for embeddings.")
			return
		}
		texts = []string{one}
	}
	if req.Model != EmbedID && !slices.Contains(s.Models, req.Model) {
		refuse(w, http.StatusNotFound, "invalid_request_error", "model_not_found", fmt.Sprintf("The model `%s` does not exist.", req.Model))
		return
	}
	if fail := s.embedFault(); fail != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(fail.Status)
		_, _ = w.Write([]byte(fail.Body)) // the client may be gone
		return
	}
	s.mu.Lock()
	dim := s.embedDim
	s.mu.Unlock()
	type entry struct {
		Object string    `json:"object"`
		Index  int       `json:"index"`
		Vector []float32 `json:"embedding"`
	}
	data := make([]entry, 0, len(texts))
	tokens := 0
	for i, text := range texts {
		data = append(data, entry{"embedding", i, conceptVector(text, dim)})
		tokens += len(text)/4 + 1
	}
	s.count(&usage{Prompt: tokens, Total: tokens})
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "model": req.Model, "data": data, "usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens}})
}

// EmbedFault is an answer in place of vectors.
type EmbedFault struct {
	Status int
	Body   string
}

// FailEmbeddings has every request for embeddings answered with f, until it is
// called with nil.
func (s *Server) FailEmbeddings(f *EmbedFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.embedFails = f
}

func (s *Server) embedFault() *EmbedFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.embedFails
}

// SetEmbedDim has vectors of another dimension given from now on.
func (s *Server) SetEmbedDim(dim int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.embedDim = dim
}

// conceptVector adds a direction for each word, the same for words of one
// concept. What nearly every text has stays out.
func conceptVector(text string, dim int) []float32 {
	v := make([]float32, dim)
	v[0] = 0.3 // as learned ones: no two texts are wholly unlike
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for i, c := range concepts {
			if slices.Contains(c, word) || slices.Contains(c, strings.TrimSuffix(word, "s")) {
				word = fmt.Sprint("concept ", i)
			}
		}
		if len(word) < 4 {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // it never fails
		sum := h.Sum64()
		for i := range dim {
			sum = sum*6364136223846793005 + 1442695040888963407
			v[i] += float32(int64(sum>>33)-1<<30) / (1 << 30)
		}
	}
	var length float64
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}
