package llm

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

// shape is one file of testdata/shapes: what a server once sent, who reported it,
// and what it means.
type shape struct {
	kind, body           string
	text, thought, fails string
	calls                []string
}

func readShape(t *testing.T, path string) shape {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, body, ok := strings.Cut(string(raw), "\n\n")
	if !ok || !strings.HasPrefix(head, "source: ") {
		t.Fatalf("%s: want a head that begins with source:, an empty line and a body", path)
	}
	s := shape{body: body}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch what, rest, _ := strings.Cut(value, " "); {
		case name == "type":
			s.kind = value
		case name == "quoted":
			if s.body, err = strconv.Unquote(body); err != nil {
				t.Fatal(err)
			}
		case name == "want" && what == "text":
			s.text = rest
		case name == "want" && what == "thought":
			s.thought = strings.ReplaceAll(rest, `\n`, "\n")
		case name == "want" && what == "call":
			s.calls = append(s.calls, rest)
		case name == "want" && what == "error":
			s.fails = rest
		}
	}
	return s
}

// TestShapesOfServersAreReadForWhatTheyMean plays each file of testdata/shapes.
// What a server sends that is read wrongly becomes one more file there.
func TestShapesOfServersAreReadForWhatTheyMean(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "shapes", "*.txt"))
	if err != nil || len(files) < 40 {
		t.Fatalf("found %d shapes, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			s := readShape(t, path)
			asked := 0
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.Header().Set("Content-Type", s.kind)
				_, _ = io.WriteString(w, s.body)
			})
			req := ask("m")
			req.Tools = []Tool{{Name: "write"}, {Name: "ls"}, {Name: "find"}}
			resp, err := client(t, at(p)).Complete(context.Background(), req, nil)
			if s.fails != "" {
				if err == nil || !strings.Contains(err.Error(), s.fails) || sys.AsError(err).Hint == "" || asked != 1 {
					t.Fatalf("got %v after %d requests, want one that says %q", err, asked, s.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if resp.Message.Content != s.text || resp.Message.Reasoning != s.thought {
				t.Errorf("got %q, thought %q, want %q, %q", resp.Message.Content, resp.Message.Reasoning, s.text, s.thought)
			}
			var calls []string
			for _, c := range resp.Message.ToolCalls {
				calls = append(calls, c.Name+" "+c.Args)
			}
			if strings.Join(calls, "\n") != strings.Join(s.calls, "\n") {
				t.Errorf("got the calls %q, want %q", calls, s.calls)
			}
		})
	}
}
