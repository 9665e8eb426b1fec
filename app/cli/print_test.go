package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestADocumentIsOneLineForEveryProgram(t *testing.T) {
	t.Parallel()
	want := "a\u2028b\u2029c\u0085d\ne"
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	line := string(oneJSONLine([]byte(strings.ReplaceAll(string(raw), `\u2028`, "\u2028"))))
	var got string
	if err := json.Unmarshal([]byte(line), &got); err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	if strings.ContainsAny(line, "\u2028\u2029\u0085\n\v\f\x1c\x1d\x1e") {
		t.Errorf("got %q, want one line", line)
	}
}
