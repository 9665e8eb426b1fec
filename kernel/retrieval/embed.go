package retrieval

import (
	"math"
	"unicode/utf8"
)

// HashName and HashDim are the embedder that is built in: what stands in the
// database beside a vector of it, and how many numbers it has.
const (
	HashName = "hash-256-v1"
	HashDim  = 256
)

// HashVector is the embedding of a text that needs no network and no weights:
// its terms, and the beginnings, ends and inner triples of its longer words, are
// hashed with a sign into 256 numbers (Weinberger et al., 2009), so that texts
// with words that are written alike lie close together. Its length is 1, or 0 for a text
// without words.
func HashVector(text string) []float32 {
	v := make([]float32, HashDim)
	eachWord(text, func(word string, pairs bool) {
		if pairs {
			if koreanStop(word) {
				return
			}
			for _, p := range appendPairs(nil, word) {
				addHash(v, p, 1)
			}
			return
		}
		stem := stemOf(word)
		if stem == "" {
			return
		}
		addHash(v, stem, 1)
		if n := utf8.RuneCountInString(word); n >= 5 {
			padded := "<" + word + ">"
			for i := 0; i+3 <= len(padded); i++ {
				addHash(v, padded[i:i+3], float32(1/math.Sqrt(float64(len(padded)))))
			}
		}
	})
	Normalize(v)
	return v
}

func addHash(v []float32, s string, weight float32) {
	// FNV-1a, and a finalizer, as its low bits alone are not even.
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	// In two places, so that two words that meet in one of them are still not the same.
	weight *= math.Sqrt2 / 2
	for range 2 {
		if h&(1<<15) != 0 {
			v[h%HashDim] -= weight
		} else {
			v[h%HashDim] += weight
		}
		h >>= 32
	}
}

// Normalize gives a vector the length 1. One of length 0, or with a number that
// is none, becomes all zeros, and is then like no other.
func Normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		clear(v)
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}

// dot is the product of two vectors of the same length.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
