package tools

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
)

// BenchmarkP9FindTools finds the ten tools that fit a request, among more and
// more of them, as servers and skills bring.
func BenchmarkP9FindTools(b *testing.B) {
	verbs := strings.Fields("list create delete update search send read write fetch convert translate schedule cancel summarize compare")
	things := strings.Fields("calendar message invoice ticket photo playlist weather flight repository customer recipe contact payment document device")
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			word := func(from []string) string { return from[r.IntN(len(from))] }
			all := make([]kernel.ToolInfo, n)
			for i := range all {
				verb, thing, other := word(verbs), word(things), word(things)
				all[i] = kernel.ToolInfo{
					Name:        fmt.Sprintf("%s_%s_%d", verb, thing, i),
					Description: fmt.Sprintf("Use it to %s a %s or a %s of service%d and return what was found as a table.", verb, thing, other, i%(n/5+1)),
				}
			}
			find := NewRetriever(all)
			requests := make([]string, 64)
			for i := range requests {
				requests[i] = fmt.Sprintf("please %s the %s with service%d", word(verbs), word(things), r.IntN(n/5+1))
			}
			i := 0
			for b.Loop() {
				find.Find(requests[i%len(requests)], 10)
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "us(goal<=50_at_1000)")
		})
	}
}

// BenchmarkP9ToolsOfServers finds what a run begins with, among the thousand tools of fifty servers, for each of a hundred
// goals in Korean and English; how long the index takes that is made when servers change is told beside it.
func BenchmarkP9ToolsOfServers(b *testing.B) {
	all := thousandTools(b)
	goals := linesOf[struct {
		Goal string `json:"goal"`
	}](b, "goals.jsonl")
	serverIndex.index = nil
	begin := time.Now()
	offeredTools(kernel.Workplace{ServerTools: all}, all, goals[0].Goal)
	first := time.Since(begin)
	i := 0
	for b.Loop() {
		offeredTools(kernel.Workplace{ServerTools: all}, all, goals[i%len(goals)].Goal)
		i++
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms(goal<=5)")
	b.ReportMetric(first.Seconds()*1e3, "first_ms")
}
