package retrieval

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/philippgille/chromem-go"
)

// smallStore is up to how many vectors chromem-go holds them: it compares with
// each of them. Beyond, the own index is quicker.
const smallStore = 512

// rescored is how many of the nearest by one bit a number are compared exactly at
// least: of a large store, and fewer of a smaller one.
const rescored = 300

// chanceWidth is by how many standard deviations fewer bits than half a vector
// must differ in to be compared at all.
const chanceWidth = 1.5

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

// looked is what a comparison of all vectors needs and the next one can use again.
type looked struct {
	away []uint16 // how many bits of each slot differ
	near []scored
}

// nearest appends the slots whose vectors are most like q to out, at most k.
func (v *vectors) nearest(q []float32, k int, l *looked, out []int32) []int32 {
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
	v.candidates(q, max(2*k, min(rescored, 96+v.count/64)), l)
	near := l.near
	slices.SortFunc(near, nearer)
	for _, s := range near[:min(k, len(near))] {
		out = append(out, s.n)
	}
	return out
}

type scored struct {
	n    int32
	like float32
}

func nearer(a, b scored) int {
	if a.like != b.like {
		return cmp.Compare(b.like, a.like)
	}
	return cmp.Compare(a.n, b.n)
}

// candidates finds about the most slots whose bits differ least from those of q,
// with their exact likeness.
func (v *vectors) candidates(q []float32, most int, l *looked) {
	w := v.words()
	want := make([]uint64, w)
	encode(want, q)
	if len(l.away) < len(v.has) {
		l.away = make([]uint16, len(v.has)+len(v.has)/8)
	}
	away := l.away
	counts := make([]int32, w*64+1)
	for n, has := range v.has {
		if !has {
			continue
		}
		d, code := 0, v.codes[n*w:n*w+w]
		i := 0
		for ; i+4 <= len(code) && i+4 <= len(want); i += 4 {
			c, q := code[i:i+4:i+4], want[i:i+4:i+4]
			d += bits.OnesCount64(c[0]^q[0]) + bits.OnesCount64(c[1]^q[1]) + bits.OnesCount64(c[2]^q[2]) + bits.OnesCount64(c[3]^q[3])
		}
		for ; i < len(code); i++ {
			d += bits.OnesCount64(code[i] ^ want[i])
		}
		away[n] = uint16(d) //nolint:gosec // at most the dimension
		counts[d]++
	}
	// One that differs in nearly half of its bits is no more like q than by chance.
	chance := int(float64(v.dim)/2 - chanceWidth*math.Sqrt(float64(v.dim))/2)
	limit, sum := 0, int32(0)
	for d, c := range counts[:chance+1] {
		limit = d
		if sum += c; int(sum) >= most {
			break
		}
	}
	l.near = l.near[:0]
	for n, has := range v.has {
		if has && int(away[n]) <= limit {
			l.near = append(l.near, scored{int32(n), dot(v.of(int32(n)), q)}) //nolint:gosec // see Put
		}
	}
}

// encode keeps one bit a number: on which side of as many planes a vector lies
// (Charikar, 2002). The planes are those of the axes, turned by a Hadamard
// transform of the numbers with fixed signs, as many numbers of a hashed vector are
// zero and lie on no side.
func encode(code []uint64, vec []float32) {
	turned := turn(vec)
	clear(code)
	for i, x := range turned {
		if x > 0 {
			code[i/64] |= 1 << (i % 64)
		}
	}
}

// turn is the transform, in blocks of the largest power of two that divides the
// dimension.
func turn(vec []float32) []float32 {
	out := make([]float32, len(vec))
	state := uint64(1)
	for i, x := range vec {
		state ^= state << 13 // xorshift (Marsaglia, 2003)
		state ^= state >> 7
		state ^= state << 17
		if state&(1<<32) != 0 {
			x = -x
		}
		out[i] = x
	}
	block := len(vec) & -len(vec)
	for at := 0; at < len(out); at += block {
		b := out[at : at+block]
		for half := 1; half < block; half *= 2 {
			for i := 0; i < block; i += 2 * half {
				for j := i; j < i+half; j++ {
					b[j], b[j+half] = b[j]+b[j+half], b[j]-b[j+half]
				}
			}
		}
	}
	return out
}

func isZero(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}
