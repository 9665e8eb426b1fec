package retrieval

import (
	"context"
	"math/bits"
	"slices"
	"strconv"

	"github.com/philippgille/chromem-go"
)

// smallStore is up to how many vectors chromem-go holds them: it compares with
// each of them. Beyond, the own index is quicker.
const smallStore = 512

// rescored is how many of the nearest by one bit a number are compared exactly,
// at least.
const rescored = 400

// vectors are the vectors of the texts by their slots: in a collection of
// chromem-go while they are few, then as one bit a number, to find candidates,
// and whole, to compare those exactly.
type vectors struct {
	dim   int
	count int
	small *chromem.Collection
	codes []uint64  // dim/64 words a slot
	whole []float32 // dim numbers a slot
	has   []bool    // by slot
}

func (v *vectors) words() int { return (v.dim + 63) / 64 }

// put adds the vector of a slot. One of another dimension is left out: its
// owner is about to embed it anew.
func (v *vectors) put(n int32, vec []float32) {
	if len(vec) == 0 || v.count > 0 && len(vec) != v.dim || isZero(vec) {
		return
	}
	if v.count == 0 {
		*v = vectors{dim: len(vec)}
	}
	for len(v.has) <= int(n) {
		v.has = append(v.has, false)
	}
	if need := len(v.has); len(v.whole) < need*v.dim {
		v.whole = append(v.whole, make([]float32, need*v.dim-len(v.whole))...)
		v.codes = append(v.codes, make([]uint64, need*v.words()-len(v.codes))...)
	}
	copy(v.of(n), vec)
	encode(v.code(n), vec)
	v.has[n] = true
	v.count++
	v.keepSmall(n)
}

// keepSmall has chromem-go know a slot, or leave when there are too many.
func (v *vectors) keepSmall(n int32) {
	if v.count > smallStore {
		v.small = nil
		return
	}
	if v.small == nil {
		if v.count > 1 { // it was larger before: the own index goes on
			return
		}
		var err error
		if v.small, err = chromem.NewDB().CreateCollection("texts", nil, noEmbedding); err != nil {
			v.small = nil
			return
		}
	}
	if err := v.small.AddDocument(context.Background(), chromem.Document{ID: strconv.Itoa(int(n)), Embedding: slices.Clone(v.of(n)), Content: "-"}); err != nil {
		v.small = nil // the own index holds everything too
	}
}

// noEmbedding keeps chromem-go from asking a service: whatever it gets has its
// vector.
func noEmbedding(context.Context, string) ([]float32, error) { return nil, context.Canceled }

func (v *vectors) remove(n int32) {
	if int(n) >= len(v.has) || !v.has[n] {
		return
	}
	v.has[n] = false
	v.count--
	if v.small != nil {
		if err := v.small.Delete(context.Background(), nil, nil, strconv.Itoa(int(n))); err != nil {
			v.small = nil
		}
	}
}

func (v *vectors) of(n int32) []float32 { return v.whole[int(n)*v.dim : (int(n)+1)*v.dim] }
func (v *vectors) code(n int32) []uint64 {
	w := v.words()
	return v.codes[int(n)*w : (int(n)+1)*w]
}

// like is the cosine of a slot's vector and q; 0 where one of them has none.
func (v *vectors) like(n int32, q []float32) float32 {
	if len(q) != v.dim || int(n) >= len(v.has) || !v.has[n] {
		return 0
	}
	return dot(v.of(n), q)
}

// nearest appends the slots whose vectors are most like q to out, at most k.
func (v *vectors) nearest(q []float32, k int, out []int32) []int32 {
	if v.count == 0 || len(q) != v.dim || isZero(q) {
		return out
	}
	if v.small != nil {
		found, err := v.small.QueryEmbedding(context.Background(), q, min(k, v.small.Count()), nil, nil)
		if err == nil {
			for _, r := range found {
				if n, err := strconv.ParseInt(r.ID, 10, 32); err == nil {
					out = append(out, int32(n))
				}
			}
			return out
		}
	}
	near := v.candidates(q, max(rescored, 2*k))
	slices.SortFunc(near, func(a, b scored) int {
		if a.like != b.like {
			if a.like > b.like {
				return -1
			}
			return 1
		}
		return int(a.n) - int(b.n)
	})
	for _, s := range near[:min(k, len(near))] {
		out = append(out, s.n)
	}
	return out
}

type scored struct {
	n    int32
	like float32
}

// candidates are about the most slots whose bits differ least from those of q,
// with their exact likeness.
func (v *vectors) candidates(q []float32, most int) []scored {
	w := v.words()
	want := make([]uint64, w)
	encode(want, q)
	away := make([]uint16, len(v.has))
	counts := make([]int32, w*64+1)
	for n, has := range v.has {
		if !has {
			continue
		}
		d := 0
		for i, word := range v.codes[n*w : n*w+w] {
			d += bits.OnesCount64(word ^ want[i])
		}
		away[n] = uint16(d) //nolint:gosec // at most the dimension
		counts[d]++
	}
	limit, sum := 0, int32(0)
	for d, c := range counts {
		limit = d
		if sum += c; int(sum) >= most {
			break
		}
	}
	out := make([]scored, 0, sum)
	for n, has := range v.has {
		if has && int(away[n]) <= limit {
			out = append(out, scored{int32(n), dot(v.of(int32(n)), q)}) //nolint:gosec // see Put
		}
	}
	return out
}

// encode keeps the sign of each number.
func encode(code []uint64, vec []float32) {
	clear(code)
	for i, x := range vec {
		if x > 0 {
			code[i/64] |= 1 << (i % 64)
		}
	}
}

func isZero(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}
