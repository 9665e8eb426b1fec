package security

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// NetVerdict is what the network guard says about an address. Reason and its
// Korean are whole sentences; Part is the piece of the address, or the address
// that a name led to, that is the reason.
type NetVerdict struct {
	Allowed  bool   `json:"allowed"`
	Tier     Tier   `json:"tier"` // TierFree, TierAsk where a person could open it, TierRefuse
	Reason   string `json:"reason"`
	ReasonKO string `json:"reason_ko"`
	Part     string `json:"part"`
	Own      string `json:"own,omitempty"` // the address that a person could open
}

// NetRefusal is the error of an address that the guard holds back.
type NetRefusal struct{ Verdict NetVerdict }

func (e *NetRefusal) Error() string { return e.Verdict.Reason }

// netReason is why an address is held back. Where grant is set, it belongs to
// the person's own machine or network, and the person can open it.
type netReason struct {
	en, ko string
	grant  bool
}

func (r netReason) refusal(part string) *NetRefusal {
	tier := TierRefuse
	if r.grant {
		tier = TierAsk
	}
	return &NetRefusal{NetVerdict{Tier: tier, Reason: r.en, ReasonKO: r.ko, Part: shortPart(part)}}
}

var netAllowed = NetVerdict{Allowed: true, Reason: "The address leads to the public internet.", ReasonKO: "공개 인터넷으로 가는 주소입니다."}

// The reasons of the network guard.
var (
	netLoopback  = netReason{"It leads to this computer itself.", "이 컴퓨터 자신으로 가는 주소입니다.", true}
	netPrivate   = netReason{"It leads into your own network.", "내부 네트워크로 가는 주소입니다.", true}
	netShared    = netReason{"It leads into the network of your internet provider.", "인터넷 사업자의 내부 네트워크로 가는 주소입니다.", true}
	netLinkLocal = netReason{"It leads to a machine on the same cable or radio network.", "같은 근거리 네트워크의 기기로 가는 주소입니다.", true}
	netMetadata  = netReason{"It leads to the service that gives out the credentials of a cloud machine.", "클라우드 자격 증명을 내주는 서비스로 가는 주소입니다.", false}
	netMulticast = netReason{"It leads to many machines at once.", "여러 기기로 한꺼번에 가는 주소입니다.", false}
	netReserved  = netReason{"It is reserved, and no public machine has it.", "예약된 주소이며, 공개 기기가 쓰지 않습니다.", false}
	netZone      = netReason{"It names a network interface of this computer.", "이 컴퓨터의 네트워크 장치를 지정합니다.", false}

	netScheme     = netReason{"It is not an http or https address.", "http나 https 주소가 아닙니다.", false}
	netUnreadable = netReason{"It cannot be read as an address without guessing.", "추측하지 않고는 읽을 수 없는 주소입니다.", false}
	netHidden     = netReason{"It contains characters that hide where it leads.", "어디로 가는지 감추는 문자가 들어 있습니다.", false}
	netUserInfo   = netReason{"It has a name before the machine, which hides where it leads.", "기기 이름 앞에 다른 이름이 있어 어디로 가는지 감춥니다.", false}
	netOddNumber  = netReason{"It writes the number of a machine in a way that hides it.", "기기 번호를 알아보기 어렵게 적었습니다.", false}
	netOddLetters = netReason{"It uses letters or digits that look like others.", "다른 글자처럼 보이는 글자나 숫자를 씁니다.", false}
	netPort       = netReason{"The port is not one that web servers use.", "웹 서버가 쓰지 않는 포트입니다.", false}
	netOwnName    = netReason{"The name belongs to this computer or your own network.", "이 컴퓨터나 내부 네트워크의 이름입니다.", true}
	netNoAnswer   = netReason{"The name could not be looked up.", "이름을 찾을 수 없습니다.", false}
	netRebinds    = netReason{"The name changes where it leads from one moment to the next.", "이름이 가리키는 곳이 순간마다 바뀝니다.", false}
	netLoop       = netReason{"It leads back to itself.", "자기 자신으로 되돌아갑니다.", false}
	netTooMany    = netReason{"It leads on from address to address too often.", "너무 여러 번 다른 주소로 넘어갑니다.", false}
	netDowngrade  = netReason{"It leads from an encrypted address to one that is not.", "암호화된 주소에서 암호화되지 않은 주소로 넘어갑니다.", false}
	netUnanswered = netReason{"The machine did not answer as a web server does.", "기기가 웹 서버처럼 응답하지 않았습니다.", false}
)

