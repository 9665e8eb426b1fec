package kernel_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
)

// The workloads P2 of the performance goals. Each is measured beside its
// control in the same run, interleaved, at least 7 times; medians are reported,
// and the ratio that the goal speaks of.

const rounds = 7

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func report(b *testing.B, name string, d time.Duration) {
	b.ReportMetric(float64(d.Nanoseconds())/1000, name+"_us")
}

// rawTurn is one turn of a client that does nothing else: a request on a kept
// connection, read to its end, and a line appended and synced.
func rawTurn(b *testing.B, url string, body []byte, log *os.File) {
	resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body)) //nolint:noctx // a control
	if err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
	}
	_ = resp.Body.Close()
	if log == nil {
		return
	}
	if _, err := log.Write(append(bytes.Repeat([]byte("x"), 1023), '\n')); err != nil {
		b.Fatal(err)
	}
	if err := log.Sync(); err != nil {
		b.Fatal(err)
	}
}

// recorder is the scripted endpoint with a clock: when each request came and
// was answered, and what it said. What the model takes is not ours.
type recorder struct {
	model http.Handler
	open  sync.WaitGroup

	mu    sync.Mutex
	seen  []request
	quiet bool // the control's turn
}

type request struct {
	body      []byte
	came, met time.Time
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.open.Add(1)
	defer r.open.Done()
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	q.Body = io.NopCloser(bytes.NewReader(body))
	came := time.Now()
	r.model.ServeHTTP(w, q)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.quiet {
		r.seen = append(r.seen, request{body: body, came: came, met: time.Now()})
	}
}

// take returns what was seen so far, and says whether what follows is left out.
func (r *recorder) take(quiet bool) []request {
	r.open.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen, r.quiet = nil, quiet
	return seen
}

// BenchmarkP2ToolTurn: 200 tool turns against the scripted endpoint, audit and
// session durable. Counted is what lies between the end of an answer and the
// arrival of the next request. The control sends the same requests by hand, with
// a line appended and synced for each. Goals: at most 1 ms a turn, at most 6
// times the control, and turn 200 at most 1.5 times turn 2.
func BenchmarkP2ToolTurn(b *testing.B) {
	const turns = 200
	script := `
[[scenario]]
[[scenario.turn]]
repeat = 200
[[scenario.turn.call]]
tool = "find"
args = '{"pattern": "none-{{n}}-*"}'
[[scenario.turn]]
text = "Done."
`
	rec := &recorder{}
	server := httptest.NewServer(rec)
	defer server.Close()
	k := kerneltest.Open(b, kerneltest.Script(script), kerneltest.With(func(o *kernel.Options) {
		env := o.Env
		o.Env = func(name string) string {
			if name == "OXIOS_BASE_URL" {
				return server.URL + "/v1"
			}
			return env(name)
		}
	}))
	rec.model = k.Demo
	if _, err := k.Person().Infra.SetConfig(b.Context(), "max_tool_calls", "300"); err != nil {
		b.Fatal(err)
	}
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	var ours, raw, first, last []time.Duration
	for b.Loop() {
		ours, raw, first, last = nil, nil, nil, nil
		for range rounds {
			rec.take(false)
			k.Wait(k.Say("go").RunID)
			seen := rec.take(true)
			if len(seen) != turns+1 {
				b.Fatalf("got %d requests, want %d", len(seen), turns+1)
			}
			var own []time.Duration
			for i := range turns {
				own = append(own, seen[i+1].came.Sub(seen[i].met))
			}
			first, last = append(first, own[1:11]...), append(last, own[turns-10:]...)
			ours = append(ours, own...)
			raw = append(raw, replay(b, server.URL+"/v1", seen, log)...)
		}
	}
	report(b, "turn(goal<=1000)", median(ours))
	report(b, "raw_turn_fsync", median(raw))
	b.ReportMetric(float64(median(ours))/float64(median(raw)), "ratio(goal<=6)")
	b.ReportMetric(float64(median(last))/float64(median(first)), "growth(goal<=1.5)")
}

// replay sends the requests again by hand and returns what each took beyond the
// endpoint's own time.
func replay(b *testing.B, url string, seen []request, log *os.File) []time.Duration {
	b.Helper()
	var took []time.Duration
	for _, r := range seen {
		start := time.Now()
		rawTurn(b, url, r.body, log)
		took = append(took, time.Since(start)-r.met.Sub(r.came))
	}
	return took
}

