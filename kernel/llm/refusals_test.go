package llm

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"oxios/kernel/sys"
)

func TestRefusalsAreUnderstoodInTheWordsOfEachProvider(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Endpoint{Name: "Peer", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		code, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		status, words, ok := strings.Cut(rest, " ")
		number, err := strconv.Atoi(status)
		if !ok || err != nil {
			continue // a comment
		}
		n++
		if f := c.refused(number, nil, "m", words, "", ""); string(f.told.Code) != code {
			t.Errorf("%q is told as %s (%s), want %s", words, f.told.Code, f.told.Message, code)
		}
	}
	if n < 35 {
		t.Errorf("read %d refusals only", n)
	}
}

func TestToolsThatAreNotServedAreToldAsThat(t *testing.T) {
	t.Parallel()
	c, err := New(Endpoint{Name: "Peer", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"No endpoints found that support tool use. Try disabling it.",
		`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`,
		"tools param requires --jinja flag",
		"registry/gemma does not support tools",
		"Function calling is not supported for this model",
	} {
		f := c.refused(404, nil, "m", words, "", "")
		if !strings.Contains(f.told.Message, "use tools") || !strings.Contains(f.told.Hint, "tool") || strings.Contains(f.told.Hint, "/v1") {
			t.Errorf("%q is told as %q, %q", words, f.told.Message, f.told.Hint)
		}
	}
}

func TestWaitsAreReadFromWords(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]time.Duration{
		"rate limit reached. please try again in 4.2s.":           4200 * time.Millisecond,
		"please retry in 34.07s":                                  34070 * time.Millisecond,
		"try again in 1m4.5s":                                     64500 * time.Millisecond,
		"please try again in 250ms.":                              250 * time.Millisecond,
		"too many requests, please wait 20 seconds":               20 * time.Second,
		"retry after 2 minutes":                                   2 * time.Minute,
		"your limit resets in 1 hour":                             time.Hour,
		"请在 3 秒后重试":                                               3 * time.Second,
		"7초 후에 다시 시도하세요":                                          7 * time.Second,
		"rate limit of 30 requests per 60s reached":               0,
		"wait for 8 more seconds":                                 8 * time.Second,
		"the model is available in 12 seconds":                    12 * time.Second,
		`{"error":"x","estimated_time":5.5}`:                      5500 * time.Millisecond,
		`"retry_after": 30`:                                       30 * time.Second,
		`"retrydelay": "3s"`:                                      3 * time.Second,
		"请等待 3 秒":                                                 3 * time.Second,
		"try again later":                                         0,
		"the model gpt-4 is overloaded, try again with 2 models.": 0,
	} {
		if got := askedWait(words); got != want {
			t.Errorf("%q asks for %s, want %s", words, got, want)
		}
	}
}

func TestUsageIsTakenForWhatItMeans(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		usage string
		want  Usage
	}{
		"zeros":                          {`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`, Usage{}},
		"nulls":                          {`{"prompt_tokens":null,"completion_tokens":null}`, Usage{}},
		"nothing in it":                  {`{}`, Usage{}},
		"no input counted":               {`{"prompt_tokens":0,"completion_tokens":20}`, Usage{Output: 20}},
		"plain":                          {`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}`, Usage{Input: 100, Output: 20, Reported: true}},
		"reasoning beside the answer":    {`{"prompt_tokens":50,"completion_tokens":5,"total_tokens":75}`, Usage{Input: 50, Output: 25, Reported: true}},
		"cache beside the input":         {`{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1001010,"cache_read_input_tokens":1000000}`, Usage{Input: 1001000, Output: 10, Cached: 1000000, Reported: true}},
		"cache beside it, not in a sum":  {`{"prompt_tokens":12,"completion_tokens":10,"cache_read_input_tokens":5000,"cache_creation_input_tokens":100}`, Usage{Input: 5112, Output: 10, Cached: 5000, Written: 100, Reported: true}},
		"cache at the top":               {`{"prompt_tokens":1000,"completion_tokens":0,"total_tokens":1000,"cached_tokens":900}`, Usage{Input: 1000, Cached: 900, Reported: true}},
		"cache and reasoning in the sum": {`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":120,"cache_read_input_tokens":100}`, Usage{Input: 110, Output: 10, Cached: 100, Reported: true}},
		"what was put into the cache":    {`{"prompt_tokens":1000,"completion_tokens":0,"total_tokens":1000,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":1000}}`, Usage{Input: 1000, Written: 1000, Reported: true}},
		"the names of another protocol":  {`{"input_tokens":40,"output_tokens":4}`, Usage{Input: 40, Output: 4, Reported: true}},
	} {
		var u chatUsage
		if err := json.Unmarshal([]byte(tt.usage), &u); err != nil {
			t.Fatal(err)
		}
		if got := u.usage(); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestWhatIsPutIntoTheCacheHasItsPrice(t *testing.T) {
	t.Parallel()
	m, ok := embeddedCatalogue().Lookup("claude-sonnet-4-5")
	if !ok || m.Price == nil {
		t.Fatal("the catalogue does not know the model")
	}
	if got := m.Price.Cost(Usage{Input: 1e6, Written: 1e6, Reported: true}); got != m.Price.Input*1.25 {
		t.Errorf("a million tokens put into the cache cost $%g, want a quarter more than $%g", got, m.Price.Input)
	}
}

func TestNamesAndIDsAreMadeFitToBeSentBack(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"read": "read", `read" path="a.txt" />`: "read__path__a_txt____", "functions.read": "functions_read", " read": "_read", "": "unnamed", "읽기": "______",
	} {
		if got := callName(in); got != want {
			t.Errorf("the name %q is sent as %q, want %q", in, got, want)
		}
	}
	if got := callName(strings.Repeat("a", 80)); len(got) != 64 {
		t.Errorf("a long name is sent with %d letters", len(got))
	}
	for id, want := range map[string]string{"functions.ls:0": "functions.ls:0", "abcDEF123": "abcDEF123"} {
		if got := callID(id, quirk{}); got != want {
			t.Errorf("the id %q is sent as %q, want %q", id, got, want)
		}
	}
	short := sys.Pattern(`^[a-zA-Z0-9]{9}$`)
	for _, id := range []string{"c1", "call_0123456789abcdef", "call_" + strings.Repeat("a", 80), "toolu.01:x", "호출"} {
		if got := callID(id, quirk{}); !short().MatchString(got) || got != callID(id, quirk{}) || got == callID(id+"x", quirk{}) {
			t.Errorf("the id %q is sent as %q", id, got)
		}
	}
	if got := callID("functions.ls:0", quirk{shortIDs: true}); !short().MatchString(got) {
		t.Errorf("an id that was refused is sent as %q", got)
	}
}
