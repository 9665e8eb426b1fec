package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// The library reads an answer to a call as a result, and nothing else: a task would be lost in it. So what comes from a server
// is looked at first, line by line, and a task is put into the metadata of an empty result, where [taskOf] finds it.

// taskKey is where a task stands in the metadata of a result.
const taskKey = "oxios/task"

// maxTaskLine is how long a line with a task may be. One that is longer is passed on as it came.
const maxTaskLine = 64 << 10

// taskReader passes on messages, one a line, with tasks made results.
type taskReader struct {
	from io.ReadCloser
	in   *bufio.Reader
	left []byte // of a line that was read
	long bool   // in the middle of a line that is passed on in pieces
	all  bool   // all of it is one message
}

// readTasks makes a reader of messages one a line; of a stream of events they stand behind "data:".
func readTasks(from io.ReadCloser) *taskReader {
	return &taskReader{from: from, in: bufio.NewReaderSize(from, maxTaskLine)}
}

// answerTasks makes the answer of a server over HTTP readable for the library.
func answerTasks(res *http.Response) {
	r := readTasks(res.Body)
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	switch kind {
	case "text/event-stream":
	case "application/json":
		r.all = true
	default:
		return
	}
	res.Body, res.ContentLength = r, -1
	res.Header.Del("Content-Length")
}

func (r *taskReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		line, err := r.next()
		if len(line) == 0 {
			return 0, err
		}
		r.left = line
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// next is what is passed on next: a line, or a piece of a long one. It is valid until the next call.
func (r *taskReader) next() ([]byte, error) {
	if r.all && !r.long {
		r.long = true
		whole, err := r.in.Peek(maxTaskLine)
		if errors.Is(err, io.EOF) {
			whole = bytes.Clone(whole)
			_, _ = r.in.Discard(len(whole)) // it is in the buffer
			return withTask(whole), nil
		}
	}
	line, err := r.in.ReadSlice('\n')
	first := !r.long
	r.long = r.all || errors.Is(err, bufio.ErrBufferFull)
	if len(line) > 0 {
		if first && !r.long {
			line = withTask(line)
		}
		return line, nil
	}
	return nil, err
}

func (r *taskReader) Close() error { return r.from.Close() }

// withTask is a message, or a line with one, with its task made a result.
func withTask(line []byte) []byte {
	if !bytes.Contains(line, []byte(`"resultType"`)) || !bytes.Contains(line, []byte(`"task"`)) {
		return line
	}
	body, event := bytes.CutPrefix(line, []byte("data:"))
	var m struct {
		Version json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result"`
	}
	var kind struct {
		Type string `json:"resultType"`
	}
	if json.Unmarshal(body, &m) != nil || json.Unmarshal(m.Result, &kind) != nil || kind.Type != "task" {
		return line
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": m.Version, "id": m.ID, "result": map[string]any{
		"resultType": "complete", "content": []any{}, "_meta": map[string]any{taskKey: m.Result},
	}})
	if err != nil {
		return line
	}
	if event {
		out = append([]byte("data: "), out...)
	}
	if bytes.HasSuffix(line, []byte("\n")) {
		out = append(out, '\n')
	}
	return out
}