// BenchmarkP2FirstToken: from the message to the first text that a window gets,
// beside the same request made by hand.
func BenchmarkP2FirstToken(b *testing.B) {
	k := kerneltest.Open(b, kerneltest.Script("[[scenario]]\n[[scenario.turn]]\ntext = \"Hello there.\"\n"))
	events, err := k.Person().Infra.Events(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	body := []byte(`{"model": "oxios-demo", "stream": true, "messages": [{"role": "user", "content": "go"}]}`)
	var ours, raw []time.Duration
	for b.Loop() {
		ours, raw = nil, nil
		for range rounds * 3 {
			start := time.Now()
			out := k.Say("go")
			for e := range events {
				if e.RunID == out.RunID && e.Kind == event.RunText {
					break
				}
			}
			ours = append(ours, time.Since(start))
			k.Wait(out.RunID)
			start = time.Now()
			rawTurn(b, k.URL, body, nil)
			raw = append(raw, time.Since(start))
		}
	}
	report(b, "first_token", median(ours))
	report(b, "raw_request", median(raw))
	report(b, "added", median(ours)-median(raw))
}

// BenchmarkP2Relay: what a token costs on its way from the endpoint to a
// window, beside reading the same stream by hand. Goal: at most 60 µs beyond
// the client's own parsing.
func BenchmarkP2Relay(b *testing.B) {
	const tokens = 4000
	text := strings.TrimSpace(strings.Repeat("word ", tokens))
	k := kerneltest.Open(b, kerneltest.Script(fmt.Sprintf("[[scenario]]\n[[scenario.turn]]\ntext = %q\n", text)))
	body := []byte(`{"model": "oxios-demo", "stream": true, "messages": [{"role": "user", "content": "go"}]}`)
	events, err := k.Person().Infra.Events(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	var ours, raw []time.Duration
	for b.Loop() {
		ours, raw = nil, nil
		for range rounds {
			start := time.Now()
			out := k.Say("go")
			for e := range events {
				if e.RunID == out.RunID && e.Kind == event.RunEnded {
					break
				}
			}
			ours = append(ours, time.Since(start))
			start = time.Now()
			rawTurn(b, k.URL, body, nil)
			raw = append(raw, time.Since(start))
		}
	}
	report(b, "token", median(ours)/tokens)
	report(b, "raw_token", median(raw)/tokens)
	b.ReportMetric(float64((median(ours)-median(raw)).Nanoseconds())/1000/tokens, "added_us(goal<=60)")
}

// BenchmarkIgnoreFiles: a search of 50,000 small files under 51 ignore files
// with 200 patterns that leave out none of them, beside the same search without
// them. What they add is the cost of matching.
func BenchmarkIgnoreFiles(b *testing.B) {
	k := kerneltest.Open(b)
	put := func(name, text string) {
		path := filepath.Join(k.Folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var list strings.Builder
	for i := range 20 {
		fmt.Fprintf(&list, "name%d\n*.end%d\n/out%d/\n**/gen%d/*.x\n[Bb]in%d/\n", i, i, i, i, i)
	}
	put(".gitignore", list.String())
	for i := range 50_000 {
		dir := fmt.Sprintf("pkg%02d/sub%02d/", i/1000, i/50%20)
		if i%1000 == 0 {
			put(filepath.Join(dir, "..", ".gitignore"), "*.tmp\n/cache\n")
		}
		put(fmt.Sprintf("%sfile%02d.go", dir, i%50), "package a\n")
	}
	h := k.Agent("guarded")
	took := map[string][]time.Duration{}
	search := func(name string, ignored bool) {
		start := time.Now()
		g, err := h.Exec.Grep(b.Context(), kernel.GrepArgs{Pattern: "needle", Ignored: ignored})
		if err != nil || g.Files != 50_051 {
			b.Fatalf("got %d files, %v", g.Files, err)
		}
		took["grep"+name] = append(took["grep"+name], time.Since(start))
		start = time.Now()
		if _, err := h.Exec.Find(b.Context(), kernel.FindArgs{Pattern: "*.none", Ignored: ignored}); err != nil {
			b.Fatal(err)
		}
		took["find"+name] = append(took["find"+name], time.Since(start))
	}
	for b.Loop() {
		clear(took)
		for range rounds {
			search("", false)
			search("_all", true)
		}
	}
	for name, d := range took {
		report(b, name, median(d))
	}
	b.ReportMetric(float64(median(took["grep"]))/float64(median(took["grep_all"])), "grep_ratio")
	b.ReportMetric(float64(median(took["find"]))/float64(median(took["find_all"])), "find_ratio")
}
