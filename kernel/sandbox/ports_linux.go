package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// offered is the first byte on a connection of the hole with which the process
// inside offers a way to a port that the command serves; no request begins with it.
// The port follows, as two bytes.
const offered = 0x00

// offerTime is how long the first bytes of a connection may take.
const offerTime = 30 * time.Second

// The ends of this computer's loopback, as a program may mean either.
var loopbacks = []string{"127.0.0.1", "::1"}

// served are the ports of this computer that lead to what a command serves. Each
// connection to one is carried over a connection that the process inside offered.
type served struct {
	listeners []net.Listener
	offers    map[int]chan offer
}

// offer is a connection of the hole that waits for somebody who wants to be served.
type offer struct {
	c    net.Conn
	done chan struct{} // closed when it is no longer used
}

// serve listens on ports of this computer's loopback until ctx ends. One that is
// taken is left alone.
func serve(ctx context.Context, ports []int, log *slog.Logger) *served {
	s := &served{offers: map[int]chan offer{}}
	for _, port := range ports {
		s.offers[port] = make(chan offer)
		for i, at := range loopbacks {
			l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(at, strconv.Itoa(port)))
			if err != nil {
				if i == 0 {
					log.WarnContext(ctx, "A port that a command serves cannot be opened on this computer", "port", port, "error", err)
				}
				continue
			}
			s.listeners = append(s.listeners, l)
			go s.answer(ctx, l, s.offers[port])
		}
	}
	return s
}

func (s *served) answer(ctx context.Context, l net.Listener, offers <-chan offer) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			defer context.AfterFunc(ctx, func() { c.Close() })()
			select {
			case o := <-offers:
				defer close(o.done)
				if _, err := o.c.Write([]byte{1}); err == nil {
					join(o.c, c)
				}
			case <-ctx.Done():
			}
		}()
	}
}

// or answers the connections of a hole: takes those that are offered, and leaves the
// others to answer.
func (s *served) or(answer func(context.Context, net.Conn)) func(context.Context, net.Conn) {
	return func(ctx context.Context, c net.Conn) {
		switch is, whole, err := offers(c); {
		case err != nil:
		case is:
			s.take(ctx, whole)
		default:
			answer(ctx, whole)
		}
	}
}

// take holds an offered connection until somebody has used it, or ctx ends.
func (s *served) take(ctx context.Context, c net.Conn) {
	var port [2]byte
	if _, err := io.ReadFull(c, port[:]); err != nil || c.SetReadDeadline(time.Time{}) != nil {
		return
	}
	o := offer{c, make(chan struct{})}
	select {
	case s.offers[int(binary.BigEndian.Uint16(port[:]))] <- o: // of a port that nobody named it never is
		<-o.done
	case <-ctx.Done():
	}
}

func (s *served) close() {
	for _, l := range s.listeners {
		l.Close()
	}
}

// begun is a connection whose first bytes were looked at.
type begun struct {
	net.Conn
	said io.Reader
}

func (b begun) Read(p []byte) (int, error) { return b.said.Read(p) }

// offers reports whether a connection of the hole is an offer, and returns it with
// all that is said on it otherwise.
func offers(c net.Conn) (is bool, whole net.Conn, err error) {
	if err = c.SetReadDeadline(time.Now().Add(offerTime)); err != nil {
		return false, c, err
	}
	said := bufio.NewReader(c)
	first, err := said.Peek(1)
	if err != nil {
		return false, c, err
	}
	if first[0] == offered {
		_, err = said.Discard(1)
	}
	return first[0] == offered, begun{c, said}, err
}

// carryPort listens on a port of the view's loopback, and carries what is said there
// through the hole to the same port of this computer.
func carryPort(port int) error {
	for i, at := range loopbacks {
		l, err := net.Listen("tcp", net.JoinHostPort(at, strconv.Itoa(port)))
		if err != nil && i == 0 {
			return fmt.Errorf("carry port %d: %w", port, err)
		}
		if err == nil {
			go each(l, func(c net.Conn) { carryPortOne(c, port) })
		}
	}
	return nil
}

func carryPortOne(c net.Conn, port int) {
	p, err := net.Dial("unix", insideHole)
	if err != nil {
		return
	}
	defer p.Close()
	at := net.JoinHostPort(loopbacks[0], strconv.Itoa(port))
	if _, err := fmt.Fprintf(p, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", at); err != nil {
		return
	}
	said := bufio.NewReader(p)
	answer, err := http.ReadResponse(said, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // a tunnel has none
	if err != nil || answer.StatusCode != http.StatusOK {
		return
	}
	join(c, begun{p, said})
}

// offerPort offers the kernel a connection to what the command serves on a port of
// the view's loopback, and another one whenever that was used, until the kernel goes.
func offerPort(port int) {
	for {
		c, err := net.Dial("unix", insideHole)
		if err != nil {
			return
		}
		_, err = c.Write(binary.BigEndian.AppendUint16([]byte{offered}, uint16(port))) //nolint:gosec // a port has 16 bits
		if err == nil {
			_, err = io.ReadFull(c, make([]byte, 1))
		}
		if err != nil {
			c.Close()
			return
		}
		go func() {
			defer c.Close()
			for _, at := range loopbacks {
				if s, err := net.Dial("tcp", net.JoinHostPort(at, strconv.Itoa(port))); err == nil {
					defer s.Close()
					join(c, s)
					return
				}
			}
		}()
	}
}

// each has do answer every connection, and closes it.
func each(l net.Listener, do func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			do(c)
		}()
	}
}

// join carries what is said on either connection to the other, until both have
// said all.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			if _, err := io.Copy(way[0], way[1]); err != nil {
				a.Close()
				b.Close()
			}
			to := way[0]
			if at, ok := to.(begun); ok {
				to = at.Conn
			}
			if half, ok := to.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite() // the other side reads the end, or is gone
			}
		})
	}
	both.Wait()
}
