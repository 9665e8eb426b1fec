package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// eventError is the kind of an event that tells an error.
const eventError = "error"

// eventReader takes the events of a server-sent event stream, of a JSON lines
// stream, or a whole answer in one JSON document, from its lines.
type eventReader struct {
	each func(kind string, data []byte) error

	kind string // of the event that is under way
	part []byte // data that is no JSON yet
	open bool   // the stream may have ended in the middle of part
	bare bool   // part stands there without a field in front
	done bool   // the server said that nothing follows
}

// readEvents calls each with the kind ("" or the name of the event) and the data
// of every event. It returns at the end of the stream; done says whether the
// server said [DONE] or just closed: the caller knows if that was a cut.
func readEvents(r io.Reader, w *watch, each func(kind string, data []byte) error) (done bool, err error) {
	e := &eventReader{each: each}
	l := &lines{br: bufio.NewReader(r)}
	for first := true; ; first = false {
		line, whole, err := l.next()
		if first {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		for more := true; more && !e.done; { // a carriage return ends a line too
			var one []byte
			one, line, more = bytes.Cut(line, []byte("\r"))
			told, lerr := e.line(one, whole || more)
			if lerr != nil {
				return false, lerr
			}
			if told {
				w.progress = time.Now()
			} else if time.Since(w.progress) > w.patience {
				return false, errIdle // comment lines that keep the connection alive are no answer
			}
		}
		switch {
		case e.done:
			return true, nil
		case errors.Is(err, io.EOF):
			return false, e.end()
		case err != nil:
			return false, err
		}
	}
}

// line takes one line; whole is false for one that the stream ended in. told
// reports whether it carried something.
func (e *eventReader) line(line []byte, whole bool) (told bool, err error) {
	text := bytes.TrimSpace(line)
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case len(text) == 0:
		if whole && !e.bare {
			return false, e.end()
		}
		return false, nil
	case string(name) == "data":
		if bytes.EqualFold(bytes.Trim(value, `"`), []byte("[DONE]")) {
			err := e.end()
			e.done = err == nil
			return true, err
		}
		if len(value) == 0 {
			return false, nil
		}
		if e.bare {
			return true, errMalformed
		}
		return true, e.take(value, whole)
	case string(name) == "event":
		e.kind = string(value)
		return false, nil
	case string(name) == eventError: // llama.cpp
		return true, e.each(eventError, value)
	case e.bare:
		e.part = append(append(e.part, '\n'), text...)
		if len(e.part) > maxLine {
			return true, errLongLine
		}
		e.open = !whole
		if last := text[len(text)-1]; last == '}' || last == ']' {
			return true, e.take(nil, whole)
		}
		return true, nil
	case text[0] == '{' || (text[0] == '[' && len(e.part) == 0):
		e.bare = true
		return true, e.take(text, whole)
	}
	return false, nil
}

// take gives data to its reader, behind what was no JSON alone.
func (e *eventReader) take(data []byte, whole bool) error {
	if len(e.part) > 0 && len(data) > 0 {
		if data[0] == '{' && json.Valid(data) {
			return errMalformed // what came before was to be a piece of its own
		}
		e.part = append(append(e.part, '\n'), data...)
		data = e.part
	} else if len(data) == 0 {
		data = e.part
	}
	err := e.give(data)
	if !errors.Is(err, errMalformed) {
		e.part, e.bare = nil, false
		return err
	}
	if data[0] != '{' && data[0] != '[' && data[0] != '"' {
		e.part = nil
		return nil // a sign of life
	}
	if len(data) > maxLine {
		return errLongLine
	}
	e.part, e.open = bytes.Clone(data), !whole
	return nil
}

// give passes data on; of a list each entry.
func (e *eventReader) give(data []byte) error {
	if data[0] != '[' {
		return e.each(e.kind, data)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return errors.Join(errMalformed, err)
	}
	for _, one := range list {
		if err := e.each(e.kind, one); err != nil {
			return err
		}
	}
	return nil
}

// end ends an event. Data that never became JSON is malformed, unless the stream
// ended in the middle of it.
func (e *eventReader) end() error {
	if len(e.part) > 0 && !e.open {
		return errMalformed
	}
	e.kind, e.part, e.bare = "", nil, false
	return nil
}
