package retrieval

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/philippgille/chromem-go"
)

// sizes are the stores that are measured, in texts. A million takes minutes and
// four gigabytes: OXIOS_BENCH_LARGE=1 asks for it.
func sizes() []int {
	if os.Getenv("OXIOS_BENCH_LARGE") != "" {
		return []int{1_000, 10_000, 100_000, 1_000_000}
	}
	return []int{1_000, 10_000, 100_000}
}

// benchIndex holds n texts of words that are as common as those of a language
// (Zipf).
func benchIndex(n int) (*Index, *rand.Zipf) {
	z := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 8, 60_000)
	x := New()
	for i := range n {
		text := benchText(z, 14)
		x.Put(Doc{ID: fmt.Sprint(i), Text: text, Thread: fmt.Sprint(i / 20), At: int64(i), Vector: HashVector(text)})
	}
	return x, z
}

func benchText(z *rand.Zipf, words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%dx ", z.Uint64())
	}
	return b.String()
}

// BenchmarkP4Recall asks by words and vectors, beside chromem-go that compares
// the vector with each one. Recall is the share of the ten best of all texts, each
// scored by all its words and its whole vector, that are found; that of vectors
// alone is reported beside it.
func BenchmarkP4Recall(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprintf("texts=%d", n), func(b *testing.B) {
			x, z := benchIndex(n)
			queries := make([]Query, 64)
			for i := range queries {
				text := benchText(z, 6)
				queries[i] = Query{Text: text, Vector: HashVector(text)}
			}
			var ours []time.Duration
			for b.Loop() {
				q := queries[len(ours)%len(queries)]
				ours = append(ours, took(func() { x.Search(q) }))
			}
			b.ReportMetric(median(ours).Seconds()*1e3, "median_ms(goal<=1.5)")
			b.ReportMetric(hybridRecall(x, queries), "recall(goal>=.99)")
			b.ReportMetric(recallOf(&x.vectors, queries), "recall_vectors")
			if n <= 100_000 {
				b.ReportMetric(float64(chromemTook(b, &x.vectors, queries))/float64(median(ours)), "x-of-chromem(goal>=50)")
			}
		})
	}
}

// BenchmarkP4Dense asks for vectors as models make them: long, without a zero, in
// clusters.
func BenchmarkP4Dense(b *testing.B) {
	const n, dim = 100_000, 768
	r := rand.New(rand.NewPCG(5, 6))
	clusters := make([][]float32, 2_000)
	for i := range clusters {
		clusters[i] = make([]float32, dim)
		for j := range clusters[i] {
			clusters[i][j] = float32(r.NormFloat64())
		}
	}
	near := func() []float32 {
		c, v := clusters[r.IntN(len(clusters))], make([]float32, dim)
		for j := range v {
			v[j] = c[j] + 0.8*float32(r.NormFloat64())
		}
		Normalize(v)
		return v
	}
	var v vectors
	for i := range n {
		v.put(int32(i), near())
	}
	queries := make([]Query, 64)
	for i := range queries {
		queries[i].Vector = near()
	}
	var ours []time.Duration
	var l looked
	for b.Loop() {
		q := queries[len(ours)%len(queries)].Vector
		ours = append(ours, took(func() { v.nearest(q, 10, &l, nil) }))
	}
	b.ReportMetric(median(ours).Seconds()*1e3, "median_ms")
	b.ReportMetric(recallOf(&v, queries), "recall(goal>=.99)")
}

// hybridRecall is the share of the ten best texts that are found, where each text
// is scored and nothing is left out.
func hybridRecall(x *Index, queries []Query) float64 {
	found, all := 0, 0
	for _, q := range queries {
		s := &scratch{}
		s.grow(len(x.docs), len(x.threads.names))
		terms := x.termsOf(q.Text)
		most := x.byWords(s, terms, true)
		for n := range x.docs {
			s.mark(int32(n))
		}
		x.withThreads(s)
		exact := make([]candidate, 0, len(x.docs))
		for n := range x.docs {
			c := candidate{score: x.wordsOf(s, int32(n)) / max(most.score, 1e-9), n: int32(n)}
			if like := x.vectors.like(c.n, q.Vector); like > likeFloor {
				c.score += hashWeight * like
			}
			exact = append(exact, c)
		}
		slices.SortFunc(exact, func(a, c candidate) int {
			return cmp.Or(cmp.Compare(c.score, a.score), cmp.Compare(x.docs[a.n].id, x.docs[c.n].id))
		})
		got := x.Search(q)
		for _, c := range exact[:10] {
			if c.score <= 0 {
				break // nothing that is like it at all
			}
			all++
			if slices.ContainsFunc(got, func(h Hit) bool { return h.ID == x.docs[c.n].id }) {
				found++
			}
		}
	}
	return float64(found) / float64(all)
}

// recallOf is the share of the ten nearest vectors that are found.
func recallOf(v *vectors, queries []Query) float64 {
	found, all := 0, 0
	for _, q := range queries {
		exact := make([]scored, 0, v.count)
		for n, has := range v.has {
			if has {
				exact = append(exact, scored{int32(n), dot(v.of(int32(n)), q.Vector)})
			}
		}
		slices.SortFunc(exact, nearer)
		got := v.nearest(q.Vector, 10, &looked{}, nil)
		for _, s := range exact[:min(10, len(exact))] {
			if s.like <= likeFloor {
				break // nothing that is like it at all
			}
			all++
			if slices.Contains(got, s.n) {
				found++
			}
		}
	}
	return float64(found) / float64(max(all, 1))
}

// chromemTook is how long chromem-go takes for the ten nearest.
func chromemTook(b *testing.B, v *vectors, queries []Query) time.Duration {
	b.Helper()
	c, err := chromem.NewDB().CreateCollection("control", nil, noEmbedding)
	if err != nil {
		b.Fatal(err)
	}
	for n, has := range v.has {
		if !has {
			continue
		}
		if err := c.AddDocument(b.Context(), chromem.Document{ID: fmt.Sprint(n), Embedding: v.of(int32(n)), Content: "-"}); err != nil {
			b.Fatal(err)
		}
	}
	var theirs []time.Duration
	for _, q := range queries[:9] {
		theirs = append(theirs, took(func() {
			if _, err := c.QueryEmbedding(b.Context(), q.Vector, 10, nil, nil); err != nil {
				b.Fatal(err)
			}
		}))
	}
	return median(theirs)
}

// took is how long f takes.
func took(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func BenchmarkP4Put(b *testing.B) {
	x, z := benchIndex(100_000)
	i := 0
	for b.Loop() {
		put(x, fmt.Sprint("new", i), benchText(z, 14))
		i++
	}
}
