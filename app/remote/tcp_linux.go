package remote

import (
	"bufio"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// peerOfTCP finds the process at the other end of a connection of this machine: the kernel's table names the socket by its
// addresses, and /proc which process of this user holds it. This system tells: 0 is a process that was not found.
func peerOfTCP(local, remote net.Addr) (pid int, tells bool) {
	here, err := netip.ParseAddrPort(local.String())
	there, rerr := netip.ParseAddrPort(remote.String())
	if err != nil || rerr != nil {
		return 0, true
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if inode := inodeOf(table, there, here); inode != "" {
			return holderOf("socket:[" + inode + "]"), true
		}
	}
	return 0, true
}

// inodeOf finds the socket between two addresses in a table of the kernel; "" where there is none, and for one that no process
// has any more.
func inodeOf(table string, from, to netip.AddrPort) string {
	f, err := os.Open(table)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && addrOf(fields[1]) == plainAddr(from) && addrOf(fields[2]) == plainAddr(to) && fields[9] != "0" {
			return fields[9]
		}
	}
	return ""
}

func plainAddr(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// addrOf reads an address as the table writes it: hexadecimal words of four bytes, each in this machine's order, which is
// the little one wherever Oxios runs.
func addrOf(text string) netip.AddrPort {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	n, perr := strconv.ParseUint(port, 16, 16)
	if err != nil || perr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	addr, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n))
}

// holderOf finds a process that has a socket open; 0 for none.
func holderOf(socket string) int {
	all, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0
	}
	for _, fd := range all {
		if to, err := os.Readlink(fd); err == nil && to == socket {
			pid, _ := strconv.Atoi(strings.Split(fd, "/")[2]) // the pattern lets digits through alone
			return pid
		}
	}
	return 0
}
