package security

import (
	"net/netip"
	"testing"
)

func TestOnlyTheOwnNetworkIsGranted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.168.1.0/24": "192.168.1.0/24", "192.168.1.77/24": "192.168.1.0/24", "192.168.1.20": "192.168.1.20/32", "10.0.0.0/8": "10.0.0.0/8",
		"172.16.5.4": "172.16.5.4/32", "fd12:3456::/32": "fd12:3456::/32", "fe80::/10": "fe80::/10", "100.64.0.0/10": "100.64.0.0/10", "127.0.0.1": "127.0.0.1/32",
		// Everything, what holds more than one network, what gives out credentials, what is public or no address.
		"0.0.0.0/0": "", "::/0": "", "192.0.0.0/2": "", "169.254.169.254": "", "169.254.0.0/16": "", "169.254.170.2/31": "", "168.63.129.16": "", "100.100.100.200": "",
		"fd00:ec2::254": "", "224.0.0.1": "", "8.8.8.8": "", "2606:4700::/32": "", "::ffff:192.168.1.1": "", "::ffff:10.0.0.0/104": "", "nas.local": "", "": "",
		"192.168.1": "", "192.168.001.1": "", "fe80::1%eth0": "", "10.0.0.0/33": "", "0xc0a80101": "",
	} {
		p, err := CheckGrant(in)
		if got := p.String(); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q: got %s, %v; want %q", in, got, err, want)
		}
	}
}

func TestAGrantOpensItsAddressesAndNoCredentials(t *testing.T) {
	t.Parallel()
	p, err := CheckGrant("100.64.0.0/10")
	if err != nil {
		t.Fatal(err)
	}
	g := &NetGuard{Grants: func() []netip.Prefix { return []netip.Prefix{p} }}
	for address, want := range map[string]bool{
		"http://100.64.0.1/": true, "http://100.100.100.200/": false, "http://169.254.169.254/": false, "http://192.168.1.1/": false, "http://127.0.0.1/": false,
	} {
		if v := g.Look(t.Context(), address); v.Allowed != want {
			t.Errorf("%s: got %+v, want allowed %v", address, v, want)
		}
	}
}