// netRanges are the addresses that are not the public internet, after the
// IANA registries of special-purpose addresses. The first that holds counts.
var netRanges = func() []netRange {
	var all []netRange
	for _, group := range []struct {
		why   *netReason
		names string
	}{
		// Of the link-local addresses of IPv4, clouds hand out credentials on
		// several, and nobody has a server on the others.
		{&netMetadata, "169.254.0.0/16 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32 fd00:ec2::/32 fd20:ce::/64 fd00:42::42/128"},
		{&netLoopback, "127.0.0.0/8 ::1/128 0.0.0.0/8 ::/128"},
		{&netPrivate, "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10"},
		{&netShared, "100.64.0.0/10"},
		{&netLinkLocal, "fe80::/10"},
		{&netMulticast, "224.0.0.0/4 ff00::/8 255.255.255.255/32"},
		{&netReserved, `192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4
			::/96 100::/64 100:0:0:1::/64 2001:2::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 3fff::/20 5f00::/16`},
	} {
		for name := range strings.FieldsSeq(group.names) {
			all = append(all, netRange{netip.MustParsePrefix(name), group.why})
		}
	}
	return all
}()

// CheckGrant reads a range of addresses of the own machine or network that the
// person wants to open to agents: an address, or as 192.168.1.0/24.
func CheckGrant(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if a, aerr := netip.ParseAddr(s); err != nil && aerr == nil && a.Zone() == "" {
		p, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	if err != nil || p.Addr().Is4In6() {
		return p, sys.Errorf(sys.CodeInvalid, "%q is neither an address nor a range of addresses", s).WithHint("Write it as 192.168.1.20 or 192.168.1.0/24.")
	}
	p = p.Masked()
	for _, r := range netRanges {
		switch {
		case r.Overlaps(p) && !r.why.grant && p.Bits() >= r.Bits():
			return p, sys.Errorf(sys.CodeRefused, "%s can be opened to nobody", s).WithHint("%s", sys.Words{EN: r.why.en, KO: r.why.ko})
		case r.Overlaps(p) && p.Bits() < r.Bits():
			if r.why.grant {
				return p, sys.Errorf(sys.CodeInvalid, "%s holds more than one network of yours", s).WithHint("Name the range that is meant, such as 192.168.1.0/24.")
			}
		case r.Overlaps(p):
			return p, nil
		}
	}
	return p, sys.Errorf(sys.CodeInvalid, "%s is not in your own network", s).WithHint("Public addresses need no grant.")
}

// GrantText writes a range of addresses, a single one without its length.
func GrantText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

type netRange struct {
	netip.Prefix
	why *netReason
}

var (
	publicIPv6 = netip.MustParsePrefix("2000::/3")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48")
	teredo     = netip.MustParsePrefix("2001::/32")
	sixToFour  = netip.MustParsePrefix("2002::/16")
)

// judgeAddr returns why an address is held back, or nil. An IPv6 address that
// carries one of IPv4 is judged by that one too, as that is where it ends.
func judgeAddr(a netip.Addr) *netReason {
	if a.Zone() != "" {
		return &netZone
	}
	a = a.Unmap()
	for _, r := range netRanges {
		if r.Contains(a) {
			return r.why
		}
	}
	if a.Is4() {
		return nil
	}
	inner := carriedIPv4(a)
	for _, v4 := range inner {
		if why := judgeAddr(v4); why != nil {
			return why
		}
	}
	if len(inner) == 0 && !publicIPv6.Contains(a) {
		return &netReserved
	}
	return nil
}

// carriedIPv4 returns the addresses of IPv4 in one that translates or tunnels.
func carriedIPv4(a netip.Addr) []netip.Addr {
	b := a.As16()
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	switch {
	case nat64.Contains(a):
		return []netip.Addr{at(12)}
	case nat64Local.Contains(a): // RFC 6052: the byte 8 is passed over, and the network chooses how long its prefix is
		var all []netip.Addr
		for _, v4 := range []netip.Addr{
			at(12), at(9), netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]}), netip.AddrFrom4([4]byte{b[7], b[9], b[10], b[11]}),
		} {
			if v4.As4()[0] != 0 {
				all = append(all, v4)
			}
		}
		return all
	case sixToFour.Contains(a):
		return []netip.Addr{at(2)}
	case teredo.Contains(a):
		client := binary.BigEndian.Uint32(b[12:]) ^ 0xffffffff
		all := []netip.Addr{netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, client)))}
		if server := at(4); server.As4() != [4]byte{} {
			all = append(all, server)
		}
		return all
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return []netip.Addr{at(12)}
	}
	return nil
}

