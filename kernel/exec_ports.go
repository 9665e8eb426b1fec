package kernel

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// The ports that a command names.
const (
	maxPorts  = 8    // of one command
	firstPort = 1024 // below it the system's own services are
)

// namedPort finds ports where a command names them: behind this computer's name,
// alone behind a colon, as an option, as a variable, or as what a server is known to
// be given.
var namedPort = sys.Pattern(`(?:\blocalhost|\b127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\b0\.0\.0\.0|\[::1?\]|(?:^|[\s"'=]):?):(\d{2,5})\b` +
	`|(?:^|[\s"'])--?(?:[a-z-]*port|p|P|l)[ =]?(\d{2,5})\b` +
	`|\b[A-Z_]*PORT=["']?(\d{2,5})\b` +
	`|\bhttp\.server\s+(\d{2,5})\b|\b(?:nc|ncat|socat|telnet)\s[^|;&\n]*?\s(\d{4,5})\b`)

// ports are those of this computer's loopback that the command names, at most
// maxPorts. At level 3, where each command has a loopback of its own, an approved
// network carries these and no other.
func (c *command) ports() []int {
	var out []int
	for _, m := range namedPort().FindAllStringSubmatch(c.line, -1) {
		port, err := strconv.Atoi(strings.Join(m[1:], "")) // one of them
		if err == nil && port >= firstPort && port < 1<<16 && !slices.Contains(out, port) {
			out = append(out, port)
		}
	}
	return out[:min(len(out), maxPorts)]
}

// portTime is how long a port of this computer may take to answer.
const portTime = 500 * time.Millisecond

// carried divides the ports that the command names by who serves there: those on
// which this computer answers, which it reaches, and those on which it serves itself,
// if it is to go on in the background.
func (c *command) carried(ctx context.Context) (reach, serve []int) {
	for _, port := range c.ports() {
		switch {
		case answers(ctx, port):
			reach = append(reach, port)
		case c.background:
			serve = append(serve, port)
		}
	}
	return reach, serve
}

// answers reports whether somebody on this computer answers at a port.
func answers(ctx context.Context, port int) bool {
	for _, at := range []string{"127.0.0.1", "::1"} {
		conn, err := (&net.Dialer{Timeout: portTime}).DialContext(ctx, "tcp", net.JoinHostPort(at, strconv.Itoa(port)))
		if err == nil {
			_ = conn.Close() // nothing was said
			return true
		}
	}
	return false
}

// portsNote says what of a command's way to this computer is shut: that none of its
// ports is named, or that nobody answered at one.
func (c *command) portsNote(reach []int) string {
	switch ports := c.ports(); {
	case c.background && len(ports) == 0:
		return "It has a loopback of its own, and its command names no port: if it serves something, nobody outside of it can reach it. Name the port in the command, as in --port 3000."
	case c.background:
		return ""
	case len(ports) == 0:
		return "A command has a loopback of its own: it reaches neither servers of this computer nor those of other commands. Start what it needs in the same command, or name the port in the command, as in localhost:3000, and call with network: true."
	case len(reach) < len(ports):
		return fmt.Sprintf("Nobody on this computer answered at port %s when the command began.", portsText(slices.DeleteFunc(ports, func(p int) bool { return slices.Contains(reach, p) })))
	}
	return ""
}

// missedThisComputer reports whether a program found nobody on its own loopback: the
// output says so of a name of this computer, or the command names it and one refused.
func (c *command) missedThisComputer(output []byte) bool {
	return ownLoopback().Match(output) || thisComputer().MatchString(c.line) && refusedFailure().Match(output)
}

var (
	thisComputer   = sys.Pattern(`(?i)\blocalhost\b|\b127\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|\b0\.0\.0\.0\b|\[::1?\]`)
	ownLoopback    = sys.Pattern(`(?i)(127\.0\.0\.1|localhost|\[?::1)[^\n]{0,80}(refused|couldn't connect)|ECONNREFUSED (127\.|::1)`)
	refusedFailure = sys.Pattern(`(?i)connection refused|ECONNREFUSED|couldn't connect`)
)

func portsText(ports []int) string { return strings.Join(each(ports, strconv.Itoa), ", ") }
