package remote

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"oxios/kernel/sys"
)

const (
	protocol     = 1
	maxFrame     = 16 << 20
	window       = 256 // items of a stream on their way
	maxCalls     = 256 // open calls of one connection
	helloTimeout = 5 * time.Second
	writeTimeout = 30 * time.Second // a peer that takes nothing for so long is gone
)

// hello is the first frame in each direction.
type hello struct {
	Oxios int        `json:"oxios"` // the protocol's version
	Token string     `json:"token,omitempty"`
	As    string     `json:"as,omitempty"` // the name of the program for which the client calls; "" for the person
	Error *sys.Error `json:"error,omitempty"`
}

type request struct {
	ID     uint64          `json:"id"`
	Method string          `json:"method,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Cancel bool            `json:"cancel,omitempty"`
	More   int             `json:"more,omitempty"`
}

type reply struct {
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Item   json.RawMessage `json:"item,omitempty"`
	End    bool            `json:"end,omitempty"`
	Error  *sys.Error      `json:"error,omitempty"`
}

// wire is a connection seen as frames. One goroutine reads; any may write.
type wire struct {
	conn net.Conn
	r    *bufio.Reader

	mu sync.Mutex // held while a frame is written
}

func newWire(conn net.Conn) *wire {
	return &wire{conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}
}

// read returns the next frame. For one that is too large it reads past it and
// returns its first bytes with errTooLarge, so that the sender can be told.
func (w *wire) read() ([]byte, error) {
	var frame []byte
	for {
		part, err := w.r.ReadSlice('\n')
		if len(frame)+len(part) > maxFrame+1 {
			return append(frame, part...)[:64], w.skip(err)
		}
		frame = append(frame, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return frame, err
		}
	}
}

var errTooLarge = errors.New("frame too large")

func (w *wire) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = w.r.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return errTooLarge
}

// frame is what [wire.write] sends. Its parts that are JSON already are not
// read again.
type frame interface {
	append(b []byte) ([]byte, error)
}

func (h hello) append(b []byte) ([]byte, error) {
	raw, err := Marshal(h)
	return append(b, raw...), err
}

func (r request) append(b []byte) ([]byte, error) {
	switch {
	case r.Cancel:
		return fmt.Appendf(b, `{"id":%d,"cancel":true}`, r.ID), nil
	case r.More > 0:
		return fmt.Appendf(b, `{"id":%d,"more":%d}`, r.ID, r.More), nil
	}
	b = fmt.Appendf(b, `{"id":%d,"method":%q,"args":`, r.ID, r.Method)
	return append(append(b, r.Args...), '}'), nil
}

func (r reply) append(b []byte) ([]byte, error) {
	switch {
	case r.Error != nil:
		raw, err := Marshal(r.Error)
		return fmt.Appendf(b, `{"id":%d,"error":%s}`, r.ID, raw), err
	case r.End:
		return fmt.Appendf(b, `{"id":%d,"end":true}`, r.ID), nil
	case r.Item != nil:
		b = fmt.Appendf(b, `{"id":%d,"item":`, r.ID)
		return append(append(b, r.Item...), '}'), nil
	}
	b = fmt.Appendf(b, `{"id":%d,"result":`, r.ID)
	return append(append(b, r.Result...), '}'), nil
}

// write sends f.
func (w *wire) write(f frame) error {
	b, err := f.append(nil)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if len(b) > maxFrame {
		return tooLarge(len(b))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := w.conn.Write(b); err != nil {
		// Half a frame may be out: nothing after it could be understood.
		w.conn.Close()
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

func tooLarge(size int) *sys.Error {
	e := sys.Errorf(sys.CodeTooLarge, "It is %d MiB large, and %d MiB is the most that crosses the socket at once.", (size+1<<20-1)>>20, maxFrame>>20)
	return e.WithHint("Ask for a part, or send it in parts.")
}

// idOf finds the id at the beginning of a frame that is cut.
func idOf(head []byte) uint64 {
	var id uint64
	if _, err := fmt.Sscanf(string(head), `{"id":%d`, &id); err != nil {
		return 0
	}
	return id
}

func otherVersion(running, calling int) *sys.Error {
	e := sys.Errorf(sys.CodeUnavailable, "The Oxios that runs speaks version %d of the socket's protocol, and this one version %d.", running, calling)
	return e.WithHint("End the one that runs (Quit in its menu, or Ctrl+C where `oxios serve` runs), then start again.")
}