// ownNames are the suffixes of names that only mean something on the
// person's own machine or network.
var ownNames = strings.Fields(`localhost local localdomain internal intranet private lan home corp domain workgroup localnet
	home.arpa svc cluster.local invalid onion alt`)

// metadataNames are the names under which clouds give out credentials.
var metadataNames = strings.Fields(`metadata metadata.google.internal metadata.goog metadata.azure.com metadata.azure.internal metadata.internal
	metadata.packet.net metadata.platformequinix.com metadata.tencentyun.com instance-data instance-data.ec2.internal rancher-metadata
	metadata.aws.internal metadata.oraclecloud.com metadata.service metadata.local`)

// judgeName returns why the name of a machine is held back, or nil. It is in
// lower case, without a dot at its end.
func judgeName(name string) *netReason {
	for _, m := range metadataNames {
		if name == m || strings.HasSuffix(name, "."+m) {
			return &netMetadata
		}
	}
	if !strings.Contains(name, ".") {
		return &netOwnName // only the search list of this machine says what it is
	}
	for _, own := range ownNames {
		if strings.HasSuffix(name, "."+own) {
			return &netOwnName
		}
	}
	return nil
}

// webPorts are the only ports below 1024 that web servers use; servicePorts,
// above them, belong to databases, shells, mail and machines that run others,
// which an http request could steer.
var (
	webPorts     = []uint16{80, 443}
	servicePorts = []uint16{
		1080, 1099, 1433, 1434, 1521, 1723, 1883, 2049, 2181, 2222, 2375, 2376, 2377, 2379, 2380, 3128, 3268, 3269, 3306, 3389, 3690, 4190, 4369,
		4444, 4505, 4506, 4789, 4848, 5038, 5060, 5061, 5222, 5269, 5353, 5432, 5433, 5555, 5601, 5671, 5672, 5900, 5901, 5984, 5985, 5986, 6000, 6001,
		6379, 6380, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 7199, 7474, 7687, 8009, 8020, 8086, 8125, 8200, 8300, 8301, 8500, 8600,
		9042, 9092, 9100, 9160, 9200, 9300, 9418, 9999, 10000, 10050, 10051, 10080, 10250, 10255, 10256, 11211, 11214, 11215, 15672, 16379, 26257, 26379,
		27017, 27018, 27019, 28015, 28017, 33060, 50000, 50070, 61613, 61616,
	}
)

func judgePort(port uint16) *netReason {
	if port < 1024 && !slices.Contains(webPorts, port) || slices.Contains(servicePorts, port) {
		return &netPort
	}
	return nil
}
