package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"oxios/kernel/sys"
)

// routes answers GET and POST paths with JSON, and everything else with 404.
func routes(t *testing.T, docs map[string]string) *peer {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		doc, ok := docs[r.URL.Path]
		if !ok {
			w.WriteHeader(404)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, doc)
	})
}

func ollamaPeer(t *testing.T) *peer {
	shows := map[string]string{
		"qwen3:8b":   `{"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`,
		"gemma3:4b":  `{"capabilities":["completion","vision"],"model_info":{"gemma3.context_length":131072}}`,
		"embed:tiny": `{"capabilities":["embedding"],"model_info":{"bert.context_length":512}}`,
	}
	return serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }).with(func(p *peer) {
		p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/api/tags":
				_, _ = io.WriteString(w, `{"models":[{"name":"qwen3:8b"},{"name":"gemma3:4b"},{"name":"embed:tiny"}]}`)
			case "/api/show":
				var q struct{ Model string }
				_ = json.NewDecoder(r.Body).Decode(&q)
				_, _ = io.WriteString(w, shows[q.Model])
			default:
				w.WriteHeader(404)
			}
		})
	})
}

func (p *peer) with(change func(*peer)) *peer {
	change(p)
	return p
}

func is(b *bool, want bool) bool { return b != nil && *b == want }

func TestOllamaModelsTellContextAndAbilities(t *testing.T) {
	t.Parallel()
	p := ollamaPeer(t)
	models, err := client(t, Endpoint{ID: "o", Kind: KindOllama, BaseURL: p.URL + "/v1"}).Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(models) != 2 || models[0].ID != "gemma3:4b" || models[1].ID != "qwen3:8b" {
		t.Fatalf("got %+v, want the two models to talk to, sorted", models)
	}
	gemma, qwen := models[0], models[1]
	if !gemma.ChatOnly() || !is(gemma.Images, true) || gemma.ContextLength != 131072 {
		t.Errorf("gemma3: %+v", gemma)
	}
	if !is(qwen.Tools, true) || !is(qwen.Reasoning, true) || !is(qwen.Images, false) || qwen.ContextLength != 40960 {
		t.Errorf("qwen3: %+v", qwen)
	}
	if qwen.Price == nil || !qwen.Price.Free() || !qwen.Local || qwen.Label() != "free" || qwen.Provider != "o" {
		t.Errorf("a local model costs %+v, label %q", qwen.Price, qwen.Label())
	}
}

func TestModelListsOfManyServersAreRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind    string
		docs    map[string]string
		context int
		tools   *bool
		images  *bool
		price   *Price
	}{
		"OpenRouter": {
			docs: map[string]string{"/v1/models": `{"data":[{"id":"x/y","context_length":200000,"supported_parameters":["tools"],
			"architecture":{"input_modalities":["text","image"]},"pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003"}}]}`},
			context: 200000, tools: flag(true), images: flag(true), price: &Price{Input: 3, CachedInput: 0.3, Output: 15},
		},
		"OpenRouter, any price": {docs: map[string]string{"/v1/models": `{"data":[{"id":"x/y","pricing":{"prompt":"-1","completion":"-1"}}]}`}},
		"Groq":                  {docs: map[string]string{"/v1/models": `{"data":[{"id":"x/y","context_window":131072}]}`}, context: 131072},
		"vLLM":                  {docs: map[string]string{"/v1/models": `{"data":[{"id":"x/y","max_model_len":32768}]}`}, context: 32768},
		"Together, a bare list": {docs: map[string]string{"/v1/models": `[{"id":"x/y","context_length":8192}]`}, context: 8192},
		"Mistral": {
			docs:    map[string]string{"/v1/models": `{"data":[{"id":"x/y","max_context_length":256000,"capabilities":{"function_calling":true,"vision":false}}]}`},
			context: 256000, tools: flag(true), images: flag(false),
		},
		"LM Studio": {
			kind: KindLMStudio, docs: map[string]string{"/api/v0/models": `{"data":[{"id":"x/y","type":"vlm","max_context_length":131072,"loaded_context_length":4096,"capabilities":["tool_use"]},{"id":"e","type":"embeddings"}]}`},
			context: 4096, tools: flag(true), images: flag(true), price: &Price{},
		},
		"LM Studio, old": {kind: KindLMStudio, docs: map[string]string{"/v1/models": `{"data":[{"id":"x/y"}]}`}, price: &Price{}},
		"llama.cpp": {kind: KindLlamaCpp, docs: map[string]string{
			"/v1/models": `{"data":[{"id":"x/y","meta":{"n_ctx_train":131072}}]}`,
			"/props":     `{"default_generation_settings":{"n_ctx":8192},"modalities":{"vision":true}}`,
		}, context: 8192, images: flag(true), price: &Price{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ep := at(routes(t, tt.docs))
			ep.Kind = tt.kind
			models, err := client(t, ep).Models(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(models) != 1 {
				t.Fatalf("got %+v, want one model", models)
			}
			m := models[0]
			same := func(a, b *bool) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
			if m.ContextLength != tt.context || !same(m.Tools, tt.tools) || !same(m.Images, tt.images) {
				t.Errorf("got %+v", m)
			}
			if diff := cmp.Diff(tt.price, m.Price, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("price (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModelsOfAWrongAddressSaySo(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{"a web page": "<html>", "another JSON": `"hello"`} {
		_, err := client(t, at(routes(t, map[string]string{"/v1/models": doc}))).Models(t.Context())
		if sys.CodeOf(err) != sys.CodeProvider || !strings.Contains(err.Error(), "/v1") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err := client(t, at(serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))).Models(t.Context())
	if sys.CodeOf(err) != sys.CodeAuth {
		t.Errorf("401: got %v", err)
	}
}

func TestDiscoveryFindsLocalServersAndKeys(t *testing.T) {
	t.Parallel()
	lm := routes(t, map[string]string{"/api/v0/models": `{"data":[{"id":"local"}]}`})
	cpp := routes(t, map[string]string{"/v1/models": `{"data":[{"id":"gguf"}]}`, "/props": `{"default_generation_settings":{"n_ctx":8192}}`})
	env := map[string]string{
		"OXIOS_BASE_URL": "https://gateway.example/v1", "OXIOS_API_KEY": "sk-1234567", "OXIOS_MODEL": "big", "OPENAI_API_KEY": "sk-openai",
	}
	found := Discovery{
		Env: func(k string) string { return env[k] }, Ollama: ollamaPeer(t).URL, LMStudio: lm.URL, LlamaCpp: cpp.URL, Limit: 5 * time.Second,
	}.Find(t.Context())
	if len(found) != 5 {
		t.Fatalf("got %d finds, want 5: %+v", len(found), found)
	}
	own, openAI, ollama := found[0], found[1], found[2]
	if own.Endpoint.Key != "sk-1234567" || own.Running || len(own.Models) != 1 || own.Models[0].ID != "big" || own.Problem.EN != "" {
		t.Errorf("OXIOS_BASE_URL: %+v", own)
	}
	if openAI.Endpoint.BaseURL != OpenAIBaseURL || openAI.Endpoint.Key != "sk-openai" || openAI.Running {
		t.Errorf("OPENAI_API_KEY: %+v", openAI)
	}
	if !ollama.Running || ollama.Source != "Ollama" || len(ollama.Models) != 2 || !ollama.Endpoint.Local {
		t.Errorf("Ollama: %+v", ollama)
	}
	if found[3].Endpoint.Kind != KindLMStudio || found[4].Endpoint.Kind != KindLlamaCpp || found[4].Models[0].ContextLength != 8192 {
		t.Errorf("LM Studio and llama.cpp: %+v", found[3:])
	}
}

func TestDiscoveryLeavesStrangersAndTheNetworkAlone(t *testing.T) {
	t.Parallel()
	stranger := routes(t, map[string]string{"/": "hello", "/v1/models": `{"data":[{"id":"not-ours","owned_by":"somebody"}]}`})
	hung := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	env := map[string]string{"OLLAMA_HOST": "192.0.2.7:11434"}
	start := time.Now()
	found := Discovery{
		Env: func(k string) string { return env[k] }, LMStudio: hung.URL, LlamaCpp: stranger.URL, Limit: 300 * time.Millisecond,
	}.Find(t.Context())
	if time.Since(start) > 3*time.Second {
		t.Errorf("took %s with a hung server", time.Since(start))
	}
	if len(found) != 1 || found[0].Running || !strings.Contains(found[0].Problem.EN, "another machine") || !strings.Contains(found[0].Problem.KO, "다른 컴퓨터") || found[0].Endpoint.BaseURL != "http://192.0.2.7:11434" {
		t.Errorf("got %+v, want only the Ollama elsewhere, not asked", found)
	}
	if got := (Discovery{Ollama: stranger.URL, LMStudio: "http://127.0.0.1:1", LlamaCpp: "http://127.0.0.1:1"}).Find(t.Context()); len(got) != 0 {
		t.Errorf("a stranger was taken for a model server: %+v", got)
	}
}

func TestOllamaHostIsReadAsOllamaReadsIt(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"127.0.0.1": "http://127.0.0.1:11434", "0.0.0.0": "http://127.0.0.1:11434", ":9999": "http://127.0.0.1:9999",
		"localhost:1234": "http://localhost:1234", "http://box:8000/": "http://box:8000", "https://box": "https://box:443",
		"[::1]:77": "http://[::1]:77", "[::]:77": "http://[::1]:77", "box:8000/path": "http://box:8000/path", "ftp://x": "", "a b": "",
	} {
		if got := ollamaURL(in); got != want {
			t.Errorf("OLLAMA_HOST=%s: got %q, want %q", in, got, want)
		}
	}
}

func answered(text string) string {
	raw, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": text}}}})
	return events(string(raw), chunkStop, done)
}

func reported() string {
	return events(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"report_number","arguments":"{\"number\":7}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, done)
}

func TestTestAsksRealQuestions(t *testing.T) {
	t.Parallel()
	serveModel := func(tools, images bool) *peer {
		return serve(t, nil).with(func(p *peer) {
			p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				switch text := string(body); {
				case r.URL.Path == "/v1/models":
					_, _ = io.WriteString(w, `{"data":[{"id":"m","context_length":32768}]}`)
				case strings.Contains(text, `"tools"`) && tools:
					writeStream(w, reported())
				case strings.Contains(text, `"tools"`):
					w.WriteHeader(400)
					_, _ = io.WriteString(w, `{"error":"m does not support tools"}`)
				case strings.Contains(text, "image_url") && images:
					writeStream(w, answered("Red."))
				case strings.Contains(text, "image_url"):
					writeStream(w, answered("I see nothing."))
				default:
					writeStream(w, answered("ready"))
				}
			})
		})
	}
	for _, ok := range []bool{true, false} {
		var steps []string
		report := Test(t.Context(), client(t, at(serveModel(ok, ok))), "m", func(s TestStep) {
			if s.OK != nil {
				steps = append(steps, fmt.Sprintf("%s %v", s.Step, *s.OK))
			}
		})
		if !report.Answers || report.Error != nil || !is(report.Tools, ok) || !is(report.Images, ok) || report.ContextLength != 32768 || report.ChatOnly == ok {
			t.Errorf("able %v: got %+v", ok, report)
		}
		if want := fmt.Sprintf("answer true,tools %v,image %v,context true", ok, ok); strings.Join(steps, ",") != want {
			t.Errorf("steps %v, want %s", steps, want)
		}
	}
	report := Test(t.Context(), client(t, at(serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))), "m", nil)
	if report.Answers || report.Error == nil || report.Error.Code != sys.CodeAuth || report.Tools != nil || report.ChatOnly {
		t.Errorf("wrong key: got %+v", report)
	}
}

func TestModelThatUsesAToolOnlyAtTheSecondTryIsNotTakenForChatOnly(t *testing.T) {
	t.Parallel()
	asked := 0
	peer := serve(t, nil).with(func(p *peer) {
		p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), `"tools"`) {
				if asked++; asked == 2 {
					writeStream(w, reported())
					return
				}
			}
			writeStream(w, answered("I would report 7."))
		})
	})
	report := Test(t.Context(), client(t, at(peer)), "m", nil)
	if !is(report.Tools, true) || report.ChatOnly || asked != 2 {
		t.Errorf("asked %d times: got %+v", asked, report)
	}
}

