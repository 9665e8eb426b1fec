//go:build unix

package kernel_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
)

// The workload P3: many agents that stream 40 tokens a second at once, beside
// goroutines that only read the same streams. The endpoint is another process;
// each token is the time at which it was sent.

const tokenEvery = 25 * time.Millisecond

// tokensOf is how many tokens each of n streams has: in the second half all of
// them have long begun.
func tokensOf(n int) int { return 200 + n }

// streaming is the endpoint. It says where it listens and serves until its input
// ends.
func streaming() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() { _ = http.Serve(ln, http.HandlerFunc(streamTimes)) }() //nolint:gosec // of a benchmark
	fmt.Println(ln.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func streamTimes(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"oxios-demo","object":"model"}]}`)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	tokens, _ := strconv.Atoi(strings.Split(r.URL.Path, "/")[1])
	next := time.Now()
	for range tokens {
		next = next.Add(tokenEvery)
		time.Sleep(time.Until(next))
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"oxios-demo\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d \"}}]}\n\n", time.Now().UnixNano())
		w.(http.Flusher).Flush()
	}
	_, _ = io.WriteString(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"oxios-demo\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":200,\"total_tokens\":205}}\n\ndata: [DONE]\n\n")
}

func startStreaming(b *testing.B, tokens int) string {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "OXIOS_STREAMING=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf("http://%s/%d/v1", strings.TrimSpace(addr), tokens)
}

// load is what a number of streams cost. Tokens are looked at in the second half,
// when all streams flow: what it takes to begin stands apart.
type load struct {
	cpu    time.Duration // of this process, for each token
	whole  time.Duration // of this process, for each stream from its beginning to its end
	memory float64       // bytes for each stream, in the middle
	late   []time.Duration
	missed uint64 // events of which the reader heard only the number
}

func (l load) p(n int) time.Duration {
	slices.Sort(l.late)
	return l.late[(len(l.late)-1)*n/100]
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func used() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// measure runs n streams, which run returns from when they have ended.
func measure(n int, run func(late func(text string))) load {
	var l load
	var mu sync.Mutex
	var from, until time.Time
	late := func(text string) {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		for word := range strings.FieldsSeq(text) {
			at, err := strconv.ParseInt(word, 10, 64)
			if sent := time.Unix(0, at); err == nil && !from.IsZero() && sent.After(from) && (until.IsZero() || sent.Before(until)) {
				l.late = append(l.late, now.Sub(sent))
			}
		}
	}
	tokens := tokensOf(n)
	l.late = make([]time.Duration, 0, n*tokens)
	before, began := used(), cpuTime()
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(time.Duration(tokens) * tokenEvery / 2)
		l.memory = float64(int64(used())-int64(before)) / float64(n) //nolint:gosec // far below the limit
		mu.Lock()
		from = time.Now()
		mu.Unlock()
		cpu := cpuTime()
		time.Sleep(time.Duration(tokens) * tokenEvery * 2 / 5)
		l.cpu = (cpuTime() - cpu) / time.Duration(n*tokens*2/5)
		mu.Lock()
		until = time.Now()
		mu.Unlock()
	}()
	run(late)
	<-done
	l.whole = (cpuTime() - began) / time.Duration(n)
	return l
}

// naive reads n streams with a goroutine each.
func naive(b *testing.B, url string, n int) load {
	return measure(n, func(late func(string)) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
		defer client.CloseIdleConnections()
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				resp, err := client.Post(url+"/chat/completions", "application/json", bytes.NewReader([]byte(`{"stream":true}`))) //nolint:noctx // a control
				if err != nil {
					b.Error(err)
					return
				}
				defer resp.Body.Close()
				for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
					var chunk struct {
						Choices []struct {
							Delta struct {
								Content string `json:"content"`
							} `json:"delta"`
						} `json:"choices"`
					}
					if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok && json.Unmarshal(data, &chunk) == nil && len(chunk.Choices) > 0 {
						late(chunk.Choices[0].Delta.Content)
					}
				}
			})
		}
		wg.Wait()
	})
}

// agents runs n agents of the kernel, and reads what a window would.
func agents(b *testing.B, k *kerneltest.Kernel, n int) load {
	events, err := k.Person().Infra.Events(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	var missed uint64
	l := measure(n, func(late func(string)) {
		for range n {
			if _, err := k.Person().Agents.Submit(b.Context(), kernel.Submit{Text: "go"}); err != nil {
				b.Fatal(err)
			}
		}
		for ended := 0; ended < n; {
			switch e := <-events; e.Kind {
			case event.RunText:
				if text, ok := event.As[event.Text](e); ok {
					late(text.Text)
				}
			case event.RunEnded:
				ended++
			case event.Gap: // it is told how many, and ends are not among them
				if m, ok := event.As[event.Missed](e); ok {
					missed += m.Missed
				}
			}
		}
	})
	l.missed = missed
	return l
}

// BenchmarkP3Agents: goals at 1, 10 and 50 agents: memory at most 1.3 times,
// CPU a token and p99 at most 1.5 times the goroutines. 1000 are measured and
// told.
func BenchmarkP3Agents(b *testing.B) {
	for _, n := range []int{1, 10, 50, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			url := startStreaming(b, tokensOf(n))
			k := kerneltest.Open(b, kerneltest.With(func(o *kernel.Options) {
				env := o.Env
				o.Env = func(name string) string {
					if name == "OXIOS_BASE_URL" {
						return url
					}
					return env(name)
				}
			}), kerneltest.Script("[[scenario]]\n[[scenario.turn]]\ntext = \"x\"\n"))
			if _, err := k.Person().Infra.SetConfig(b.Context(), "max_concurrent", "1000"); err != nil {
				b.Fatal(err)
			}
			k.Restart()
			var ours, control load
			for b.Loop() {
				control, ours = naive(b, url, n), agents(b, k, n)
			}
			report(b, "cpu_token", ours.cpu)
			report(b, "cpu_token_naive", control.cpu)
			b.ReportMetric(float64(ours.missed), "missed")
			report(b, "cpu_agent", ours.whole)
			report(b, "cpu_agent_naive", control.whole)
			report(b, "p99", ours.p(99))
			report(b, "p99_naive", control.p(99))
			b.ReportMetric(ours.memory/1024, "KB_each")
			b.ReportMetric(control.memory/1024, "KB_each_naive")
			b.ReportMetric(float64(ours.cpu)/float64(control.cpu), "cpu_ratio(goal<=1.5)")
			b.ReportMetric(float64(ours.p(99))/float64(control.p(99)), "p99_ratio(goal<=1.5)")
		})
	}
}