func TestTestedModelIsKnownByItsTestNotByAList(t *testing.T) {
	t.Parallel()
	listed := Model{ID: "m", Tools: flag(false), ContextLength: 8192}
	TestReport{Tools: flag(true), Images: flag(false)}.Apply(&listed)
	if listed.ChatOnly() || !is(listed.Images, false) || listed.ContextLength != 8192 {
		t.Errorf("got %+v", listed)
	}
	TestReport{}.Apply(&listed)
	if !is(listed.Tools, true) {
		t.Errorf("a test that found nothing out: got %+v", listed)
	}
}

func TestCatalogueKnowsWholeNamesOnly(t *testing.T) {
	t.Parallel()
	cat, err := LoadCatalogue("")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{
		"gpt-5-mini", "GPT-5-mini", "openai/gpt-5-mini", "gpt-5-mini-2025-08-07", "openrouter/openai/gpt-5-mini", "models/gemini-2.5-pro",
		"claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5", "mistral-medium-latest", "gpt-6.2-astra", "openai/gpt-4o:nitro",
	} {
		if m, ok := cat.Lookup(id); !ok || m.Price == nil || m.Price.Input <= 0 || m.ContextLength == 0 || m.ID != id {
			t.Errorf("%s: got %+v, known %v", id, m, ok)
		}
	}
	for _, id := range []string{"gpt-5-mini-evil", "gpt-5-minis", "my/llama", "deepseek/deepseek-r1:free", "", "gpt-4o-audio-preview"} {
		if m, ok := cat.Lookup(id); ok || m.Price != nil || m.Label() != "unknown" {
			t.Errorf("%s: got %+v, want unknown", id, m)
		}
	}
	if m, ok := cat.Lookup("deepseek-v4-pro"); !ok || m.Price != nil {
		t.Errorf("a price that depends on the hour: got %+v, want unknown", m)
	}
	for id, m := range cat.models {
		if p := m.model(id).Price; p != nil && (p.CachedInput > p.Input || p.Output < p.Input && p.Output > 0 || (p.Above > 0 && (p.AboveInput < p.Input || p.AboveOutput < p.Output || p.AboveCached == 0))) {
			t.Errorf("%s: implausible price %+v", id, *p)
		}
	}
}

func TestCostCountsCachedAndLongRequests(t *testing.T) {
	t.Parallel()
	p := Price{Input: 2, CachedInput: 0.2, Output: 10, Above: 1000, AboveInput: 4, AboveCached: 0.4, AboveOutput: 15}
	for _, tt := range []struct {
		u    Usage
		want float64
	}{
		{Usage{Input: 1000, Output: 100}, 0.003},
		{Usage{Input: 1000, Cached: 500, Output: 100, Reasoning: 50}, 0.0021},
		{Usage{Input: 2000, Cached: 1000, Output: 100}, 0.0059},
		{Usage{}, 0},
		{Usage{Input: 10, Cached: 50}, 0.000002},
	} {
		if got := p.Cost(tt.u); got < tt.want-1e-12 || got > tt.want+1e-12 {
			t.Errorf("%+v: got %v, want %v", tt.u, got, tt.want)
		}
	}
	if (Price{}).Cost(Usage{Input: 1e6, Output: 1e6}) != 0 {
		t.Error("a free model costs something")
	}
}

func TestPricesBelongToTheirProvider(t *testing.T) {
	t.Parallel()
	cat := embeddedCatalogue()
	price := func(base, id string, local bool) *Price {
		m := Model{ID: id}
		cat.Fill(Endpoint{BaseURL: base, Local: local}, &m)
		return m.Price
	}
	if price("https://api.openai.com/v1", "gpt-5-mini", false) == nil || price("https://openrouter.ai/api/v1", "openai/gpt-5-mini", false) == nil {
		t.Error("the maker's own price is unknown")
	}
	if p := price("https://api.groq.com/openai/v1", "openai/gpt-5-mini", false); p != nil {
		t.Errorf("a reseller's price was guessed: %+v", p)
	}
	if p := price("http://127.0.0.1:11434/v1", "whatever", true); p == nil || !p.Free() {
		t.Errorf("local: got %+v, want exactly zero", p)
	}
	if p := price("https://example.com/v1", "whatever", false); p != nil {
		t.Errorf("unknown model: got %+v, want nil", p)
	}
	m := catalogueModel{Input: new(float64), Output: new(float64), Until: "2020-01-01"}
	if m.model("x").Price != nil {
		t.Error("a price is used after its last day")
	}
}

func TestOwnPriceListReplacesAndPointsAtItsErrors(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "prices.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	cat, err := LoadCatalogue(write("[[model]]\nid = \"gpt-5-mini\"\ninput = 1.0\noutput = 2.0\n[[model]]\nid = \"mine\"\ncontext = 5\ninput = 0.0\noutput = 0.0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := cat.Lookup("gpt-5-mini"); m.Price == nil || m.Price.Input != 1 || m.Price.CachedInput != 1 {
		t.Errorf("replaced: %+v", m.Price)
	}
	if m, ok := cat.Lookup("mine"); !ok || m.Price == nil || !m.Price.Free() {
		t.Errorf("own: %+v", m)
	}
	if m, _ := embeddedCatalogue().Lookup("gpt-5-mini"); m.Price.Input != 0.25 {
		t.Error("the embedded catalogue changed")
	}
	for text, says := range map[string]string{
		"[[model]]\nid = \"x\"\nprice = 3\n":                  "line 3",
		"[[model]\n":                                          "line 1",
		"[[model]]\ninput = 3.0\n":                            "no id",
		"[[model]]\nid = \"x\"\ninput = -3.0\noutput = 1.0\n": "outside",
		"[[model]]\nid = \"x\"\nuntil = \"soon\"\n":           "date",
		"[[model]]\nid = 3\n":                                 "line 2, column 6: model.id must be a text in quotes",
		"[[model]]\nid = \"x\"\ninput = \"3\"\n":              "line 3, column 9: model.input must be a number",
		"model = 3\n":                                         "model must be a list of tables, each under [[model]]",
	} {
		cat, err := LoadCatalogue(write(text))
		if sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), says) || !strings.ContainsFunc(sys.AsError(err).MessageKO, func(r rune) bool { return unicode.Is(unicode.Hangul, r) }) {
			t.Errorf("%q: got %v, want it to say %q, in both languages", text, err, says)
		}
		if _, ok := cat.Lookup("gpt-5-mini"); !ok {
			t.Errorf("%q: the built-in prices are gone", text)
		}
	}
	if _, err := LoadCatalogue(filepath.Join(t.TempDir(), "missing.toml")); err != nil {
		t.Errorf("a missing file: %v", err)
	}
}
